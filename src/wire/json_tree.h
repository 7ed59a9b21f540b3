// JsonValue: JSON as a tree that forgets nothing that a complaint may need: the order of members,
// members that stand twice, numbers as they were written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth {

struct JsonMember;

struct JsonValue {
  enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  std::string text;                 // of kString; of kNumber the literal
  std::vector<JsonValue> items;     // of kArray
  std::vector<JsonMember> members;  // of kObject

  static JsonValue of_text(std::string_view text);
  static JsonValue of_bool(bool value);
  static JsonValue of_number(std::string literal);
  static JsonValue of_int(std::int64_t value);
  static JsonValue array();
  static JsonValue object();

  bool is_null() const { return kind == Kind::kNull; }
  // Null when there is none; of several the last one.
  const JsonValue* find(std::string_view name) const;
  void add(std::string_view name, JsonValue value);
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

// Errors are those of Go's encoding/json: `invalid character '}' looking for beginning of value`.
Result<JsonValue> parse_json(std::string_view text);

// "array", as Go's encoding/json calls the kind.
std::string_view go_name(JsonValue::Kind kind);

// Members of all objects by name, as Go writes maps; of equal names the last one stays.
void sort_members(JsonValue& value);

// Without spaces, members in their order.
std::string to_json(const JsonValue& value);
// The same, with a line for each member and item, indented by two spaces a level.
std::string to_indented_json(const JsonValue& value);

}  // namespace berth
