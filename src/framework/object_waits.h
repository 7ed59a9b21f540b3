// ObjectWaits: how a plugin waits until something happens to objects, in PreBind for example:
//
//   for (;;) {
//     if (checked(…)) co_return Outcome::success();
//     auto change = waits.next_change({{ObjectKind::kPersistentVolumeClaim, ns, name}}, deadline,
//                                     cancel);
//     const WaitEnd end = co_await change;
//     if (end == WaitEnd::kDeadline) …
//   }
//
// Nothing is missed: between the check and the await nothing else runs, and what changes after that
// wakes the task, once, in a later turn of the loop, after the queue got the event. A waiting task
// is one timer and its names; there is no polling and no thread. A plugin makes its own from the
// Handle and keeps it. Also pods and nodes can be waited for (a pod that is deleted wakes). World
// thread.
#pragma once

#include <coroutine>
#include <cstdint>
#include <optional>
#include <vector>

#include "berth/handle.h"
#include "berth/loop.h"
#include "berth/task.h"
#include "berth/views.h"
#include "cluster/object_changes.h"

namespace berth {

enum class WaitEnd : std::uint8_t { kChanged, kDeadline, kCancelled };

// Awaitable, once. Destroying the waiting task ends the wait.
class [[nodiscard]] NextChange final : private ObjectChanges::Watcher {
 public:
  NextChange(Loop& loop, ObjectChanges& changes, std::vector<ObjectName> objects,
             TimePoint deadline, const CancelToken& cancel);
  NextChange(const NextChange&) = delete;
  NextChange& operator=(const NextChange&) = delete;
  ~NextChange();

  bool await_ready() const { return end_.has_value(); }
  void await_suspend(std::coroutine_handle<> awaiter);
  WaitEnd await_resume() const { return *end_; }

 private:
  void changed() override { wake(WaitEnd::kChanged); }
  void wake(WaitEnd end);
  void resume(WaitEnd end);

  Loop& loop_;
  ObjectChanges& changes_;
  std::vector<ObjectName> objects_;
  TimePoint deadline_;
  std::optional<WaitEnd> end_;
  std::coroutine_handle<> awaiter_;  // while it waits
  TimerId timer_;                    // set while it waits
  CancelToken::Registration cancelled_;
};

class ObjectWaits {
 public:
  explicit ObjectWaits(const Handle& handle) : ObjectWaits(handle.loop, handle.cluster) {}
  ObjectWaits(Loop& loop, const Cluster& cluster)
      : loop_(loop), changes_(cluster.object_changes()) {}

  // Until one of the objects is added, updated or deleted, the deadline passes or `cancel` says so,
  // whichever is first. No names: until the deadline or the cancellation.
  NextChange next_change(std::vector<ObjectName> objects, TimePoint deadline,
                         const CancelToken& cancel = {}) const {
    return NextChange(loop_, changes_, std::move(objects), deadline, cancel);
  }

 private:
  Loop& loop_;
  ObjectChanges& changes_;
};

}  // namespace berth
