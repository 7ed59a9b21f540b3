// What the commands read: files of manifests, and the configuration.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "api/manifest.h"
#include "berth/interner.h"
#include "berth/result.h"
#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth::app {

// "-" is standard input.
Result<std::string> read_file(const std::string& path);
// The objects of a file of manifests. Fields that they do not have are named: on `warnings`, line by
// line, or, if `strict`, in the error.
Result<std::vector<ManifestObject>> read_manifests(const std::string& path, bool strict,
                                                   Interner& interner, std::ostream& warnings);
// What messages call the file.
std::string shown_path(const std::string& path);

// The defaults when `path` is empty. Errors name the file.
Result<config::Configuration> read_configuration(const std::string& path,
                                                 const config::FeatureGates& gates,
                                                 Interner& interner);

}  // namespace berth::app
