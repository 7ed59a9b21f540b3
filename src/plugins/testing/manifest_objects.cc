#include "plugins/testing/manifest_objects.h"

#include <fmt/format.h>

#include "api/manifest.h"
#include "base/check.h"

namespace berth::testing {
namespace {

std::vector<ManifestObject> objects_in(World& world, std::string_view yaml) {
  Result<std::vector<ManifestObject>> objects = read_manifest(yaml, "test", world.interner);
  if (!objects) fmt::print(stderr, "{}\n{}\n", objects.error().message, yaml);
  BERTH_CHECK(objects.has_value());
  return std::move(*objects);
}

}  // namespace

AnyObject object_of(World& world, std::string_view yaml) {
  const std::vector<ManifestObject> objects = objects_in(world, yaml);
  BERTH_CHECK(objects.size() == 1);
  return objects[0].object;
}

Ref<const Pod> pod_of(World& world, std::string_view yaml) {
  return std::get<Ref<const Pod>>(object_of(world, yaml));
}

void put(PluginFixture& fixture, std::string_view yaml) {
  for (const ManifestObject& read : objects_in(fixture.world, yaml)) {
    if (const auto* pod = std::get_if<Ref<const Pod>>(&read.object)) {
      fixture.add_pod(*pod);
      continue;
    }
    const auto& object = std::get<Ref<const Object>>(read.object);
    if (read.kind == ObjectKind::kNode)
      fixture.add_node(Ref<const Node>(static_cast<const Node*>(object.get())));
    else
      fixture.cluster.put(object);
  }
}

}  // namespace berth::testing
