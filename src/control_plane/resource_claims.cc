#include "control_plane/resource_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/owned_fields.h"
#include "control_plane/lean.h"

namespace berth::control_plane {
namespace {

constexpr std::string_view kClaimGroup = "resource.k8s.io";

const Resource& resource_claims() { return resource_of("resourceclaims", kClaimGroup); }
const Resource& claim_templates() { return resource_of("resourceclaimtemplates", kClaimGroup); }

std::string_view space_of(const ResourceClaim& claim) {
  return claim.symbols.text(claim.namespace_name);
}

}  // namespace

ResourceClaims::ResourceClaims(LocalClient& api, PodIndex& pods)
    : ApiFollower(api), controller_(api.loop(), pods, *this) {
  follow(claim_templates(), [this](const Change& change) {
    if (change.type == ChangeType::kAdded)
      controller_.template_added(change.object->namespace_name);
  });
  follow(resource_claims(), [this](const Change& change) {
    if (const auto claim = lean<ResourceClaim>(*change.object, interner_))
      controller_.claim_changed(*claim, change.type == ChangeType::kDeleted);
  });
}

Ref<const Pod> ResourceClaims::pod(std::string_view namespace_name, std::string_view name) const {
  return lean<Pod>(api_.get(resource_of("pods"), namespace_name, name), interner_);
}

Ref<const ResourceClaim> ResourceClaims::claim(std::string_view namespace_name,
                                               std::string_view name) const {
  return lean<ResourceClaim>(api_.get(resource_claims(), namespace_name, name), interner_);
}

Ref<const ResourceClaimTemplate> ResourceClaims::claim_template(std::string_view namespace_name,
                                                                std::string_view name) const {
  return lean<ResourceClaimTemplate>(api_.get(claim_templates(), namespace_name, name), interner_);
}

std::string ResourceClaims::create(const Pod& pod, const PodResourceClaim& entry,
                                   const ResourceClaimTemplate& made_from) {
  const ObjectRef owner = api_.get(resource_of("pods"), pod.namespace_name(), pod.name());
  const ObjectRef stored = api_.get(claim_templates(), pod.namespace_name(), made_from.name);
  if (!owner || !stored) return {};
  const JsonValue tree = stored->tree();
  const std::string_view name = pod.text(entry.name);
  JsonValue claim = JsonValue::object();
  JsonValue& metadata = object_at(claim, "metadata");
  if (const JsonValue* said = at(tree, "spec.metadata"); is_object(said))
    for (const char* member : {"labels", "annotations"}) copy_member(metadata, *said, member);
  set_text(object_at(metadata, "annotations"), controllers::kPodClaimName, name);
  set_text(metadata, "generateName", fmt::format("{}-{}-", pod.name(), name));
  set_text(metadata, "namespace", pod.namespace_name());
  array_at(metadata, "ownerReferences")
      .items.push_back(controller_reference(resource_of("pods"), *owner));
  if (const JsonValue* spec = at(tree, "spec.spec"); is_object(spec)) set(claim, "spec", *spec);
  const Answer<ObjectRef> made = api_.create(resource_claims(), std::move(claim));
  if (made) return (*made)->name;
  record(resource_of("pods"), *owner, "Warning", "FailedResourceClaimCreation",
         fmt::format("PodResourceClaim {}: failed to create ResourceClaim: {}", name,
                     made.error().message),
         "resource_claim");
  return {};
}

void ResourceClaims::write_names(const Pod& pod, const ClaimNames& names) {
  const auto edit = [&](JsonValue& object) -> Answer<void> {
    if (text_at(object, "metadata.uid") != pod.uid_text())
      return refuse(ApiError::not_found(resource_of("pods"), pod.name()));
    JsonValue& statuses = array_at(object, "status.resourceClaimStatuses");
    for (const auto& [entry, claim] : names) {
      if (std::ranges::any_of(statuses.items, [&](const JsonValue& status) {
            return text_at(status, "name") == entry;
          }))
        continue;
      JsonValue status = JsonValue::object();
      set_text(status, "name", entry);
      set_text(status, "resourceClaimName", claim);
      statuses.items.push_back(std::move(status));
    }
    return {};
  };
  static_cast<void>(
      api_.update_status(resource_of("pods"), pod.namespace_name(), pod.name(), edit));
}

bool ResourceClaims::write(const ResourceClaim& wanted) {
  const auto lay = [&](JsonValue& object, WrittenPart part) -> Answer<void> {
    Result<JsonValue> written = lay_over(object, wanted, part, interner_);
    if (!written) return refuse(ApiError::modified(resource_claims(), wanted.name));
    object = std::move(*written);
    return {};
  };
  const auto edit_status = [&](JsonValue& object) -> Answer<void> {
    // Somebody else was quicker: looked at anew when that is told.
    if (text_at(object, "metadata.resourceVersion") != wanted.resource_version)
      return refuse(ApiError::modified(resource_claims(), wanted.name));
    return lay(object, WrittenPart::kStatus);
  };
  if (!api_.update_status(resource_claims(), space_of(wanted), wanted.name, edit_status))
    return false;
  const auto edit = [&](JsonValue& object) -> Answer<void> {
    if (!wanted.allocated() && at(object, "status.allocation") != nullptr)
      return refuse(ApiError::modified(resource_claims(), wanted.name));
    return lay(object, WrittenPart::kObject);
  };
  return api_.update(resource_claims(), space_of(wanted), wanted.name, edit).has_value();
}

void ResourceClaims::remove(const ResourceClaim& claim) {
  static_cast<void>(
      api_.remove(resource_claims(), space_of(claim), claim.name, {.uid = claim.uid}));
}

}  // namespace berth::control_plane
