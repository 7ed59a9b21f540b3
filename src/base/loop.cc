#include "berth/loop.h"

#include <algorithm>
#include <utility>

#include "base/thread.h"
#include "base/tick_clock.h"
#include "base/timers.h"

namespace berth {

struct VirtualLoop::Waiting {
  Timers timers;
  mutable Mutex mutex;
  std::vector<Callback> posted GUARDED_BY(mutex);
};

TimerId Timers::set(TimePoint when, Callback work, TimerKind kind) {
  const TimerId id{when, ++last_sequence_ << 1 | static_cast<std::uint64_t>(kind)};
  // Most are due after all others.
  timers_.emplace_hint(timers_.end(), id, std::move(work));
  if (kind == TimerKind::kWork) ++work_;
  return id;
}

void Timers::cancel(TimerId id) {
  const auto found = timers_.find(id);
  if (found == timers_.end()) return;
  if (kind_of(id) == TimerKind::kWork) --work_;
  // Out of the map first: what the work owns may set or cancel timers as it goes.
  const auto ended = timers_.extract(found);
}

Callback Timers::take_next() {
  auto next = timers_.extract(timers_.begin());
  if (kind_of(next.key()) == TimerKind::kWork) --work_;
  return std::move(next.mapped());
}

bool VirtualClock::run_posted() {
  // At most one of them: what it does may make or end loops.
  return std::ranges::any_of(loops_, [](VirtualLoop* loop) { return loop->run_posted(); });
}

VirtualLoop* VirtualClock::next_due() const {
  VirtualLoop* next = nullptr;
  for (VirtualLoop* loop : loops_) {
    if (loop->halted_ || loop->waiting_->timers.empty()) continue;
    if (!next || loop->waiting_->timers.next() < next->waiting_->timers.next()) next = loop;
  }
  return next;
}

bool VirtualClock::step() {
  if (run_posted()) return true;
  VirtualLoop* const next = next_due();
  if (!next) return false;
  now_ = std::max(now(), next->waiting_->timers.next());  // a loop that was halted may be late
  Callback work = next->waiting_->timers.take_next();
  work();
  return true;
}

void VirtualClock::run() {
  while (step()) {
  }
}

void VirtualClock::run_until(TimePoint end) {
  for (;;) {
    if (run_posted()) continue;
    const VirtualLoop* const next = next_due();
    if (!next || next->waiting_->timers.next() > end) break;
    step();
  }
  now_ = std::max(now(), end);
}

VirtualLoop::VirtualLoop(WallTime start)
    : clock_(own_clock_), wall_start_(start), waiting_(std::make_unique<Waiting>()) {
  clock_.loops_.push_back(this);
}

VirtualLoop::VirtualLoop(VirtualClock& clock, WallTime start)
    : clock_(clock), wall_start_(start), waiting_(std::make_unique<Waiting>()) {
  clock_.loops_.push_back(this);
}

VirtualLoop::~VirtualLoop() { std::erase(clock_.loops_, this); }

void VirtualLoop::post(Callback work) {
  MutexLock lock(waiting_->mutex);
  waiting_->posted.push_back(std::move(work));
}

TimerId VirtualLoop::at(TimePoint when, Callback work, TimerKind kind) {
  return waiting_->timers.set(std::max(when, now()), std::move(work),
                              kind);  // time never runs backwards
}

void VirtualLoop::cancel(TimerId id) { waiting_->timers.cancel(id); }

bool VirtualLoop::run_posted() {
  if (halted_) return false;
  std::vector<Callback> batch;
  {
    MutexLock lock(waiting_->mutex);
    batch.swap(waiting_->posted);
  }
  for (Callback& work : batch) work();
  return !batch.empty();
}

bool VirtualLoop::work_pending() const {
  return waiting_->timers.count(TimerKind::kWork) > 0 || has_posted();
}

bool VirtualLoop::has_posted() const {
  MutexLock lock(waiting_->mutex);
  return !waiting_->posted.empty();
}

std::optional<TimePoint> VirtualLoop::next_deadline() const {
  if (waiting_->timers.empty()) return std::nullopt;
  return waiting_->timers.next();
}

// ---- real time

struct RealLoop::State {
  void wait_for_work() EXCLUDES(mutex);
  void run_posted() EXCLUDES(mutex);
  void run_due() EXCLUDES(mutex);
  bool stopping() const EXCLUDES(mutex);
  TimePoint now() const { return {std::chrono::steady_clock::now() - start}; }

  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  const TickClock ticks;
  Timers timers;

  mutable Mutex mutex;
  Condition work_arrived;
  std::vector<Callback> inbox GUARDED_BY(mutex);
  bool stop GUARDED_BY(mutex) = false;
};

RealLoop::RealLoop() : state_(std::make_unique<State>()) {}
RealLoop::~RealLoop() = default;

TimePoint RealLoop::now() const { return state_->now(); }

WallTime RealLoop::wall_now() const {
  return {std::chrono::system_clock::now().time_since_epoch()};
}

TimePoint RealLoop::tick() const { return {state_->ticks.since_start()}; }

void RealLoop::post(Callback work) {
  {
    MutexLock lock(state_->mutex);
    state_->inbox.push_back(std::move(work));
  }
  state_->work_arrived.notify_one();
}

TimerId RealLoop::at(TimePoint when, Callback work, TimerKind kind) {
  return state_->timers.set(when, std::move(work), kind);
}

void RealLoop::cancel(TimerId id) { state_->timers.cancel(id); }

void RealLoop::stop() {
  {
    MutexLock lock(state_->mutex);
    state_->stop = true;
  }
  state_->work_arrived.notify_one();
}

bool RealLoop::State::stopping() const {
  MutexLock lock(mutex);
  return stop;
}

void RealLoop::State::run_posted() {
  std::vector<Callback> batch;
  {
    MutexLock lock(mutex);
    batch.swap(inbox);
  }
  for (Callback& work : batch) work();
}

void RealLoop::State::run_due() {
  // Those that are due at one moment, and no more than there are then: timers that set timers for
  // the past wait for their next turn.
  const TimePoint due = now();
  for (std::size_t turns = timers.size(); turns > 0 && !stopping(); --turns) {
    if (timers.empty() || timers.next() > due) return;
    Callback work = timers.take_next();
    work();
  }
}

void RealLoop::State::wait_for_work() {
  // A far deadline is approached in steps: the clock's own arithmetic would overflow on "never".
  constexpr Duration kLongestNap = std::chrono::hours(1);
  MutexLock lock(mutex);
  while (inbox.empty() && !stop) {
    if (timers.empty()) {
      work_arrived.wait(mutex);
    } else {
      const TimePoint current = now();
      if (timers.next() <= current) return;
      const TimePoint wake = std::min(timers.next(), current + kLongestNap);
      work_arrived.wait_until(mutex, start + wake.since_start);
    }
  }
}

void RealLoop::run() {
  while (!state_->stopping()) {
    // Posted work and timers that are due take turns, so that neither can starve the other.
    state_->run_posted();
    state_->run_due();
    state_->wait_for_work();
  }
  MutexLock lock(state_->mutex);
  state_->stop = false;  // so that the loop may be run again
}

}  // namespace berth
