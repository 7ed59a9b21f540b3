#include "base/utf8.h"

namespace berth {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

Rune first_rune(std::string_view text) {
  constexpr char32_t kReplacement = 0xFFFD;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  switch (utf8_length(text)) {
    case 1: return {byte(0), 1};
    case 2: return {(byte(0) & 0x1FU) << 6 | (byte(1) & 0x3FU), 2};
    case 3: return {(byte(0) & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU), 3};
    case 4:
      return {(byte(0) & 0x07U) << 18 | (byte(1) & 0x3FU) << 12 | (byte(2) & 0x3FU) << 6 |
                  (byte(3) & 0x3FU),
              4};
    default: return {kReplacement, 1};
  }
}

void append_rune(std::string& text, char32_t rune) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (rune < 0x80) {
    add(rune);
  } else if (rune < 0x800) {
    add(0xC0 | rune >> 6);
    add(0x80 | (rune & 0x3F));
  } else if (rune < 0x10000) {
    add(0xE0 | rune >> 12);
    add(0x80 | (rune >> 6 & 0x3F));
    add(0x80 | (rune & 0x3F));
  } else {
    add(0xF0 | rune >> 18);
    add(0x80 | (rune >> 12 & 0x3F));
    add(0x80 | (rune >> 6 & 0x3F));
    add(0x80 | (rune & 0x3F));
  }
}

}  // namespace berth
