// PodGroup (scheduling.k8s.io/v1beta1): pods that are scheduled together. What the scheduler reads
// of it, and the one condition that it writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/object.h"
#include "berth/pod.h"
#include "berth/symbols.h"

namespace berth {

// The condition that the scheduler writes, and its reasons.
inline constexpr std::string_view kPodGroupInitiallyScheduled = "PodGroupInitiallyScheduled";

// What an eviction of one of its pods does to the others.
enum class DisruptionMode : std::uint8_t { kSingle, kAll };

// spec.schedulingPolicy.gang
struct GangPolicy {
  std::int32_t min_count = 0;
};

// spec.schedulingConstraints.topology[]: the pods' nodes have the same value of this label.
struct TopologyConstraint {
  Symbol key;
};

// spec.resourceClaims[]: a claim that the group's pods share.
struct PodGroupResourceClaim {
  std::string name;
  std::string claim_name;  // one of the two
  std::string template_name;
};

// status.resourceClaimStatuses[]: the claim that was made from a template.
struct PodGroupResourceClaimStatus {
  std::string name;
  std::string claim_name;  // empty: none is needed
};

struct PodGroup final : Object {
  explicit PodGroup(SymbolHold hold) : Object(ObjectKind::kPodGroup, std::move(hold)) {}
  PodGroup(const PodGroup&) = default;

  // The number of pods without which none may run: minCount of a gang, else 1.
  std::int32_t quorum() const { return gang ? gang->min_count : 1; }
  // What its pods must have, too.
  std::int32_t effective_priority() const { return priority.value_or(0); }
  const PodCondition* condition(std::string_view type) const;

  Symbol symbol;                             // of the name: what its pods name
  std::optional<GangPolicy> gang;            // absent: basic
  std::vector<TopologyConstraint> topology;  // at most one
  DisruptionMode disruption_mode = DisruptionMode::kSingle;
  Symbol priority_class_name;
  std::optional<std::int32_t> priority;
  std::optional<PreemptionPolicy> preemption_policy;
  std::vector<PodGroupResourceClaim> resource_claims;

  // ---- status
  std::vector<PodCondition> conditions;
  std::vector<PodGroupResourceClaimStatus> claim_statuses;
};

// A copy in which `condition` stands in the place of the one of its type.
Ref<PodGroup> with_condition(const PodGroup& group, PodCondition condition);

}  // namespace berth
