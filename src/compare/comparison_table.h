// A comparison as a table for people: a column for each side, and the pods that went elsewhere.
#pragma once

#include <string>

#include "wire/json_tree.h"

namespace berth::compare {

// `document` is what run_sweep() and merge_parts() give. What it lacks is not shown.
std::string to_table(const JsonValue& document);

}  // namespace berth::compare
