#include "base/change_gate.h"

#include <algorithm>
#include <utility>

namespace berth {

std::uint64_t ChangeGate::park(Callback change) {
  parked_.push_back({++last_turn_, std::move(change)});
  return last_turn_;
}

void ChangeGate::open() {
  closed_ = false;
  if (opening_) return;  // a change that closed and opened the gate: the outer call goes on
  opening_ = true;
  while (!closed_ && !parked_.empty()) {
    Callback change = std::move(parked_.front().change);
    parked_.pop_front();
    change();
  }
  opening_ = false;
}

void ChangeGate::Passed::await_suspend(std::coroutine_handle<> awaiter) {
  waiting_ = true;
  turn_ = gate_.park([awaiter] { awaiter.resume(); });
}

ChangeGate::Passed::~Passed() {
  if (!waiting_) return;
  const auto parked = std::ranges::find(gate_.parked_, turn_, &Parked::turn);
  if (parked != gate_.parked_.end()) gate_.parked_.erase(parked);
}

}  // namespace berth
