#include "plugins/taint_toleration/taint_toleration.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "config/feature_gates.h"
#include "plugins/event_objects.h"
#include "plugins/normalize.h"
#include "plugins/signature.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kUntolerated };
constexpr std::string_view kTaintTolerationReasons[] = {"node(s) had untolerated taint(s)"};

// What PreScore leaves for Score: the tolerations that PreferNoSchedule taints may meet.
struct SoftTolerations {
  std::vector<Toleration> tolerations;
};

// Which taints a pod tolerates. Nodes have the same few taints over and over, and a pod may have
// thousands of tolerations: each taint is compared with them once.
class ToleratedTaints {
 public:
  ToleratedTaints(std::span<const Toleration> tolerations, TolerationRules rules)
      : tolerations_(tolerations), rules_(rules) {}

  bool contains(const Taint& taint) {
    if (tolerations_.size() <= kFew) return tolerates(tolerations_, taint, rules_);
    const auto [known, is_new] = known_.try_emplace(
        std::tuple(taint.key.id, taint.value.id, static_cast<std::uint8_t>(taint.effect)), false);
    if (is_new) known->second = tolerates(tolerations_, taint, rules_);
    return known->second;
  }

 private:
  static constexpr std::size_t kFew = 16;
  std::span<const Toleration> tolerations_;
  TolerationRules rules_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>, bool> known_;
};

Result<QueueingHint> after_toleration_change(const Pod& pod, const AnyObject&,
                                             const AnyObject& after) {
  Result<const Pod*> updated = pod_in(after);
  if (!updated) return fail(updated.error());
  return *updated && (*updated)->uid() == pod.uid() ? QueueingHint::kQueue : QueueingHint::kSkip;
}

}  // namespace

Result<std::unique_ptr<Plugin>> TaintToleration::create(const config::PluginArgs&,
                                                        const Handle& handle) {
  return std::make_unique<TaintToleration>(
      handle.gates.enabled("TaintTolerationComparisonOperators"));
}

std::span<const std::string_view> TaintToleration::reasons() const {
  return kTaintTolerationReasons;
}

bool TaintToleration::repels(const Node& node, const Pod& pod) const {
  return find_untolerated(node.taints, pod.spec().tolerations, rules(pod.symbols())) != nullptr;
}

void TaintToleration::filter(const Cycle& cycle, FilterPass& pass) const {
  const NodeTable& nodes = cycle.nodes();
  ToleratedTaints tolerated(cycle.pod().spec().tolerations, rules(cycle.symbols()));
  NodeSet::for_each_common(pass.feasible(), nodes.tainted(), [&](NodeRow row) {
    if (std::ranges::any_of(nodes.node(row).taints, [&](const Taint& taint) {
          return taint.repels() && !tolerated.contains(taint);
        }))
      pass.reject(row, Code::kUnschedulableAndUnresolvable, kUntolerated);
  });
}

Outcome TaintToleration::pre_score(Cycle& cycle, const NodeSet&) const {
  SoftTolerations soft;
  for (const Toleration& toleration : cycle.pod().spec().tolerations)
    if (toleration.effect == TaintEffect::kAny ||
        toleration.effect == TaintEffect::kPreferNoSchedule)
      soft.tolerations.push_back(toleration);
  cycle.put(*this, std::move(soft));
  return Outcome::success();
}

Outcome TaintToleration::score(const Cycle& cycle, const NodeSet& feasible,
                               std::span<Score> by_row) const {
  const SoftTolerations* soft = cycle.find<SoftTolerations>(*this);
  if (!soft)
    return Outcome::failure(
        "failed to read \"PreScoreTaintToleration\" from cycleState: not found");
  const NodeTable& nodes = cycle.nodes();
  ToleratedTaints tolerated(soft->tolerations, rules(cycle.symbols()));
  feasible.for_each([&](NodeRow row) { by_row[row] = 0; });
  NodeSet::for_each_common(feasible, nodes.tainted(), [&](NodeRow row) {
    by_row[row] = std::ranges::count_if(nodes.node(row).taints, [&](const Taint& taint) {
      return taint.effect == TaintEffect::kPreferNoSchedule && !tolerated.contains(taint);
    });
  });
  return Outcome::success();
}

Outcome TaintToleration::normalize(const Cycle&, const NodeSet& feasible,
                                   std::span<Score> by_row) const {
  default_normalize(Prefer::kLowest, feasible, by_row);
  return Outcome::success();
}

std::optional<std::vector<EventRegistration>> TaintToleration::events_to_register() const {
  const auto node_hint = [this](const Pod& pod, const AnyObject& before, const AnyObject& after) {
    return after_node_change(pod, before, after);
  };
  return {{{{EventResource::kNode, action::kAdd | action::kUpdateNodeTaint, {}},
            node_hint,
            HintScope::kClass},
           {{EventResource::kPod, action::kUpdatePodToleration, {}},
            after_toleration_change,
            HintScope::kClass}}};
}

Result<QueueingHint> TaintToleration::after_node_change(const Pod& pod, const AnyObject& before,
                                                        const AnyObject& after) const {
  Result<Change<Node>> node = change_of(node_in(before), node_in(after));
  if (!node) return fail(node.error());
  const bool was_repelled = !node->before || repels(*node->before, pod);
  const bool is_welcome = node->after && !repels(*node->after, pod);
  return was_repelled && is_welcome ? QueueingHint::kQueue : QueueingHint::kSkip;
}

Outcome TaintToleration::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  fragments.push_back(tolerations_fragment(pod));
  return Outcome::success();
}

}  // namespace berth::plugins
