// Versions on the command line: the one that is reported, the one whose feature gates are emulated,
// and the oldest that has to be lived with (shell.md §1.2, §1.5).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "config/flags/scheduler_options.h"

namespace berth::config {

// The release of kube-scheduler that this program stands in for.
inline constexpr std::string_view kKubernetesVersion = "v1.36.4";
inline constexpr int kKubernetesMinor = 36;
inline constexpr int kOldestEmulatedMinor = 33;

// A version that may take the place of kKubernetesVersion in what is reported: the same release,
// with anything after it ("v1.36.4-mine").
Result<void> check_reported_version(std::string_view text);

struct EffectiveVersions {
  std::string emulated = "1.36";
  std::string min_compatible = "1.35";
  int emulated_minor = kKubernetesMinor;  // the nearest whose gates are known
  std::vector<std::string> complaints;    // about versions out of range; reported with other errors
};

// --emulated-version and --min-compatibility-version.
Result<EffectiveVersions> effective_versions(const VersionOptions& options);

}  // namespace berth::config
