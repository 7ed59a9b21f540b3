// spec of a pod, from protobuf.

#include <algorithm>

#include "api/affinity_proto.h"
#include "api/names.h"
#include "api/object_proto.h"
#include "api/pod_parts.h"
#include "api/pod_proto.h"
#include "api/volume_source.h"
#include "api/words.h"

namespace berth {
namespace {

ContainerPort read_port(ProtoReader& proto, SymbolHold& symbols) {
  ContainerPort port;
  port.protocol = names::kTcp;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 2: port.host_port = proto.int32(); break;
      case 3: port.container_port = proto.int32(); break;
      case 4:
        if (const std::string_view text = proto.text(); !text.empty())
          port.protocol = symbols.intern(text);
        break;
      case 5: port.host_ip = read_symbol(proto, symbols); break;
      default: break;
    }
  });
  return port;
}

void read_container_resources(ProtoReader& proto, SymbolHold& symbols, Container& container) {
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: append_amount(proto, symbols, container.limits); break;
      case 2: append_amount(proto, symbols, container.requests); break;
      default: break;
    }
  });
}

bool restarts_all_containers(ProtoReader& proto) {
  bool all = false;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) all = proto.text() == "RestartAllContainers";
  });
  return all;
}

Container read_container(ProtoReader& proto, SymbolHold& symbols) {
  Container container;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: container.name = read_symbol(proto, symbols); break;
      case 2: container.image = read_symbol(proto, symbols); break;
      case 6: container.ports.push_back(read_port(proto, symbols)); break;
      case 8: read_container_resources(proto, symbols, container); break;
      case 24: container.restart_always = proto.text() == "Always"; break;
      case 25:
        if (restarts_all_containers(proto)) container.restarts_all = true;
        break;
      default: break;
    }
  });
  return container;
}

// ---- volumes ------------------------------------------------------------------------------------

Volume read_volume(ProtoReader& proto, SymbolHold& symbols) {
  Volume volume;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      volume.name = read_symbol(proto, symbols);
    } else if (field == 2) {
      proto.fields(
          [&](std::uint32_t number) { read_volume_source(proto, symbols, number, volume); });
    }
  });
  return volume;
}

// A scheduling gate, which is a message with a name.
Symbol read_reference_name(ProtoReader& proto, SymbolHold& symbols) {
  Symbol name;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) name = read_symbol(proto, symbols);
  });
  return name;
}

// ---- the rest -----------------------------------------------------------------------------------

PodResourceClaim read_resource_claim(ProtoReader& proto, SymbolHold& symbols) {
  PodResourceClaim claim;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: claim.name = read_symbol(proto, symbols); break;
      case 3: claim.claim_name = read_symbol(proto, symbols); break;
      case 4: claim.template_name = read_symbol(proto, symbols); break;
      default: break;
    }
  });
  return claim;
}

PreemptionPolicy read_preemption_policy(ProtoReader& proto) {
  const std::string_view text = proto.text();
  const std::optional<PreemptionPolicy> policy = preemption_policy(text);
  if (!policy) proto.fail(unsupported_preemption_policy(text));
  return policy.value_or(PreemptionPolicy::kPreemptLowerPriority);
}

void append_optional_amount(ProtoReader& proto, SymbolHold& symbols,
                            std::optional<ResourceList>& list) {
  if (!list) list.emplace();
  append_amount(proto, symbols, *list);
}

void read_pod_resources(ProtoReader& proto, PodSpec& spec) {
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: append_optional_amount(proto, spec.symbols, spec.pod_limits); break;
      case 2: append_optional_amount(proto, spec.symbols, spec.pod_requests); break;
      default: break;
    }
  });
}

// The fields that are lists or maps: one entry.
bool append_to_collection(ProtoReader& proto, PodSpec& spec, std::uint32_t field) {
  SymbolHold& symbols = spec.symbols;
  switch (field) {
    case 1: spec.volumes.push_back(read_volume(proto, symbols)); return true;
    case 2: spec.containers.push_back(read_container(proto, symbols)); return true;
    case 7: append_label(proto, symbols, spec.node_selector); return true;
    case 20: spec.init_containers.push_back(read_container(proto, symbols)); return true;
    case 22: spec.tolerations.push_back(read_toleration(proto, symbols)); return true;
    case 32: append_amount(proto, symbols, spec.overhead); return true;
    case 33:
      spec.topology_spread_constraints.push_back(read_spread_constraint(proto, symbols));
      return true;
    case 38: spec.scheduling_gates.push_back(read_reference_name(proto, symbols)); return true;
    case 39: spec.resource_claims.push_back(read_resource_claim(proto, symbols)); return true;
    default: return false;
  }
}

}  // namespace

void read_pod_spec(ProtoReader& proto, PodTemplate& pod, std::string& node_name) {
  PodSpec& spec = pod.spec;
  SymbolHold& symbols = spec.symbols;
  proto.fields([&](std::uint32_t field) {
    if (append_to_collection(proto, spec, field)) return;
    switch (field) {
      case 4: spec.termination_grace_seconds = clamped_grace(proto.int64()); break;
      case 10: node_name = proto.text(); break;
      case 11: spec.host_network = proto.boolean(); break;
      case 18: spec.affinity = read_affinity(proto, symbols); break;
      case 19: spec.scheduler_name = read_symbol(proto, symbols); break;
      case 24: spec.priority_class_name = read_symbol(proto, symbols); break;
      case 25:
        spec.priority = proto.int32();
        pod.priority_given = true;
        break;
      case 31:
        spec.preemption_policy = read_preemption_policy(proto);
        pod.preemption_policy_given = true;
        break;
      case 37: spec.own_users = !proto.boolean(); break;
      case 40: read_pod_resources(proto, spec); break;
      case 43: spec.scheduling_group = read_reference_name(proto, symbols); break;
      default: break;
    }
  });
  std::sort(spec.node_selector.begin(), spec.node_selector.end());
}

}  // namespace berth
