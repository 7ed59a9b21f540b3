// "%s has %d".format([name, count]).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "cel/value.h"

namespace berth::cel {

Value format_string(std::span<const Value> args);

// One place in a format: which argument, how, with how many digits (-1: not given).
struct FormatClause {
  std::size_t argument = 0;
  char verb = 0;
  int precision = -1;
};

// Goes through the format. Text is appended to `text`, for each clause `write` adds its own or says
// what is wrong. Gives the number of arguments used.
using WriteClause = std::function<Result<std::string>(const FormatClause&)>;
Result<std::size_t> read_format(std::string_view format, std::size_t arguments, std::string& text,
                                const WriteClause& write);

// The complaint about an argument of this type; empty verbs are none.
std::string wrong_argument(char verb, std::string_view type_name);

}  // namespace berth::cel
