// Plain YAML scalars, resolved the way go-yaml v2 does: what a word without quotes
// means, and how it is written in JSON. Used by parse_yaml only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth {

enum class YamlType : std::uint8_t { kNull, kBool, kInt, kUint, kFloat, kString };

struct YamlScalar {
  YamlType type = YamlType::kString;
  std::string json;   // as a JSON value; of kString the bare text, without quotes
  double number = 0;  // of kFloat
};

// A scalar without quotes and without a tag.
YamlScalar resolve_plain(std::string_view text);

// A scalar with a tag ("tag:yaml.org,2002:int", "!mine"), quoted or not. The error's sentence has
// no line.
Result<YamlScalar> resolve_tagged(std::string_view tag, std::string_view text);

// The text of a scalar that stands as a key of a map. Fails for what JSON cannot have as a key.
Result<std::string> yaml_key(const YamlScalar& scalar);

// How Go's %#v shows the key, for messages.
std::string shown_key(const YamlScalar& scalar);

}  // namespace berth
