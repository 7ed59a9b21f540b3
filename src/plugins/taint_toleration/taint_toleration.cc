#include "plugins/taint_toleration/taint_toleration.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "config/feature_gates.h"
#include "plugins/event_objects.h"
#include "plugins/normalize.h"
#include "plugins/obstacles.h"
#include "plugins/signature.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kUntolerated };
constexpr std::string_view kTaintTolerationReasons[] = {"node(s) had untolerated taint(s)"};

// What PreScore leaves for Score: the tolerations that PreferNoSchedule taints may meet.
struct SoftTolerations {
  std::vector<Toleration> tolerations;
};

// Which taints a pod tolerates. A pod may have thousands of tolerations, and a node thousands of
// taints: of many tolerations only those of a taint's key, or of any key, are looked at.
class ToleratedTaints {
 public:
  ToleratedTaints(std::span<const Toleration> tolerations, TolerationRules rules)
      : tolerations_(tolerations), rules_(rules) {
    if (tolerations.size() <= kFew) return;
    sorted_.assign(tolerations.begin(), tolerations.end());
    std::ranges::sort(sorted_, {}, &Toleration::key);
  }

  bool contains(const Taint& taint) const {
    if (sorted_.empty()) return tolerates(tolerations_, taint, rules_);
    return tolerates(of_key(taint.key), taint, rules_) || tolerates(of_key({}), taint, rules_);
  }

 private:
  static constexpr std::size_t kFew = 16;

  std::span<const Toleration> of_key(Symbol key) const {
    return std::ranges::equal_range(sorted_, key, {}, &Toleration::key);
  }

  std::span<const Toleration> tolerations_;
  TolerationRules rules_;
  std::vector<Toleration> sorted_;  // by key, where they are many
};

bool keeps_away(const Taint& taint, const ToleratedTaints& tolerated) {
  return taint.repels() && !tolerated.contains(taint);
}

Obstacle untolerated(const Taint& taint, const Symbols& symbols) {
  const std::string key(symbols.text(taint.key)), value(symbols.text(taint.value));
  const std::string effect(taint.effect == TaintEffect::kNoExecute ? "NoExecute" : "NoSchedule");
  const std::string written =
      fmt::format("{}{}{}:{}", key, value.empty() ? "" : "=", value, effect);
  return {.code = "UntoleratedTaint",
          .reason = std::string(kTaintTolerationReasons[kUntolerated]),
          .subject = written,
          .text = fmt::format("taint {} is not tolerated", written),
          .facts = {{"key", key}, {"value", value}, {"effect", effect}}};
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
    if (std::ranges::any_of(nodes.node(row).taints,
                            [&](const Taint& taint) { return keeps_away(taint, tolerated); }))
      pass.reject(row, Code::kUnschedulableAndUnresolvable, kUntolerated);
  });
}

std::vector<Obstacle> TaintToleration::obstacles(const Cycle& cycle, NodeRow row) const {
  if (!cycle.nodes().tainted().contains(row)) return {};
  const ToleratedTaints tolerated(cycle.pod().spec().tolerations, rules(cycle.symbols()));
  std::vector<Obstacle> all;
  for (const Taint& taint : cycle.nodes().node(row).taints) {
    if (all.size() == kMostObstacles) break;
    if (keeps_away(taint, tolerated)) all.push_back(untolerated(taint, cycle.symbols()));
  }
  return all;
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
           {{EventResource::kTargetPod, action::kUpdatePodToleration, {}}, {}}}};
}

Result<QueueingHint> TaintToleration::after_node_change(const Pod& pod, const AnyObject& before,
                                                        const AnyObject& after) const {
  const auto node = change_in<Node>(before, after);
  if (!node) return fail(node.error());
  const bool was_repelled = !node->before || repels(*node->before, pod);
  const bool is_welcome = node->after && !repels(*node->after, pod);
  return queue_if(was_repelled && is_welcome);
}

Outcome TaintToleration::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  fragments.push_back(tolerations_fragment(pod));
  return Outcome::success();
}

}  // namespace berth::plugins
