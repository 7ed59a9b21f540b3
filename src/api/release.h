// The Kubernetes release that berth stands in for. Whatever names it takes it from here.
#pragma once

#include <string>
#include <string_view>

namespace berth {

inline constexpr std::string_view kKubernetesVersion = "v1.37.1";
// Without the "v".
inline constexpr std::string_view kKubernetesNumber = kKubernetesVersion.substr(1);
// Without the patch number too.
inline constexpr std::string_view kKubernetesMajorMinor =
    kKubernetesNumber.substr(0, kKubernetesNumber.rfind('.'));
// The minor version alone.
inline constexpr int kKubernetesMinor = [] {
  int minor = 0;
  for (const char digit : kKubernetesMajorMinor.substr(2)) minor = 10 * minor + (digit - '0');
  return minor;
}();

// The minor version before it, as kKubernetesMajorMinor is written.
inline std::string previous_major_minor() { return "1." + std::to_string(kKubernetesMinor - 1); }

}  // namespace berth
