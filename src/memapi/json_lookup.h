// Finding members of objects and items of lists by hash. JsonValue looks through all of them each
// time, which a patch with as many changes as its object has members cannot afford.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash_index.h"
#include "base/keyed_hash.h"
#include "memapi/patch.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// The members of one object by name. As long as it lives, nobody else adds or removes any.
class MemberTable {
 public:
  // `object` is one; else it becomes one.
  MemberTable(JsonValue& object, PatchWork& work);
  ~MemberTable();
  MemberTable(const MemberTable&) = delete;
  MemberTable& operator=(const MemberTable&) = delete;

  // Null when there is none. Good until a member is added.
  JsonValue* find(std::string_view name);
  JsonValue& find_or_add(std::string_view name);
  // In order: members keep their places until the table goes.
  void erase(std::string_view name);

 private:
  HashIndex::Slot place_of(std::string_view name, std::uint32_t hash) const;

  JsonValue& object_;
  HashIndex places_;
  std::vector<std::size_t> erased_;  // places
};

// Equal values have equal texts, and others have others; no text is empty.
std::string comparable_text(const JsonValue& value);

// Which items of a list have a text, in order.
using PlacesByText =
    std::unordered_map<std::string, std::vector<std::size_t>, TextHash, std::equal_to<>>;

// By comparable_text() of the member `key` of each item (empty where it has none), or of the whole
// item when `key` is empty.
std::string item_text(const JsonValue& item, std::string_view key, PatchWork& work);
PlacesByText places_by_text(const std::vector<JsonValue>& items, std::string_view key,
                            PatchWork& work);

// Removes the items at these places, which may be in any order.
void remove_items(std::vector<JsonValue>& items, std::vector<std::size_t> places);

}  // namespace berth::memapi
