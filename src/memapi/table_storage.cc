// Volumes and what belongs to them.
#include <fmt/format.h>

#include "berth/resources.h"
#include "memapi/table_cells.h"

namespace berth::memapi {
namespace {

using namespace cell;

std::string access_modes(const JsonValue& object, std::string_view path) {
  std::string all;
  for (const JsonValue& mode : items_at(object, path)) {
    std::string_view shown = mode.text;
    if (shown == "ReadWriteOnce") shown = "RWO";
    if (shown == "ReadOnlyMany") shown = "ROX";
    if (shown == "ReadWriteMany") shown = "RWX";
    if (shown == "ReadWriteOncePod") shown = "RWOP";
    if (!all.empty()) all += ',';
    all += shown;
  }
  return all;
}

// ---- volumes ------------------------------------------------------------------------------------

constexpr Column kVolumes[] = {
    {"Name"},   {"Capacity"}, {"Access Modes"},           {"Reclaim Policy"},
    {"Status"}, {"Claim"},    {"StorageClass"},           {"VolumeAttributesClass"},
    {"Reason"}, {"Age"},      {"VolumeMode", "string", 1}};
void volume_cells(const JsonValue& volume, WallTime now, Cells& cells) {
  const std::string_view claim = text_at(volume, "spec.claimRef.name");
  const bool going = at(volume, "metadata.deletionTimestamp") != nullptr;
  cells = {
      name(volume),
      text(text_at(volume, "spec.capacity.storage")),
      text(access_modes(volume, "spec.accessModes")),
      text(text_at(volume, "spec.persistentVolumeReclaimPolicy")),
      text(going ? "Terminating" : text_at(volume, "status.phase")),
      text(claim.empty() ? std::string()
                         : fmt::format("{}/{}", text_at(volume, "spec.claimRef.namespace"), claim)),
      text(text_at(volume, "spec.storageClassName")),
      text_or(text_at(volume, "spec.volumeAttributesClassName"), "<unset>"),
      text(text_at(volume, "status.reason")),
      age(volume, now),
      text_or(text_at(volume, "spec.volumeMode"), "<unset>")};
}

constexpr Column kClaims[] = {{"Name"},
                              {"Status"},
                              {"Volume"},
                              {"Capacity"},
                              {"Access Modes"},
                              {"StorageClass"},
                              {"VolumeAttributesClass"},
                              {"Age"},
                              {"VolumeMode", "string", 1}};
void claim_cells(const JsonValue& claim, WallTime now, Cells& cells) {
  const bool bound = !text_at(claim, "spec.volumeName").empty();
  const bool going = at(claim, "metadata.deletionTimestamp") != nullptr;
  cells = {name(claim),
           text(going ? "Terminating" : text_at(claim, "status.phase")),
           text(text_at(claim, "spec.volumeName")),
           text(bound ? text_at(claim, "status.capacity.storage") : std::string_view()),
           text(bound ? access_modes(claim, "status.accessModes") : std::string()),
           text(text_at(claim, "spec.storageClassName")),
           text_or(text_at(claim, "spec.volumeAttributesClassName"), "<unset>"),
           age(claim, now),
           text_or(text_at(claim, "spec.volumeMode"), "<unset>")};
}

constexpr Column kStorageClasses[] = {{"Name"},
                                      {"Provisioner"},
                                      {"ReclaimPolicy"},
                                      {"VolumeBindingMode"},
                                      {"AllowVolumeExpansion", "boolean"},
                                      {"Age"}};
void storage_class_cells(const JsonValue& object, WallTime now, Cells& cells) {
  std::string shown(text_at(object, "metadata.name"));
  const JsonValue* annotations = at(object, "metadata.annotations");
  if (is_object(annotations)) {
    const JsonValue* is_default = annotations->find("storageclass.kubernetes.io/is-default-class");
    if (is_default != nullptr && is_default->text == "true") shown += " (default)";
  }
  cells = {text(shown),
           text(text_at(object, "provisioner")),
           text(text_at(object, "reclaimPolicy")),
           text(text_at(object, "volumeBindingMode")),
           JsonValue::of_bool(true_at(object, "allowVolumeExpansion")),
           age(object, now)};
}

constexpr Column kCsiNodes[] = {{"Name"}, {"Drivers", "integer"}, {"Age"}};
void csi_node_cells(const JsonValue& object, WallTime now, Cells& cells) {
  const auto drivers = static_cast<std::int64_t>(items_at(object, "spec.drivers").size());
  cells = {name(object), JsonValue::of_int(drivers), age(object, now)};
}

constexpr Column kCsiDrivers[] = {{"Name"},
                                  {"AttachRequired", "boolean"},
                                  {"PodInfoOnMount", "boolean"},
                                  {"StorageCapacity", "boolean"},
                                  {"TokenRequests"},
                                  {"RequiresRepublish", "boolean"},
                                  {"Modes"},
                                  {"Age"}};
void csi_driver_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object),
           JsonValue::of_bool(true_at(object, "spec.attachRequired")),
           JsonValue::of_bool(true_at(object, "spec.podInfoOnMount")),
           JsonValue::of_bool(true_at(object, "spec.storageCapacity")),
           text_or(joined(items_at(object, "spec.tokenRequests"), "audience"), "<unset>"),
           JsonValue::of_bool(true_at(object, "spec.requiresRepublish")),
           text_or(joined(items_at(object, "spec.volumeLifecycleModes"), ""), "<none>"),
           age(object, now)};
}

constexpr Column kCapacities[] = {{"Name"}, {"StorageClassName"}, {"Capacity"}};
void capacity_cells(const JsonValue& object, WallTime, Cells& cells) {
  cells = {name(object), text(text_at(object, "storageClassName")),
           text_or(text_at(object, "capacity"), "<unset>")};
}

constexpr Column kAttachments[] = {
    {"Name"}, {"Attacher"}, {"PV"}, {"Node"}, {"Attached", "boolean"}, {"Age"}};
void attachment_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object),
           text(text_at(object, "spec.attacher")),
           text(text_at(object, "spec.source.persistentVolumeName")),
           text(text_at(object, "spec.nodeName")),
           JsonValue::of_bool(true_at(object, "status.attached")),
           age(object, now)};
}

constexpr Table kStorageTables[] = {
    {"persistentvolumes", kVolumes, volume_cells},
    {"persistentvolumeclaims", kClaims, claim_cells},
    {"storageclasses", kStorageClasses, storage_class_cells},
    {"csinodes", kCsiNodes, csi_node_cells},
    {"csidrivers", kCsiDrivers, csi_driver_cells},
    {"csistoragecapacities", kCapacities, capacity_cells},
    {"volumeattachments", kAttachments, attachment_cells},
};

}  // namespace

std::span<const Table> storage_tables() { return kStorageTables; }

}  // namespace berth::memapi
