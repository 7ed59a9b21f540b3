#include "explain/evaluator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "berth/loop.h"
#include "config/load.h"
#include "explain/evaluator_parts.h"

namespace berth::explain {
namespace {

Task<void> run_to_end(Task<SearchResult> search, std::optional<SearchResult>& ended) {
  ended = co_await search;
}

const config::Profile* find_profile(const EvaluatorOptions& options) {
  for (const config::Profile& profile : options.configuration.profiles)
    if (options.profile.empty() || profile.scheduler_name == options.profile) return &profile;
  return nullptr;
}

std::unexpected<Error> no_such_profile(const EvaluatorOptions& options) {
  std::vector<std::string> names;
  for (const config::Profile& profile : options.configuration.profiles)
    names.push_back(profile.scheduler_name);
  return fail(ErrorKind::kNotFound, fmt::format("no profile is named \"{}\"; there are: {}",
                                                options.profile, fmt::join(names, ", ")));
}

}  // namespace

// ---- putting it together

Result<void> Evaluator::Parts::make_framework(const PluginTable& plugins) {
  const config::Profile* profile = find_profile(options);
  if (!profile) return no_such_profile(options);
  const Handle handle{.profile_name = profile->scheduler_name,
                      .loop = loop,
                      .random = random,
                      .cluster = cluster,
                      .waiting_pods = waiting_pods,
                      .pods_in_pre_bind = pods_in_pre_bind,
                      .nominator = nominations,
                      .activator = nominations,
                      .api = api,
                      .gates = options.gates,
                      .trial_cluster = &cluster,
                      .observer = &observer};
  Result<ProfilePlugins> made =
      ProfilePlugins::make(*profile, config::default_multi_point(options.gates), plugins, handle);
  if (!made)
    return fail(made.error().kind,
                fmt::format("initializing profiles: creating profile for scheduler name {}: {}",
                            profile->scheduler_name, made.error().message));
  framework =
      std::make_unique<Framework>(profile->scheduler_name, std::move(*made), handle, observer);
  return {};
}

Result<std::unique_ptr<Evaluator>> Evaluator::make(Interner& interner, const PluginTable& plugins,
                                                   EvaluatorOptions options) {
  auto parts = std::make_unique<Parts>(interner, std::move(options));
  if (Result<void> made = parts->make_framework(plugins); !made) return fail(made.error());
  return std::unique_ptr<Evaluator>(new Evaluator(std::move(parts)));
}

Evaluator::Evaluator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Evaluator::~Evaluator() = default;

// ---- the cluster

Result<void> Evaluator::load(const std::vector<ManifestObject>& objects) {
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (Result<void> loaded = parts_->load(objects[i].object, i); !loaded)
      return fail(loaded.error().kind,
                  fmt::format("{}: {}", objects[i].where, loaded.error().message));
  parts_->set_clock();
  return {};
}

Result<void> Evaluator::load(const std::vector<AnyObject>& objects) {
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (Result<void> loaded = parts_->load(objects[i], i); !loaded) return loaded;
  parts_->set_clock();
  return {};
}

Result<void> Evaluator::Parts::load(const AnyObject& object, std::size_t position) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) return load_pod(*pod, position);
  const auto* other = std::get_if<Ref<const Object>>(&object);
  if (!other) return {};  // of a kind that no decision depends on
  if ((*other)->kind == ObjectKind::kNode)
    cluster.add_node(Ref<const Node>(static_cast<const Node*>(other->get())));
  else
    cluster.put(*other);
  return {};
}

Result<void> Evaluator::Parts::load_pod(Ref<const Pod> pod, std::size_t position) {
  pod = with_uid(std::move(pod), position);
  cluster.see_pod(pod);
  if (!pod->node().empty()) return pod->finished() ? Result<void>() : cluster.add_pod(pod);
  if (!pod->nominated_node().empty()) nominations.add(pod);
  pending.push_back(std::move(pod));
  return {};
}

// It is later than anything the pods tell of: those that have not started yet, for one, are the
// youngest.
void Evaluator::Parts::set_clock() {
  WallTime latest = loop.wall_now();
  cluster.for_each_seen(
      [&latest](const Ref<const Pod>& pod) { latest = std::max(latest, latest_time(*pod)); });
  loop.jump_wall_clock(latest + std::chrono::seconds(1) - loop.wall_now());
}

Ref<const Pod> with_uid(Ref<const Pod> pod, std::size_t position) {
  if (!pod->uid().empty()) return pod;
  PodDraft draft = draft_of(*pod);
  draft.uid = fmt::format("uid-{}-{}-{}", pod->namespace_name(), pod->name(), position);
  return make_pod(std::move(draft));
}

WallTime latest_time(const Pod& pod) {
  WallTime latest;
  for (const std::optional<WallTime>& time :
       {pod.creation_time(), pod.start_time(), pod.deletion_time()})
    if (time) latest = std::max(latest, *time);
  return latest;
}

// ---- a decision

std::vector<PodDecision> Evaluator::decide() {
  std::vector<PodDecision> decisions;
  decisions.reserve(parts_->pending.size());
  for (const Ref<const Pod>& pod : parts_->pending) {
    decisions.push_back(parts_->decide(pod, parts_->options.sequence));
    if (parts_->search.difference()) break;
  }
  return decisions;
}

PodDecision Evaluator::decide(const Ref<const Pod>& pod, bool stays) {
  const Ref<const Pod> seen = parts_->cluster.seen_pod(*pod);
  parts_->cluster.see_pod(pod);
  PodDecision decision = parts_->decide(pod, stays);
  if (!stays || decision.chosen.empty()) {
    parts_->cluster.remove_seen_pod(*pod);
    if (seen) parts_->cluster.see_pod(seen);
  }
  return decision;
}

const Cluster& Evaluator::cluster() const { return parts_->cluster; }
const Framework& Evaluator::framework() const { return *parts_->framework; }
WallTime Evaluator::now() const { return parts_->loop.wall_now(); }

const std::optional<std::string>& Evaluator::increment_difference() const {
  return parts_->search.difference();
}

std::size_t Evaluator::decided_from_classes() const { return parts_->search.decided_from_kept(); }

PodDecision Evaluator::Parts::decide(const Ref<const Pod>& pod, bool stays) {
  cluster.begin_cycle();
  Cycle cycle(pod, cluster);
  SearchTrace trace;
  trace.every_objection = options.all_rejections;
  search_for(search, cycle, &trace);
  PodDecision decision = decision_of(*pod, cluster.nodes(), trace);
  std::vector<std::string> victims = api.take_evicted();
  if (decision.preempt && !decision.preempt->node.empty())
    decision.preempt->victims = std::move(victims);
  if (stays && trace.outcome.ok()) stay(cycle, trace.chosen, decision);
  return decision;
}

// Evictions may go on in the background; they are over when nothing is left to do.
SearchResult Evaluator::Parts::search_for(NodeSearch& with, Cycle& cycle, SearchTrace* trace) {
  std::optional<SearchResult> ended;
  tasks.spawn(run_to_end(with.run(cycle, *framework, /*percentage=*/0, trace), ended));
  while (loop.work_pending() && loop.step()) {
  }
  if (ended) return *std::move(ended);
  tasks.clear();  // it waits for something that nobody here will do
  SearchResult failed;
  failed.outcome = Outcome::failure("PostFilter did not come to an end");
  if (trace) trace->outcome = failed.outcome;
  return failed;
}

// The pod takes its place, and the next one sees it there.
void Evaluator::Parts::stay(Cycle& cycle, NodeRow row, PodDecision& decision) {
  if (const Result<void> assumed = cluster.assume(cycle.pod_ref(), row); !assumed) {
    decision.error = assumed.error().message;
    return;
  }
  nominations.remove(cycle.pod());
  const Outcome reserved = framework->run_reserve(cycle, decision.chosen);
  if (!reserved.ok()) decision.error = reserved.message();
}

}  // namespace berth::explain
