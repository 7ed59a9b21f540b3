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
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "api/requests.h"
#include "base/lifetime.h"
#include "berth/cluster_api.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/core_event_correlator.h"
#include "kube/event_delivery.h"
#include "kube/event_series.h"
#include "kube/lru_map.h"
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
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Never waits, never fails.
  void record(PodEvent event);
  // From now on events about pods are ignored: without the lease nothing of theirs is our business.
  void ignore_pods() { pods_ignored_ = true; }
  // About a lease (kind, apiVersion, namespace, name, UID, version): "host_1 became leader".
  void record_lease_event(ObjectReference lease, std::string message);

  // Until all is written that was recorded, but no longer than `limit`. At shutdown: what is not
  // written when the recorder ends is lost.
  Task<void> flush(Duration limit);

  // How many events were not even tried, because too many were waiting.
  std::uint64_t dropped() const { return dropped_; }

 private:
  enum class Api : std::uint8_t { kUndecided, kEvents, kCore };

  Task<void> discover();
  void refresh_later();
  void finish_later();
  void write_again(const std::vector<Occurrence>& occurrences);
  WallTime unique_time();

  // ---- from the queue to the server
  void pump_soon();
  void pump();
  void send(Occurrence occurrence);
  void send_core(CoreEventRequest event);
  EventLetter letter_of(const Occurrence& occurrence) const;
  Task<void> deliver(EventLetter letter);
  void tell_of_drop();
  bool idle() const { return queue_.empty() && backlog_.empty() && sending_ == 0; }

  Loop& loop_;
  ApiClient& client_;
  Random random_;
  EventRecorderOptions options_;
  EventDelivery delivery_;
  Api api_ = Api::kUndecided;
  std::deque<Occurrence> queue_;
  // Series that are to be written again, by name, each as it was last; after all that is new.
  LruMap<std::string, EventLetter> backlog_;
  std::size_t sending_ = 0;
  SeriesOfEvents series_;
  CoreEventCorrelator core_;
  WallTime name_time_;
  std::uint64_t dropped_ = 0;
  std::uint64_t dropped_told_ = 0;
  std::optional<TimePoint> drops_told_at_;
  bool pump_posted_ = false;
  bool pods_ignored_ = false;
  std::vector<Eventual<bool>*> flushing_;
  TimerId refresh_timer_;
  TimerId finish_timer_;
  Lifetime lifetime_;
  TaskSet tasks_;
};

}  // namespace berth::kube
