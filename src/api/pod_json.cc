#include "api/pod_json.h"

#include <algorithm>
#include <utility>

#include "api/object_json.h"
#include "api/pod_parts.h"
#include "api/words.h"

namespace berth {
namespace {

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

PodResourceClaimStatus read_claim_status(JsonReader& json) {
  PodResourceClaimStatus status;
  json.fields([&](std::string_view name) {
    if (name == "name") {
      status.name = json.text();
    } else if (name == "resourceClaimName") {
      status.claim_name = json.text();
    }
  });
  return status;
}

PodExtendedResourceClaimStatus read_extended_claim_status(JsonReader& json) {
  PodExtendedResourceClaimStatus status;
  json.fields([&](std::string_view name) {
    if (name == "resourceClaimName") {
      status.claim_name = json.text();
    } else if (name == "requestMappings") {
      json.items([&] {
        ContainerExtendedResourceRequest& mapping = status.request_mappings.emplace_back();
        json.fields([&](std::string_view field) {
          if (field == "containerName") {
            mapping.container_name = json.text();
          } else if (field == "resourceName") {
            mapping.resource_name = json.text();
          } else if (field == "requestName") {
            mapping.request_name = json.text();
          }
        });
      });
    }
  });
  return status;
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
    } else if (name == "resourceClaimStatuses") {
      json.items([&] { extra.resource_claim_statuses.push_back(read_claim_status(json)); });
    } else if (name == "extendedResourceClaimStatus") {
      extra.extended_resource_claim_status = read_extended_claim_status(json);
    } else if (name == "resources" || name == "allocatedResources") {
      own = read_status_resources(json, extra.symbols, std::move(own), name);
    }
  });
  if (own.has_resources) extra.pod_resources = std::move(own);
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
  take_extra(std::move(extra), pod);
  return pod;
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
