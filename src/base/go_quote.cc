#include "base/go_quote.h"

#include "base/utf8.h"

namespace berth {
namespace {

bool is_printable(char32_t rune) {
  if (rune < 0x20 || (rune >= 0x7F && rune <= 0xA0) || rune == 0xAD) return false;
  if (rune >= 0x2000 && rune <= 0x200F) return false;
  if (rune >= 0x2028 && rune <= 0x202F) return false;
  return rune != 0x3000 && rune != 0xFEFF && !(rune >= 0xE000 && rune <= 0xF8FF) && rune < 0xE0000;
}

void append_hex(std::string& text, char32_t value, int digits) {
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
    text += "0123456789abcdef"[(value >> shift) & 0xF];
}

void append_escaped(std::string& text, char32_t rune) {
  static constexpr std::string_view kFrom = "\a\b\f\n\r\t\v\\\"";
  static constexpr std::string_view kTo = "abfnrtv\\\"";
  text += '\\';
  if (rune < 0x80) {
    const std::size_t at = kFrom.find(static_cast<char>(rune));
    text += at == std::string_view::npos ? 'x' : kTo[at];
    if (at == std::string_view::npos) append_hex(text, rune, 2);
  } else if (rune < 0x10000) {
    text += 'u';
    append_hex(text, rune, 4);
  } else {
    text += 'U';
    append_hex(text, rune, 8);
  }
}

}  // namespace

std::string go_quoted(std::string_view text) {
  std::string quoted = "\"";
  quoted.reserve(text.size() + 2);
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      quoted += "\\x";
      append_hex(quoted, static_cast<unsigned char>(text.front()), 2);
      text.remove_prefix(1);
      continue;
    }
    const char32_t rune = first_rune(text).value;
    if (rune == '"' || rune == '\\' || !is_printable(rune))
      append_escaped(quoted, rune);
    else
      quoted += text.substr(0, length);
    text.remove_prefix(length);
  }
  return quoted += '"';
}

}  // namespace berth
