// Formats with a name: format.dns1123Label().validate(text).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

struct NamedFormat {
  std::string_view function;  // behind "format."
  std::string_view name;
  double pattern_size;  // what its pattern counts for in costs
  // What is wrong with the text; nothing if it is of the format.
  std::vector<std::string> (*validate)(std::string_view text);
};

// The format of that name, as behind "format."; null if there is none.
const NamedFormat* named_format(std::string_view function);

}  // namespace berth::cel
