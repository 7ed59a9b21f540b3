// Bytes as base64 text: padded, in the standard alphabet, or as it may stand in a URL. Any thread.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

std::string base64(std::string_view bytes);

// Line breaks are ignored. Otherwise the offset of what is wrong, as Go counts it.
std::expected<std::string, std::size_t> decode_base64(std::string_view text);

// In the alphabet for URLs, without padding, which is accepted.
std::string base64url(std::string_view bytes);
std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace berth
