// Preemption: which node, and whose place there, for a pod that fits nowhere (core.md §11).
//
//   eligible? ──► candidates: the nodes where it may help, tried from a drawn one on until there
//                 are enough ──► extenders ──► the node where it hurts least
//
// It decides and changes nothing; Evictions carry it out. Asked by a PostFilter plugin, in the open
// scheduling cycle. World thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/kept_answers.h"
#include "framework/diagnosis.h"
#include "framework/handle.h"
#include "framework/kept_check.h"
#include "framework/kept_victims.h"
#include "framework/plugin.h"
#include "framework/preemption_victims.h"

namespace berth {

// How many nodes are tried at least, of those where it may help.
struct PreemptionLimits {
  std::int32_t min_candidate_nodes_percentage = 10;
  std::int32_t min_candidate_nodes_absolute = 100;
};
std::size_t candidates_to_find(std::size_t nodes, const PreemptionLimits& limits);

struct PreemptionCandidate {
  std::string node;
  Victims victims;
};

// The candidate whose victims are missed least; of equals the first. There must be one.
std::size_t least_missed(std::span<const PreemptionCandidate> candidates);

class Preemption {
 public:
  Preemption(const Handle& handle, PreemptionLimits limits)
      : handle_(handle), limits_(limits), check_(KeptCheck::of(*handle.shared)) {}

  struct Choice {
    Outcome outcome;                               // not Success: why there is none, in words
    std::optional<Nominating> nominating;          // what becomes of the nomination
    std::optional<PreemptionCandidate> candidate;  // with Success
  };
  // After a search that found no node; `diagnosis` is what it found out. The cycle's verdicts are
  // as before afterwards.
  Task<Choice> choose(Cycle& cycle, const Diagnosis& diagnosis) const;

 private:
  struct Candidate {
    NodeRow row;
    const TriedRow* tried;
  };
  struct Found {
    std::vector<Candidate> candidates;  // those that break no disruption budget first
    std::deque<TriedRow> not_kept;      // what candidates may refer to
    std::string error;                  // of all rows where something went wrong
    std::string message;                // without candidates: why, node by node
  };
  std::string not_eligible(const Pod& pod, const Cycle& cycle, const Diagnosis& diagnosis) const;
  std::vector<NodeRow> worth_trying(const Cycle& cycle, const Diagnosis& diagnosis) const;
  Task<Found> find(Cycle& cycle, std::vector<NodeRow> rows) const;
  KeptVictims* kept_for(const Cycle& cycle) const;
  void check(const Cycle& cycle, NodeRow row, const TriedRow& kept, VictimSearch& search) const;
  PreemptionCandidate named(const Candidate& candidate) const;
  Task<Result<void>> ask_extenders(Ref<const Pod> pod,
                                   std::vector<PreemptionCandidate>& candidates) const;

  Handle handle_;
  PreemptionLimits limits_;
  std::shared_ptr<KeptCheck> check_;
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  mutable KeptAnswers<KeptVictims> kept_{kMaxBytes};
  mutable std::size_t asks_ = 0;  // since those of pods that are gone were forgotten
};

}  // namespace berth
