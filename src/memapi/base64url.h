// Bytes as text that may stand in a URL: base64 in its other alphabet, without padding. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::memapi {

std::string to_base64url(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace berth::memapi
