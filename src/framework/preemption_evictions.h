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

#include "api/pod_group.h"
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

  // Who needs room, and where it is made.
  struct Target {
    Ref<const Pod> preemptor;
    std::string node;
    Ref<const PodGroup> group = nullptr;  // the preemptor is one of its pods: all of them need room

    Uid uid() const { return group ? Uid::of(group->uid) : preemptor->uid(); }
    std::string_view kind() const { return group ? "podgroup" : "pod"; }
  };

  // Evicts in the background. Only counts the victims if all are terminating already.
  void begin(Target target, std::vector<Ref<const Pod>> victims);
  void begin(Ref<const Pod> preemptor, PreemptionCandidate candidate) {
    begin({std::move(preemptor), std::move(candidate.node)}, std::move(candidate.victims.pods));
  }
  // Evicts, and returns the errors.
  Task<Result<void>> carry_out(Target target, std::vector<Ref<const Pod>> victims);
  Task<Result<void>> carry_out(Ref<const Pod> preemptor, PreemptionCandidate candidate) {
    return carry_out({std::move(preemptor), std::move(candidate.node)},
                     std::move(candidate.victims.pods));
  }

  // Whether evictions for this pod or group are running, and the last victim is not deleted yet.
  bool running_for(const Uid& preemptor) const;
  bool any_running() const { return !preempting_.empty(); }

 private:
  Task<void> run(Target target, std::vector<Ref<const Pod>> victims);
  Task<bool> evict_all(const Target& target, std::vector<Ref<const Pod>> victims,
                       std::string& error);
  Task<Result<bool>> evict(Target target, Ref<const Pod> victim);
  Task<Result<void>> evict_through_api(const Target& target, const Ref<const Pod>& victim,
                                       bool& gone);
  bool reject_in_memory(const Pod& victim);
  void count_victims(const Target& target, std::size_t count) const;
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
