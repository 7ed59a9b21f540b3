#include "explain/cluster_edits.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "api/names.h"
#include "base/check.h"
#include "explain/evaluator_parts.h"
#include "framework/what_if.h"

namespace berth::explain {

// ---- ClusterEdits

ClusterEdits::~ClusterEdits() {
  for (const std::function<void()>& undo : std::views::reverse(undo_)) undo();
}

void ClusterEdits::put(Ref<const Object> object) {
  Cluster& cluster = parts_.cluster;
  if (object->kind == ObjectKind::kNode) {
    Ref<const Node> node(static_cast<const Node*>(object.get()));
    const NodeRow row = cluster.nodes().find(node->symbol);
    const bool known = row != kNoRow && cluster.nodes().has_node(row);
    if (known)
      undo_.emplace_back(
          [&cluster, before = cluster.nodes().node_ref(row)] { cluster.update_node(before); });
    else
      undo_.emplace_back(
          [&cluster, node] { BERTH_CHECK(cluster.remove_node(node->symbol).has_value()); });
    cluster.add_node(std::move(node));
    return;
  }
  const std::string_view namespace_name = object->symbols.text(object->namespace_name);
  Ref<const Object> before = cluster.find(object->kind, namespace_name, object->name);
  undo_.emplace_back([&cluster, object, before = std::move(before)] {
    if (before)
      cluster.put(before);
    else
      cluster.remove(object->kind, object->symbols.text(object->namespace_name), object->name);
  });
  cluster.put(std::move(object));
}

void ClusterEdits::remove(const Ref<const Pod>& pod) {
  Cluster& cluster = parts_.cluster;
  const NodeRow row = cluster.row_of(pod->uid());
  if (row == kNoRow) return remove_nominated(pod);
  const std::span<const Ref<const Pod>> pods = cluster.nodes().pods(row);
  std::vector<Ref<const Pod>> before(pods.begin(), pods.end());
  if (!cluster.remove_pod(*pod)) return;
  cluster.remove_seen_pod(*pod);
  keep_shared_ports(*pod, row);
  undo_.emplace_back([this, pod, row, before = std::move(before)] {
    parts_.cluster.see_pod(pod);
    put_pods_back(row, before);
  });
}

void ClusterEdits::remove_nominated(const Ref<const Pod>& pod) {
  const Ref<const Pod> seen = parts_.cluster.seen_pod(*pod);
  if (seen) parts_.cluster.remove_seen_pod(*pod);
  undo_.emplace_back([this, seen, before = parts_.nominations] {
    parts_.nominations = before;
    if (seen) parts_.cluster.see_pod(seen);
  });
  parts_.nominations.remove(*pod);
}

// Parity: a host port is free when one of the pods that use it goes. In a cluster that is loaded
// without this pod the others have it: they are put there again.
void ClusterEdits::keep_shared_ports(const Pod& gone, NodeRow row) {
  Cluster& cluster = parts_.cluster;
  const auto uses = [](const Pod& pod, std::int32_t port) {
    for (const auto* containers : {&pod.spec().containers, &pod.spec().init_containers})
      for (const Container& container : *containers)
        if (std::ranges::find(container.ports, port, &ContainerPort::host_port) !=
            container.ports.end())
          return true;
    return false;
  };
  const std::span<const Ref<const Pod>> there = cluster.nodes().pods(row);
  for (const Ref<const Pod>& other : std::vector<Ref<const Pod>>(there.begin(), there.end()))
    for (const Container& container : gone.spec().containers)
      for (const ContainerPort& port : container.ports)
        if (port.host_port > 0 && uses(*other, port.host_port)) {
          BERTH_CHECK(cluster.remove_pod(*other).has_value());
          BERTH_CHECK(cluster.add_pod(other).has_value());
        }
}

// In the order in which they were: those that stand elsewhere leave first.
void ClusterEdits::put_pods_back(NodeRow row, const std::vector<Ref<const Pod>>& pods) {
  Cluster& cluster = parts_.cluster;
  const std::span<const Ref<const Pod>> there = cluster.nodes().pods(row);
  std::size_t same = 0;
  while (same < there.size() && there[same] == pods[same]) ++same;
  const std::vector<Ref<const Pod>> moved(there.begin() + static_cast<std::ptrdiff_t>(same),
                                          there.end());
  for (const Ref<const Pod>& pod : std::views::reverse(moved))
    BERTH_CHECK(cluster.remove_pod(*pod).has_value());
  for (std::size_t i = same; i < pods.size(); ++i)
    BERTH_CHECK(cluster.add_pod(pods[i]).has_value());
}

// ---- PodsGone

struct PodsGone::State {
  State(Evaluator::Parts& evaluator, const Ref<const Pod>& pod)
      : parts(evaluator), cycle(pod, evaluator.cluster) {
    parts.cluster.begin_cycle();
    scratch.reset(parts.cluster.nodes().rows());
    cycle.lend(&scratch);
    pre = parts.framework->run_pre_filter(cycle);
    what_if.emplace(*parts.framework, cycle, parts.cluster);
  }

  Evaluator::Parts& parts;
  Cycle cycle;
  internal::CycleScratch scratch;
  PreFilterRun pre;
  std::optional<WhatIf> what_if;
};

PodsGone::PodsGone(Evaluator& evaluator, const Ref<const Pod>& pod)
    : state_(std::make_unique<State>(*evaluator.parts_, pod)) {}
PodsGone::~PodsGone() = default;

void PodsGone::remove(const Ref<const Pod>& pod, NodeRow row) {
  // A plugin that fails here fails again when the change is decided upon.
  (void)state_->what_if->remove(pod, row);
}
void PodsGone::put_back(const Ref<const Pod>& pod, NodeRow row) {
  (void)state_->what_if->add(pod, row);
}
std::size_t PodsGone::edits() const { return state_->what_if->edits(); }
void PodsGone::undo_to(std::size_t edits) { state_->what_if->undo_to(edits); }

bool PodsGone::fits(NodeRow row) {
  if (!state_->parts.go_on()) return false;
  const PreFilterRun& pre = state_->pre;
  // After Unschedulable the others have been asked, too, and the state is there: pods that are gone
  // may have been the reason.
  if (!pre.outcome.ok() && pre.outcome.code != Code::kUnschedulable) return false;
  const Cluster& cluster = state_->parts.cluster;
  if (pre.nodes && !std::ranges::binary_search(*pre.nodes, cluster.nodes().name(row))) return false;
  const Result<Status> status =
      state_->parts.framework->filter_row_with_nominated(state_->cycle, state_->parts.cluster, row);
  return status && status->ok();
}

// ---- KeptOrder

KeptOrder::KeptOrder(Evaluator& evaluator)
    : parts_(*evaluator.parts_), random_(parts_.random), order_([this] {
        parts_.cluster.begin_cycle();
        const std::span<const NodeRow> order = parts_.cluster.nodes().order();
        return std::vector<NodeRow>(order.begin(), order.end());
      }()) {}

KeptOrder::~KeptOrder() {
  parts_.random = random_;
  if (order_.empty()) return;
  Cluster& cluster = parts_.cluster;
  list_again();
  if (std::ranges::equal(cluster.nodes().order(), order_)) return;
  // A node comes to the end of its zone when it comes from another: all leave, and come back in
  // order.
  std::vector<Ref<const Node>> nodes;
  for (const NodeRow row : order_) nodes.push_back(cluster.nodes().node_ref(row));
  for (const Ref<const Node>& node : nodes) {
    Ref<Node> elsewhere = make_ref<Node>(*node);
    const Symbol nowhere = elsewhere->symbols.intern("somewhere else, for a moment");
    elsewhere->labels = LabelSet(std::vector<Label>{{names::kZone, nowhere}});
    cluster.update_node(elsewhere);
  }
  for (const Ref<const Node>& node : nodes) cluster.update_node(node);
  list_again();
}

// The order follows the zones only when nodes come or go.
void KeptOrder::list_again() {
  Cluster& cluster = parts_.cluster;
  Ref<Node> passing = make_ref<Node>(*cluster.nodes().node_ref(order_.front()));
  passing->name = "a node that passes by";
  passing->symbol = passing->symbols.intern(passing->name);
  passing->labels = {};
  cluster.add_node(passing);
  cluster.begin_cycle();
  BERTH_CHECK(cluster.remove_node(passing->symbol).has_value());
  cluster.begin_cycle();
}

}  // namespace berth::explain
