// WaitingPods: pods that Permit plugins hold back between the scheduling and the binding cycle.
//
// A pod is held by one or more plugins, each with its own deadline. It settles exactly once, by
// whichever comes first:
//
//                       ┌── allow() by the last plugin that holds it ──► Success
//     hold() ──► waiting ── reject(), or the deadline of a holder ─────► Unschedulable
//                       └── preempt() ─────────────────────────────────► Error, retried later
//
// and leaves when the binding cycle has taken the outcome with settled(). An outcome that comes
// before it is awaited is kept; a second one is dropped, and the call that gave it returns false.
//
// A waiting pod is an entry and one timer, never a thread, so that there may be hundreds of
// thousands. One table serves all profiles.
//
// Threads: allow, allow_together, reject, preempt, contains, find, list, for_each and size may be called from any
// thread. hold and settled belong to the world thread; timers are touched and waiting tasks resumed
// there only, never inside allow, reject or preempt. So does the end of this object: no task may be
// waiting any more, but the loop may still hold work for it, which then does nothing.
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/observer.h"
#include "berth/pod.h"
#include "berth/status.h"

namespace berth {

// A waiting pod as it was when it was asked for.
struct WaitingPod {
  Ref<const Pod> pod;
  std::string node_name;
  std::vector<std::string> pending_plugins;
  WallTime since;
  std::vector<WallTime> until{};  // when each of the pending plugins rejects it
};

class WaitingPods {
 public:
  // Upstream limits every plugin's timeout to this.
  static constexpr Duration kLongestWait = std::chrono::minutes(15);

  explicit WaitingPods(Loop& loop);
  ~WaitingPods();
  WaitingPods(const WaitingPods&) = delete;
  WaitingPods& operator=(const WaitingPods&) = delete;

  // Begins the wait of a pod, which must not be waiting already. The deadlines run from now,
  // whether or not they are awaited yet; a timeout of zero or less ends in the next turn of the
  // loop. Without holds there is nothing to wait for.
  void hold(Ref<const Pod> pod, std::string node_name, std::span<const PermitHold> holds);

  // Awaitable: the outcome of the pod's wait, after which the pod is no longer listed. A pod that
  // is not held is a success at once.
  class Settled;
  Settled settled(const Uid& uid);

  // `plugin` lets the pod go, and its deadline no longer counts; the last one to do so settles the
  // pod. False if that changed nothing.
  bool allow(const Uid& uid, std::string_view plugin);

  // The same for several pods, all or none: false, and no pod is let go, if one of them has been
  // rejected, timed out or preempted and its binding cycle has not taken that yet. Pods that do not
  // wait are passed over. For plugins that hold a group until it is complete.
  bool allow_together(std::span<const Uid> pods, std::string_view plugin);

  // `plugin` rejects the pod; it need not be one that holds it. False if the pod had settled
  // before, or is not waiting. Plugins that had not allowed stay listed until the pod leaves.
  bool reject(const Uid& uid, std::string_view plugin, std::string message);

  // The pod's place is needed for another. False if it had settled before, or is not waiting.
  bool preempt(const Uid& uid, std::string_view plugin, std::string message);

  bool contains(const Uid& uid) const;
  std::optional<WaitingPod> find(const Uid& uid) const;
  // Copies, in the order in which the waits began: what you do with one may settle it.
  std::vector<WaitingPod> list() const;
  void for_each(const std::function<void(const WaitingPod&)>& visit) const;
  std::size_t size() const;

 private:
  struct Table;
  std::shared_ptr<Table> table_;  // shared only with work posted to the loop
};

class [[nodiscard]] WaitingPods::Settled {
 public:
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;
  ~Settled();  // a task destroyed while it waits is no longer woken

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> awaiter);
  Outcome await_resume();

 private:
  friend class WaitingPods;
  Settled(Table& table, const Uid& uid) : table_(table), uid_(uid) {}
  Table& table_;
  const Uid uid_;
  bool waiting_ = false;
};

}  // namespace berth
