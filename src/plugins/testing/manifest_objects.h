// Objects for plugin tests, written as YAML: for kinds that have no builder.
//
//   put(fixture, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {…}}");
#pragma once

#include <string_view>

#include "berth/object.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::testing {

// As an API server would have it: nothing is filled in.
AnyObject object_of(World& world, std::string_view yaml);
Ref<const Pod> pod_of(World& world, std::string_view yaml);
// An object of that type.
template <typename T>
Ref<const T> object_of(World& world, std::string_view yaml) {
  const AnyObject any = object_of(world, yaml);
  const T* object = dynamic_cast<const T*>(std::get<Ref<const Object>>(any).get());
  return Ref<const T>(object);
}

// Into the cluster, all documents: nodes, pods (which must have a node) and all others.
void put(PluginFixture& fixture, std::string_view yaml);

}  // namespace berth::testing
