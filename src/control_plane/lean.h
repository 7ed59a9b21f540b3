// Objects of the embedded API server in the lean form in which controllers decide.
#pragma once

#include <type_traits>
#include <variant>

#include "api/decode.h"
#include "api/devices.h"
#include "api/storage.h"
#include "berth/interner.h"
#include "berth/node.h"
#include "berth/pod.h"
#include "control_plane/api_server.h"

namespace berth::control_plane {

template <typename T>
constexpr ObjectKind kind_of() {
  if constexpr (std::is_same_v<T, Node>) return ObjectKind::kNode;
  if constexpr (std::is_same_v<T, StorageClass>) return ObjectKind::kStorageClass;
  if constexpr (std::is_same_v<T, PersistentVolume>) return ObjectKind::kPersistentVolume;
  if constexpr (std::is_same_v<T, PersistentVolumeClaim>) return ObjectKind::kPersistentVolumeClaim;
  if constexpr (std::is_same_v<T, ResourceClaim>) return ObjectKind::kResourceClaim;
  if constexpr (std::is_same_v<T, ResourceClaimTemplate>) return ObjectKind::kResourceClaimTemplate;
  return ObjectKind::kPod;
}

// Null when it cannot be read, or is not there.
template <typename T>
Ref<const T> lean(const StoredObject& object, Interner& interner) {
  const Result<AnyObject> decoded = decode_object(kind_of<T>(), object.json, interner, nullptr);
  if constexpr (std::is_same_v<T, Pod>) {
    const auto* pod = decoded ? std::get_if<Ref<const Pod>>(&*decoded) : nullptr;
    return pod != nullptr ? *pod : nullptr;
  } else {
    const auto* other = decoded ? std::get_if<Ref<const Object>>(&*decoded) : nullptr;
    return other != nullptr ? Ref<const T>(static_cast<const T*>(other->get())) : nullptr;
  }
}

template <typename T>
Ref<const T> lean(const ObjectRef& object, Interner& interner) {
  return object ? lean<T>(*object, interner) : nullptr;
}

}  // namespace berth::control_plane
