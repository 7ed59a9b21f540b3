// The schema: the fields of all API objects, with their names in JSON, their numbers and types in
// protobuf, and what JSON leaves out. Data: schema_table.inc, made by scripts/make_schema.py. It is
// the only place where a name meets a number: readers and writers (fields.h, proto_json.h), the
// check for unknown fields (field_check.h) and servers that say which fields there are go by it.
//
// What more there is to say about a field (merge keys and list types, from the tags and markers of
// the Go structs) is a further column of Field, with a default for the rows that do not have it.
#pragma once

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
  kMessage,
  // Messages that JSON shows as something else than an object.
  kQuantity,
  kIntOrString,
  kTime,
  kMicroTime,
  kDuration,
  kRaw,         // JSON as it stands, kept as bytes in field 1
  kStringList,  // a list of strings in field 1
};

enum Flag : std::uint8_t {
  kRepeated = 1,
  kMap = 2,        // from strings to values of the type
  kPointer = 4,    // absent is something else than empty
  kOmitEmpty = 8,  // JSON leaves it out when it is absent, or empty and no object
  kOmitZero = 16,  // JSON leaves it out when it is absent or all of it is zero
  kInline = 32,    // JSON has its fields among those of the message around it
};

struct Field {
  std::string_view name;
  std::uint16_t number;
  Type type;
  std::uint16_t message;  // of kMessage: which one
  std::uint8_t order;     // at place k: where the k-th field in the order of JSON stands
  std::uint8_t rank;      // where this field stands in the order of JSON
  std::uint8_t flags;

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

// "api.core.v1.PodSpec".
std::string_view name_of(MessageId message);

// The message of a kind that an API server serves.
std::optional<MessageId> find_message(std::string_view api_version, std::string_view kind);

}  // namespace berth::schema
