// BatchingCounts: counts what upstream's opportunistic batching would have done, for its metrics.
//
// Upstream remembers the scored nodes of a pod and gives the best of them to the next pod as a
// hint, if that has the same signature and comes at once. The node that was chosen before is scored
// again and stays among them, unless it is full. berth gives no hints (classes of pods save more:
// see search/pod_class.h), but `scheduler_batch_attempts_total` counts the pods that would have had
// one. The remembered nodes are a number here: that one of them was deleted is not noticed. One per
// profile; called after a pod's search, before it is assumed. World thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "berth/loop.h"
#include "berth/measurements.h"
#include "berth/symbols.h"

namespace berth {

class BatchingCounts {
 public:
  // A pod that passed PreFilter, and the result of its search.
  struct Search {
    std::uint64_t cycle = 0;               // counted over all profiles
    std::optional<std::string> signature;  // nullopt: the pod has none
    bool nominated = false;                // no hint for a pod with a nominated node
    std::size_t feasible = 0;              // 0: it fits nowhere
    Symbol node;                           // chosen
  };
  enum class LastNode : std::uint8_t { kMissing, kFilterError, kHasRoom, kFull };
  // Called with the previous pod's node, if everything else fits.
  using LookAtNode = std::function<LastNode(Symbol node)>;

  void searched(const Search& search, const LookAtNode& look, ProfileMeasurements& measured);

 private:
  struct Remembered {
    std::string signature;
    std::size_t nodes = 0;  // left for hints
    TimePoint since;
  };

  std::optional<BatchFlush> unusable(const Search& search, TimePoint now) const;
  bool refresh(const LookAtNode& look, ProfileMeasurements& measured);
  bool give_hint(const Search& search, const LookAtNode& look, TimePoint now,
                 ProfileMeasurements& measured);
  void store(const Search& search, bool hinted, ProfileMeasurements& measured);

  std::optional<Remembered> remembered_;
  std::uint64_t last_cycle_ = 0;  // the last in which a pod was placed
  Symbol last_node_;
};

}  // namespace berth
