// RequestTurns: requests that wait for their turn, as tasks. World thread; it outlives those who
// wait. For http_api_client.cc.
#pragma once

#include <map>
#include <optional>

#include "berth/loop.h"
#include "berth/task.h"
#include "kube/rate_limiter.h"

namespace berth::kube {

class RequestTurns {
 public:
  RequestTurns(float qps, int burst, Loop& loop) : loop_(loop), limiter_(qps, burst) {}
  ~RequestTurns();
  RequestTurns(const RequestTurns&) = delete;
  RequestTurns& operator=(const RequestTurns&) = delete;

  bool limited() const { return limiter_.limited(); }

  // True when its turn has come, false when it was cancelled before. A destroyed task leaves the
  // queue.
  Task<bool> wait(Urgency urgency, CancelToken cancel);

 private:
  class Waiting;
  void admit();

  Loop& loop_;
  RateLimiter limiter_;
  std::map<RateLimiter::Place, Waiting*> waiting_;
  std::optional<TimerId> timer_;
};

// True after `delay`, false when it was cancelled before.
Task<bool> pause(Loop& loop, Duration delay, CancelToken cancel);

}  // namespace berth::kube
