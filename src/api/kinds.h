// The smaller kinds that scheduling reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/labels.h"
#include "berth/object.h"

namespace berth {

struct Namespace final : Object {
  explicit Namespace(SymbolHold hold) : Object(ObjectKind::kNamespace, std::move(hold)) {}
  LabelSet labels;
};

struct Service final : Object {
  explicit Service(SymbolHold hold) : Object(ObjectKind::kService, std::move(hold)) {}
  std::optional<std::vector<Label>> selector;
};

struct ReplicationController final : Object {
  explicit ReplicationController(SymbolHold hold)
      : Object(ObjectKind::kReplicationController, std::move(hold)) {}
  std::vector<Label> selector;
};

struct ReplicaSet final : Object {
  explicit ReplicaSet(SymbolHold hold) : Object(ObjectKind::kReplicaSet, std::move(hold)) {}
  std::optional<LabelSelector> selector;
};

struct StatefulSet final : Object {
  explicit StatefulSet(SymbolHold hold) : Object(ObjectKind::kStatefulSet, std::move(hold)) {}
  std::optional<LabelSelector> selector;
};

struct PriorityClass final : Object {
  explicit PriorityClass(SymbolHold hold) : Object(ObjectKind::kPriorityClass, std::move(hold)) {}
  std::int32_t value = 0;
  bool global_default = false;
  bool preempt_never = false;
};

struct PodDisruptionBudget final : Object {
  explicit PodDisruptionBudget(SymbolHold hold)
      : Object(ObjectKind::kPodDisruptionBudget, std::move(hold)) {}
  std::optional<LabelSelector> selector;
  std::int32_t disruptions_allowed = 0;
  std::vector<std::string> disrupted_pods;  // names
};

}  // namespace berth
