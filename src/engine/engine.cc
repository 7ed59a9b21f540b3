#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/change_gate.h"
#include "base/check.h"
#include "config/load.h"
#include "cycle/binding_cycle.h"
#include "cycle/failure_handler.h"
#include "cycle/schedule_one.h"
#include "framework/api_dispatcher.h"
#include "framework/framework.h"
#include "framework/kept_check.h"
#include "framework/pods_in_pre_bind.h"
#include "ingest/ingest.h"
#include "search/node_search.h"

namespace berth {
namespace {

// The queue as plugins see it. Plugins are made before the queue, which needs to know them.
class QueueDoor final : public Nominator, public NominationLog, public Activator {
 public:
  void lead_to(SchedulingQueue& queue) { queue_ = &queue; }

  std::vector<Ref<const Pod>> nominated_pods(Symbol node) const override {
    return queue_ ? queue_->nominated_pods(node) : std::vector<Ref<const Pod>>();
  }
  const std::vector<Symbol>& nominated_nodes() const override {
    static const std::vector<Symbol> kNone;
    return queue_ ? queue_->nominated_nodes() : kNone;
  }
  std::uint64_t nomination_log_end() const override {
    return queue_ ? queue_->nomination_log_end() : 0;
  }
  std::optional<std::span<const Symbol>> nominations_since(std::uint64_t position) const override {
    return queue_ ? queue_->nominations_since(position) : std::nullopt;
  }
  bool is_nominated(const Uid& uid) const override { return queue_ && queue_->is_nominated(uid); }
  void activate(std::span<const Ref<const Pod>> pods) override {
    if (queue_) queue_->activate(pods);
  }

 private:
  SchedulingQueue* queue_ = nullptr;
};

using Frameworks = std::vector<std::unique_ptr<Framework>>;

Result<QueueProfile> queue_profile(const Framework& framework, bool has_extenders) {
  QueueProfile profile;
  profile.scheduler_name = framework.profile_name();
  Result<std::vector<Framework::QueueingEvents>> events = framework.queueing_events();
  if (!events) return fail(events.error());
  for (Framework::QueueingEvents& of_plugin : *events)
    profile.events.push_back({std::move(of_plugin.plugin), std::move(of_plugin.events)});
  // Pods that an extender turned away are tried again on any event.
  if (has_extenders) profile.events.push_back({"Extender", Framework::all_events()});
  for (const Placed<PreEnqueuePlugin>& placed : framework.plugins().pre_enqueue)
    profile.pre_enqueue.push_back(placed.plugin);
  return profile;
}

// What a profile tells a plugin that is not ours, as written; ours take no arguments for sorting.
std::string opaque_args(const config::Profile& profile, const std::string& plugin) {
  for (const config::PluginConfig& entry : profile.plugin_config)
    if (entry.name == plugin)
      if (const auto* args = std::get_if<config::OpaqueArgs>(&entry.args)) return args->json;
  return {};
}

QueueOptions queue_options(const EngineOptions& options) {
  QueueOptions queue;
  queue.initial_backoff = std::chrono::seconds(options.configuration.pod_initial_backoff_seconds);
  queue.max_backoff = std::chrono::seconds(options.configuration.pod_max_backoff_seconds);
  queue.max_unschedulable = options.max_unschedulable;
  queue.pop_from_backoff = options.gates.enabled("SchedulerPopFromBackoffQ");
  queue.verify_hints = options.verify_increments;
  return queue;
}

// Extenders whose errors may be ignored come after those whose may not; else as configured.
std::vector<Extender*> in_order(const std::vector<Extender*>& extenders) {
  std::vector<Extender*> ordered;
  for (const bool ignorable : {false, true})
    std::ranges::copy_if(extenders, std::back_inserter(ordered), [&](const Extender* extender) {
      return extender->ignorable() == ignorable;
    });
  return ordered;
}

}  // namespace

struct Engine::Parts {
  Parts(Loop& l, Interner& interner, ClusterApi& a, Observer& o, EngineOptions opts)
      : loop(l),
        observer(o),
        options(std::move(opts)),
        extenders(in_order(options.extenders)),
        random(options.seed),
        cluster(interner.symbols()),
        writes(loop, cluster, a, observer),
        symbols(interner.hold()),
        waiting_pods(loop) {}

  // Unfinished attempts first: they refer to everything below.
  ~Parts() { tasks.clear(); }

  Result<void> make_frameworks(const PluginTable& plugins);
  std::string check_profile(const config::Profile& newest) const;
  Result<void> assemble();

  Loop& loop;
  Observer& observer;
  const EngineOptions options;
  const std::vector<Extender*> extenders;
  Random random;
  Cluster cluster;
  ApiDispatcher writes;  // between all of the below and the ClusterApi
  SymbolHold symbols;    // of the profiles' names
  ChangeGate gate;
  WaitingPods waiting_pods;
  PodsInPreBind pods_in_pre_bind;
  QueueDoor door;
  const std::shared_ptr<SharedParts> shared = std::make_shared<SharedParts>();
  Frameworks frameworks;
  std::unique_ptr<SchedulingQueue> queue;
  TaskSet tasks;
  std::unique_ptr<FailureHandler> failures;
  std::unique_ptr<NodeSearch> search;
  std::unique_ptr<BindingCycle> bindings;
  std::unique_ptr<ScheduleOne> schedule_one;
  std::unique_ptr<Ingest> ingest;
};

Result<void> Engine::Parts::make_frameworks(const PluginTable& plugins) {
  const std::vector<config::PluginRef> defaults = config::default_multi_point(options.gates);
  for (const config::Profile& profile : options.configuration.profiles) {
    const Handle handle{.profile_name = profile.scheduler_name,
                        .loop = loop,
                        .random = random,
                        .cluster = cluster,
                        .waiting_pods = waiting_pods,
                        .pods_in_pre_bind = pods_in_pre_bind,
                        .nominator = door,
                        .activator = door,
                        .api = writes,
                        .gates = options.gates,
                        .trial_cluster = &cluster,
                        .gate = &gate,
                        .observer = &observer,
                        .extenders = extenders,
                        .shared = shared};
    Result<ProfilePlugins> made = ProfilePlugins::make(profile, defaults, plugins, handle);
    if (!made)
      return fail(made.error().kind,
                  fmt::format("initializing profiles: creating profile for scheduler name {}: {}",
                              profile.scheduler_name, made.error().message));
    frameworks.push_back(
        std::make_unique<Framework>(profile.scheduler_name, std::move(*made), handle, observer));
    if (std::string complaint = check_profile(profile); !complaint.empty())
      return fail(ErrorKind::kInvalid, "initializing profiles: " + complaint);
  }
  if (frameworks.empty())
    return fail(ErrorKind::kInvalid, "initializing profiles: at least one profile is required");
  return {};
}

// Whether the profile made last goes with those before it; what is wrong if it does not.
std::string Engine::Parts::check_profile(const config::Profile& newest) const {
  if (newest.scheduler_name.empty()) return "scheduler name is needed";
  for (std::size_t i = 0; i + 1 < frameworks.size(); ++i)
    if (frameworks[i]->profile_name() == newest.scheduler_name)
      return fmt::format("duplicate profile with scheduler name \"{}\"", newest.scheduler_name);
  const auto sort_of = [](const Framework& framework) {
    return framework.plugins().queue_sort.front().name();
  };
  const std::string first = sort_of(*frameworks.front()), own = sort_of(*frameworks.back());
  if (first != own)
    return fmt::format("different queue sort plugins for profile \"{}\": \"{}\", first: \"{}\"",
                       newest.scheduler_name, own, first);
  if (opaque_args(options.configuration.profiles.front(), own) != opaque_args(newest, own))
    return fmt::format("different queue sort plugin args for profile \"{}\"",
                       newest.scheduler_name);
  return {};
}

Result<void> Engine::Parts::assemble() {
  std::vector<QueueProfile> queue_profiles;
  std::vector<ScheduleProfile> schedule_profiles;
  std::set<Symbol> names;
  for (std::size_t i = 0; i < frameworks.size(); ++i) {
    Result<QueueProfile> profile = queue_profile(*frameworks[i], !extenders.empty());
    if (!profile) return fail(profile.error());
    queue_profiles.push_back(std::move(*profile));
    const config::Profile& configured = options.configuration.profiles[i];
    const Symbol name = symbols.intern(configured.scheduler_name);
    names.insert(name);
    schedule_profiles.push_back({frameworks[i].get(), name,
                                 configured.percentage_of_nodes_to_score.value_or(
                                     options.configuration.percentage_of_nodes_to_score)});
    if (options.gates.enabled("OpportunisticBatching")) {
      schedule_profiles.back().batching = std::make_shared<BatchingCounts>();
      schedule_profiles.back().signs = extenders.empty() && frameworks[i]->signs_any();
    }
  }
  const QueueSortPlugin& sort = *frameworks.front()->plugins().queue_sort.front().plugin;
  queue = std::make_unique<SchedulingQueue>(loop, cluster, sort, std::move(queue_profiles),
                                            queue_options(options), observer);
  door.lead_to(*queue);
  failures = std::make_unique<FailureHandler>(loop, cluster, *queue, writes, tasks, observer);
  search = std::make_unique<NodeSearch>(cluster, random, extenders, observer);
  if (options.verify_increments) search->verify_increments(KeptCheck::of(*shared));
  bindings = std::make_unique<BindingCycle>(
      BindingCycle::Collaborators{loop, cluster, *queue, waiting_pods, pods_in_pre_bind, writes,
                                  gate, *failures, tasks, observer},
      extenders,
      BindingCycle::Options{
          .nominates = options.gates.enabled("NominatedNodeNameForExpectation"),
          .waits_for_nomination = !options.gates.enabled("SchedulerAsyncAPICalls")});
  schedule_one = std::make_unique<ScheduleOne>(
      ScheduleOne::Collaborators{loop, cluster, *queue, waiting_pods, writes, gate, *failures,
                                 *bindings, tasks, observer},
      std::move(schedule_profiles), *search);
  ingest = std::make_unique<Ingest>(cluster, *queue, waiting_pods, gate, std::move(names), observer,
                                    &writes);
  return {};
}

Result<std::unique_ptr<Engine>> Engine::make(Loop& loop, Interner& interner,
                                             const PluginTable& plugins, ClusterApi& api,
                                             Observer& observer, EngineOptions options) {
  auto parts = std::make_unique<Parts>(loop, interner, api, observer, std::move(options));
  if (Result<void> made = parts->make_frameworks(plugins); !made) return fail(made.error());
  if (Result<void> assembled = parts->assemble(); !assembled) return fail(assembled.error());
  return std::unique_ptr<Engine>(new Engine(std::move(parts)));
}

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Engine::~Engine() = default;

void Engine::apply(Delta delta) { parts_->ingest->apply(std::move(delta)); }
void Engine::in_turn(Callback change) { parts_->gate.pass(std::move(change)); }

void Engine::start() {
  parts_->queue->run();
  parts_->schedule_one->start();
}

void Engine::stop() { parts_->schedule_one->stop(); }
void Engine::stop_writes() { parts_->writes.stop(); }
bool Engine::run_one() { return parts_->schedule_one->run_one(); }

Cluster& Engine::cluster() { return parts_->cluster; }
SchedulingQueue& Engine::queue() { return *parts_->queue; }
WaitingPods& Engine::waiting_pods() { return parts_->waiting_pods; }
std::size_t Engine::tasks() const { return parts_->tasks.size(); }
std::size_t Engine::pods_being_written() const { return parts_->writes.busy_pods(); }
const std::optional<std::string>& Engine::increment_difference() const {
  const std::optional<std::string>& decided = parts_->search->difference();
  return decided ? decided : parts_->queue->hint_difference();
}
std::size_t Engine::decided_from_kept() const { return parts_->search->decided_from_kept(); }
bool Engine::cycle_open() const { return parts_->schedule_one->cycle_open(); }

}  // namespace berth
