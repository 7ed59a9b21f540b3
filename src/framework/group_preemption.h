// GroupPreemption: selects the pods to evict so that a PodGroup can be placed.
//
//   all less important pods of the cluster go ──► can the group be placed? ──no──► that verdict
//                                                        │ yes, on these nodes
//   one by one, most important first, those that a disruption budget protects before the others,
//   they come back as long as every member still fits on its node ──► who could not is a victim
//
// A group whose disruptionMode is `all` goes or stays as a whole, wherever its pods are. The pods
// leave the cluster itself while the cycle is open, and are back when it has chosen. It decides and
// changes nothing; Evictions carries it out. World thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "berth/handle.h"
#include "berth/loop.h"
#include "berth/task.h"
#include "framework/group_plugins.h"

namespace berth {

// Pods that are evicted together, or not at all.
struct VictimUnit {
  struct At {
    Ref<const Pod> pod;
    NodeRow row;
  };
  std::vector<At> pods;
  std::int32_t priority = 0;
  bool of_group = false;
  WallTime since{Duration::max()};  // of the pod that has run for longest
};

// The priority by which a pod is a victim: its group's, if it has one that is known.
std::int32_t victim_priority(const Pod& pod, const Cluster& cluster);
// Whether its group is only evicted as a whole.
bool goes_as_group(const Pod& pod, const Cluster& cluster);

class GroupPreemption {
 public:
  explicit GroupPreemption(const Handle& handle) : handle_(handle) {}

  struct Choice {
    Outcome outcome;                         // Success: victims were chosen, or are on their way
    std::map<Uid, std::string> nominations;  // with Success
    std::vector<Ref<const Pod>> victims;     // none: nothing is to be done
  };
  // The group could not be placed; its cycle is open.
  Task<Choice> choose(UnplacedGroup& group) const;

 private:
  class Search;
  std::string not_eligible(const UnplacedGroup& group) const;
  bool is_ongoing(const UnplacedGroup& group) const;

  Handle handle_;
};

}  // namespace berth
