// EventRecorder: what people see under "Events" in `kubectl describe` (shell.md §6.6, §7). World
// thread.
//
// Events wait in a queue and are written in the background, through a client of their own: no
// caller waits for them, and when there are too many, those that come are dropped, and counted.
// Where the server has events.k8s.io/v1, which is asked once it can be reached, the same event
// again becomes a series; elsewhere (and for leases everywhere) they are events of core/v1,
// counted, combined and held back when they become too many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "api/requests.h"
#include "berth/cluster_api.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "telemetry/log.h"

namespace berth::kube {

struct EventRecorderOptions {
  std::string hostname;
  // Whom the events of leases come from: the first profile's scheduler name.
  std::string component;
  telemetry::Log log;
  // Events are gathered for so long and sent together, which costs less.
  Duration gather = Duration::zero();
  // Series that wait to be written again, at most; the oldest are dropped, and counted.
  std::size_t most_series_waiting = 10'000;
};

class EventRecorder {
 public:
  // Asks which API there is. The loop and the client must outlive it; the client is one for events
  // alone, so that nothing else waits behind them.
  EventRecorder(Loop& loop, ApiClient& client, Random random, EventRecorderOptions options);
  ~EventRecorder();

  // Never waits, never fails.
  void record(PodEvent event);
  // From now on events about pods are ignored: without the lease nothing of theirs is our business.
  void ignore_pods();
  // About a lease (kind, apiVersion, namespace, name, UID, version): "host_1 became leader".
  void record_lease_event(ObjectReference lease, std::string message);

  // Until all is written that was recorded, but no longer than `limit`. At shutdown: what is not
  // written when the recorder ends is lost.
  Task<void> flush(Duration limit);

  // How many events were not even tried, because too many were waiting.
  std::uint64_t dropped() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::kube
