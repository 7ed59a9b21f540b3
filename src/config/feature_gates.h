// Feature gates by name, with their v1.36 defaults (shell.md §1.5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
};

// Every gate that v1.36's binary knows, sorted by name.
std::span<const Gate> known_gates();

class FeatureGates {
 public:
  FeatureGates() = default;  // all at their defaults

  // The gates with the defaults, stages and locks that they had in v1.`minor`; before set().
  // `min_compatibility` occurs in error texts only: no known gate depends on it.
  void emulate(int minor, std::string version, std::string min_compatibility);

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
  int minor_ = 36;
  std::string version_ = "1.36";
  std::string min_compatibility_ = "1.35";
  std::map<std::string, bool, std::less<>> set_;
  bool bare_names_ = false;      // "A=true" has been seen
  bool prefixed_names_ = false;  // "kube:A=true" has been seen
};

}  // namespace berth::config
