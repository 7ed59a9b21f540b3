#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "config/load.h"
#include "framework/kept_check.h"

namespace berth {
namespace {

Result<QueueProfile> queue_profile(const Framework& framework, bool has_extenders) {
  QueueProfile profile;
  profile.scheduler_name = framework.profile_name();
  Result<std::vector<Framework::QueueingEvents>> events = framework.queueing_events();
  if (!events) return fail(events.error());
  for (Framework::QueueingEvents& of_plugin : *events)
    profile.events.push_back({std::move(of_plugin.plugin), std::move(of_plugin.events)});
  // Pods that an extender rejected are requeued on any event.
  if (has_extenders) profile.events.push_back({"Extender", Framework::all_events()});
  for (const Placed<PreEnqueuePlugin>& placed : framework.plugins().pre_enqueue)
    profile.pre_enqueue.push_back(placed.plugin);
  return profile;
}

// The arguments of an out-of-tree plugin, as written; built-in plugins take no arguments for
// sorting.
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

// Extenders in the order in which they are called: ignorable ones last, otherwise as configured.
std::vector<Extender*> in_order(const std::vector<Extender*>& extenders) {
  std::vector<Extender*> ordered;
  for (const bool ignorable : {false, true})
    std::ranges::copy_if(extenders, std::back_inserter(ordered), [&](const Extender* extender) {
      return extender->ignorable() == ignorable;
    });
  return ordered;
}

}  // namespace

Engine::Engine(Loop& loop, Interner& interner, ClusterApi& api, Observer& observer,
               EngineOptions options)
    : loop_(loop),
      observer_(observer),
      options_(std::move(options)),
      extenders_(in_order(options_.extenders)),
      random_(options_.seed),
      cluster_(interner.symbols()),
      writes_(loop_, cluster_, api, observer_),
      symbols_(interner.hold()),
      waiting_pods_(loop_),
      queue_(loop_, cluster_, queue_options(options_), observer_) {}

// Destroys unfinished attempts first: they refer to everything else.
Engine::~Engine() { tasks_.clear(); }

Result<void> Engine::make_frameworks(const PluginTable& plugins) {
  const std::vector<config::PluginRef> defaults = config::default_multi_point(options_.gates);
  for (const config::Profile& profile : options_.configuration.profiles) {
    const Handle handle{.profile_name = profile.scheduler_name,
                        .loop = loop_,
                        .random = random_,
                        .cluster = cluster_,
                        .waiting_pods = waiting_pods_,
                        .pods_in_pre_bind = pods_in_pre_bind_,
                        .nominator = queue_,
                        .activator = queue_,
                        .api = writes_,
                        .gates = options_.gates,
                        .trial_cluster = &cluster_,
                        .gate = &gate_,
                        .observer = &observer_,
                        .extenders = extenders_,
                        .shared = shared_};
    Result<ProfilePlugins> made = ProfilePlugins::make(profile, defaults, plugins, handle);
    if (!made)
      return fail(made.error().kind,
                  fmt::format("initializing profiles: creating profile for scheduler name {}: {}",
                              profile.scheduler_name, made.error().message));
    frameworks_.push_back(
        std::make_unique<Framework>(profile.scheduler_name, std::move(*made), handle, observer_));
    if (std::string complaint = check_profile(profile); !complaint.empty())
      return fail(ErrorKind::kInvalid, "initializing profiles: " + complaint);
  }
  if (frameworks_.empty())
    return fail(ErrorKind::kInvalid, "initializing profiles: at least one profile is required");
  return {};
}

// Describes what is wrong with the profile made last, by itself or with those before it; empty if
// nothing is.
std::string Engine::check_profile(const config::Profile& newest) const {
  if (newest.scheduler_name.empty()) return "scheduler name is needed";
  for (std::size_t i = 0; i + 1 < frameworks_.size(); ++i)
    if (frameworks_[i]->profile_name() == newest.scheduler_name)
      return fmt::format("duplicate profile with scheduler name \"{}\"", newest.scheduler_name);
  const auto sort_of = [](const Framework& framework) {
    return framework.plugins().queue_sort.front().name();
  };
  const std::string first = sort_of(*frameworks_.front()), own = sort_of(*frameworks_.back());
  if (first != own)
    return fmt::format("different queue sort plugins for profile \"{}\": \"{}\", first: \"{}\"",
                       newest.scheduler_name, own, first);
  if (opaque_args(options_.configuration.profiles.front(), own) != opaque_args(newest, own))
    return fmt::format("different queue sort plugin args for profile \"{}\"",
                       newest.scheduler_name);
  return {};
}

void Engine::note_other_resources(const QueueProfile& profile) {
  for (const QueueProfile::PluginEvents& plugin : profile.events)
    for (const EventRegistration& registration : plugin.events) {
      const std::string_view resource = registration.event.other;
      if (registration.event.resource != EventResource::kOther) continue;
      if (std::ranges::count(resource, '.') >= 2)
        other_resources_[std::string(resource)].insert(plugin.plugin);
      else
        observer_.internal_error(fmt::format(
            "plugin {} registers for events of \"{}\", which is no <plural>.<version>.<group>",
            plugin.plugin, resource));
    }
}

Result<void> Engine::assemble() {
  std::vector<QueueProfile> queue_profiles;
  std::vector<ScheduleProfile> schedule_profiles;
  std::set<Symbol> names;
  for (std::size_t i = 0; i < frameworks_.size(); ++i) {
    Result<QueueProfile> profile = queue_profile(*frameworks_[i], !extenders_.empty());
    if (!profile) return fail(profile.error());
    note_other_resources(*profile);
    queue_profiles.push_back(std::move(*profile));
    const config::Profile& configured = options_.configuration.profiles[i];
    const Symbol name = symbols_.intern(configured.scheduler_name);
    names.insert(name);
    schedule_profiles.push_back({frameworks_[i].get(), name,
                                 configured.percentage_of_nodes_to_score.value_or(
                                     options_.configuration.percentage_of_nodes_to_score)});
    if (options_.gates.enabled("OpportunisticBatching")) {
      schedule_profiles.back().batching = std::make_shared<BatchingCounts>();
      schedule_profiles.back().signs = extenders_.empty() && frameworks_[i]->signs_any();
    }
  }
  const QueueSortPlugin& sort = *frameworks_.front()->plugins().queue_sort.front().plugin;
  queue_.set_profiles(sort, std::move(queue_profiles));
  failures_ = std::make_unique<FailureHandler>(loop_, cluster_, queue_, writes_, tasks_, observer_);
  search_ = std::make_unique<NodeSearch>(cluster_, random_, extenders_, observer_);
  if (options_.verify_increments) search_->verify_increments(KeptCheck::of(*shared_));
  const bool schedules_groups = options_.gates.enabled("GenericWorkload");
  const std::shared_ptr<GroupStates> groups = schedules_groups ? group_states(*shared_) : nullptr;
  if (schedules_groups) queue_.queue_groups();
  const CycleCollaborators with{loop_,       cluster_, queue_,     waiting_pods_, pods_in_pre_bind_,
                                writes_,     gate_,    *failures_, tasks_,        observer_,
                                groups.get()};
  bindings_ = std::make_unique<BindingCycle>(
      with, extenders_,
      BindingCycle::Options{
          .nominates = options_.gates.enabled("NominatedNodeNameForExpectation"),
          .waits_for_nomination = !options_.gates.enabled("SchedulerAsyncAPICalls")});
  schedule_one_ =
      std::make_unique<ScheduleOne>(with, *bindings_, std::move(schedule_profiles), *search_);
  if (schedules_groups)
    schedule_one_->schedule_groups(
        groups, {.placements = options_.gates.enabled("TopologyAwareWorkloadScheduling"),
                 .preemption_policy = options_.gates.enabled("PodGroupPreemptionPolicy")});
  ingest_ = std::make_unique<Ingest>(cluster_, queue_, waiting_pods_, gate_, std::move(names),
                                     observer_, &writes_,
                                     options_.gates.enabled("DRADeviceTaintRules"), groups.get());
  return {};
}

Result<std::unique_ptr<Engine>> Engine::make(Loop& loop, Interner& interner,
                                             const PluginTable& plugins, ClusterApi& api,
                                             Observer& observer, EngineOptions options) {
  std::unique_ptr<Engine> engine(new Engine(loop, interner, api, observer, std::move(options)));
  if (Result<void> made = engine->make_frameworks(plugins); !made) return fail(made.error());
  if (Result<void> assembled = engine->assemble(); !assembled) return fail(assembled.error());
  return engine;
}

void Engine::start() {
  queue_.run();
  schedule_one_->start();
}

const Framework* Engine::framework(std::string_view profile) const {
  for (const std::unique_ptr<Framework>& framework : frameworks_)
    if (framework->profile_name() == profile) return framework.get();
  return nullptr;
}

const std::optional<std::string>& Engine::increment_difference() const {
  const std::optional<std::string>& decided = search_->difference();
  return decided ? decided : queue_.hint_difference();
}

}  // namespace berth
