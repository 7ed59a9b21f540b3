// UTF-8: characters and their code points. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth {

// The number of bytes of the UTF-8 character at the beginning of `text`, or 0 if there is none.
std::size_t utf8_length(std::string_view text);

struct Rune {
  char32_t value = 0;
  std::size_t bytes = 1;
};
// The code point at the beginning; a byte that begins none stands alone, for U+FFFD.
Rune first_rune(std::string_view text);
void append_rune(std::string& text, char32_t rune);

}  // namespace berth
