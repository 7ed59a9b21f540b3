#include "memapi/json_lookup.h"

#include <algorithm>
#include <utility>

namespace berth::memapi {
namespace {

std::uint32_t name_hash(std::string_view name) {
  return static_cast<std::uint32_t>(hash_text(name));
}

template <typename T>
void remove_places(std::vector<T>& all, std::vector<std::size_t> places) {
  if (places.empty()) return;
  std::ranges::sort(places);
  auto next = places.begin();
  std::size_t kept = *next;
  for (std::size_t i = kept; i < all.size(); ++i) {
    if (next != places.end() && *next == i)
      ++next;
    else
      all[kept++] = std::move(all[i]);
  }
  all.resize(kept);
}

}  // namespace

MemberTable::MemberTable(JsonValue& object, PatchWork& work) : object_(object) {
  if (object_.kind != JsonValue::Kind::kObject) object_ = JsonValue::object();
  work.add(object_.members.size());
  for (std::size_t i = 0; i < object_.members.size(); ++i) {
    const std::string& name = object_.members[i].name;
    erase(name);  // of several the last counts
    places_.insert(name_hash(name), static_cast<HashIndex::Slot>(i));
  }
}

MemberTable::~MemberTable() { remove_places(object_.members, std::move(erased_)); }

HashIndex::Slot MemberTable::place_of(std::string_view name, std::uint32_t hash) const {
  return places_.find(hash,
                      [&](HashIndex::Slot place) { return object_.members[place].name == name; });
}

JsonValue* MemberTable::find(std::string_view name) {
  const HashIndex::Slot place = place_of(name, name_hash(name));
  return place == HashIndex::kNone ? nullptr : &object_.members[place].value;
}

JsonValue& MemberTable::find_or_add(std::string_view name) {
  const std::uint32_t hash = name_hash(name);
  HashIndex::Slot place = place_of(name, hash);
  if (place == HashIndex::kNone) {
    place = static_cast<HashIndex::Slot>(object_.members.size());
    object_.add(name, JsonValue());
    places_.insert(hash, place);
  }
  return object_.members[place].value;
}

void MemberTable::erase(std::string_view name) {
  const std::uint32_t hash = name_hash(name);
  const HashIndex::Slot place = place_of(name, hash);
  if (place == HashIndex::kNone) return;
  places_.erase(hash, place);
  erased_.push_back(place);
}

std::string comparable_text(const JsonValue& value) {
  if (value.members.empty() && value.items.empty()) return to_json(value);
  JsonValue sorted = value;
  sort_members(sorted);
  return to_json(sorted);
}

std::string item_text(const JsonValue& item, std::string_view key, PatchWork& work) {
  work.add(1 + item.members.size());
  if (key.empty()) return comparable_text(item);
  const JsonValue* value = item.find(key);
  return value == nullptr ? std::string() : comparable_text(*value);
}

PlacesByText places_by_text(const std::vector<JsonValue>& items, std::string_view key,
                            PatchWork& work) {
  PlacesByText places;
  for (std::size_t i = 0; i < items.size(); ++i)
    places[item_text(items[i], key, work)].push_back(i);
  return places;
}

void remove_items(std::vector<JsonValue>& items, std::vector<std::size_t> places) {
  remove_places(items, std::move(places));
}

}  // namespace berth::memapi
