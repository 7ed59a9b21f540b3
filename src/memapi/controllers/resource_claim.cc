#include "memapi/controllers/resource_claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "memapi/controllers/workloads.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kClaimGroup = "resource.k8s.io";
constexpr std::string_view kFinalizer = "resource.kubernetes.io/delete-protection";
constexpr std::string_view kEntryAnnotation = "resource.kubernetes.io/pod-claim-name";

const Resource& resource_claims() { return resource_of("resourceclaims", kClaimGroup); }
const Resource& templates() { return resource_of("resourceclaimtemplates", kClaimGroup); }

bool is_pod(const JsonValue& consumer) {
  return text_at(consumer, "apiGroup").empty() && text_at(consumer, "resource") == "pods";
}

// The name of the claim that was made for an entry of the pod's; empty: none yet.
bool has_status(const JsonValue& pod, std::string_view entry) {
  return std::ranges::any_of(
      items_at(pod, "status.resourceClaimStatuses"),
      [&](const JsonValue& status) { return text_at(status, "name") == entry; });
}

}  // namespace

ResourceClaimController::ResourceClaimController(LocalClient& api, PodIndex& pods)
    : Controller(api), pods_(pods) {
  follow(templates(), [this](const Change& change) {
    if (change.type != ChangeType::kAdded) return;
    for (const PodFacts* pod : pods_.in_namespace(change.object->namespace_name))
      enqueue("pod/" + key_of(*pod->object));
  });
  follow(resource_claims(), [this](const Change& change) {
    const std::string key = key_of(*change.object);
    const auto each_user = [&](const ObjectRef& object, auto what) {
      if (!object) return;
      const JsonValue tree = object->tree();
      for (const JsonValue& consumer : items_at(tree, "status.reservedFor"))
        what(std::string(text_at(consumer, "uid")));
      if (const JsonValue* owner = controller_of(tree); owner && text_at(*owner, "kind") == "Pod")
        what(std::string(text_at(*owner, "uid")));
    };
    each_user(change.previous, [&](const std::string& uid) {
      if (const auto user = users_.find(uid); user != users_.end()) {
        user->second.erase(key);
        if (user->second.empty()) users_.erase(user);
      }
    });
    if (change.type == ChangeType::kDeleted) return;
    each_user(change.object, [&](const std::string& uid) { users_[uid].insert(key); });
    enqueue("claim/" + key);
  });
  pods_.listen(alive(), [this](const PodFacts* before, const PodFacts* after) {
    const PodFacts& pod = *(after != nullptr ? after : before);
    if (before == nullptr) enqueue("pod/" + key_of(*pod.object));
    const bool over = after == nullptr || after->ended() || after->terminating;
    if (!over) return;
    if (const auto user = users_.find(pod.object->uid); user != users_.end())
      for (const std::string& claim : user->second) enqueue("claim/" + claim);
  });
}

void ResourceClaimController::sync(const std::string& key) {
  const std::size_t slash = key.find('/');
  const std::string rest = key.substr(slash + 1);
  if (key.starts_with("pod/"))
    sync_pod(rest);
  else
    sync_claim(rest);
}

bool ResourceClaimController::in_use(std::string_view namespace_name, std::string_view pod,
                                     std::string_view uid) const {
  const PodFacts* facts = pods_.find(object_key(namespace_name, pod));
  if (facts == nullptr || facts->object->uid != uid || facts->ended()) return false;
  return !(facts->terminating && facts->node.empty());
}

// ---- claims for pods

void ResourceClaimController::sync_pod(const std::string& key) {
  pods_.catch_up();
  const PodFacts* facts = pods_.find(key);
  if (facts == nullptr || !facts->active()) return;
  const ObjectRef pod = facts->object;
  const JsonValue tree = pod->tree();
  std::vector<std::pair<std::string, std::string>> made;
  for (const JsonValue& entry : items_at(tree, "spec.resourceClaims")) {
    const std::string_view made_from = text_at(entry, "resourceClaimTemplateName");
    const std::string_view name = text_at(entry, "name");
    if (made_from.empty() || has_status(tree, name)) continue;
    const ObjectRef found = api_.get(templates(), pod->namespace_name, made_from);
    if (!found) continue;  // made when the template comes
    std::string claim = make_claim(*pod, name, *found);
    if (claim.empty()) {
      enqueue_after(kRetryAfterRefusal, "pod/" + key);
      continue;
    }
    made.emplace_back(name, std::move(claim));
  }
  if (made.empty()) return;
  const auto edit = [&](JsonValue& object) -> Answer<void> {
    if (text_at(object, "metadata.uid") != pod->uid)
      return refuse(ApiError::not_found(resource_of("pods"), pod->name));
    for (const auto& [entry, claim] : made) {
      if (has_status(object, entry)) continue;
      JsonValue status = JsonValue::object();
      set_text(status, "name", entry);
      set_text(status, "resourceClaimName", claim);
      array_at(object_at(object, "status"), "resourceClaimStatuses")
          .items.push_back(std::move(status));
    }
    return {};
  };
  static_cast<void>(api_.update_status(resource_of("pods"), pod->namespace_name, pod->name, edit));
}

// The claim's name, or nothing. One that was made before, and of which the pod does not know yet,
// is found by its owner and annotation.
std::string ResourceClaimController::make_claim(const StoredObject& pod, std::string_view entry,
                                                const StoredObject& made_from) {
  if (const auto user = users_.find(pod.uid); user != users_.end())
    for (const std::string& key : user->second) {
      const ObjectName name = name_of(key);
      const ObjectRef present = api_.get(resource_claims(), name.namespace_name, name.name);
      if (!present) continue;
      const JsonValue tree = present->tree();
      const JsonValue* owner = controller_of(tree);
      const JsonValue* annotations = at(tree, "metadata.annotations");
      const JsonValue* said =
          is_object(annotations) ? annotations->find(kEntryAnnotation) : nullptr;
      if (owner && text_at(*owner, "uid") == pod.uid && said && said->text == entry)
        return name.name;
    }
  const JsonValue tree = made_from.tree();
  JsonValue claim = JsonValue::object();
  if (const JsonValue* metadata = at(tree, "spec.metadata"); is_object(metadata))
    for (const char* member : {"labels", "annotations"})
      copy_member(object_at(claim, "metadata"), *metadata, member);
  JsonValue& metadata = object_at(claim, "metadata");
  set_text(object_at(metadata, "annotations"), kEntryAnnotation, entry);
  set_text(metadata, "generateName", fmt::format("{}-{}-", pod.name, entry));
  set_text(metadata, "namespace", pod.namespace_name);
  array_at(metadata, "ownerReferences")
      .items.push_back(controller_reference(resource_of("pods"), pod));
  if (const JsonValue* spec = at(tree, "spec.spec"); is_object(spec)) set(claim, "spec", *spec);
  const Answer<ObjectRef> made = api_.create(resource_claims(), std::move(claim));
  if (made) return (*made)->name;
  record(resource_of("pods"), pod, "Warning", "FailedResourceClaimCreation",
         fmt::format("PodResourceClaim {}: failed to create ResourceClaim: {}", entry,
                     made.error().message),
         "resource_claim");
  return {};
}

// ---- who uses a claim

void ResourceClaimController::sync_claim(const std::string& key) {
  pods_.catch_up();
  const ObjectName name = name_of(key);
  const ObjectRef claim = api_.get(resource_claims(), name.namespace_name, name.name);
  if (!claim) return;
  const JsonValue tree = claim->tree();
  const std::vector<JsonValue>& consumers = items_at(tree, "status.reservedFor");
  const auto gone = [&](const JsonValue& consumer) {
    return is_pod(consumer) &&
           !in_use(name.namespace_name, text_at(consumer, "name"), text_at(consumer, "uid"));
  };
  const bool left = std::ranges::any_of(consumers, gone);
  const bool unused = std::ranges::all_of(consumers, gone);
  const auto& finalizers = items_at(tree, "metadata.finalizers");
  const bool protected_now = std::ranges::any_of(
      finalizers, [](const JsonValue& finalizer) { return finalizer.text == kFinalizer; });
  const bool free = unused && protected_now && (left || is_terminating(tree));
  if (left || (free && at(tree, "status.allocation"))) {
    const auto edit = [&](JsonValue& object) -> Answer<void> {
      // Somebody else was quicker: looked at anew when that is told.
      if (text_at(object, "metadata.resourceVersion") != text_at(tree, "metadata.resourceVersion"))
        return refuse(ApiError::modified(resource_claims(), name.name));
      JsonValue& status = object_at(object, "status");
      std::erase_if(array_at(status, "reservedFor").items, gone);
      if (free) erase(status, "allocation");
      return {};
    };
    if (!api_.update_status(resource_claims(), name.namespace_name, name.name, edit)) return;
  }
  if (free) {
    const auto edit = [&](JsonValue& object) -> Answer<void> {
      if (at(object, "status.allocation"))
        return refuse(ApiError::modified(resource_claims(), name.name));
      std::erase_if(array_at(object_at(object, "metadata"), "finalizers").items,
                    [](const JsonValue& finalizer) { return finalizer.text == kFinalizer; });
      return {};
    };
    static_cast<void>(api_.update(resource_claims(), name.namespace_name, name.name, edit));
  }
  // A finished pod may stay for long; its claim need not.
  const JsonValue* owner = controller_of(tree);
  if (!unused || !owner || text_at(*owner, "kind") != "Pod") return;
  const PodFacts* pod = pods_.find(object_key(name.namespace_name, text_at(*owner, "name")));
  if (pod && !in_use(name.namespace_name, text_at(*owner, "name"), text_at(*owner, "uid")))
    static_cast<void>(
        api_.remove(resource_claims(), name.namespace_name, name.name, {.uid = claim->uid}));
}

}  // namespace berth::memapi
