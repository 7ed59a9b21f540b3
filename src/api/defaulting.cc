#include "api/defaulting.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "api/coscheduling.h"
#include "api/devices.h"
#include "api/names.h"
#include "api/storage.h"
#include "berth/node.h"

namespace berth {
namespace {

constexpr std::int64_t kDefaultTolerationSeconds = 300;

struct BuiltInClass {
  std::string_view name;
  std::int32_t value;
};
constexpr BuiltInClass kBuiltInClasses[] = {
    {"system-cluster-critical", 2'000'000'000},
    {"system-node-critical", 2'000'001'000},
};

// ---- resources ----------------------------------------------------------------------------------

// An API server keeps thousandths and rounds up what is finer.
void round_up_to_milli(ResourceList& list) {
  std::vector<ResourceAmount> rounded;
  for (const auto& [name, amount] : list) {
    const Quantity up = Quantity::of_milli(amount.milli_value());
    Quantity difference = up;
    difference -= amount;
    // Amounts so large that milli_value() wraps are whole anyway.
    if (difference.sign() > 0 && difference < Quantity::of_milli(1)) rounded.push_back({name, up});
  }
  for (ResourceAmount& amount : rounded) list.set(amount.name, std::move(amount.amount));
}

bool is_huge_pages(Symbol name, const SymbolHold& symbols) {
  return symbols.text(name).starts_with("hugepages-");
}

bool counts_for_whole_pod(Symbol name, const SymbolHold& symbols) {
  return name == names::kCpu || name == names::kMemory || is_huge_pages(name, symbols);
}

// What all containers take together, by the rules of requests: sidecars stay, other init containers
// run one after the other.
ResourceList aggregate(const PodSpec& spec, ResourceList Container::* list) {
  ResourceList total;
  for (const Container& container : spec.containers) total.add(container.*list);
  ResourceList sidecars;
  ResourceList peak;
  for (const Container& container : spec.init_containers) {
    ResourceList step = container.*list;
    step.add(sidecars);
    if (container.restart_always) {
      total.add(container.*list);
      sidecars = step;
    }
    peak.raise_to(step);
  }
  total.raise_to(peak);
  return total;
}

void default_pod_level(PodSpec& spec) {
  const bool nothing = (!spec.pod_requests || spec.pod_requests->empty()) &&
                       (!spec.pod_limits || spec.pod_limits->empty());
  if (nothing) return;

  ResourceList limits = spec.pod_limits.value_or(ResourceList());
  ResourceList requests = spec.pod_requests.value_or(ResourceList());
  for (const auto& [name, amount] : aggregate(spec, &Container::limits)) {
    if (is_huge_pages(name, spec.symbols) && !requests.find(name) && !limits.find(name))
      limits.set(name, amount);
  }
  if (limits.empty()) return;
  for (const auto& [name, amount] : aggregate(spec, &Container::requests)) {
    if ((name == names::kCpu || name == names::kMemory) && !requests.find(name))
      requests.set(name, amount);
  }
  for (const auto& [name, amount] : limits) {
    if (counts_for_whole_pod(name, spec.symbols) && !requests.find(name))
      requests.set(name, amount);
  }
  spec.pod_limits = std::move(limits);
  if (!requests.empty()) spec.pod_requests = std::move(requests);
}

void default_container(Container& container, bool host_network) {
  round_up_to_milli(container.limits);
  round_up_to_milli(container.requests);
  container.requests.fill_from(container.limits);
  if (!host_network) return;
  for (ContainerPort& port : container.ports)
    if (port.host_port == 0) port.host_port = port.container_port;
}

// ---- selectors ----------------------------------------------------------------------------------

void add_label_keys(LabelSelector& selector, const std::vector<Symbol>& keys, SelectorOperator op,
                    const LabelSet& labels, SymbolHold& symbols) {
  for (const Symbol key : keys) {
    const Symbol* value = labels.find(key);
    if (value == nullptr) continue;
    SelectorRequirement requirement;
    requirement.key = key;
    requirement.op = op;
    requirement.values = {*value};
    // A dump of a cluster has it already.
    if (std::ranges::find(selector.match_expressions, requirement) !=
        selector.match_expressions.end())
      continue;
    symbols.retain(*value);  // until now the labels held it
    selector.match_expressions.push_back(std::move(requirement));
  }
}

void merge_label_keys(PodAffinityTerm& term, const LabelSet& labels, SymbolHold& symbols) {
  if (!term.label_selector) return;
  add_label_keys(*term.label_selector, term.match_label_keys, SelectorOperator::kIn, labels,
                 symbols);
  add_label_keys(*term.label_selector, term.mismatch_label_keys, SelectorOperator::kNotIn, labels,
                 symbols);
}

void merge_label_keys(std::optional<PodAffinity>& affinity, const LabelSet& labels,
                      SymbolHold& symbols) {
  if (!affinity) return;
  for (PodAffinityTerm& term : affinity->required) merge_label_keys(term, labels, symbols);
  for (WeightedPodAffinityTerm& weighted : affinity->preferred)
    merge_label_keys(weighted.term, labels, symbols);
}

bool has_label_keys(const Affinity& affinity) {
  const auto term_has = [](const PodAffinityTerm& term) {
    return !term.match_label_keys.empty() || !term.mismatch_label_keys.empty();
  };
  for (const auto* side : {&affinity.pod, &affinity.pod_anti}) {
    if (!*side) continue;
    if (std::ranges::any_of((*side)->required, term_has)) return true;
    if (std::ranges::any_of((*side)->preferred, term_has, &WeightedPodAffinityTerm::term))
      return true;
  }
  return false;
}

// ---- the pod as a whole -------------------------------------------------------------------------

// A gated pod says so from the moment it exists.
void add_gated_condition(WrittenPod& pod, WallTime now) {
  if (pod.spec.scheduling_gates.empty() || pod.own.scheduled_condition) return;
  if (!pod.own.extra) {
    pod.own.extra = std::make_unique<PodExtra>(SymbolHold(pod.spec.symbols.table()));
  }
  auto& conditions = pod.own.extra->conditions;
  if (std::ranges::find(conditions, "PodScheduled", &PodCondition::type) != conditions.end())
    return;
  PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = "SchedulingGated";
  condition.message = "Scheduling is blocked due to non-empty scheduling gates";
  condition.last_transition_time = now;
  conditions.push_back(std::move(condition));
}

// Of several classes that are the default, the lowest; null if none is.
const PriorityClass* global_default(const Admission& admission) {
  const PriorityClass* chosen = nullptr;
  for (const auto& [class_name, priority_class] : admission.priority_classes)
    if (priority_class->global_default && (!chosen || priority_class->value < chosen->value))
      chosen = priority_class.get();
  return chosen;
}

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// ---- objects that were decoded without admission -------------------------------------------------

template <typename Kind>
Ref<Object> copied_as(const Object& object) {
  const auto* same = dynamic_cast<const Kind*>(&object);
  return same ? Ref<Object>(make_ref<Kind>(*same)) : nullptr;
}

// Null for a kind that scheduling does not read.
template <typename... Kinds>
Ref<Object> copied_as_one_of(const Object& object) {
  Ref<Object> copy;
  static_cast<void>(((copy = copied_as<Kinds>(object)) || ...));
  return copy;
}

Result<AnyObject> admit_pod(const Pod& pod, Interner& interner, const Admission& admission) {
  WrittenPod written(interner);
  written.meta = pod.meta();
  written.spec = pod.spec();
  written.own = draft_of(pod);
  written.priority_given = pod.priority() != 0;
  written.preemption_policy_given = pod.spec().preemption_policy == PreemptionPolicy::kNever;
  if (Result<void> admitted = admit(written, admission); !admitted)
    return fail(admitted.error().kind,
                fmt::format("Pod {}: {}", pod.full_name(), admitted.error().message));
  return AnyObject(freeze(std::move(written), interner));
}

}  // namespace

void apply_defaults(PodSpec& spec) {
  if (spec.scheduler_name.empty()) spec.scheduler_name = names::kDefaultScheduler;
  for (Container& container : spec.containers) default_container(container, spec.host_network);
  for (Container& container : spec.init_containers) default_container(container, spec.host_network);
  round_up_to_milli(spec.overhead);
  if (spec.pod_requests) round_up_to_milli(*spec.pod_requests);
  if (spec.pod_limits) round_up_to_milli(*spec.pod_limits);
  default_pod_level(spec);
}

void add_default_tolerations(PodSpec& spec) {
  for (const Symbol taint : {names::kNotReadyTaint, names::kUnreachableTaint}) {
    const bool said = std::ranges::any_of(spec.tolerations, [&](const Toleration& toleration) {
      return (toleration.key == taint || toleration.key.empty()) &&
             (toleration.effect == TaintEffect::kNoExecute ||
              toleration.effect == TaintEffect::kAny);
    });
    if (said) continue;
    Toleration toleration;
    toleration.key = taint;
    toleration.op = TolerationOperator::kExists;
    toleration.effect = TaintEffect::kNoExecute;
    toleration.toleration_seconds = kDefaultTolerationSeconds;
    spec.tolerations.push_back(toleration);
  }
}

Result<void> resolve_priority(PodTemplate& pod, const Admission& admission) {
  PodSpec& spec = pod.spec;
  const std::string name(spec.symbols.text(spec.priority_class_name));
  const PriorityClass* chosen = nullptr;
  if (const auto found = admission.priority_classes.find(name);
      found != admission.priority_classes.end())
    chosen = found->second.get();

  if (name.empty() && !pod.priority_given) {
    chosen = global_default(admission);
    if (chosen) spec.priority_class_name = spec.symbols.intern(chosen->name);
  }
  if (chosen) {
    if (!pod.priority_given) spec.priority = chosen->value;
    if (!pod.preemption_policy_given && chosen->preempt_never)
      spec.preemption_policy = PreemptionPolicy::kNever;
    return {};
  }
  if (name.empty() || pod.priority_given) return {};
  for (const BuiltInClass& built_in : kBuiltInClasses) {
    if (built_in.name != name) continue;
    spec.priority = built_in.value;
    return {};
  }
  return fail(ErrorKind::kForbidden, fmt::format("no PriorityClass with name {} was found", name));
}

void resolve_priority(PodGroup& group, const Admission& admission) {
  if (group.priority) return;
  const std::string name(group.symbols.text(group.priority_class_name));
  const PriorityClass* chosen = nullptr;
  if (const auto found = admission.priority_classes.find(name);
      found != admission.priority_classes.end())
    chosen = found->second.get();
  if (name.empty()) chosen = global_default(admission);
  if (chosen) {
    group.priority_class_name = group.symbols.intern(chosen->name);
    group.priority = chosen->value;
    return;
  }
  for (const BuiltInClass& built_in : kBuiltInClasses)
    if (built_in.name == name) group.priority = built_in.value;
}

void merge_match_label_keys(PodSpec& spec, const LabelSet& labels) {
  for (TopologySpreadConstraint& constraint : spec.topology_spread_constraints) {
    if (!constraint.label_selector) continue;
    add_label_keys(*constraint.label_selector, constraint.match_label_keys, SelectorOperator::kIn,
                   labels, spec.symbols);
  }
  if (!spec.affinity || !has_label_keys(*spec.affinity)) return;
  auto affinity = std::make_shared<Affinity>(*spec.affinity);
  merge_label_keys(affinity->pod, labels, spec.symbols);
  merge_label_keys(affinity->pod_anti, labels, spec.symbols);
  spec.affinity = std::move(affinity);
}

std::string deterministic_uid(std::string_view kind, std::string_view namespace_name,
                              std::string_view name) {
  std::uint64_t high = 0xcbf29ce484222325ULL;
  std::uint64_t low = 0x84222325cbf29ce4ULL;
  const auto add = [&](std::string_view part) {
    for (const char c : part) {
      high = (high ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
      low = mix(low + static_cast<unsigned char>(c) + 1);
    }
    high = (high ^ 0xFF) * 0x100000001b3ULL;
    low = mix(low);
  };
  for (const std::string_view part : {kind, namespace_name, name}) add(part);
  high = mix(high);
  // Version 8: made by a rule of our own.
  return fmt::format("{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xFFFF,
                     high & 0xFFF, (low >> 48 & 0x3FFF) | 0x8000, low & 0xFFFFFFFFFFFFULL);
}

Result<void> admit(WrittenPod& pod, const Admission& admission) {
  apply_defaults(pod.spec);
  if (auto resolved = resolve_priority(pod, admission); !resolved) return resolved;
  add_default_tolerations(pod.spec);
  add_gated_condition(pod, admission.now);
  merge_match_label_keys(pod.spec, pod.meta.labels);
  if (pod.own.uid.empty()) {
    pod.own.uid =
        deterministic_uid("Pod", pod.meta.symbols.text(pod.meta.namespace_name), pod.own.name);
  }
  if (pod.own.resource_version.empty())
    pod.own.resource_version = fmt::format("{}", admission.resource_version);
  if (pod.own.generation == 0) pod.own.generation = 1;
  if (!pod.own.creation_time) pod.own.creation_time = admission.now;
  return {};
}

void admit(Object& object, const Admission& admission) {
  if (object.uid.empty()) {
    object.uid = deterministic_uid(to_string(object.kind),
                                   object.symbols.text(object.namespace_name), object.name);
  }
  if (object.resource_version.empty())
    object.resource_version = fmt::format("{}", admission.resource_version);
  if (object.generation == 0) object.generation = 1;

  if (object.kind == ObjectKind::kNode) {
    Node& node = static_cast<Node&>(object);
    round_up_to_milli(node.capacity);
    round_up_to_milli(node.allocatable);
    if (node.allocatable.empty()) node.allocatable = node.capacity;
  } else if (object.kind == ObjectKind::kNamespace) {
    Namespace& space = static_cast<Namespace&>(object);
    std::vector<Label> labels(space.labels.begin(), space.labels.end());
    const Symbol key = space.symbols.intern("kubernetes.io/metadata.name");
    labels.push_back({key, space.symbols.intern(space.name)});
    space.labels = LabelSet(std::move(labels));
  } else if (object.kind == ObjectKind::kStorageClass) {
    StorageClass& storage_class = static_cast<StorageClass&>(object);
    if (!storage_class.binding_mode)
      storage_class.binding_mode = StorageClass::BindingMode::kImmediate;
  } else if (object.kind == ObjectKind::kPodGroup) {
    resolve_priority(static_cast<PodGroup&>(object), admission);
  } else if (object.kind == ObjectKind::kResourceClaim) {
    ResourceClaim& claim = static_cast<ResourceClaim&>(object);
    apply_defaults(claim.spec, claim.symbols);
    if (!claim.creation_time) claim.creation_time = admission.now;
  } else if (object.kind == ObjectKind::kResourceClaimTemplate) {
    apply_defaults(static_cast<ResourceClaimTemplate&>(object).spec, object.symbols);
  } else if (object.kind == ObjectKind::kDeviceClass) {
    DeviceClass& device_class = static_cast<DeviceClass&>(object);
    if (!device_class.creation_time) device_class.creation_time = admission.now;
  } else if (object.kind == ObjectKind::kCoschedulingPodGroup) {
    // In whole seconds, as it is read from an API server: groups are ordered by it.
    CoschedulingPodGroup& group = static_cast<CoschedulingPodGroup&>(object);
    const auto second = std::chrono::floor<std::chrono::seconds>(admission.now.since_epoch);
    if (!group.creation_time) group.creation_time = WallTime{second};
  }
}

void set_derived_fields(Object& object) {
  if (object.kind == ObjectKind::kNode) {
    Node& node = static_cast<Node&>(object);
    node.symbol = node.symbols.intern(node.name);
    node.allocatable_resources = to_resources(node.allocatable, *node.symbols.table());
  }
  object.symbols.shrink_to_fit();
}

Result<AnyObject> admit(AnyObject any, Interner& interner, const Admission& admission) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&any)) {
    const bool stored = !(*pod)->uid().empty() && !(*pod)->resource_version().empty();
    return stored ? Result<AnyObject>(std::move(any)) : admit_pod(**pod, interner, admission);
  }
  const auto* object = std::get_if<Ref<const Object>>(&any);
  if (!object) return fail(ErrorKind::kInvalid, "there is no object");
  const bool stored = !(*object)->uid.empty() && !(*object)->resource_version.empty();
  if (stored && (*object)->kind != ObjectKind::kNode) return any;
  Ref<Object> copy =
      copied_as_one_of<Node, Namespace, Service, ReplicationController, ReplicaSet, StatefulSet,
                       PriorityClass, PodDisruptionBudget, PersistentVolume, PersistentVolumeClaim,
                       StorageClass, CSINode, CSIDriver, CSIStorageCapacity, VolumeAttachment,
                       ResourceClaim, ResourceClaimTemplate, ResourceSlice, DeviceClass, PodGroup,
                       CoschedulingPodGroup>(**object);
  if (!copy)
    return fail(ErrorKind::kInvalid, fmt::format("{} {} is not read by scheduling",
                                                 to_string((*object)->kind), (*object)->name));
  if (!stored) admit(*copy, admission);
  set_derived_fields(*copy);
  return AnyObject(Ref<const Object>(std::move(copy)));
}

}  // namespace berth
