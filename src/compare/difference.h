// find_difference(): which pods went elsewhere on one side than on another, and why.
//
// Runs are deterministic, so the decisions in question are found by what was recorded in passing, and
// then both runs are made again up to the last of them, with only these decisions traced.
#pragma once

#include <cstddef>

#include "berth/plugin_table.h"
#include "berth/result.h"
#include "compare/decision_log.h"
#include "compare/side_run.h"
#include "wire/json_tree.h"

namespace berth::compare {

struct DifferenceQuestion {
  const SideQuestion& there;  // the first side
  const SideQuestion& here;
  const DecisionLog& log_there;
  const DecisionLog& log_here;
  std::size_t explained = 5;  // how many pods are told why
};

// docs/compare.md describes the object.
Result<JsonValue> find_difference(const DifferenceQuestion& question, const PluginTable& plugins);

}  // namespace berth::compare
