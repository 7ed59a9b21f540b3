#include "sim/resource_claim_controller.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "api/claim_template.h"

namespace berth::sim {
namespace {

constexpr std::string_view kFinalizer = "resource.kubernetes.io/delete-protection";

// It will not run any more.
bool is_done(const Pod& pod) { return pod.finished() || (pod.terminating() && pod.node().empty()); }

const std::string* made_claim(const Pod& pod, std::string_view entry) {
  if (!pod.extra()) return nullptr;
  for (const PodResourceClaimStatus& status : pod.extra()->resource_claim_statuses)
    if (status.name == entry && status.claim_name) return &*status.claim_name;
  return nullptr;
}

}  // namespace

ResourceClaimController::ResourceClaimController(Loop& loop, SimCluster& cluster,
                                                 Interner& interner)
    : loop_(loop), cluster_(cluster), interner_(interner) {
  cluster_.on_change([this, alive = std::weak_ptr<int>(alive_)](const Delta& delta) {
    if (!alive.expired()) changed(delta);
  });
}

void ResourceClaimController::changed(const Delta& delta) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object)) {
    if (delta.type == DeltaType::kDeleted || is_done(**pod))
      look_at_claims_of((*pod)->uid_text());
    else if (delta.type == DeltaType::kAdded)
      look_at_pod(**pod);
    return;
  }
  const auto* object = std::get_if<Ref<const Object>>(&delta.object);
  if (object == nullptr) return;
  if ((*object)->kind == ObjectKind::kResourceClaim) {
    claim_changed(delta.type, static_cast<const ResourceClaim&>(**object));
  } else if ((*object)->kind == ObjectKind::kResourceClaimTemplate &&
             delta.type != DeltaType::kDeleted) {
    for (const Ref<const Pod>& pod : cluster_.pods()) look_at_pod(*pod);
  }
}

// Who has to do with a claim, so that their end is not missed.
void ResourceClaimController::claim_changed(DeltaType type, const ResourceClaim& claim) {
  const ClaimKey key(namespace_of(claim), claim.name);
  std::vector<std::string>& users = users_[key];
  for (const std::string& uid : users) {
    const auto found = claims_of_.find(uid);
    if (found == claims_of_.end()) continue;
    found->second.erase(key);
    if (found->second.empty()) claims_of_.erase(found);
  }
  users.clear();
  if (type == DeltaType::kDeleted) {
    users_.erase(key);
    return;
  }
  for (const ResourceClaimConsumerReference& consumer : claim.status.reserved_for)
    users.push_back(consumer.uid);
  if (!claim.controller_uid.empty()) users.push_back(claim.controller_uid);
  for (const std::string& uid : users) claims_of_[uid].insert(key);
  look_at_claim(key);
}

void ResourceClaimController::look_at_pod(const Pod& pod) {
  if (std::ranges::none_of(pod.spec().resource_claims, [&](const PodResourceClaim& entry) {
        return !entry.template_name.empty() && !made_claim(pod, pod.text(entry.name));
      }))
    return;
  loop_.post([this, namespace_name = std::string(pod.namespace_name()),
              name = std::string(pod.name()), alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    const Ref<const Pod> present = cluster_.pod(namespace_name, name);
    if (present && !is_done(*present)) make_claims(*present);
  });
}

void ResourceClaimController::make_claims(const Pod& pod) {
  PodDraft draft = draft_of(pod);
  if (!draft.extra) draft.extra = std::make_unique<PodExtra>(interner_.hold());
  bool made = false;
  for (const PodResourceClaim& entry : pod.spec().resource_claims) {
    if (entry.template_name.empty() || made_claim(pod, pod.text(entry.name))) continue;
    const Ref<const Object> found = cluster_.object(
        ObjectKind::kResourceClaimTemplate, pod.namespace_name(), pod.text(entry.template_name));
    if (!found) continue;  // made when the template comes
    std::string name = make_claim(pod, entry, static_cast<const ResourceClaimTemplate&>(*found));
    if (name.empty()) continue;
    draft.extra->resource_claim_statuses.push_back(
        {std::string(pod.text(entry.name)), std::move(name)});
    made = true;
  }
  if (made) static_cast<void>(cluster_.update_object(make_pod(std::move(draft))));
}

std::string ResourceClaimController::make_claim(const Pod& pod, const PodResourceClaim& entry,
                                                const ResourceClaimTemplate& made_from) {
  const Ref<ResourceClaim> claim =
      claim_from_template(pod, entry, made_from, interner_, loop_.wall_now());
  const Result<void> created = cluster_.create_object(Ref<const Object>(claim));
  return created ? claim->name : std::string();
}

void ResourceClaimController::look_at_claims_of(const std::string& pod_uid) {
  const auto found = claims_of_.find(pod_uid);
  if (found == claims_of_.end()) return;
  for (const ClaimKey& key : found->second) look_at_claim(key);
}

void ResourceClaimController::look_at_claim(ClaimKey key) {
  if (!to_look_at_.insert(key).second) return;
  loop_.post([this, key = std::move(key), alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    to_look_at_.erase(key);
    const Ref<const Object> claim =
        cluster_.object(ObjectKind::kResourceClaim, key.first, key.second);
    if (claim) sync(static_cast<const ResourceClaim&>(*claim));
  });
}

void ResourceClaimController::sync(const ResourceClaim& claim) {
  const auto in_use = [&](const std::string& name, const std::string& uid) {
    const Ref<const Pod> pod = cluster_.pod(namespace_of(claim), name);
    return pod && pod->uid_text() == uid && !is_done(*pod);
  };
  const auto gone = [&](const ResourceClaimConsumerReference& consumer) {
    return claim.symbols.text(consumer.resource) == "pods" && !in_use(consumer.name, consumer.uid);
  };
  const bool left = std::ranges::any_of(claim.status.reserved_for, gone);
  const bool unused = std::ranges::all_of(claim.status.reserved_for, gone);
  const bool has_finalizer = std::ranges::count(claim.finalizers, kFinalizer) > 0;
  // A claim that was in use and no longer is, is free again; so is one that is to go.
  const bool free = unused && has_finalizer && (left || claim.deleting());
  const bool owner_gone =
      claim.symbols.text(claim.controller.kind) == "Pod" &&
      !in_use(std::string(claim.symbols.text(claim.controller.name)), claim.controller_uid);
  if (left || free) {
    auto wanted = make_ref<ResourceClaim>(claim);
    std::erase_if(wanted->status.reserved_for, gone);
    if (free) {
      wanted->status.allocation.reset();
      std::erase(wanted->finalizers, kFinalizer);
    }
    if (claim.deleting() && wanted->finalizers.empty()) {
      static_cast<void>(cluster_.remove_at_once(claim.kind, namespace_of(claim), claim.name));
      return;
    }
    static_cast<void>(cluster_.update_object(Ref<const Object>(wanted)));
  }
  if (owner_gone && unused)
    static_cast<void>(cluster_.remove_object(claim.kind, namespace_of(claim), claim.name));
}

}  // namespace berth::sim
