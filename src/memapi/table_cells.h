// The cells of tables, by what they are about: each file has the kinds of one corner, and
// table_columns.cc finds a kind among them. The helpers make cells.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "memapi/json_edit.h"
#include "memapi/table_columns.h"
#include "wire/json_tree.h"

namespace berth::memapi {

using Cells = std::vector<JsonValue>;

struct Table {
  std::string_view plural;  // of the resource
  std::span<const Column> columns;
  void (*cells)(const JsonValue& object, WallTime now, Cells& cells);
};

std::span<const Table> cluster_tables();   // nodes, namespaces, events, policies, claims of devices
std::span<const Table> storage_tables();   // volumes and what belongs to them
std::span<const Table> workload_tables();  // what makes pods, and services

namespace cell {

inline JsonValue text(std::string_view value) { return JsonValue::of_text(value); }
inline JsonValue text_or(std::string_view value, std::string_view otherwise) {
  return text(value.empty() ? otherwise : value);
}
inline JsonValue number(const JsonValue& object, std::string_view path) {
  return JsonValue::of_int(int_at(object, path).value_or(0));
}
inline JsonValue age(const JsonValue& object, WallTime now) {
  return text(age_text(text_at(object, "metadata.creationTimestamp"), now));
}
inline JsonValue name(const JsonValue& object) { return text(text_at(object, "metadata.name")); }
// "a,b" of the items' members, or of the items themselves.
std::string joined(const std::vector<JsonValue>& items, std::string_view member);
// "app=web,tier=front", "<none>"
std::string selector_text(const JsonValue* labels);

}  // namespace cell
}  // namespace berth::memapi
