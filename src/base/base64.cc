#include "base/base64.h"

#include <cstddef>
#include <cstdint>

namespace berth {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += i + j <= bytes.size() ? kDigits[bits >> (18 - 6 * j) & 0x3f] : '=';
    }
  }
  return out;
}

std::expected<std::string, std::size_t> decode_base64(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  const auto skip_breaks = [&] {
    while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) ++at;
  };
  for (;;) {
    std::uint32_t bits = 0;
    int have = 0;
    int padding = 0;
    while (have + padding < 4) {
      skip_breaks();
      if (at == text.size()) {
        if (have == 0) return out;
        return std::unexpected(padding == 0 ? at - static_cast<std::size_t>(have) : at);
      }
      const char c = text[at++];
      const std::size_t value = kDigits.find(c);
      if (c == '=' && have >= 2) {
        ++padding;
      } else if (value == std::string_view::npos || padding > 0) {
        return std::unexpected(at - 1);
      } else {
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        ++have;
      }
    }
    bits <<= 6 * padding;
    for (int i = 0; i < 3 - padding; ++i) out += static_cast<char>(bits >> (16 - 8 * i) & 0xff);
    if (padding > 0) {
      skip_breaks();
      if (at < text.size()) return std::unexpected(at);
      return out;
    }
  }
}

std::string base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += kUrlDigits[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += kUrlDigits[(bits << (6 - count)) & 63];
  return text;
}

std::optional<std::string> decode_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    const std::size_t value = kUrlDigits.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 255);
  }
  return bytes;
}

}  // namespace berth
