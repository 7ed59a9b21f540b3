// GroupConditions: writes the condition PodGroupInitiallyScheduled of PodGroups.
//
// A condition is written if it differs from the one that is known, and until it is stored: what was
// decided last counts, and a version that is not the newest is read again from the watch. Once a
// group is known as scheduled, nothing else is said about it any more, also before the watch has
// shown that. World thread.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "api/pod_group.h"
#include "berth/cluster_api.h"
#include "berth/loop.h"
#include "berth/observer.h"
#include "berth/task.h"
#include "berth/views.h"
#include "cluster/group_states.h"

namespace berth {

class GroupConditions {
 public:
  // All outlive it.
  GroupConditions(Loop& loop, const Cluster& cluster, ClusterApi& api, TaskSet& tasks,
                  Observer& observer)
      : loop_(loop), cluster_(cluster), api_(api), tasks_(tasks), observer_(observer) {}
  GroupConditions(const GroupConditions&) = delete;
  GroupConditions& operator=(const GroupConditions&) = delete;

  // The cycle of the group ended with that outcome.
  void decided(const PodGroup& group, const Outcome& outcome);

 private:
  struct Writing {
    std::string uid;
    PodCondition wanted;
    bool running = false;
  };
  // Beyond so many, those are forgotten that the watch has shown.
  static constexpr std::size_t kMostKept = 1024;

  Ref<const PodGroup> stored(const PodGroup& group) const;
  Task<void> write(Ref<const PodGroup> group);
  void forget_shown();

  Loop& loop_;
  const Cluster& cluster_;
  ClusterApi& api_;
  TaskSet& tasks_;
  Observer& observer_;
  // Those under way, and those that the watch need not have shown yet. By namespace and name.
  std::map<std::pair<std::string, std::string>, Writing> writing_;
};

}  // namespace berth
