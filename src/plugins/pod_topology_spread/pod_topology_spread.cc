#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "config/feature_gates.h"
#include "plugins/arguments.h"

namespace berth::plugins {
namespace {

std::vector<TopologySpreadConstraint> system_constraints() {
  TopologySpreadConstraint by_node, by_zone;
  by_node.topology_key = names::kHostname;
  by_node.max_skew = 3;
  by_zone.topology_key = names::kZone;
  by_zone.max_skew = 5;
  by_node.when_unsatisfiable = by_zone.when_unsatisfiable = UnsatisfiableAction::kScheduleAnyway;
  return {by_node, by_zone};
}

std::unexpected<Error> explained(std::string_view doing, UnsatisfiableAction action, Error error) {
  error.message =
      fmt::format("{} {} topology spread constraints: {}", doing,
                  action == UnsatisfiableAction::kDoNotSchedule ? "hard" : "soft", error.message);
  return fail(std::move(error));
}

}  // namespace

PodTopologySpread::PodTopologySpread(const config::PodTopologySpreadArgs& args, Gates gates,
                                     const Cluster& cluster)
    : gates_(gates),
      system_defaults_(args.system_defaults),
      symbols_(cluster.symbol_table()),
      default_selectors_(cluster) {
  if (system_defaults_) {
    default_constraints_ = system_constraints();
    return;
  }
  // Of a default constraint only this counts: its selector is the pod's owners'.
  for (const TopologySpreadConstraint& written : args.default_constraints) {
    TopologySpreadConstraint& one = default_constraints_.emplace_back();
    one.topology_key = symbols_.intern(args.symbols.text(written.topology_key));
    one.max_skew = written.max_skew;
    one.when_unsatisfiable = written.when_unsatisfiable;
    one.min_domains = written.min_domains;
    one.node_affinity_policy = written.node_affinity_policy;
    one.node_taints_policy = written.node_taints_policy;
  }
}

Result<std::unique_ptr<Plugin>> PodTopologySpread::create(const config::PluginArgs& arguments,
                                                          const Handle& handle) {
  Result<config::PodTopologySpreadArgs> args =
      typed_arguments<config::PodTopologySpreadArgs>(arguments, "PodTopologySpreadArgs");
  if (!args) return fail(std::move(args).error());
  return std::make_unique<PodTopologySpread>(
      *args,
      Gates{.match_label_keys = handle.gates.enabled("MatchLabelKeysInPodTopologySpread"),
            .comparison_operators = handle.gates.enabled("TaintTolerationComparisonOperators")},
      handle.cluster);
}

Result<std::vector<SpreadConstraint>> PodTopologySpread::constraints(
    const Pod& pod, UnsatisfiableAction action) const {
  const std::vector<TopologySpreadConstraint>& own = pod.spec().topology_spread_constraints;
  if (!own.empty()) {
    Result<std::vector<SpreadConstraint>> found =
        constraints_for(own, action, pod, gates_.match_label_keys);
    if (!found) return explained("obtaining pod's", action, std::move(found).error());
    return found;
  }
  // Most pods have no owner, so the default constraints are made last.
  if (std::ranges::find(default_constraints_, action,
                        &TopologySpreadConstraint::when_unsatisfiable) ==
      default_constraints_.end())
    return std::vector<SpreadConstraint>();
  const Selector& selector = default_selectors_.of(pod);
  if (selector.is_empty()) return std::vector<SpreadConstraint>();
  Result<std::vector<SpreadConstraint>> found =
      constraints_for(default_constraints_, action, pod, false);
  if (!found) return explained("setting default", action, std::move(found).error());
  for (SpreadConstraint& constraint : *found) constraint.selector = selector;
  return found;
}

Outcome PodTopologySpread::sign(const Pod& pod, std::vector<SignatureFragment>&) const {
  if (!pod.spec().topology_spread_constraints.empty())
    return Outcome::unschedulable("pods with topology constraints are not signable");
  if (!default_constraints_.empty())
    return Outcome::unschedulable("pods with default topology constraints are not signable");
  return Outcome::success();
}

}  // namespace berth::plugins
