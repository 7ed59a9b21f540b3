// FieldManagers: who manages which fields of an object (metadata.managedFields), and what becomes of
// that when somebody applies or updates it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "memapi/api_error.h"
#include "memapi/api_request.h"
#include "memapi/apply_fields.h"
#include "wire/json_tree.h"

namespace berth::memapi {

struct FieldManager {
  std::string name;
  bool applies = false;  // else it updates
  std::string api_version;
  std::string subresource;
  std::string time;
  FieldSet fields;

  bool same_as(const FieldManager& other) const;
  // `"kubectl-edit" using v1`, `"team"`, as conflicts name it.
  std::string text() const;
};

// The wish in the body of an apply: YAML or JSON.
Answer<JsonValue> read_apply_patch(const ApiRequest& request);

// The fieldManager of a request, or the program that its User-Agent names.
std::string manager_of(const ApiRequest& request);

class FieldManagers {
 public:
  // From metadata.managedFields; entries that make no sense are left out.
  static FieldManagers of(const JsonValue& object);
  bool empty() const { return managers_.empty(); }
  // Of an object that nobody has applied yet and whose managers were not kept: one has all of it.
  void begin(const JsonValue& object, const Resource& resource, WallTime now);
  void write_to(JsonValue& object) const;

  // The manager changed the object, which was `before`.
  void update(const FieldManager& manager, const JsonValue& before, const JsonValue& after,
              const Resource& resource);

  // What `wish` makes of the object in the manager's hands; the fields of others that it changes
  // are conflicts, unless `force`. `object` becomes the result.
  Answer<void> apply(FieldManager manager, JsonValue& object, const JsonValue& wish,
                     const Resource& resource, bool force);

 private:
  void settle(const std::string& now);

  std::vector<FieldManager> managers_;
};

// After an update: records it in the object, when its managers are kept. `before` is null for an
// object that is new.
void track_update(const ApiRequest& request, JsonValue& object, const JsonValue* before,
                  WallTime now);
// The same for somebody in the same process: of objects whose managers are kept already.
void track_local_update(const Resource& resource, std::string_view subresource, JsonValue& object,
                        const JsonValue& before, WallTime now);

}  // namespace berth::memapi
