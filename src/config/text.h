// Text as Go's standard library sees it. Only for this room.
#pragma once

#include <string>
#include <string_view>

namespace berth::config {

inline std::string_view trim_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// "preEnqueue" for "PreEnqueue": an extension point's name in a file.
inline std::string lower_first(std::string_view name) {
  std::string out(name);
  if (!out.empty() && out.front() >= 'A' && out.front() <= 'Z') {
    out.front() = static_cast<char>(out.front() - 'A' + 'a');
  }
  return out;
}

}  // namespace berth::config
