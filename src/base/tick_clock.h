// TickClock: a cheap reading for "how long did that take".
//
// A dozen steps of every pod are timed, and a reading of the system's clock costs as much as a
// short step. Where the kernel itself keeps time by the processor's counter this reads the counter,
// once measured against the system's clock; elsewhere it reads that clock. Part of RealLoop. Any
// thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace berth {

class TickClock {
 public:
  // The first one in a process takes a moment to measure how fast the counter runs.
  TickClock();

  // Since this was made. Good for differences; over hours it drifts from the system's clock.
  std::chrono::nanoseconds since_start() const;

 private:
  double nanoseconds_per_tick_;  // 0: there is no counter to read
  std::uint64_t first_tick_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace berth
