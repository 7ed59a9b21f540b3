// The formats of strings that schemas of custom resources may name.
#pragma once

#include <string_view>

namespace berth::memapi {

// Whether the text is of the format; true for formats that nobody checks.
bool has_format(std::string_view text, std::string_view format);

}  // namespace berth::memapi
