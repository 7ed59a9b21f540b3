// How the controllers of workloads write pods and objects into the simulator's cluster.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"
#include "api/kinds.h"
#include "berth/node.h"
#include "sim/workloads.h"
#include "wire/json_tree.h"

namespace berth::sim {
namespace {

// A daemon's pod may run on one node only, and says so in every term of its node affinity.
void pin_to_node(PodSpec& spec, std::string_view node) {
  SelectorRequirement here;
  here.key = spec.symbols.intern("metadata.name");
  here.op = SelectorOperator::kIn;
  here.operator_text = spec.symbols.intern("In");
  here.values = {spec.symbols.intern(node)};
  auto affinity = std::make_shared<Affinity>(spec.affinity ? *spec.affinity : Affinity());
  if (!affinity->node) affinity->node.emplace();
  auto& required = affinity->node->required;
  if (!required || required->empty()) required.emplace(1);
  for (NodeSelectorTerm& term : *required) term.match_fields = {here};
  spec.affinity = std::move(affinity);
}

void mount_claim(PodSpec& spec, std::string_view volume, std::string_view claim) {
  Volume mounted;
  mounted.name = spec.symbols.intern(volume);
  mounted.source = VolumeSource::kPersistentVolumeClaim;
  mounted.source_name = spec.symbols.intern(claim);
  std::erase_if(spec.volumes, [&](const Volume& one) { return one.name == mounted.name; });
  spec.volumes.push_back(std::move(mounted));
}

void add_labels(PodMeta& meta, const controllers::LabelPairs& added) {
  std::vector<Label> labels(meta.labels.begin(), meta.labels.end());
  for (const auto& [key, value] : added)
    labels.push_back({meta.symbols.intern(key), meta.symbols.intern(value)});
  meta.labels = LabelSet(std::move(labels));
}

void set_member(JsonValue& object, std::string_view name, JsonValue value) {
  std::erase_if(object.members, [&](const JsonMember& member) { return member.name == name; });
  object.add(name, std::move(value));
}

}  // namespace

// ---- objects

Workloads::Entry* Workloads::entry_of(const Workload& workload) {
  const auto found = entries_.find(key_of(workload));
  return found == entries_.end() ? nullptr : &found->second;
}

std::optional<controllers::Workload> Workloads::find(ObjectKind kind,
                                                     std::string_view namespace_name,
                                                     std::string_view name) const {
  const auto found = entries_.find({kind, controllers::object_key(namespace_name, name)});
  if (found == entries_.end()) return std::nullopt;
  return found->second.workload;
}

void Workloads::remove(const Workload& object) { remove_with_pods(key_of(object)); }

// ---- pods

// Reports each refusal once: controllers retry.
Result<std::string> Workloads::refuse(const Workload& owner, const std::string& why) {
  std::string text =
      fmt::format("{} {}/{}: {}", to_string(owner.kind), owner.namespace_name, owner.name, why);
  if (told_.insert(text).second) trouble_(text);
  return fail(ErrorKind::kInvalid, why);
}

Result<std::string> Workloads::create_pod(const Workload& owner,
                                          const controllers::PodParts& parts) {
  const Entry* entry = entry_of(owner);
  if (entry == nullptr) return fail(ErrorKind::kNotFound, "its owner is gone");
  WrittenPod pod(entry->pod_template);
  SymbolHold& symbols = pod.meta.symbols;
  pod.meta.namespace_name = symbols.intern(owner.namespace_name);
  pod.meta.controller = {symbols.intern(entry->api_version), symbols.intern(to_string(owner.kind)),
                         symbols.intern(owner.name)};
  add_labels(pod.meta, parts.labels);
  for (const auto& [volume, claim] : parts.claims) mount_claim(pod.spec, volume, claim);
  pod.own.name = parts.name;
  // As an API server does: a suffix that is taken is drawn again.
  const auto draw_name = [&](std::string_view seed, std::uint64_t& number) {
    do {
      pod.own.name = parts.prefix + controllers::name_suffix(seed, number++);
    } while (cluster_.pod(owner.namespace_name, pod.own.name));
  };
  if (!parts.node.empty()) {
    controllers::add_daemon_tolerations(pod.spec);
    pin_to_node(pod.spec, parts.node);
    // One pod per node, named after it: upstream's suffix says nothing.
    std::uint64_t number = 0;
    draw_name(parts.node, number);
  } else if (parts.name.empty()) {
    draw_name(std::string_view(parts.prefix).substr(0, parts.prefix.size() - 1), made_);
  }
  std::string name = pod.own.name;
  if (const Result<void> admitted = admit(pod, cluster_.admission()); !admitted)
    return refuse(owner, admitted.error().message);
  if (const Result<void> created = cluster_.create_object(freeze(std::move(pod), interner_));
      !created)
    return refuse(owner, created.error().message);
  return name;
}

bool Workloads::delete_pod(const controllers::PodFacts& pod) {
  return cluster_.remove_object(ObjectKind::kPod, pod.namespace_name, pod.name).has_value();
}

bool Workloads::has_node(const std::string& name) const {
  return cluster_.has(ObjectKind::kNode, "", name);
}

void Workloads::remove_orphan(const controllers::PodFacts& pod) {
  static_cast<void>(cluster_.remove_at_once(ObjectKind::kPod, pod.namespace_name, pod.name));
}

// ---- Deployment

std::vector<controllers::Workload> Workloads::replica_sets_of(const Workload& deployment) {
  std::vector<Workload> sets;
  // Their names begin with the Deployment's.
  const Key first(ObjectKind::kReplicaSet, deployment.key() + "-");
  for (auto set = entries_.lower_bound(first);
       set != entries_.end() && set->first.first == first.first &&
       set->first.second.starts_with(first.second);
       ++set)
    if (set->second.deployment == deployment.key()) sets.push_back(set->second.workload);
  std::ranges::sort(sets, {}, [](const Workload& set) {
    return std::pair(set.revision, std::string_view(set.name));
  });
  return sets;
}

Result<controllers::Workload> Workloads::create_replica_set(const Workload& deployment) {
  const Entry* owner = entry_of(deployment);
  if (owner == nullptr) return fail(ErrorKind::kNotFound, "the Deployment is gone");
  Entry entry = *owner;
  const std::string& hash = deployment.template_hash;
  Workload& set = entry.workload;
  set.kind = ObjectKind::kReplicaSet;
  set.name = fmt::format("{}-{}", deployment.name, hash);
  set.uid = fmt::format("{}/{}/{}", to_string(set.kind), set.namespace_name, set.name);
  set.replicas = 0;
  set.revision = 0;
  set.status = {};
  entry.deployment = deployment.key();
  add_labels(entry.pod_template.meta, {{std::string(controllers::kHashLabel), hash}});

  auto object = make_ref<ReplicaSet>(interner_.hold());
  object->name = set.name;
  object->uid = deterministic_uid("ReplicaSet", set.namespace_name, set.name);
  object->selector = entry.selector;
  object->symbols = entry.selector_symbols;
  object->namespace_name = object->symbols.intern(set.namespace_name);
  if (object->selector)
    object->selector->match_labels.push_back(
        {object->symbols.intern(controllers::kHashLabel), object->symbols.intern(hash)});
  if (const Result<void> created = cluster_.create_object(Ref<const Object>(object)); !created) {
    trouble_(created.error().message);
    return fail(created.error());
  }
  return entries_.emplace(key_of(set), std::move(entry)).first->second.workload;
}

bool Workloads::scale(const Workload&, const Workload& set, std::int64_t replicas, std::int64_t) {
  Entry* entry = entry_of(set);
  if (entry == nullptr) return false;
  entry->workload.replicas = replicas;
  replica_sets_.enqueue(set.key());
  return true;
}

void Workloads::write_revision(const Workload& deployment, const Workload& set,
                               std::int64_t revision) {
  for (const Workload* object : {&deployment, &set})
    if (Entry* entry = entry_of(*object)) entry->workload.revision = revision;
}

// ---- StatefulSet and DaemonSet

void Workloads::create_claim(const Workload& set, const controllers::ClaimTemplate& made_from,
                             std::string_view name) {
  if (cluster_.object(ObjectKind::kPersistentVolumeClaim, set.namespace_name, name)) return;
  JsonValue claim = parse_json(made_from.json).value_or(JsonValue::object());
  JsonValue metadata =
      claim.find("metadata") != nullptr ? *claim.find("metadata") : JsonValue::object();
  set_member(metadata, "name", JsonValue::of_text(name));
  set_member(metadata, "namespace", JsonValue::of_text(set.namespace_name));
  set_member(claim, "metadata", std::move(metadata));
  const Admission admission = cluster_.admission();
  const Result<AnyObject> made = decode_object(ObjectKind::kPersistentVolumeClaim, to_json(claim),
                                               interner_, &admission, name);
  if (!made) return static_cast<void>(refuse(set, made.error().message));
  static_cast<void>(cluster_.create_object(*made));
}

std::vector<std::string> Workloads::daemon_nodes(const Workload& set) {
  const Entry* entry = entry_of(set);
  if (entry == nullptr) return {};
  std::vector<Ref<const Node>> nodes;
  for (const Ref<const Object>& object : cluster_.objects(ObjectKind::kNode))
    nodes.emplace_back(static_cast<const Node*>(object.get()));
  return controllers::daemon_nodes(entry->pod_template.spec, nodes, *interner_.symbols());
}

// ---- what controllers remember

void Workloads::write_status(const Workload& set, const controllers::ReplicaSetStatus& status) {
  Entry* entry = entry_of(set);
  if (entry == nullptr) return;
  controllers::WorkloadStatus& kept = entry->workload.status;
  const bool changed = kept.replicas != status.counts.active || kept.ready != status.counts.ready ||
                       kept.available != status.counts.available;
  kept.replicas = status.counts.active;
  kept.ready = status.counts.ready;
  kept.available = status.counts.available;
  if (changed && !entry->deployment.empty()) deployments_.enqueue(entry->deployment);
}

void Workloads::write_status(const Workload& deployment,
                             const controllers::DeploymentStatus& status) {
  Entry* entry = entry_of(deployment);
  if (entry == nullptr) return;
  controllers::WorkloadStatus& kept = entry->workload.status;
  kept.replicas = status.replicas;
  kept.updated = status.updated;
  kept.ready = status.ready;
  kept.available = status.available;
  if (!status.progressing) return;
  if (kept.progress_reason != status.progressing->reason || status.progressing->is_news)
    kept.progress_time = loop_.wall_now();
  kept.progress_reason = status.progressing->reason;
}

void Workloads::write_status(const Workload& set, const controllers::StatefulSetStatus& status) {
  if (Entry* entry = entry_of(set))
    entry->workload.status.current_revision = status.current_revision;
}

void Workloads::write_status(const Workload& job, const controllers::JobStatus& status) {
  Entry* entry = entry_of(job);
  if (entry == nullptr) return;
  controllers::WorkloadStatus& kept = entry->workload.status;
  kept.succeeded = status.succeeded;
  kept.failed = status.failed;
  kept.completed_indexes = status.completed_indexes;
  kept.failed_indexes = status.failed_indexes;
  kept.suspended = job.job.suspended;
  if (job.job.suspended)
    kept.start_time.reset();
  else if (!kept.start_time)
    kept.start_time = loop_.wall_now();
  if (!status.finished) return;
  kept.finished = true;
  kept.finish_time = loop_.wall_now();
}

}  // namespace berth::sim
