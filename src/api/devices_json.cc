// Slices and classes from JSON.
#include "api/devices_json.h"

#include <string_view>
#include <utility>

#include "api/affinity_json.h"
#include "api/devices_parts.h"
#include "api/object_json.h"

namespace berth {
namespace {

Symbol read_symbol(JsonReader& json, SymbolHold& symbols) { return symbols.intern(json.text()); }

template <typename T>
void read_list(JsonReader& json, DeviceAttributeValue& value, auto read_item) {
  std::vector<T> list;
  json.items([&] { list.push_back(read_item()); });
  value = std::move(list);
}

DeviceAttributeValue read_attribute(JsonReader& json) {
  DeviceAttributeValue value;
  const auto text = [&] { return std::string(json.text()); };
  const auto version = [&] { return DeviceVersion{std::string(json.text())}; };
  json.fields([&](std::string_view name) {
    if (name == "int") {
      value = json.int64();
    } else if (name == "bool") {
      value = json.boolean();
    } else if (name == "string") {
      value = text();
    } else if (name == "version") {
      value = version();
    } else if (name == "ints") {
      read_list<std::int64_t>(json, value, [&] { return json.int64(); });
    } else if (name == "bools") {
      read_list<bool>(json, value, [&] { return json.boolean(); });
    } else if (name == "strings") {
      read_list<std::string>(json, value, text);
    } else if (name == "versions") {
      read_list<DeviceVersion>(json, value, version);
    }
  });
  return value;
}

CapacityRequestPolicyRange read_range(JsonReader& json) {
  CapacityRequestPolicyRange range;
  json.fields([&](std::string_view name) {
    if (name == "min") {
      range.min = json.quantity();
    } else if (name == "max") {
      range.max = json.quantity();
    } else if (name == "step") {
      range.step = json.quantity();
    }
  });
  return range;
}

CapacityRequestPolicy read_policy(JsonReader& json) {
  CapacityRequestPolicy policy;
  json.fields([&](std::string_view name) {
    if (name == "default") {
      policy.default_value = json.quantity();
    } else if (name == "validValues") {
      json.items([&] { policy.valid_values.push_back(json.quantity()); });
    } else if (name == "validRange") {
      policy.valid_range = read_range(json);
    }
  });
  return policy;
}

DeviceCapacity read_capacity(JsonReader& json, Symbol name) {
  DeviceCapacity capacity;
  capacity.name = name;
  json.fields([&](std::string_view field) {
    if (field == "value") {
      capacity.value = json.quantity();
    } else if (field == "requestPolicy") {
      capacity.request_policy = read_policy(json);
    }
  });
  return capacity;
}

// map[string]Counter
ResourceList read_counters(JsonReader& json, SymbolHold& symbols) {
  std::vector<ResourceAmount> counters;
  json.entries([&](std::string_view key) {
    ResourceAmount& counter = counters.emplace_back();
    counter.name = symbols.intern(key);
    json.fields([&](std::string_view field) {
      if (field == "value") counter.amount = json.quantity();
    });
  });
  return ResourceList(std::move(counters));
}

DeviceTaint read_device_taint(JsonReader& json, SymbolHold& symbols) {
  DeviceTaint taint;
  json.fields([&](std::string_view name) {
    if (name == "key") {
      taint.key = read_symbol(json, symbols);
    } else if (name == "value") {
      taint.value = read_symbol(json, symbols);
    } else if (name == "effect") {
      taint.effect = read_symbol(json, symbols);
    }
  });
  return taint;
}

NodeAllocatableResourceMapping read_mapping(JsonReader& json, SymbolHold& symbols,
                                            std::string_view resource) {
  NodeAllocatableResourceMapping mapping;
  mapping.resource = symbols.intern(resource);
  json.fields([&](std::string_view name) {
    if (name == "capacityKey") {
      mapping.capacity_key = read_symbol(json, symbols);
    } else if (name == "allocationMultiplier") {
      mapping.allocation_multiplier = json.quantity();
    }
  });
  return mapping;
}

// nodeName, nodeSelector, allNodes. Whether it was one of them.
bool read_node_selection(JsonReader& json, SymbolHold& symbols, std::string_view name,
                         DeviceNodeSelection& nodes) {
  if (name == "nodeName") {
    nodes.node_name = read_symbol(json, symbols);
  } else if (name == "nodeSelector") {
    nodes.node_selector = read_node_selector(json, symbols);
  } else if (name == "allNodes") {
    nodes.all_nodes = json.boolean();
  } else {
    return false;
  }
  return true;
}

void read_device_field(JsonReader& json, SymbolHold& symbols, std::string_view name,
                       Device& device) {
  if (name == "name") {
    device.name = read_symbol(json, symbols);
  } else if (name == "attributes") {
    json.entries([&](std::string_view key) {
      const Symbol symbol = symbols.intern(key);
      device.attributes.push_back({symbol, read_attribute(json)});
    });
  } else if (name == "capacity") {
    json.entries([&](std::string_view key) {
      const Symbol symbol = symbols.intern(key);
      device.capacity.push_back(read_capacity(json, symbol));
    });
  } else if (name == "consumesCounters") {
    json.items([&] {
      DeviceCounterConsumption& consumption = device.consumes_counters.emplace_back();
      json.fields([&](std::string_view field) {
        if (field == "counterSet") {
          consumption.counter_set = read_symbol(json, symbols);
        } else if (field == "counters") {
          consumption.counters = read_counters(json, symbols);
        }
      });
    });
  } else if (name == "taints") {
    json.items([&] { device.taints.push_back(read_device_taint(json, symbols)); });
  } else if (name == "bindsToNode") {
    device.binds_to_node = json.boolean();
  } else if (name == "bindingConditions") {
    device.binding_conditions = read_symbols(json, symbols);
  } else if (name == "bindingFailureConditions") {
    device.binding_failure_conditions = read_symbols(json, symbols);
  } else if (name == "allowMultipleAllocations") {
    device.allow_multiple_allocations = json.boolean();
  } else if (name == "nodeAllocatableResourceMappings") {
    json.entries([&](std::string_view resource) {
      device.node_allocatable_resource_mappings.push_back(read_mapping(json, symbols, resource));
    });
  } else {
    read_node_selection(json, symbols, name, device.nodes);
  }
}

Device read_device(JsonReader& json, SymbolHold& symbols) {
  Device device;
  json.fields([&](std::string_view name) {
    if (name == "basic") {  // where v1beta1 has all but the name
      json.fields([&](std::string_view field) { read_device_field(json, symbols, field, device); });
    } else {
      read_device_field(json, symbols, name, device);
    }
  });
  return device;
}

void read_slice_spec(JsonReader& json, ResourceSlice& slice) {
  SymbolHold& symbols = slice.symbols;
  json.fields([&](std::string_view name) {
    if (name == "driver") {
      slice.driver = read_symbol(json, symbols);
    } else if (name == "pool") {
      json.fields([&](std::string_view field) {
        if (field == "name") {
          slice.pool.name = read_symbol(json, symbols);
        } else if (field == "generation") {
          slice.pool.generation = json.int64();
        } else if (field == "resourceSliceCount") {
          slice.pool.resource_slice_count = json.int64();
        }
      });
    } else if (name == "perDeviceNodeSelection") {
      slice.per_device_node_selection = json.boolean();
    } else if (name == "devices") {
      json.items([&] { slice.devices.push_back(read_device(json, symbols)); });
    } else if (name == "sharedCounters") {
      json.items([&] {
        CounterSet& set = slice.shared_counters.emplace_back();
        json.fields([&](std::string_view field) {
          if (field == "name") {
            set.name = read_symbol(json, symbols);
          } else if (field == "counters") {
            set.counters = read_counters(json, symbols);
          }
        });
      });
    } else {
      read_node_selection(json, symbols, name, slice.nodes);
    }
  });
}

}  // namespace

std::vector<CELDeviceSelector> read_device_selectors(JsonReader& json) {
  std::vector<CELDeviceSelector> selectors;
  json.items([&] {
    CELDeviceSelector selector;
    json.fields([&](std::string_view kind) {
      if (kind != "cel") return;
      selector.expression.emplace();
      json.fields([&](std::string_view field) {
        if (field == "expression") selector.expression = json.text();
      });
    });
    selectors.push_back(std::move(selector));
  });
  return selectors;
}

OpaqueDeviceConfiguration read_opaque(JsonReader& json, SymbolHold& symbols) {
  OpaqueDeviceConfiguration opaque;
  json.fields([&](std::string_view name) {
    if (name == "driver") {
      opaque.driver = read_symbol(json, symbols);
    } else if (name == "parameters") {
      opaque.parameters = json.raw();
    }
  });
  return opaque;
}

Result<Ref<Object>> decode_resource_slice(JsonReader& json, Interner& interner) {
  auto slice = make_ref<ResourceSlice>(interner.hold());
  WrittenMeta meta;
  json.fields([&](std::string_view name) {
    if (name == "metadata") {
      read_metadata(json, slice->symbols, meta);
    } else if (name == "spec") {
      read_slice_spec(json, *slice);
    }
  });
  if (json.error()) return fail(*json.error());
  set_object(*slice, std::move(meta), /*namespaced=*/false);
  return Ref<Object>(std::move(slice));
}

Result<Ref<Object>> decode_device_class(JsonReader& json, Interner& interner) {
  auto device_class = make_ref<DeviceClass>(interner.hold());
  SymbolHold& symbols = device_class->symbols;
  WrittenMeta meta;
  const auto read_config = [&] {
    std::optional<OpaqueDeviceConfiguration>& config = device_class->config.emplace_back();
    json.fields([&](std::string_view name) {
      if (name == "opaque") config = read_opaque(json, symbols);
    });
  };
  const auto read_spec = [&](std::string_view name) {
    if (name == "selectors") {
      device_class->selectors = read_device_selectors(json);
    } else if (name == "config") {
      json.items(read_config);
    } else if (name == "extendedResourceName") {
      device_class->extended_resource_name = read_symbol(json, symbols);
    }
  };
  json.fields([&](std::string_view name) {
    if (name == "metadata") {
      read_metadata(json, symbols, meta);
    } else if (name == "spec") {
      json.fields(read_spec);
    }
  });
  if (json.error()) return fail(*json.error());
  device_class->creation_time = meta.creation_time;
  set_object(*device_class, std::move(meta), /*namespaced=*/false);
  return Ref<Object>(std::move(device_class));
}

}  // namespace berth
