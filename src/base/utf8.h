// UTF-8: where a character ends. Any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth {

// The number of bytes of the UTF-8 character at the beginning of `text`, or 0 if there is none.
std::size_t utf8_length(std::string_view text);

}  // namespace berth
