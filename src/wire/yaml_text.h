// A JSON tree as YAML, in the form that Go's sigs.k8s.io/yaml writes.
#pragma once

#include <string>
#include <string_view>

#include "wire/json_tree.h"

namespace berth {

// Block style, members in their order, lists not indented under their key.
std::string to_go_yaml(const JsonValue& value);
// The same for JSON text.
std::string json_to_yaml(std::string_view json);

}  // namespace berth
