#include "api/pod_json.h"

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "api/object_json.h"

namespace berth {
namespace {

PodPhase pod_phase(std::string_view text) {
  if (text.empty() || text == "Pending") return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

PodCondition read_condition(JsonReader& json) {
  PodCondition condition;
  json.fields([&](std::string_view name) {
    if (name == "type") {
      condition.type = json.text();
    } else if (name == "status") {
      condition.status = json.text();
    } else if (name == "reason") {
      condition.reason = json.text();
    } else if (name == "message") {
      condition.message = json.text();
    } else if (name == "lastProbeTime") {
      condition.last_probe_time = json.time();
    } else if (name == "lastTransitionTime") {
      condition.last_transition_time = json.time();
    } else if (name == "observedGeneration") {
      condition.observed_generation = json.int64();
    }
  });
  return condition;
}

bool scheduling_looks_at(std::string_view condition_type) {
  return condition_type == "PodScheduled" || condition_type == "DisruptionTarget" ||
         condition_type == "PodResizePending";
}

// A container's status, or the pod's own.
StatusResources read_status_resources(JsonReader& json, SymbolHold& symbols, StatusResources status,
                                      std::string_view field) {
  if (field == "name") {
    status.container = symbols.intern(json.text());
  } else if (field == "resources") {
    status.has_resources = true;
    json.fields([&](std::string_view name) {
      if (name == "requests") status.requests = read_resource_list(json, symbols);
    });
  } else if (field == "allocatedResources") {
    status.allocated = read_resource_list(json, symbols);
  }
  return status;
}

void read_container_statuses(JsonReader& json, PodExtra& extra) {
  json.items([&] {
    StatusResources status;
    json.fields([&](std::string_view field) {
      status = read_status_resources(json, extra.symbols, std::move(status), field);
    });
    if (status.has_resources) extra.container_resources.push_back(std::move(status));
  });
}

void read_status(JsonReader& json, WrittenPod& pod, PodExtra& extra) {
  StatusResources own;
  json.fields([&](std::string_view name) {
    if (name == "phase") {
      pod.own.phase = pod_phase(json.text());
    } else if (name == "nominatedNodeName") {
      pod.own.nominated_node_name = json.text();
    } else if (name == "startTime") {
      pod.own.start_time = json.time();
    } else if (name == "conditions") {
      json.items([&] {
        PodCondition condition = read_condition(json);
        if (condition.type == "PodScheduled" && condition.status == "True") {
          pod.own.scheduled_condition = true;
        } else if (scheduling_looks_at(condition.type)) {
          extra.conditions.push_back(std::move(condition));
        }
      });
    } else if (name == "containerStatuses") {
      // Regular containers come first, wherever they stand.
      std::vector<StatusResources> init = std::move(extra.container_resources);
      extra.container_resources.clear();
      read_container_statuses(json, extra);
      std::ranges::move(init, std::back_inserter(extra.container_resources));
    } else if (name == "initContainerStatuses") {
      read_container_statuses(json, extra);
    } else if (name == "resources" || name == "allocatedResources") {
      own = read_status_resources(json, extra.symbols, std::move(own), name);
    }
  });
  if (own.has_resources) extra.pod_resources = std::move(own);
}

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

}  // namespace

Result<WrittenPod> decode_written_pod(std::string_view text, Interner& interner) {
  JsonReader json(text);
  WrittenPod pod(interner);
  WrittenMeta meta;
  auto extra = std::make_unique<PodExtra>(interner.hold());
  json.fields([&](std::string_view name) {
    if (name == "metadata") {
      read_metadata(json, pod.meta.symbols, meta);
    } else if (name == "spec") {
      read_pod_spec(json, pod, pod.own.node_name);
    } else if (name == "status") {
      read_status(json, pod, *extra);
    }
  });
  if (json.error()) return fail(*json.error());

  take_metadata(std::move(meta), pod);
  if (!resources_matter(*extra, pod.spec)) {
    extra->container_resources.clear();
    extra->pod_resources.reset();
  }
  if (extra->has_resources() || !extra->conditions.empty()) pod.own.extra = std::move(extra);
  return pod;
}

Ref<const Pod> freeze(WrittenPod pod, Interner& interner) {
  pod.own.meta = interner.share(std::move(pod.meta));
  pod.own.spec = interner.share(std::move(pod.spec));
  return make_pod(std::move(pod.own));
}

Result<Ref<const Pod>> decode_pod(std::string_view json, Interner& interner) {
  Result<WrittenPod> pod = decode_written_pod(json, interner);
  if (!pod) return fail(std::move(pod).error());
  return freeze(*std::move(pod), interner);
}

Result<PodTemplate> decode_pod_template(std::string_view text, Interner& interner) {
  JsonReader json(text);
  PodTemplate pod(interner);
  WrittenMeta meta;
  std::string node_name;
  json.fields([&](std::string_view name) {
    if (name == "metadata") {
      read_metadata(json, pod.meta.symbols, meta);
    } else if (name == "spec") {
      read_pod_spec(json, pod, node_name);
    }
  });
  if (json.error()) return fail(*json.error());
  pod.meta.labels = LabelSet(std::move(meta.labels));
  return pod;
}

}  // namespace berth
