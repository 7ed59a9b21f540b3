// FieldSet: fields of an object, as metadata.managedFields lists those that a client manages
// (FieldsV1). A field is a path of elements: "f:spec" (a member), "k:{"name":"c"}" (an item by its
// keys), "v:"x"" (an item by its value). A value type.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memapi/apply_shape.h"
#include "wire/json_tree.h"

namespace berth::memapi {

using FieldPath = std::vector<std::string>;

class FieldSet {
 public:
  bool empty() const { return !member_ && children_.empty(); }
  bool has(const FieldPath& path) const;
  // Whether the field itself or one below it is there.
  bool has_below(const FieldPath& path) const;
  void insert(const FieldPath& path);
  void add(const FieldSet& other);
  void remove(const FieldSet& other);
  FieldSet common(const FieldSet& other) const;
  // Those below one of the first elements, and those below none.
  FieldSet only(const std::vector<FieldPath>& tops) const;
  FieldSet without(const std::vector<FieldPath>& tops) const;
  void for_each(const std::function<void(const FieldPath& path)>& f) const;

  JsonValue to_json() const;
  // Nothing for what is no FieldsV1.
  static std::optional<FieldSet> parse(const JsonValue& fields);

  friend bool operator==(const FieldSet&, const FieldSet&) = default;

 private:
  void visit(FieldPath& path, const std::function<void(const FieldPath& path)>& f) const;
  const FieldSet* below(const FieldPath& path) const;
  void prune();

  bool member_ = false;
  std::map<std::string, FieldSet> children_;
};

// ".spec.containers[name="c"].image".
std::string path_text(const FieldPath& path);

// What stands for an item in paths; `place` is used when it has no keys.
std::string item_element(const JsonValue& item, const Shape& list, std::size_t place);

// The fields of a value.
FieldSet fields_of_value(const JsonValue& value, const Shape& shape);

struct FieldChanges {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;
};
FieldChanges compare_fields(const JsonValue& before, const JsonValue& after, const Shape& shape);

// Puts what `wish` says into the object.
void merge_fields(JsonValue& object, const JsonValue& wish, const Shape& shape);
// Takes the fields out of the object.
void remove_fields(JsonValue& object, const FieldSet& fields, const Shape& shape);

}  // namespace berth::memapi
