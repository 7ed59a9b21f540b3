// Text in quotes as Go's %q has it: upstream's messages quote names and values so. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// Quotes, backslashes, control characters, invisible characters and bytes that are no UTF-8 are
// escaped.
std::string go_quoted(std::string_view text);

}  // namespace berth
