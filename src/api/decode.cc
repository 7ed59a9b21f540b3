#include "api/decode.h"

#include <utility>

#include "api/json_reader.h"
#include "api/kinds_json.h"
#include "api/node_json.h"
#include "api/pod_json.h"
#include "api/storage_json.h"

namespace berth {
namespace {

struct KnownKind {
  std::string_view group;
  ObjectKind kind;
  bool namespaced;
};

constexpr KnownKind kKinds[] = {
    {"", ObjectKind::kPod, true},
    {"", ObjectKind::kNode, false},
    {"", ObjectKind::kNamespace, false},
    {"", ObjectKind::kService, true},
    {"", ObjectKind::kReplicationController, true},
    {"", ObjectKind::kPersistentVolume, false},
    {"", ObjectKind::kPersistentVolumeClaim, true},
    {"apps", ObjectKind::kReplicaSet, true},
    {"apps", ObjectKind::kStatefulSet, true},
    {"apps", ObjectKind::kDeployment, true},
    {"apps", ObjectKind::kDaemonSet, true},
    {"batch", ObjectKind::kJob, true},
    {"scheduling.k8s.io", ObjectKind::kPriorityClass, false},
    {"scheduling.k8s.io", ObjectKind::kPodGroup, true},
    {"policy", ObjectKind::kPodDisruptionBudget, true},
    {"storage.k8s.io", ObjectKind::kStorageClass, false},
    {"storage.k8s.io", ObjectKind::kCSINode, false},
    {"storage.k8s.io", ObjectKind::kCSIDriver, false},
    {"storage.k8s.io", ObjectKind::kCSIStorageCapacity, true},
    {"storage.k8s.io", ObjectKind::kVolumeAttachment, false},
    {"resource.k8s.io", ObjectKind::kResourceClaim, true},
    {"resource.k8s.io", ObjectKind::kResourceClaimTemplate, true},
    {"resource.k8s.io", ObjectKind::kResourceSlice, false},
    {"resource.k8s.io", ObjectKind::kDeviceClass, false},
};

Result<AnyObject> decode_as_pod(std::string_view json, Interner& interner,
                                const Admission* admission, std::string_view name) {
  Result<WrittenPod> pod = decode_written_pod(json, interner);
  if (!pod) return fail(std::move(pod).error());
  if (pod->own.name.empty()) pod->own.name = name;
  if (admission) {
    if (auto admitted = admit(*pod, *admission); !admitted) return fail(admitted.error());
  }
  return freeze(*std::move(pod), interner);
}

Result<Ref<Object>> decode_written(ObjectKind kind, std::string_view json, Interner& interner) {
  if (is_storage_kind(kind)) return decode_storage(kind, json, interner);
  if (kind != ObjectKind::kNode) return decode_small_kind(kind, json, interner);
  Result<Ref<Node>> node = decode_written_node(json, interner);
  if (!node) return fail(std::move(node).error());
  return Ref<Object>(*std::move(node));
}

}  // namespace

ObjectKind object_kind(std::string_view api_version, std::string_view kind) {
  const std::size_t slash = api_version.find('/');
  const std::string_view group =
      slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  for (const KnownKind& known : kKinds)
    if (known.group == group && to_string(known.kind) == kind) return known.kind;
  return ObjectKind::kOther;
}

bool is_namespaced(ObjectKind kind) {
  for (const KnownKind& known : kKinds)
    if (known.kind == kind) return known.namespaced;
  return false;
}

Result<AnyObject> decode_object(ObjectKind kind, std::string_view json, Interner& interner,
                                const Admission* admission, std::string_view name) {
  if (kind == ObjectKind::kPod) return decode_as_pod(json, interner, admission, name);
  if (kind != ObjectKind::kNode && !is_small_kind(kind) && !is_storage_kind(kind))
    return AnyObject();
  Result<Ref<Object>> object = decode_written(kind, json, interner);
  if (!object) return fail(std::move(object).error());
  Object& written = **object;
  if (written.name.empty()) written.name = name;
  if (admission) admit(written, *admission);
  if (kind == ObjectKind::kNode) finish(static_cast<Node&>(written));
  written.symbols.shrink_to_fit();
  return Ref<const Object>(*std::move(object));
}

Result<AnyObject> decode_object(std::string_view json, Interner& interner,
                                const Admission* admission) {
  std::string_view api_version;
  std::string_view kind;
  JsonReader reader(json);
  reader.fields([&](std::string_view name) {
    if (name == "apiVersion") {
      api_version = reader.text();
    } else if (name == "kind") {
      kind = reader.text();
    }
  });
  if (reader.error()) return fail(*reader.error());
  if (api_version.empty()) return fail(ErrorKind::kInvalid, "apiVersion: must be set");
  if (kind.empty()) return fail(ErrorKind::kInvalid, "kind: must be set");
  return decode_object(object_kind(api_version, kind), json, interner, admission);
}

}  // namespace berth
