#include "memapi/controllers/replica_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "memapi/admission.h"
#include "memapi/controllers/workloads.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::int64_t kMostAtOnce = 500;

}  // namespace

ReplicaSetController::ReplicaSetController(LocalClient& api, PodIndex& pods,
                                           const Resource& resource)
    : Controller(api), pods_(pods), resource_(resource) {
  follow(resource_, [this](const Change& change) {
    if (change.type != ChangeType::kDeleted) enqueue(key_of(*change.object));
  });
  pods_.listen(alive(), [this](const PodFacts* before, const PodFacts* after) {
    for (const PodFacts* pod : {before, after}) {
      if (pod != nullptr && pod->controller_kind == resource_.kind)
        enqueue(object_key(pod->object->namespace_name, pod->controller_name));
    }
    // One that nobody controls may be somebody's.
    const bool new_orphan = after != nullptr && after->controller_uid.empty() &&
                            (before == nullptr || !before->controller_uid.empty() ||
                             before->object->labels != after->object->labels);
    if (new_orphan && !after->object->labels.empty()) {
      for (const ObjectRef& set : api_.list(resource_, after->object->namespace_name)) {
        const std::vector<LabelRequirement> selector = selector_of(set->tree());
        if (!selector.empty() && matches_all(selector, after->object->labels))
          enqueue(key_of(*set));
      }
    }
  });
}

void ReplicaSetController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  const ObjectRef set = api_.get(resource_, name.namespace_name, name.name);
  if (!set) return;
  const JsonValue tree = set->tree();
  pods_.catch_up();
  bool refused = false;
  if (!is_terminating(tree)) {
    claim_pods(api_, pods_, resource_, *set, tree);
    refused = !bring_in_line(*set, tree);
    pods_.catch_up();
    if (refused) enqueue_after(kRetryAfterRefusal, key);
  }
  write_status(*set, tree, refused);
}

bool ReplicaSetController::bring_in_line(const StoredObject& set, const JsonValue& tree) {
  const Resource& pods = resource_of("pods");
  const std::string component =
      resource_.kind == "ReplicaSet" ? "replicaset-controller" : "replication-controller";
  std::vector<const PodFacts*> active = pods_.of_controller(set.uid);
  std::erase_if(active, [](const PodFacts* pod) { return !pod->active(); });
  const std::int64_t wanted = int_at(tree, "spec.replicas").value_or(1);
  const std::int64_t missing = wanted - static_cast<std::int64_t>(active.size());
  for (std::int64_t i = 0; i < std::min(missing, kMostAtOnce); ++i) {
    const Answer<ObjectRef> created = api_.create(pods, pod_from_template(resource_, set, tree));
    if (!created) {
      record(resource_, set, "Warning", "FailedCreate",
             fmt::format("Error creating: {}", created.error().message), component);
      return false;
    }
    record(resource_, set, "Normal", "SuccessfulCreate",
           fmt::format("Created pod: {}", (*created)->name), component);
  }
  if (missing > kMostAtOnce) enqueue(key_of(set));
  if (missing >= 0) return true;
  sort_for_removal(active);
  for (std::int64_t i = 0; i < -missing; ++i) {
    const StoredObject& pod = *active[static_cast<std::size_t>(i)]->object;
    if (!api_.remove(pods, pod.namespace_name, pod.name, {.uid = pod.uid})) continue;
    record(resource_, set, "Normal", "SuccessfulDelete", fmt::format("Deleted pod: {}", pod.name),
           component);
  }
  return true;
}

void ReplicaSetController::write_status(const StoredObject& set, const JsonValue& tree,
                                        bool refused) {
  const std::vector<const PodFacts*> pods = pods_.of_controller(set.uid);
  const Duration min_ready = min_ready_of(tree);
  const ReplicaCounts counts = count_replicas(pods, min_ready, now());
  if (counts.available < counts.ready) enqueue_after(min_ready, key_of(set));
  static_cast<void>(api_.update_status(
      resource_, set.namespace_name, set.name, [&](JsonValue& object) -> Answer<void> {
        JsonValue& status = object_at(object, "status");
        set_count(status, "readyReplicas", counts.ready);
        set_count(status, "availableReplicas", counts.available);
        set_count(status, "fullyLabeledReplicas", counts.active);
        memapi::set(status, "replicas", JsonValue::of_int(counts.active));
        memapi::set(status, "observedGeneration",
                    JsonValue::of_int(int_at(tree, "metadata.generation").value_or(0)));
        if (refused) {
          set_condition(status, "ReplicaFailure", "True", "FailedCreate",
                        "a pod was refused; see the events", now());
        } else if (JsonValue* conditions = at(status, "conditions"); is_array(conditions)) {
          std::erase_if(conditions->items, [](const JsonValue& condition) {
            return text_at(condition, "type") == "ReplicaFailure";
          });
          if (conditions->items.empty()) erase(status, "conditions");
        }
        return {};
      }));
}

}  // namespace berth::memapi
