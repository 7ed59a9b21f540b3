#include "sim/resource_claim_controller.h"

#include <utility>

#include "api/claim_template.h"

namespace berth::sim {

ResourceClaimController::ResourceClaimController(Loop& loop, SimCluster& cluster, PodWatch& pods,
                                                 Interner& interner)
    : loop_(loop), cluster_(cluster), interner_(interner), controller_(loop, pods.index(), *this) {
  cluster_.on_change(lifetime_.guard([this](const Delta& delta) {
    const auto* object = std::get_if<Ref<const Object>>(&delta.object);
    if (object == nullptr) return;
    const bool gone = delta.type == DeltaType::kDeleted;
    if ((*object)->kind == ObjectKind::kResourceClaim)
      controller_.claim_changed(*cast_to<ResourceClaim>(*object), gone);
    else if ((*object)->kind == ObjectKind::kResourceClaimTemplate && !gone)
      controller_.template_added(namespace_of(**object));
  }));
}

Ref<const Pod> ResourceClaimController::pod(std::string_view namespace_name,
                                            std::string_view name) const {
  return cluster_.pod(namespace_name, name);
}

Ref<const ResourceClaim> ResourceClaimController::claim(std::string_view namespace_name,
                                                        std::string_view name) const {
  return cast_to<ResourceClaim>(cluster_.object(ObjectKind::kResourceClaim, namespace_name, name));
}

Ref<const ResourceClaimTemplate> ResourceClaimController::claim_template(
    std::string_view namespace_name, std::string_view name) const {
  return cast_to<ResourceClaimTemplate>(
      cluster_.object(ObjectKind::kResourceClaimTemplate, namespace_name, name));
}

std::string ResourceClaimController::create(const Pod& pod, const PodResourceClaim& entry,
                                            const ResourceClaimTemplate& made_from) {
  const Ref<ResourceClaim> claim =
      claim_from_template(pod, entry, made_from, interner_, loop_.wall_now());
  const Result<void> created = cluster_.create_object(Ref<const Object>(claim));
  return created ? claim->name : std::string();
}

void ResourceClaimController::write_names(const Pod& pod, const ClaimNames& names) {
  PodDraft draft = draft_of(pod);
  if (!draft.extra) draft.extra = std::make_unique<PodExtra>(interner_.hold());
  for (const auto& [entry, claim] : names)
    draft.extra->resource_claim_statuses.push_back({entry, claim});
  static_cast<void>(cluster_.update_object(make_pod(std::move(draft))));
}

bool ResourceClaimController::write(const ResourceClaim& wanted) {
  if (wanted.deleting() && wanted.finalizers.empty())
    return cluster_.remove_at_once(wanted.kind, namespace_of(wanted), wanted.name).has_value();
  return cluster_.update_object(Ref<const Object>(make_ref<ResourceClaim>(wanted))).has_value();
}

void ResourceClaimController::remove(const ResourceClaim& claim) {
  static_cast<void>(cluster_.remove_object(claim.kind, namespace_of(claim), claim.name));
}

}  // namespace berth::sim
