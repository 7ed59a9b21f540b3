// What the commands read: files of manifests, and the configuration.
#pragma once

#include <string>

#include "api/interner.h"
#include "base/result.h"
#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth::app {

// "-" is standard input.
Result<std::string> read_file(const std::string& path);
// What messages call the file.
std::string shown_path(const std::string& path);

// The defaults when `path` is empty. Errors name the file.
Result<config::Configuration> read_configuration(const std::string& path,
                                                 const config::FeatureGates& gates,
                                                 Interner& interner);

}  // namespace berth::app
