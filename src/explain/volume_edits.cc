#include "explain/volume_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/stable_sort.h"
#include "berth/views.h"

namespace berth::explain {
namespace {

template <typename Kind>
Ref<const Kind> find_object(const UnplacedPod& unplaced, ObjectKind kind,
                            std::string_view namespace_name, std::string_view name) {
  const Ref<const Object> object = unplaced.cluster().find(kind, namespace_name, name);
  return object ? Ref<const Kind>(static_cast<const Kind*>(object.get())) : Ref<const Kind>();
}

bool binds_late(const StorageClass& storage_class) {
  return storage_class.binding_mode == StorageClass::BindingMode::kWaitForFirstConsumer;
}

JsonValue object_of(std::string_view api_version, std::string_view kind, std::string_view name) {
  JsonValue object = JsonValue::object();
  object.add("apiVersion", JsonValue::of_text(api_version));
  object.add("kind", JsonValue::of_text(kind));
  JsonValue metadata = JsonValue::object();
  metadata.add("name", JsonValue::of_text(name));
  object.add("metadata", std::move(metadata));
  return object;
}

JsonValue texts(std::initializer_list<std::string_view> items) {
  JsonValue list = JsonValue::array();
  for (const std::string_view item : items) list.items.push_back(JsonValue::of_text(item));
  return list;
}

// What a volume has to be for a claim, or for a claim that nobody has written yet.
struct VolumeNeeds {
  std::string size = "1Gi";
  std::string storage_class;
  std::string attributes_class;
  JsonValue modes = texts({"ReadWriteOnce"});
  bool block = false;
  std::vector<Label> labels;
};

VolumeNeeds needs_of(const UnplacedPod& unplaced, const PodClaim& claim) {
  VolumeNeeds needs;
  if (!claim.claim) return needs;
  const PersistentVolumeClaim& written = *claim.claim;
  if (written.request) needs.size = written.request->to_string();
  needs.storage_class = written.symbols.text(written.storage_class);
  needs.attributes_class = written.symbols.text(written.attributes_class);
  needs.block = written.block;
  if (written.selector) needs.labels = written.selector->match_labels;
  const std::optional<JsonValue> json =
      unplaced.texts().of("PersistentVolumeClaim", unplaced.pod()->namespace_name(), claim.name);
  const JsonValue* modes = json ? find_at(*json, {"spec", "accessModes"}) : nullptr;
  if (modes && !modes->items.empty()) needs.modes = *modes;
  return needs;
}

void refer_to_claim(const UnplacedPod& unplaced, const PodClaim& claim, PatchedObject& volume) {
  volume.set({"spec", "claimRef", "namespace"},
             JsonValue::of_text(unplaced.pod()->namespace_name()));
  volume.set({"spec", "claimRef", "name"}, JsonValue::of_text(claim.name));
  if (claim.claim && !claim.claim->uid.empty())
    volume.set({"spec", "claimRef", "uid"}, JsonValue::of_text(claim.claim->uid));
}

Edit create_volume(const UnplacedPod& unplaced, const PodClaim& claim, const std::string& name,
                   bool bound) {
  const VolumeNeeds needs = needs_of(unplaced, claim);
  PatchedObject volume(object_of("v1", "PersistentVolume", name));
  for (const Label& label : needs.labels)
    volume.set({"metadata", "labels", unplaced.text(label.key)},
               JsonValue::of_text(unplaced.text(label.value)));
  volume.set({"spec", "capacity", "storage"}, JsonValue::of_text(needs.size));
  volume.set({"spec", "accessModes"}, needs.modes);
  if (!needs.storage_class.empty())
    volume.set({"spec", "storageClassName"}, JsonValue::of_text(needs.storage_class));
  if (!needs.attributes_class.empty())
    volume.set({"spec", "volumeAttributesClassName"}, JsonValue::of_text(needs.attributes_class));
  if (needs.block) volume.set({"spec", "volumeMode"}, JsonValue::of_text("Block"));
  if (bound) refer_to_claim(unplaced, claim, volume);
  volume.set({"spec", "hostPath", "path"}, JsonValue::of_text("/var/lib/" + name));
  volume.set({"status", "phase"}, JsonValue::of_text(bound ? "Bound" : "Available"));
  Edit edit;
  edit.code = "CreateVolume";
  edit.summary =
      fmt::format("create the volume {} of {} for claim {}", name, needs.size, claim.name);
  edit.cost = 9;
  edit.created.push_back(volume.object());
  return edit;
}

std::string free_volume_name(const UnplacedPod& unplaced, const PodClaim& claim) {
  const std::string base = fmt::format("pv-{}-{}", unplaced.pod()->namespace_name(), claim.name);
  std::string name = base;
  for (int i = 2; unplaced.cluster().find(ObjectKind::kPersistentVolume, {}, name); ++i)
    name = fmt::format("{}-{}", base, i);
  return name;
}

Edit create_storage_class(const UnplacedPod& unplaced, const std::string& name) {
  std::string provisioner = "example.com/provisioner";
  for (const Ref<const Object>& object : unplaced.cluster().list(ObjectKind::kStorageClass)) {
    const auto& other = static_cast<const StorageClass&>(*object);
    const std::string_view text = other.symbols.text(other.provisioner);
    if (!text.empty() && text != "kubernetes.io/no-provisioner") provisioner = text;
  }
  JsonValue object = object_of("storage.k8s.io/v1", "StorageClass", name);
  object.add("provisioner", JsonValue::of_text(provisioner));
  object.add("volumeBindingMode", JsonValue::of_text("WaitForFirstConsumer"));
  Edit edit;
  edit.code = "CreateStorageClass";
  edit.summary = fmt::format("create the storage class {} (provisioned by {})", name, provisioner);
  edit.cost = 8;
  edit.created.push_back(std::move(object));
  return edit;
}

// A new claim: of a class, or bound to a volume.
Edit create_claim(const UnplacedPod& unplaced, const PodClaim& claim,
                  const std::string& storage_class, const std::string& volume) {
  PatchedObject made(object_of("v1", "PersistentVolumeClaim", claim.name));
  made.set({"metadata", "namespace"}, JsonValue::of_text(unplaced.pod()->namespace_name()));
  if (claim.ephemeral) {
    JsonValue owner = JsonValue::object();
    owner.add("apiVersion", JsonValue::of_text("v1"));
    owner.add("kind", JsonValue::of_text("Pod"));
    owner.add("name", JsonValue::of_text(unplaced.pod()->name()));
    owner.add("uid", JsonValue::of_text(unplaced.pod()->uid_text()));
    owner.add("controller", JsonValue::of_bool(true));
    made.append({"metadata", "ownerReferences"}, std::move(owner));
  }
  if (!volume.empty())
    made.set({"metadata", "annotations", "pv.kubernetes.io/bind-completed"},
             JsonValue::of_text("yes"));
  made.set({"spec", "accessModes"}, texts({"ReadWriteOnce"}));
  made.set({"spec", "resources", "requests", "storage"}, JsonValue::of_text("1Gi"));
  if (!storage_class.empty())
    made.set({"spec", "storageClassName"}, JsonValue::of_text(storage_class));
  if (!volume.empty()) made.set({"spec", "volumeName"}, JsonValue::of_text(volume));
  made.set({"status", "phase"}, JsonValue::of_text(volume.empty() ? "Pending" : "Bound"));
  Edit edit;
  edit.code = "CreateClaim";
  edit.summary = volume.empty()
                     ? fmt::format("create the claim {} of class {}", claim.name, storage_class)
                     : fmt::format("create the claim {}, bound to volume {}", claim.name, volume);
  edit.cost = 9;
  edit.created.push_back(made.object());
  return edit;
}

Edit bind_claim(const UnplacedPod& unplaced, const PodClaim& claim, const std::string& volume) {
  Edit edit;
  edit.code = "BindClaim";
  edit.summary = fmt::format("bind the claim {} to volume {}", claim.name, volume);
  edit.cost = 8;
  edit.object = ObjectName{"PersistentVolumeClaim", std::string(unplaced.pod()->namespace_name()),
                           claim.name};
  edit.apply = [volume](PatchedObject& object) {
    object.set({"metadata", "annotations", "pv.kubernetes.io/bind-completed"},
               JsonValue::of_text("yes"));
    if (text_at(object.object(), {"spec", "volumeName"}) != volume)
      object.set({"spec", "volumeName"}, JsonValue::of_text(volume));
    return true;
  };
  return edit;
}

// Volumes that nobody has and that the claim may have, by name.
std::vector<std::string> available_volumes(const UnplacedPod& unplaced, const PodClaim& claim) {
  constexpr std::size_t kEnough = 3;
  std::vector<std::string> names;
  for (const Ref<const Object>& object : unplaced.cluster().list(ObjectKind::kPersistentVolume)) {
    const auto& volume = static_cast<const PersistentVolume&>(*object);
    if (volume.claim_ref || volume.terminating || volume.block != claim.claim->block ||
        volume.storage_class != claim.claim->storage_class ||
        !volume.access_modes.contains_all(claim.claim->access_modes) ||
        (claim.claim->request && volume.capacity < *claim.claim->request))
      continue;
    names.push_back(volume.name);
    if (names.size() == kEnough) break;
  }
  return names;
}

void add_for_missing_claim(const UnplacedPod& unplaced, const PodClaim& claim,
                           std::vector<Edits>& ways) {
  for (const Ref<const Object>& object : unplaced.cluster().list(ObjectKind::kStorageClass))
    if (binds_late(static_cast<const StorageClass&>(*object)))
      ways.push_back({create_claim(unplaced, claim, object->name, {})});
  const std::string volume = free_volume_name(unplaced, claim);
  ways.push_back(
      {create_claim(unplaced, claim, {}, volume), create_volume(unplaced, claim, volume, true)});
}

void add_for_unbound_claim(const UnplacedPod& unplaced, const PodClaim& claim,
                           std::vector<Edits>& ways) {
  const std::string& named = claim.claim->volume_name;
  const std::string storage_class(claim.claim->symbols.text(claim.claim->storage_class));
  if (!named.empty()) {  // a volume is named, and not there or not bound yet
    if (!claim.volume) ways.push_back({create_volume(unplaced, claim, named, true)});
    if (claim.claim->fully_bound()) return;
    ways.push_back({bind_claim(unplaced, claim, named)});
    if (!claim.volume)
      ways.push_back(
          {bind_claim(unplaced, claim, named), create_volume(unplaced, claim, named, true)});
    return;
  }
  if (!storage_class.empty() && !claim.storage_class)
    ways.push_back({create_storage_class(unplaced, storage_class)});
  const std::string volume = free_volume_name(unplaced, claim);
  if (claim.storage_class && binds_late(*claim.storage_class))
    ways.push_back({create_volume(unplaced, claim, volume, false)});
  for (const std::string& name : available_volumes(unplaced, claim))
    ways.push_back({bind_claim(unplaced, claim, name)});
  ways.push_back(
      {bind_claim(unplaced, claim, volume), create_volume(unplaced, claim, volume, true)});
}

}  // namespace

std::vector<PodClaim> claims_of(const UnplacedPod& unplaced) {
  std::vector<PodClaim> claims;
  const Pod& pod = *unplaced.pod();
  for (const Volume& volume : pod.spec().volumes) {
    if (volume.source != VolumeSource::kPersistentVolumeClaim &&
        volume.source != VolumeSource::kEphemeral)
      continue;
    PodClaim& claim = claims.emplace_back();
    claim.ephemeral = volume.source == VolumeSource::kEphemeral;
    claim.name = claim.ephemeral ? fmt::format("{}-{}", pod.name(), unplaced.text(volume.name))
                                 : unplaced.text(volume.source_name);
    claim.claim = find_object<PersistentVolumeClaim>(unplaced, ObjectKind::kPersistentVolumeClaim,
                                                     pod.namespace_name(), claim.name);
    if (!claim.claim) continue;
    claim.volume = find_object<PersistentVolume>(unplaced, ObjectKind::kPersistentVolume, {},
                                                 claim.claim->volume_name);
    claim.storage_class =
        find_object<StorageClass>(unplaced, ObjectKind::kStorageClass, {},
                                  claim.claim->symbols.text(claim.claim->storage_class));
  }
  return claims;
}

std::vector<std::vector<Edits>> missing_volumes(const UnplacedPod& unplaced) {
  std::vector<std::vector<Edits>> by_claim;
  for (const PodClaim& claim : claims_of(unplaced)) {
    std::vector<Edits> ways;
    // A claim of an ephemeral volume names its pod by UID.
    const bool has_uid = unplaced.json() && !text_at(*unplaced.json(), {"metadata", "uid"}).empty();
    if (!claim.claim && claim.ephemeral && !has_uid) continue;
    if (!claim.claim)
      add_for_missing_claim(unplaced, claim, ways);
    else if (!claim.claim->fully_bound() || !claim.volume)
      add_for_unbound_claim(unplaced, claim, ways);
    else
      continue;
    sort_stably(ways, {}, [](const Edits& edits) { return edits.size(); });
    by_claim.push_back(std::move(ways));
  }
  return by_claim;
}

}  // namespace berth::explain
