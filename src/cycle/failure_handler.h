// FailureHandler: handles a pod whose attempt failed (core.md §9). Puts it back to the queue with
// the plugins that rejected it, and writes its nomination, condition and event.
#pragma once

#include <optional>
#include <string>

#include "berth/cluster_api.h"
#include "berth/observer.h"
#include "berth/task.h"
#include "berth/views.h"
#include "cycle/attempt.h"
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

  // A pod that is being deleted is not tried.
  void skip_deleted(const Pod& pod, const std::string& profile_name);
  // Ends the attempt: the pod is requeued, unless it was deleted or bound meanwhile.
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

// The message as the note of an event: cut at the limit, byte for byte as upstream does.
std::string event_note(std::string message);

}  // namespace berth
