#include "queue/in_flight.h"

#include <algorithm>
#include <utility>

namespace berth {

bool InFlight::begin(const Uid& uid) {
  if (!pods_.emplace(uid, end_number()).second) return false;
  ++popped_since_last_;
  return true;
}

void InFlight::end(const Uid& uid) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  if (pod->second == end_number())
    --popped_since_last_;
  else
    --events_[static_cast<std::size_t>(pod->second - first_number_)].popped_before;
  pods_.erase(pod);
  while (!events_.empty() && events_.front().popped_before == 0) {
    events_.pop_front();
    ++first_number_;
  }
}

void InFlight::record(const ClusterEvent& event, const AnyObject& before, const AnyObject& after) {
  if (pods_.empty()) return;
  const std::uint32_t kind = kind_of(event);
  events_.push_back({{event, before, after}, std::exchange(popped_since_last_, 0), kind});
  kinds_[kind].end = end_number();
}

std::uint32_t InFlight::kind_of(const ClusterEvent& event) {
  const auto alike = [&](const Kind& kind) {
    return kind.event.resource == event.resource && kind.event.actions == event.actions &&
           kind.event.custom_label == event.custom_label;
  };
  const auto found = std::ranges::find_if(kinds_, alike);
  if (found != kinds_.end()) return static_cast<std::uint32_t>(found - kinds_.begin());
  kinds_.push_back({event, 0});
  return static_cast<std::uint32_t>(kinds_.size() - 1);
}

}  // namespace berth
