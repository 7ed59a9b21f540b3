// ObjectSet: objects by namespace and name. They know their own names, so that a hundred thousand
// pods take no more here than a reference and a place in a hash table each. Part of ClusterStore.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_index.h"
#include "berth/object.h"

namespace berth {

class ObjectSet {
 public:
  // Nothing when there is none.
  AnyObject find(std::string_view namespace_name, std::string_view name) const;
  bool contains(std::string_view namespace_name, std::string_view name) const {
    return slot_of(namespace_name, name) != HashIndex::kNone;
  }
  // In the place of the one of that name, if there is one.
  void put(AnyObject object);
  void erase(std::string_view namespace_name, std::string_view name);

  std::size_t size() const { return index_.size(); }
  // By "namespace/name".
  std::vector<AnyObject> sorted() const;

 private:
  HashIndex::Slot slot_of(std::string_view namespace_name, std::string_view name) const;

  HashIndex index_;
  std::vector<AnyObject> objects_;  // by slot; nothing in those that are free
  std::vector<HashIndex::Slot> free_;
};

// What an object is called; texts live as long as the object.
std::string_view namespace_of(const AnyObject& object);
std::string_view name_of(const AnyObject& object);
// "namespace/name", or "/name".
std::string key_of(const AnyObject& object);
std::string object_key(std::string_view namespace_name, std::string_view name);

}  // namespace berth
