// Loop: the only source of time, timers and posted work.
//
// Everything that schedules pods runs on one thread, the world. The world asks its Loop what time
// it is, asks it to call back at a time, and lets other threads hand it work through it. RealLoop
// (production) blocks until there is work; VirtualLoop jumps straight to the next deadline, so that
// an hour of backoffs takes a millisecond and every run with the same seed is the same run.
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace berth {

using Duration = std::chrono::nanoseconds;

constexpr double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// The sum, or the longest duration there is: "never" plus anything is never.
constexpr Duration saturating_add(Duration a, Duration b) {
  Duration::rep sum = 0;
  if (!__builtin_add_overflow(a.count(), b.count(), &sum)) return Duration(sum);
  return b.count() > 0 ? Duration::max() : Duration::min();
}

// A point on the monotonic clock, counted from the loop's start. For deadlines and durations.
struct TimePoint {
  Duration since_start{0};

  friend auto operator<=>(TimePoint, TimePoint) = default;
  friend TimePoint operator+(TimePoint t, Duration d) { return {saturating_add(t.since_start, d)}; }
  friend Duration operator-(TimePoint a, TimePoint b) { return a.since_start - b.since_start; }
};

// A point on the wall clock, counted from the Unix epoch. For what users and other programs see
// (timestamps, leases) and for backoff's whole seconds; it may jump.
struct WallTime {
  Duration since_epoch{0};

  friend auto operator<=>(WallTime, WallTime) = default;
  friend WallTime operator+(WallTime t, Duration d) { return {saturating_add(t.since_epoch, d)}; }
  friend Duration operator-(WallTime a, WallTime b) { return a.since_epoch - b.since_epoch; }
};

using Callback = std::move_only_function<void()>;

// A timer's place in the order of events: its time, and among equals the order of setting.
struct TimerId {
  TimePoint when;
  std::uint64_t sequence = 0;

  friend auto operator<=>(TimerId, TimerId) = default;
};

// Housekeeping timers repeat for ever and by themselves change nothing that a user waits for (a
// flush that usually finds nothing); a simulation may end while they are set.
enum class TimerKind : std::uint8_t { kWork, kHousekeeping };

class Loop {
 public:
  virtual ~Loop() = default;

  // Any thread.
  virtual TimePoint now() const = 0;
  virtual WallTime wall_now() const = 0;
  // Any thread. For measuring durations: cheaper than now(). Compare it only with other values of
  // tick().
  virtual TimePoint tick() const { return now(); }

  // Any thread. Runs `work` on the world thread, after everything posted before it.
  virtual void post(Callback work) = 0;

  // World thread. Runs `work` at `when`, or next if that is past.
  virtual TimerId at(TimePoint when, Callback work, TimerKind kind = TimerKind::kWork) = 0;

  // World thread. A timer that already ran, or never existed, is a no-op.
  virtual void cancel(TimerId id) = 0;

  TimerId after(Duration delay, Callback work, TimerKind kind = TimerKind::kWork) {
    return at(now() + delay, std::move(work), kind);
  }
};

class VirtualLoop;

// The monotonic time of one VirtualLoop, or of several that stand for the threads of a program or
// for programs that talk to each other. It moves only when none of them has anything left to do
// now, and then to the earliest deadline; of several loops with something to do the one that was
// made first goes first. One thread runs all of them.
class VirtualClock {
 public:
  VirtualClock() = default;
  VirtualClock(const VirtualClock&) = delete;
  VirtualClock& operator=(const VirtualClock&) = delete;

  TimePoint now() const { return now_.load(std::memory_order_relaxed); }

  // Does the next thing there is to do: everything posted to a loop, or else the next timer, moving
  // time to it. False if there was nothing.
  bool step();

  // Steps until there is nothing left to do. Never returns while something repeats for ever.
  void run();

  // Does everything up to and including `end`, then moves time there.
  void run_until(TimePoint end);

 private:
  friend class VirtualLoop;
  bool run_posted();
  VirtualLoop* next_due() const;  // null: no loop has a timer

  // Written by the thread that runs the loops only; any thread may ask what time it is.
  std::atomic<TimePoint> now_{};
  std::vector<VirtualLoop*> loops_;
};

// A loop on virtual time. Alone it has a clock of its own.
class VirtualLoop final : public Loop {
 public:
  // 2026-01-01T00:00:00Z: any fixed moment will do, as long as it is always the same.
  static constexpr WallTime kDefaultStart{std::chrono::seconds(1767225600)};

  explicit VirtualLoop(WallTime start = kDefaultStart);
  // `start` is what the wall clock shows when `clock`, which outlives the loop, is at its start.
  explicit VirtualLoop(VirtualClock& clock, WallTime start = kDefaultStart);
  ~VirtualLoop() override;
  VirtualLoop(const VirtualLoop&) = delete;
  VirtualLoop& operator=(const VirtualLoop&) = delete;

  TimePoint now() const override { return clock_.now(); }
  WallTime wall_now() const override {
    return wall_start_.load(std::memory_order_relaxed) + now().since_start;
  }
  void post(Callback work) override;
  TimerId at(TimePoint when, Callback work, TimerKind kind = TimerKind::kWork) override;
  void cancel(TimerId id) override;

  // The clock's: with all loops that share it.
  bool step() { return clock_.step(); }
  void run() { clock_.run(); }
  void run_until(TimePoint end) { clock_.run_until(end); }

  // While it is halted nothing of this loop runs, as in a process that is stopped; time goes on.
  void halt() { halted_ = true; }
  void resume() { halted_ = false; }
  bool halted() const { return halted_; }

  // Moves the wall clock, as an administrator or NTP would; the monotonic clock goes on.
  void jump_wall_clock(Duration by) { wall_start_ = wall_start_.load() + by; }

  // What is waiting: posted work, or timers of the kind kWork.
  bool work_pending() const;
  bool has_posted() const;
  std::optional<TimePoint> next_deadline() const;

 private:
  friend class VirtualClock;
  bool run_posted();

  VirtualClock own_clock_;  // of a loop that shares none
  VirtualClock& clock_;
  std::atomic<WallTime> wall_start_;
  bool halted_ = false;
  struct Waiting;  // timers and posted work
  std::unique_ptr<Waiting> waiting_;
};

// The clocks of the machine. run() makes the calling thread the world.
class RealLoop final : public Loop {
 public:
  RealLoop();
  ~RealLoop() override;
  RealLoop(const RealLoop&) = delete;
  RealLoop& operator=(const RealLoop&) = delete;

  TimePoint now() const override;
  WallTime wall_now() const override;
  TimePoint tick() const override;
  void post(Callback work) override;
  TimerId at(TimePoint when, Callback work, TimerKind kind = TimerKind::kWork) override;
  void cancel(TimerId id) override;

  // Works until stop(). Work that is posted later waits for the next run().
  void run();

  // Any thread. run() returns after the posted work that it has taken already. A stop() before
  // run() makes the next run() return at once.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth
