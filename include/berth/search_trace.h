// SearchTrace: the steps of one search for a node: the rejections of each node, the scores of each
// plugin, and the result. Filled on request; other searches do not pay for it.
//
// Rows are those of the cluster during the attempt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/node_set.h"
#include "berth/obstacle.h"
#include "berth/status.h"

namespace berth {

struct SearchTrace {
  // Whether `objections` is filled: the search itself stops at the first plugin that rejects a
  // node, as upstream does.
  bool every_objection = false;

  // PreFilter left only some nodes.
  struct Narrowed {
    std::vector<std::string> by;  // plugins, sorted
    std::vector<NodeRow> to;
  };
  struct Rejected {
    NodeRow row = kNoRow;
    Outcome by;
  };
  // What one plugin has against a node when each plugin is asked as if it were the only one.
  struct Objection {
    Outcome outcome;          // a rejection, or an error
    bool pre_filter = false;  // PreFilter rejected the pod, or left only other nodes
    std::vector<Obstacle> obstacles;
  };
  struct Objections {
    NodeRow row = kNoRow;
    std::vector<Objection> by;  // in the order of the profile; those of PreFilter first
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
  std::vector<Rejected> rejected;      // in snapshot order; up to the first error, if there was one
  std::vector<Objections> objections;  // of nodes with any, in snapshot order
  NodeSet feasible;                    // empty when a filter failed
  // Empty when only one node was feasible, or when scoring failed.
  std::vector<Scores> scores;             // in the order of the profile, then extenders
  std::vector<std::int64_t> totals;       // by row, of feasible ones
  std::vector<NodeRow> best;              // the feasible rows with the highest total
  std::optional<PostFilter> post_filter;  // if it ran, because no node fits
  Outcome outcome;          // Success, or why there is no node (with a FitError: none fits)
  NodeRow chosen = kNoRow;  // with Success
};

}  // namespace berth
