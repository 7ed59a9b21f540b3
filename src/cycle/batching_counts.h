// BatchingCounts: what upstream's opportunistic batching would have done, for its metrics.
//
// Upstream remembers the scored nodes of a pod and gives the next one to the next pod as a hint, if
// that has the same signature and comes at once, and the node that was chosen before is full. berth
// gives no hints (classes of pods save more: see search/pod_class.h), but whoever watches
// `scheduler_batch_attempts_total` sees the pods that would have had one. One per profile; in the
// life of a pod after its search, before it is assumed. World thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/loop.h"
#include "base/symbols.h"
#include "framework/measurements.h"

namespace berth {

class BatchingCounts {
 public:
  // A pod whose PreFilter passed, and what its search came to.
  struct Search {
    std::uint64_t cycle = 0;               // counted over all profiles
    std::optional<std::string> signature;  // absent: the pod has none
    bool nominated = false;                // a nominated node goes before a hint
    std::size_t feasible = 0;              // 0: it fits nowhere
    Symbol node;                           // chosen
  };
  enum class LastNode : std::uint8_t { kMissing, kHasRoom, kFull };
  // Asked about the node of the pod before, if all else fits.
  using LookAtNode = std::function<LastNode(Symbol node)>;

  void searched(const Search& search, const LookAtNode& look, ProfileMeasurements& measured);

 private:
  struct Remembered {
    std::string signature;
    std::size_t nodes = 0;  // that are left for hints
    TimePoint since;
  };

  std::optional<BatchFlush> unusable(const Search& search, const LookAtNode& look,
                                     TimePoint now) const;
  void store(const Search& search, bool hinted, ProfileMeasurements& measured);

  std::optional<Remembered> remembered_;
  std::uint64_t last_cycle_ = 0;  // in which a pod was placed
  Symbol last_node_;
};

}  // namespace berth
