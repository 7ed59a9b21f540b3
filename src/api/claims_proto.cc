// Claims from protobuf.
#include "api/devices_proto.h"

#include <utility>

#include "api/affinity_proto.h"
#include "api/devices_parts.h"
#include "api/object_proto.h"

namespace berth {
namespace {

DeviceToleration read_device_toleration(ProtoReader& proto, SymbolHold& symbols) {
  DeviceToleration toleration;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: toleration.key = read_symbol(proto, symbols); break;
      case 2: toleration.op = read_symbol(proto, symbols); break;
      case 3: toleration.value = read_symbol(proto, symbols); break;
      case 4: toleration.effect = read_symbol(proto, symbols); break;
      case 5: toleration.toleration_seconds = proto.int64(); break;
      default: break;
    }
  });
  return toleration;
}

ResourceList read_capacity_requests(ProtoReader& proto, SymbolHold& symbols) {
  ResourceList requests;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) append_amount(proto, symbols, requests);
  });
  return requests;
}

// `exactly`; its numbers are those of a subrequest less one, where they are the same fields.
void read_request_field(ProtoReader& proto, SymbolHold& symbols, std::uint32_t field,
                        ExactDeviceRequest& request) {
  switch (field) {
    case 1: request.device_class_name = read_symbol(proto, symbols); break;
    case 2: request.selectors.push_back(read_device_selector(proto)); break;
    case 3: request.allocation_mode = read_symbol(proto, symbols); break;
    case 4: request.count = proto.int64(); break;
    case 5: request.admin_access = proto.boolean(); break;
    case 6: request.tolerations.push_back(read_device_toleration(proto, symbols)); break;
    case 7: request.capacity = read_capacity_requests(proto, symbols); break;
    default: break;
  }
}

DeviceSubRequest read_subrequest(ProtoReader& proto, SymbolHold& symbols) {
  DeviceSubRequest request;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      request.name = read_symbol(proto, symbols);
    } else if (field <= 5) {
      read_request_field(proto, symbols, field - 1, request);
    } else {
      read_request_field(proto, symbols, field, request);
    }
  });
  return request;
}

DeviceRequest read_request(ProtoReader& proto, SymbolHold& symbols) {
  DeviceRequest request;
  proto.fields([&](std::uint32_t part) {
    switch (part) {
      case 1: request.name = read_symbol(proto, symbols); break;
      case 2:
        request.exactly.emplace();
        proto.fields([&](std::uint32_t field) {
          read_request_field(proto, symbols, field, *request.exactly);
        });
        break;
      case 3: request.first_available.push_back(read_subrequest(proto, symbols)); break;
      default: break;
    }
  });
  return request;
}

DeviceConstraint read_constraint(ProtoReader& proto, SymbolHold& symbols) {
  DeviceConstraint constraint;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: append_symbol(proto, symbols, constraint.requests); break;
      case 2: constraint.match_attribute = read_symbol(proto, symbols); break;
      case 3: constraint.distinct_attribute = read_symbol(proto, symbols); break;
      default: break;
    }
  });
  return constraint;
}

DeviceClaimConfiguration read_claim_config(ProtoReader& proto, SymbolHold& symbols) {
  DeviceClaimConfiguration config;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) append_symbol(proto, symbols, config.requests);
    if (field == 2) read_device_configuration(proto, symbols, config.opaque);
  });
  return config;
}

void read_claim_spec(ProtoReader& proto, SymbolHold& symbols, ResourceClaimSpec& spec) {
  proto.fields([&](std::uint32_t part) {
    if (part != 1) return;
    proto.fields([&](std::uint32_t field) {
      switch (field) {
        case 1: spec.requests.push_back(read_request(proto, symbols)); break;
        case 2: spec.constraints.push_back(read_constraint(proto, symbols)); break;
        case 3: spec.config.push_back(read_claim_config(proto, symbols)); break;
        default: break;
      }
    });
  });
}

DeviceRequestAllocationResult read_result(ProtoReader& proto, SymbolHold& symbols) {
  DeviceRequestAllocationResult result;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: result.request = read_symbol(proto, symbols); break;
      case 2: result.driver = read_symbol(proto, symbols); break;
      case 3: result.pool = read_symbol(proto, symbols); break;
      case 4: result.device = read_symbol(proto, symbols); break;
      case 5: result.admin_access = proto.boolean(); break;
      case 6: result.tolerations.push_back(read_device_toleration(proto, symbols)); break;
      case 7: append_symbol(proto, symbols, result.binding_conditions); break;
      case 8: append_symbol(proto, symbols, result.binding_failure_conditions); break;
      case 9: result.share_id = proto.text(); break;
      case 10: append_amount(proto, symbols, result.consumed_capacity); break;
      default: break;
    }
  });
  return result;
}

DeviceAllocationConfiguration read_allocation_config(ProtoReader& proto, SymbolHold& symbols) {
  DeviceAllocationConfiguration config;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: config.source = allocation_config_source(proto.text()); break;
      case 2: append_symbol(proto, symbols, config.requests); break;
      case 3: read_device_configuration(proto, symbols, config.opaque); break;
      default: break;
    }
  });
  return config;
}

AllocationResult read_allocation(ProtoReader& proto, SymbolHold& symbols) {
  AllocationResult allocation;
  proto.fields([&](std::uint32_t part) {
    switch (part) {
      case 1:
        proto.fields([&](std::uint32_t field) {
          if (field == 1) allocation.results.push_back(read_result(proto, symbols));
          if (field == 2) allocation.config.push_back(read_allocation_config(proto, symbols));
        });
        break;
      case 3: allocation.node_selector = read_node_selector(proto, symbols); break;
      case 5: allocation.allocation_timestamp = proto.time(); break;
      default: break;
    }
  });
  return allocation;
}

PodCondition read_device_condition(ProtoReader& proto) {
  PodCondition condition;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: condition.type = proto.text(); break;
      case 2: condition.status = proto.text(); break;
      case 3: condition.observed_generation = proto.int64(); break;
      case 4: condition.last_transition_time = proto.time(); break;
      case 5: condition.reason = proto.text(); break;
      case 6: condition.message = proto.text(); break;
      default: break;
    }
  });
  return condition;
}

AllocatedDeviceStatus read_device_status(ProtoReader& proto, SymbolHold& symbols) {
  AllocatedDeviceStatus status;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: status.driver = read_symbol(proto, symbols); break;
      case 2: status.pool = read_symbol(proto, symbols); break;
      case 3: status.device = read_symbol(proto, symbols); break;
      case 4: status.conditions.push_back(read_device_condition(proto)); break;
      case 5:
      case 6: note_rest(status, proto.text()); break;
      case 7: status.share_id = proto.text(); break;
      default: break;
    }
  });
  return status;
}

ResourceClaimConsumerReference read_consumer(ProtoReader& proto, SymbolHold& symbols) {
  ResourceClaimConsumerReference consumer;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: consumer.api_group = read_symbol(proto, symbols); break;
      case 3: consumer.resource = read_symbol(proto, symbols); break;
      case 4: consumer.name = proto.text(); break;
      case 5: consumer.uid = proto.text(); break;
      default: break;
    }
  });
  return consumer;
}

void read_claim_status(ProtoReader& proto, SymbolHold& symbols, ResourceClaimStatus& status) {
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: status.allocation = read_allocation(proto, symbols); break;
      case 2: status.reserved_for.push_back(read_consumer(proto, symbols)); break;
      case 4: status.devices.push_back(read_device_status(proto, symbols)); break;
      default: break;
    }
  });
}

}  // namespace

Result<Ref<Object>> decode_resource_claim(ProtoReader& proto, Interner& interner) {
  auto claim = make_ref<ResourceClaim>(interner.hold());
  WrittenMeta meta;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: read_metadata(proto, claim->symbols, meta, /*with_annotations=*/true); break;
      case 2: read_claim_spec(proto, claim->symbols, claim->spec); break;
      case 3: read_claim_status(proto, claim->symbols, claim->status); break;
      default: break;
    }
  });
  if (proto.error()) return fail(*proto.error());
  take_claim_metadata(meta, *claim);
  set_object(*claim, std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(claim));
}

Result<Ref<Object>> decode_resource_claim_template(ProtoReader& proto, Interner& interner) {
  auto object = make_ref<ResourceClaimTemplate>(interner.hold());
  WrittenMeta meta;
  WrittenMeta of_claims;
  proto.fields([&](std::uint32_t part) {
    if (part == 1) read_metadata(proto, object->symbols, meta);
    if (part != 2) return;
    proto.fields([&](std::uint32_t field) {
      if (field == 1) read_metadata(proto, object->symbols, of_claims, /*with_annotations=*/true);
      if (field == 2) read_claim_spec(proto, object->symbols, object->spec);
    });
  });
  if (proto.error()) return fail(*proto.error());
  object->annotations = std::move(of_claims.annotations);
  set_object(*object, std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

}  // namespace berth
