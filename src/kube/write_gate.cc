#include "kube/write_gate.h"

#include <algorithm>

#include "kube/cancellable_sleep.h"

namespace berth::kube {
namespace {

// How often it is looked whether a renewal that is late has come. That is rare, and soon decided.
constexpr Duration kLookAgain = std::chrono::milliseconds(50);

}  // namespace

Task<bool> WriteGate::pass(CancelToken cancel) {
  while (!cancel.cancelled()) {
    const WritePermit permit = permit_();
    if (permit != WritePermit::kWait) co_return permit == WritePermit::kSend;
    Task<void> pause = sleep_until(loop_, loop_.now() + kLookAgain, cancel);
    co_await pause;
  }
  co_return false;
}

void WriteGate::ended(bool answered) {
  --under_way_;
  if (!answered) doubtful_until_ = std::max(doubtful_until_, loop_.now() + doubt_);
}

Task<bool> WriteGate::settle(Duration limit) {
  const TimePoint end = loop_.now() + limit;
  while (!settled() && loop_.now() < end) {
    Task<void> pause = sleep_until(loop_, std::min(end, loop_.now() + kLookAgain), {});
    co_await pause;
  }
  co_return settled();
}

}  // namespace berth::kube
