// ObjectWrites: volumes and claims, read from and written to an API server (shell.md §6.4). Part of
// KubeClusterApi. World thread.
//
// Upstream replaces whole objects (PUT), and so do we: verbs and permissions are the same. But what
// we hold of an object is not all of it. So the object is read first, unless an answer of a moment
// ago has it, compared with the version that the caller knows, and written with the caller's fields
// in it (api/owned_fields.h). Each request is made once; what a refusal means is the caller's to
// say.
#pragma once

#include <cstddef>
#include <string>

#include "api/owned_fields.h"
#include "berth/interner.h"
#include "berth/object.h"
#include "berth/result.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/lru_map.h"

namespace berth::kube {

// Deletes the object if it has this UID; with an empty UID, whichever has the name. kNotFound when
// it is gone. Upstream sends no options; with the UID as precondition a successor of the same name
// stays.
Task<Result<void>> delete_object(ApiClient& client, std::string path, std::string uid);

class ObjectWrites {
 public:
  ObjectWrites(ApiClient& client, Interner& interner) : client_(client), interner_(interner) {}

  Task<Result<AnyObject>> get(ObjectKind kind, std::string namespace_name, std::string name);
  // kConflict, in the server's words, when the stored version is not the object's.
  Task<Result<AnyObject>> update(Ref<const Object> object, WrittenPart part);
  Task<Result<AnyObject>> create(Ref<const Object> object);
  // Of the object's uid, if it has one; kNotFound when that one is gone.
  Task<Result<void>> remove(Ref<const Object> object);
  Task<Result<void>> unreserve(Ref<const Object> claim, std::string consumer_uid);

 private:
  // Objects as the server gave them last: the second of two writes in a row need not read.
  struct Recent {
    std::string version;
    JsonValue object;
  };
  static constexpr std::size_t kRecent = 64;
  static constexpr std::size_t kMaxRecentSize = std::size_t{64} << 10;

  Task<Result<JsonValue>> stored(std::string path, std::string version);
  Result<AnyObject> answered(ObjectKind kind, const std::string& path, const ApiAnswer& answer);

  ApiClient& client_;
  Interner& interner_;
  LruMap<std::string, Recent> recent_{kRecent};
};

}  // namespace berth::kube
