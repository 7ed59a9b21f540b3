// Shape: how server-side apply sees a value, by the schema of its kind: as a whole, as members that
// each may have another manager, or as a list whose items are told apart. Cheap to copy; the schema
// outlives it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "memapi/crd_schema.h"
#include "memapi/resources.h"
#include "wire/json_tree.h"

namespace berth::memapi {

class Shape {
 public:
  enum class Form : std::uint8_t {
    kWhole,    // scalars, and what is atomic
    kObject,   // member by member
    kSetList,  // item by item, by value
    kMapList,  // item by item, by keys
  };

  // Of objects of the resource.
  static Shape of(const Resource& resource);

  // Without a schema the value itself says: objects by members, lists as a whole.
  Form form(const JsonValue& value) const;
  Shape member(std::string_view name) const;
  Shape item() const;
  std::vector<std::string> keys() const;
  // What a key of an item is when the item does not say; null: nothing.
  JsonValue key_default(std::string_view key) const;
  // Whether members are a kind's fields, and no keys of a map that people choose.
  bool has_field(std::string_view name) const;
  // What an object of the kind has before anything is said of it: its fields that are always there.
  JsonValue beginning() const;

 private:
  enum class Source : std::uint8_t { kUnknown, kMessage, kField, kItem, kSchema, kRoot };

  Source source_ = Source::kUnknown;
  schema::MessageId message_ = 0;         // of kMessage
  const schema::Field* field_ = nullptr;  // of kField; of kItem: of the list or map it is in
  const CrdSchema* schema_ = nullptr;     // of kSchema and kRoot; null: anything
};

}  // namespace berth::memapi
