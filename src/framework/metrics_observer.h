// MetricsObserver: makes upstream's metrics of what the scheduler does (shell.md §3.2).
//
// One per scheduler: the owner of the scheduler gives it the registry that /metrics shows, and
// passes it as the Observer, alone or among others (framework/observers.h). World thread; any thread
// may read the registry at any time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/measurements.h"
#include "berth/observer.h"
#include "telemetry/scheduler_metrics.h"

namespace berth {

class MetricsObserver final : public Observer {
 public:
  MetricsObserver(const Loop& loop, telemetry::Registry& registry);
  ~MetricsObserver() override;

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) override;
  Observer* measuring() override { return this; }

  TimePoint tick() const override { return loop_.tick(); }
  ProfileMeasurements* profile(std::string_view scheduler_name,
                               std::span<const std::string> plugins) override;
  void pending_pods(const PendingPods& pods) override;
  void entity_queued(QueuedEntity type, QueueName queue, std::string_view event) override;
  void rejector_changed(std::string_view scheduler_name, std::string_view plugin,
                        int change) override;
  void in_flight_events(std::string_view event, std::size_t count) override;
  void hint_ran(std::string_view plugin, std::string_view event, HintVerdict verdict, Duration took,
                std::uint64_t times) override;
  void event_handled(const ClusterEvent& event, Duration took) override;
  void cluster_size(std::size_t nodes, std::size_t pods, std::size_t assumed) override;
  void pod_scheduled(std::int32_t attempts, Duration since_first, bool flushed) override;
  void running_bindings(std::size_t count) override;
  void extenders_prioritizing(std::size_t count) override;
  void volume_stage_failed(std::string_view operation) override;
  void claim_created(bool success) override;
  void binding_conditions_waited(std::string_view scheduler_name, std::string_view driver,
                                 std::string_view status, Duration took, bool conditions) override;
  void preemption_attempted() override;
  void victims_chosen(std::size_t victims) override;
  void group_victims_chosen(std::size_t victims) override;
  void group_preemption_ended(Code result, Duration took) override;
  void group_algorithm_ran(Duration took) override;
  void group_attempted(std::string_view scheduler_name, GroupResult result, Duration took) override;
  void api_calls_pending(ApiCallType type, std::size_t count) override;
  void api_call_ended(ApiCallType type, bool success, Duration took) override;
  void evictions_began() override;
  void evictions_ended(bool success, Duration took) override;

 private:
  class Profile;
  struct Incoming;
  struct Handles;  // the series that were resolved already

  Incoming& incoming(std::string_view event);
  // The families of groups are there only with the gate GenericWorkload, without which there are no
  // groups.
  telemetry::PodGroupMetrics& of_groups();

  const Loop& loop_;
  telemetry::Registry& registry_;
  telemetry::SchedulerMetrics metrics_;
  std::optional<telemetry::PodGroupMetrics> group_metrics_;
  std::unique_ptr<Handles> handles_;
  std::map<std::string, std::unique_ptr<Profile>, std::less<>> profiles_;
};

}  // namespace berth
