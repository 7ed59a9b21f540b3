// PatchedObject: an object's JSON that is edited, and the operations (RFC 6902) that do the same to
// the object as it was.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/json_tree.h"

namespace berth::explain {

// Members and positions, outermost first: {"spec", "containers", "0"}.
using JsonPath = std::vector<std::string>;

JsonPath operator/(JsonPath path, std::string_view step);
JsonPath operator/(JsonPath path, std::size_t position);
// "/spec/nodeSelector/example.com~1pool"
std::string json_pointer(const JsonPath& path);

// Null when there is nothing.
const JsonValue* find_at(const JsonValue& value, const JsonPath& path);
// Empty when there is no string, no list, no object.
std::string_view text_at(const JsonValue& value, const JsonPath& path);
const std::vector<JsonValue>& items_at(const JsonValue& value, const JsonPath& path);
const std::vector<JsonMember>& members_at(const JsonValue& value, const JsonPath& path);

class PatchedObject {
 public:
  explicit PatchedObject(JsonValue object) : object_(std::move(object)) {}

  const JsonValue& object() const { return object_; }
  const std::vector<JsonValue>& operations() const { return operations_; }
  JsonValue patch() const;  // all operations, as a list

  // Gives a member of an object this value. Objects on the way are made where there are none (or
  // null).
  void set(const JsonPath& path, JsonValue value);
  // Adds an item to the end of a list, which need not be there.
  void append(const JsonPath& list, JsonValue item);
  // False if there is nothing to remove.
  bool remove(const JsonPath& path);

 private:
  void note(std::string_view op, const JsonPath& path, const JsonValue* value);

  JsonValue object_;
  std::vector<JsonValue> operations_;
};

}  // namespace berth::explain
