// Slices and classes from protobuf.
#include "api/devices_proto.h"

#include <utility>

#include "api/affinity_proto.h"
#include "api/devices_parts.h"
#include "api/object_proto.h"

namespace berth {
namespace {

template <typename T>
void append(DeviceAttributeValue& value, T item) {
  if (!std::holds_alternative<std::vector<T>>(value)) value = std::vector<T>();
  std::get<std::vector<T>>(value).push_back(std::move(item));
}

DeviceAttributeValue read_attribute(ProtoReader& proto) {
  DeviceAttributeValue value;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 2: value = proto.int64(); break;
      case 3: value = proto.boolean(); break;
      case 4: value = std::string(proto.text()); break;
      case 5: value = DeviceVersion{std::string(proto.text())}; break;
      case 6: append(value, proto.int64()); break;
      case 7: append(value, proto.boolean()); break;
      case 8: append(value, std::string(proto.text())); break;
      case 9: append(value, DeviceVersion{std::string(proto.text())}); break;
      default: break;
    }
  });
  return value;
}

CapacityRequestPolicyRange read_range(ProtoReader& proto) {
  CapacityRequestPolicyRange range;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: range.min = proto.quantity(); break;
      case 2: range.max = proto.quantity(); break;
      case 3: range.step = proto.quantity(); break;
      default: break;
    }
  });
  return range;
}

CapacityRequestPolicy read_policy(ProtoReader& proto) {
  CapacityRequestPolicy policy;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: policy.default_value = proto.quantity(); break;
      case 3: policy.valid_values.push_back(proto.quantity()); break;
      case 4: policy.valid_range = read_range(proto); break;
      default: break;
    }
  });
  return policy;
}

DeviceCapacity read_capacity(ProtoReader& proto, Symbol name) {
  DeviceCapacity capacity;
  capacity.name = name;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) capacity.value = proto.quantity();
    if (field == 2) capacity.request_policy = read_policy(proto);
  });
  return capacity;
}

// An entry of a map[string]Counter.
void append_counter(ProtoReader& proto, SymbolHold& symbols, ResourceList& counters) {
  proto.entry([&](std::string_view key) {
    const Symbol name = symbols.intern(key);
    Quantity amount;
    proto.fields([&](std::uint32_t field) {
      if (field == 1) amount = proto.quantity();
    });
    counters.set(name, std::move(amount));
  });
}

// A CounterSet, or what a device consumes of one.
template <typename T>
T read_counters(ProtoReader& proto, SymbolHold& symbols, Symbol T::* name) {
  T set;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) set.*name = read_symbol(proto, symbols);
    if (field == 2) append_counter(proto, symbols, set.counters);
  });
  return set;
}

DeviceTaint read_device_taint(ProtoReader& proto, SymbolHold& symbols) {
  DeviceTaint taint;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: taint.key = read_symbol(proto, symbols); break;
      case 2: taint.value = read_symbol(proto, symbols); break;
      case 3: taint.effect = read_symbol(proto, symbols); break;
      default: break;
    }
  });
  return taint;
}

void append_mapping(ProtoReader& proto, SymbolHold& symbols, Device& device) {
  proto.entry([&](std::string_view resource) {
    NodeAllocatableResourceMapping& mapping =
        device.node_allocatable_resource_mappings.emplace_back();
    mapping.resource = symbols.intern(resource);
    proto.fields([&](std::uint32_t field) {
      if (field == 1) mapping.capacity_key = read_symbol(proto, symbols);
      if (field == 2) mapping.allocation_multiplier = proto.quantity();
    });
  });
}

Device read_device(ProtoReader& proto, SymbolHold& symbols) {
  Device device;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: device.name = read_symbol(proto, symbols); break;
      case 2:
        proto.entry([&](std::string_view key) {
          const Symbol name = symbols.intern(key);
          device.attributes.push_back({name, read_attribute(proto)});
        });
        break;
      case 3:
        proto.entry([&](std::string_view key) {
          const Symbol name = symbols.intern(key);
          device.capacity.push_back(read_capacity(proto, name));
        });
        break;
      case 4:
        device.consumes_counters.push_back(read_counters<DeviceCounterConsumption>(
            proto, symbols, &DeviceCounterConsumption::counter_set));
        break;
      case 5: device.nodes.node_name = read_symbol(proto, symbols); break;
      case 6: device.nodes.node_selector = read_node_selector(proto, symbols); break;
      case 7: device.nodes.all_nodes = proto.boolean(); break;
      case 8: device.taints.push_back(read_device_taint(proto, symbols)); break;
      case 9: device.binds_to_node = proto.boolean(); break;
      case 10: append_symbol(proto, symbols, device.binding_conditions); break;
      case 11: append_symbol(proto, symbols, device.binding_failure_conditions); break;
      case 12: device.allow_multiple_allocations = proto.boolean(); break;
      case 13: append_mapping(proto, symbols, device); break;
      default: break;
    }
  });
  return device;
}

void read_slice_spec(ProtoReader& proto, ResourceSlice& slice) {
  SymbolHold& symbols = slice.symbols;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: slice.driver = read_symbol(proto, symbols); break;
      case 2:
        proto.fields([&](std::uint32_t of_pool) {
          if (of_pool == 1) slice.pool.name = read_symbol(proto, symbols);
          if (of_pool == 2) slice.pool.generation = proto.int64();
          if (of_pool == 3) slice.pool.resource_slice_count = proto.int64();
        });
        break;
      case 3: slice.nodes.node_name = read_symbol(proto, symbols); break;
      case 4: slice.nodes.node_selector = read_node_selector(proto, symbols); break;
      case 5: slice.nodes.all_nodes = proto.boolean(); break;
      case 6: slice.devices.push_back(read_device(proto, symbols)); break;
      case 7: slice.per_device_node_selection = proto.boolean(); break;
      case 8:
        slice.shared_counters.push_back(
            read_counters<CounterSet>(proto, symbols, &CounterSet::name));
        break;
      default: break;
    }
  });
}

}  // namespace

CELDeviceSelector read_device_selector(ProtoReader& proto) {
  CELDeviceSelector selector;
  proto.fields([&](std::uint32_t kind) {
    if (kind != 1) return;
    selector.expression.emplace();
    proto.fields([&](std::uint32_t field) {
      if (field == 1) selector.expression = proto.text();
    });
  });
  return selector;
}

void read_device_configuration(ProtoReader& proto, SymbolHold& symbols,
                               std::optional<OpaqueDeviceConfiguration>& opaque) {
  proto.fields([&](std::uint32_t kind) {
    if (kind != 1) return;
    opaque.emplace();
    proto.fields([&](std::uint32_t field) {
      if (field == 1) {
        opaque->driver = read_symbol(proto, symbols);
      } else if (field == 2) {
        proto.fields([&](std::uint32_t raw) {
          if (raw == 1) opaque->parameters = proto.text();
        });
      }
    });
  });
}

Result<Ref<Object>> decode_resource_slice(ProtoReader& proto, Interner& interner) {
  auto slice = make_ref<ResourceSlice>(interner.hold());
  WrittenMeta meta;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) read_metadata(proto, slice->symbols, meta);
    if (field == 2) read_slice_spec(proto, *slice);
  });
  if (proto.error()) return fail(*proto.error());
  set_object(*slice, std::move(meta), /*namespaced=*/false);
  return Ref<Object>(std::move(slice));
}

Result<Ref<Object>> decode_device_class(ProtoReader& proto, Interner& interner) {
  auto device_class = make_ref<DeviceClass>(interner.hold());
  SymbolHold& symbols = device_class->symbols;
  WrittenMeta meta;
  proto.fields([&](std::uint32_t part) {
    if (part == 1) read_metadata(proto, symbols, meta);
    if (part != 2) return;
    proto.fields([&](std::uint32_t field) {
      switch (field) {
        case 1: device_class->selectors.push_back(read_device_selector(proto)); break;
        case 2: {
          std::optional<OpaqueDeviceConfiguration>& config = device_class->config.emplace_back();
          proto.fields([&](std::uint32_t inner) {
            if (inner == 1) read_device_configuration(proto, symbols, config);
          });
          break;
        }
        case 4: device_class->extended_resource_name = read_symbol(proto, symbols); break;
        default: break;
      }
    });
  });
  if (proto.error()) return fail(*proto.error());
  device_class->creation_time = meta.creation_time;
  set_object(*device_class, std::move(meta), /*namespaced=*/false);
  return Ref<Object>(std::move(device_class));
}

}  // namespace berth
