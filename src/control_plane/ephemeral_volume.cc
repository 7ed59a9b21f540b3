#include "control_plane/ephemeral_volume.h"

#include <fmt/format.h>

#include <utility>

namespace berth::control_plane {

EphemeralVolumeController::EphemeralVolumeController(LocalClient& api, PodIndex& pods)
    : Controller(api), pods_(pods) {
  pods_.listen(lifetime(), [this](const PodFacts* before, const PodFacts* after) {
    if (before == nullptr && after != nullptr) enqueue(after->key());
  });
}

void EphemeralVolumeController::sync(const std::string& key) {
  const PodFacts* facts = pods_.find(key);
  if (facts == nullptr || !facts->active()) return;
  const ObjectRef pod = api_.get(resource_of("pods"), facts->namespace_name, facts->name);
  if (!pod) return;
  const Resource& claims = resource_of("persistentvolumeclaims");
  const JsonValue tree = pod->tree();
  for (const JsonValue& volume : items_at(tree, "spec.volumes")) {
    const JsonValue* made_from = at(volume, "ephemeral.volumeClaimTemplate");
    if (!is_object(made_from)) continue;
    const std::string name = fmt::format("{}-{}", pod->name, text_at(volume, "name"));
    // One of that name that is not the pod's: the scheduler says so, users sort it out.
    if (api_.get(claims, pod->namespace_name, name)) continue;
    JsonValue claim = JsonValue::object();
    if (const JsonValue* metadata = at(*made_from, "metadata"); is_object(metadata))
      for (const char* member : {"labels", "annotations"})
        copy_member(object_at(claim, "metadata"), *metadata, member);
    JsonValue& metadata = object_at(claim, "metadata");
    set_text(metadata, "name", name);
    set_text(metadata, "namespace", pod->namespace_name);
    array_at(metadata, "ownerReferences")
        .items.push_back(controller_reference(resource_of("pods"), *pod));
    copy_member(claim, *made_from, "spec");
    if (const Answer<ObjectRef> made = api_.create(claims, std::move(claim)); !made) {
      record(resource_of("pods"), *pod, "Warning", "EphemeralVolumeCreateFailed",
             fmt::format("ephemeral volume controller failed to create PVC {}: {}", name,
                         made.error().message),
             "ephemeral_volume");
      enqueue_after(kRetryAfterRefusal, key);
    }
  }
}

}  // namespace berth::control_plane
