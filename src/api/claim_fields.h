// Claims for devices: which member takes which field. For the claims' reader and writer, and for
// what slices and classes share with them.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "api/devices.h"
#include "api/fields.h"
#include "api/object_fields.h"

namespace berth {

// ---- asking -----------------------------------------------------------------------------------

using CelFields =
    FieldList<"api.resource.v1.CELDeviceSelector", Field<"expression", std::identity{}>>;

template <>
struct Fields<CELDeviceSelector>
    : FieldList<"api.resource.v1.DeviceSelector",
                Field<"cel", &CELDeviceSelector::expression, By<CelFields>{}>> {};

template <>
struct Fields<DeviceDerivedAttribute>
    : FieldList<"api.resource.v1.DeviceDerivedAttribute",
                Field<"name", &DeviceDerivedAttribute::name>,
                Field<"expression", &DeviceDerivedAttribute::expression>> {};

template <>
struct Fields<DeviceToleration>
    : FieldList<"api.resource.v1.DeviceToleration",                                              //
                Field<"key", &DeviceToleration::key>, Field<"operator", &DeviceToleration::op>,  //
                Field<"value", &DeviceToleration::value>,
                Field<"effect", &DeviceToleration::effect>,
                Field<"tolerationSeconds", &DeviceToleration::toleration_seconds>> {};

using CapacityRequirementsFields =
    FieldList<"api.resource.v1.CapacityRequirements", Field<"requests", std::identity{}>>;

// `exactly` and a subrequest have these fields, in messages of their own.
template <FieldName Message, typename... More>
using DeviceRequestFields =
    FieldList<Message, More..., Field<"deviceClassName", &ExactDeviceRequest::device_class_name>,
              Field<"selectors", &ExactDeviceRequest::selectors>,
              Field<"allocationMode", &ExactDeviceRequest::allocation_mode>,
              Field<"count", &ExactDeviceRequest::count>,
              Field<"tolerations", &ExactDeviceRequest::tolerations>,
              Field<"capacity", &ExactDeviceRequest::capacity, By<CapacityRequirementsFields>{}>,
              Field<"derivedAttributes", &ExactDeviceRequest::derived_attributes>>;

template <>
struct Fields<ExactDeviceRequest>
    : DeviceRequestFields<"api.resource.v1.ExactDeviceRequest",
                          Field<"adminAccess", &ExactDeviceRequest::admin_access>> {};

using SubRequestFields = DeviceRequestFields<"api.resource.v1.DeviceSubRequest",
                                             Field<"name", &ExactDeviceRequest::name>>;

// v1beta1 has the fields of `exactly` in the request itself.
inline constexpr auto read_flat_request = [](JsonReader& json, SymbolHold& symbols,
                                             DeviceRequest& request, std::string_view name) {
  ExactDeviceRequest flat = request.exactly.value_or(ExactDeviceRequest());
  if (!Fields<ExactDeviceRequest>::read_named(json, symbols, flat, name)) return false;
  request.exactly = std::move(flat);
  return true;
};

template <>
struct Fields<DeviceRequest>
    : FieldList<"api.resource.v1.DeviceRequest",  //
                Field<"name", &DeviceRequest::name>, Field<"exactly", &DeviceRequest::exactly>,
                Field<"firstAvailable", &DeviceRequest::first_available, By<SubRequestFields>{}>,
                Otherwise<read_flat_request>> {};

template <>
struct Fields<DeviceConstraint>
    : FieldList<"api.resource.v1.DeviceConstraint",  //
                Field<"requests", &DeviceConstraint::requests>,
                Field<"matchAttribute", &DeviceConstraint::match_attribute>,
                Field<"distinctAttribute", &DeviceConstraint::distinct_attribute>> {};

template <>
struct Fields<OpaqueDeviceConfiguration>
    : FieldList<"api.resource.v1.OpaqueDeviceConfiguration",
                Field<"driver", &OpaqueDeviceConfiguration::driver>,
                Field<"parameters", &OpaqueDeviceConfiguration::parameters>> {};

template <auto Member>
using OpaqueField =
    Inline<"api.resource.v1.DeviceConfiguration", std::identity{}, Field<"opaque", Member>>;

template <>
struct Fields<DeviceClaimConfiguration>
    : FieldList<"api.resource.v1.DeviceClaimConfiguration",
                Field<"requests", &DeviceClaimConfiguration::requests>,
                OpaqueField<&DeviceClaimConfiguration::opaque>> {};

template <>
struct Fields<ResourceClaimSpec>
    : FieldList<"api.resource.v1.ResourceClaimSpec",
                Inside<"devices",  //
                       Field<"requests", &ResourceClaimSpec::requests>,
                       Field<"constraints", &ResourceClaimSpec::constraints>,
                       Field<"config", &ResourceClaimSpec::config>>> {};

// ---- having -----------------------------------------------------------------------------------

template <>
struct Fields<DeviceRequestAllocationResult>
    : FieldList<"api.resource.v1.DeviceRequestAllocationResult",
                Field<"request", &DeviceRequestAllocationResult::request>,
                Field<"driver", &DeviceRequestAllocationResult::driver>,
                Field<"pool", &DeviceRequestAllocationResult::pool>,
                Field<"device", &DeviceRequestAllocationResult::device>,
                Field<"adminAccess", &DeviceRequestAllocationResult::admin_access>,
                Field<"tolerations", &DeviceRequestAllocationResult::tolerations>,
                Field<"bindingConditions", &DeviceRequestAllocationResult::binding_conditions>,
                Field<"bindingFailureConditions",
                      &DeviceRequestAllocationResult::binding_failure_conditions>,
                Field<"shareID", &DeviceRequestAllocationResult::share_id>,
                Field<"consumedCapacity", &DeviceRequestAllocationResult::consumed_capacity>,
                Field<"skipNodeOperations", &DeviceRequestAllocationResult::skip_node_operations>> {
};

inline constexpr auto config_source = [](std::string_view text) {
  return text == "FromClaim" ? AllocationConfigSource::kFromClaim
                             : AllocationConfigSource::kFromClass;
};
inline constexpr auto config_source_text = [](AllocationConfigSource source) -> std::string_view {
  return source == AllocationConfigSource::kFromClaim ? "FromClaim" : "FromClass";
};

template <>
struct Fields<DeviceAllocationConfiguration>
    : FieldList<"api.resource.v1.DeviceAllocationConfiguration",
                Field<"source", &DeviceAllocationConfiguration::source,
                      Word<config_source, config_source_text>{}>,
                Field<"requests", &DeviceAllocationConfiguration::requests>,
                OpaqueField<&DeviceAllocationConfiguration::opaque>> {};

template <>
struct Fields<AllocationResult>
    : FieldList<"api.resource.v1.AllocationResult",
                Inside<"devices",  //
                       Field<"results", &AllocationResult::results>,
                       Field<"config", &AllocationResult::config>>,
                Field<"nodeSelector", &AllocationResult::node_selector>,
                Field<"allocationTimestamp", &AllocationResult::allocation_timestamp>> {};

template <>
struct Fields<ResourceClaimConsumerReference>
    : FieldList<"api.resource.v1.ResourceClaimConsumerReference",
                Field<"apiGroup", &ResourceClaimConsumerReference::api_group>,
                Field<"resource", &ResourceClaimConsumerReference::resource>,
                Field<"name", &ResourceClaimConsumerReference::name>,
                Field<"uid", &ResourceClaimConsumerReference::uid>> {};

// metav1.Condition.
using ConditionFields =
    FieldList<"apimachinery.pkg.apis.meta.v1.Condition",  //
              Field<"type", &PodCondition::type>, Field<"status", &PodCondition::status>,
              Field<"observedGeneration", &PodCondition::observed_generation>,
              Field<"lastTransitionTime", &PodCondition::last_transition_time>,
              Field<"reason", &PodCondition::reason>, Field<"message", &PodCondition::message>>;

template <>
struct Fields<AllocatedDeviceStatus>
    : FieldList<"api.resource.v1.AllocatedDeviceStatus",
                Field<"driver", &AllocatedDeviceStatus::driver>,
                Field<"pool", &AllocatedDeviceStatus::pool>,
                Field<"device", &AllocatedDeviceStatus::device>,
                Field<"shareID", &AllocatedDeviceStatus::share_id>,
                Field<"conditions", &AllocatedDeviceStatus::conditions, By<ConditionFields>{}>,
                Hashed<"data", &AllocatedDeviceStatus::rest>,
                Hashed<"networkData", &AllocatedDeviceStatus::rest>> {};

template <>
struct Fields<ResourceClaimStatus>
    : FieldList<"api.resource.v1.ResourceClaimStatus",
                Field<"allocation", &ResourceClaimStatus::allocation>,
                Field<"reservedFor", &ResourceClaimStatus::reserved_for>,
                Field<"devices", &ResourceClaimStatus::devices>> {};

}  // namespace berth
