#include "memapi/controllers/stateful_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "memapi/controllers/workloads.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kStatefulSetComponent = "statefulset-controller";

const Resource& stateful_sets() { return resource_of("statefulsets", "apps"); }

std::string revision_of(const StoredObject& set, const JsonValue& tree) {
  const JsonValue* said = at(tree, "spec.template");
  return fmt::format("{}-{}", set.name, said != nullptr ? template_hash(*said) : "");
}

std::optional<std::int64_t> number_of(const StoredObject& set, std::string_view pod_name) {
  if (!pod_name.starts_with(set.name + "-")) return std::nullopt;
  const std::string_view text = pod_name.substr(set.name.size() + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool all_at_once(const JsonValue& tree) {
  return text_at(tree, "spec.podManagementPolicy") == "Parallel";
}

}  // namespace

StatefulSetController::StatefulSetController(LocalClient& api, PodIndex& pods)
    : Controller(api), pods_(pods) {
  follow(stateful_sets(), [this](const Change& change) {
    if (change.type != ChangeType::kDeleted) enqueue(key_of(*change.object));
  });
  pods_.listen(alive(), [this](const PodFacts* before, const PodFacts* after) {
    const PodFacts* pod = after != nullptr ? after : before;
    if (pod->controller_kind == "StatefulSet")
      enqueue(object_key(pod->object->namespace_name, pod->controller_name));
  });
}

StatefulSetController::Members StatefulSetController::members_of(const StoredObject& set) const {
  Members members;
  for (const PodFacts* pod : pods_.of_controller(set.uid))
    if (const auto number = number_of(set, pod->object->name)) members[*number] = pod;
  return members;
}

void StatefulSetController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  const ObjectRef set = api_.get(stateful_sets(), name.namespace_name, name.name);
  if (!set) return;
  const JsonValue tree = set->tree();
  pods_.catch_up();
  if (!is_terminating(tree)) {
    claim_pods(api_, pods_, stateful_sets(), *set, tree);
    bring_in_line(*set, tree, members_of(*set));
    pods_.catch_up();
  }
  write_status(*set, tree);
}

void StatefulSetController::bring_in_line(const StoredObject& set, const JsonValue& tree,
                                          const Members& members) {
  const std::int64_t first = int_at(tree, "spec.ordinals.start").value_or(0);
  const std::int64_t end = first + int_at(tree, "spec.replicas").value_or(1);
  const bool at_once = all_at_once(tree);
  for (std::int64_t number = first; number < end; ++number) {
    const auto found = members.find(number);
    if (found == members.end()) {
      if (!start(set, tree, number)) return;
      if (!at_once) return;
      continue;
    }
    const PodFacts& pod = *found->second;
    if (pod.ended() && !pod.terminating) {
      stop(set, pod);
      if (!at_once) return;
    }
    if (!at_once && (pod.terminating || !pod.available(min_ready_of(tree), now()))) {
      if (pod.ready()) enqueue_after(min_ready_of(tree), key_of(set));
      return;  // the next one waits for it
    }
  }
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->first >= first && member->first < end) continue;
    if (!member->second->terminating) stop(set, *member->second);
    if (!at_once) return;
  }
  update_members(set, tree, members);
}

void StatefulSetController::update_members(const StoredObject& set, const JsonValue& tree,
                                           const Members& members) {
  if (text_at(tree, "spec.updateStrategy.type") == "OnDelete") return;
  const std::int64_t first = int_at(tree, "spec.ordinals.start").value_or(0);
  const std::int64_t partition =
      int_at(tree, "spec.updateStrategy.rollingUpdate.partition").value_or(0);
  const std::string revision = revision_of(set, tree);
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->first < first + partition) return;
    const PodFacts& pod = *member->second;
    if (pod.terminating) return;
    if (pod.label(kRevisionLabel) != revision) {
      stop(set, pod);
      return;
    }
    if (!pod.ready()) return;
  }
}

bool StatefulSetController::start(const StoredObject& set, const JsonValue& tree,
                                  std::int64_t number) {
  JsonValue pod = pod_from_template(stateful_sets(), set, tree);
  const std::string name = fmt::format("{}-{}", set.name, number);
  JsonValue& metadata = object_at(pod, "metadata");
  erase(metadata, "generateName");
  set_text(metadata, "name", name);
  JsonValue& labels = object_at(metadata, "labels");
  set_text(labels, "apps.kubernetes.io/pod-index", fmt::format("{}", number));
  set_text(labels, "statefulset.kubernetes.io/pod-name", name);
  set_text(labels, kRevisionLabel, revision_of(set, tree));
  JsonValue& spec = object_at(pod, "spec");
  set_text(spec, "hostname", name);
  if (const std::string_view service = text_at(tree, "spec.serviceName"); !service.empty())
    set_text(spec, "subdomain", service);
  const Resource& claims = resource_of("persistentvolumeclaims");
  for (const JsonValue& claim_template : items_at(tree, "spec.volumeClaimTemplates")) {
    const std::string volume(text_at(claim_template, "metadata.name"));
    const std::string claim_name = fmt::format("{}-{}", volume, name);
    if (!api_.get(claims, set.namespace_name, claim_name)) {
      JsonValue claim = claim_template;
      erase(claim, "kind");
      erase(claim, "apiVersion");
      erase(claim, "status");
      set_text(object_at(claim, "metadata"), "name", claim_name);
      set_text(object_at(claim, "metadata"), "namespace", set.namespace_name);
      static_cast<void>(api_.create(claims, std::move(claim)));
    }
    JsonValue& volumes = array_at(spec, "volumes");
    std::erase_if(volumes.items,
                  [&](const JsonValue& one) { return text_at(one, "name") == volume; });
    JsonValue mounted = JsonValue::object();
    set_text(mounted, "name", volume);
    set_text(object_at(mounted, "persistentVolumeClaim"), "claimName", claim_name);
    volumes.items.push_back(std::move(mounted));
  }
  const Answer<ObjectRef> created = api_.create(resource_of("pods"), std::move(pod));
  if (!created) {
    record(stateful_sets(), set, "Warning", "FailedCreate",
           fmt::format("create Pod {} in StatefulSet {} failed error: {}", name, set.name,
                       created.error().message),
           kStatefulSetComponent);
    enqueue_after(kRetryAfterRefusal, key_of(set));
    return false;
  }
  record(stateful_sets(), set, "Normal", "SuccessfulCreate",
         fmt::format("create Pod {} in StatefulSet {} successful", name, set.name),
         kStatefulSetComponent);
  return true;
}

void StatefulSetController::stop(const StoredObject& set, const PodFacts& pod) {
  const StoredObject& object = *pod.object;
  if (!api_.remove(resource_of("pods"), object.namespace_name, object.name, {.uid = object.uid}))
    return;
  record(stateful_sets(), set, "Normal", "SuccessfulDelete",
         fmt::format("delete Pod {} in StatefulSet {} successful", object.name, set.name),
         kStatefulSetComponent);
}

void StatefulSetController::write_status(const StoredObject& set, const JsonValue& tree) {
  std::vector<const PodFacts*> pods;
  const std::string revision = revision_of(set, tree);
  std::int64_t updated = 0;
  for (const auto& [number, pod] : members_of(set)) {
    pods.push_back(pod);
    updated += pod->active() && pod->label(kRevisionLabel) == revision ? 1 : 0;
  }
  const ReplicaCounts counts = count_replicas(pods, min_ready_of(tree), now());
  const std::int64_t wanted = int_at(tree, "spec.replicas").value_or(1);
  static_cast<void>(api_.update_status(
      stateful_sets(), set.namespace_name, set.name, [&](JsonValue& object) -> Answer<void> {
        JsonValue& status = object_at(object, "status");
        std::string current(text_at(status, "currentRevision"));
        const bool all_updated = updated == wanted && counts.ready == wanted;
        if (current.empty() || all_updated) current = revision;
        set_text(status, "currentRevision", current);
        set_text(status, "updateRevision", revision);
        memapi::set(status, "replicas", JsonValue::of_int(counts.active));
        memapi::set(status, "availableReplicas", JsonValue::of_int(counts.available));
        set_count(status, "readyReplicas", counts.ready);
        set_count(status, "updatedReplicas", updated);
        set_count(status, "currentReplicas",
                  current == revision ? updated : counts.active - updated);
        memapi::set(status, "collisionCount", JsonValue::of_int(0));
        memapi::set(status, "observedGeneration",
                    JsonValue::of_int(int_at(tree, "metadata.generation").value_or(0)));
        return {};
      }));
}

}  // namespace berth::memapi
