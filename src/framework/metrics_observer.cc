#include "framework/metrics_observer.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <span>
#include <utility>

#include "base/keyed_hash.h"
#include "berth/events.h"

namespace berth {
namespace {

using telemetry::Counter;
using telemetry::Family;
using telemetry::Gauge;
using telemetry::Histogram;

constexpr std::size_t kCodes = 7;
constexpr std::size_t kResults = 3;
constexpr std::uint64_t kSampledOfHundred = 10;

template <typename Enum>
std::size_t at(Enum value) {
  return static_cast<std::size_t>(value);
}

std::string_view to_string(HintVerdict verdict) {
  switch (verdict) {
    case HintVerdict::kQueue: return "Queue";
    case HintVerdict::kSkip: return "QueueSkip";
    case HintVerdict::kError: return "Error";
  }
  return "";
}

constexpr std::array<std::string_view, 2> kBatchResults = {"no_hint", "hint_used"};
constexpr std::array<std::string_view, 8> kBatchFlushes = {
    "pod_skipped",  "pod_nominated", "pod_incompatible",  "expired",
    "node_missing", "filter_error",  "pod_not_batchable", "empty_list"};

// Upstream samples by chance. This is as even, and the same in every run.
std::uint64_t scrambled(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15U;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31);
}

template <typename Value>
using ByText = boost::unordered_flat_map<std::string, Value, TextHash, std::equal_to<>>;

// The value of that name, made by `make` the first time.
template <typename Value, typename Make>
Value& resolve(ByText<Value>& known, std::string_view name, Make make) {
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  return known.emplace(std::string(name), make()).first->second;
}

}  // namespace

// ---- a profile

class MetricsObserver::Profile final : public ProfileMeasurements {
 public:
  Profile(const Loop& loop, telemetry::SchedulerMetrics& metrics, std::string name)
      : loop_(loop),
        metrics_(metrics),
        name_(std::move(name)),
        algorithm_(metrics.scheduling_algorithm_duration.histogram()) {}

  // A plugin's number is its place here, so the newest list counts; none is no list.
  void set_plugins(std::span<const std::string> names) {
    if (names.empty()) return;
    plugins_.clear();
    for (const std::string& name : names) plugins_.push_back({name, {}, {}});
  }

  TimePoint tick() const override { return loop_.tick(); }

  std::optional<std::uint16_t> number_of(std::string_view plugin) const override {
    const auto found = std::ranges::find(plugins_, plugin, &PluginSeries::name);
    if (found == plugins_.end()) return std::nullopt;
    return static_cast<std::uint16_t>(found - plugins_.begin());
  }

  // The first cycle always, so that the family is there after a few pods as well.
  bool sample() override { return ++cycles_ == 1 || scrambled(cycles_) % 100 < kSampledOfHundred; }

  void point_ran(Point point, Code code, Duration took) override {
    Histogram*& series = points_[at(point)][at(code)];
    if (!series)
      series = &metrics_.framework_extension_point_duration.histogram(
          {to_string(point), to_string(code), name_});
    series->observe(in_seconds(took));
  }

  void plugin_ran(std::uint16_t plugin, Point point, Code code, Duration took) override {
    Histogram*& series = plugins_[plugin].durations[at(point)][at(code)];
    if (!series)
      series = &metrics_.plugin_execution_duration.histogram(
          {plugins_[plugin].name, to_string(point), to_string(code)});
    series->observe(in_seconds(took));
  }

  void plugin_evaluated(std::uint16_t plugin, Point point, std::size_t times) override {
    Counter*& series = plugins_[plugin].evaluations[at(point)];
    if (!series)
      series =
          &metrics_.plugin_evaluation.counter({plugins_[plugin].name, to_string(point), name_});
    series->add(times);
  }

  void searched(bool from_class) override {
    Counter*& series = searches_[from_class ? 1 : 0];
    if (!series) series = &metrics_.class_searches.counter({name_, from_class ? "class" : "nodes"});
    series->add();
  }

  void batch_attempted(BatchResult result) override {
    Counter*& series = batch_results_[at(result)];
    if (!series) series = &metrics_.batch_attempts.counter({name_, kBatchResults[at(result)]});
    series->add();
  }

  void batch_flushed(BatchFlush reason) override {
    Counter*& series = batch_flushes_[at(reason)];
    if (!series) series = &metrics_.batch_cache_flushed.counter({name_, kBatchFlushes[at(reason)]});
    series->add();
  }

  void batch_rescored() override { metrics_.batch_rescore_attempts.counter({name_}).add(); }

  void node_hint_asked(bool hinted, Duration took) override {
    Histogram*& series = hint_durations_[hinted ? 1 : 0];
    if (!series)
      series = &metrics_.get_node_hint_duration.histogram({hinted ? "hint" : "no_hint", name_});
    series->observe(in_seconds(took));
  }

  void schedule_results_stored(Duration took) override {
    if (!stored_) stored_ = &metrics_.store_schedule_results_duration.histogram({name_});
    stored_->observe(in_seconds(took));
  }

  void algorithm_ran(Duration took) override { algorithm_.observe(in_seconds(took)); }

  void attempt_ended(AttemptResult result, Duration took) override {
    Attempts& series = attempts_[at(result)];
    if (!series.count) {
      series.count = &metrics_.schedule_attempts.counter({to_string(result), name_});
      series.duration = &metrics_.scheduling_attempt_duration.histogram({to_string(result), name_});
    }
    series.count->add();
    series.duration->observe(in_seconds(took));
  }

 private:
  struct PluginSeries {
    std::string name;
    std::array<std::array<Histogram*, kCodes>, kPoints> durations;
    std::array<Counter*, kPoints> evaluations;
  };
  struct Attempts {
    Counter* count = nullptr;
    Histogram* duration = nullptr;
  };

  const Loop& loop_;
  telemetry::SchedulerMetrics& metrics_;
  const std::string name_;
  std::uint64_t cycles_ = 0;
  Histogram& algorithm_;
  // Resolved when first used, for that is when upstream shows them.
  std::array<std::array<Histogram*, kCodes>, kPoints> points_{};
  std::array<Attempts, kResults> attempts_{};
  std::array<Counter*, 2> searches_{};
  std::array<Counter*, kBatchResults.size()> batch_results_{};
  std::array<Counter*, kBatchFlushes.size()> batch_flushes_{};
  std::array<Histogram*, 2> hint_durations_{};
  Histogram* stored_ = nullptr;
  std::vector<PluginSeries> plugins_;
};

// ---- the scheduler

// What entered queues because of one event. Gated pods are among the unschedulable here.
struct MetricsObserver::Incoming {
  static constexpr std::size_t kQueues = 3;
  static constexpr std::size_t kEntities = 2;
  static std::size_t place_of(QueueName queue) {
    return std::min(at(queue), at(QueueName::kUnschedulable));
  }

  std::string event;
  std::array<Counter*, kQueues> pods{};
  std::array<std::array<Counter*, kEntities>, kQueues> entities{};
};

struct MetricsObserver::Handles {
  explicit Handles(telemetry::SchedulerMetrics& metrics)
      : active(metrics, QueueName::kActive),
        backoff(metrics, QueueName::kBackoff),
        unschedulable(metrics, QueueName::kUnschedulable),
        gated(metrics, QueueName::kGated),
        incomplete(metrics.pending_pods.gauge({"incomplete"})),
        pending(metrics.pending_pods.gauge({"pending"})),
        nodes(metrics.cache_size.gauge({"nodes"})),
        pods(metrics.cache_size.gauge({"pods"})),
        assumed(metrics.cache_size.gauge({"assumed_pods"})),
        bindings(metrics.goroutines.gauge({"binding"})),
        attempts(metrics.pod_scheduling_attempts.histogram()),
        after_flush(metrics.pod_scheduled_after_flush.counter()),
        preemptions(metrics.preemption_attempts.counter()),
        victims(metrics.preemption_victims.histogram()) {}

  static constexpr std::size_t kMostAttempts = 15;  // "15+" at the end

  // The size of a queue, in pods and in entities. Parity: the former is there from the beginning,
  // the latter when there is one.
  struct Size {
    Size(telemetry::SchedulerMetrics& metrics, QueueName name)
        : family(metrics.queued_entities),
          queue(to_string(name)),
          pods(metrics.pending_pods.gauge({queue})) {}

    void set(std::size_t count, const PendingPods::Groups& of_groups = {}) {
      pods.set(static_cast<double>(count));
      set(entities, QueuedEntity::kPod, count - of_groups.pods);
      set(groups, QueuedEntity::kPodGroup, of_groups.entities);
    }
    void set(Gauge*& gauge, QueuedEntity type, std::size_t count) {
      if (!gauge && count > 0) gauge = &family.gauge({queue, to_string(type)});
      if (gauge) gauge->set(static_cast<double>(count));
    }

    Family& family;
    std::string_view queue;
    Gauge& pods;
    Gauge* entities = nullptr;
    Gauge* groups = nullptr;
  };
  Size active;
  Size backoff;
  Size unschedulable;
  Size gated;
  Gauge& incomplete;  // members of groups; there are none without the gate GenericWorkload
  Gauge& pending;
  Gauge& nodes;
  Gauge& pods;
  Gauge& assumed;
  Gauge& bindings;
  Histogram& attempts;
  Counter& after_flush;
  Counter& preemptions;
  Histogram& victims;
  struct ApiCalls {
    Counter* count = nullptr;
    Histogram* duration = nullptr;
  };
  static constexpr std::size_t kCallTypes = 2;
  std::array<std::array<ApiCalls, 2>, kCallTypes> calls{};  // by type and success
  std::array<Gauge*, kCallTypes> calls_pending{};
  std::array<Histogram*, kMostAttempts> sli{};
  std::array<Histogram*, kCodes> permit_waits{};
  ByText<std::unique_ptr<Incoming>> incoming;  // by event
  Incoming* last_incoming = nullptr;
  ByText<Gauge*> in_flight;                                      // by event
  boost::unordered_flat_map<std::uint64_t, Histogram*> handled;  // by resource and actions
  ByText<ByText<Gauge*>> rejectors;                              // by profile and plugin
  ByText<ByText<std::array<Histogram*, 3>>> hints;               // by plugin and event
};

MetricsObserver::MetricsObserver(const Loop& loop, telemetry::Registry& registry)
    : loop_(loop),
      registry_(registry),
      metrics_(registry),
      handles_(std::make_unique<Handles>(metrics_)) {}

MetricsObserver::~MetricsObserver() = default;

ProfileMeasurements* MetricsObserver::profile(std::string_view scheduler_name,
                                              std::span<const std::string> plugins) {
  auto found = profiles_.find(scheduler_name);
  if (found == profiles_.end()) {
    std::string name(scheduler_name);
    auto made = std::make_unique<Profile>(loop_, metrics_, name);
    found = profiles_.emplace(std::move(name), std::move(made)).first;
  }
  found->second->set_plugins(plugins);
  return found->second.get();
}

void MetricsObserver::queued(const Pod& /*pod*/, QueueName queue, std::string_view event) {
  const std::size_t place = Incoming::place_of(queue);
  Counter*& series = incoming(event).pods[place];
  if (!series)
    series =
        &metrics_.queue_incoming_pods.counter({to_string(static_cast<QueueName>(place)), event});
  series->add();
}

void MetricsObserver::entity_queued(QueuedEntity type, QueueName queue, std::string_view event) {
  const std::size_t place = Incoming::place_of(queue);
  Counter*& series = incoming(event).entities[place][at(type)];
  if (!series)
    series = &metrics_.queue_incoming_entities.counter(
        {to_string(static_cast<QueueName>(place)), event, to_string(type)});
  series->add();
}

// Mostly the event that came last: pods arrive, fail and come back in bursts.
MetricsObserver::Incoming& MetricsObserver::incoming(std::string_view event) {
  Incoming*& last = handles_->last_incoming;
  if (!last || last->event != event)
    last = resolve(handles_->incoming, event, [&] {
             return std::make_unique<Incoming>(Incoming{.event = std::string(event)});
           }).get();
  return *last;
}

void MetricsObserver::wait_ended(const Pod& /*pod*/, const Outcome& outcome, Duration waited) {
  Histogram*& series = handles_->permit_waits[at(outcome.code)];
  if (!series) series = &metrics_.permit_wait_duration.histogram({to_string(outcome.code)});
  series->observe(in_seconds(waited));
}

void MetricsObserver::pending_pods(const PendingPods& pods) {
  handles_->active.set(pods.active, pods.active_groups);
  handles_->backoff.set(pods.backoff, pods.backoff_groups);
  handles_->unschedulable.set(pods.unschedulable);
  handles_->gated.set(pods.gated, pods.gated_groups);
  handles_->incomplete.set(static_cast<double>(pods.incomplete));
  handles_->pending.set(static_cast<double>(pods.pending));
}

void MetricsObserver::rejector_changed(std::string_view scheduler_name, std::string_view plugin,
                                       int change) {
  ByText<Gauge*>& of_profile =
      resolve(handles_->rejectors, scheduler_name, [] { return ByText<Gauge*>(); });
  resolve(of_profile, plugin, [&] {
    return &metrics_.unschedulable_pods.gauge({plugin, scheduler_name});
  })->add(change);
}

void MetricsObserver::in_flight_events(std::string_view event, std::size_t count) {
  resolve(handles_->in_flight, event, [&] {
    return &metrics_.inflight_events.gauge({event});
  })->set(static_cast<double>(count));
}

void MetricsObserver::hint_ran(std::string_view plugin, std::string_view event, HintVerdict verdict,
                               Duration took, std::uint64_t times) {
  using Series = std::array<Histogram*, 3>;
  ByText<Series>& of_plugin = resolve(handles_->hints, plugin, [] { return ByText<Series>(); });
  Histogram*& series = resolve(of_plugin, event, [] { return Series{}; })[at(verdict)];
  if (!series)
    series =
        &metrics_.queueing_hint_execution_duration.histogram({plugin, event, to_string(verdict)});
  series->observe(in_seconds(took), times);
}

void MetricsObserver::event_handled(const ClusterEvent& event, Duration took) {
  // Every change in the cluster comes by here: its name is made the first time only.
  const std::uint64_t kind = std::uint64_t{at(event.resource)} << 32 | event.actions;
  Histogram*& series = handles_->handled[kind];
  if (!series) series = &metrics_.event_handling_duration.histogram({event.label()});
  series->observe(in_seconds(took));
}

void MetricsObserver::cluster_size(std::size_t nodes, std::size_t pods, std::size_t assumed) {
  handles_->nodes.set(static_cast<double>(nodes));
  handles_->pods.set(static_cast<double>(pods));
  handles_->assumed.set(static_cast<double>(assumed));
}

void MetricsObserver::pod_scheduled(std::int32_t attempts, Duration since_first, bool flushed) {
  handles_->attempts.observe(attempts);
  const auto place = static_cast<std::size_t>(
      std::clamp<std::int64_t>(attempts, 1, std::int64_t{Handles::kMostAttempts}) - 1);
  Histogram*& series = handles_->sli[place];
  if (!series)
    series = &metrics_.pod_scheduling_sli_duration.histogram(
        {place + 1 == Handles::kMostAttempts ? "15+" : std::to_string(place + 1)});
  series->observe(in_seconds(since_first));
  if (flushed) handles_->after_flush.add();
}

void MetricsObserver::running_bindings(std::size_t count) {
  handles_->bindings.set(static_cast<double>(count));
}

// A call to another program: this may look up its series.
void MetricsObserver::extenders_prioritizing(std::size_t count) {
  metrics_.goroutines.gauge({"prioritizing_extender"}).set(static_cast<double>(count));
}

void MetricsObserver::volume_stage_failed(std::string_view operation) {
  metrics_.volume_scheduling_stage_error.counter({operation}).add();
}

void MetricsObserver::claim_created(bool success) {
  // A claim for extended resources is the pod's, and without access for administrators.
  metrics_.resourceclaim_creates.counter({success ? "success" : "failure", "false", "", "Pod"})
      .add();
}

void MetricsObserver::binding_conditions_waited(std::string_view scheduler_name,
                                                std::string_view driver, std::string_view status,
                                                Duration took, bool conditions) {
  metrics_.dra_bindingconditions_wait_duration.histogram({scheduler_name, driver, status})
      .observe(in_seconds(took));
  if (conditions)
    metrics_.dra_bindingconditions_allocations.counter({scheduler_name, driver, status}).add();
}

void MetricsObserver::preemption_attempted() { handles_->preemptions.add(); }

void MetricsObserver::victims_chosen(std::size_t victims) {
  handles_->victims.observe(static_cast<double>(victims));
}

telemetry::PodGroupMetrics& MetricsObserver::of_groups() {
  return group_metrics_ ? *group_metrics_ : group_metrics_.emplace(registry_);
}

void MetricsObserver::group_victims_chosen(std::size_t victims) {
  of_groups().workload_preemption_victims.histogram().observe(static_cast<double>(victims));
}

void MetricsObserver::group_preemption_ended(Code result, Duration took) {
  of_groups().workload_preemption_attempts.counter({to_string(result)}).add();
  of_groups()
      .preemption_evaluation_duration.histogram({"podgroup", to_string(result)})
      .observe(in_seconds(took));
}

void MetricsObserver::group_algorithm_ran(Duration took) {
  of_groups().podgroup_scheduling_algorithm_duration.histogram().observe(in_seconds(took));
}

void MetricsObserver::group_attempted(std::string_view scheduler_name, GroupResult result,
                                      Duration took) {
  of_groups().podgroup_schedule_attempts.counter({to_string(result), scheduler_name}).add();
  of_groups()
      .podgroup_scheduling_attempt_duration.histogram({to_string(result), scheduler_name})
      .observe(in_seconds(took));
}

void MetricsObserver::api_calls_pending(ApiCallType type, std::size_t count) {
  Gauge*& series = handles_->calls_pending[at(type)];
  if (!series) series = &metrics_.pending_async_api_calls.gauge({to_string(type)});
  series->set(static_cast<double>(count));
}

void MetricsObserver::api_call_ended(ApiCallType type, bool success, Duration took) {
  Handles::ApiCalls& series = handles_->calls[at(type)][success ? 1 : 0];
  if (!series.count) {
    const std::string_view result = success ? "success" : "error";
    series.count = &metrics_.async_api_call_execution.counter({to_string(type), result});
    series.duration =
        &metrics_.async_api_call_execution_duration.histogram({to_string(type), result});
  }
  series.count->add();
  series.duration->observe(in_seconds(took));
}

// Rare: an eviction is a call to the API server, so these may look up their series.
void MetricsObserver::evictions_began() { metrics_.goroutines.gauge({"DefaultPreemption"}).add(1); }

void MetricsObserver::evictions_ended(bool success, Duration took) {
  const std::string_view result = success ? "success" : "error";
  metrics_.goroutines.gauge({"DefaultPreemption"}).add(-1);
  metrics_.preemption_goroutines_execution.counter({result}).add();
  metrics_.preemption_goroutines_duration.histogram({result}).observe(in_seconds(took));
}

}  // namespace berth
