// Explanations as JSON for programs and as tables for people.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/result.h"
#include "explain/explanation.h"
#include "wire/json_tree.h"

namespace berth::explain {

// {"pods": […]}; docs/explain.md describes the fields. What is empty is left out.
JsonValue to_json_tree(std::span<const Explanation> explanations);
// What to_json_tree() made, maybe by another version: what is not known is left out.
Result<std::vector<Explanation>> read_explanations(const JsonValue& tree);
std::string to_table(std::span<const Explanation> explanations);

}  // namespace berth::explain
