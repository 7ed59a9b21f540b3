// Reading a KubeSchedulerConfiguration file: strict decoding, defaulting, merging with the default
// plugins, validation. Errors are upstream's sentences (shell.md §2).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/interner.h"
#include "berth/result.h"
#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth::config {

// The changes that the command line makes to a configuration from a file, before it is validated.
using Amendment = std::function<void(Configuration&)>;

// `text` is YAML or JSON; of several YAML documents the first one counts. The result has defaults
// filled in and is valid.
Result<Configuration> parse_configuration(std::string_view text, const FeatureGates& gates,
                                          Interner& interner, const Amendment& amend = {});

// `open <path>: no such file or directory` and the like, else as parse_configuration.
Result<Configuration> load_configuration(const std::string& path, const FeatureGates& gates,
                                         Interner& interner, const Amendment& amend = {});

// Resources that an extender manages and the scheduler must ignore replace NodeResourcesFit's
// ignoredResources in every profile. parse_configuration has done it; for configurations made in
// code.
Result<void> ignore_extender_resources(Configuration& configuration);

// Every complaint about a configuration in upstream's order, `a` or `[a, b]`. For configurations
// that did not come out of a file unchanged: made in code, or with command line flags applied.
Result<void> validate(const Configuration& configuration, const FeatureGates& gates);

// The complaints about one plugin's arguments, with paths that begin at the arguments.
// Parity: upstream makes them when the plugin is built, not when the file is checked.
std::vector<std::string> validate(const NodeResourcesFitArgs& args);
std::vector<std::string> validate(const CoschedulingArgs& args);

// What is in force without a file.
Configuration default_configuration(const FeatureGates& gates);

// The default multiPoint list with weights (§2.6).
std::vector<PluginRef> default_multi_point(const FeatureGates& gates);

std::string_view to_string(ExtensionPoint point);  // "PreEnqueue", …

}  // namespace berth::config
