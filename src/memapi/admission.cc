#include "memapi/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/time_text.h"
#include "berth/resources.h"
#include "memapi/admission_runtime.h"
#include "memapi/json_edit.h"
#include "memapi/service_addresses.h"

namespace berth::memapi {
namespace {

// ---- pods ---------------------------------------------------------------------------------------

std::string_view qos_class(const JsonValue& spec) {
  bool any = false;
  bool guaranteed = true;
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const JsonValue& container : items_at(spec, list)) {
      for (const std::string_view resource : {"cpu", "memory"}) {
        const auto amount = [&](std::string_view kind) -> std::optional<Quantity> {
          const JsonValue* amounts = at(container, kind);
          const JsonValue* found = is_object(amounts) ? amounts->find(resource) : nullptr;
          if (found == nullptr) return std::nullopt;
          const Result<Quantity> parsed = Quantity::parse(found->text);
          if (!parsed || parsed->is_zero()) return std::nullopt;
          return *parsed;
        };
        const auto request = amount("resources.requests");
        const auto limit = amount("resources.limits");
        any = any || request || limit;
        guaranteed = guaranteed && request && limit && *request == *limit;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}

struct ResolvedPriority {
  std::int64_t value = 0;
  std::string policy = "PreemptLowerPriority";
};

// What the class that a pod or a pod group names says, or else that of the default class, whose
// name is then filled in.
Answer<ResolvedPriority> resolve_priority(const Resource& resource, JsonValue& object,
                                          const Store& store) {
  JsonValue& spec = object_at(object, "spec");
  const std::string name(text_at(spec, "priorityClassName"));
  ResolvedPriority resolved;
  const auto take = [&](const JsonValue& found) {
    resolved.value = int_at(found, "value").value_or(0);
    if (const std::string_view said = text_at(found, "preemptionPolicy"); !said.empty())
      resolved.policy = said;
  };
  const Resource& classes = resource_of("priorityclasses", "scheduling.k8s.io");
  if (!name.empty()) {
    const ObjectRef found = store.get(classes, "", name);
    if (!found) {
      return refuse(
          ApiError::forbidden(resource, text_at(object, "metadata.name"),
                              fmt::format("no PriorityClass with name {} was found", name)));
    }
    take(found->tree());
  } else if (const Answer<ListPage> all = store.list(classes, {}, {}); all) {
    // Of several defaults the lowest.
    std::optional<JsonValue> chosen;
    for (const ObjectRef& one : all->items) {
      JsonValue tree = one->tree();
      if (!true_at(tree, "globalDefault")) continue;
      if (!chosen || int_at(tree, "value").value_or(0) < int_at(*chosen, "value").value_or(0))
        chosen = std::move(tree);
    }
    if (chosen) {
      take(*chosen);
      set_text(spec, "priorityClassName", text_at(*chosen, "metadata.name"));
    }
  }
  return resolved;
}

Answer<void> admit_pod_group(const Resource& resource, JsonValue& group, const Store& store) {
  const Answer<ResolvedPriority> resolved = resolve_priority(resource, group, store);
  if (!resolved) return refuse(resolved.error());
  JsonValue& spec = object_at(group, "spec");
  if (const auto given = int_at(spec, "priority"); given && *given != resolved->value) {
    return refuse(ApiError::forbidden(
        resource, text_at(group, "metadata.name"),
        fmt::format("priority set in the pod group ({}) must match the priority computed ({}) "
                    "based on the priority class set in the spec",
                    *given, resolved->value)));
  }
  set(spec, "priority", JsonValue::of_int(resolved->value));
  return {};
}

Answer<void> admit_priority(const Resource& resource, JsonValue& pod, const Store& store) {
  const Answer<ResolvedPriority> resolved = resolve_priority(resource, pod, store);
  if (!resolved) return refuse(resolved.error());
  const auto& [priority, policy] = *resolved;
  JsonValue& spec = object_at(pod, "spec");
  if (const auto given = int_at(spec, "priority"); given && *given != priority) {
    return refuse(ApiError::forbidden(
        resource, text_at(pod, "metadata.name"),
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                    "admission controller computed {} from the given PriorityClass name",
                    *given, priority)));
  }
  if (const std::string_view given = text_at(spec, "preemptionPolicy");
      !given.empty() && given != policy) {
    return refuse(ApiError::forbidden(
        resource, text_at(pod, "metadata.name"),
        fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; "
                    "priority admission controller computed {} from the given PriorityClass name",
                    given, policy)));
  }
  set(spec, "priority", JsonValue::of_int(priority));
  set_text(spec, "preemptionPolicy", policy);
  return {};
}

void add_default_tolerations(JsonValue& spec) {
  for (const std::string_view taint :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    const auto speaks_of_it = [&](const JsonValue& toleration) {
      const std::string_view key = text_at(toleration, "key");
      const std::string_view effect = text_at(toleration, "effect");
      return (key == taint || key.empty()) && (effect == "NoExecute" || effect.empty());
    };
    if (std::ranges::any_of(items_at(spec, "tolerations"), speaks_of_it)) continue;
    JsonValue toleration = JsonValue::object();
    toleration.add("key", JsonValue::of_text(taint));
    toleration.add("operator", JsonValue::of_text("Exists"));
    toleration.add("effect", JsonValue::of_text("NoExecute"));
    toleration.add("tolerationSeconds", JsonValue::of_int(300));
    array_at(spec, "tolerations").items.push_back(std::move(toleration));
  }
}

// matchLabelKeys and the like of one term become requirements of the selector beside them.
void merge_label_keys(JsonValue& term, std::string_view keys, std::string_view op,
                      const LabelPairs& labels) {
  if (!is_object(at(term, "labelSelector"))) return;
  const std::vector<JsonValue> wanted = items_at(term, keys);
  for (const JsonValue& key : wanted) {
    const auto label =
        std::ranges::lower_bound(labels, key.text, {}, &LabelPairs::value_type::first);
    if (label == labels.end() || label->first != key.text) continue;
    JsonValue requirement = JsonValue::object();
    requirement.add("key", key);
    requirement.add("operator", JsonValue::of_text(op));
    JsonValue values = JsonValue::array();
    values.items.push_back(JsonValue::of_text(label->second));
    requirement.add("values", std::move(values));
    array_at(term, "labelSelector.matchExpressions").items.push_back(std::move(requirement));
  }
}

void merge_label_keys(JsonValue& pod) {
  const LabelPairs labels = labels_of(pod);
  const auto merge_affinity_term = [&](JsonValue& term) {
    merge_label_keys(term, "matchLabelKeys", "In", labels);
    merge_label_keys(term, "mismatchLabelKeys", "NotIn", labels);
  };
  if (JsonValue* constraints = at(pod, "spec.topologySpreadConstraints"); is_array(constraints)) {
    for (JsonValue& constraint : constraints->items)
      merge_label_keys(constraint, "matchLabelKeys", "In", labels);
  }
  for (const std::string_view side :
       {"spec.affinity.podAffinity", "spec.affinity.podAntiAffinity"}) {
    JsonValue* affinity = at(pod, side);
    if (!is_object(affinity)) continue;
    JsonValue* required = at(*affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    if (is_array(required)) {
      for (JsonValue& term : required->items) merge_affinity_term(term);
    }
    JsonValue* preferred = at(*affinity, "preferredDuringSchedulingIgnoredDuringExecution");
    if (!is_array(preferred)) continue;
    for (JsonValue& weighted : preferred->items)
      if (JsonValue* term = at(weighted, "podAffinityTerm")) merge_affinity_term(*term);
  }
}

Answer<void> admit_pod(const Resource& resource, JsonValue& pod, const Store& store,
                       const AdmissionPlugins& plugins, WallTime now) {
  JsonValue status = JsonValue::object();
  status.add("phase", JsonValue::of_text("Pending"));
  status.add("qosClass", JsonValue::of_text(qos_class(object_at(pod, "spec"))));
  if (!items_at(pod, "spec.schedulingGates").empty()) {
    set_condition(status, "PodScheduled", "False", "SchedulingGated",
                  "Scheduling is blocked due to non-empty scheduling gates", now);
  }
  set(pod, "status", std::move(status));
  merge_label_keys(pod);
  if (plugins.priority) {
    if (auto done = admit_priority(resource, pod, store); !done) return done;
  }
  if (plugins.runtime_class) {
    if (auto done = admit_runtime_class(resource, pod, store); !done) return done;
  }
  if (plugins.limit_ranger) {
    if (auto done = admit_pod_limits(resource, pod, store); !done) return done;
    set_text(object_at(pod, "status"), "qosClass", qos_class(object_at(pod, "spec")));
  }
  if (plugins.default_toleration_seconds) add_default_tolerations(object_at(pod, "spec"));
  return {};
}

// ---- other kinds --------------------------------------------------------------------------------

void admit_node(JsonValue& node, const AdmissionPlugins& plugins) {
  if (!plugins.taint_nodes_by_condition) return;
  const auto ready = [](const JsonValue& condition) {
    return text_at(condition, "type") == "Ready" && text_at(condition, "status") == "True";
  };
  if (std::ranges::any_of(items_at(node, "status.conditions"), ready)) return;
  const auto same = [](const JsonValue& taint) {
    return text_at(taint, "key") == "node.kubernetes.io/not-ready" &&
           text_at(taint, "effect") == "NoSchedule";
  };
  JsonValue& taints = array_at(node, "spec.taints");
  if (std::ranges::any_of(taints.items, same)) return;
  JsonValue taint = JsonValue::object();
  taint.add("key", JsonValue::of_text("node.kubernetes.io/not-ready"));
  taint.add("effect", JsonValue::of_text("NoSchedule"));
  taints.items.push_back(std::move(taint));
}

void admit_namespace(JsonValue& object) {
  const std::string name(text_at(object, "metadata.name"));
  set_text(object_at(object, "metadata.labels"), "kubernetes.io/metadata.name", name);
  JsonValue& finalizers = array_at(object, "spec.finalizers");
  if (finalizers.items.empty()) finalizers.items.push_back(JsonValue::of_text("kubernetes"));
  JsonValue status = JsonValue::object();
  status.add("phase", JsonValue::of_text("Active"));
  set(object, "status", std::move(status));
}

}  // namespace

void count_templates(JsonValue& daemon_set, const JsonValue* old) {
  constexpr std::string_view kGeneration = "deprecated.daemonset.template.generation";
  std::int64_t generation = 1;
  if (old != nullptr) {
    const JsonValue* annotations = at(*old, "metadata.annotations");
    const JsonValue* before = is_object(annotations) ? annotations->find(kGeneration) : nullptr;
    if (before != nullptr)
      std::from_chars(before->text.data(), before->text.data() + before->text.size(), generation);
    if (!equal(at(daemon_set, "spec.template"), at(*old, "spec.template"))) ++generation;
  }
  set_text(object_at(daemon_set, "metadata.annotations"), kGeneration, std::to_string(generation));
}

namespace {

// A job's selector is its UID, which its pods have as a label, unless it manages its own.
void select_own_pods(JsonValue& job) {
  const std::string name(text_at(job, "metadata.name"));
  const std::string uid(text_at(job, "metadata.uid"));
  if (true_at(job, "spec.manualSelector")) return;
  // Parity: a job that has its labels from its template has those that are added here, too.
  const JsonValue* own = at(job, "metadata.labels");
  const bool shared = own != nullptr && equal(own, at(job, "spec.template.metadata.labels"));
  JsonValue& labels = object_at(job, "spec.template.metadata.labels");
  for (const auto& [label, value] : {std::pair{"controller-uid", &uid},
                                     {"batch.kubernetes.io/controller-uid", &uid},
                                     {"job-name", &name},
                                     {"batch.kubernetes.io/job-name", &name}})
    set_default(labels, label, JsonValue::of_text(*value));
  JsonValue copy = labels;  // what follows may move it
  if (shared) set(object_at(job, "metadata"), "labels", std::move(copy));
  set_default(object_at(job, "spec.selector.matchLabels"), "batch.kubernetes.io/controller-uid",
              JsonValue::of_text(uid));
}

}  // namespace

void set_condition(JsonValue& status, std::string_view type, std::string_view value,
                   std::string_view reason, std::string_view message, WallTime now) {
  JsonValue& conditions = array_at(status, "conditions");
  auto found = std::ranges::find_if(conditions.items, [&](const JsonValue& condition) {
    return text_at(condition, "type") == type;
  });
  if (found == conditions.items.end()) {
    conditions.items.push_back(JsonValue::object());
    found = conditions.items.end() - 1;
    set_text(*found, "type", type);
  }
  if (text_at(*found, "status") != value) {
    set_text(*found, "status", value);
    set_text(*found, "lastTransitionTime", rfc3339(now));
  }
  for (const auto& [name, said] : {std::pair{"reason", reason}, std::pair{"message", message}}) {
    if (said.empty()) {
      erase(*found, name);
    } else {
      set_text(*found, name, said);
    }
  }
}

void begin_status(const Resource& resource, JsonValue& object, WallTime now) {
  const std::string_view plural = resource.plural;
  if (resource.custom != nullptr) return;  // admit_new() drops it
  if (!resource.has("status") || plural == "nodes" || plural == "volumeattachments") return;
  JsonValue status = JsonValue::object();
  if (plural == "persistentvolumes")
    status.add("lastPhaseTransitionTime", JsonValue::of_text(rfc3339(now)));
  set(object, "status", std::move(status));
}

Answer<void> admit_new(const Resource& resource, JsonValue& object, const Store& store,
                       const AdmissionPlugins& plugins, WallTime now) {
  if (resource.custom != nullptr) {
    if (resource.has("status")) erase(object, "status");
    return {};
  }
  const std::string_view plural = resource.plural;
  if (plural == "pods") return admit_pod(resource, object, store, plugins, now);
  if (plural == "nodes") {
    admit_node(object, plugins);
  } else if (plural == "namespaces") {
    admit_namespace(object);
  }
  if (plural == "persistentvolumeclaims" && plugins.limit_ranger) {
    if (auto done = admit_claim_limits(resource, object, store); !done) return done;
  }
  if (plural == "jobs") select_own_pods(object);
  if (plural == "daemonsets") count_templates(object, nullptr);
  if (plural == "services") assign_addresses(object, nullptr, store);
  if (plural == "podgroups" && plugins.priority) return admit_pod_group(resource, object, store);
  return {};
}

}  // namespace berth::memapi
