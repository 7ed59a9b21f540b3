#include "queue/in_flight.h"

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
  events_.push_back({{event, before, after}, std::exchange(popped_since_last_, 0)});
}

}  // namespace berth
