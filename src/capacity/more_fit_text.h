// How many more pods fit, as text: a table for people, JSON for programs.
#pragma once

#include <string>

#include "capacity/more_pods.h"
#include "wire/json_tree.h"

namespace berth::capacity {

// The terms are those of the cluster-capacity tool, where it has them: docs/compare.md.
JsonValue to_json_tree(const MoreFit& fit);
std::string to_table(const MoreFit& fit);

}  // namespace berth::capacity
