#include "berth/scheduler.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/decode.h"
#include "api/defaulting.h"
#include "api/kinds.h"
#include "api/manifest.h"
#include "berth/interner.h"
#include "embed/frozen_cluster.h"
#include "embed/settings.h"
#include "engine/engine.h"
#include "plugins/table.h"
#include "storeapi/cluster_view.h"
#include "storeapi/store_api.h"

namespace berth {

struct Scheduler::Parts {
  explicit Parts(const Options& options)
      : loop(options.loop ? *options.loop : virtual_loop),
        objects(loop, ClusterView::Shows::kNextTurn),
        local_api(loop, objects, {.keeps_statuses = false}),
        api(options.api ? *options.api : local_api),
        observer(options.observer ? *options.observer : nobody) {}

  VirtualLoop virtual_loop;
  Observer nobody;
  Loop& loop;
  std::shared_ptr<Interner> interner = std::make_shared<Interner>();  // evaluators share it
  Settings settings;
  // Where there is no API server a pod that is bound is shown as bound, and so on.
  ClusterView objects;
  StoreApi local_api;
  ClusterApi& api;
  Observer& observer;
  PluginTable plugins;
  std::unique_ptr<Engine> engine;
  std::uint64_t next_version = 1;  // of objects in manifests that have none

  Admission admission();
  AnyObject as_applied(AnyObject written);
  Result<void> decode_others(std::vector<ManifestObject>& written);
  void apply_admitted(AnyObject object);
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
  draft.resource_version = objects.next_version(present->resource_version());
  return make_pod(std::move(draft));
}

// Objects of the resources that plugins have registered for.
Result<void> Scheduler::Parts::decode_others(std::vector<ManifestObject>& written) {
  for (ManifestObject& object : written) {
    if (object.kind != ObjectKind::kOther) continue;
    const std::string resource = usual_resource(object.api_version, object.kind_text);
    if (!engine->other_resources().contains(resource)) continue;
    Result<AnyObject> decoded = decode_other_object(resource, object.json, *interner);
    if (!decoded)
      return fail(decoded.error().kind, fmt::format("{}: {} {}: {}", object.where, object.kind_text,
                                                    object.name, decoded.error().message));
    object.object = *std::move(decoded);
  }
  return {};
}

// Added or updated: the engine knows what it has seen.
void Scheduler::Parts::apply_admitted(AnyObject object) {
  engine->apply({DeltaType::kAdded, as_applied(std::move(object))});
}

PluginTable Scheduler::built_in_plugins() { return plugins::make_plugin_table(); }

Result<std::unique_ptr<Scheduler>> Scheduler::make(Options options) {
  auto parts = std::make_unique<Parts>(options);
  parts->plugins = std::move(options.plugins);
  Result<Settings> settings =
      read_settings(options.configuration, options.feature_gates, *parts->interner);
  if (!settings) return fail(settings.error());
  parts->settings = std::move(*settings);
  EngineOptions engine;
  engine.seed = options.seed;
  engine.gates = parts->settings.gates;
  engine.configuration = parts->settings.configuration;
  const std::size_t extenders = engine.configuration.extenders.size();
  Result<std::unique_ptr<Engine>> made =
      Engine::make(parts->loop, *parts->interner, parts->plugins, parts->api, parts->observer,
                   std::move(engine));
  if (!made) return fail(made.error());
  parts->engine = std::move(*made);
  if (extenders > 0)
    parts->observer.internal_error(fmt::format(
        "the configuration has {} extender(s), which this scheduler does not ask", extenders));
  parts->objects.serve(parts->engine->cluster(), [engine = parts->engine.get()](Delta delta) {
    engine->apply(std::move(delta));
  });
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(parts)));
}

Scheduler::Scheduler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Scheduler::~Scheduler() {
  parts_->engine.reset();  // its attempts refer to everything else
}

Result<void> Scheduler::apply(std::string_view manifest) {
  Result<std::vector<ManifestObject>> objects =
      read_manifest(manifest, "manifest", *parts_->interner);
  if (!objects) return fail(objects.error());
  Admission admission = parts_->admission();
  if (Result<void> admitted = admit_all(*objects, *parts_->interner, admission); !admitted)
    return admitted;
  if (Result<void> decoded = parts_->decode_others(*objects); !decoded) return decoded;
  parts_->next_version = admission.resource_version;
  for (ManifestObject& object : *objects) {
    if (std::holds_alternative<std::monostate>(object.object))
      parts_->observer.internal_error(fmt::format("{}: {} {} is not read by scheduling, skipped",
                                                  object.where, object.kind_text, object.name));
    else
      parts_->apply_admitted(std::move(object.object));
  }
  return {};
}

Result<void> Scheduler::apply(AnyObject object) {
  const Admission admission = parts_->admission();
  Result<AnyObject> admitted = admit(std::move(object), *parts_->interner, admission);
  if (!admitted) return fail(admitted.error());
  parts_->next_version = admission.resource_version + 1;
  parts_->apply_admitted(std::move(*admitted));
  return {};
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

Result<void> Scheduler::remove_other(std::string_view resource, std::string_view namespace_name,
                                     std::string_view name) {
  const Cluster& cluster = parts_->engine->cluster();
  const Ref<const OtherObject> last = cluster.find_other(resource, namespace_name, name);
  if (!last) return fail(ErrorKind::kNotFound, fmt::format("{} \"{}\" not found", resource, name));
  parts_->engine->apply({DeltaType::kDeleted, Ref<const Object>(last)});
  return {};
}

void Scheduler::start() { parts_->engine->start(); }
void Scheduler::stop() { parts_->engine->stop(); }
bool Scheduler::run_one() { return parts_->engine->run_one(); }

Result<void> Scheduler::run_until(Duration time) {
  if (&parts_->loop != &parts_->virtual_loop)
    return fail(ErrorKind::kInvalid, "the scheduler runs on a loop of yours: run that");
  parts_->virtual_loop.run_until(TimePoint{time});
  return {};
}

Loop& Scheduler::loop() { return parts_->loop; }
WaitingPods& Scheduler::waiting_pods() { return parts_->engine->waiting_pods(); }
Interner& Scheduler::interner() { return *parts_->interner; }

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

// Pods that are assumed on a node count as being there.
Result<Evaluator> Scheduler::evaluator(Evaluator::Question question) const {
  const Cluster& cluster = parts_->engine->cluster();
  FrozenCluster frozen{.interner = parts_->interner,
                       .plugins = parts_->plugins,
                       .settings = parts_->settings,
                       .question = std::move(question)};
  cluster.for_each_seen([&](const Ref<const Pod>& pod) {
    const NodeRow row = cluster.row_of(pod->uid());
    const bool assumed = row != kNoRow && pod->node().empty();
    frozen.put(assumed ? with_node(*pod, cluster.nodes().name_text(row)) : pod);
  });
  cluster.nodes().nodes().for_each(
      [&](NodeRow row) { frozen.put(Ref<const Object>(cluster.nodes().node_ref(row))); });
  for (std::uint8_t kind = 0; kind < static_cast<std::uint8_t>(ObjectKind::kOther); ++kind)
    for (const Ref<const Object>& object : cluster.list(static_cast<ObjectKind>(kind)))
      frozen.put(object);
  return Evaluator::Parts::make_evaluator(std::move(frozen));
}

}  // namespace berth
