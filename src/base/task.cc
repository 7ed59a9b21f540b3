#include "berth/task.h"

#include "base/check.h"

namespace berth {

void internal::second_waiter() { check_failed("an Eventual has one waiter", __FILE__, __LINE__); }

std::coroutine_handle<> Task<void>::promise_type::FinalAwaiter::await_suspend(
    std::coroutine_handle<promise_type> done) const noexcept {
  promise_type& promise = done.promise();
  if (promise.owner == nullptr) return promise.awaiter;
  if (promise.exception) std::terminate();
  // Nothing awaits the task: its frame is destroyed now. This awaiter is part of the frame and must
  // not be used after destroy().
  TaskSet& set = *promise.owner;
  set.unlink(promise);
  std::coroutine_handle<> successor = std::noop_coroutine();
  if (set.size_ == 0 && set.when_empty_) successor = std::exchange(set.when_empty_, {});
  done.destroy();
  return successor;
}

void TaskSet::spawn(Task<void> task) {
  const Task<void>::Handle handle = std::exchange(task.handle_, nullptr);
  Promise& promise = handle.promise();
  promise.owner = this;
  promise.previous = newest_;
  if (newest_) newest_->next = &promise;
  newest_ = &promise;
  ++size_;
  handle.resume();
}

void TaskSet::unlink(Promise& promise) {
  if (promise.previous) promise.previous->next = promise.next;
  if (promise.next) promise.next->previous = promise.previous;
  if (newest_ == &promise) newest_ = promise.previous;
  --size_;
}

void TaskSet::clear() {
  while (newest_) {
    Promise& promise = *newest_;
    unlink(promise);
    Task<void>::Handle::from_promise(promise).destroy();
  }
}

}  // namespace berth
