#include "sim/pod_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace berth::sim {
namespace {

// The node that a daemon is pinned to.
std::string_view pinned_node(const Pod& pod) {
  const PodSpec& spec = pod.spec();
  if (!spec.affinity || !spec.affinity->node || !spec.affinity->node->required) return {};
  for (const NodeSelectorTerm& term : *spec.affinity->node->required)
    for (const SelectorRequirement& field : term.match_fields)
      if (pod.text(field.key) == "metadata.name" && field.values.size() == 1)
        return pod.text(field.values.front());
  return {};
}

controllers::PodFacts facts_of(const Pod& pod, WallTime now) {
  controllers::PodFacts facts;
  facts.namespace_name = pod.namespace_name();
  facts.name = pod.name();
  facts.uid = pod.uid_text();
  const std::string_view version = pod.resource_version();
  std::from_chars(version.data(), version.data() + version.size(), facts.version);
  for (const Label& label : pod.labels())
    facts.labels.emplace_back(pod.text(label.key), pod.text(label.value));
  std::ranges::sort(facts.labels);
  if (const ControllerRef& controller = pod.meta().controller; !controller.empty()) {
    facts.controller_kind = pod.text(controller.kind);
    facts.controller_name = pod.text(controller.name);
    // Lean pods do not have their controller's UID; its name tells it as well.
    facts.controller_uid =
        fmt::format("{}/{}/{}", facts.controller_kind, facts.namespace_name, facts.controller_name);
  }
  facts.node = pod.node_name();
  if (facts.controller_kind == "DaemonSet")
    facts.daemon_of = facts.node.empty() ? pinned_node(pod) : pod.node_name();
  facts.phase = pod.phase();
  facts.terminating = pod.terminating();
  if (!facts.node.empty() && !pod.finished()) {
    facts.phase = PodPhase::kRunning;
    // A recorded cluster may be younger than the virtual time.
    facts.ready_since = std::min(pod.start_time().value_or(WallTime{}), now);
  }
  facts.names_claim_template = std::ranges::any_of(
      pod.spec().resource_claims,
      [](const PodResourceClaim& entry) { return !entry.template_name.empty(); });
  return facts;
}

}  // namespace

PodWatch::PodWatch(Loop& loop, SimCluster& cluster) : loop_(loop), cluster_(cluster) {
  for (const Ref<const Pod>& pod : cluster.pods()) pod_changed(DeltaType::kAdded, *pod);
  cluster.on_change(lifetime_.guard([this](const Delta& delta) {
    if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object))
      pod_changed(delta.type, **pod);
    else if (matters(delta))
      begin();
  }));
}

void PodWatch::begin() {
  if (begun_) return;
  begun_ = true;
  for (const Ref<const Pod>& pod : cluster_.pods()) index_.put(facts_of(*pod, loop_.wall_now()));
}

// Whether some controller has to do with an object that is no pod.
bool PodWatch::matters(const Delta& delta) {
  const ObjectKind kind = std::get<Ref<const Object>>(delta.object)->kind;
  return kind == ObjectKind::kResourceClaim || kind == ObjectKind::kResourceClaimTemplate ||
         (kind == ObjectKind::kNode && delta.type == DeltaType::kDeleted);
}

bool PodWatch::matters(const Pod& pod) const {
  return !pod.spec().resource_claims.empty() ||
         (!pod.node().empty() && !cluster_.has(ObjectKind::kNode, "", pod.node_name()));
}

void PodWatch::pod_changed(DeltaType type, const Pod& pod) {
  if (!begun_) {
    // The index has what the store has: this change, too.
    if (type != DeltaType::kDeleted && matters(pod)) begin();
    return;
  }
  if (type == DeltaType::kDeleted)
    index_.remove(pod.full_name());
  else
    index_.put(facts_of(pod, loop_.wall_now()));
}

}  // namespace berth::sim
