// Compares secrets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace berth {

// Whether both are the same. Reads on after a difference: otherwise the time that it takes would tell
// how much of a secret is right.
inline bool is_same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

}  // namespace berth
