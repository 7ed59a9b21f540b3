// Feature gates by name, with their v1.37 defaults (shell.md §1.5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/release.h"
#include "berth/result.h"

namespace berth::config {

struct Gate {
  // kPreAlpha: not there yet, in the version that is emulated.
  enum class Stage : std::uint8_t { kAlpha, kBeta, kStable, kDeprecated, kPreAlpha };
  enum class Use : std::uint8_t {
    kOthers,    // other components' only: the name is accepted
    kHere,      // berth acts upon it, or upstream's scheduler does not differ with it
    kNotBuilt,  // upstream's scheduler acts upon it, berth does not
  };
  std::string_view name;
  bool enabled_by_default = false;
  Stage stage = Stage::kAlpha;
  bool locked = false;
  Use use = Use::kOthers;
  // On by default too when no component is older than v1.`on_from_compatibility`; 0: no such rule.
  int on_from_compatibility = 0;
};

struct MinorVersion {
  std::string text;  // as error texts name it
  int minor = 0;
};

// Every gate that v1.37's binary knows, sorted by name.
std::span<const Gate> known_gates();

class FeatureGates {
 public:
  FeatureGates() = default;  // all at their defaults

  // The gates with the defaults, stages and locks that they had in `version`, where no component
  // is older than `min_compatibility`; before set().
  void emulate(MinorVersion version, MinorVersion min_compatibility);

  // "A=true,kube:B=false"; may be called again. Errors are upstream's sentences. AllAlpha and
  // AllBeta switch classes without overriding what is set by name.
  Result<void> set(std::string_view flag_value);
  // Dependencies between gates, after the last set().
  Result<void> validate() const;

  bool enabled(std::string_view name) const;

  // The gate as it is in the emulated version. Nothing: no such gate.
  std::optional<Gate> find(std::string_view name) const;

  // The gates that are on though berth does not act upon them, as upstream's scheduler does.
  std::vector<std::string_view> without_effect() const;

  // What was set by name: for warnings about stable and deprecated gates.
  const std::map<std::string, bool, std::less<>>& settings() const { return set_; }

 private:
  MinorVersion version_{std::string(kKubernetesMajorMinor), kKubernetesMinor};
  MinorVersion min_compatibility_{previous_major_minor(), kKubernetesMinor - 1};
  std::map<std::string, bool, std::less<>> set_;
  bool bare_names_ = false;      // "A=true" has been seen
  bool prefixed_names_ = false;  // "kube:A=true" has been seen
};

}  // namespace berth::config
