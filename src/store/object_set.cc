#include "store/object_set.h"

#include <algorithm>
#include <utility>

#include "base/keyed_hash.h"
#include "berth/pod.h"
#include "store/object_backend.h"

namespace berth {
namespace {

std::uint32_t hash_of(std::string_view namespace_name, std::string_view name) {
  KeyedHash hash;
  hash.add(hash_text(namespace_name));
  hash.add(hash_text(name));
  return static_cast<std::uint32_t>(hash.value());
}

struct Named {
  std::string_view namespace_name, name;
  const AnyObject* object;
};

// By "namespace/name". Nearly all objects share a namespace, and one text of it.
bool comes_before(const Named& a, const Named& b) {
  if (a.namespace_name.data() == b.namespace_name.data() || a.namespace_name == b.namespace_name)
    return a.name < b.name;
  return object_key(a.namespace_name, a.name) < object_key(b.namespace_name, b.name);
}

}  // namespace

std::string_view namespace_of(const AnyObject& object) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) return (*pod)->namespace_name();
  return namespace_of(*std::get<Ref<const Object>>(object));
}

std::string_view name_of(const AnyObject& object) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) return (*pod)->name();
  return std::get<Ref<const Object>>(object)->name;
}

std::string object_key(std::string_view namespace_name, std::string_view name) {
  std::string key;
  key.reserve(namespace_name.size() + 1 + name.size());
  key += namespace_name;
  key += '/';
  key += name;
  return key;
}

std::string key_of(const AnyObject& object) {
  return object_key(namespace_of(object), name_of(object));
}

HashIndex::Slot ObjectSet::slot_of(std::string_view namespace_name, std::string_view name) const {
  return index_.find(hash_of(namespace_name, name), [&](HashIndex::Slot slot) {
    return name_of(objects_[slot]) == name && namespace_of(objects_[slot]) == namespace_name;
  });
}

AnyObject ObjectSet::find(std::string_view namespace_name, std::string_view name) const {
  const HashIndex::Slot slot = slot_of(namespace_name, name);
  return slot == HashIndex::kNone ? AnyObject() : objects_[slot];
}

void ObjectSet::put(AnyObject object) {
  const std::string_view namespace_name = namespace_of(object), name = name_of(object);
  HashIndex::Slot slot = slot_of(namespace_name, name);
  if (slot == HashIndex::kNone) {
    if (free_.empty()) {
      slot = static_cast<HashIndex::Slot>(objects_.size());
      objects_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    index_.insert(hash_of(namespace_name, name), slot);
  }
  objects_[slot] = std::move(object);
}

void ObjectSet::erase(std::string_view namespace_name, std::string_view name) {
  const HashIndex::Slot slot = slot_of(namespace_name, name);
  if (slot == HashIndex::kNone) return;
  index_.erase(hash_of(namespace_name, name), slot);
  free_.push_back(slot);
  // Last: the names may be the object's own.
  objects_[slot] = AnyObject();
}

std::vector<AnyObject> ObjectSet::sorted() const {
  std::vector<Named> named;
  named.reserve(size());
  for (const AnyObject& object : objects_)
    if (!std::holds_alternative<std::monostate>(object))
      named.push_back({namespace_of(object), name_of(object), &object});
  std::ranges::sort(named, comes_before);
  std::vector<AnyObject> all;
  all.reserve(named.size());
  for (const Named& one : named) all.push_back(*one.object);
  return all;
}

}  // namespace berth
