// A JSON tree as YAML, in the form that Kubernetes' tools write. Only for this room.
#pragma once

#include <string>

#include "config/json_tree.h"

namespace berth::config {

// Block style, members in their order, lists not indented under their key.
std::string to_go_yaml(const JsonValue& value);

}  // namespace berth::config
