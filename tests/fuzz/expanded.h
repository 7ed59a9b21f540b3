// Large inputs from small ones: what a fuzzer can mutate is a few kilobytes, what an API server
// accepts is 1.5 MiB.
//
// An input that begins with "%repeat\n" is a pattern: "%[1000|k%i: v,%]" stands for "k0: v,k1:
// v,…", a thousand times. Patterns nest; "%i" is the number of the innermost repetition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::fuzz {

constexpr std::size_t kMostExpanded = 1536 * 1024;

// Appends `pattern` up to its closing "%]"; gives back what follows that.
inline std::string_view expand(std::string_view pattern, std::size_t number, std::string& out) {
  while (!pattern.empty() && out.size() < kMostExpanded) {
    if (pattern.starts_with("%]")) return pattern.substr(2);
    if (pattern.starts_with("%i")) {
      out += std::to_string(number);
      pattern.remove_prefix(2);
    } else if (pattern.starts_with("%[")) {
      pattern.remove_prefix(2);
      std::size_t count = 0;
      for (; !pattern.empty() && pattern[0] >= '0' && pattern[0] <= '9'; pattern.remove_prefix(1))
        count = std::min<std::size_t>(count * 10 + static_cast<std::size_t>(pattern[0] - '0'),
                                      kMostExpanded);
      if (pattern.starts_with('|')) pattern.remove_prefix(1);
      std::string_view rest;
      for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i) {
        const std::size_t before = out.size();
        rest = expand(pattern, i, out);
        if (out.size() >= kMostExpanded || out.size() == before) break;
      }
      pattern = rest;
    } else {
      out += pattern[0];
      pattern.remove_prefix(1);
    }
  }
  return pattern;
}

inline std::string expanded(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kPattern = "%repeat\n";
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (!input.starts_with(kPattern)) return std::string(input);
  std::string out;
  expand(input.substr(kPattern.size()), 0, out);
  out.resize(std::min(out.size(), kMostExpanded));
  return out;
}

}  // namespace berth::fuzz
