// Versions on the command line: the one that is reported, the one whose feature gates are emulated,
// and the oldest that has to be lived with (shell.md §1.2, §1.5).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/release.h"
#include "berth/result.h"
#include "config/flags/scheduler_options.h"

namespace berth::config {

inline constexpr int kOldestEmulatedMinor = kKubernetesMinor - 3;

// A version that may take the place of kKubernetesVersion in what is reported: the same release,
// with anything after it ("v1.37.1-mine").
Result<void> check_reported_version(std::string_view text);

struct EffectiveVersions {
  std::string emulated = std::string(kKubernetesMajorMinor);
  std::string min_compatible = previous_major_minor();
  // The nearest whose gates are known.
  int emulated_minor = kKubernetesMinor;
  int min_compatible_minor = kKubernetesMinor - 1;
  std::vector<std::string> complaints;  // about versions out of range; reported with other errors
};

// --emulated-version and --min-compatibility-version.
Result<EffectiveVersions> effective_versions(const VersionOptions& options);

}  // namespace berth::config
