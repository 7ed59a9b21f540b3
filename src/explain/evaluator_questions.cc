// Evaluator: questions about one pod that leave nothing behind.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "explain/evaluator_parts.h"
#include "framework/remembering_plugin.h"

namespace berth::explain {

namespace {

// The cluster has seen this pod, instead of an older one of its name, as long as this lives.
class SeenPod {
 public:
  SeenPod(Cluster& cluster, const Ref<const Pod>& pod)
      : cluster_(cluster), pod_(pod), before_(cluster.seen_pod(*pod)) {
    cluster_.see_pod(pod_);
  }
  ~SeenPod() {
    cluster_.remove_seen_pod(*pod_);
    if (before_) cluster_.see_pod(before_);
  }
  SeenPod(const SeenPod&) = delete;
  SeenPod& operator=(const SeenPod&) = delete;

 private:
  Cluster& cluster_;
  const Ref<const Pod> pod_;
  const Ref<const Pod> before_;
};

// The pod is on no node, and nothing is reserved for it, as long as this lives.
class PodOffItsNode {
 public:
  PodOffItsNode(Cluster& cluster, const Framework& framework, const Ref<const Pod>& pod)
      : cluster_(cluster), placed_(cluster.placed(pod->uid())), pod_(pod) {
    if (placed_) BERTH_CHECK(cluster_.remove_pod(*placed_));
    if (placed_)
      for (const std::unique_ptr<Plugin>& plugin : framework.plugins().all)
        if (auto* const remembering = dynamic_cast<RememberingPlugin*>(plugin.get()))
          remember_.push_back(remembering->forget(*pod));
    if (pod->node().empty()) return;
    PodDraft draft = draft_of(*pod);
    draft.node_name.clear();
    pod_ = make_pod(std::move(draft));
  }
  ~PodOffItsNode() {
    for (Callback& remember : remember_) remember();
    if (placed_) BERTH_CHECK(cluster_.add_pod(placed_));  // nothing has changed meanwhile
  }
  PodOffItsNode(const PodOffItsNode&) = delete;
  PodOffItsNode& operator=(const PodOffItsNode&) = delete;

  const Ref<const Pod>& pod() const { return pod_; }

 private:
  Cluster& cluster_;
  const Ref<const Pod> placed_;
  Ref<const Pod> pod_;
  std::vector<Callback> remember_;
};

}  // namespace

NodeSet Evaluator::feasible(const Ref<const Pod>& pod) { return feasible(pod, {}).feasible; }

Evaluator::Rejected Evaluator::feasible(const Ref<const Pod>& pod,
                                        std::span<const std::string_view> plugins) {
  Cluster& cluster = parts_->cluster;
  if (!parts_->go_on()) return {NodeSet(cluster.nodes().rows()), NodeSet(cluster.nodes().rows())};
  const Framework& framework = *parts_->framework;
  cluster.begin_cycle();
  Cycle cycle(pod, cluster);
  internal::CycleScratch& scratch = parts_->question_scratch;
  scratch.reset(cluster.nodes().rows());
  cycle.lend(&scratch);
  const PreFilterRun pre = framework.run_pre_filter(cycle);
  const NodeSet none(cluster.nodes().rows());
  if (!pre.outcome.ok()) return {none, none};
  NodeSet rows = none;
  if (!pre.nodes) rows = cluster.nodes().nodes();
  if (pre.nodes)
    for (const Symbol name : *pre.nodes)
      if (const NodeRow row = cluster.nodes().find(name);
          row != kNoRow && cluster.nodes().has_node(row))
        rows.insert(row);
  NodeSet rejected = rows;
  if (!framework.run_filters_with_nominated(cycle, cluster, rows).ok()) return {none, none};
  rejected -= rows;
  bool failed = false;
  NodeSet by = none;
  std::vector<bool> asked(framework.plugins().all.size());
  for (std::size_t i = 0; i < asked.size(); ++i)
    asked[i] = std::ranges::count(plugins, framework.plugins().all[i]->name()) > 0;
  rejected.for_each([&](NodeRow row) {
    const Status status = scratch.verdicts[row];
    failed |= !is_rejected(status.code);
    if (status.plugin < asked.size() && asked[status.plugin]) by.insert(row);
  });
  if (failed) rows = none;
  return {std::move(rows), std::move(by)};
}

NodeSet Evaluator::feasible_without_nominations(const Ref<const Pod>& pod) {
  const ListedNominations before = parts_->nominations;
  parts_->nominations.clear();
  NodeSet rows = feasible(pod);
  parts_->nominations = before;
  return rows;
}

std::vector<std::pair<Symbol, std::vector<Ref<const Pod>>>> Evaluator::nominated_pods() const {
  std::vector<std::pair<Symbol, std::vector<Ref<const Pod>>>> all;
  for (const Symbol node : parts_->nominations.nominated_nodes())
    all.emplace_back(node, parts_->nominations.nominated_pods(node));
  return all;
}

std::vector<std::string> Evaluator::rejectors(const Ref<const Pod>& pod, NodeRow row) {
  if (!parts_->go_on()) return {"?"};
  Cluster& cluster = parts_->cluster;
  const Framework& framework = *parts_->framework;
  cluster.begin_cycle();
  Cycle cycle(pod, cluster);
  internal::CycleScratch& scratch = parts_->question_scratch;
  scratch.reset(cluster.nodes().rows());
  cycle.lend(&scratch);
  const PreFilterRun pre = framework.run_pre_filter(cycle);
  if (!pre.outcome.ok() && !pre.outcome.plugin.empty()) return {pre.outcome.plugin};
  if (!pre.outcome.ok() ||
      (pre.nodes && !std::ranges::binary_search(*pre.nodes, cluster.nodes().name(row))))
    return {pre.restricting.begin(), pre.restricting.end()};
  const Result<Status> status = framework.filter_row_with_nominated(cycle, cluster, row);
  if (!status) return {"?"};
  if (status->ok()) return {};
  const Plugin* const plugin = framework.plugin(status->plugin);
  return {plugin ? std::string(plugin->name()) : "?"};
}

bool Evaluator::finds_node(const Ref<const Pod>& pod) {
  if (!parts_->go_on()) return false;
  const SeenPod seen(parts_->cluster, pod);
  parts_->cluster.begin_cycle();
  Cycle cycle(pod, parts_->cluster);
  SearchTrace trace;  // with one, a single feasible node is scored, too
  return parts_->search_for(parts_->without_preemption, cycle, &trace).outcome.ok();
}

Evaluator::Traced Evaluator::trace(const Ref<const Pod>& pod, const TraceOptions& how) {
  const PodOffItsNode unplaced(parts_->cluster, *parts_->framework, pod);
  const SeenPod seen(parts_->cluster, unplaced.pod());
  parts_->cluster.begin_cycle();
  Cycle cycle(unplaced.pod(), parts_->cluster);
  Traced traced;
  if (!parts_->go_on()) {
    traced.trace.outcome = Outcome::failure("the question was given up");
    return traced;
  }
  traced.trace.every_objection = how.every_objection;
  parts_->search_for(how.post_filter ? parts_->with_preemption : parts_->without_preemption, cycle,
                     &traced.trace);
  traced.victims = parts_->api.take_evicted();
  return traced;
}

bool Evaluator::stopped() const { return parts_->stopped; }

Interner& Evaluator::interner() const { return parts_->interner; }
const std::vector<Ref<const Pod>>& Evaluator::pending() const { return parts_->pending; }
const config::FeatureGates& Evaluator::gates() const { return parts_->options.gates; }

}  // namespace berth::explain
