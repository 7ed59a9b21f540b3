// ApiDispatcher: the scheduler's writes about pods, one queue per pod (core.md §14). The engine
// puts it between itself and the ClusterApi that it is given, in production as in simulations.
//
//   condition, nominatedNodeName ──► merged: the last word counts ─┐
//   other changes of the status ───► in order ─────────────────────┼─► one call per pod at a time
//   binding, eviction ─────────────► in order; drops the merged ───┘
//
// The status that a decision sets (PodScheduled, nominatedNodeName) is written until it is stored:
// compared with the newest version known, sent with that version as precondition, and sent again
// after a failure. Every binding changes the version, so a request that is late, repeated or given
// up never overwrites a binding or a later decision. For the same reason a binding need not wait
// for a status write that is under way: it is cancelled, like one that was not sent.
//
// World thread only. It outlives the tasks that await its calls.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "berth/cluster_api.h"
#include "berth/loop.h"
#include "berth/measurements.h"
#include "berth/observer.h"
#include "berth/task.h"
#include "berth/views.h"

namespace berth {

class ApiDispatcher final : public ClusterApi {
 public:
  // All outlive the dispatcher. `cluster` has the newest version of each pod.
  ApiDispatcher(Loop& loop, const Cluster& cluster, ClusterApi& api, Observer& observer);
  ~ApiDispatcher() override;

  // Returns the answer of the ClusterApi.
  Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) override;
  Task<Result<bool>> is_bound(Ref<const Pod> pod, std::string node_name, bool unanswered) override;
  // Of PodScheduled and nominatedNodeName: answers after the first try, successful or not, and goes
  // on trying; success when a newer call, a binding or the pod's end made it pointless. The version
  // in the answer is empty.
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override;
  Task<Result<void>> evict(Ref<const Pod> pod) override;
  // Volumes and claims are not queued: their versions order them.
  Task<Result<AnyObject>> update(AnyObject object) override;
  Task<Result<AnyObject>> update_status(AnyObject object) override;
  Task<Result<AnyObject>> create(AnyObject object) override;
  Task<Result<void>> remove(AnyObject object) override;
  Task<Result<AnyObject>> get(ObjectKind kind, std::string namespace_name,
                              std::string name) override;
  Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid) override;
  void record(PodEvent event) override;

  // The watch has shown this pod or its deletion, and the cluster was updated.
  void sync(const Pod& pod);

  // From now on nothing is written: what is queued is dropped, what is under way is cancelled, and
  // all of these and all later calls answer kCancelled. Events are dropped, too.
  void stop();

  // Pods with a call that is under way, waits, or is to be tried again.
  std::size_t busy_pods() const;

 private:
  using Answer = std::shared_ptr<Eventual<Result<std::string>>>;
  class Turn;
  template <typename T>
  class Call;

  // The result of our last status write; the watch may not have shown it yet.
  struct Written {
    std::vector<std::string> older;  // versions that are known to be older than it
    std::string version;
    PodStatusPatch patch;  // everything that we wrote since the first of `older`
  };
  // The status that decisions set for a pod, and the state of its writing.
  struct StatusWrites {
    explicit StatusWrites(Ref<const Pod> of) : pod(std::move(of)) {}

    const Ref<const Pod> pod;
    PodStatusPatch wanted;  // decided and not sent
    std::vector<Answer> answers;
    std::optional<Written> written;
    Call<std::string>* call = nullptr;  // under way
    int failures = 0;                   // in a row
    std::optional<TimerId> retry;
  };
  // Small: every binding has one while it is under way.
  struct PodCalls {
    bool busy = false;                     // a call is under way
    Turn* line = nullptr;                  // the first waiting binding, eviction or other patch
    std::unique_ptr<StatusWrites> status;  // null: nothing to write or to remember

    bool wants_status() const;
    bool idle() const;
  };

  Task<Result<std::string>> write_decision(Ref<const Pod> pod, PodStatusPatch patch);
  Task<Result<std::string>> patch_in_turn(Ref<const Pod> pod, PodStatusPatch patch);
  template <typename T>
  Task<Result<T>> pass_on(Task<Result<T>> calling);

  Ref<const Pod> newest(const StatusWrites& status) const;
  void want(StatusWrites& status, PodStatusPatch patch);
  PodStatusPatch take_wanted(StatusWrites& status);
  void drop_status(const Uid& uid);
  void forget_status(StatusWrites& status, std::vector<Answer>& answers);
  void proceed(const Uid& uid);
  void proceed_later(const Uid& uid);
  void start_status_write(PodCalls& calls);
  Task<void> write_status(StatusWrites& status, Ref<const Pod> base, PodStatusPatch needed,
                          PodStatusPatch sent, std::vector<Answer> answers);
  void note_written(StatusWrites& status, const Pod& base, PodStatusPatch patch,
                    std::string version);
  void status_failed(StatusWrites& status, const Pod& base, PodStatusPatch sent,
                     std::vector<Answer> answers, const Error& error);
  void release(const Uid& uid);
  void erase_if_idle(const Uid& uid);
  void count_pending(ApiCallType type, int change);
  void count_call(ApiCallType type, bool success, TimePoint start);
  TimePoint start_time() const { return measured_ ? measured_->tick() : TimePoint{}; }

  Loop& loop_;
  const Cluster& cluster_;
  ClusterApi& api_;
  Observer& observer_;
  Observer* measured_;
  CancelSource stop_;
  std::unordered_map<Uid, PodCalls> pods_;
  std::size_t pending_[2] = {0, 0};  // by type
  Lifetime lifetime_;
  TaskSet tasks_;  // status writes; destroyed first
};

}  // namespace berth
