// Awaitables of an ApiDispatcher's calls: their turn, and the answer. For api_dispatcher.cc and
// api_dispatcher_status.cc.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "framework/api_dispatcher.h"

namespace berth {

inline std::unexpected<Error> writes_stopped() {
  return fail(ErrorKind::kCancelled, "the scheduler no longer writes: context canceled");
}

inline void answer_writers(
    const std::vector<std::shared_ptr<Eventual<Result<std::string>>>>& answers,
    const Result<std::string>& with) {
  for (const auto& answer : answers) answer->set(with);
}

inline bool is_empty_patch(const PodStatusPatch& patch) {
  return !patch.condition && !patch.nominated_node_name && !patch.extended_resource_claim;
}

// Awaitable: the pod's turn, held as long as this exists. False: the dispatcher was stopped
// meanwhile.
class ApiDispatcher::Turn {
 public:
  // `type`: what the call counts as in the metrics, if it does.
  Turn(ApiDispatcher& dispatcher, Ref<const Pod> pod, std::optional<ApiCallType> type)
      : dispatcher_(dispatcher), pod_(std::move(pod)), type_(type) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (awaiter_) leave_line();
    if (held_)
      dispatcher_.release(pod_->uid());
    else
      dispatcher_.erase_if_idle(pod_->uid());
  }

  bool await_ready() {
    if (dispatcher_.stop_.cancelled()) return true;
    PodCalls& calls = dispatcher_.pods_[pod_->uid()];
    if (calls.busy || calls.line) return false;
    calls.busy = held_ = true;
    return true;
  }
  void await_suspend(std::coroutine_handle<> awaiter) {
    awaiter_ = awaiter;
    Turn** last = &dispatcher_.pods_[pod_->uid()].line;
    while (*last) last = &(*last)->next_;
    *last = this;
    if (type_) dispatcher_.count_pending(*type_, +1);
    stopped_.emplace(&dispatcher_.stop_, [this] { end_wait(); });
  }
  bool await_resume() const noexcept { return held_; }

  // By the dispatcher, for the first in the line.
  void take() {
    dispatcher_.pods_.at(pod_->uid()).busy = held_ = true;
    stopped_.reset();  // from here on the call itself is cancelled
    end_wait();
  }

 private:
  void end_wait() {
    leave_line();
    std::exchange(awaiter_, nullptr).resume();
  }
  void leave_line() {
    if (type_) dispatcher_.count_pending(*type_, -1);
    Turn** place = &dispatcher_.pods_.at(pod_->uid()).line;
    while (*place != this) place = &(*place)->next_;
    *place = std::exchange(next_, nullptr);
  }

  ApiDispatcher& dispatcher_;
  const Ref<const Pod> pod_;
  const std::optional<ApiCallType> type_;
  bool held_ = false;
  std::coroutine_handle<> awaiter_;  // while it waits
  Turn* next_ = nullptr;             // in the line
  std::optional<CancelToken::Registration> stopped_;
};

// Awaitable: a call to the ClusterApi that can be cancelled. Without a coroutine of its own, since
// every binding goes through it.
template <typename T>
class ApiDispatcher::Call {
 public:
  Call(ApiDispatcher& dispatcher, Task<Result<T>> task)
      : task_(std::move(task)), stopped_(&dispatcher.stop_, [this] { cancel(); }) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool await_ready() const noexcept { return !task_; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) {
    awaiter_ = awaiter;
    return task_->await_suspend(awaiter);
  }
  Result<T> await_resume() {
    awaiter_ = nullptr;  // from here on there is nothing to cancel
    if (!task_) return writes_stopped();
    return task_->await_resume();
  }

  // Gives the call up and resumes its awaiter, with kCancelled.
  void cancel() {
    task_.reset();
    if (awaiter_) awaiter_.resume();
  }

 private:
  std::optional<Task<Result<T>>> task_;  // none: cancelled
  std::coroutine_handle<> awaiter_;
  CancelToken::Registration stopped_;
};

}  // namespace berth
