#include "memapi/controllers/persistent_volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/decode.h"
#include "base/time_text.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kVolumeComponent = "persistentvolume-controller";
constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
constexpr Duration kProvisionTime = std::chrono::milliseconds(100);
constexpr Duration kRetryAfterFailure = std::chrono::seconds(1);

const Resource& claims() { return resource_of("persistentvolumeclaims"); }
const Resource& volumes() { return resource_of("persistentvolumes"); }
const Resource& classes() { return resource_of("storageclasses", "storage.k8s.io"); }

template <typename T>
Ref<const T> decode(ObjectKind kind, const StoredObject& object, Interner& interner) {
  const Result<AnyObject> decoded = decode_object(kind, object.json, interner, nullptr);
  const auto* lean = decoded ? std::get_if<Ref<const Object>>(&*decoded) : nullptr;
  return lean ? Ref<const T>(static_cast<const T*>(lean->get())) : nullptr;
}

Ref<const PersistentVolumeClaim> decode_claim(const StoredObject& object, Interner& interner) {
  return decode<PersistentVolumeClaim>(ObjectKind::kPersistentVolumeClaim, object, interner);
}

std::string claim_key(std::string_view namespace_name, std::string_view name) {
  return fmt::format("claim/{}/{}", namespace_name, name);
}

std::string_view namespace_of(const Object& object) {
  return object.symbols.text(object.namespace_name);
}

void set_annotation(JsonValue& object, std::string_view name, std::string_view value) {
  set_text(object_at(object_at(object, "metadata"), "annotations"), name, value);
}

std::string_view annotation(const JsonValue& tree, std::string_view name) {
  const JsonValue* annotations = at(tree, "metadata.annotations");
  const JsonValue* said = is_object(annotations) ? annotations->find(name) : nullptr;
  return said ? std::string_view(said->text) : std::string_view();
}

}  // namespace

PersistentVolumeController::PersistentVolumeController(LocalClient& api) : Controller(api) {
  follow(classes(), [this](const Change&) { enqueue_unbound(); });
  follow(volumes(), [this](const Change& change) { volume_changed(change); });
  follow(claims(), [this](const Change& change) { claim_changed(change); });
}

void PersistentVolumeController::enqueue_unbound() {
  for (const std::string& key : unbound_) enqueue(key);
}

void PersistentVolumeController::claim_changed(const Change& change) {
  const StoredObject& object = *change.object;
  const std::string key = claim_key(object.namespace_name, object.name);
  const Ref<const Claim> claim = decode_claim(object, interner_);
  if (!claim) return;
  if (change.type == ChangeType::kDeleted) {
    unbound_.erase(key);
    due_.erase(object.uid);
    failures_.erase(object.uid);
    if (const Ref<const PersistentVolume> volume = volumes_.of(*claim))
      enqueue("volume/" + volume->name);
    return;
  }
  if (claim->fully_bound()) {
    unbound_.erase(key);
    enqueue("volume/" + claim->volume_name);
    return;
  }
  unbound_.insert(key);
  enqueue(key);
}

void PersistentVolumeController::volume_changed(const Change& change) {
  const auto volume =
      decode<PersistentVolume>(ObjectKind::kPersistentVolume, *change.object, interner_);
  if (!volume) return;
  if (change.type == ChangeType::kDeleted)
    volumes_.remove(volume->name);
  else
    volumes_.put(volume);
  enqueue("volume/" + volume->name);
  if (volume->claim_ref)
    enqueue(claim_key(volume->symbols.text(volume->claim_ref->namespace_name),
                      volume->claim_ref->name));
  else if (change.type != ChangeType::kDeleted)
    enqueue_unbound();
}

void PersistentVolumeController::sync(const std::string& key) {
  if (key.starts_with("claim/"))
    sync_claim(key);
  else
    sync_volume(key.substr(std::string_view("volume/").size()));
}

// ---- volumes

// A volume's phase follows from what it says and from its claim.
void PersistentVolumeController::sync_volume(const std::string& name) {
  const Ref<const PersistentVolume> volume = volumes_.find(name);
  if (!volume) return;
  std::string_view phase = "Available";
  if (volume->claim_ref && !volume->claim_ref->uid.empty()) {
    const ObjectRef stored = api_.get(
        claims(), volume->symbols.text(volume->claim_ref->namespace_name), volume->claim_ref->name);
    if (stored && stored->uid == volume->claim_ref->uid) {
      const Ref<const Claim> claim = decode_claim(*stored, interner_);
      phase = claim && claim->volume_name == name ? "Bound" : "Available";
    } else if (volume->phase == PersistentVolume::Phase::kBound) {
      phase = "Released";
    } else {
      return;
    }
  }
  const ObjectRef present = api_.get(volumes(), "", name);
  if (!present) return;
  if (phase == "Released" &&
      text_at(present->tree(), "spec.persistentVolumeReclaimPolicy") == "Delete") {
    static_cast<void>(api_.remove(volumes(), "", name, {.uid = present->uid}));
    return;
  }
  static_cast<void>(api_.update_status(volumes(), "", name, [&](JsonValue& object) -> Answer<void> {
    set_text(object_at(object, "status"), "phase", phase);
    return {};
  }));
}

// ---- claims

PersistentVolumeController::Class PersistentVolumeController::class_of(const Claim& claim) const {
  Class found;
  if (claim.storage_class.empty()) return found;
  const ObjectRef stored = api_.get(classes(), "", claim.symbols.text(claim.storage_class));
  if (!stored) return found;
  const JsonValue tree = stored->tree();
  found.exists = true;
  found.waits = text_at(tree, "volumeBindingMode") == "WaitForFirstConsumer";
  found.reclaim_policy = text_at(tree, "reclaimPolicy");
  found.provisioner = text_at(tree, "provisioner");
  if (found.provisioner == kNoProvisioner) found.provisioner.clear();
  if (const JsonValue* annotations = at(tree, "metadata.annotations"); is_object(annotations))
    for (const JsonMember& member : annotations->members)
      found.annotations.emplace(member.name, member.value.text);
  return found;
}

Ref<const PersistentVolume> PersistentVolumeController::volume_for(const Claim& claim,
                                                                   bool waits) const {
  if (!claim.volume_name.empty()) {
    const Ref<const PersistentVolume> named = volumes_.find(claim.volume_name);
    return named && (!named->claim_ref || names_claim(*named, claim)) ? named : nullptr;
  }
  if (const Ref<const PersistentVolume> chosen = volumes_.of(claim)) return chosen;
  if (waits) return nullptr;
  return volumes_.smallest_for(claim, *interner_.symbols());
}

void PersistentVolumeController::sync_claim(const std::string& key) {
  const ObjectName name = name_of(std::string_view(key).substr(std::string_view("claim/").size()));
  const ObjectRef stored = api_.get(claims(), name.namespace_name, name.name);
  if (!stored) return;
  const Ref<const Claim> claim = decode_claim(*stored, interner_);
  if (!claim || claim->terminating || claim->phase == Claim::Phase::kLost) return;
  if (claim->fully_bound()) {
    if (!volumes_.find(claim->volume_name) && !api_.get(volumes(), "", claim->volume_name))
      lose(*claim);
    return;
  }
  const Class storage_class = class_of(*claim);
  if (const Ref<const PersistentVolume> volume = volume_for(*claim, storage_class.waits))
    return bind(*claim, *volume);
  if (!claim->volume_name.empty() || storage_class.provisioner.empty()) return;
  if (storage_class.waits && !claim->selected_node) {
    due_.erase(stored->uid);
    record(claims(), *stored, "Normal", "WaitForFirstConsumer",
           "waiting for first consumer to be created before binding", kVolumeComponent);
    return;
  }
  provision(*stored, *claim, storage_class);
}

// The volume first, then the claim: a volume that names its claim will be found again.
void PersistentVolumeController::bind(const Claim& claim, const PersistentVolume& volume) {
  const auto edit_volume = [&](JsonValue& object) -> Answer<void> {
    JsonValue& reference = object_at(object_at(object, "spec"), "claimRef");
    if (text_at(reference, "name").empty())
      set_annotation(object, annotations::kBoundByController, "yes");
    set_text(reference, "kind", "PersistentVolumeClaim");
    set_text(reference, "apiVersion", "v1");
    set_text(reference, "namespace", namespace_of(claim));
    set_text(reference, "name", claim.name);
    set_text(reference, "uid", claim.uid);
    return {};
  };
  if (!api_.update(volumes(), "", volume.name, edit_volume)) return;
  const auto edit_claim = [&](JsonValue& object) -> Answer<void> {
    JsonValue& spec = object_at(object, "spec");
    if (text_at(spec, "volumeName").empty()) {
      set_text(spec, "volumeName", volume.name);
      set_annotation(object, annotations::kBoundByController, "yes");
    }
    set_annotation(object, annotations::kBindCompleted, "yes");
    return {};
  };
  if (!api_.update(claims(), namespace_of(claim), claim.name, edit_claim)) return;
  const auto edit_status = [&](JsonValue& object) -> Answer<void> {
    JsonValue& status = object_at(object, "status");
    set_text(status, "phase", "Bound");
    copy_member(status, object_at(object, "spec"), "accessModes");
    set_text(object_at(status, "capacity"), "storage", volume.capacity.to_string());
    return {};
  };
  static_cast<void>(api_.update_status(claims(), namespace_of(claim), claim.name, edit_status));
}

void PersistentVolumeController::provision(const StoredObject& stored, const Claim& claim,
                                           const Class& storage_class) {
  const JsonValue tree = stored.tree();
  const auto said = [&](std::string_view name) -> std::string {
    if (const std::string_view own = annotation(tree, name); !own.empty()) return std::string(own);
    const auto of_class = storage_class.annotations.find(name);
    return of_class == storage_class.annotations.end() ? std::string() : of_class->second;
  };
  if (said("berth/provision") == "never") return;
  const std::string key = claim_key(stored.namespace_name, stored.name);
  const Result<Duration> written = parse_go_duration(said("berth/provision-after"));
  const auto [due, first] = due_.try_emplace(stored.uid, now() + written.value_or(kProvisionTime));
  if (first)
    record(claims(), stored, "Normal", "ExternalProvisioning",
           fmt::format("Waiting for a volume to be created either by the external provisioner '{}' "
                       "or manually by the system administrator. If volume creation is delayed, "
                       "please verify that the provisioner is running and correctly registered.",
                       storage_class.provisioner),
           kVolumeComponent);
  if (const Duration left = due->second - now(); left > Duration::zero())
    return enqueue_after(left, key);
  due_.erase(due);

  std::int64_t to_fail = 0;
  const std::string times = said("berth/provision-failures");
  std::from_chars(times.data(), times.data() + times.size(), to_fail);
  if (failures_[stored.uid] < to_fail) {
    ++failures_[stored.uid];
    record(claims(), stored, "Warning", "ProvisioningFailed",
           fmt::format("failed to provision volume with StorageClass \"{}\": no space left",
                       claim.symbols.text(claim.storage_class)),
           storage_class.provisioner);
    give_back_node(claim);
    if (!claim.selected_node) enqueue_after(kRetryAfterFailure, key);
    return;
  }
  if (!make_volume(stored, claim, storage_class)) return;
  record(claims(), stored, "Normal", "ProvisioningSucceeded",
         fmt::format("Successfully provisioned volume pvc-{}", stored.uid),
         storage_class.provisioner);
}

// A volume that can be used where the node is: in its zone, else on it alone, as labels say.
bool PersistentVolumeController::make_volume(const StoredObject& stored, const Claim& claim,
                                             const Class& storage_class) {
  const JsonValue tree = stored.tree();
  JsonValue volume = JsonValue::object();
  const std::string name = fmt::format("pvc-{}", stored.uid);
  set_text(object_at(volume, "metadata"), "name", name);
  set_annotation(volume, kProvisionedBy, storage_class.provisioner);
  JsonValue& spec = object_at(volume, "spec");
  set_text(object_at(spec, "capacity"), "storage", claim.request.value_or(Quantity()).to_string());
  if (const JsonValue* written = at(tree, "spec"); is_object(written))
    for (const char* member : {"accessModes", "volumeMode", "volumeAttributesClassName"})
      copy_member(spec, *written, member);
  set_text(spec, "storageClassName", claim.symbols.text(claim.storage_class));
  set_text(spec, "persistentVolumeReclaimPolicy",
           storage_class.reclaim_policy.empty() ? "Delete" : storage_class.reclaim_policy);
  set_text(object_at(spec, "csi"), "driver", storage_class.provisioner);
  set_text(object_at(spec, "csi"), "volumeHandle", name);
  JsonValue& reference = object_at(spec, "claimRef");
  set_text(reference, "kind", "PersistentVolumeClaim");
  set_text(reference, "apiVersion", "v1");
  set_text(reference, "namespace", stored.namespace_name);
  set_text(reference, "name", stored.name);
  set_text(reference, "uid", stored.uid);
  if (claim.selected_node) {
    const std::string node_name(claim.symbols.text(*claim.selected_node));
    const ObjectRef node = api_.get(resource_of("nodes"), "", node_name);
    if (!node) {
      give_back_node(claim);
      return false;
    }
    const auto label = [&](std::string_view key) -> std::string {
      for (const auto& [present, value] : node->labels)
        if (present == key) return value;
      return {};
    };
    std::string key = "topology.kubernetes.io/zone";
    std::string value = label(key);
    if (value.empty()) {
      key = "kubernetes.io/hostname";
      value = label(key);
    }
    if (!value.empty()) {
      JsonValue requirement = JsonValue::object();
      set_text(requirement, "key", key);
      set_text(requirement, "operator", "In");
      array_at(requirement, "values").items.push_back(JsonValue::of_text(value));
      JsonValue term = JsonValue::object();
      array_at(term, "matchExpressions").items.push_back(std::move(requirement));
      array_at(object_at(object_at(spec, "nodeAffinity"), "required"), "nodeSelectorTerms")
          .items.push_back(std::move(term));
    }
  }
  return api_.create(volumes(), std::move(volume)).has_value();
}

void PersistentVolumeController::give_back_node(const Claim& claim) {
  if (!claim.selected_node) return;
  static_cast<void>(
      api_.update(claims(), namespace_of(claim), claim.name, [](JsonValue& object) -> Answer<void> {
        JsonValue* said = at(object, "metadata.annotations");
        if (said) erase(*said, annotations::kSelectedNode);
        return {};
      }));
}

void PersistentVolumeController::lose(const Claim& claim) {
  static_cast<void>(api_.update_status(claims(), namespace_of(claim), claim.name,
                                       [](JsonValue& object) -> Answer<void> {
                                         set_text(object_at(object, "status"), "phase", "Lost");
                                         return {};
                                       }));
}

}  // namespace berth::memapi
