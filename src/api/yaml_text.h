// YAML for people to read, made from JSON.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// `json` is one JSON value; keys keep their order. Strings that YAML would read as something else
// are quoted, so that parse_yaml gives the same JSON back.
std::string json_to_yaml(std::string_view json);

}  // namespace berth
