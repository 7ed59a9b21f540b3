#include "kube/request_slots.h"

namespace berth::kube {

class RequestSlots::Waiting {
 public:
  Waiting(RequestSlots& slots, Urgency urgency) : slots_(slots), place_(urgency, ++slots.last_) {
    slots_.waiting_.emplace(place_, this);
  }
  ~Waiting() {
    slots_.waiting_.erase(place_);
    // The slot was handed over, and its task is gone.
    if (given_ && !used_) slots_.give_back();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void give() {
    slots_.waiting_.erase(place_);
    given_ = true;
    turn.set(true);
  }
  void use() { used_ = true; }

  Eventual<bool> turn;

 private:
  RequestSlots& slots_;
  const Place place_;
  bool given_ = false;
  bool used_ = false;
};

Task<bool> RequestSlots::take(Urgency urgency, CancelToken cancel) {
  if (cancel.cancelled()) co_return false;
  if (free_ > 0) {
    --free_;
    co_return true;
  }
  Waiting waiting(*this, urgency);
  const auto registration = cancel.on_cancel([&waiting] { waiting.turn.set(false); });
  const bool come = co_await waiting.turn;
  if (come) waiting.use();
  co_return come;
}

void RequestSlots::give_back() {
  if (waiting_.empty())
    ++free_;
  else
    waiting_.begin()->second->give();
}

}  // namespace berth::kube
