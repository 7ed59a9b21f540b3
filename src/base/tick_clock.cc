#include "base/tick_clock.h"

#include "base/file.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

#if defined(__x86_64__)

// Without a fence: a few instructions more or less do not matter to what is timed.
std::uint64_t read_ticks() { return __rdtsc(); }

// The counters of all processors go evenly and together, as the kernel has found.
bool counter_is_good() {
  const auto source = read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return source && source->starts_with("tsc");
}

struct Moment {
  std::uint64_t tick;
  Clock::time_point time;
};

// Both clocks at once: the reading that was least disturbed of several.
Moment read_both() {
  constexpr int kTries = 16;
  Moment best{};
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = read_ticks();
    const Clock::time_point time = Clock::now();
    const std::uint64_t took = read_ticks() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, time};
  }
  return best;
}

double measure_nanoseconds_per_tick() {
  if (!counter_is_good()) return 0;
  constexpr nanoseconds kLongEnough = std::chrono::microseconds(500);
  const Moment first = read_both();
  while (Clock::now() - first.time < kLongEnough) {
  }
  const Moment last = read_both();
  if (last.tick <= first.tick) return 0;
  return static_cast<double>(nanoseconds(last.time - first.time).count()) /
         static_cast<double>(last.tick - first.tick);
}

#else

std::uint64_t read_ticks() { return 0; }
double measure_nanoseconds_per_tick() { return 0; }

#endif

double nanoseconds_per_tick() {
  static const double measured = measure_nanoseconds_per_tick();
  return measured;
}

}  // namespace

TickClock::TickClock()
    : nanoseconds_per_tick_(nanoseconds_per_tick()),
      first_tick_(read_ticks()),
      start_(Clock::now()) {}

nanoseconds TickClock::since_start() const {
  if (nanoseconds_per_tick_ == 0) return Clock::now() - start_;
  const auto ticks = static_cast<std::int64_t>(read_ticks() - first_tick_);
  return nanoseconds(static_cast<std::int64_t>(static_cast<double>(ticks) * nanoseconds_per_tick_));
}

}  // namespace berth
