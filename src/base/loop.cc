#include "base/loop.h"

#include <algorithm>
#include <utility>

namespace berth {

TimerId Timers::set(TimePoint when, Callback work, TimerKind kind) {
  const TimerId id{when, ++last_sequence_ << 1 | static_cast<std::uint64_t>(kind)};
  timers_.emplace(id, std::move(work));
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
    if (loop->halted_ || loop->timers_.empty()) continue;
    if (!next || loop->timers_.next() < next->timers_.next()) next = loop;
  }
  return next;
}

bool VirtualClock::step() {
  if (run_posted()) return true;
  VirtualLoop* const next = next_due();
  if (!next) return false;
  now_ = std::max(now(), next->timers_.next());  // a loop that was halted may be late
  Callback work = next->timers_.take_next();
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
    if (!next || next->timers_.next() > end) break;
    step();
  }
  now_ = std::max(now(), end);
}

VirtualLoop::VirtualLoop(WallTime start) : clock_(own_clock_), wall_start_(start) {
  clock_.loops_.push_back(this);
}

VirtualLoop::VirtualLoop(VirtualClock& clock, WallTime start) : clock_(clock), wall_start_(start) {
  clock_.loops_.push_back(this);
}

VirtualLoop::~VirtualLoop() { std::erase(clock_.loops_, this); }

void VirtualLoop::post(Callback work) {
  MutexLock lock(inbox_mutex_);
  inbox_.push_back(std::move(work));
}

TimerId VirtualLoop::at(TimePoint when, Callback work, TimerKind kind) {
  return timers_.set(std::max(when, now()), std::move(work), kind);  // time never runs backwards
}

bool VirtualLoop::run_posted() {
  if (halted_) return false;
  std::vector<Callback> batch;
  {
    MutexLock lock(inbox_mutex_);
    batch.swap(inbox_);
  }
  for (Callback& work : batch) work();
  return !batch.empty();
}

bool VirtualLoop::work_pending() const {
  return timers_.count(TimerKind::kWork) > 0 || has_posted();
}

bool VirtualLoop::has_posted() const {
  MutexLock lock(inbox_mutex_);
  return !inbox_.empty();
}

std::optional<TimePoint> VirtualLoop::next_deadline() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.next();
}

RealLoop::RealLoop() : start_(std::chrono::steady_clock::now()) {}

TimePoint RealLoop::now() const { return {std::chrono::steady_clock::now() - start_}; }

WallTime RealLoop::wall_now() const {
  return {std::chrono::system_clock::now().time_since_epoch()};
}

void RealLoop::post(Callback work) {
  {
    MutexLock lock(mutex_);
    inbox_.push_back(std::move(work));
  }
  work_arrived_.notify_one();
}

TimerId RealLoop::at(TimePoint when, Callback work, TimerKind kind) {
  return timers_.set(when, std::move(work), kind);
}

void RealLoop::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_arrived_.notify_one();
}

bool RealLoop::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void RealLoop::run_posted() {
  std::vector<Callback> batch;
  {
    MutexLock lock(mutex_);
    batch.swap(inbox_);
  }
  for (Callback& work : batch) work();
}

void RealLoop::run_due() {
  // Those that are due at one moment, and no more than there are then: timers that set timers for
  // the past wait for their next turn.
  const TimePoint due = now();
  for (std::size_t turns = timers_.size(); turns > 0 && !stopping(); --turns) {
    if (timers_.empty() || timers_.next() > due) return;
    Callback work = timers_.take_next();
    work();
  }
}

void RealLoop::wait_for_work() {
  // A far deadline is approached in steps: the clock's own arithmetic would overflow on "never".
  constexpr Duration kLongestNap = std::chrono::hours(1);
  MutexLock lock(mutex_);
  while (inbox_.empty() && !stopping_) {
    if (timers_.empty()) {
      work_arrived_.wait(mutex_);
    } else {
      const TimePoint current = now();
      if (timers_.next() <= current) return;
      const TimePoint wake = std::min(timers_.next(), current + kLongestNap);
      work_arrived_.wait_until(mutex_, start_ + wake.since_start);
    }
  }
}

void RealLoop::run() {
  while (!stopping()) {
    // Posted work and timers that are due take turns, so that neither can starve the other.
    run_posted();
    run_due();
    wait_for_work();
  }
  MutexLock lock(mutex_);
  stopping_ = false;  // so that the loop may be run again
}

}  // namespace berth
