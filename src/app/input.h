// What the commands read: files of manifests, and the configuration.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "api/manifest.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth::app {

class Progress;

// "-" is standard input.
Result<std::string> read_file(const std::string& path);
// The objects of a file of manifests. Fields that they do not have are named: on `warnings`, line by
// line, or, if `strict`, in the error.
Result<std::vector<ManifestObject>> read_manifests(const std::string& path, bool strict,
                                                   Interner& interner, std::ostream& warnings);
// The objects of all these files as an API server would have them (api/manifest_loader.h), for
// clusters of any size.
Result<std::vector<ManifestObject>> load_manifests(const std::vector<std::string>& paths,
                                                   bool strict, Interner& interner, WallTime now,
                                                   std::ostream& warnings,
                                                   Progress* progress = nullptr);
// What messages call the file.
std::string shown_path(const std::string& path);

// The defaults when `path` is empty. Errors name the file.
Result<config::Configuration> read_configuration(const std::string& path,
                                                 const config::FeatureGates& gates,
                                                 Interner& interner);

}  // namespace berth::app
