#include "controllers/resource_claims.h"

#include <algorithm>

namespace berth::controllers {
namespace {

constexpr std::string_view kFinalizer = "resource.kubernetes.io/delete-protection";

bool has_status(const Pod& pod, std::string_view entry) {
  return pod.extra() != nullptr && std::ranges::any_of(pod.extra()->resource_claim_statuses,
                                                       [&](const PodResourceClaimStatus& status) {
                                                         return status.name == entry;
                                                       });
}

}  // namespace

ResourceClaimController::ResourceClaimController(Loop& loop, PodIndex& pods,
                                                 ResourceClaimWorld& world)
    : Controller(loop), pods_(pods), world_(world) {
  pods_.listen(lifetime(), [this](const PodFacts* before, const PodFacts* after) {
    const PodFacts& pod = *(after != nullptr ? after : before);
    if (before == nullptr && pod.names_claim_template) enqueue("pod/" + pod.key());
    const bool over = after == nullptr || after->ended() || after->terminating;
    const auto used = over ? claims_of_.find(pod.uid) : claims_of_.end();
    if (used == claims_of_.end()) return;
    for (const std::string& claim : used->second) enqueue("claim/" + claim);
  });
}

// Remembers who has to do with a claim, so that their end is not missed.
void ResourceClaimController::claim_changed(const ResourceClaim& claim, bool gone) {
  const std::string key = object_key(claim.symbols.text(claim.namespace_name), claim.name);
  std::vector<std::string>& users = users_[key];
  for (const std::string& uid : users) {
    const auto found = claims_of_.find(uid);
    if (found == claims_of_.end()) continue;
    found->second.erase(key);
    if (found->second.empty()) claims_of_.erase(found);
  }
  users.clear();
  if (gone) {
    users_.erase(key);
    return;
  }
  for (const ResourceClaimConsumerReference& consumer : claim.status.reserved_for)
    users.push_back(consumer.uid);
  if (!claim.controller_uid.empty()) users.push_back(claim.controller_uid);
  for (const std::string& uid : users) claims_of_[uid].insert(key);
  enqueue("claim/" + key);
}

void ResourceClaimController::template_added(std::string_view namespace_name) {
  for (const PodFacts* pod : pods_.in_namespace(namespace_name))
    if (pod->names_claim_template) enqueue("pod/" + pod->key());
}

void ResourceClaimController::sync(const std::string& key) {
  pods_.catch_up();
  const std::string rest = key.substr(key.find('/') + 1);
  if (key.starts_with("pod/"))
    sync_pod(rest);
  else
    sync_claim(rest);
}

bool ResourceClaimController::in_use(std::string_view namespace_name, std::string_view pod,
                                     std::string_view uid) const {
  const PodFacts* facts = pods_.find(object_key(namespace_name, pod));
  return facts != nullptr && facts->uid == uid && facts->in_use();
}

// ---- claims for pods

void ResourceClaimController::sync_pod(const std::string& key) {
  const PodFacts* facts = pods_.find(key);
  const Ref<const Pod> pod = facts != nullptr && facts->in_use()
                                 ? world_.pod(facts->namespace_name, facts->name)
                                 : nullptr;
  if (!pod) return;
  ResourceClaimWorld::ClaimNames made;
  for (const PodResourceClaim& entry : pod->spec().resource_claims) {
    const std::string_view name = pod->text(entry.name);
    if (entry.template_name.empty() || has_status(*pod, name)) continue;
    std::string claim = made_before(*pod, name);
    if (claim.empty()) {
      const Ref<const ResourceClaimTemplate> made_from =
          world_.claim_template(pod->namespace_name(), pod->text(entry.template_name));
      if (!made_from) continue;  // made when the template comes
      claim = world_.create(*pod, entry, *made_from);
    }
    if (claim.empty()) {
      enqueue_after(kRetryAfterRefusal, "pod/" + key, TimerKind::kHousekeeping);
      continue;
    }
    made.emplace_back(name, std::move(claim));
  }
  if (!made.empty()) world_.write_names(*pod, made);
}

std::string ResourceClaimController::made_before(const Pod& pod, std::string_view entry) const {
  const auto claims = claims_of_.find(pod.uid_text());
  if (claims == claims_of_.end()) return {};
  for (const std::string& key : claims->second) {
    const ObjectName name = name_of(key);
    const Ref<const ResourceClaim> claim = world_.claim(name.namespace_name, name.name);
    if (!claim || claim->controller_uid != pod.uid_text()) continue;
    for (const Label& annotation : claim->annotations)
      if (claim->symbols.text(annotation.key) == kPodClaimName &&
          claim->symbols.text(annotation.value) == entry)
        return name.name;
  }
  return {};
}

// ---- who uses a claim

void ResourceClaimController::sync_claim(const std::string& key) {
  const ObjectName name = name_of(key);
  const Ref<const ResourceClaim> claim = world_.claim(name.namespace_name, name.name);
  if (!claim) return;
  const auto gone = [&](const ResourceClaimConsumerReference& consumer) {
    return consumer.api_group.empty() && claim->symbols.text(consumer.resource) == "pods" &&
           !in_use(name.namespace_name, consumer.name, consumer.uid);
  };
  const bool left = std::ranges::any_of(claim->status.reserved_for, gone);
  const bool unused = std::ranges::all_of(claim->status.reserved_for, gone);
  const bool has_finalizer = std::ranges::count(claim->finalizers, kFinalizer) > 0;
  // A claim that was in use and no longer is, is free again; so is one that is to go.
  const bool free = unused && has_finalizer && (left || claim->deleting());
  if (left || free) {
    auto wanted = make_ref<ResourceClaim>(*claim);
    std::erase_if(wanted->status.reserved_for, gone);
    if (free) {
      wanted->status.allocation.reset();
      std::erase(wanted->finalizers, kFinalizer);
    }
    const bool goes = claim->deleting() && wanted->finalizers.empty();
    if (!world_.write(*wanted) || goes) return;
  }
  const bool owner_gone = claim->symbols.text(claim->controller.kind) == "Pod" &&
                          !in_use(name.namespace_name, claim->symbols.text(claim->controller.name),
                                  claim->controller_uid);
  if (owner_gone && unused) world_.remove(*claim);
}

}  // namespace berth::controllers
