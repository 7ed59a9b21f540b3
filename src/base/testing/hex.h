// Bytes in tests, written as hexadecimal digits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::testing {

// "0a01ff": lower case, no spaces.
inline std::string from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return bytes;
}

}  // namespace berth::testing
