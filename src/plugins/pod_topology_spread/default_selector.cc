#include "plugins/pod_topology_spread/default_selector.h"

#include <algorithm>
#include <vector>

#include "api/kinds.h"

namespace berth::plugins {
namespace {

bool has_all(const LabelSet& labels, const std::vector<Label>& wanted) {
  return std::ranges::all_of(wanted, [&](const Label& label) {
    const Symbol* value = labels.find(label.key);
    return value && *value == label.value;
  });
}

template <typename T>
const T* as(const Ref<const Object>& object) {
  return dynamic_cast<const T*>(object.get());
}

// Of a ReplicaSet or a StatefulSet. One that makes no sense adds nothing.
void add_written(Selector& selector, const std::optional<LabelSelector>& written,
                 const Symbols& symbols) {
  const Result<Selector> compiled = Selector::compile(written, symbols);
  if (!compiled || compiled->is_nothing()) return;
  for (const Requirement& requirement : compiled->requirements()) selector.add(requirement);
}

}  // namespace

Selector default_selector(const Pod& pod, const Cluster& cluster) {
  std::vector<Label> labels;
  const std::string_view in_namespace = pod.namespace_name();
  const std::vector<Ref<const Object>> services = cluster.list(ObjectKind::kService, in_namespace);
  for (const Ref<const Object>& object : services) {
    const Service* service = as<Service>(object);
    if (service && service->selector && has_all(pod.labels(), *service->selector))
      labels.insert(labels.end(), service->selector->begin(), service->selector->end());
  }

  const ControllerRef& controller = pod.meta().controller;
  const std::string_view version = pod.text(controller.api_version),
                         kind = pod.text(controller.kind), name = pod.text(controller.name);
  const bool is_core = version == "v1" || version == "/v1";  // both parse as the core group
  if (is_core && kind == "ReplicationController") {
    const Ref<const Object> found =
        cluster.find(ObjectKind::kReplicationController, in_namespace, name);
    if (const auto* owner = as<ReplicationController>(found))
      labels.insert(labels.end(), owner->selector.begin(), owner->selector.end());
  }
  const LabelSet merged(std::move(labels));  // of equal keys the last one counts
  Selector selector = Selector::of_set({merged.begin(), merged.end()});
  if (version == "apps/v1" && kind == "ReplicaSet") {
    const Ref<const Object> found = cluster.find(ObjectKind::kReplicaSet, in_namespace, name);
    if (const auto* owner = as<ReplicaSet>(found))
      add_written(selector, owner->selector, cluster.symbols());
  } else if (version == "apps/v1" && kind == "StatefulSet") {
    const Ref<const Object> found = cluster.find(ObjectKind::kStatefulSet, in_namespace, name);
    if (const auto* owner = as<StatefulSet>(found))
      add_written(selector, owner->selector, cluster.symbols());
  }
  return selector;
}

const Selector& DefaultSelectors::of(const Pod& pod) {
  // Each of them only grows, so their sum stands still only if all do.
  const std::uint64_t generation = cluster_.generation(ObjectKind::kService) +
                                   cluster_.generation(ObjectKind::kReplicationController) +
                                   cluster_.generation(ObjectKind::kReplicaSet) +
                                   cluster_.generation(ObjectKind::kStatefulSet);
  const Remembered* found = recent_.find(pod.meta_ref());
  if (found && found->generation == generation) return found->selector;
  return recent_.keep(pod.meta_ref(), {generation, default_selector(pod, cluster_)}).selector;
}

}  // namespace berth::plugins
