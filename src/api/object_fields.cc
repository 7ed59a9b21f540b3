#include "api/object_fields.h"

#include <utility>

#include "api/names.h"

namespace berth {

void set_object(Object& object, WrittenMeta&& meta, bool namespaced) {
  if (namespaced) {
    object.namespace_name = meta.namespace_name.empty()
                                ? names::kDefaultNamespace
                                : object.symbols.intern(meta.namespace_name);
  }
  object.name = std::move(meta.name);
  object.uid = std::move(meta.uid);
  object.resource_version = std::move(meta.resource_version);
  object.generation = meta.generation;
}

}  // namespace berth
