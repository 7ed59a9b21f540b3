// The requests to an extender and its answers, as JSON: the types of extender/v1 (core.md §12.2).
// Text only; extender/transport.h sends it.
//
// Keys are written as upstream writes them and read without regard to case. Errors read like those
// of Go's encoding/json: `json: cannot unmarshal number into Go struct field …`. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "framework/extender.h"

namespace berth::extender {

// ---- requests. Pods and nodes are given as JSON, in full.

// ExtenderArgs, for filter and prioritize: nodes by name, or in full.
std::string args_with_names(std::string_view pod, std::span<const std::string> names);
std::string args_with_nodes(std::string_view pod, std::span<const std::string_view> nodes);

// ExtenderBindingArgs.
std::string binding_args(const Pod& pod, std::string_view node);

// ExtenderPreemptionArgs: victims by UID, or in full.
std::string preemption_args(std::string_view pod, const MetaVictimsByNode& victims);

struct WholeVictims {
  std::string_view node;
  std::vector<std::string> pods;
  std::int64_t pdb_violations = 0;
};
std::string preemption_args(std::string_view pod, std::span<const WholeVictims> victims);

// ---- answers

// ExtenderFilterResult. One with nodes in full counts unless it has names and the extender was
// given names. An answer with an Error is that error.
Result<ExtenderVerdicts> read_filter_result(std::string_view json, bool by_name);
// HostPriorityList.
Result<std::vector<ExtenderScore>> read_host_priorities(std::string_view json);
// ExtenderBindingResult.
Result<void> read_binding_result(std::string_view json);
// ExtenderPreemptionResult.
Result<MetaVictimsByNode> read_preemption_result(std::string_view json);

}  // namespace berth::extender
