// JSON as text: writing strings and numbers the way Go does, and telling whether a text is JSON.
// For the codecs of this room and for whoever prints JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// A float64 as encoding/json writes it: "0.5", "1e+21", "100000".
std::string go_float(double value);
// A float32 as %g with the fewest digits that tell it apart: "1.5", "1e+06".
std::string go_float_general(float value);

// One JSON value in a text, and the line on which it begins.
struct JsonSlice {
  std::string_view text;
  std::size_t line = 1;
};

// The objects that a text consists of, one after the other, if it is JSON and nothing else: the
// shape is right, no key stands twice, nothing is nested too deep. Empty if in doubt; the YAML
// reader knows better then, and can say what is wrong.
std::optional<std::vector<JsonSlice>> split_json_objects(std::string_view text);

// How deep maps and lists may be nested in a manifest.
inline constexpr std::size_t kMaxNesting = 1000;

}  // namespace berth
