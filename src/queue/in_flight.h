// InFlight: the pods that are being scheduled, and the events since they were popped (core.md
// §5.4).
//
// An attempt may not see what changes while it runs. Events that arrive meanwhile are kept, and
// applied to the pod if it fails: otherwise it could wait for something that has already happened.
//
//     events    e0   e1   e2   e3   e4
//     popped   ^A        ^B             ^C        A missed all, B those from e2 on, C none
//
// An event is dropped when no pod in flight was popped before it, and when there are too many: pods
// that were popped before a dropped event count as having missed anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/events.h"
#include "berth/object.h"
#include "berth/observer.h"
#include "berth/pod.h"

namespace berth {

struct MissedEvent {
  ClusterEvent event;
  AnyObject before;
  AnyObject after;
};

class InFlight {
 public:
  static constexpr std::size_t kMostEvents = 32'768;

  explicit InFlight(Observer* measured = nullptr) : measured_(measured) {}

  // False if the pod is in flight already.
  bool begin(const Uid& uid);
  // Does nothing if the pod is not in flight.
  void end(const Uid& uid);
  bool contains(const Uid& uid) const { return pods_.contains(uid); }

  // Keeps the event for the pods in flight, if there are any.
  void record(const ClusterEvent& event, const AnyObject& before, const AnyObject& after);

  // Visits the events since the pod was popped, oldest first, until `visit` returns false. Skips
  // kinds of events for which `wants` is false; it is called once per kind, because a long attempt
  // has missed many events and usually none that matters. Returns false if the events are not
  // known: the pod is not in flight, or some of them were dropped.
  template <typename Wants, typename Visit>
  bool for_each_missed(const Uid& uid, Wants wants, Visit visit) const {
    const auto pod = pods_.find(uid);
    if (pod == pods_.end() || pod->second < first_number_) return false;
    std::vector<bool> wanted(kinds_.size());
    bool any = false;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      wanted[kind] = kinds_[kind].end > pod->second && wants(kinds_[kind].event);
      any = any || wanted[kind];
    }
    for (std::uint64_t number = pod->second; any && number < end_number(); ++number) {
      const Recorded& recorded = events_[static_cast<std::size_t>(number - first_number_)];
      if (wanted[recorded.kind] && !visit(recorded.missed)) break;
    }
    return true;
  }

  std::size_t pods() const { return pods_.size(); }
  std::size_t events() const { return events_.size(); }

 private:
  struct Recorded {
    MissedEvent missed;
    std::size_t popped_before;  // pods popped between the previous event and this one
    std::uint32_t kind;         // in kinds_
  };
  struct Kind {
    ClusterEvent event;
    std::size_t kept = 0;
    std::string label;      // when measured
    std::uint64_t end = 0;  // one past the number of the last event of this kind
  };
  std::uint32_t kind_of(const ClusterEvent& event);
  void count(Kind& kind, int change);
  void drop_first();
  std::uint64_t end_number() const { return first_number_ + events_.size(); }

  Observer* measured_;
  std::unordered_map<Uid, std::uint64_t> pods_;  // the number of the first event each missed
  std::deque<Recorded> events_;
  std::vector<Kind> kinds_;            // a few dozen at most: resource, action and label
  std::uint64_t first_number_ = 0;     // of the front event
  std::size_t popped_since_last_ = 0;  // pods popped after the last event
};

}  // namespace berth
