#include "framework/object_waits.h"

#include <utility>

namespace berth {

NextChange::NextChange(Loop& loop, ObjectChanges& changes, std::vector<ObjectName> objects,
                       TimePoint deadline, const CancelToken& cancel)
    : loop_(loop),
      changes_(changes),
      objects_(std::move(objects)),
      deadline_(deadline),
      cancelled_(cancel.on_cancel([this] { wake(WaitEnd::kCancelled); })) {
  if (!end_ && deadline_ <= loop_.now()) end_ = WaitEnd::kDeadline;
}

NextChange::~NextChange() {
  if (!awaiter_) return;
  loop_.cancel(timer_);
  changes_.unwatch(objects_, *this);
}

void NextChange::await_suspend(std::coroutine_handle<> awaiter) {
  awaiter_ = awaiter;
  changes_.watch(objects_, *this);
  timer_ = loop_.at(deadline_, [this] { resume(WaitEnd::kDeadline); });
}

// Resumes in a later turn of the loop: the caller is in the middle of changing an object, or of
// cancelling.
void NextChange::wake(WaitEnd end) {
  if (end_) return;
  end_ = end;
  if (!awaiter_) return;
  loop_.cancel(timer_);
  timer_ = loop_.at(loop_.now(), [this, end] { resume(end); });
}

void NextChange::resume(WaitEnd end) {
  end_ = end;
  changes_.unwatch(objects_, *this);
  std::exchange(awaiter_, nullptr).resume();
}

}  // namespace berth
