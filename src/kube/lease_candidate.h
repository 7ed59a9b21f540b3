// LeaseCandidate: in coordinated election (gate CoordinatedLeaderElection, shell.md §5) the API
// server chooses who leads, among those that have made themselves known by an object of their own.
// This makes ours, keeps it fresh, and answers when the server asks whether we are still there.
// Beside a LeaderElector with `coordinated`, on the same loop. The thread of its loop, but for
// synced().
#pragma once

#include <optional>
#include <string>

#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/object_watch.h"
#include "telemetry/log.h"
#include "wire/json_tree.h"

namespace berth::kube {

struct LeaseCandidateOptions {
  std::string namespace_name = "kube-system";
  std::string name;  // the elector's identity
  std::string lease_name = "kube-scheduler";
  std::string binary_version;     // "1.37.1"
  std::string emulation_version;  // "1.37.0"
  std::string strategy = "OldestEmulationVersion";
};

class LeaseCandidate {
 public:
  // `loop` and `client` (the elector's, which may write without the lease) outlive this.
  LeaseCandidate(Loop& loop, ApiClient& client, Random random, LeaseCandidateOptions options,
                 telemetry::Log log);
  LeaseCandidate(const LeaseCandidate&) = delete;
  LeaseCandidate& operator=(const LeaseCandidate&) = delete;

  // Until `cancel`.
  Task<void> run(CancelToken cancel);

  // Any thread. The check `informer-sync` of readyz: whether it is known what the server has.
  bool synced() const { return watch_.synced(); }

 private:
  void seen(const JsonValue* candidate);
  Task<void> keep_fresh(CancelToken cancel);
  Task<Result<void>> write(CancelToken cancel);
  void wake();

  Loop& loop_;
  ApiClient& client_;
  Random random_;
  const LeaseCandidateOptions options_;
  const std::string collection_;
  const telemetry::Log log_;
  ObjectWatch watch_;
  std::optional<JsonValue> candidate_;  // as last seen
  bool looked_ = false;                 // what the server has is known
  bool asked_ = false;                  // to be written now
  Eventual<bool>* waiting_ = nullptr;
};

}  // namespace berth::kube
