// Whether what is kept between pods decides as a look at everything does (--verify-increments).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/framework.h"

namespace berth {

// The rows that are feasible for a pod, and their totals. Without a choice nobody is scored.
struct Evaluation {
  NodeSet feasible;
  std::vector<Score> totals;
  // Where nothing is feasible, perhaps: why, by row, and the lists that Status::kListed refers to.
  std::vector<Status> verdicts;
  std::vector<std::vector<std::string>> listed_reasons;
};

// The first difference, in words: pod, node, plugin and what changed there last. The cycle has the
// verdicts and the states of the look at everything.
std::optional<std::string> find_difference(const Cycle& cycle, const Framework& framework,
                                           const Evaluation& kept, const NodeSet& feasible,
                                           std::span<const Score> totals);

}  // namespace berth
