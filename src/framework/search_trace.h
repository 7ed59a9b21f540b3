// SearchTrace: what a search for a node found out, node by node: who said no and why, who gave how
// many points; and what came of it. A search fills it for whoever asks; nobody else pays for it.
//
// Rows are those of the cluster during the attempt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/node_set.h"
#include "framework/status.h"

namespace berth {

struct SearchTrace {
  // Asked for: all plugins that reject a node; otherwise the first, after which upstream asks no
  // further.
  bool every_rejection = false;

  // PreFilter left only some nodes.
  struct Narrowed {
    std::vector<std::string> by;  // plugins, sorted
    std::vector<NodeRow> to;
  };
  struct Rejected {
    NodeRow row = kNoRow;
    std::vector<Outcome> by;
  };
  struct Points {
    std::int64_t raw = 0;
    std::int64_t normalized = 0;
    std::int64_t weighted = 0;  // what counts
  };
  struct PostFilter {
    std::string nominated;  // the node that it makes room on; empty: none
    std::string message;
  };
  enum class Scorer : std::uint8_t { kPlugin, kExtender };
  struct Scores {
    Scorer scorer = Scorer::kPlugin;
    std::string name;
    std::vector<Points> by_row;  // of feasible rows
  };

  std::optional<Outcome> pre_filter;  // unless it was Success
  std::optional<Narrowed> narrowed;
  std::vector<Rejected> rejected;  // in snapshot order; up to the first error, if there was one
  NodeSet feasible;                // empty when a filter failed
  // Absent when nothing was scored, for want of a choice, or when scoring failed.
  std::vector<Scores> scores;             // in the order of the profile, then extenders
  std::vector<std::int64_t> totals;       // by row, of feasible ones
  std::vector<NodeRow> best;              // the feasible rows with the highest total
  std::optional<PostFilter> post_filter;  // when it was asked, because nothing fits
  Outcome outcome;          // Success, or why there is no node (with a FitError: none fits)
  NodeRow chosen = kNoRow;  // with Success
};

}  // namespace berth
