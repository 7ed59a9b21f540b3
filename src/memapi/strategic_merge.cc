#include "memapi/strategic_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/stable_sort.h"
#include "memapi/field_validation.h"
#include "memapi/json_edit.h"
#include "memapi/json_lookup.h"

namespace berth::memapi {
namespace {

using Kind = JsonValue::Kind;
using Items = std::vector<JsonValue>;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kElementOrder = "$setElementOrder/";
constexpr std::string_view kDeletePrimitives = "$deleteFromPrimitiveList/";

// Parity: these are no API errors upstream, so that they come as 500 and without a reason.
std::unexpected<ApiError> unusable(std::string message) {
  ApiError error;
  error.message = std::move(message);
  return refuse(std::move(error));
}

std::unexpected<ApiError> no_merge_key(const JsonValue& item, std::string_view key) {
  return unusable(
      fmt::format("map: {} does not contain declared merge key: {}", go_map_text(item), key));
}

std::unexpected<ApiError> unknown_directive(const JsonValue& directive, const JsonValue& patch) {
  return unusable(
      fmt::format("unknown patch type: {} in map: {}", directive.text, go_map_text(patch)));
}

// What the members of an object are.
struct ObjectType {
  std::optional<schema::MessageId> message;  // the fields of this
  const schema::Field* values = nullptr;     // or values of a map
};

ObjectType inside(const schema::Field& field) {
  if (field.type != schema::Type::kMessage) return {};
  if (field.is(schema::kMap)) return {std::nullopt, &field};
  return {field.message, nullptr};
}

struct MemberType {
  schema::Merging merging;
  ObjectType inner;  // of the member, or of its items
};

MemberType member_type(const ObjectType& type, std::string_view name) {
  if (type.values != nullptr) return {{}, {type.values->message, nullptr}};
  const schema::Field* field = type.message ? schema::find_field(*type.message, name) : nullptr;
  if (field == nullptr) return {};
  return {schema::merging_of(*field), inside(*field)};
}

bool is_directive(std::string_view name) {
  return name == kDirective || name == kRetainKeys || name.starts_with(kElementOrder) ||
         name.starts_with(kDeletePrimitives);
}

bool has_directive(const JsonValue& value) {
  return value.kind == Kind::kObject && value.find(kDirective) != nullptr;
}

// What is left of a patch where there is nothing to merge it with. Items with $patch are none.
JsonValue as_new(const JsonValue& patch) {
  if (patch.kind == Kind::kObject) {
    JsonValue made = JsonValue::object();
    for (const JsonMember& member : patch.members) {
      if (is_directive(member.name) || member.value.is_null() || has_directive(member.value))
        continue;
      made.add(member.name, as_new(member.value));
    }
    return made;
  }
  if (patch.kind != Kind::kArray) return patch;
  JsonValue made = JsonValue::array();
  for (const JsonValue& item : patch.items)
    if (!has_directive(item)) made.items.push_back(as_new(item));
  return made;
}

class StrategicMerge {
 public:
  explicit StrategicMerge(PatchWork& work) : work_(work) {}

  Answer<void> object(JsonValue& object, const JsonValue& patch, const ObjectType& type);

 private:
  Answer<void> member(MemberTable& members, const JsonMember& change, const MemberType& type);
  Answer<void> list(JsonValue& list, const JsonValue& patch, const MemberType& type);
  Answer<void> keyed_list(JsonValue& list, const JsonValue& patch, const MemberType& type);
  Answer<void> merge_items(Items& items, const Items& patch, const MemberType& type);
  Answer<void> ordered_list(MemberTable& members, const JsonValue& patch, std::string_view name,
                            const JsonValue& order, const MemberType& type);
  Answer<void> check_order(const JsonValue& patch, const JsonValue& order, std::string_view key);
  void delete_primitives(MemberTable& members, const JsonMember& directive);
  Items in_order(Items merged, const Items& patch_order, const Items& server_order,
                 std::string_view key);

  PatchWork& work_;
};

// Items that the patch names, in its order, among those that only the server has, in theirs: who
// stands before another on the server goes first.
Items StrategicMerge::in_order(Items merged, const Items& patch_order, const Items& server_order,
                               std::string_view key) {
  const PlacesByText patch_places = places_by_text(patch_order, key, work_);
  const PlacesByText server_places = places_by_text(server_order, key, work_);
  const auto place = [](const PlacesByText& places, const std::string& text, std::size_t none) {
    const auto found = places.find(text);
    return found == places.end() ? none : found->second.front();
  };
  struct Placed {
    JsonValue item;
    std::size_t order;   // where it belongs among its like
    std::size_t server;  // where the server had it; if nowhere, the number of its items
  };
  std::vector<Placed> named, others;
  for (JsonValue& item : merged) {
    const std::string text = item_text(item, key, work_);
    const std::size_t server = place(server_places, text, server_order.size());
    const std::size_t order = place(patch_places, text, patch_order.size());
    if (order < patch_order.size()) {
      named.push_back({std::move(item), order, server});
    } else {
      others.push_back({std::move(item), server, server});
    }
  }
  sort_stably(named, {}, &Placed::order);
  sort_stably(others, {}, &Placed::order);
  Items all;
  auto other = others.begin();
  for (Placed& one : named) {
    while (other != others.end() && one.server < server_order.size() && other->server < one.server)
      all.push_back(std::move((other++)->item));
    all.push_back(std::move(one.item));
  }
  for (; other != others.end(); ++other) all.push_back(std::move(other->item));
  return all;
}

Answer<void> StrategicMerge::merge_items(Items& items, const Items& patch, const MemberType& type) {
  const std::string_view key = type.merging.patch_key;
  PlacesByText places = places_by_text(items, key, work_);
  for (const JsonValue& item : patch) {
    if (item.find(key) == nullptr) return no_merge_key(item, key);
    const auto [place, fresh] = places.try_emplace(item_text(item, key, work_));
    if (fresh) {
      place->second.push_back(items.size());
      items.push_back(as_new(item));
    } else if (auto merged = object(items[place->second.front()], item, type.inner); !merged) {
      return merged;
    }
  }
  return {};
}

Answer<void> StrategicMerge::keyed_list(JsonValue& list, const JsonValue& patch,
                                        const MemberType& type) {
  const std::string_view key = type.merging.patch_key;
  if (key.empty()) return unusable("cannot merge lists without merge key");
  const PlacesByText places = places_by_text(list.items, key, work_);
  std::vector<std::size_t> gone;
  Items wanted;
  bool replaced = false;
  for (const JsonValue& item : patch.items) {
    const JsonValue* directive = item.find(kDirective);
    if (directive == nullptr) {
      wanted.push_back(item);
    } else if (directive->text == "replace") {
      replaced = true;
    } else if (directive->text == "merge") {
      return unusable("merging lists cannot yet be specified in the patch");
    } else if (directive->text != "delete") {
      return unknown_directive(*directive, item);
    } else if (item.find(key) == nullptr) {
      return no_merge_key(item, key);
    } else if (const auto found = places.find(item_text(item, key, work_)); found != places.end()) {
      gone.insert(gone.end(), found->second.begin(), found->second.end());
    }
  }
  if (replaced) {
    list.items.clear();
    for (const JsonValue& item : wanted) list.items.push_back(as_new(item));
    return {};
  }
  std::ranges::sort(gone);
  gone.erase(std::ranges::unique(gone).begin(), gone.end());
  remove_items(list.items, std::move(gone));
  const Items before = list.items;
  if (auto merged = merge_items(list.items, wanted, type); !merged) return merged;
  list.items = in_order(std::move(list.items), wanted, before, key);
  return {};
}

Answer<void> StrategicMerge::list(JsonValue& list, const JsonValue& patch, const MemberType& type) {
  if (!type.merging.patches(schema::kPatchMerge)) {
    list = as_new(patch);
    return {};
  }
  if (list.items.empty() && patch.items.empty()) return {};
  const Kind kind = (list.items.empty() ? patch : list).items.front().kind;
  const auto same = [&](const JsonValue& item) { return item.kind == kind; };
  if (kind == Kind::kArray) {
    ApiError error = ApiError::bad_request("lists of lists are not supported");
    error.code = 422;
    error.reason.clear();
    return refuse(std::move(error));
  }
  if (!std::ranges::all_of(list.items, same) || !std::ranges::all_of(patch.items, same)) {
    return unusable(fmt::format("list element types are not identical: [{} {}]", go_map_text(list),
                                go_map_text(patch)));
  }
  if (kind == Kind::kObject) return keyed_list(list, patch, type);
  const Items before = list.items;
  std::set<std::string> seen;
  std::erase_if(list.items, [&](const JsonValue& item) {
    return !seen.insert(item_text(item, {}, work_)).second;
  });
  for (const JsonValue& item : patch.items)
    if (seen.insert(item_text(item, {}, work_)).second) list.items.push_back(item);
  list.items = in_order(std::move(list.items), patch.items, before, {});
  return {};
}

// The patch's items stand in the order that it gives.
Answer<void> StrategicMerge::check_order(const JsonValue& patch, const JsonValue& order,
                                         std::string_view key) {
  if (order.items.empty()) return {};
  std::size_t next = 0;
  for (const JsonValue& item : patch.items) {
    if (has_directive(item)) continue;
    const std::string text = item_text(item, key, work_);
    while (next < order.items.size() && item_text(order.items[next], key, work_) != text) ++next;
    if (next++ >= order.items.size()) {
      return unusable(
          fmt::format("The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
                      go_map_text(patch), go_map_text(order)));
    }
  }
  return {};
}

Answer<void> StrategicMerge::ordered_list(MemberTable& members, const JsonValue& patch,
                                          std::string_view name, const JsonValue& order,
                                          const MemberType& type) {
  const JsonValue* change = patch.find(name);
  JsonValue* current = members.find(name);
  const auto no_list = [](const JsonValue* value) {
    return value != nullptr && value->kind != Kind::kArray;
  };
  if (order.kind != Kind::kArray || no_list(change) || no_list(current)) {
    return refuse(ApiError::bad_request("invalid patch format of setElementOrder list"));
  }
  if (current == nullptr && change == nullptr) return {};
  const Items before = current != nullptr ? current->items : Items{};
  if (change != nullptr) {
    if (auto fits = check_order(*change, order, type.merging.patch_key); !fits) return fits;
    if (current == nullptr) {
      members.find_or_add(name) = as_new(*change);
    } else if (auto merged = list(*current, *change, type); !merged) {
      return merged;
    }
  }
  JsonValue& merged = *members.find(name);
  merged.items = in_order(std::move(merged.items), order.items, before, type.merging.patch_key);
  return {};
}

void StrategicMerge::delete_primitives(MemberTable& members, const JsonMember& directive) {
  JsonValue* list = members.find(std::string_view(directive.name).substr(kDeletePrimitives.size()));
  if (!is_array(list)) return;
  const PlacesByText gone = places_by_text(directive.value.items, {}, work_);
  std::erase_if(list->items,
                [&](const JsonValue& item) { return gone.contains(item_text(item, {}, work_)); });
}

Answer<void> StrategicMerge::member(MemberTable& members, const JsonMember& change,
                                    const MemberType& type) {
  const JsonValue& patch = change.value;
  if (patch.is_null()) {
    members.erase(change.name);
    return {};
  }
  JsonValue* current = members.find(change.name);
  if (current != nullptr && current->kind == patch.kind) {
    if (patch.kind == Kind::kArray) return list(*current, patch, type);
    if (patch.kind == Kind::kObject && !type.merging.patches(schema::kPatchReplace))
      return object(*current, patch, type.inner);
  } else if (has_directive(patch)) {
    members.erase(change.name);
    return {};
  }
  members.find_or_add(change.name) = as_new(patch);
  return {};
}

// All members that the patch has must be retained; others of the object go.
Answer<void> retain_keys(JsonValue& object, const JsonValue& patch, const JsonValue& retained) {
  std::set<std::string_view> names;
  for (const JsonValue& name : retained.items) names.insert(name.text);
  for (const JsonMember& member : patch.members) {
    const bool fits =
        is_directive(member.name) || member.value.is_null() || names.contains(member.name);
    if (retained.kind != Kind::kArray || !fits)
      return refuse(ApiError::bad_request("invalid patch format of retainKeys"));
  }
  std::erase_if(object.members,
                [&](const JsonMember& member) { return !names.contains(member.name); });
  return {};
}

Answer<void> StrategicMerge::object(JsonValue& object, const JsonValue& patch,
                                    const ObjectType& type) {
  if (const JsonValue* directive = patch.find(kDirective)) {
    if (directive->text != "replace" && directive->text != "delete")
      return unknown_directive(*directive, patch);
    object = directive->text == "replace" ? as_new(patch) : JsonValue::object();
    return {};
  }
  if (const JsonValue* retained = patch.find(kRetainKeys)) {
    if (auto fits = retain_keys(object, patch, *retained); !fits) return fits;
  }
  work_.add(patch.members.size());
  MemberTable members(object, work_);
  std::set<std::string_view> done;
  for (const JsonMember& change : patch.members) {
    if (!change.name.starts_with(kElementOrder)) continue;
    const std::string_view name = std::string_view(change.name).substr(kElementOrder.size());
    done.insert(name);
    if (auto merged = ordered_list(members, patch, name, change.value, member_type(type, name));
        !merged)
      return merged;
  }
  for (const JsonMember& change : patch.members)
    if (change.name.starts_with(kDeletePrimitives)) delete_primitives(members, change);
  for (const JsonMember& change : patch.members) {
    if (work_.too_much()) return refuse(PatchWork::error());
    if (is_directive(change.name) || done.contains(change.name)) continue;
    if (auto merged = member(members, change, member_type(type, change.name)); !merged)
      return merged;
  }
  return {};
}

}  // namespace

Answer<void> apply_strategic_merge(std::optional<schema::MessageId> type, JsonValue& object,
                                   const JsonValue& patch, PatchWork work) {
  if (patch.kind != Kind::kObject) {
    return refuse(ApiError::bad_request(
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}"));
  }
  return StrategicMerge(work).object(object, without_duplicates(patch), {type, nullptr});
}

}  // namespace berth::memapi
