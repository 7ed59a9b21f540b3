#include "berth/scheduler.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/interner.h"
#include "api/manifest.h"
#include "base/check.h"
#include "config/load.h"
#include "embed/local_api.h"
#include "engine/engine.h"
#include "plugins/table.h"

namespace berth {

struct Scheduler::Parts {
  explicit Parts(const Options& options)
      : loop(options.loop ? *options.loop : virtual_loop),
        local_api(loop),
        api(options.api ? *options.api : local_api),
        observer(options.observer ? *options.observer : nobody) {}

  VirtualLoop virtual_loop;
  Observer nobody;
  Loop& loop;
  Interner interner;
  LocalApi local_api;
  ClusterApi& api;
  Observer& observer;
  PluginTable plugins;
  std::unique_ptr<Engine> engine;
};

PluginTable Scheduler::built_in_plugins() { return plugins::make_plugin_table(); }

Result<std::unique_ptr<Scheduler>> Scheduler::make(Options options) {
  auto parts = std::make_unique<Parts>(options);
  parts->plugins = std::move(options.plugins);
  EngineOptions engine;
  engine.seed = options.seed;
  if (Result<void> set = engine.gates.set(options.feature_gates); !set) return fail(set.error());
  if (Result<void> valid = engine.gates.validate(); !valid) return fail(valid.error());
  if (options.configuration.empty()) {
    engine.configuration = config::default_configuration(engine.gates);
  } else {
    Result<config::Configuration> parsed =
        config::parse_configuration(options.configuration, engine.gates, parts->interner);
    if (!parsed) return fail(parsed.error());
    engine.configuration = std::move(*parsed);
  }
  Result<std::unique_ptr<Engine>> made = Engine::make(parts->loop, parts->interner, parts->plugins,
                                                      parts->api, parts->observer, std::move(engine));
  if (!made) return fail(made.error());
  parts->engine = std::move(*made);
  parts->local_api.show_to([&engine = *parts->engine](Delta delta) { engine.apply(std::move(delta)); });
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(parts)));
}

Scheduler::Scheduler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Scheduler::~Scheduler() {
  parts_->engine.reset();  // its attempts refer to everything else
}

Result<void> Scheduler::apply(std::string_view manifest) {
  Result<std::vector<ManifestObject>> objects =
      read_manifest(manifest, "manifest", parts_->interner);
  if (!objects) return fail(objects.error());
  if (Result<void> admitted = admit_all(*objects, parts_->interner, parts_->loop.wall_now());
      !admitted)
    return admitted;
  for (ManifestObject& object : *objects)
    if (!std::holds_alternative<std::monostate>(object.object)) apply(std::move(object.object));
  return {};
}

void Scheduler::apply(AnyObject object) {
  // Added or updated: the engine knows what it has seen.
  parts_->engine->apply({DeltaType::kAdded, std::move(object)});
}

Result<void> Scheduler::remove(ObjectKind kind, std::string_view namespace_name,
                               std::string_view name) {
  const Cluster& cluster = parts_->engine->cluster();
  AnyObject last;
  if (kind == ObjectKind::kPod) {
    if (Ref<const Pod> pod = cluster.seen_pod(namespace_name, name)) last = std::move(pod);
  } else if (kind == ObjectKind::kNode) {
    const NodeRow row = cluster.nodes().find(cluster.symbols().find(name));
    if (row != kNoRow && cluster.nodes().has_node(row))
      last = Ref<const Object>(cluster.nodes().node_ref(row));
  } else if (Ref<const Object> object = cluster.find(kind, namespace_name, name)) {
    last = std::move(object);
  }
  if (std::holds_alternative<std::monostate>(last))
    return fail(ErrorKind::kNotFound,
                fmt::format("{} \"{}\" not found", to_string(kind), name));
  parts_->engine->apply({DeltaType::kDeleted, std::move(last)});
  return {};
}

void Scheduler::start() { parts_->engine->start(); }
void Scheduler::stop() { parts_->engine->stop(); }
bool Scheduler::run_one() { return parts_->engine->run_one(); }

void Scheduler::run_until(Duration time) {
  BERTH_CHECK(&parts_->loop == &parts_->virtual_loop);
  parts_->virtual_loop.run_until(TimePoint{time});
}

Loop& Scheduler::loop() { return parts_->loop; }
WaitingPods& Scheduler::waiting_pods() { return parts_->engine->waiting_pods(); }
Interner& Scheduler::interner() { return parts_->interner; }

std::string Scheduler::node_of(std::string_view namespace_name, std::string_view name) const {
  const Ref<const Pod> pod = parts_->engine->cluster().seen_pod(namespace_name, name);
  return pod ? std::string(pod->node_name()) : std::string();
}

std::size_t Scheduler::pending() const {
  const QueueSizes sizes = parts_->engine->queue().sizes();
  return sizes.active + sizes.backoff + sizes.unschedulable + sizes.gated +
         parts_->engine->tasks();
}

}  // namespace berth
