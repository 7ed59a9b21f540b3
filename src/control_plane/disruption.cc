#include "control_plane/disruption.h"

#include <algorithm>
#include <map>

#include "base/time_text.h"
#include "control_plane/workloads.h"

namespace berth::control_plane {
namespace {

// An eviction that was granted counts as done for this long, while the pod is still there.
constexpr Duration kEvictionTakes = std::chrono::minutes(2);

const Resource& budgets() { return resource_of("poddisruptionbudgets", "policy"); }

const Resource* controller_resource(std::string_view kind) {
  if (kind == "ReplicaSet") return &resource_of("replicasets", "apps");
  if (kind == "StatefulSet") return &resource_of("statefulsets", "apps");
  if (kind == "ReplicationController") return &resource_of("replicationcontrollers");
  return nullptr;
}

bool is_percent(const JsonValue* value) { return value != nullptr && value->text.ends_with('%'); }

// "3" or "25%" of `total`.
std::int64_t share_of(const JsonValue* value, std::int64_t total, std::int64_t otherwise) {
  return controllers::scaled_value(value != nullptr ? value->text : "", total, true, otherwise);
}

}  // namespace

DisruptionController::DisruptionController(LocalClient& api, PodIndex& pods)
    : Controller(api), pods_(pods) {
  follow(budgets(), [this](const Change& change) {
    if (change.type != ChangeType::kDeleted) enqueue(key_of(*change.object));
  });
  pods_.listen(lifetime(), [this](const PodFacts* before, const PodFacts* after) {
    const PodFacts& pod = *(after != nullptr ? after : before);
    for (const ObjectRef& budget : api_.list(budgets(), pod.namespace_name)) {
      const std::vector<LabelRequirement> selector = selector_of(budget->tree());
      const auto meant = [&](const PodFacts* facts) {
        return facts != nullptr && matches_all(selector, facts->labels);
      };
      if (meant(before) || meant(after)) enqueue(key_of(*budget));
    }
  });
}

std::int64_t DisruptionController::expected_pods(const std::vector<const PodFacts*>& pods) const {
  std::map<std::string, std::int64_t> wanted;  // by UID of the controller
  for (const PodFacts* pod : pods) {
    if (pod->controller_uid.empty()) return -1;
    if (wanted.contains(pod->controller_uid)) continue;
    const Resource* resource = controller_resource(pod->controller_kind);
    if (resource == nullptr) return -1;
    const ObjectRef found = api_.get(*resource, pod->namespace_name, pod->controller_name);
    if (!found) return -1;
    const JsonValue tree = found->tree();
    const JsonValue* owner = controller_of(tree);
    if (owner != nullptr && text_at(*owner, "kind") == "Deployment") {
      const ObjectRef deployment = api_.get(resource_of("deployments", "apps"),
                                            found->namespace_name, text_at(*owner, "name"));
      if (!deployment) return -1;
      wanted[deployment->uid] = int_at(deployment->tree(), "spec.replicas").value_or(1);
      wanted.try_emplace(pod->controller_uid, 0);
    } else {
      wanted[pod->controller_uid] = int_at(tree, "spec.replicas").value_or(1);
    }
  }
  std::int64_t total = 0;
  for (const auto& [uid, count] : wanted) total += count;
  return total;
}

void DisruptionController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  const ObjectRef budget = api_.get(budgets(), name.namespace_name, name.name);
  if (!budget) return;
  const JsonValue tree = budget->tree();
  pods_.catch_up();
  const JsonValue* written_selector = at(tree, "spec.selector");
  const std::vector<LabelRequirement> selector = selector_of(tree);
  std::vector<const PodFacts*> pods;
  if (is_object(written_selector)) {
    for (const PodFacts* pod : pods_.in_namespace(name.namespace_name))
      if (!pod->ended() && matches_all(selector, pod->labels)) pods.push_back(pod);
  }
  const JsonValue* min_available = at(tree, "spec.minAvailable");
  const JsonValue* max_unavailable = at(tree, "spec.maxUnavailable");
  std::int64_t expected = static_cast<std::int64_t>(pods.size());
  const bool by_controllers = max_unavailable != nullptr || is_percent(min_available);
  if (by_controllers) expected = expected_pods(pods);
  const bool known = expected >= 0;
  expected = std::max<std::int64_t>(expected, 0);
  const std::int64_t desired =
      max_unavailable != nullptr
          ? std::max<std::int64_t>(expected - share_of(max_unavailable, expected, 0), 0)
          : share_of(min_available, expected, 1);

  const auto edit = [&](JsonValue& object) -> Answer<void> {
    JsonValue& status = object_at(object, "status");
    JsonValue& disrupted = object_at(status, "disruptedPods");
    std::erase_if(disrupted.members, [&](const JsonMember& member) {
      const PodFacts* pod = pods_.find(object_key(name.namespace_name, member.name));
      const Result<WallTime> when = parse_rfc3339(member.value.text);
      return pod == nullptr || pod->terminating || !when || *when + kEvictionTakes <= now();
    });
    std::int64_t healthy = 0;
    for (const PodFacts* pod : pods) {
      const bool counts = pod->ready() && !pod->terminating && disrupted.find(pod->name) == nullptr;
      healthy += counts ? 1 : 0;
    }
    if (!disrupted.members.empty()) enqueue_after(kEvictionTakes, key);
    if (disrupted.members.empty()) erase(status, "disruptedPods");
    const std::int64_t allowed =
        known && expected > 0 ? std::max<std::int64_t>(healthy - desired, 0) : 0;
    set(status, "currentHealthy", JsonValue::of_int(healthy));
    set(status, "desiredHealthy", JsonValue::of_int(desired));
    set(status, "expectedPods", JsonValue::of_int(expected));
    set(status, "disruptionsAllowed", JsonValue::of_int(allowed));
    set(status, "observedGeneration",
        JsonValue::of_int(int_at(object, "metadata.generation").value_or(0)));
    if (!known) {
      set_condition(status, "DisruptionAllowed", "False", "SyncFailed",
                    "some pods are controlled by nobody whose size can be told", now());
    } else {
      set_condition(status, "DisruptionAllowed", allowed > 0 ? "True" : "False",
                    allowed > 0 ? "SufficientPods" : "InsufficientPods", "", now());
    }
    return {};
  };
  static_cast<void>(api_.update_status(budgets(), name.namespace_name, name.name, edit));
}

}  // namespace berth::control_plane
