// The schema: the fields of all API objects, with their names in JSON, their numbers and types in
// protobuf, what JSON leaves out, and how patches merge them. Data: schema_table.inc, made by
// scripts/make_schema.py. It is the only place where a name meets a number: readers and writers
// (fields.h, proto_json.h), the check for unknown fields (field_check.h) and servers that say which
// fields there are go by it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace berth::schema {

enum class Type : std::uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kBytes,
  kDouble,
  kMessage,
  // Messages that JSON shows as something else than an object.
  kQuantity,
  kIntOrString,
  kTime,
  kMicroTime,
  kDuration,
  kRaw,         // JSON as it stands, kept as bytes in field 1
  kStringList,  // a list of strings in field 1
  kUnion,       // the value of the one field that the message has: a list, an object or a boolean
};

enum Flag : std::uint8_t {
  kRepeated = 1,
  kMap = 2,        // from strings to values of the type
  kPointer = 4,    // absent is something else than empty
  kOmitEmpty = 8,  // JSON leaves it out when it is absent, or empty and no object
  kOmitZero = 16,  // JSON leaves it out when it is absent or all of it is zero
  kInline = 32,    // JSON has its fields among those of the message around it
  kRequired = 64,  // written by clients in any case
};

enum PatchStrategy : std::uint8_t {
  kPatchMerge = 1,       // items of the list are merged with those that are there
  kPatchReplace = 2,     // replaced as a whole
  kPatchRetainKeys = 4,  // of the object only the members that the patch names stay
};

// How server-side apply sees a list. kUnset: as kAtomic.
enum class ListType : std::uint8_t { kUnset, kAtomic, kSet, kMap };

// How a field that is written by several clients is merged.
struct Merging {
  std::string_view patch_key;       // of a list in a strategic merge patch: tells items apart
  std::uint8_t patch_strategy = 0;  // PatchStrategy
  ListType list_type = ListType::kUnset;
  std::array<std::string_view, 4> list_keys = {};  // of kMap; the last ones are empty
  // Applied as a whole: the object, the map, or each item of the list.
  bool atomic = false;

  constexpr bool patches(PatchStrategy strategy) const { return (patch_strategy & strategy) != 0; }
};

struct Field {
  std::string_view name;
  std::uint16_t number;
  Type type;
  std::uint16_t message;  // of kMessage and kUnion: which one
  std::uint8_t order;     // at place k: where the k-th field in the order of JSON stands
  std::uint8_t rank;      // where this field stands in the order of JSON
  std::uint8_t flags;
  std::uint8_t merging = 0;            // merging_of
  std::string_view default_json = {};  // what its absence means, as JSON; empty: nothing said
  // The Go type of a string, number or map (of a list: of its items) with a name of its own.
  std::string_view go_type = {};

  constexpr bool is(Flag flag) const { return (flags & flag) != 0; }
};

using MessageId = std::uint16_t;

struct Message {
  std::uint16_t first;  // of its fields
  std::uint16_t count;
  std::string_view name;
};

struct Root {
  std::string_view api_version;
  std::string_view kind;
  MessageId message;
};

// Sorted by number.
std::span<const Field> fields_of(MessageId message);

const Merging& merging_of(const Field& field);

// The field of a message, or of a message that JSON shows among its fields.
const Field* find_field(MessageId message, std::string_view name);

// Of a kUnion: the field whose value JSON shows as a list, or as an object; null: there is none.
const Field* union_list(MessageId message);
const Field* union_object(MessageId message);

// "api.core.v1.PodSpec".
std::string_view name_of(MessageId message);

// The message of a kind that an API server serves.
std::optional<MessageId> find_message(std::string_view api_version, std::string_view kind);

}  // namespace berth::schema
