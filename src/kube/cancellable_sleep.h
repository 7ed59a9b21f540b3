// sleep_until: waits for a time, or for a cancellation, whichever comes first. World thread.
//
//   Task<void> pause = sleep_until(loop, loop.now() + delay, cancel);
//   co_await pause;
//   if (cancel.cancelled()) …
#pragma once

#include "berth/loop.h"
#include "berth/task.h"

namespace berth::kube {

// A timer that does not outlive the task that set it.
class ScopedTimer {
 public:
  ScopedTimer(Loop& loop, TimePoint when, Callback work)
      : loop_(loop), id_(loop.at(when, std::move(work))) {}
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;
  ~ScopedTimer() { loop_.cancel(id_); }

 private:
  Loop& loop_;
  TimerId id_;
};

inline Task<void> sleep_until(Loop& loop, TimePoint when, CancelToken cancel) {
  Eventual<bool> over;
  const ScopedTimer timer(loop, when, [&over] { over.set(true); });
  const CancelToken::Registration stop = cancel.on_cancel([&over] { over.set(true); });
  co_await over;
}

}  // namespace berth::kube
