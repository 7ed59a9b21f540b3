#include "api/words.h"

#include <fmt/format.h>

namespace berth {

PodPhase pod_phase(std::string_view text) {
  if (text.empty() || text == "Pending") return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

SelectorOperator selector_operator(std::string_view text) {
  if (text == "In") return SelectorOperator::kIn;
  if (text == "NotIn") return SelectorOperator::kNotIn;
  if (text == "Exists") return SelectorOperator::kExists;
  if (text == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  if (text == "Gt") return SelectorOperator::kGreaterThan;
  if (text == "Lt") return SelectorOperator::kLessThan;
  return SelectorOperator::kUnknown;
}

TaintEffect taint_effect(std::string_view text) {
  if (text.empty()) return TaintEffect::kAny;
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return TaintEffect::kUnknown;
}

TolerationOperator toleration_operator(std::string_view text) {
  if (text.empty() || text == "Equal") return TolerationOperator::kEqual;
  if (text == "Exists") return TolerationOperator::kExists;
  if (text == "Lt") return TolerationOperator::kLessThan;
  if (text == "Gt") return TolerationOperator::kGreaterThan;
  return TolerationOperator::kUnknown;
}

UnsatisfiableAction unsatisfiable_action(std::string_view text) {
  if (text == "DoNotSchedule") return UnsatisfiableAction::kDoNotSchedule;
  if (text == "ScheduleAnyway") return UnsatisfiableAction::kScheduleAnyway;
  return UnsatisfiableAction::kUnknown;
}

std::optional<NodeInclusionPolicy> inclusion_policy(std::string_view text) {
  if (text == "Honor") return NodeInclusionPolicy::kHonor;
  if (text == "Ignore") return NodeInclusionPolicy::kIgnore;
  return std::nullopt;
}

std::optional<PreemptionPolicy> preemption_policy(std::string_view text) {
  if (text == "Never") return PreemptionPolicy::kNever;
  if (text == "PreemptLowerPriority") return PreemptionPolicy::kPreemptLowerPriority;
  return std::nullopt;
}

std::string unsupported_inclusion_policy(std::string_view text) {
  return fmt::format(R"(Unsupported value: "{}": supported values: "Honor", "Ignore")", text);
}

std::string unsupported_preemption_policy(std::string_view text) {
  return fmt::format(
      R"(Unsupported value: "{}": supported values: "Never", "PreemptLowerPriority")", text);
}

bool scheduling_looks_at(std::string_view condition_type) {
  return condition_type == "PodScheduled" || condition_type == "DisruptionTarget" ||
         condition_type == "PodResizePending";
}

}  // namespace berth
