// Explanations as JSON for programs and as tables for people.
#pragma once

#include <span>
#include <string>

#include "explain/explanation.h"
#include "wire/json_tree.h"

namespace berth::explain {

// {"pods": […]}; docs/explain.md describes the fields. What is empty is left out.
JsonValue to_json_tree(std::span<const Explanation> explanations);
std::string to_table(std::span<const Explanation> explanations);

}  // namespace berth::explain
