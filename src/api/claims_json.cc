// Claims from JSON.
#include "api/devices_json.h"

#include <string_view>
#include <utility>

#include "api/affinity_json.h"
#include "api/devices_parts.h"
#include "api/object_json.h"

namespace berth {
namespace {

Symbol read_claim_symbol(JsonReader& json, SymbolHold& symbols) {
  return symbols.intern(json.text());
}

std::vector<DeviceToleration> read_tolerations(JsonReader& json, SymbolHold& symbols) {
  std::vector<DeviceToleration> tolerations;
  json.items([&] {
    DeviceToleration& toleration = tolerations.emplace_back();
    json.fields([&](std::string_view name) {
      if (name == "key") {
        toleration.key = read_claim_symbol(json, symbols);
      } else if (name == "operator") {
        toleration.op = read_claim_symbol(json, symbols);
      } else if (name == "value") {
        toleration.value = read_claim_symbol(json, symbols);
      } else if (name == "effect") {
        toleration.effect = read_claim_symbol(json, symbols);
      } else if (name == "tolerationSeconds") {
        toleration.toleration_seconds = json.int64();
      }
    });
  });
  return tolerations;
}

ResourceList read_capacity_requests(JsonReader& json, SymbolHold& symbols) {
  ResourceList requests;
  json.fields([&](std::string_view name) {
    if (name == "requests") requests = read_resource_list(json, symbols);
  });
  return requests;
}

// A field of `exactly` or of a subrequest. Whether it was one.
bool read_request_field(JsonReader& json, SymbolHold& symbols, std::string_view name,
                        ExactDeviceRequest& request) {
  if (name == "deviceClassName") {
    request.device_class_name = read_claim_symbol(json, symbols);
  } else if (name == "selectors") {
    request.selectors = read_device_selectors(json);
  } else if (name == "allocationMode") {
    request.allocation_mode = read_claim_symbol(json, symbols);
  } else if (name == "count") {
    request.count = json.int64();
  } else if (name == "adminAccess") {
    request.admin_access = json.boolean();
  } else if (name == "tolerations") {
    request.tolerations = read_tolerations(json, symbols);
  } else if (name == "capacity") {
    request.capacity = read_capacity_requests(json, symbols);
  } else {
    return false;
  }
  return true;
}

DeviceSubRequest read_subrequest(JsonReader& json, SymbolHold& symbols) {
  DeviceSubRequest request;
  json.fields([&](std::string_view name) {
    if (name == "name") {
      request.name = read_claim_symbol(json, symbols);
    } else if (name != "adminAccess") {
      read_request_field(json, symbols, name, request);
    }
  });
  return request;
}

DeviceRequest read_request(JsonReader& json, SymbolHold& symbols) {
  DeviceRequest request;
  json.fields([&](std::string_view name) {
    if (name == "name") {
      request.name = read_claim_symbol(json, symbols);
    } else if (name == "exactly") {
      request.exactly.emplace();
      json.fields([&](std::string_view field) {
        read_request_field(json, symbols, field, *request.exactly);
      });
    } else if (name == "firstAvailable") {
      json.items([&] { request.first_available.push_back(read_subrequest(json, symbols)); });
    } else {
      // v1beta1 has the fields of `exactly` here.
      ExactDeviceRequest flat = request.exactly.value_or(ExactDeviceRequest());
      if (read_request_field(json, symbols, name, flat)) request.exactly = std::move(flat);
    }
  });
  return request;
}

DeviceConstraint read_constraint(JsonReader& json, SymbolHold& symbols) {
  DeviceConstraint constraint;
  json.fields([&](std::string_view name) {
    if (name == "requests") {
      constraint.requests = read_symbols(json, symbols);
    } else if (name == "matchAttribute") {
      constraint.match_attribute = read_claim_symbol(json, symbols);
    } else if (name == "distinctAttribute") {
      constraint.distinct_attribute = read_claim_symbol(json, symbols);
    }
  });
  return constraint;
}

void read_claim_spec(JsonReader& json, SymbolHold& symbols, ResourceClaimSpec& spec) {
  const auto read_config = [&] {
    DeviceClaimConfiguration& config = spec.config.emplace_back();
    json.fields([&](std::string_view name) {
      if (name == "requests") {
        config.requests = read_symbols(json, symbols);
      } else if (name == "opaque") {
        config.opaque = read_opaque(json, symbols);
      }
    });
  };
  json.fields([&](std::string_view part) {
    if (part != "devices") return;
    json.fields([&](std::string_view name) {
      if (name == "requests") {
        json.items([&] { spec.requests.push_back(read_request(json, symbols)); });
      } else if (name == "constraints") {
        json.items([&] { spec.constraints.push_back(read_constraint(json, symbols)); });
      } else if (name == "config") {
        json.items(read_config);
      }
    });
  });
}

DeviceRequestAllocationResult read_result(JsonReader& json, SymbolHold& symbols) {
  DeviceRequestAllocationResult result;
  json.fields([&](std::string_view name) {
    if (name == "request") {
      result.request = read_claim_symbol(json, symbols);
    } else if (name == "driver") {
      result.driver = read_claim_symbol(json, symbols);
    } else if (name == "pool") {
      result.pool = read_claim_symbol(json, symbols);
    } else if (name == "device") {
      result.device = read_claim_symbol(json, symbols);
    } else if (name == "adminAccess") {
      result.admin_access = json.boolean();
    } else if (name == "tolerations") {
      result.tolerations = read_tolerations(json, symbols);
    } else if (name == "bindingConditions") {
      result.binding_conditions = read_symbols(json, symbols);
    } else if (name == "bindingFailureConditions") {
      result.binding_failure_conditions = read_symbols(json, symbols);
    } else if (name == "shareID") {
      result.share_id = json.text();
    } else if (name == "consumedCapacity") {
      result.consumed_capacity = read_resource_list(json, symbols);
    }
  });
  return result;
}

DeviceAllocationConfiguration read_allocation_config(JsonReader& json, SymbolHold& symbols) {
  DeviceAllocationConfiguration config;
  json.fields([&](std::string_view name) {
    if (name == "source") {
      config.source = allocation_config_source(json.text());
    } else if (name == "requests") {
      config.requests = read_symbols(json, symbols);
    } else if (name == "opaque") {
      config.opaque = read_opaque(json, symbols);
    }
  });
  return config;
}

AllocationResult read_allocation(JsonReader& json, SymbolHold& symbols) {
  AllocationResult allocation;
  const auto read_devices = [&](std::string_view name) {
    if (name == "results") {
      json.items([&] { allocation.results.push_back(read_result(json, symbols)); });
    } else if (name == "config") {
      json.items([&] { allocation.config.push_back(read_allocation_config(json, symbols)); });
    }
  };
  json.fields([&](std::string_view name) {
    if (name == "devices") {
      json.fields(read_devices);
    } else if (name == "nodeSelector") {
      allocation.node_selector = read_node_selector(json, symbols);
    } else if (name == "allocationTimestamp") {
      allocation.allocation_timestamp = json.time();
    }
  });
  return allocation;
}

PodCondition read_device_condition(JsonReader& json) {
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
    } else if (name == "lastTransitionTime") {
      condition.last_transition_time = json.time();
    } else if (name == "observedGeneration") {
      condition.observed_generation = json.int64();
    }
  });
  return condition;
}

AllocatedDeviceStatus read_device_status(JsonReader& json, SymbolHold& symbols) {
  AllocatedDeviceStatus status;
  json.fields([&](std::string_view name) {
    if (name == "driver") {
      status.driver = read_claim_symbol(json, symbols);
    } else if (name == "pool") {
      status.pool = read_claim_symbol(json, symbols);
    } else if (name == "device") {
      status.device = read_claim_symbol(json, symbols);
    } else if (name == "shareID") {
      status.share_id = json.text();
    } else if (name == "conditions") {
      json.items([&] { status.conditions.push_back(read_device_condition(json)); });
    } else if (name == "data" || name == "networkData") {
      note_rest(status, json.raw());
    }
  });
  return status;
}

void read_claim_status(JsonReader& json, SymbolHold& symbols, ResourceClaimStatus& status) {
  const auto read_consumer = [&] {
    ResourceClaimConsumerReference& consumer = status.reserved_for.emplace_back();
    json.fields([&](std::string_view name) {
      if (name == "apiGroup") {
        consumer.api_group = read_claim_symbol(json, symbols);
      } else if (name == "resource") {
        consumer.resource = read_claim_symbol(json, symbols);
      } else if (name == "name") {
        consumer.name = json.text();
      } else if (name == "uid") {
        consumer.uid = json.text();
      }
    });
  };
  json.fields([&](std::string_view name) {
    if (name == "allocation") {
      status.allocation = read_allocation(json, symbols);
    } else if (name == "reservedFor") {
      json.items(read_consumer);
    } else if (name == "devices") {
      json.items([&] { status.devices.push_back(read_device_status(json, symbols)); });
    }
  });
}

}  // namespace

Result<Ref<Object>> decode_resource_claim(JsonReader& json, Interner& interner) {
  auto claim = make_ref<ResourceClaim>(interner.hold());
  WrittenMeta meta;
  json.fields([&](std::string_view name) {
    if (name == "metadata") {
      read_metadata(json, claim->symbols, meta, /*with_annotations=*/true);
    } else if (name == "spec") {
      read_claim_spec(json, claim->symbols, claim->spec);
    } else if (name == "status") {
      read_claim_status(json, claim->symbols, claim->status);
    }
  });
  if (json.error()) return fail(*json.error());
  take_claim_metadata(meta, *claim);
  set_object(*claim, std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(claim));
}

Result<Ref<Object>> decode_resource_claim_template(JsonReader& json, Interner& interner) {
  auto object = make_ref<ResourceClaimTemplate>(interner.hold());
  WrittenMeta meta;
  WrittenMeta of_claims;
  json.fields([&](std::string_view name) {
    if (name == "metadata") {
      read_metadata(json, object->symbols, meta);
    } else if (name == "spec") {
      json.fields([&](std::string_view field) {
        if (field == "metadata") {
          read_metadata(json, object->symbols, of_claims, /*with_annotations=*/true);
        } else if (field == "spec") {
          read_claim_spec(json, object->symbols, object->spec);
        }
      });
    }
  });
  if (json.error()) return fail(*json.error());
  object->annotations = std::move(of_claims.annotations);
  set_object(*object, std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

}  // namespace berth
