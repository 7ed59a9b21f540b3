// What `kubectl get` shows: the columns of every kind and the cells of an object.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "wire/json_tree.h"

namespace berth::memapi {

struct Resource;

struct Column {
  std::string_view name;
  std::string_view type = "string";
  int priority = 0;  // 1: only when asked for wide output
};

std::span<const Column> table_columns(const Resource& resource);
// As many as there are columns.
std::vector<JsonValue> table_cells(const Resource& resource, const JsonValue& object, WallTime now);

// Time passed as kubectl writes it: "2m17s", "3d", "<unknown>".
std::string age_text(std::string_view timestamp, WallTime now);
std::string human_duration(Duration duration);

}  // namespace berth::memapi
