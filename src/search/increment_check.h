// Compares decisions from kept results with decisions from scratch (--verify-increments).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/framework.h"

namespace berth {

// The rows that are feasible for a pod, and their totals. A single feasible row is not scored.
struct Evaluation {
  NodeSet feasible;
  std::vector<Score> totals;
  // If no row is feasible and the verdicts were kept: the verdict of each row, and the lists that
  // Status::kListed refers to.
  std::vector<Status> verdicts;
  std::vector<std::vector<std::string>> listed_reasons;
};

// Describes the first difference: pod, node, plugin and the node's last change. The cycle holds the
// verdicts and plugin states of the search from scratch.
std::optional<std::string> find_difference(const Cycle& cycle, const Framework& framework,
                                           const Evaluation& kept, const NodeSet& feasible,
                                           std::span<const Score> totals);

}  // namespace berth
