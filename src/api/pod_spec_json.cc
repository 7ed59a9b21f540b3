// spec of a pod, from JSON.

#include <algorithm>

#include "api/affinity_json.h"
#include "api/names.h"
#include "api/object_json.h"
#include "api/pod_json.h"
#include "api/pod_parts.h"
#include "api/taint_json.h"
#include "api/volume_source.h"
#include "api/words.h"

namespace berth {
namespace {

struct WrittenResources {
  std::optional<ResourceList> requests;
  std::optional<ResourceList> limits;
};

WrittenResources read_resources(JsonReader& json, SymbolHold& symbols) {
  WrittenResources resources;
  json.fields([&](std::string_view name) {
    if (name == "requests") {
      resources.requests = read_resource_list(json, symbols);
    } else if (name == "limits") {
      resources.limits = read_resource_list(json, symbols);
    }
  });
  return resources;
}

ContainerPort read_port(JsonReader& json, SymbolHold& symbols) {
  ContainerPort port;
  port.protocol = names::kTcp;
  json.fields([&](std::string_view name) {
    if (name == "containerPort") {
      port.container_port = json.int32();
    } else if (name == "hostPort") {
      port.host_port = json.int32();
    } else if (name == "protocol") {
      if (const std::string_view text = json.text(); !text.empty())
        port.protocol = symbols.intern(text);
    } else if (name == "hostIP") {
      port.host_ip = symbols.intern(json.text());
    }
  });
  return port;
}

Container read_container(JsonReader& json, SymbolHold& symbols) {
  Container container;
  json.fields([&](std::string_view name) {
    if (name == "name") {
      container.name = symbols.intern(json.text());
    } else if (name == "image") {
      container.image = symbols.intern(json.text());
    } else if (name == "resources") {
      WrittenResources resources = read_resources(json, symbols);
      container.requests = std::move(resources.requests).value_or(ResourceList());
      container.limits = std::move(resources.limits).value_or(ResourceList());
    } else if (name == "ports") {
      json.items([&] { container.ports.push_back(read_port(json, symbols)); });
    } else if (name == "restartPolicy") {
      container.restart_always = json.text() == "Always";
    } else if (name == "restartPolicyRules") {
      json.items([&] {
        json.fields([&](std::string_view field) {
          if (field == "action" && json.text() == "RestartAllContainers")
            container.restarts_all = true;
        });
      });
    }
  });
  return container;
}

std::vector<Container> read_containers(JsonReader& json, SymbolHold& symbols) {
  std::vector<Container> containers;
  json.items([&] { containers.push_back(read_container(json, symbols)); });
  return containers;
}

// ---- volumes ------------------------------------------------------------------------------------

Volume read_volume(JsonReader& json, SymbolHold& symbols) {
  Volume volume;
  json.fields([&](std::string_view name) {
    if (name == "name") {
      volume.name = symbols.intern(json.text());
    } else {
      read_volume_source(json, symbols, name, volume);
    }
  });
  return volume;
}

// ---- the rest -----------------------------------------------------------------------------------

PodResourceClaim read_resource_claim(JsonReader& json, SymbolHold& symbols) {
  PodResourceClaim claim;
  json.fields([&](std::string_view name) {
    if (name == "name") {
      claim.name = symbols.intern(json.text());
    } else if (name == "resourceClaimName") {
      claim.claim_name = symbols.intern(json.text());
    } else if (name == "resourceClaimTemplateName") {
      claim.template_name = symbols.intern(json.text());
    }
  });
  return claim;
}

Symbol read_field_of_item(JsonReader& json, SymbolHold& symbols, std::string_view field) {
  Symbol value;
  json.fields([&](std::string_view name) {
    if (name == field) value = symbols.intern(json.text());
  });
  return value;
}

PreemptionPolicy read_preemption_policy(JsonReader& json) {
  const std::string_view text = json.text();
  const std::optional<PreemptionPolicy> policy = preemption_policy(text);
  if (!policy) json.fail(unsupported_preemption_policy(text));
  return policy.value_or(PreemptionPolicy::kPreemptLowerPriority);
}

// The fields that are lists or maps.
bool read_collection(JsonReader& json, PodSpec& spec, std::string_view name) {
  SymbolHold& symbols = spec.symbols;
  if (name == "containers") {
    spec.containers = read_containers(json, symbols);
  } else if (name == "initContainers") {
    spec.init_containers = read_containers(json, symbols);
  } else if (name == "resources") {
    WrittenResources resources = read_resources(json, symbols);
    spec.pod_requests = std::move(resources.requests);
    spec.pod_limits = std::move(resources.limits);
  } else if (name == "overhead") {
    spec.overhead = read_resource_list(json, symbols);
  } else if (name == "nodeSelector") {
    spec.node_selector = read_labels(json, symbols);
    std::sort(spec.node_selector.begin(), spec.node_selector.end());
  } else if (name == "affinity") {
    spec.affinity = read_affinity(json, symbols);
  } else if (name == "tolerations") {
    spec.tolerations.clear();
    json.items([&] { spec.tolerations.push_back(read_toleration(json, symbols)); });
  } else if (name == "topologySpreadConstraints") {
    spec.topology_spread_constraints = read_spread_constraints(json, symbols);
  } else if (name == "schedulingGates") {
    spec.scheduling_gates.clear();
    json.items([&] { spec.scheduling_gates.push_back(read_field_of_item(json, symbols, "name")); });
  } else if (name == "volumes") {
    spec.volumes.clear();
    json.items([&] { spec.volumes.push_back(read_volume(json, symbols)); });
  } else if (name == "resourceClaims") {
    spec.resource_claims.clear();
    json.items([&] { spec.resource_claims.push_back(read_resource_claim(json, symbols)); });
  } else {
    return false;
  }
  return true;
}

}  // namespace

void read_pod_spec(JsonReader& json, PodTemplate& pod, std::string& node_name) {
  PodSpec& spec = pod.spec;
  SymbolHold& symbols = spec.symbols;
  json.fields([&](std::string_view name) {
    if (read_collection(json, spec, name)) return;
    if (name == "nodeName") {
      node_name = json.text();
    } else if (name == "schedulerName") {
      spec.scheduler_name = symbols.intern(json.text());
    } else if (name == "priorityClassName") {
      spec.priority_class_name = symbols.intern(json.text());
    } else if (name == "priority") {
      spec.priority = json.int32();
      pod.priority_given = true;
    } else if (name == "preemptionPolicy") {
      spec.preemption_policy = read_preemption_policy(json);
      pod.preemption_policy_given = true;
    } else if (name == "hostNetwork") {
      spec.host_network = json.boolean();
    } else if (name == "hostUsers") {
      spec.own_users = !json.boolean();
    } else if (name == "terminationGracePeriodSeconds") {
      spec.termination_grace_seconds = clamped_grace(json.int64());
    } else if (name == "schedulingGroup") {
      spec.scheduling_group = read_field_of_item(json, symbols, "podGroupName");
    }
  });
}

}  // namespace berth
