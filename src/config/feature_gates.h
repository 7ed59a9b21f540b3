// Feature gates by name, with their v1.36 defaults (shell.md §1.5).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::config {

struct Gate {
  enum class Stage : std::uint8_t { kAlpha, kBeta, kStable, kDeprecated };
  std::string_view name;
  bool enabled_by_default = false;
  Stage stage = Stage::kAlpha;
  bool locked = false;
  bool acted_upon = false;  // false: the name is accepted, nothing here depends on it
};

// Every gate that v1.36's binary knows, sorted by name.
std::span<const Gate> known_gates();

class FeatureGates {
 public:
  FeatureGates() = default;  // all at their defaults

  // "A=true,kube:B=false"; may be called again. Errors are upstream's sentences. AllAlpha and
  // AllBeta switch classes without overriding what is set by name.
  Result<void> set(std::string_view flag_value);
  // Dependencies between gates, after the last set().
  Result<void> validate() const;

  bool enabled(std::string_view name) const;

  // What was set by name: for warnings about stable and deprecated gates.
  const std::map<std::string, bool, std::less<>>& settings() const { return set_; }

 private:
  std::map<std::string, bool, std::less<>> set_;
  bool bare_names_ = false;      // "A=true" has been seen
  bool prefixed_names_ = false;  // "kube:A=true" has been seen
};

}  // namespace berth::config
