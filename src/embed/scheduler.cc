#include "berth/scheduler.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/defaulting.h"
#include "api/interner.h"
#include "api/kinds.h"
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
  std::uint64_t next_version = 1;  // of objects in manifests that have none

  Admission admission();
  AnyObject as_applied(AnyObject written);
};

// An API server's knowledge of what is there.
Admission Scheduler::Parts::admission() {
  Admission admission;
  admission.now = loop.wall_now();
  admission.resource_version = next_version;
  for (const Ref<const Object>& known : engine->cluster().list(ObjectKind::kPriorityClass))
    admission.priority_classes[known->name] =
        Ref<const PriorityClass>(static_cast<const PriorityClass*>(known.get()));
  return admission;
}

// What a pod is when it is written anew: it keeps the node it has, and its version is a new one, or
// it would be taken for what has been seen already.
AnyObject Scheduler::Parts::as_applied(AnyObject written) {
  const auto* pod = std::get_if<Ref<const Pod>>(&written);
  if (!pod) return written;
  const Ref<const Pod> present = engine->cluster().seen_pod(**pod);
  if (!present || present->uid() != (*pod)->uid()) return written;
  const bool loses_node = (*pod)->node().empty() && !present->node().empty();
  if (!loses_node && (*pod)->resource_version() != present->resource_version()) return written;
  PodDraft draft = draft_of(**pod);
  if (loses_node) {
    draft.node_name = present->node_name();
    draft.scheduled_condition = true;
    draft.extra.reset();
  }
  draft.resource_version = local_api.next_version(present->resource_version());
  return make_pod(std::move(draft));
}

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
  const std::size_t extenders = engine.configuration.extenders.size();
  Result<std::unique_ptr<Engine>> made = Engine::make(
      parts->loop, parts->interner, parts->plugins, parts->api, parts->observer, std::move(engine));
  if (!made) return fail(made.error());
  parts->engine = std::move(*made);
  if (extenders > 0)
    parts->observer.trouble(fmt::format(
        "the configuration has {} extender(s), which this scheduler does not ask", extenders));
  parts->local_api.serve(*parts->engine);
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
  Admission admission = parts_->admission();
  if (Result<void> admitted = admit_all(*objects, parts_->interner, admission); !admitted)
    return admitted;
  parts_->next_version = admission.resource_version;
  for (ManifestObject& object : *objects) {
    if (std::holds_alternative<std::monostate>(object.object))
      parts_->observer.trouble(fmt::format("{}: {} {} is not read by scheduling, skipped",
                                           object.where, object.kind_text, object.name));
    else
      apply(parts_->as_applied(std::move(object.object)));
  }
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
    return fail(ErrorKind::kNotFound, fmt::format("{} \"{}\" not found", to_string(kind), name));
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
  // A pod that has a node and is not known to run there is assumed; one in the middle of its
  // scheduling cycle is nowhere.
  return sizes.active + sizes.backoff + sizes.unschedulable + sizes.gated +
         parts_->engine->cluster().assumed_count() + (parts_->engine->cycle_open() ? 1 : 0);
}

}  // namespace berth
