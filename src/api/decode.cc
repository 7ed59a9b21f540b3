#include "api/decode.h"

#include <algorithm>
#include <utility>

#include "api/coscheduling.h"
#include "api/kind_decoders.h"
#include "api/written_pod.h"
#include "base/ascii.h"
#include "wire/json_reader.h"
#include "wire/proto_reader.h"

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
    {"resource.k8s.io", ObjectKind::kDeviceTaintRule, false},
    {"scheduling.x-k8s.io", ObjectKind::kCoschedulingPodGroup, true},
};

Result<AnyObject> decode_as_pod(JsonReader& json, Interner& interner, const Admission* admission,
                                std::string_view name) {
  Result<WrittenPod> pod = decode_written_pod(json, interner);
  if (!pod) return fail(std::move(pod).error());
  if (pod->own.name.empty()) pod->own.name = name;
  if (admission) {
    if (auto admitted = admit(*pod, *admission); !admitted) return fail(admitted.error());
  }
  return freeze(*std::move(pod), interner);
}

// Null: a kind that is not decoded, or a pod.
template <typename Reader>
KindDecoder<Reader> decoder_of(ObjectKind kind) {
  for (const auto find : {node_decoder<Reader>, small_kind_decoder<Reader>, storage_decoder<Reader>,
                          claim_decoder<Reader>, device_decoder<Reader>, group_decoder<Reader>,
                          coscheduling_decoder<Reader>})
    if (const KindDecoder<Reader> decode = find(kind)) return decode;
  return nullptr;
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

bool is_workload(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kDeployment:
    case ObjectKind::kReplicaSet:
    case ObjectKind::kStatefulSet:
    case ObjectKind::kDaemonSet:
    case ObjectKind::kJob: return true;
    default: return false;
  }
}

Result<AnyObject> decode_object(ObjectKind kind, std::string_view json, Interner& interner,
                                const Admission* admission, std::string_view name) {
  if (kind != ObjectKind::kPod && decoder_of<JsonReader>(kind) == nullptr) return AnyObject();
  JsonReader reader(json);
  return decode_object(kind, reader, interner, admission, name);
}

Result<AnyObject> decode_object(ObjectKind kind, JsonReader& json, Interner& interner,
                                const Admission* admission, std::string_view name) {
  if (kind == ObjectKind::kPod) return decode_as_pod(json, interner, admission, name);
  const KindDecoder<JsonReader> decode = decoder_of<JsonReader>(kind);
  if (decode == nullptr) return AnyObject();
  Result<Ref<Object>> object = decode(json, interner);
  if (!object) return fail(std::move(object).error());
  Object& written = **object;
  if (written.name.empty()) written.name = name;
  if (admission) admit(written, *admission);
  set_derived_fields(written);
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

Result<AnyObject> decode_other_object(std::string_view resource, std::string_view json,
                                      Interner& interner) {
  if (resource == CoschedulingPodGroup::kResource)
    return decode_object(ObjectKind::kCoschedulingPodGroup, json, interner, nullptr);
  const Ref<OtherObject> object = make_ref<OtherObject>(interner.hold());
  WrittenMeta meta;
  JsonReader reader(json);
  reader.fields([&](std::string_view name) {
    if (name == "metadata") Fields<WrittenMeta>::read(reader, object->symbols, meta);
  });
  if (reader.error()) return fail(*reader.error());
  const bool namespaced = !meta.namespace_name.empty();
  set_object(*object, std::move(meta), namespaced);
  object->resource = resource;
  object->json = json;
  return Ref<const Object>(object);
}

std::string usual_resource(std::string_view api_version, std::string_view kind) {
  std::string plural = lower_case(kind);
  if (plural.ends_with('s'))
    plural += "es";
  else if (plural.ends_with('y'))
    plural.replace(plural.size() - 1, 1, "ies");
  else
    plural += 's';
  const std::size_t slash = std::min(api_version.find('/'), api_version.size());
  const bool core = slash == api_version.size();
  return plural.append(".")
      .append(core ? api_version : api_version.substr(slash + 1))
      .append(".")
      .append(core ? std::string_view() : api_version.substr(0, slash));
}

Result<AnyObject> decode_object_proto(ObjectKind kind, std::string_view message,
                                      Interner& interner) {
  if (kind == ObjectKind::kPod) {
    Result<Ref<const Pod>> pod = decode_pod_proto(message, interner);
    if (!pod) return fail(std::move(pod).error());
    return *std::move(pod);
  }
  const KindDecoder<ProtoReader> decode = decoder_of<ProtoReader>(kind);
  if (decode == nullptr) return AnyObject();
  ProtoReader reader(message);
  Result<Ref<Object>> object = decode(reader, interner);
  if (!object) return fail(std::move(object).error());
  set_derived_fields(**object);
  return Ref<const Object>(*std::move(object));
}

}  // namespace berth
