// LeaseLock: one Lease of an API server, as the thing that candidates for leadership write their
// names on (shell.md §5). It keeps the object as it was last seen, so that a write carries what
// others put there, and its version, so that of two writers one is refused. Used by LeaderElector.
// World thread.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "api/requests.h"
#include "berth/loop.h"
#include "berth/task.h"
#include "kube/api_client.h"

namespace berth::kube {

// What is written on a lease.
struct LeaseRecord {
  std::string holder;  // empty: not held
  std::int32_t duration_seconds = 0;
  std::optional<WallTime> acquire_time;
  std::optional<WallTime> renew_time;
  std::int32_t transitions = 0;
  std::string strategy;          // of coordinated election
  std::string preferred_holder;  // not empty: another scheduler is to take over

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

class LeaseLock {
 public:
  // `request_timeout` is of each request, and sent to the server. `client` outlives this.
  LeaseLock(ApiClient& client, std::string namespace_name, std::string name,
            Duration request_timeout);

  Task<std::expected<LeaseRecord, ApiFailure>> get(CancelToken cancel);
  Task<std::expected<void, ApiFailure>> create(LeaseRecord record, CancelToken cancel);
  // Only if the lease was not written since it was last seen. Not before get() or create()
  // succeeded.
  Task<std::expected<void, ApiFailure>> update(LeaseRecord record, CancelToken cancel);

  const std::string& description() const { return description_; }  // "kube-system/kube-scheduler"
  // The object, for events about it; as last seen.
  ObjectReference reference() const;

 private:
  // `name` is empty for the collection.
  ApiCall request(std::string method, std::string name) const;
  std::expected<void, ApiFailure> keep(const ApiResult& answer);

  ApiClient& client_;
  const std::string namespace_name_;
  const std::string name_;
  const std::string description_;
  const Duration request_timeout_;
  std::optional<Lease> lease_;  // as last seen
};

}  // namespace berth::kube
