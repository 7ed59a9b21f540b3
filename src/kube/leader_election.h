// LeaderElector: of several schedulers the one that holds the Lease works (shell.md §5). It tries
// to get its name there, renews it while it leads, and takes it off when it goes, by the same rules
// and in the same rhythm as kube-scheduler does, so that both share one Lease.
//
// Other clocks are not trusted: whether another holder's lease has expired depends on how long it
// has not changed before our own eyes. Turned round, a leader counts from the moment at which it
// *sent* the renewal that succeeded: no other scheduler can have seen it earlier, so a successor
// takes over after leading() has become false.
//
//   LeaderElector elector(loop, client, random, options, callbacks, log);
//   ElectionEnd end = co_await elector.run(stop.token());     // once; then the program exits
//
// A leader may write (write_permit()) until renew_deadline after it sent its last renewal that
// succeeded; from then on writes wait until the next one succeeds, or the lease is lost.
//
// The thread of its loop, which may be another than the world's; leading(), write_permit() and
// healthy() may be asked on any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "api/requests.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/lease_lock.h"
#include "kube/write_gate.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::kube {

struct LeaderElectionOptions {
  std::string namespace_name = "kube-system";  // of the Lease
  std::string name = "kube-scheduler";
  std::string identity = {};  // election_identity()
  // The first is written to the Lease in whole seconds. Longer than the second, which is longer
  // than 1.2 times the third: the configuration has been checked (config/flags/command.h).
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  bool release_on_cancel = true;
  // The API server decides who leads (gate CoordinatedLeaderElection): a candidate makes itself
  // known (lease_candidate.h), and this only renews what was given to it.
  bool coordinated = false;
  std::string metrics_name = "kube-scheduler";          // the label `name`
  telemetry::LeaderElectionMetrics* metrics = nullptr;  // null: not counted
};

// Called on the thread of the elector's loop; none may be missing from a real program, all may be
// from a test.
struct LeaderCallbacks {
  std::function<void()> on_started_leading;
  // Once for each on_started_leading, when leading() has become false.
  std::function<void()> on_stopped_leading;
  // Before the lease is released: whether nothing that was written under it can still arrive; it is
  // left to run out otherwise. May wait for that, but not for longer than `limit`.
  std::function<Task<bool>(Duration limit)> settle;
  std::function<void(const std::string& identity)> on_new_leader;  // also ourselves
  // A core/v1 Event on the Lease: Normal, reason LeaderElection, with this message.
  std::function<void(const ObjectReference& lease, const std::string& message)> on_event;
};

enum class ElectionEnd : std::uint8_t {
  kCancelled,  // we were asked to stop
  kLost,       // the lease could not be renewed
};

class LeaderElector {
 public:
  // `client` is the elector's own: its name, its rate limit. It and `loop` outlive this.
  LeaderElector(Loop& loop, ApiClient& client, Random random, LeaderElectionOptions options,
                LeaderCallbacks callbacks, telemetry::Log log);
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  // Waits for leadership and keeps it, until it is lost or `cancel` is cancelled; then releases the
  // lease, if that is wanted and it is ours. May be called again after it has finished.
  Task<ElectionEnd> run(CancelToken cancel);

  // Takes our name off the lease if it is there, within renew_deadline. run() does it by itself;
  // this is for a program that has ended run() otherwise.
  Task<void> release();

  // Any thread. Whether we lead: false as soon as another scheduler might.
  bool leading() const {
    return leading_.load(std::memory_order_relaxed) &&
           loop_.now() < hold_until_.load(std::memory_order_relaxed);
  }

  // Any thread. What becomes of a write that is about to be sent.
  WritePermit write_permit() const;

  // Any thread. The check `leaderElection`: fails when a leader has not renewed for 20 s longer
  // than the lease lasts, which only happens when its thread is stuck. `now` is of its loop.
  Result<void> healthy(TimePoint now) const;

  // The timeout of each request, for the client's options.
  static Duration request_timeout(Duration renew_deadline);

 private:
  Task<bool> acquire(CancelToken cancel);
  Task<void> renew(CancelToken cancel);
  Task<bool> renew_before(TimePoint deadline, CancelToken cancel);

  // One try, to become leader or to stay it.
  Task<bool> try_once(CancelToken cancel);
  Task<bool> try_acquire_or_renew(CancelToken cancel);
  Task<bool> try_coordinated_renew(CancelToken cancel);
  Task<bool> create_lease(CancelToken cancel);
  Task<bool> write_lease(LeaseRecord record, std::string_view complaint, CancelToken cancel);
  Task<void> release_settled();
  Task<bool> release_once(CancelToken cancel);

  LeaseRecord own_record(const LeaseRecord& current) const;
  bool holds() const { return observed_.holder == options_.identity; }
  bool lease_valid(TimePoint now) const;
  void observe(LeaseRecord record);
  void renewed(LeaseRecord record, TimePoint sent);
  void report_leader();
  void start_leading();
  void stop_leading();
  void count_slow_path();
  void record_event(std::string_view what);

  Loop& loop_;
  Random random_;
  const LeaderElectionOptions options_;
  const LeaderCallbacks callbacks_;
  const telemetry::Log log_;
  LeaseLock lock_;

  bool seen_ = false;        // whether there is an observed_
  LeaseRecord observed_;     // as last seen or written
  TimePoint observed_time_;  // when it was last seen to change
  std::string reported_leader_;
  bool written_ = false;  // our name may be on the lease, as far as we know

  // Written by the loop's thread, read by any.
  std::atomic<bool> leading_ = false;
  std::atomic<TimePoint> hold_until_{};   // no other scheduler can have the lease before
  std::atomic<TimePoint> write_until_{};  // what is sent before arrives by then
  std::atomic<TimePoint> renewed_at_{};
};

// `<hostname>_<random UUID>`: two processes on one host are two candidates.
std::string election_identity(std::string_view hostname, Random random);

}  // namespace berth::kube
