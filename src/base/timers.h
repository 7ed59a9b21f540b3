// Timers: the timers of one loop, in the order in which they are due. World thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "berth/loop.h"

namespace berth {

class Timers {
 public:
  TimerId set(TimePoint when, Callback work, TimerKind kind);
  void cancel(TimerId id);

  bool empty() const { return timers_.empty(); }
  TimePoint next() const { return timers_.begin()->first.when; }
  Callback take_next();
  std::size_t count(TimerKind kind) const {
    return kind == TimerKind::kWork ? work_ : size() - work_;
  }
  std::size_t size() const { return timers_.size(); }

 private:
  static TimerKind kind_of(TimerId id) { return static_cast<TimerKind>(id.sequence & 1); }

  // A hundred thousand waiting pods have a timer each: the kind is the sequence's lowest bit, which
  // costs nothing and leaves the order as it is.
  std::uint64_t last_sequence_ = 0;
  std::size_t work_ = 0;
  std::map<TimerId, Callback> timers_;
};

}  // namespace berth
