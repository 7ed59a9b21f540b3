// The words that fields of API objects are made of, and what they mean here. For the decoders of
// this room, whatever the encoding.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/labels.h"
#include "api/pod.h"
#include "api/taint.h"

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

// A source of a volume: its name in JSON and number in protobuf, and those of the parts that count.
struct VolumeSourceField {
  std::string_view field;
  VolumeSource source;
  std::string_view name_field;  // what the source is called; empty: nothing
  std::uint32_t number;
  std::uint32_t name_number;
  std::uint32_t read_only_number;  // 0: it has none
};
// Without RBD, whose name has several parts.
std::span<const VolumeSourceField> volume_sources();

// Two RBD volumes are the same image if a monitor, the pool and the image agree; the name has all
// three: "pool/image@monitor,monitor".
std::string rbd_name(std::string_view pool, std::string_view image,
                     std::span<const std::string_view> monitors);

}  // namespace berth
