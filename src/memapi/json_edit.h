// Looking into JSON trees and changing them: what admission, patches and subresources are made of.
// Paths are member names with dots between: "spec.nodeName". Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "wire/json_tree.h"

namespace berth::memapi {

// Null when there is nothing, or something on the way is no object.
const JsonValue* at(const JsonValue& value, std::string_view path);
JsonValue* at(JsonValue& value, std::string_view path);

// Empty when there is nothing there, or no string.
std::string_view text_at(const JsonValue& value, std::string_view path);
std::optional<std::int64_t> int_at(const JsonValue& value, std::string_view path);
bool true_at(const JsonValue& value, std::string_view path);
// The items of a list; none when there is no list.
const std::vector<JsonValue>& items_at(const JsonValue& value, std::string_view path);

// The object at the path, made where there is none.
JsonValue& object_at(JsonValue& value, std::string_view path);
// The list at the path, made where there is none.
JsonValue& array_at(JsonValue& value, std::string_view path);

// One member of an object.
void set(JsonValue& object, std::string_view name, JsonValue value);
void set_text(JsonValue& object, std::string_view name, std::string_view text);
void set_default(JsonValue& object, std::string_view name, JsonValue value);
void erase(JsonValue& object, std::string_view name);
// Takes the member of `from` (nothing: removes it).
void copy_member(JsonValue& object, const JsonValue& from, std::string_view name);

bool is_object(const JsonValue* value);
bool is_array(const JsonValue* value);
// Members in any order.
bool equal(const JsonValue& a, const JsonValue& b);
bool equal(const JsonValue* a, const JsonValue* b);

// Whether there are more than `levels` objects and lists one inside the other; looks no deeper.
bool nests_deeper(const JsonValue& value, std::size_t levels);
// Fewer than may be read (kMaxNesting): an object is also written as a part of others.
inline constexpr std::size_t kMaxObjectNesting = 900;

// Members by name, of equal names the last, none that is null: equal objects become equal texts.
void normalize(JsonValue& value);

}  // namespace berth::memapi
