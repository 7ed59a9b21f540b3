// Evictions: carries out what Preemption decided (core.md §11.7).
//
//   begin ──► preempting ── pods of lower priority nominated to the node lose that
//                 │         all victims but the last are evicted, side by side
//                 │         the last one
//                 └──► over; after a failure the preemptor is tried again at once
//
// A victim that waits at Permit or is in PreBind is turned away in memory; any other gets its
// DisruptionTarget condition and is deleted. While evictions go on their preemptor is kept out of
// the queue (running_for), or it would look for yet other victims.
//
// Tasks live in here and end with this object. World thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/task.h"
#include "framework/handle.h"
#include "framework/preemption.h"

namespace berth {

class Measurements;

class Evictions {
 public:
  // `plugin` is in whose name pods are turned away.
  Evictions(const Handle& handle, std::string plugin);
  ~Evictions();

  // Evicts in the background. With nothing but pods that go anyway there is nothing to do.
  void begin(Ref<const Pod> preemptor, PreemptionCandidate candidate);
  // Evicts now; whoever awaits it is told what went wrong.
  Task<Result<void>> carry_out(Ref<const Pod> preemptor, PreemptionCandidate candidate);

  // Whether evictions for this pod go on, and its last victim is still to be asked to go.
  bool running_for(const Uid& preemptor) const;

 private:
  struct For {  // who needs the room, and where
    Ref<const Pod> preemptor;
    std::string node;
  };
  Task<void> run(For room, std::vector<Ref<const Pod>> victims);
  Task<bool> evict_all(const For& room, std::vector<Ref<const Pod>> victims, std::string& error);
  Task<Result<void>> evict(For room, Ref<const Pod> victim);
  Task<Result<void>> evict_through_api(const For& room, const Ref<const Pod>& victim, bool& gone);
  bool turn_away(const Pod& victim);
  void tell(const For& room, const Ref<const Pod>& victim, bool in_memory);
  Task<void> clear_lower_nominations(const For& room, std::string& error);
  void trouble(const std::string& message) const;
  Measurements* measurements() const;

  Handle handle_;
  std::string plugin_;
  // By preemptor; with the last victim once only that one is left.
  std::unordered_map<Uid, Ref<const Pod>> preempting_;
  TaskSet tasks_;
};

}  // namespace berth
