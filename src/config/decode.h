// Strict decoding of a KubeSchedulerConfiguration's fields (shell.md §2.1). Only for this room.
#pragma once

#include <string_view>

#include "berth/interner.h"
#include "berth/result.h"
#include "config/defaults.h"
#include "config/feature_gates.h"
#include "wire/json_tree.h"

namespace berth::config {

inline constexpr std::string_view kStrict = "strict decoding error: ";

// `json` says that it is a KubeSchedulerConfiguration. The arguments of plugins have their
// defaults, nothing else has.
Result<WrittenConfiguration> decode_configuration(const JsonValue& json, const FeatureGates& gates,
                                                  Interner& interner);

}  // namespace berth::config
