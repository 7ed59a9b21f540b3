#include "sim/entity_cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <utility>

#include "berth/plugin.h"
#include "cluster/group_states.h"
#include "engine/engine.h"
#include "explain/evaluator.h"
#include "sim/first_by_name.h"
#include "sim/recorded_cycle.h"
#include "storeapi/cluster_view.h"

namespace berth::sim {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(1);  // no two pods arrive at the same time

// The name of a pod's entity: its group's, else its own.
struct EntityName {
  bool group = false;
  std::string name;  // "namespace/name"

  friend auto operator<=>(const EntityName&, const EntityName&) = default;
};

EntityName entity_of(const Pod& pod) {
  const Symbol group = pod.spec().scheduling_group;
  if (group.empty()) return {false, pod.full_name()};
  return {true, fmt::format("{}/{}", pod.namespace_name(), pod.text(group))};
}

// PreEnqueue: keeps the entities that have failed out of the queue.
class OneAttempt final : public PreEnqueuePlugin {
 public:
  static constexpr std::string_view kName = "OneAttempt";

  explicit OneAttempt(std::shared_ptr<const std::set<EntityName>> failed)
      : failed_(std::move(failed)) {}

  std::string_view name() const override { return kName; }
  Outcome pre_enqueue(const Pod& pod) const override {
    if (!failed_->contains(entity_of(pod))) return {};
    return Outcome::unschedulable("has been tried");
  }
  std::optional<std::vector<EventRegistration>> events_to_register() const override {
    return std::vector<EventRegistration>();
  }

 private:
  std::shared_ptr<const std::set<EntityName>> failed_;
};

class EntityRun {
 public:
  EntityRun(Interner& interner, PluginTable plugins)
      : interner_(interner), plugins_(std::move(plugins)) {}

  Result<void> make_engine(EntityCyclesOptions options, const std::vector<ManifestObject>& objects);
  Result<void> load(const std::vector<ManifestObject>& objects);
  Result<EntityCycles> run();

 private:
  void settle() { loop_.run_until(loop_.now()); }
  void tick() { loop_.run_until(loop_.now() + kTick); }
  EntityResult take_result();
  void note_left(EntityCycles& cycles) const;

  Interner& interner_;
  PluginTable plugins_;
  VirtualLoop loop_;
  ClusterView objects_{loop_, ClusterView::Shows::kNextTurn};
  RecordedCycle recorded_{loop_, objects_};
  const std::shared_ptr<std::set<EntityName>> failed_ = std::make_shared<std::set<EntityName>>();
  std::unique_ptr<Engine> engine_;  // destroyed first: its attempts refer to everything else
};

Result<void> EntityRun::make_engine(EntityCyclesOptions options,
                                    const std::vector<ManifestObject>& objects) {
  EngineOptions engine;
  engine.configuration = std::move(options.configuration);
  engine.gates = std::move(options.gates);
  engine.verify_increments = options.verify_increments;
  std::vector<std::string> nodes;
  for (const ManifestObject& object : objects)
    if (object.kind == ObjectKind::kNode) nodes.push_back(object.name);
  if (Result<void> first = take_first_by_name(std::move(nodes), plugins_, engine.configuration);
      !first)
    return first;

  PluginEntry once;
  once.name = OneAttempt::kName;
  once.create = [failed = failed_](const config::PluginArgs&,
                                   const Handle&) -> Result<std::unique_ptr<Plugin>> {
    return std::make_unique<OneAttempt>(failed);
  };
  if (Result<void> added = plugins_.add(std::move(once)); !added) return added;
  for (config::Profile& profile : engine.configuration.profiles) {
    profile.percentage_of_nodes_to_score = 100;
    profile.plugins.at(config::ExtensionPoint::kMultiPoint)
        .enabled.push_back({std::string(OneAttempt::kName), 0});
  }

  Result<std::unique_ptr<Engine>> made =
      Engine::make(loop_, interner_, plugins_, recorded_, recorded_, std::move(engine));
  if (!made) return fail(made.error());
  engine_ = *std::move(made);
  objects_.serve(engine_->cluster(), [this](Delta delta) { engine_->apply(std::move(delta)); });
  return {};
}

// Everything that is there, then the pending pods, one after the other.
Result<void> EntityRun::load(const std::vector<ManifestObject>& objects) {
  std::vector<Ref<const Pod>> pending;
  WallTime latest = loop_.wall_now();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const AnyObject& object = objects[i].object;
    if (const auto* written = std::get_if<Ref<const Pod>>(&object)) {
      Ref<const Pod> pod = explain::with_uid(*written, i);
      latest = std::max(latest, explain::latest_time(*pod));
      if (pod->node().empty())
        pending.push_back(std::move(pod));
      else
        engine_->apply({DeltaType::kAdded, std::move(pod)});
    } else if (!std::holds_alternative<std::monostate>(object)) {
      engine_->apply({DeltaType::kAdded, object});
    }
  }
  loop_.jump_wall_clock(latest + std::chrono::seconds(1) - loop_.wall_now());
  settle();
  for (Ref<const Pod>& pod : pending) {
    tick();
    engine_->apply({DeltaType::kAdded, std::move(pod)});
  }
  settle();
  return {};
}

Result<EntityCycles> EntityRun::run() {
  EntityCycles cycles;
  // Only what is active: those that back off would be popped early.
  while (engine_->queue().sizes().active > 0) {
    tick();
    if (!engine_->run_one()) break;
    settle();
    if (engine_->cycle_open())
      return fail(ErrorKind::kInternal, "a scheduling cycle did not come to an end");
    if (const auto& difference = engine_->increment_difference())
      return fail(ErrorKind::kInternal, "increments differ: " + *difference);
    if (!recorded_.first()) continue;  // nobody was to be tried
    cycles.entities.push_back(take_result());
  }
  note_left(cycles);
  return cycles;
}

EntityResult EntityRun::take_result() {
  EntityName entity = entity_of(*recorded_.first());
  const bool all_failed = recorded_.all_failed();
  EntityResult result = recorded_.take();
  if (entity.group) result.group = entity.name;
  if (all_failed) failed_->insert(std::move(entity));
  return result;
}

void EntityRun::note_left(EntityCycles& cycles) const {
  engine_->queue().for_each([&](const QueuedPod& queued, QueuePlace place) {
    if (place != QueuePlace::kUnschedulable || queued.attempts > 0) return;
    const Pod& pod = *queued.pod;
    const bool complete =
        !in_group(pod) || engine_->cluster().find(ObjectKind::kPodGroup, pod.namespace_name(),
                                                  pod.text(pod.spec().scheduling_group));
    (complete ? cycles.gated : cycles.incomplete).push_back(pod.full_name());
  });
  std::ranges::sort(cycles.gated);
  std::ranges::sort(cycles.incomplete);
}

}  // namespace

Result<EntityCycles> run_entity_cycles(Interner& interner, PluginTable plugins,
                                       EntityCyclesOptions options,
                                       const std::vector<ManifestObject>& objects) {
  EntityRun run(interner, std::move(plugins));
  if (Result<void> made = run.make_engine(std::move(options), objects); !made)
    return fail(made.error());
  if (Result<void> loaded = run.load(objects); !loaded) return fail(loaded.error());
  return run.run();
}

}  // namespace berth::sim
