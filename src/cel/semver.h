// Semver: a semantic version, strict (three numbers without leading zeros) or normalized first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth::cel {

struct Semver {
  // One dot-separated part of what follows the hyphen: a number, or words.
  struct PreRelease {
    bool numeric = false;
    std::uint64_t number = 0;
    std::string text;
  };

  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::vector<PreRelease> pre_release;
  std::vector<std::string> build;

  static Result<Semver> parse(std::string_view text);
  // One leading "v" goes, so do leading zeros, and missing parts are 0.
  static Result<Semver> parse_normalized(std::string_view text);
};

// By precedence: build metadata does not count.
int compare(const Semver& a, const Semver& b);

}  // namespace berth::cel
