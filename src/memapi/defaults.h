// Defaults of the kinds that are more than a value for a field: what an API server fills in,
// whoever writes the object. The others are in the schema (api/canonical_json.h). Used by
// apply_defaults() (admission.h).
#pragma once

#include <string_view>

#include "memapi/json_edit.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Sets a text that is not there, or empty.
void default_text(JsonValue& object, std::string_view name, std::string_view text);
// Sets a number that is not there, or 0.
void default_number(JsonValue& object, std::string_view name, std::int64_t number);

// Calls `f` for the items of a list that are objects.
template <typename F>
void each_item(JsonValue& value, std::string_view path, F&& f) {
  JsonValue* list = at(value, path);
  if (!is_array(list)) return;
  for (JsonValue& item : list->items)
    if (is_object(&item)) f(item);
}

void default_pod(JsonValue& pod);
// spec of a pod or of a template.
void default_pod_spec(JsonValue& spec);

// Kinds that make pods.
bool is_workload(std::string_view plural);
void default_workload(std::string_view plural, JsonValue& object);

}  // namespace berth::memapi
