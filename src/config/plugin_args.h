// Typed arguments of the in-tree plugins (shell.md §2.7): decoding, defaults, checking, writing
// back. Only for this room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/interner.h"
#include "config/configuration.h"
#include "config/feature_gates.h"
#include "config/strict_decoder.h"
#include "wire/json_tree.h"

namespace berth::config {

// Whether there is a kind <Plugin>Args.
bool takes_args(std::string_view plugin);

// The rest is for plugins of which takes_args() is true.

PluginArgs default_args(std::string_view plugin, const FeatureGates& gates);

// With defaults for what is not written. Complaints are in the decoder.
PluginArgs decode_args(std::string_view plugin, StrictDecoder& in, const JsonValue& json,
                       const FeatureGates& gates, Interner& interner);

// Whether `args` are of the plugin's kind.
bool is_kind_of(std::string_view plugin, const PluginArgs& args);

// What is wrong with them; `path` begins the sentences.
std::vector<std::string> check_args(const PluginArgs& args, const std::string& path,
                                    const FeatureGates& gates);

// As upstream writes them, for any plugin; null when there are none.
JsonValue to_tree(const PluginArgs& args);

}  // namespace berth::config
