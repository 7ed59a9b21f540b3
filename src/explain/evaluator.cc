#include "explain/evaluator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/loop.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "config/load.h"
#include "explain/stand_ins.h"
#include "framework/framework.h"
#include "framework/observer.h"
#include "framework/pods_in_pre_bind.h"
#include "framework/waiting_pods.h"
#include "increments/class_search.h"

namespace berth::explain {
namespace {

Verdict verdict_of(const Outcome& outcome) {
  Verdict verdict{outcome.code, outcome.plugin, outcome.all_reasons()};
  std::ranges::sort(verdict.reasons);
  return verdict;
}

Task<void> keep(Task<PostFilterResult> task, std::optional<PostFilterResult>& result) {
  PostFilterResult value = co_await task;
  result = std::move(value);
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

struct Evaluator::Parts {
  Parts(Interner& interner, EvaluatorOptions opts)
      : options(std::move(opts)), cluster(interner.symbols()), waiting_pods(loop) {}
  // What PostFilter began refers to everything else.
  ~Parts() { tasks.clear(); }

  Result<void> make_framework(const PluginTable& plugins);
  Result<void> load(const ManifestObject& object, std::size_t position);
  Result<void> load_pod(Ref<const Pod> pod, std::size_t position);
  void set_clock();

  PodDecision decide(const Ref<const Pod>& pod);
  bool pre_filter(Cycle& cycle, Diagnosis& diagnosis, NodeSet& candidates, PodDecision& decision);
  bool filter(Cycle& cycle, Diagnosis& diagnosis, NodeSet& feasible, PodDecision& decision);
  Outcome filter_in_turn(Cycle& cycle, NodeSet& feasible);
  bool score(Cycle& cycle, const NodeSet& feasible, PodDecision& decision);
  void decide_from_kept(Cycle& cycle);
  void stay(Cycle& cycle, PodDecision& decision);
  void nothing_fits(Cycle& cycle, const Diagnosis& diagnosis, PodDecision& decision);
  PostFilterResult post_filter(Cycle& cycle, const Diagnosis& diagnosis);

  const EvaluatorOptions options;
  VirtualLoop loop;
  Random random{0};
  Cluster cluster;
  WaitingPods waiting_pods;
  PodsInPreBind pods_in_pre_bind;
  ListedNominations nominations;
  NotingApi api;
  Observer observer;
  CycleScratch scratch;
  std::vector<Ref<const Pod>> pending;
  std::unique_ptr<Framework> framework;
  TaskSet tasks;
  ClassSearch classes{cluster, random};
  std::optional<Evaluation> kept;  // with verify_increments: what came of that for the pod at hand
  std::optional<std::string> difference;
};

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
    if (Result<void> loaded = parts_->load(objects[i], i); !loaded)
      return fail(loaded.error().kind,
                  fmt::format("{}: {}", objects[i].where, loaded.error().message));
  parts_->set_clock();
  return {};
}

Result<void> Evaluator::Parts::load(const ManifestObject& object, std::size_t position) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object.object))
    return load_pod(*pod, position);
  const auto* other = std::get_if<Ref<const Object>>(&object.object);
  if (!other) return {};  // of a kind that no decision depends on
  if ((*other)->kind == ObjectKind::kNode)
    cluster.add_node(Ref<const Node>(static_cast<const Node*>(other->get())));
  else
    cluster.put(*other);
  return {};
}

Result<void> Evaluator::Parts::load_pod(Ref<const Pod> pod, std::size_t position) {
  if (pod->uid().empty()) {  // a manifest need not have one; the cluster tells pods apart by it
    PodDraft draft = draft_of(*pod);
    draft.uid = fmt::format("uid-{}-{}-{}", pod->namespace_name(), pod->name(), position);
    pod = make_pod(std::move(draft));
  }
  cluster.see_pod(pod);
  if (!pod->node().empty()) return pod->finished() ? Result<void>() : cluster.add_pod(pod);
  if (!pod->nominated_node().empty()) nominations.add(pod);
  pending.push_back(std::move(pod));
  return {};
}

// It is later than anything the objects tell of: pods that have not started yet, for one, are the
// youngest.
void Evaluator::Parts::set_clock() {
  WallTime latest = loop.wall_now();
  cluster.for_each_seen([&latest](const Ref<const Pod>& pod) {
    for (const std::optional<WallTime>& time :
         {pod->creation_time(), pod->start_time(), pod->deletion_time()})
      if (time) latest = std::max(latest, *time);
  });
  loop.jump_wall_clock(latest + std::chrono::seconds(1) - loop.wall_now());
}

// ---- a decision, step by step

std::vector<PodDecision> Evaluator::decide() {
  std::vector<PodDecision> decisions;
  decisions.reserve(parts_->pending.size());
  for (const Ref<const Pod>& pod : parts_->pending) {
    decisions.push_back(parts_->decide(pod));
    if (parts_->difference) break;
  }
  return decisions;
}

const std::optional<std::string>& Evaluator::increment_difference() const {
  return parts_->difference;
}

PodDecision Evaluator::Parts::decide(const Ref<const Pod>& pod) {
  PodDecision decision;
  decision.pod = pod->full_name();
  cluster.begin_cycle();
  const std::size_t rows = cluster.nodes().rows();
  decision.all_nodes = cluster.nodes().node_count();
  scratch.reset(rows);
  Cycle cycle(pod, cluster);
  cycle.lend(&scratch);
  Diagnosis diagnosis;
  diagnosis.explicit_nodes = NodeSet(rows);
  NodeSet feasible(rows);
  if (!pre_filter(cycle, diagnosis, feasible, decision)) return decision;
  kept.reset();
  if (options.verify_increments && !decision.narrowed) decide_from_kept(cycle);
  if (!filter(cycle, diagnosis, feasible, decision)) return decision;
  if (feasible.empty()) {
    if (kept) difference = find_difference(cycle, *framework, *kept, feasible, {});
    nothing_fits(cycle, diagnosis, decision);
    return decision;
  }
  if (score(cycle, feasible, decision) && options.sequence) stay(cycle, decision);
  return decision;
}

// A class is remembered from the second pod on; here the first one counts for two.
void Evaluator::Parts::decide_from_kept(Cycle& cycle) {
  kept.emplace();
  classes.begin_cycle();
  if (!classes.run(cycle, *framework, &*kept) && !classes.run(cycle, *framework, &*kept))
    kept.reset();
  scratch.reset(cluster.nodes().rows());
}

// Whether there is anything left to ask Filter; `candidates` are the nodes to ask about then.
bool Evaluator::Parts::pre_filter(Cycle& cycle, Diagnosis& diagnosis, NodeSet& candidates,
                                  PodDecision& decision) {
  const PreFilterRun run = framework->run_pre_filter(cycle);
  run.note_in(diagnosis);
  if (!run.outcome.ok()) {
    decision.pre_filter = verdict_of(run.outcome);
    if (run.outcome.rejected())
      nothing_fits(cycle, diagnosis, decision);
    else
      decision.error = run.outcome.message();
    return false;
  }
  if (!run.nodes) {
    candidates = cluster.nodes().nodes();
    candidates.reserve_rows(cluster.nodes().rows());
    return true;
  }
  Narrowing narrowing{{run.restricting.begin(), run.restricting.end()}, {}};
  for (const Symbol name : *run.nodes) {
    const NodeRow row = cluster.nodes().find(name);
    if (row == kNoRow || !cluster.nodes().has_node(row)) continue;
    candidates.insert(row);
    narrowing.to.emplace_back(cluster.nodes().name_text(row));
  }
  std::ranges::sort(narrowing.to);
  decision.narrowed = std::move(narrowing);
  return true;
}

// False: some plugin failed. Nodes are told about in snapshot order up to there.
bool Evaluator::Parts::filter(Cycle& cycle, Diagnosis& diagnosis, NodeSet& feasible,
                              PodDecision& decision) {
  const NodeSet asked = feasible;
  Outcome ran = framework->run_filters_with_nominated(cycle, cluster, feasible);
  if (!ran.ok()) {
    // A nominated pod could not be put on its node for the question. Which error comes first is
    // seen one node at a time.
    feasible = asked;
    ran = filter_in_turn(cycle, feasible);
  }
  for (const NodeRow row : cluster.nodes().order()) {
    if (!asked.contains(row) || feasible.contains(row)) continue;
    const Status status = scratch.verdicts[row];
    if (status.ok()) break;  // as far as it got
    Outcome why = framework->explain(cycle, status);
    if (!why.rejected()) {
      decision.error = why.message();
      return false;
    }
    diagnosis.explicit_nodes.insert(row);
    diagnosis.add_plugin(why.code, why.plugin);
    decision.rejected.emplace(cluster.nodes().name_text(row), verdict_of(why));
  }
  if (!ran.ok()) decision.error = ran.message();
  return ran.ok();
}

// The rows one by one, in snapshot order, until something fails; those after that are taken out
// without a verdict.
Outcome Evaluator::Parts::filter_in_turn(Cycle& cycle, NodeSet& feasible) {
  scratch.reset(cluster.nodes().rows());
  Outcome outcome;
  for (const NodeRow row : cluster.nodes().order()) {
    if (!feasible.contains(row)) continue;
    if (outcome.ok()) {
      const Result<Status> status = framework->filter_row_with_nominated(cycle, cluster, row);
      if (status && status->ok()) continue;
      if (!status) {
        outcome = Outcome::failure(status.error().message);
        scratch.verdicts[row] = Status{};
      }
    }
    feasible.erase(row);
  }
  return outcome;
}

bool Evaluator::Parts::score(Cycle& cycle, const NodeSet& feasible, PodDecision& decision) {
  const NodeTable& nodes = cluster.nodes();
  const auto name_of = [&nodes](NodeRow row) { return std::string(nodes.name_text(row)); };
  std::vector<Score> totals(nodes.rows());
  std::map<std::string, std::map<std::string, std::int64_t>> scores;
  Outcome outcome = framework->run_pre_score(cycle, feasible);
  if (outcome.ok())
    outcome = framework->run_scores(cycle, feasible, totals, [&](const PluginScores& of_plugin) {
      feasible.for_each([&](NodeRow row) {
        scores[name_of(row)][std::string(of_plugin.plugin->name())] =
            of_plugin.weighted_by_row[row];
      });
    });
  if (!outcome.ok()) {
    decision.error = outcome.message();
    return false;
  }
  if (kept) difference = find_difference(cycle, *framework, *kept, feasible, totals);
  decision.scores = std::move(scores);
  feasible.for_each([&](NodeRow row) { decision.totals[name_of(row)] = totals[row]; });
  const Score highest = std::ranges::max_element(decision.totals, {}, [](const auto& entry) {
                          return entry.second;
                        })->second;
  for (const auto& [node, total] : decision.totals)
    if (total == highest) decision.best.push_back(node);
  decision.chosen = decision.best.front();
  return true;
}

// The pod takes its place, and the next one sees it there.
void Evaluator::Parts::stay(Cycle& cycle, PodDecision& decision) {
  const NodeRow row = cluster.nodes().find(cluster.symbols().find(decision.chosen));
  if (const Result<void> assumed = cluster.assume(cycle.pod_ref(), row); !assumed) {
    decision.error = assumed.error().message;
    return;
  }
  nominations.remove(cycle.pod());
  const Outcome reserved = framework->run_reserve(cycle, decision.chosen);
  if (!reserved.ok()) decision.error = reserved.message();
}

void Evaluator::Parts::nothing_fits(Cycle& cycle, const Diagnosis& diagnosis,
                                    PodDecision& decision) {
  // The sentence is made before PostFilter, whose trials reuse the verdicts.
  const std::shared_ptr<FitError> error =
      framework->fit_error(cycle, diagnosis, decision.all_nodes);
  if (options.preempt && !framework->plugins().post_filter.empty()) {
    PostFilterResult helped = post_filter(cycle, diagnosis);
    error->post_filter_message = helped.outcome.message();
    PreemptionOutcome& preempt = decision.preempt.emplace();
    std::vector<std::string> victims = api.take_evicted();
    if (helped.nominating && !helped.nominating->node_name.empty()) {
      preempt.node = std::move(helped.nominating->node_name);
      preempt.victims = std::move(victims);
    } else {
      preempt.message = error->post_filter_message;
    }
  }
  decision.message = error->message();
  decision.unschedulable_plugins.assign(error->unschedulable_plugins.begin(),
                                        error->unschedulable_plugins.end());
  decision.pending_plugins.assign(error->pending_plugins.begin(), error->pending_plugins.end());
}

// Evictions may go on in the background; they are over when nothing is left to do.
PostFilterResult Evaluator::Parts::post_filter(Cycle& cycle, const Diagnosis& diagnosis) {
  std::optional<PostFilterResult> result;
  tasks.spawn(keep(framework->run_post_filter(cycle, diagnosis), result));
  while (loop.work_pending() && loop.step()) {
  }
  if (result) return std::move(*result);
  tasks.clear();  // it waits for something that nobody here will do
  PostFilterResult given_up;
  given_up.outcome = Outcome::failure("PostFilter did not come to an end");
  return given_up;
}

}  // namespace berth::explain
