#include "api/pod_parts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/names.h"

namespace berth {
namespace {

// Whether `status` asks for nothing beyond `spec`, so that the larger of the two is the spec.
bool within(const ResourceList& status, const ResourceList& spec) {
  return std::ranges::all_of(status, [&](const ResourceAmount& amount) {
    const Quantity* written = spec.find(amount.name);
    return written != nullptr && amount.amount <= *written;
  });
}

bool within(const StatusResources& status, const ResourceList& spec) {
  return within(status.requests, spec) && within(status.allocated, spec);
}

// Every running pod has resources in its status, and nearly always they say what the spec says.
// They only count, and are only kept, while a resize is under way.
bool resources_matter(const PodExtra& extra, const PodSpec& spec) {
  if (std::ranges::any_of(extra.conditions, [](const PodCondition& condition) {
        return condition.type == "PodResizePending";
      }))
    return true;
  const auto matters = [&](const StatusResources& status) {
    for (const auto* containers : {&spec.containers, &spec.init_containers})
      for (const Container& container : *containers)
        if (container.name == status.container && !within(status, container.requests)) return true;
    return false;
  };
  if (std::ranges::any_of(extra.container_resources, matters)) return true;
  return extra.pod_resources && spec.pod_requests &&
         !within(*extra.pod_resources, *spec.pod_requests);
}

}  // namespace

void take_metadata(WrittenMeta&& meta, WrittenPod& pod) {
  pod.meta.namespace_name = meta.namespace_name.empty()
                                ? names::kDefaultNamespace
                                : pod.meta.symbols.intern(meta.namespace_name);
  pod.meta.labels = LabelSet(std::move(meta.labels));
  pod.meta.controller = meta.controller;
  pod.generate_name = std::move(meta.generate_name);
  pod.own.name = std::move(meta.name);
  pod.own.uid = std::move(meta.uid);
  pod.own.resource_version = std::move(meta.resource_version);
  pod.own.generation = meta.generation;
  pod.own.creation_time = meta.creation_time;
  pod.own.deletion_time = meta.deletion_time;
}

std::int32_t clamped_grace(std::int64_t seconds) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(seconds, 0, std::numeric_limits<std::int32_t>::max()));
}

void take_extra(std::unique_ptr<PodExtra> extra, WrittenPod& pod) {
  if (!resources_matter(*extra, pod.spec)) {
    extra->container_resources.clear();
    extra->pod_resources.reset();
  }
  if (extra->has_resources() || !extra->conditions.empty() ||
      !extra->resource_claim_statuses.empty() || extra->extended_resource_claim_status)
    pod.own.extra = std::move(extra);
}

Ref<const Pod> freeze(WrittenPod pod, Interner& interner) {
  pod.own.meta = interner.share(std::move(pod.meta));
  pod.own.spec = interner.share(std::move(pod.spec));
  return make_pod(std::move(pod.own));
}

}  // namespace berth
