// Numbers and text by the rules of Go: conversions that lose nothing, floating-point numbers as
// `%v` prints them. Only for this room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::cel {

std::optional<std::int64_t> lossless_int(double value);
std::optional<std::uint64_t> lossless_uint(double value);
// In range; fractions are cut off.
std::optional<std::int64_t> checked_int(double value);
std::optional<std::uint64_t> checked_uint(double value);

std::optional<std::int64_t> parse_int(std::string_view text, int base = 10);
std::optional<std::uint64_t> parse_uint(std::string_view text, int base = 10);
std::optional<double> parse_double(std::string_view text);

std::string shortest(double value);        // %g
std::string shortest_fixed(double value);  // %f with as many digits as needed

// Code points; whatever is no UTF-8 counts byte by byte.
std::size_t count_runes(std::string_view text);
std::u32string runes(std::string_view text);
std::string from_runes(std::u32string_view runes);

}  // namespace berth::cel
