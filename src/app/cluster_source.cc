#include "app/cluster_source.h"

#include <ostream>
#include <utility>

#include "app/input.h"
#include "app/live_objects.h"

namespace berth::app {

Result<ClusterObjects> read_cluster(const ClusterSource& source, Interner& interner,
                                    std::ostream& err) {
  ClusterObjects cluster;
  if (!source.file.empty()) {
    Result<std::vector<ManifestObject>> objects =
        read_manifests(source.file, source.strict, interner, err);
    if (!objects) return fail(objects.error());
    cluster.objects = *std::move(objects);
    cluster.source = shown_path(source.file);
    return cluster;
  }
  LiveObjectsOptions where;
  where.kubeconfig = source.kubeconfig;
  where.context = source.context;
  Result<LiveObjects> live = read_live_objects(where, interner);
  if (!live) return fail(live.error());
  for (const std::string& line : live->undecodable) err << line << '\n';
  cluster.objects = std::move(live->objects);
  cluster.source = std::move(live->server);
  cluster.namespace_name = std::move(live->namespace_name);
  return cluster;
}

Admission admission_in(const std::vector<ManifestObject>& objects) {
  Admission admission;
  for (const ManifestObject& object : objects)
    if (object.kind == ObjectKind::kPriorityClass)
      admission.priority_classes[object.name] = Ref<const PriorityClass>(
          static_cast<const PriorityClass*>(std::get<Ref<const Object>>(object.object).get()));
  return admission;
}

}  // namespace berth::app
