// FailureHandler: what becomes of a pod whose attempt failed (core.md §9): back to the queue with
// the plugins that said no, its nomination, its condition and its event.
#pragma once

#include <optional>
#include <string>

#include "base/task.h"
#include "cluster/cluster.h"
#include "cycle/attempt.h"
#include "framework/cluster_api.h"
#include "framework/observer.h"
#include "framework/pod_status.h"
#include "queue/scheduling_queue.h"

namespace berth {

class FailureHandler {
 public:
  // `api` writes only what differs (framework/api_dispatcher.h).
  FailureHandler(Loop& loop, Cluster& cluster, SchedulingQueue& queue, ClusterApi& api,
                 TaskSet& tasks, Observer& observer)
      : loop_(loop),
        cluster_(cluster),
        queue_(queue),
        api_(api),
        tasks_(tasks),
        observer_(observer) {}

  // The attempt is over; its pod is requeued, or left alone if it is gone or bound meanwhile.
  void handle(Attempt& attempt, const Outcome& outcome,
              const std::optional<Nominating>& nominating);

 private:
  enum class Fate { kRequeued, kLeftAlone, kReplaced };
  Fate requeue(Attempt& attempt, const Outcome& outcome);
  void report(const Attempt& attempt, const Outcome& outcome,
              const std::optional<Nominating>& nominating);
  Task<void> patch(Ref<const Pod> pod, PodStatusPatch patch);

  Loop& loop_;
  Cluster& cluster_;
  SchedulingQueue& queue_;
  ClusterApi& api_;
  TaskSet& tasks_;
  Observer& observer_;
};

// The note of an event has a limit; a longer message is cut at it, byte for byte as upstream does.
std::string event_note(std::string message);

}  // namespace berth
