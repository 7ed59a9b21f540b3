#include "kube/request_turns.h"

namespace berth::kube {

class RequestTurns::Waiting {
 public:
  Waiting(RequestTurns& turns, Urgency urgency)
      : turns_(turns), place_(turns.limiter_.join(urgency)) {
    turns_.waiting_.emplace(place_, this);
  }
  ~Waiting() {
    turns_.limiter_.leave(place_);
    turns_.waiting_.erase(place_);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  Eventual<bool> turn;

 private:
  RequestTurns& turns_;
  const RateLimiter::Place place_;
};

RequestTurns::~RequestTurns() {
  if (timer_) loop_.cancel(*timer_);
}

Task<bool> RequestTurns::wait(Urgency urgency, CancelToken cancel) {
  if (cancel.cancelled()) co_return false;
  Waiting waiting(*this, urgency);
  const auto registration = cancel.on_cancel([&waiting] { waiting.turn.set(false); });
  admit();
  const bool come = co_await waiting.turn;
  co_return come;
}

void RequestTurns::admit() {
  const TimePoint now = loop_.now();
  // A released request may come again before set() returns: read the queue each time.
  while (const std::optional<RateLimiter::Place> place = limiter_.next(now))
    waiting_.at(*place)->turn.set(true);
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
  const std::optional<TimePoint> next = limiter_.next_time();
  if (!next) return;
  timer_ = loop_.at(*next, [this] {
    timer_.reset();
    admit();
  });
}

namespace {

class TimerGuard {
 public:
  TimerGuard(Loop& loop, TimerId timer) : loop_(loop), timer_(timer) {}
  ~TimerGuard() { loop_.cancel(timer_); }
  TimerGuard(const TimerGuard&) = delete;
  TimerGuard& operator=(const TimerGuard&) = delete;

 private:
  Loop& loop_;
  TimerId timer_;
};

}  // namespace

Task<bool> pause(Loop& loop, Duration delay, CancelToken cancel) {
  Eventual<bool> over;
  const TimerGuard timer(loop, loop.after(delay, [&over] { over.set(true); }));
  const auto registration = cancel.on_cancel([&over] { over.set(false); });
  const bool waited = co_await over;
  co_return waited;
}

}  // namespace berth::kube
