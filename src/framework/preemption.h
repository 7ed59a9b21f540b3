// Preemption: selects the node and the victims for a pod that fits on no node (core.md §11).
//
//   eligible? ──► candidates: the nodes where it may help, tried from a drawn one on until there
//                 are enough ──► extenders ──► the node where it hurts least
//
// It decides and changes nothing; Evictions carries it out. Called by a PostFilter plugin, in the
// open scheduling cycle. World thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/handle.h"
#include "berth/plugin.h"
#include "berth/status.h"
#include "cluster/kept_answers.h"
#include "framework/kept_check.h"
#include "framework/kept_victims.h"
#include "framework/preemption_victims.h"

namespace berth {

// How many of the nodes where preemption might help are tried at least.
struct PreemptionLimits {
  std::int32_t min_candidate_nodes_percentage = 10;
  std::int32_t min_candidate_nodes_absolute = 100;
};
std::size_t candidates_to_find(std::size_t nodes, const PreemptionLimits& limits);

struct PreemptionCandidate {
  std::string node;
  Victims victims;
};

// The best candidate by upstream's criteria; of equals the first. There must be one.
std::size_t pick_one_node_for_preemption(std::span<const PreemptionCandidate> candidates);

class Preemption {
 public:
  Preemption(const Handle& handle, PreemptionLimits limits);

  struct Choice {
    Outcome outcome;                               // not Success: why there is no candidate
    std::optional<Nominating> nominating;          // how the nomination changes
    std::optional<PreemptionCandidate> candidate;  // with Success
  };
  // After a search that found no node; `diagnosis` is its result. The cycle's verdicts are
  // unchanged afterwards.
  Task<Choice> choose(Cycle& cycle, const Diagnosis& diagnosis) const;

 private:
  struct Candidate {
    NodeRow row;
    const TriedRow* tried;
  };
  struct FoundCandidates {
    std::vector<Candidate> candidates;  // those that violate no disruption budget first
    std::deque<TriedRow> not_kept;      // candidates may refer to these
    std::string error;                  // of all rows where something went wrong
    std::string message;                // without candidates: why, node by node
  };
  std::string not_eligible(const Pod& pod, const Cycle& cycle, const Diagnosis& diagnosis) const;
  std::vector<NodeRow> nodes_where_preemption_might_help(const Cycle& cycle,
                                                         const Diagnosis& diagnosis) const;
  // Tries the rows in turn, from a drawn one on, until there are enough candidates. The verdicts of
  // tried rows are overwritten meanwhile, for the message, and put back at the end.
  Task<FoundCandidates> find_candidates(Cycle& cycle, std::vector<NodeRow> rows) const;
  // What the search for victims on a row has found, with an error for a success without victims.
  static TriedRow tried_row(VictimSearch::NodeVictims found, std::string_view node,
                            std::vector<std::string>& errors);
  // Why there is no candidate, node by node, from the verdicts of the tried rows.
  static std::string not_helpful(Cycle& cycle, NodeSet tried);
  // What is known of pods like this one; null when that cannot be kept.
  KeptVictims* kept_for(const Cycle& cycle) const;
  // With --verify-increments: compares the kept result with trying the row again.
  void check(const Cycle& cycle, NodeRow row, const TriedRow& kept, VictimSearch& search) const;
  PreemptionCandidate named(const Candidate& candidate) const;
  Task<Result<void>> ask_extenders(Ref<const Pod> pod,
                                   std::vector<PreemptionCandidate>& candidates) const;

  Handle handle_;
  PreemptionLimits limits_;
  std::shared_ptr<KeptCheck> check_;
  std::shared_ptr<const GroupStates> groups_;  // null without the gate GenericWorkload
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  mutable KeptAnswers<KeptVictims> kept_{kMaxBytes};
  mutable std::size_t asks_ = 0;  // since results for deleted pods were last dropped
};

}  // namespace berth
