#include "explain/patched_object.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/check.h"

namespace berth::explain {
namespace {

std::optional<std::size_t> position_of(std::string_view step) {
  std::size_t position = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), position);
  if (error != std::errc() || end != step.data() + step.size()) return std::nullopt;
  return position;
}

JsonValue* child(JsonValue& value, std::string_view step) {
  if (value.kind == JsonValue::Kind::kArray) {
    const std::optional<std::size_t> position = position_of(step);
    return position && *position < value.items.size() ? &value.items[*position] : nullptr;
  }
  // Of several members with one name the last one counts.
  for (auto member = value.members.rbegin(); member != value.members.rend(); ++member)
    if (member->name == step) return &member->value;
  return nullptr;
}

const JsonValue kNothing;

}  // namespace

JsonPath operator/(JsonPath path, std::string_view step) {
  path.emplace_back(step);
  return path;
}

JsonPath operator/(JsonPath path, std::size_t position) {
  path.push_back(std::to_string(position));
  return path;
}

std::string json_pointer(const JsonPath& path) {
  std::string pointer;
  for (const std::string& step : path) {
    pointer.push_back('/');
    for (const char c : step) {
      if (c == '~')
        pointer += "~0";
      else if (c == '/')
        pointer += "~1";
      else
        pointer.push_back(c);
    }
  }
  return pointer;
}

const JsonValue* find_at(const JsonValue& value, const JsonPath& path) {
  const JsonValue* at = &value;
  for (const std::string& step : path) {
    at = child(const_cast<JsonValue&>(*at), step);  // child() changes nothing
    if (!at) return nullptr;
  }
  return at;
}

std::string_view text_at(const JsonValue& value, const JsonPath& path) {
  const JsonValue* at = find_at(value, path);
  return at && at->kind == JsonValue::Kind::kString ? std::string_view(at->text)
                                                    : std::string_view();
}

const std::vector<JsonValue>& items_at(const JsonValue& value, const JsonPath& path) {
  const JsonValue* at = find_at(value, path);
  return at && at->kind == JsonValue::Kind::kArray ? at->items : kNothing.items;
}

const std::vector<JsonMember>& members_at(const JsonValue& value, const JsonPath& path) {
  const JsonValue* at = find_at(value, path);
  return at && at->kind == JsonValue::Kind::kObject ? at->members : kNothing.members;
}

JsonValue PatchedObject::patch() const {
  JsonValue list = JsonValue::array();
  list.items = operations_;
  return list;
}

void PatchedObject::note(std::string_view op, const JsonPath& path, const JsonValue* value) {
  JsonValue operation = JsonValue::object();
  operation.add("op", JsonValue::of_text(op));
  operation.add("path", JsonValue::of_text(json_pointer(path)));
  if (value) operation.add("value", *value);
  operations_.push_back(std::move(operation));
}

void PatchedObject::set(const JsonPath& path, JsonValue value) {
  BERTH_CHECK(!path.empty());
  JsonValue* at = &object_;
  for (std::size_t i = 0; i < path.size(); ++i) {
    JsonValue* const next = child(*at, path[i]);
    if (next && (i + 1 == path.size() || !next->is_null())) {
      if (i + 1 == path.size()) {
        note("replace", path, &value);
        *next = std::move(value);
        return;
      }
      at = next;
      continue;
    }
    // Everything from here on is new: one operation.
    for (std::size_t inner = path.size() - 1; inner > i; --inner) {
      JsonValue outer = JsonValue::object();
      outer.add(path[inner], std::move(value));
      value = std::move(outer);
    }
    note("add", JsonPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i) + 1), &value);
    if (next)
      *next = std::move(value);
    else
      at->add(path[i], std::move(value));
    return;
  }
}

void PatchedObject::append(const JsonPath& list, JsonValue item) {
  JsonValue* at = &object_;
  for (const std::string& step : list) {
    at = child(*at, step);
    if (!at) break;
  }
  if (at && at->kind == JsonValue::Kind::kArray) {
    note("add", list / "-", &item);
    at->items.push_back(std::move(item));
    return;
  }
  JsonValue items = JsonValue::array();
  items.items.push_back(std::move(item));
  set(list, std::move(items));
}

bool PatchedObject::remove(const JsonPath& path) {
  JsonValue* parent = &object_;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    parent = child(*parent, path[i]);
    if (!parent) return false;
  }
  if (!child(*parent, path.back())) return false;
  note("remove", path, nullptr);
  if (parent->kind == JsonValue::Kind::kArray)
    parent->items.erase(parent->items.begin() +
                        static_cast<std::ptrdiff_t>(*position_of(path.back())));
  else
    std::erase_if(parent->members,
                  [&](const JsonMember& member) { return member.name == path.back(); });
  return true;
}

}  // namespace berth::explain
