// SeriesOfEvents: which events of events.k8s.io/v1 were there before (shell.md §6.6). The same
// again, about the same version of the same object, is a series: written when it begins, from time
// to time while it goes on, and when it has ended. World thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/requests.h"
#include "berth/cluster_api.h"
#include "berth/loop.h"
#include "berth/pod.h"
#include "berth/random.h"
#include "kube/lru_map.h"

namespace berth::kube {

// An event that happened, as it is kept: the rest of it follows from the pods.
struct Occurrence {
  PodEvent event;
  WallTime time;
  std::string name;  // of the Event object
  std::optional<EventSeries> series = {};
};

// "web-1.18870f5c9c1d2a3b": the object's name and the time; a random one if that is no good name.
std::string event_name(std::string_view object_name, WallTime time, Random& random);
ObjectReference reference_to(const Pod& pod);
EventRequest request_of(const Occurrence& occurrence, std::string_view hostname);
// What is written of an event that is there already.
std::string series_patch(const EventSeries& series);

class SeriesOfEvents {
 public:
  // Events are many, and nearly all of them happen once: the oldest are forgotten.
  static constexpr std::size_t kMostRemembered = 10'000;
  static constexpr Duration kRefreshEvery = std::chrono::minutes(30);
  static constexpr Duration kFinishAfter = std::chrono::minutes(6);

  // What has to be written now: the event, as the first or (with a series) the second of its kind;
  // nothing when it only counts.
  std::optional<Occurrence> add(Occurrence occurrence);
  // The series that go on; for every kRefreshEvery.
  std::vector<Occurrence> running();
  // Forgets what did not happen for kFinishAfter; those of them that are series are to be written
  // a last time. For every kFinishAfter.
  std::vector<Occurrence> take_finished(WallTime now);

  std::size_t size() const { return seen_.size(); }

 private:
  LruMap<Uid, Occurrence> seen_{kMostRemembered};  // by a hash of all that must be the same
};

}  // namespace berth::kube
