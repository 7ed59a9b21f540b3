// The words that fields of API objects are made of, and what they mean here. For the decoders of
// this room, whatever the encoding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "berth/labels.h"
#include "berth/node_selector.h"
#include "berth/pod.h"

namespace berth {

PodPhase pod_phase(std::string_view text);
SelectorOperator selector_operator(std::string_view text);
TaintEffect taint_effect(std::string_view text);
TolerationOperator toleration_operator(std::string_view text);
UnsatisfiableAction unsatisfiable_action(std::string_view text);

// Words that an API server would not have let through give nothing; unsupported_…() is what it
// would have said.
std::optional<NodeInclusionPolicy> inclusion_policy(std::string_view text);
std::optional<PreemptionPolicy> preemption_policy(std::string_view text);
std::string unsupported_inclusion_policy(std::string_view text);
std::string unsupported_preemption_policy(std::string_view text);

// Conditions of a pod that are kept.
bool scheduling_looks_at(std::string_view condition_type);

// Names and UIDs beyond this cannot exist in a cluster, and a pod keeps their lengths in few bits.
inline constexpr std::size_t kMaxName = 253;
inline constexpr std::string_view kNameTooLong = "must be no more than 253 characters";

}  // namespace berth
