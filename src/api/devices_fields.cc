// Slices and classes of devices: which member takes which field.

#include <utility>

#include "api/claim_fields.h"
#include "api/kind_decoders.h"

namespace berth {

// ---- attributes ---------------------------------------------------------------------------------

template <typename T>
inline constexpr auto read_attribute = [](auto& reader) -> T {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return reader.int64();
  } else if constexpr (std::is_same_v<T, bool>) {
    return reader.boolean();
  } else {
    return T{std::string(reader.text())};
  }
};

template <typename T>
inline constexpr auto read_attribute_list =
    [](auto& reader, SymbolHold&, DeviceAttribute& attribute) {
      using List = std::vector<T>;
      if (kIsJson<std::remove_reference_t<decltype(reader)>> ||
          !std::holds_alternative<List>(attribute.value))
        attribute.value = List();
      List& list = std::get<List>(attribute.value);
      each_item(reader, [&] { list.push_back(read_attribute<T>(reader)); });
    };

template <FieldName Name, typename T>
using AttributeField = Field<Name, &DeviceAttribute::value, read_attribute<T>>;

template <>
struct Fields<DeviceAttribute>
    : FieldList<"api.resource.v1.DeviceAttribute",  //
                AttributeField<"int", std::int64_t>, AttributeField<"bool", bool>,
                AttributeField<"string", std::string>, AttributeField<"version", DeviceVersion>,
                Custom<"ints", read_attribute_list<std::int64_t>>,
                Custom<"bools", read_attribute_list<bool>>,
                Custom<"strings", read_attribute_list<std::string>>,
                Custom<"versions", read_attribute_list<DeviceVersion>>> {};

// ---- capacity and counters ----------------------------------------------------------------------

template <>
struct Fields<CapacityRequestPolicyRange>
    : FieldList<"api.resource.v1.CapacityRequestPolicyRange",
                Field<"min", &CapacityRequestPolicyRange::min>,
                Field<"max", &CapacityRequestPolicyRange::max>,
                Field<"step", &CapacityRequestPolicyRange::step>> {};

template <>
struct Fields<CapacityRequestPolicy>
    : FieldList<"api.resource.v1.CapacityRequestPolicy",
                Field<"default", &CapacityRequestPolicy::default_value>,
                Field<"validValues", &CapacityRequestPolicy::valid_values>,
                Field<"validRange", &CapacityRequestPolicy::valid_range>> {};

template <>
struct Fields<DeviceCapacity> : FieldList<"api.resource.v1.DeviceCapacity",  //
                                          Field<"value", &DeviceCapacity::value>,
                                          Field<"requestPolicy", &DeviceCapacity::request_policy>> {
};

using CounterFields = FieldList<"api.resource.v1.Counter", Field<"value", &ResourceAmount::amount>>;

// A map[string]Counter.
inline constexpr auto read_counters = [](auto& reader, SymbolHold& symbols, auto& set) {
  std::vector<ResourceAmount> counters;
  each_entry(reader, [&](std::string_view key) {
    ResourceAmount& counter = counters.emplace_back();
    counter.name = symbols.intern(key);
    CounterFields::read(reader, symbols, counter);
  });
  if (kIsJson<std::remove_reference_t<decltype(reader)>>) {
    set.counters = ResourceList(std::move(counters));
  } else {
    for (ResourceAmount& counter : counters)
      set.counters.set(counter.name, std::move(counter.amount));
  }
};

template <>
struct Fields<CounterSet>
    : FieldList<"api.resource.v1.CounterSet", Field<"name", &CounterSet::name>,
                Custom<"counters", read_counters>> {};

template <>
struct Fields<DeviceCounterConsumption>
    : FieldList<"api.resource.v1.DeviceCounterConsumption",
                Field<"counterSet", &DeviceCounterConsumption::counter_set>,
                Custom<"counters", read_counters>,
                Field<"compatibilityGroups", &DeviceCounterConsumption::compatibility_groups>> {};

// ---- devices ------------------------------------------------------------------------------------

template <>
struct Fields<DeviceTaint>
    : FieldList<"api.resource.v1.DeviceTaint", Field<"key", &DeviceTaint::key>,
                Field<"value", &DeviceTaint::value>, Field<"effect", &DeviceTaint::effect>> {};

// Where v1beta1 has all but the name.
struct ReadBasic {
  bool operator()(JsonReader& json, SymbolHold& symbols, Device& device,
                  std::string_view name) const;
};

template <>
struct Fields<Device>
    : FieldList<"api.resource.v1.Device", Field<"name", &Device::name>,
                Field<"attributes", &Device::attributes, Keyed<&DeviceAttribute::name>{}>,
                Field<"capacity", &Device::capacity, Keyed<&DeviceCapacity::name>{}>,
                Field<"consumesCounters", &Device::consumes_counters>,
                Field<"nodeName", path<&Device::nodes, &DeviceNodeSelection::node_name>>,
                Field<"nodeSelector", path<&Device::nodes, &DeviceNodeSelection::node_selector>>,
                Field<"allNodes", path<&Device::nodes, &DeviceNodeSelection::all_nodes>>,
                Field<"taints", &Device::taints>, Field<"bindsToNode", &Device::binds_to_node>,
                Field<"bindingConditions", &Device::binding_conditions>,
                Field<"bindingFailureConditions", &Device::binding_failure_conditions>,
                Field<"allowMultipleAllocations", &Device::allow_multiple_allocations>,
                Otherwise<ReadBasic{}>> {};

bool ReadBasic::operator()(JsonReader& json, SymbolHold& symbols, Device& device,
                           std::string_view name) const {
  if (name != "basic") return false;
  json.fields([&](std::string_view field) {
    if (field != "basic") Fields<Device>::read_named(json, symbols, device, field);
  });
  return true;
}

// ---- slices and classes -------------------------------------------------------------------------

template <>
struct Fields<ResourcePool>
    : FieldList<"api.resource.v1.ResourcePool", Field<"name", &ResourcePool::name>,
                Field<"generation", &ResourcePool::generation>,
                Field<"resourceSliceCount", &ResourcePool::resource_slice_count>> {};

template <>
struct Fields<ResourceSlice>
    : FieldList<
          "api.resource.v1.ResourceSlice", Metadata,
          Inside<"spec", Field<"driver", &ResourceSlice::driver>,
                 Field<"pool", &ResourceSlice::pool>,
                 Field<"nodeName", path<&ResourceSlice::nodes, &DeviceNodeSelection::node_name>>,
                 Field<"nodeSelector",
                       path<&ResourceSlice::nodes, &DeviceNodeSelection::node_selector>>,
                 Field<"allNodes", path<&ResourceSlice::nodes, &DeviceNodeSelection::all_nodes>>,
                 Field<"devices", &ResourceSlice::devices>,
                 Field<"perDeviceNodeSelection", &ResourceSlice::per_device_node_selection>,
                 Field<"sharedCounters", &ResourceSlice::shared_counters>>> {};

using ClassConfigurationFields =
    FieldList<"api.resource.v1.DeviceClassConfiguration", OpaqueField<std::identity{}>>;

template <>
struct Fields<DeviceClass>
    : FieldList<"api.resource.v1.DeviceClass", Metadata,
                Inside<"spec", Field<"selectors", &DeviceClass::selectors>,
                       Field<"config", &DeviceClass::config, By<ClassConfigurationFields>{}>,
                       Field<"extendedResourceName", &DeviceClass::extended_resource_name>>> {};

template <>
struct Fields<DeviceTaintSelector> : FieldList<"api.resource.v1.DeviceTaintSelector",
                                               Field<"driver", &DeviceTaintSelector::driver>,
                                               Field<"pool", &DeviceTaintSelector::pool>,
                                               Field<"device", &DeviceTaintSelector::device>> {};

template <>
struct Fields<DeviceTaintRule>
    : FieldList<
          "api.resource.v1.DeviceTaintRule", Metadata,
          Inside<"spec", Field<"deviceSelector", &DeviceTaintRule::selector>,
                 Inside<"taint", Field<"key", path<&DeviceTaintRule::taint, &DeviceTaint::key>>,
                        Field<"value", path<&DeviceTaintRule::taint, &DeviceTaint::value>>,
                        Field<"effect", path<&DeviceTaintRule::taint, &DeviceTaint::effect>>,
                        Field<"timeAdded", &DeviceTaintRule::time_added>>>> {};

template <>
void take_metadata(WrittenObject<DeviceClass>& written) {
  written.object.creation_time = written.meta.creation_time;
  set_object(written.object, std::move(written.meta), /*namespaced=*/false);
}

template <typename Reader>
KindDecoder<Reader> device_decoder(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kResourceSlice: return decode_kind<ResourceSlice, Reader>;
    case ObjectKind::kDeviceClass: return decode_kind<DeviceClass, Reader>;
    case ObjectKind::kDeviceTaintRule: return decode_kind<DeviceTaintRule, Reader>;
    default: return nullptr;
  }
}
template KindDecoder<JsonReader> device_decoder(ObjectKind kind);
template KindDecoder<ProtoReader> device_decoder(ObjectKind kind);

}  // namespace berth
