#include "queue/in_flight.h"

#include <algorithm>
#include <utility>

namespace berth {
namespace {

constexpr std::string_view kPodPopped = "PodPopped";  // upstream's name for a pod in flight

}  // namespace

bool InFlight::begin(const Uid& uid) {
  if (!pods_.emplace(uid, end_number()).second) return false;
  ++popped_since_last_;
  if (measured_) measured_->in_flight_events(kPodPopped, pods_.size());
  return true;
}

void InFlight::end(const Uid& uid) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  if (pod->second == end_number())
    --popped_since_last_;
  else if (pod->second >= first_number_)
    --events_[static_cast<std::size_t>(pod->second - first_number_)].popped_before;
  pods_.erase(pod);
  if (measured_) measured_->in_flight_events(kPodPopped, pods_.size());
  while (!events_.empty() && events_.front().popped_before == 0) drop_first();
}

void InFlight::drop_first() {
  count(kinds_[events_.front().kind], -1);
  events_.pop_front();
  ++first_number_;
}

void InFlight::record(const ClusterEvent& event, const AnyObject& before, const AnyObject& after) {
  if (pods_.empty()) return;
  const std::uint32_t kind = kind_of(event);
  events_.push_back({{event, before, after}, std::exchange(popped_since_last_, 0), kind});
  kinds_[kind].end = end_number();
  count(kinds_[kind], +1);
  if (events_.size() <= kMostEvents) return;
  // Pods that missed the first event get no replay any more, so the events that only they missed
  // go, too.
  do drop_first();
  while (!events_.empty() && events_.front().popped_before == 0);
}

void InFlight::count(Kind& kind, int change) {
  if (!measured_) return;
  kind.kept += static_cast<std::size_t>(change);
  measured_->in_flight_events(kind.label, kind.kept);
}

std::uint32_t InFlight::kind_of(const ClusterEvent& event) {
  const auto alike = [&](const Kind& kind) {
    return kind.event.resource == event.resource && kind.event.actions == event.actions &&
           kind.event.custom_label == event.custom_label && kind.event.other == event.other;
  };
  const auto found = std::ranges::find_if(kinds_, alike);
  if (found != kinds_.end()) return static_cast<std::uint32_t>(found - kinds_.begin());
  kinds_.push_back({event, 0, measured_ ? event.label() : std::string(), 0});
  return static_cast<std::uint32_t>(kinds_.size() - 1);
}

}  // namespace berth
