#include "sim/simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/decode.h"
#include "base/stable_sort.h"
#include "sim/actions.h"
#include "sim/arriving_pods.h"
#include "sim/node_pools.h"
#include "sim/pod_watch.h"
#include "sim/quorum.h"
#include "sim/resource_claim_controller.h"
#include "sim/workloads.h"

namespace berth::sim {
namespace {

// A pod that fails by an error is tried again although nothing changed: the error may have passed.
constexpr std::int32_t kErrorsUntilHopeless = 5;
// A pod whose victims cannot be evicted tries again at once, as upstream's does, and would for
// ever.
constexpr std::int32_t kFailuresUntilStuck = 1000;
// In a trace of months a pod may wait, and be tried every five minutes, with nothing else happening.
constexpr std::int32_t kFailuresUntilStuckInTrace = 1'000'000;
// Draws of arrivals come from a stream of their own: with or without them, ties are broken alike.
constexpr std::uint64_t kArrivalsSeed = 0x617272697665;
constexpr std::size_t kTurnsPerCall = 64;  // of on_turn

}  // namespace

Duration usual_end(const trace::Trace* replayed) {
  constexpr Duration kDay = std::chrono::hours(24);
  return replayed ? 2 * replayed->length + kDay : kDay;
}

Result<void> check_nodes(const trace::Trace& trace, const std::vector<ManifestObject>& objects,
                         const Scenario& scenario) {
  const bool traced = std::ranges::any_of(trace.steps, [](const trace::Step& step) {
    const auto* const object = std::get_if<Ref<const Object>>(&step.object);
    return object && (*object)->kind == ObjectKind::kNode;
  });
  if (traced || !scenario.node_pools.empty() ||
      std::ranges::find(objects, ObjectKind::kNode, &ManifestObject::kind) != objects.end())
    return {};
  return fail(ErrorKind::kInvalid,
              "the trace has no nodes: give them with -f, or as nodePools of a --scenario");
}

Simulation::Simulation(Interner& interner, SimulationOptions options, Scenario scenario)
    : interner_(interner),
      options_(std::move(options)),
      scenario_(std::move(scenario)),
      loop_(options_.trace ? options_.trace->start : VirtualLoop::kDefaultStart),
      // Faults draw from a stream of their own: with or without them, ties are broken alike.
      faults_random_(options_.seed ^ 0x6661756c74),
      timeline_(loop_),
      traces_(loop_, options_.trace_pods),
      history_(loop_),
      fault_uses_(scenario_.faults.size(), 0) {}

Simulation::~Simulation() {
  engine_.reset();  // its attempts refer to the cluster
}

Result<std::unique_ptr<Simulation>> Simulation::make(Interner& interner, PluginTable plugins,
                                                     SimulationOptions options, Scenario scenario) {
  auto simulation = std::unique_ptr<Simulation>(
      new Simulation(interner, std::move(options), std::move(scenario)));
  if (Result<void> assembled = simulation->assemble(std::move(plugins)); !assembled)
    return fail(assembled.error());
  return simulation;
}

Result<void> Simulation::assemble(PluginTable plugins) {
  plugins_ = std::move(plugins);
  for (const QuorumRule& rule : scenario_.quorums) {
    PluginEntry entry;
    entry.name = rule.plugin;
    entry.create = [rule](const config::PluginArgs&,
                          const Handle& handle) -> Result<std::unique_ptr<Plugin>> {
      return std::make_unique<Quorum>(rule, handle);
    };
    if (Result<void> added = plugins_.add(std::move(entry)); !added) return added;
    for (config::Profile& profile : options_.configuration.profiles) {
      using config::ExtensionPoint;
      profile.plugins.at(ExtensionPoint::kPermit).enabled.push_back({rule.plugin, 0});
      profile.plugins.at(ExtensionPoint::kReserve).enabled.push_back({rule.plugin, 0});
    }
  }

  cluster_ = std::make_unique<SimCluster>(loop_, scenario_.timing);
  timeline_.keep_entries(options_.keep_timeline);
  timeline_.on_entry(options_.on_timeline_entry);
  timeline_.count_changes_with([this] { return cluster_->changes(); });
  std::vector<Observer*> observers{&timeline_};
  if (!options_.trace_pods.empty()) observers.push_back(&traces_);
  if (options_.keep_history) observers.push_back(&history_);
  if (options_.trace) observers.push_back((replay_ = make_replay()).get());
  observers.insert(observers.end(), options_.observers.begin(), options_.observers.end());
  observers_ = std::make_unique<Observers>(std::move(observers));
  cluster_->on_change([this](const Delta& delta) {
    if (options_.keep_history) history_.changed(delta);
    const auto* pod = std::get_if<Ref<const Pod>>(&delta.object);
    if (!pod || (*pod)->node().empty()) return;
    if (delta.type == DeltaType::kAdded) timeline_.made_on_node(**pod);
    if (delta.type == DeltaType::kUpdated) timeline_.assigned(**pod);
  });
  pods_ = std::make_unique<PodWatch>(loop_, *cluster_);
  workloads_ = std::make_unique<Workloads>(
      loop_, *cluster_, *pods_, interner_,
      [this](std::string_view text) { note("trouble", "workloads", text); });
  volumes_ = std::make_unique<VolumeController>(loop_, *cluster_, interner_, scenario_.volumes);
  claims_ = std::make_unique<ResourceClaimController>(loop_, *cluster_, *pods_, interner_);
  arrivals_ = std::make_unique<ArrivingPods>(
      loop_, *cluster_, interner_, options_.seed ^ kArrivalsSeed,
      ArrivingPods::Reports{[this](std::string_view text) { note("trouble", "arrivals", text); },
                            [this](const Pod& pod) {
                              if (timeline_.wants_entries() || options_.keep_history)
                                note("scenario", "finish " + pod.full_name(), "");
                            }});
  if (Result<void> added = arrivals_->add(scenario_.arrivals); !added) return added;
  if (!scenario_.faults.empty()) {
    cluster_->set_fates([this](ApiCall call, const Pod& pod) { return fate_of(call, pod); });
    cluster_->set_object_fates([this](ApiCall call, ObjectKind, const std::string& full_name) {
      return object_fate_of(call, full_name);
    });
  }

  EngineOptions engine;
  engine.configuration = options_.configuration;
  engine.gates = options_.gates;
  engine.seed = options_.seed;
  engine.verify_increments = options_.verify_increments;
  Result<std::unique_ptr<Engine>> made =
      Engine::make(loop_, interner_, plugins_, *cluster_, *observers_, std::move(engine));
  if (!made) return fail(made.error());
  engine_ = std::move(*made);
  cluster_->on_delta([this](const Delta& delta) { engine_->apply(delta); });
  for (const NodePool& pool : scenario_.node_pools) {
    Result<std::vector<Ref<const Node>>> nodes = make_nodes(pool, interner_, loop_.wall_now());
    if (!nodes) return fail(nodes.error());
    for (const Ref<const Node>& node : *nodes)
      if (Result<void> created = cluster_->create_object(Ref<const Object>(node)); !created)
        return created;
  }
  return {};
}

Result<void> Simulation::load(const std::vector<ManifestObject>& objects) {
  // Nodes before the pods that may go there, as in a cluster that is up when work arrives.
  const auto rank = [](const ManifestObject& object) {
    if (object.kind == ObjectKind::kPod) return 2;
    return is_workload(object.kind) ? 1 : 0;
  };
  for (int pass = 0; pass < 3; ++pass)
    for (const ManifestObject& object : objects) {
      if (rank(object) != pass) continue;
      Result<void> done;
      if (is_workload(object.kind))
        done = workloads_->apply(object);
      else if (std::holds_alternative<std::monostate>(object.object))
        skipped_.push_back(fmt::format("{}: {} {} is not read by scheduling, skipped", object.where,
                                       object.kind_text, object.name));
      else
        done = cluster_->create_object(object.object);
      if (!done)
        return fail(done.error().kind, fmt::format("{}: {}", object.where, done.error().message));
    }
  return {};
}

CallFate Simulation::fate_of(ApiCall call, const Pod& pod) {
  return fate(call, pod.name(), pod.full_name());
}

CallFate Simulation::object_fate_of(ApiCall call, const std::string& full_name) {
  const std::size_t slash = full_name.find('/');
  const std::string_view name =
      slash == std::string::npos ? full_name : std::string_view(full_name).substr(slash + 1);
  return fate(call, name, full_name);
}

CallFate Simulation::fate(ApiCall call, std::string_view name, std::string_view full_name) {
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    const FaultRule& rule = scenario_.faults[i];
    const Duration now = loop_.now().since_start;
    if (rule.call != call || now < rule.from || (rule.until && now >= *rule.until)) continue;
    if (rule.times && fault_uses_[i] >= *rule.times) continue;
    const std::string& names = is_about_pods(call) ? rule.pods : rule.objects;
    if (!glob_matches(names, name) && !glob_matches(names, full_name)) continue;
    if (rule.probability < 1 && !faults_random_.chance(rule.probability)) continue;
    ++fault_uses_[i];
    return rule.fate;
  }
  return {};
}

void Simulation::note(std::string_view what, std::string_view about, std::string_view detail) {
  timeline_.note(what, about, detail);
  if (options_.keep_history) history_.note(what, about, detail);
}

void Simulation::play(const ScenarioEvent& event) {
  const std::string what = describe(event.action);
  const Result<void> done = perform(
      event.action, Stage{loop_, interner_, *cluster_, *workloads_, engine_->waiting_pods()});
  note(done ? "scenario" : "trouble", what, done ? "" : done.error().message);
}

Result<void> Simulation::apply_manifest(const std::string& json, bool remove) {
  const Stage stage{loop_, interner_, *cluster_, *workloads_, engine_->waiting_pods()};
  if (!remove) return perform(ApplyManifest{json}, stage);
  const Result<std::vector<ManifestObject>> objects = read_manifest(json, "trace", interner_);
  if (!objects) return fail(objects.error());
  for (const ManifestObject& object : *objects)
    if (Result<void> removed =
            perform(DeleteObject{object.kind, object.namespace_name, object.name}, stage);
        !removed)
      return removed;
  return {};
}

std::unique_ptr<Replay> Simulation::make_replay() {
  const auto is_scheduled_here = [this](const Pod& pod) {
    return std::ranges::any_of(options_.configuration.profiles,
                               [&](const config::Profile& profile) {
                                 return profile.scheduler_name == pod.text(pod.scheduler_name());
                               });
  };
  return std::make_unique<Replay>(
      *options_.trace,
      Replay::Parts{
          loop_, interner_, *cluster_, is_scheduled_here,
          [this](const std::string& json, bool remove) { return apply_manifest(json, remove); },
          [this](std::string_view about, std::string_view what) { note("trouble", about, what); }},
      options_.explain_differences);
}

SimulationReport Simulation::run() {
  for (const ScenarioEvent& event : scenario_.events)
    loop_.at(TimePoint{event.at}, [this, &event] { play(event); });
  if (replay_) replay_->start();
  arrivals_->start();
  engine_->start();

  SimulationReport report;
  for (std::size_t turn = 0; !finished(); ++turn) {
    if (on_turn_ && turn % kTurnsPerCall == 0) on_turn_();
    const std::optional<TimePoint> next = loop_.next_deadline();
    if (options_.until && !loop_.has_posted() && next && *next > TimePoint{*options_.until}) {
      loop_.run_until(TimePoint{*options_.until});
      report.cut_short = true;
      break;
    }
    if (timeline_.most_in_vain() >= (replay_ ? kFailuresUntilStuckInTrace : kFailuresUntilStuck)) {
      report.stuck = true;
      break;
    }
    if (!loop_.step() || engine_->increment_difference()) break;
  }
  report.increment_difference = engine_->increment_difference();
  report.duration = loop_.now().since_start;
  report.pods = report_pods();
  if (options_.gates.enabled("GenericWorkload")) report.groups = report_groups(*cluster_);
  report.timeline = timeline_.take_entries();
  if (options_.keep_history) report.history = history_.json(report.duration);
  report.traces = traces_.traces();
  report.not_traced = traces_.unused_names();
  if (replay_) report.replay = replay_->report();
  return report;
}

// Only housekeeping is left, and no pending pod has anything new to hope for.
bool Simulation::finished() const {
  if (loop_.work_pending()) return false;
  bool hopeless = true;
  engine_->queue().for_each([&](const QueuedPod& queued, QueuePlace) {
    if (queued.gated()) return;
    const PodRecord* record = timeline_.find(Timeline::name_of(*queued.pod));
    const PodRecord::Failure* failure = record ? record->failure.get() : nullptr;
    if (!failure || failure->after_change < cluster_->changes() ||
        (failure->was_error && failure->alike < kErrorsUntilHopeless))
      hopeless = false;
  });
  return hopeless;
}

// The pods that there are, and those that had to make room.
std::vector<PodReport> Simulation::report_pods() {
  std::vector<PodReport> pods;
  for (const Ref<const Pod>& pod : cluster_->pods()) pods.push_back(report_of(*pod));
  for (const auto& [full_name, record] : timeline_.pods()) {
    const PodName name(full_name);
    if (!record.preemption || cluster_->pod(name.namespace_name, name.name)) continue;
    PodReport gone;
    gone.namespace_name = name.namespace_name;
    gone.name = name.name;
    gone.status = "Preempted";
    gone.node = record.preemption->node;
    gone.bound = record.bound;
    gone.attempts = record.attempts;
    gone.message = fmt::format("preempted by {}", record.preemption->by);
    gone.preempted_by = record.preemption->by;
    pods.push_back(std::move(gone));
  }
  if (replay_)
    for (const RemovedPod& removed : replay_->removed())
      if (std::optional<PodReport> gone = report_of(removed)) pods.push_back(*std::move(gone));
  const auto comes_before = [](const PodReport& a, const PodReport& b) {
    return std::tie(a.namespace_name, a.name) < std::tie(b.namespace_name, b.name);
  };
  if (!std::ranges::is_sorted(pods, comes_before)) sort_stably(pods, comes_before);
  return pods;
}

// Nothing of a pod that had to make room: it is told of already.
std::optional<PodReport> Simulation::report_of(const RemovedPod& removed) const {
  PodReport gone;
  gone.namespace_name = removed.namespace_name;
  gone.name = removed.name;
  gone.status = removed.finished ? "Finished" : "Deleted";
  gone.node = removed.node;
  gone.bound = removed.bound;
  if (const PodRecord* record = timeline_.find(removed.namespace_name + "/" + removed.name)) {
    if (record->preemption) return std::nullopt;
    gone.attempts = record->attempts;
    if (removed.node.empty()) gone.message = record->message();
  }
  return gone;
}

PodReport Simulation::report_of(const Pod& pod) {
  PodReport report;
  report.namespace_name = pod.namespace_name();
  report.name = pod.name();
  report.node = pod.node_name();
  const PodRecord* record = timeline_.find(Timeline::name_of(pod));
  if (record) {
    report.attempts = record->attempts;
    report.bound = record->bound;
  }
  if (pod.finished()) {
    report.status = "Finished";
  } else if (!pod.node().empty()) {
    report.status = pod.terminating() ? "Terminating" : "Bound";
    if (pod.terminating() && record && record->preemption) {
      report.preempted_by = record->preemption->by;
      report.message = fmt::format("preempted by {}", record->preemption->by);
    }
  } else if (!pod.spec().scheduling_gates.empty()) {
    report.status = "Gated";
    report.message = "waiting for scheduling gates: [";
    for (const Symbol gate : pod.spec().scheduling_gates) {
      if (report.message.back() != '[') report.message += ' ';
      report.message += pod.text(gate);
    }
    report.message += "]";
  } else if (const std::optional<WaitingPod> waiting = engine_->waiting_pods().find(pod.uid())) {
    report.status = "Waiting";
    report.node = waiting->node_name;
    report.message = fmt::format("held by {}", fmt::join(waiting->pending_plugins, ", "));
  } else {
    report.status = "Pending";
    if (record) report.message = record->message();
  }
  return report;
}

}  // namespace berth::sim
