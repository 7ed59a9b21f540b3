#include "memapi/json_edit.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

namespace berth::memapi {
namespace {

using Kind = JsonValue::Kind;

std::pair<std::string_view, std::string_view> split_path(std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

JsonValue* find_member(JsonValue& object, std::string_view name) {
  return const_cast<JsonValue*>(std::as_const(object).find(name));
}

JsonValue& made_at(JsonValue& value, std::string_view path, Kind kind) {
  JsonValue* here = &value;
  while (!path.empty()) {
    const auto [name, rest] = split_path(path);
    if (here->kind != Kind::kObject) *here = JsonValue::object();
    JsonValue* next = find_member(*here, name);
    if (next == nullptr) {
      here->add(name, JsonValue::object());
      next = &here->members.back().value;
    }
    here = next;
    path = rest;
  }
  if (here->kind != kind) *here = kind == Kind::kArray ? JsonValue::array() : JsonValue::object();
  return *here;
}

}  // namespace

const JsonValue* at(const JsonValue& value, std::string_view path) {
  const JsonValue* here = &value;
  while (!path.empty() && here != nullptr) {
    if (here->kind != Kind::kObject) return nullptr;
    const auto [name, rest] = split_path(path);
    here = here->find(name);
    path = rest;
  }
  return here;
}

JsonValue* at(JsonValue& value, std::string_view path) {
  return const_cast<JsonValue*>(at(std::as_const(value), path));
}

std::string_view text_at(const JsonValue& value, std::string_view path) {
  const JsonValue* found = at(value, path);
  return found != nullptr && found->kind == Kind::kString ? std::string_view(found->text)
                                                          : std::string_view();
}

std::optional<std::int64_t> int_at(const JsonValue& value, std::string_view path) {
  const JsonValue* found = at(value, path);
  if (found == nullptr || found->kind != Kind::kNumber) return std::nullopt;
  std::int64_t number = 0;
  const char* end = found->text.data() + found->text.size();
  const auto [stop, error] = std::from_chars(found->text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

bool true_at(const JsonValue& value, std::string_view path) {
  const JsonValue* found = at(value, path);
  return found != nullptr && found->kind == Kind::kBool && found->boolean;
}

const std::vector<JsonValue>& items_at(const JsonValue& value, std::string_view path) {
  static const std::vector<JsonValue> kNone;
  const JsonValue* found = at(value, path);
  return is_array(found) ? found->items : kNone;
}

JsonValue& object_at(JsonValue& value, std::string_view path) {
  return made_at(value, path, Kind::kObject);
}

JsonValue& array_at(JsonValue& value, std::string_view path) {
  return made_at(value, path, Kind::kArray);
}

void set(JsonValue& object, std::string_view name, JsonValue value) {
  if (object.kind != Kind::kObject) object = JsonValue::object();
  if (JsonValue* found = find_member(object, name)) {
    *found = std::move(value);
  } else {
    object.add(name, std::move(value));
  }
}

void set_text(JsonValue& object, std::string_view name, std::string_view text) {
  set(object, name, JsonValue::of_text(text));
}

void set_default(JsonValue& object, std::string_view name, JsonValue value) {
  if (object.kind == Kind::kObject && object.find(name) != nullptr) return;
  set(object, name, std::move(value));
}

void erase(JsonValue& object, std::string_view name) {
  std::erase_if(object.members, [&](const JsonMember& member) { return member.name == name; });
}

void copy_member(JsonValue& object, const JsonValue& from, std::string_view name) {
  if (const JsonValue* found = from.find(name)) {
    set(object, name, *found);
  } else {
    erase(object, name);
  }
}

bool is_object(const JsonValue* value) { return value != nullptr && value->kind == Kind::kObject; }
bool is_array(const JsonValue* value) { return value != nullptr && value->kind == Kind::kArray; }

namespace {

// By name, of equal names in their order.
std::vector<const JsonMember*> by_name(const JsonValue& object) {
  std::vector<const JsonMember*> ordered;
  ordered.reserve(object.members.size());
  for (const JsonMember& member : object.members) ordered.push_back(&member);
  std::ranges::sort(ordered, [](const JsonMember* x, const JsonMember* y) {
    return x->name != y->name ? x->name < y->name : x < y;
  });
  return ordered;
}

bool equal_members(const JsonValue& a, const JsonValue& b) {
  if (a.members.size() != b.members.size()) return false;
  const auto same = [](const JsonMember& x, const JsonMember& y) {
    return x.name == y.name && equal(x.value, y.value);
  };
  // Most are in the same order.
  const auto differ = std::ranges::mismatch(
      a.members, b.members,
      [](const JsonMember& x, const JsonMember& y) { return x.name == y.name; });
  if (differ.in1 == a.members.end()) return std::ranges::equal(a.members, b.members, same);
  return std::ranges::equal(by_name(a), by_name(b),
                            [&](const JsonMember* x, const JsonMember* y) { return same(*x, *y); });
}

}  // namespace

bool equal(const JsonValue& a, const JsonValue& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::kNull: return true;
    case Kind::kBool: return a.boolean == b.boolean;
    case Kind::kNumber:
    case Kind::kString: return a.text == b.text;
    case Kind::kArray:
      return std::ranges::equal(a.items, b.items,
                                [](const JsonValue& x, const JsonValue& y) { return equal(x, y); });
    case Kind::kObject: return equal_members(a, b);
  }
  return false;
}

bool equal(const JsonValue* a, const JsonValue* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return equal(*a, *b);
}

bool nests_deeper(const JsonValue& value, std::size_t levels) {
  if (value.kind != Kind::kObject && value.kind != Kind::kArray) return false;
  if (levels == 0) return true;
  return std::ranges::any_of(
             value.items, [&](const JsonValue& item) { return nests_deeper(item, levels - 1); }) ||
         std::ranges::any_of(value.members, [&](const JsonMember& member) {
           return nests_deeper(member.value, levels - 1);
         });
}

void normalize(JsonValue& value) {
  for (JsonValue& item : value.items) normalize(item);
  if (value.kind != Kind::kObject) return;
  std::vector<JsonMember>& members = value.members;
  const auto before = [](const JsonMember& a, const JsonMember& b) { return a.name < b.name; };
  if (std::ranges::adjacent_find(members, std::not_fn(before)) != members.end()) {
    // Later ones first among equals, so that the last one stays.
    std::vector<std::pair<JsonMember, std::size_t>> ordered;
    ordered.reserve(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) ordered.emplace_back(std::move(members[i]), i);
    std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
      return a.first.name != b.first.name ? a.first.name < b.first.name : a.second > b.second;
    });
    members.clear();
    for (auto& [member, place] : ordered) {
      if (members.empty() || members.back().name != member.name)
        members.push_back(std::move(member));
    }
  }
  std::erase_if(members, [](const JsonMember& member) { return member.value.is_null(); });
  for (JsonMember& member : members) normalize(member.value);
}

}  // namespace berth::memapi
