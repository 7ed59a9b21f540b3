// Evictions: carries out what Preemption decided (core.md §11.7).
//
//   begin ──► preempting ── pods of lower priority nominated to the node lose that
//                 │         all victims but the last are evicted, side by side
//                 │         the last one
//                 └──► over; the preemptor is tried again at once after a failure, and when the
//                      last victim was only rejected in memory
//
// A victim that waits at Permit or is in PreBind is rejected in memory; any other gets its
// DisruptionTarget condition and is deleted. While evictions run, their preemptor is kept out of
// the queue (running_for): otherwise it would select other victims, too.
//
// Its tasks are destroyed with this object. World thread only.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "berth/handle.h"
#include "berth/task.h"
#include "framework/preemption.h"

namespace berth {

class Observer;

class Evictions {
 public:
  // `plugin` is the name of the plugin that rejects waiting pods.
  Evictions(const Handle& handle, std::string plugin);
  ~Evictions();

  // Evicts in the background. Only counts the victims if all are terminating already.
  void begin(Ref<const Pod> preemptor, PreemptionCandidate candidate);
  // Evicts, and returns the errors.
  Task<Result<void>> carry_out(Ref<const Pod> preemptor, PreemptionCandidate candidate);

  // Whether evictions for this pod are running, and its last victim is not deleted yet.
  bool running_for(const Uid& preemptor) const;

 private:
  struct Target {  // the pod that needs room, and the node where it is made
    Ref<const Pod> preemptor;
    std::string node;
  };
  Task<void> run(Target target, std::vector<Ref<const Pod>> victims);
  Task<bool> evict_all(const Target& target, std::vector<Ref<const Pod>> victims,
                       std::string& error);
  Task<Result<bool>> evict(Target target, Ref<const Pod> victim);
  Task<Result<void>> evict_through_api(const Target& target, const Ref<const Pod>& victim,
                                       bool& gone);
  bool reject_in_memory(const Pod& victim);
  void record_preemption(const Target& target, const Ref<const Pod>& victim, bool in_memory);
  Task<void> clear_lower_nominations(const Target& target, std::string& error);
  void internal_error(const std::string& message) const;
  Observer* measuring() const;

  Handle handle_;
  std::string plugin_;
  // By preemptor; with the last victim once it is the only one left.
  std::unordered_map<Uid, Ref<const Pod>> preempting_;
  TaskSet tasks_;
};

}  // namespace berth
