// ObjectBackend: where a ClusterApi in memory finds and writes objects. `ClusterStore` keeps them
// itself; `ClusterView` (room storeapi) reads what a scheduler's cluster has, so that nothing is
// kept twice.
//
// Preconditions are the caller's: who writes has read what is stored just before. World thread.
#pragma once

#include <string>
#include <string_view>

#include "api/devices.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"

namespace berth {

class ObjectBackend {
 public:
  virtual ~ObjectBackend() = default;

  // The pod of that namespace and name, with what was written last; null when there is none. Its
  // UID may be another.
  virtual Ref<const Pod> stored_pod(const Pod& named_alike) const = 0;
  virtual Ref<const Object> stored_object(ObjectKind kind, std::string_view namespace_name,
                                          std::string_view name) const = 0;
  // A version that nothing has had yet, and a newer one than `than`, which may be empty.
  virtual std::string next_version(std::string_view than) = 0;

  // Puts `after`, which has its new version, in the place of `before`, which is stored.
  virtual void replace_pod(const Ref<const Pod>& before, Ref<const Pod> after) = 0;
  virtual void replace_object(const Ref<const Object>& before, Ref<const Object> after) = 0;
  // With what a deletion entails: grace periods and finalizers, where there are any.
  virtual void delete_pod(const Ref<const Pod>& stored) = 0;
  virtual void delete_object(const Ref<const Object>& stored) = 0;
  // Gives the claim a version, a UID and, if it has none, a name made of its generate_name.
  virtual Result<Ref<const Object>> create_claim(const ResourceClaim& claim) = 0;
};

inline std::string_view namespace_of(const Object& object) {
  return object.symbols.text(object.namespace_name);
}

}  // namespace berth
