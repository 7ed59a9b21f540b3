// What the controller of Coscheduling's PodGroups decides: the status of a group, from what it was
// and how its pods are. One step at a time; every status that is written leads to the next look.
//
//   (none) ► Pending ► Scheduling ◄► Running ► Finished, Failed: the end
//               ▲           │           │
//               └───────────┴───────────┘ too few pods
#pragma once

#include <cstdint>
#include <string>

#include "api/coscheduling.h"

namespace berth::controllers {

// The pods that name a group, in its namespace, finished ones too.
struct GroupPods {
  std::int32_t running = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int32_t others = 0;
  std::string owner = {};  // "namespace/name" of the controller of the first pod that has one

  std::int32_t all() const { return running + succeeded + failed + others; }
};

CoschedulingPodGroup::Status next_status(const CoschedulingPodGroup& group, const GroupPods& pods);

}  // namespace berth::controllers
