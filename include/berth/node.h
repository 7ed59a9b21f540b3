// Node: everything about a node that scheduling reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/labels.h"
#include "berth/node_selector.h"
#include "berth/object.h"
#include "berth/resources.h"

namespace berth {

struct ContainerImage {
  std::vector<Symbol> names;
  std::int64_t size_bytes = 0;

  friend bool operator==(const ContainerImage&, const ContainerImage&) = default;
};

struct NodeCondition {
  Symbol type;
  Symbol status;

  friend bool operator==(const NodeCondition&, const NodeCondition&) = default;
};

struct NodePodPreemptionPolicy {
  std::vector<Symbol> disable_resize_preemption;  // who asked for it

  friend bool operator==(const NodePodPreemptionPolicy&, const NodePodPreemptionPolicy&) = default;
};

struct Node final : Object {
  explicit Node(SymbolHold hold) : Object(ObjectKind::kNode, std::move(hold)) {}
  Node(const Node&) = default;

  Symbol symbol;  // of the name
  LabelSet labels;
  LabelSet annotations;
  std::vector<Taint> taints;
  bool unschedulable = false;
  std::optional<NodePodPreemptionPolicy> pod_preemption_policy;
  ResourceList capacity;
  ResourceList allocatable;
  Resources allocatable_resources;  // derived from allocatable
  std::vector<ContainerImage> images;
  std::vector<NodeCondition> conditions;
  std::vector<Symbol> declared_features;
};

}  // namespace berth
