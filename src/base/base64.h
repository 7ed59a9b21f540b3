// Bytes as base64 text, padded, in the standard alphabet. Any thread.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

namespace berth {

std::string base64(std::string_view bytes);

// Line breaks are ignored. Otherwise the offset of what is wrong, as Go counts it.
std::expected<std::string, std::size_t> decode_base64(std::string_view text);

}  // namespace berth
