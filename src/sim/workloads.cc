#include "sim/workloads.h"

#include <fmt/format.h>

#include <utility>

#include "api/defaulting.h"
#include "api/object_fields.h"
#include "wire/json_reader.h"

namespace berth::sim {

Workloads::Workloads(Loop& loop, SimCluster& cluster, PodWatch& pods, Interner& interner,
                     std::function<void(std::string_view)> trouble)
    : loop_(loop),
      cluster_(cluster),
      pod_watch_(pods),
      pods_(pods.index()),
      interner_(interner),
      trouble_(std::move(trouble)),
      replica_sets_(loop, pods_, *this),
      deployments_(loop, pods_, *this),
      stateful_sets_(loop, pods_, *this),
      daemon_sets_(loop, pods_, *this),
      jobs_(loop, pods_, *this),
      orphans_(loop, pods_, *this) {
  cluster_.on_change(lifetime_.guard([this](const Delta& delta) {
    const auto* object = std::get_if<Ref<const Object>>(&delta.object);
    if (object == nullptr || (*object)->kind != ObjectKind::kNode) return;
    if (delta.type != DeltaType::kUpdated) orphans_.node_changed((*object)->name);
    for (const auto& [key, entry] : entries_)
      if (key.first == ObjectKind::kDaemonSet) daemon_sets_.enqueue(key.second);
  }));
}

// ---- what people do

Result<Workloads::Entry> Workloads::read(const ManifestObject& manifest) {
  Result<Workload> workload = controllers::read_workload(manifest.kind, manifest.json);
  if (!workload) return fail(workload.error());
  if (workload->template_json.empty())
    return fail(ErrorKind::kInvalid, "spec.template: must be set");
  Result<PodTemplate> decoded = decode_pod_template(workload->template_json, interner_);
  if (!decoded)
    return fail(decoded.error().kind, fmt::format("spec.template.{}", decoded.error().message));
  Entry entry(interner_);
  entry.workload = std::move(*workload);
  entry.workload.namespace_name = manifest.namespace_name;
  entry.workload.name = manifest.name;
  entry.workload.uid = fmt::format("{}/{}/{}", to_string(manifest.kind), manifest.namespace_name,
                                   manifest.name);  // as PodWatch tells controllers
  entry.workload.revision = 0;
  entry.workload.status = {};
  entry.api_version = manifest.api_version;
  entry.pod_template = std::move(*decoded);
  JsonReader json(manifest.json);
  json.fields([&](std::string_view top) {
    if (top != "spec") return;
    json.fields([&](std::string_view field) {
      if (field == "selector")
        Fields<LabelSelector>::read(json, entry.selector_symbols, entry.selector.emplace());
    });
  });
  if (json.error()) return fail(*json.error());
  return entry;
}

Result<void> Workloads::apply(const ManifestObject& manifest) {
  pod_watch_.begin();
  Result<Entry> read_entry = read(manifest);
  if (!read_entry) return fail(read_entry.error());
  const Key key = key_of(read_entry->workload);
  if (const auto present = entries_.find(key); present != entries_.end()) {
    read_entry->workload.status = present->second.workload.status;
    read_entry->workload.revision = present->second.workload.revision;
    read_entry->deployment = present->second.deployment;
    present->second = std::move(*read_entry);
  } else {
    entries_.emplace(key, std::move(*read_entry));
    if (!std::holds_alternative<std::monostate>(manifest.object))
      if (Result<void> created = cluster_.create_object(manifest.object); !created) {
        entries_.erase(key);
        return created;
      }
  }
  controller_of(key.first).enqueue(key.second);
  run_controllers();
  return {};
}

Result<void> Workloads::remove(ObjectKind kind, std::string_view namespace_name,
                               std::string_view name) {
  const Key key{kind, controllers::object_key(namespace_name, name)};
  const auto found = entries_.find(key);
  if (found == entries_.end())
    return fail(ErrorKind::kNotFound, fmt::format("{} \"{}\" not found", to_string(kind), name));
  if (kind == ObjectKind::kDeployment)
    for (const Workload& set : replica_sets_of(found->second.workload))
      remove_with_pods(key_of(set));
  const std::string deployment = found->second.deployment;
  remove_with_pods(key);
  if (!deployment.empty()) deployments_.enqueue(deployment);  // makes the ReplicaSet anew
  return {};
}

void Workloads::remove_with_pods(const Key& key) {
  const auto found = entries_.find(key);
  const Workload gone = std::move(found->second.workload);
  entries_.erase(found);  // first: nobody makes new pods for it
  std::vector<std::string> names;
  for (const controllers::PodFacts* pod : pods_.of_controller(gone.uid)) names.push_back(pod->name);
  for (const std::string& name : names)
    static_cast<void>(cluster_.remove_object(ObjectKind::kPod, gone.namespace_name, name));
  if (cluster_.object(gone.kind, gone.namespace_name, gone.name))
    static_cast<void>(cluster_.remove_at_once(gone.kind, gone.namespace_name, gone.name));
}

controllers::Controller& Workloads::controller_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kDeployment: return deployments_;
    case ObjectKind::kStatefulSet: return stateful_sets_;
    case ObjectKind::kDaemonSet: return daemon_sets_;
    case ObjectKind::kJob: return jobs_;
    default: return replica_sets_;
  }
}

void Workloads::run_controllers() {
  bool busy = true;
  while (busy) {
    busy = false;
    for (const ObjectKind kind :
         {ObjectKind::kDeployment, ObjectKind::kReplicaSet, ObjectKind::kStatefulSet,
          ObjectKind::kDaemonSet, ObjectKind::kJob})
      busy = controller_of(kind).run_queued() || busy;
  }
}

}  // namespace berth::sim
