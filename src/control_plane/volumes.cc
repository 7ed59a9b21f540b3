#include "control_plane/volumes.h"

#include <fmt/format.h>

#include <charconv>

#include "base/time_text.h"
#include "control_plane/lean.h"

namespace berth::control_plane {
namespace {

using controllers::StepOutcome;
using controllers::VolumeStep;

constexpr std::string_view kVolumeComponent = "persistentvolume-controller";
constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
constexpr Duration kProvisionTime = std::chrono::milliseconds(100);

const Resource& claim_resource() { return resource_of("persistentvolumeclaims"); }
const Resource& volume_resource() { return resource_of("persistentvolumes"); }
const Resource& class_resource() { return resource_of("storageclasses", "storage.k8s.io"); }

std::string_view namespace_of(const Object& object) {
  return object.symbols.text(object.namespace_name);
}

void set_annotation(JsonValue& object, std::string_view name, std::string_view value) {
  set_text(object_at(object, "metadata.annotations"), name, value);
}

std::string_view annotation_of(const StoredObject& object, const JsonValue& tree,
                               std::string_view name) {
  if (!object.json.contains(name)) return {};
  const JsonValue* annotations = at(tree, "metadata.annotations");
  const JsonValue* said = is_object(annotations) ? annotations->find(name) : nullptr;
  return said != nullptr ? std::string_view(said->text) : std::string_view();
}

void write_claim_ref(JsonValue& volume, const PersistentVolume& wanted) {
  JsonValue& reference = object_at(volume, "spec.claimRef");
  set_text(reference, "kind", "PersistentVolumeClaim");
  set_text(reference, "apiVersion", "v1");
  set_text(reference, "namespace", wanted.symbols.text(wanted.claim_ref->namespace_name));
  set_text(reference, "name", wanted.claim_ref->name);
  set_text(reference, "uid", wanted.claim_ref->uid);
}

std::string_view name_of_phase(PersistentVolume::Phase phase) {
  using Phase = PersistentVolume::Phase;
  if (phase == Phase::kBound) return "Bound";
  return phase == Phase::kReleased ? "Released" : "Available";
}

std::string_view name_of_phase(PersistentVolumeClaim::Phase phase) {
  using Phase = PersistentVolumeClaim::Phase;
  if (phase == Phase::kBound) return "Bound";
  return phase == Phase::kLost ? "Lost" : "Pending";
}

}  // namespace

Volumes::Volumes(LocalClient& api) : ApiFollower(api), controller_(api.loop(), interner_, *this) {
  follow(class_resource(), [this](const Change&) { controller_.class_changed(); });
  follow(volume_resource(), [this](const Change& change) {
    if (const auto volume = lean<PersistentVolume>(*change.object, interner_))
      controller_.volume_changed(volume, change.type == ChangeType::kDeleted);
  });
  follow(claim_resource(), [this](const Change& change) {
    const bool gone = change.type == ChangeType::kDeleted;
    if (gone) failures_.erase(change.object->uid);
    if (const auto claim = lean<PersistentVolumeClaim>(*change.object, interner_))
      controller_.claim_changed(*claim, gone);
  });
}

Ref<const PersistentVolumeClaim> Volumes::claim(std::string_view namespace_name,
                                                std::string_view name) const {
  return lean<PersistentVolumeClaim>(api_.get(claim_resource(), namespace_name, name), interner_);
}

Ref<const StorageClass> Volumes::storage_class(std::string_view name) const {
  return lean<StorageClass>(api_.get(class_resource(), "", name), interner_);
}

Ref<const Node> Volumes::node(std::string_view name) const {
  return lean<Node>(api_.get(resource_of("nodes"), "", name), interner_);
}

ObjectRef Volumes::stored(const PersistentVolumeClaim& claim) const {
  return api_.get(claim_resource(), namespace_of(claim), claim.name);
}

std::string Volumes::said(const PersistentVolumeClaim& claim, std::string_view annotation) const {
  const ObjectRef storage_class =
      api_.get(class_resource(), "", claim.symbols.text(claim.storage_class));
  for (const ObjectRef& object : {stored(claim), storage_class}) {
    if (!object) continue;
    const JsonValue tree = object->tree();
    if (const std::string_view text = annotation_of(*object, tree, annotation); !text.empty())
      return std::string(text);
  }
  return {};
}

std::string Volumes::provisioner_of(const PersistentVolumeClaim& claim) const {
  const Ref<const StorageClass> found = storage_class(claim.symbols.text(claim.storage_class));
  return found ? std::string(found->symbols.text(found->provisioner)) : std::string();
}

// ---- how the steps go

std::optional<Duration> Volumes::begin(const PersistentVolumeClaim& claim, VolumeStep step) {
  const ObjectRef object = stored(claim);
  if (!object || step == VolumeStep::kBind) return Duration::zero();
  if (step == VolumeStep::kWait) {
    record(claim_resource(), *object, "Normal", "WaitForFirstConsumer",
           "waiting for first consumer to be created before binding", kVolumeComponent);
    return std::nullopt;
  }
  if (said(claim, "berth/provision") == "never") return std::nullopt;
  record(claim_resource(), *object, "Normal", "ExternalProvisioning",
         fmt::format("Waiting for a volume to be created either by the external provisioner '{}' "
                     "or manually by the system administrator. If volume creation is delayed, "
                     "please verify that the provisioner is running and correctly registered.",
                     provisioner_of(claim)),
         kVolumeComponent);
  return parse_go_duration(said(claim, "berth/provision-after")).value_or(kProvisionTime);
}

StepOutcome Volumes::finish(const PersistentVolumeClaim& claim) {
  std::int64_t to_fail = 0;
  const std::string times = said(claim, "berth/provision-failures");
  std::from_chars(times.data(), times.data() + times.size(), to_fail);
  if (to_fail == 0 || failures_[claim.uid] >= to_fail) return StepOutcome::kDone;
  ++failures_[claim.uid];
  if (const ObjectRef object = stored(claim))
    record(claim_resource(), *object, "Warning", "ProvisioningFailed",
           fmt::format("failed to provision volume with StorageClass \"{}\": no space left",
                       claim.symbols.text(claim.storage_class)),
           provisioner_of(claim));
  return StepOutcome::kFail;
}

// ---- writing

bool Volumes::write(const PersistentVolume& wanted) {
  const auto edit = [&](JsonValue& object) -> Answer<void> {
    if (!wanted.claim_ref || wanted.phase != PersistentVolume::Phase::kBound) return {};
    if (wanted.bound_by_controller) set_annotation(object, annotations::kBoundByController, "yes");
    write_claim_ref(object, wanted);
    return {};
  };
  if (!api_.update(volume_resource(), "", wanted.name, edit)) return false;
  const auto edit_status = [&](JsonValue& object) -> Answer<void> {
    set_text(object_at(object, "status"), "phase", name_of_phase(wanted.phase));
    return {};
  };
  return api_.update_status(volume_resource(), "", wanted.name, edit_status).has_value();
}

bool Volumes::write(const PersistentVolumeClaim& wanted, const PersistentVolume* volume) {
  const std::string_view space = namespace_of(wanted);
  const auto edit = [&](JsonValue& object) -> Answer<void> {
    JsonValue& spec = object_at(object, "spec");
    if (!wanted.volume_name.empty() && text_at(spec, "volumeName").empty()) {
      set_text(spec, "volumeName", wanted.volume_name);
      set_annotation(object, annotations::kBoundByController, "yes");
    }
    if (wanted.bind_completed) set_annotation(object, annotations::kBindCompleted, "yes");
    JsonValue* said = at(object, "metadata.annotations");
    if (!wanted.selected_node && is_object(said)) erase(*said, annotations::kSelectedNode);
    return {};
  };
  if (!api_.update(claim_resource(), space, wanted.name, edit)) return false;
  const auto edit_status = [&](JsonValue& object) -> Answer<void> {
    JsonValue& status = object_at(object, "status");
    set_text(status, "phase", name_of_phase(wanted.phase));
    if (volume == nullptr) return {};
    copy_member(status, object_at(object, "spec"), "accessModes");
    set_text(object_at(status, "capacity"), "storage", volume->capacity.to_string());
    return {};
  };
  return api_.update_status(claim_resource(), space, wanted.name, edit_status).has_value();
}

bool Volumes::create(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  const ObjectRef object = stored(claim);
  if (!object) return false;
  const std::string_view provisioner = volume.symbols.text(volume.source.source_name);
  JsonValue made = JsonValue::object();
  set_text(object_at(made, "metadata"), "name", volume.name);
  set_annotation(made, kProvisionedBy, provisioner);
  JsonValue& spec = object_at(made, "spec");
  set_text(object_at(spec, "capacity"), "storage", volume.capacity.to_string());
  const JsonValue claim_tree = object->tree();
  if (const JsonValue* written = at(claim_tree, "spec"); is_object(written))
    for (const char* member : {"accessModes", "volumeMode", "volumeAttributesClassName"})
      copy_member(spec, *written, member);
  const std::string_view class_name = volume.symbols.text(volume.storage_class);
  set_text(spec, "storageClassName", class_name);
  const ObjectRef storage_class = api_.get(class_resource(), "", class_name);
  const std::string policy(storage_class ? text_at(storage_class->tree(), "reclaimPolicy")
                                         : std::string_view());
  set_text(spec, "persistentVolumeReclaimPolicy", policy.empty() ? "Delete" : policy);
  set_text(object_at(spec, "csi"), "driver", provisioner);
  set_text(object_at(spec, "csi"), "volumeHandle", volume.name);
  if (volume.node_affinity) {
    const SelectorRequirement& where = volume.node_affinity->front().match_expressions.front();
    JsonValue requirement = JsonValue::object();
    set_text(requirement, "key", volume.symbols.text(where.key));
    set_text(requirement, "operator", "In");
    array_at(requirement, "values")
        .items.push_back(JsonValue::of_text(volume.symbols.text(where.values.front())));
    JsonValue term = JsonValue::object();
    array_at(term, "matchExpressions").items.push_back(std::move(requirement));
    array_at(spec, "nodeAffinity.required.nodeSelectorTerms").items.push_back(std::move(term));
  }
  write_claim_ref(made, volume);
  if (!api_.create(volume_resource(), std::move(made))) return false;
  record(claim_resource(), *object, "Normal", "ProvisioningSucceeded",
         fmt::format("Successfully provisioned volume {}", volume.name), provisioner);
  return true;
}

void Volumes::remove(const PersistentVolume& volume) {
  static_cast<void>(api_.remove(volume_resource(), "", volume.name, {.uid = volume.uid}));
}

bool Volumes::deletes_released(const PersistentVolume& volume) const {
  const ObjectRef present = api_.get(volume_resource(), "", volume.name);
  return present && text_at(present->tree(), "spec.persistentVolumeReclaimPolicy") == "Delete";
}

}  // namespace berth::control_plane
