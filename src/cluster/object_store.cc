#include "cluster/object_store.h"

#include <utility>

namespace berth {

void ObjectStore::put(Ref<const Object> object) {
  OfKind& kind = of(object->kind);
  // The old version goes first: its own texts are the key.
  const auto found = kind.objects.find(object);
  const auto hint = found == kind.objects.end() ? found : kind.objects.erase(found);
  kind.objects.insert(hint, std::move(object));
  ++kind.generation;
}

void ObjectStore::remove(const Object& named_alike) {
  OfKind& objects = of(named_alike.kind);
  const auto found = objects.objects.find(ByName::full_name(named_alike));
  if (found == objects.objects.end()) return;
  objects.objects.erase(found);
  ++objects.generation;
}

Ref<const Object> ObjectStore::find(ObjectKind kind, FullName name) const {
  const OfKind& objects = of(kind);
  const auto found = objects.objects.find(name);
  return found == objects.objects.end() ? Ref<const Object>() : *found;
}

Ref<const OtherObject> ObjectStore::find_other(std::string_view resource,
                                               std::string_view namespace_name,
                                               std::string_view name) const {
  const Ref<const Object> found = find(ObjectKind::kOther, {resource, namespace_name, name});
  return Ref<const OtherObject>(static_cast<const OtherObject*>(found.get()));
}

std::vector<Ref<const OtherObject>> ObjectStore::list_others(std::string_view resource) const {
  const OfKind& objects = of(ObjectKind::kOther);
  std::vector<Ref<const OtherObject>> found;
  for (auto at = objects.objects.lower_bound(FullName{resource, {}, {}});
       at != objects.objects.end() && ByName::full_name(*at).resource == resource; ++at)
    found.emplace_back(static_cast<const OtherObject*>(at->get()));
  return found;
}

std::vector<Ref<const Object>> ObjectStore::list(ObjectKind kind) const {
  const OfKind& objects = of(kind);
  return {objects.objects.begin(), objects.objects.end()};
}

std::vector<Ref<const Object>> ObjectStore::list(ObjectKind kind,
                                                 std::string_view namespace_name) const {
  const OfKind& objects = of(kind);
  std::vector<Ref<const Object>> found;
  for (auto at = objects.objects.lower_bound(FullName{{}, namespace_name, {}});
       at != objects.objects.end() && ByName::full_name(*at).namespace_name == namespace_name; ++at)
    found.push_back(*at);
  return found;
}

}  // namespace berth
