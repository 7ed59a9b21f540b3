// Words of a command line as numbers and the like, by the rules of Go's standard library and with
// its complaints: `strconv.ParseBool: parsing "maybe": invalid syntax`. Only for this room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth::config {

Result<bool> parse_bool(std::string_view text);

// With the prefixes 0x, 0o, 0b, 0 and underscores between digits when `base` is 0.
Result<std::int64_t> parse_int(std::string_view text, int base, int bits);
Result<std::uint64_t> parse_uint(std::string_view text, int base, int bits);

Result<float> parse_float(std::string_view text);

// An IP address in its canonical form: "::ffff:1.2.3.4" is "1.2.3.4". Nothing is said about what is
// wrong with one that is none.
Result<std::string> parse_ip(std::string_view text);

// The fields of the first line of comma separated values.
Result<std::vector<std::string>> read_csv(std::string_view text);
std::string write_csv(const std::vector<std::string>& fields);

}  // namespace berth::config
