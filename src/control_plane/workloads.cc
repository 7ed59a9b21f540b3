#include "control_plane/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/written_pod.h"
#include "control_plane/lean.h"
#include "controllers/daemon_set.h"

namespace berth::control_plane {
namespace {

using controllers::kHashLabel;
using controllers::PodParts;
using controllers::Workload;

constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";
constexpr std::string_view kChangeCause = "kubernetes.io/change-cause";

std::string_view component_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kDeployment: return "deployment-controller";
    case ObjectKind::kStatefulSet: return "statefulset-controller";
    case ObjectKind::kDaemonSet: return "daemonset-controller";
    case ObjectKind::kJob: return "job-controller";
    case ObjectKind::kReplicationController: return "replication-controller";
    default: return "replicaset-controller";
  }
}

// Parity: annotations of a Deployment go to its sets, but for these.
bool is_own_annotation(std::string_view name) {
  return name == "kubectl.kubernetes.io/last-applied-configuration" || name == kRevision ||
         name == "deployment.kubernetes.io/revision-history" || name == kDesiredReplicas ||
         name == kMaxReplicas;
}

// A template's hash without what its ReplicaSet adds.
std::string hash_of_template(std::string_view template_json) {
  JsonValue bare = parse_json(template_json).value_or(JsonValue::object());
  JsonValue* labels = at(bare, "metadata.labels");
  if (is_object(labels)) erase(*labels, kHashLabel);
  if (JsonValue* metadata = at(bare, "metadata")) erase(*metadata, "creationTimestamp");
  normalize(bare);
  return controllers::template_hash(to_json(bare));
}

std::optional<Workload> lean_workload(ObjectKind kind, const StoredObject& object) {
  Result<Workload> workload = controllers::read_workload(kind, object.json);
  if (!workload) return std::nullopt;
  if (kind != ObjectKind::kJob && kind != ObjectKind::kReplicationController)
    workload->template_hash = hash_of_template(workload->template_json);
  return std::move(*workload);
}

JsonValue reference_to(const Workload& owner) {
  StoredObject named;
  named.name = owner.name;
  named.uid = owner.uid;
  return controller_reference(resource_of_kind(owner.kind), named);
}

const char* name_of_effect(TaintEffect effect) {
  return effect == TaintEffect::kNoExecute ? "NoExecute" : "NoSchedule";
}

void add_daemon_tolerations(JsonValue& spec) {
  for (const auto& [key, effect] : controllers::daemon_tolerations(true_at(spec, "hostNetwork"))) {
    JsonValue toleration = JsonValue::object();
    set_text(toleration, "key", key);
    set_text(toleration, "operator", "Exists");
    set_text(toleration, "effect", name_of_effect(effect));
    array_at(spec, "tolerations").items.push_back(std::move(toleration));
  }
}

// One node only, said in every term of the affinity that there is.
void pin_to_node(JsonValue& spec, std::string_view node) {
  JsonValue here = JsonValue::object();
  set_text(here, "key", "metadata.name");
  set_text(here, "operator", "In");
  array_at(here, "values").items.push_back(JsonValue::of_text(node));
  JsonValue fields = JsonValue::array();
  fields.items.push_back(std::move(here));
  JsonValue& terms = array_at(
      spec,
      "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
  if (terms.items.empty()) terms.items.push_back(JsonValue::object());
  for (JsonValue& term : terms.items)
    if (is_object(&term)) set(term, "matchFields", fields);
}

void mount_claim(JsonValue& spec, const std::string& volume, const std::string& claim) {
  JsonValue& volumes = array_at(spec, "volumes");
  std::erase_if(volumes.items,
                [&](const JsonValue& one) { return text_at(one, "name") == volume; });
  JsonValue mounted = JsonValue::object();
  set_text(mounted, "name", volume);
  set_text(object_at(mounted, "persistentVolumeClaim"), "claimName", claim);
  volumes.items.push_back(std::move(mounted));
}

// A pod as the owner's template and `parts` say.
JsonValue pod_from_template(const Workload& owner, const PodParts& parts) {
  const JsonValue made_from = parse_json(owner.template_json).value_or(JsonValue::object());
  JsonValue pod = JsonValue::object();
  JsonValue& metadata = object_at(pod, "metadata");
  set_text(metadata, "namespace", owner.namespace_name);
  if (const JsonValue* said = at(made_from, "metadata"); is_object(said))
    for (const std::string_view name : {"labels", "annotations", "finalizers"})
      copy_member(metadata, *said, name);
  if (parts.name.empty())
    set_text(metadata, "generateName", parts.prefix);
  else
    set_text(metadata, "name", parts.name);
  for (const auto& [key, value] : parts.labels) set_text(object_at(metadata, "labels"), key, value);
  for (const auto& [key, value] : parts.annotations)
    set_text(object_at(metadata, "annotations"), key, value);
  array_at(metadata, "ownerReferences").items.push_back(reference_to(owner));
  const JsonValue* said = at(made_from, "spec");
  set(pod, "spec", said != nullptr ? *said : JsonValue::object());
  JsonValue& spec = object_at(pod, "spec");
  if (!parts.hostname.empty()) set_text(spec, "hostname", parts.hostname);
  for (const auto& [volume, claim] : parts.claims) mount_claim(spec, volume, claim);
  if (!parts.node.empty()) {
    add_daemon_tolerations(spec);
    pin_to_node(spec, parts.node);
  }
  return pod;
}

}  // namespace

const Resource& resource_of_kind(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kDeployment: return resource_of("deployments", "apps");
    case ObjectKind::kStatefulSet: return resource_of("statefulsets", "apps");
    case ObjectKind::kDaemonSet: return resource_of("daemonsets", "apps");
    case ObjectKind::kJob: return resource_of("jobs", "batch");
    case ObjectKind::kReplicationController: return resource_of("replicationcontrollers");
    default: return resource_of("replicasets", "apps");
  }
}

std::vector<LabelRequirement> selector_of(const JsonValue& owner_tree) {
  const JsonValue* selector = at(owner_tree, "spec.selector");
  if (!is_object(selector)) return {};
  const bool plain =
      selector->find("matchLabels") == nullptr && selector->find("matchExpressions") == nullptr;
  if (!plain) return label_selector_of(*selector).value_or(std::vector<LabelRequirement>());
  std::vector<LabelRequirement> wanted;
  for (const JsonMember& label : selector->members)
    wanted.push_back({label.name, LabelRequirement::Op::kIn, {label.value.text}});
  return wanted;
}

bool matches_all(const std::vector<LabelRequirement>& selector, const LabelPairs& labels) {
  return std::ranges::all_of(
      selector, [&](const LabelRequirement& wanted) { return wanted.matches(labels); });
}

// ---- objects

ObjectRef Workloads::stored(const Workload& workload) const {
  return api_.get(resource_of_kind(workload.kind), workload.namespace_name, workload.name);
}

std::optional<Workload> Workloads::find(ObjectKind kind, std::string_view namespace_name,
                                        std::string_view name) const {
  const ObjectRef object = api_.get(resource_of_kind(kind), namespace_name, name);
  return object ? lean_workload(kind, *object) : std::nullopt;
}

void Workloads::remove(const Workload& object) {
  const bool waits = object.kind == ObjectKind::kJob;  // for its pods
  static_cast<void>(
      api_.remove(resource_of_kind(object.kind), object.namespace_name, object.name,
                  {.uid = object.uid,
                   .propagation = waits ? Propagation::kForeground : Propagation::kDefault}));
}

void Workloads::record(const Workload& object, controllers::EventType type, std::string_view reason,
                       const std::string& message) {
  if (const ObjectRef about = stored(object))
    record_event(api_, resource_of_kind(object.kind), *about,
                 type == controllers::EventType::kNormal ? "Normal" : "Warning", reason, message,
                 component_of(object.kind));
}

// ---- pods

Result<std::string> Workloads::create_pod(const Workload& owner, const PodParts& parts) {
  JsonValue pod = pod_from_template(owner, parts);
  if (owner.kind == ObjectKind::kStatefulSet) {
    const ObjectRef set = stored(owner);
    const JsonValue tree = set ? set->tree() : JsonValue::object();
    if (const std::string_view service = text_at(tree, "spec.serviceName"); !service.empty())
      set_text(object_at(pod, "spec"), "subdomain", service);
  }
  const Answer<ObjectRef> created = api_.create(resource_of("pods"), std::move(pod));
  if (!created) return fail(ErrorKind::kInvalid, created.error().message);
  return (*created)->name;
}

bool Workloads::delete_pod(const PodFacts& pod) {
  return api_.remove(resource_of("pods"), pod.namespace_name, pod.name, {.uid = pod.uid})
      .has_value();
}

void Workloads::adopt_pods(const Workload& owner) {
  const ObjectRef object = stored(owner);
  if (!object) return;
  const std::vector<LabelRequirement> selector = selector_of(object->tree());
  if (selector.empty()) return;
  bool changed = false;
  const auto edit_pod = [&](const PodFacts& pod, const LocalClient::Edit& edit) {
    changed = true;
    static_cast<void>(api_.update(resource_of("pods"), pod.namespace_name, pod.name, edit));
  };
  for (const PodFacts* pod : pods_.without_controller(owner.namespace_name)) {
    if (!pod->active() || !matches_all(selector, pod->labels)) continue;
    edit_pod(*pod, [&](JsonValue& tree) -> Answer<void> {
      if (controller_of(tree) == nullptr && !is_terminating(tree))
        array_at(tree, "metadata.ownerReferences").items.push_back(reference_to(owner));
      return {};
    });
  }
  for (const PodFacts* pod : pods_.of_controller(owner.uid)) {
    if (pod->terminating || matches_all(selector, pod->labels)) continue;
    edit_pod(*pod, [&](JsonValue& tree) -> Answer<void> {
      JsonValue& owners = array_at(tree, "metadata.ownerReferences");
      std::erase_if(owners.items,
                    [&](const JsonValue& one) { return text_at(one, "uid") == owner.uid; });
      if (owners.items.empty()) erase(object_at(tree, "metadata"), "ownerReferences");
      return {};
    });
  }
  if (changed) pods_.catch_up();
}

// ---- Deployment

std::vector<Workload> Workloads::replica_sets_of(const Workload& deployment) {
  const Resource& resource = resource_of_kind(ObjectKind::kReplicaSet);
  const ObjectRef object = stored(deployment);
  const std::vector<LabelRequirement> selector =
      object ? selector_of(object->tree()) : std::vector<LabelRequirement>();
  std::vector<Workload> sets;
  for (ObjectRef set : api_.list(resource, deployment.namespace_name)) {
    const bool fits = !selector.empty() && matches_all(selector, set->labels);
    if (!fits && !set->json.contains(deployment.uid)) continue;  // not worth parsing
    JsonValue tree = set->tree();
    if (fits && controller_of(tree) == nullptr && !is_terminating(tree)) {
      const auto adopt = [&](JsonValue& changed) -> Answer<void> {
        if (controller_of(changed) == nullptr)
          array_at(changed, "metadata.ownerReferences").items.push_back(reference_to(deployment));
        return {};
      };
      const Answer<ObjectRef> adopted =
          api_.update(resource, set->namespace_name, set->name, adopt);
      if (!adopted) continue;
      set = *adopted;
      tree = set->tree();
    }
    const JsonValue* owner = controller_of(tree);
    if (owner == nullptr || text_at(*owner, "uid") != deployment.uid) continue;
    if (std::optional<Workload> found = lean_workload(ObjectKind::kReplicaSet, *set))
      sets.push_back(std::move(*found));
  }
  std::ranges::sort(sets, {}, [](const Workload& set) {
    return std::pair(set.revision, std::string_view(set.name));
  });
  return sets;
}

Result<Workload> Workloads::create_replica_set(const Workload& deployment) {
  const ObjectRef object = stored(deployment);
  if (!object) return fail(ErrorKind::kNotFound, "the Deployment is gone");
  const JsonValue tree = object->tree();
  JsonValue made = JsonValue::object();
  JsonValue& metadata = object_at(made, "metadata");
  set_text(metadata, "name", fmt::format("{}-{}", deployment.name, deployment.template_hash));
  set_text(metadata, "namespace", deployment.namespace_name);
  if (const JsonValue* annotations = at(tree, "metadata.annotations"); is_object(annotations)) {
    for (const JsonMember& annotation : annotations->members)
      if (!is_own_annotation(annotation.name))
        set(object_at(metadata, "annotations"), annotation.name, annotation.value);
  }
  array_at(metadata, "ownerReferences").items.push_back(reference_to(deployment));
  JsonValue& spec = object_at(made, "spec");
  for (const char* member : {"selector", "template", "minReadySeconds"})
    copy_member(spec, *at(tree, "spec"), member);
  set_text(object_at(spec, "selector.matchLabels"), kHashLabel, deployment.template_hash);
  set_text(object_at(spec, "template.metadata.labels"), kHashLabel, deployment.template_hash);
  const JsonValue labels = *at(spec, "template.metadata.labels");
  set(spec, "replicas", JsonValue::of_int(0));
  set(object_at(made, "metadata"), "labels", labels);
  const Answer<ObjectRef> created =
      api_.create(resource_of_kind(ObjectKind::kReplicaSet), std::move(made));
  if (!created) return fail(ErrorKind::kInvalid, created.error().message);
  std::optional<Workload> set = lean_workload(ObjectKind::kReplicaSet, **created);
  if (!set) return fail(ErrorKind::kInvalid, "the ReplicaSet cannot be read");
  return std::move(*set);
}

bool Workloads::scale(const Workload& deployment, const Workload& set, std::int64_t replicas,
                      std::int64_t most) {
  const auto edit = [&](JsonValue& object) -> Answer<void> {
    control_plane::set(object_at(object, "spec"), "replicas", JsonValue::of_int(replicas));
    JsonValue& annotations = object_at(object, "metadata.annotations");
    set_text(annotations, kDesiredReplicas, fmt::format("{}", deployment.replicas));
    set_text(annotations, kMaxReplicas, fmt::format("{}", most));
    return {};
  };
  return api_.update(resource_of_kind(set.kind), set.namespace_name, set.name, edit).has_value();
}

void Workloads::write_revision(const Workload& deployment, const Workload& set,
                               std::int64_t revision) {
  const ObjectRef object = stored(deployment);
  const JsonValue tree = object ? object->tree() : JsonValue::object();
  const JsonValue* said = at(tree, "metadata.annotations");
  const auto annotate = [&](JsonValue& changed) -> Answer<void> {
    set_text(object_at(changed, "metadata.annotations"), kRevision, fmt::format("{}", revision));
    return {};
  };
  const auto annotate_set = [&](JsonValue& changed) -> Answer<void> {
    if (is_object(said) && said->find(kChangeCause) != nullptr)
      copy_member(object_at(changed, "metadata.annotations"), *said, kChangeCause);
    return annotate(changed);
  };
  if (set.revision != revision)
    static_cast<void>(
        api_.update(resource_of_kind(set.kind), set.namespace_name, set.name, annotate_set));
  if (deployment.revision != revision)
    static_cast<void>(api_.update(resource_of_kind(deployment.kind), deployment.namespace_name,
                                  deployment.name, annotate));
}

// ---- StatefulSet and DaemonSet

void Workloads::create_claim(const Workload& set, const controllers::ClaimTemplate& made_from,
                             std::string_view name) {
  const Resource& claims = resource_of("persistentvolumeclaims");
  if (api_.get(claims, set.namespace_name, name)) return;
  JsonValue claim = parse_json(made_from.json).value_or(JsonValue::object());
  for (const char* member : {"kind", "apiVersion", "status"}) erase(claim, member);
  set_text(object_at(claim, "metadata"), "name", name);
  set_text(object_at(claim, "metadata"), "namespace", set.namespace_name);
  static_cast<void>(api_.create(claims, std::move(claim)));
}

std::vector<std::string> Workloads::daemon_nodes(const Workload& set) {
  const Result<PodTemplate> made_from = decode_pod_template(set.template_json, interner_);
  if (!made_from) return {};
  std::vector<Ref<const Node>> nodes;
  for (const ObjectRef& object : api_.list(resource_of("nodes")))
    if (const Ref<const Node> node = lean<Node>(object, interner_)) nodes.push_back(node);
  return controllers::daemon_nodes(made_from->spec, nodes, *interner_.symbols());
}

}  // namespace berth::control_plane
