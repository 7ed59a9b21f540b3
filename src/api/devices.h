// Dynamic resource allocation (resource.k8s.io): devices that drivers offer in ResourceSlices, the
// DeviceClasses by which they are asked for, and the ResourceClaims that ask and, once allocated,
// say which device it was.
//
// What is here is what scheduling reads or writes. Words that are only passed on (operators and
// effects of tolerations, allocation modes) are kept as written.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "berth/labels.h"
#include "berth/loop.h"
#include "berth/node_selector.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/resources.h"
#include "berth/symbols.h"

namespace berth {

// A device in the cluster.
struct DeviceId {
  Symbol driver;
  Symbol pool;
  Symbol device;

  friend auto operator<=>(const DeviceId&, const DeviceId&) = default;
};

// ---- asking -----------------------------------------------------------------------------------

// selectors[]. Without an expression it is of a kind that we do not know.
struct CELDeviceSelector {
  std::optional<std::string> expression;

  friend bool operator==(const CELDeviceSelector&, const CELDeviceSelector&) = default;
};

// An attribute that a request computes for each device.
struct DeviceDerivedAttribute {
  Symbol name;
  std::string expression;

  friend bool operator==(const DeviceDerivedAttribute&, const DeviceDerivedAttribute&) = default;
};

struct DeviceToleration {
  Symbol key;
  Symbol op;  // "Equal", "Exists", …; empty: Equal
  Symbol value;
  Symbol effect;
  std::optional<std::int64_t> toleration_seconds;

  friend bool operator==(const DeviceToleration&, const DeviceToleration&) = default;
};

// What both kinds of request say about the devices they want: the fields of `exactly`, and of one
// of `firstAvailable` (which has a name, and never admin access).
struct ExactDeviceRequest {
  Symbol name;  // of a subrequest only
  Symbol device_class_name;
  std::vector<CELDeviceSelector> selectors;
  Symbol allocation_mode;  // "ExactCount", "All"
  std::int64_t count = 0;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::optional<ResourceList> capacity;  // capacity.requests
  std::vector<DeviceDerivedAttribute> derived_attributes;

  friend bool operator==(const ExactDeviceRequest&, const ExactDeviceRequest&) = default;
};
using DeviceSubRequest = ExactDeviceRequest;

struct DeviceRequest {
  Symbol name;
  std::optional<ExactDeviceRequest> exactly;
  std::vector<DeviceSubRequest> first_available;

  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

struct DeviceConstraint {
  std::vector<Symbol> requests;  // "request" or "request/subrequest"; none: all
  std::optional<Symbol> match_attribute;
  std::optional<Symbol> distinct_attribute;

  friend bool operator==(const DeviceConstraint&, const DeviceConstraint&) = default;
};

struct OpaqueDeviceConfiguration {
  Symbol driver;
  std::string parameters;  // JSON, as it stands; empty: absent

  friend bool operator==(const OpaqueDeviceConfiguration&,
                         const OpaqueDeviceConfiguration&) = default;
};

struct DeviceClaimConfiguration {
  std::vector<Symbol> requests;
  std::optional<OpaqueDeviceConfiguration> opaque;

  friend bool operator==(const DeviceClaimConfiguration&,
                         const DeviceClaimConfiguration&) = default;
};

// ---- having -----------------------------------------------------------------------------------

struct DeviceRequestAllocationResult {
  Symbol request;  // "request" or "request/subrequest"
  Symbol driver;
  Symbol pool;
  Symbol device;
  bool admin_access = false;
  std::vector<DeviceToleration> tolerations;
  std::vector<Symbol> binding_conditions;
  std::vector<Symbol> binding_failure_conditions;
  std::string share_id;  // empty: the device is not shared
  ResourceList consumed_capacity;
  std::vector<Symbol> skip_node_operations;

  DeviceId id() const { return {driver, pool, device}; }
  friend bool operator==(const DeviceRequestAllocationResult&,
                         const DeviceRequestAllocationResult&) = default;
};

enum class AllocationConfigSource : std::uint8_t { kFromClass, kFromClaim };

struct DeviceAllocationConfiguration {
  AllocationConfigSource source = AllocationConfigSource::kFromClass;
  std::vector<Symbol> requests;
  std::optional<OpaqueDeviceConfiguration> opaque;

  friend bool operator==(const DeviceAllocationConfiguration&,
                         const DeviceAllocationConfiguration&) = default;
};

// status.allocation. Its symbols are held by the claim it is part of.
struct AllocationResult {
  std::vector<DeviceRequestAllocationResult> results;          // devices.results
  std::vector<DeviceAllocationConfiguration> config;           // devices.config
  std::optional<std::vector<NodeSelectorTerm>> node_selector;  // absent: every node
  std::optional<WallTime> allocation_timestamp;

  friend bool operator==(const AllocationResult&, const AllocationResult&) = default;
};

// Makes `hold` keep every symbol of the result.
void retain_symbols(const AllocationResult& allocation, SymbolHold& hold);

struct ResourceClaimConsumerReference {
  Symbol api_group;
  Symbol resource;
  std::string name;
  std::string uid;

  friend bool operator==(const ResourceClaimConsumerReference&,
                         const ResourceClaimConsumerReference&) = default;
};

// status.devices[]: what a driver reports about a device that it was told to prepare.
struct AllocatedDeviceStatus {
  Symbol driver;
  Symbol pool;
  Symbol device;
  std::string share_id;
  std::vector<PodCondition> conditions;  // metav1.Condition has the same fields
  std::uint64_t rest = 0;                // of data and networkData: tells whether they changed

  DeviceId id() const { return {driver, pool, device}; }
  friend bool operator==(const AllocatedDeviceStatus&, const AllocatedDeviceStatus&) = default;
};

struct ResourceClaimStatus {
  std::optional<AllocationResult> allocation;
  std::vector<ResourceClaimConsumerReference> reserved_for;
  std::vector<AllocatedDeviceStatus> devices;

  friend bool operator==(const ResourceClaimStatus&, const ResourceClaimStatus&) = default;
};

struct ResourceClaimSpec {
  std::vector<DeviceRequest> requests;        // devices.requests
  std::vector<DeviceConstraint> constraints;  // devices.constraints
  std::vector<DeviceClaimConfiguration> config;

  friend bool operator==(const ResourceClaimSpec&, const ResourceClaimSpec&) = default;
};

// What an API server fills in: how many devices, and how tolerations compare.
void apply_defaults(ResourceClaimSpec& spec, SymbolHold& symbols);

struct ResourceClaim final : Object {
  explicit ResourceClaim(SymbolHold hold) : Object(ObjectKind::kResourceClaim, std::move(hold)) {}
  ResourceClaim(const ResourceClaim&) = default;

  std::string generate_name;
  std::vector<std::string> finalizers;
  std::vector<Label> annotations;
  ControllerRef controller;
  std::string controller_uid;
  std::optional<WallTime> creation_time;
  std::optional<WallTime> deletion_time;
  ResourceClaimSpec spec;
  ResourceClaimStatus status;

  bool allocated() const { return status.allocation.has_value(); }
  bool deleting() const { return deletion_time.has_value(); }
};

// Only what a claim is made of; whoever plays the controller reads it.
struct ResourceClaimTemplate final : Object {
  explicit ResourceClaimTemplate(SymbolHold hold)
      : Object(ObjectKind::kResourceClaimTemplate, std::move(hold)) {}
  ResourceClaimTemplate(const ResourceClaimTemplate&) = default;

  std::vector<Label> annotations;  // of the claims
  ResourceClaimSpec spec;
};

// ---- offering ---------------------------------------------------------------------------------

// A version (semver), to be told from a string.
struct DeviceVersion {
  std::string text;

  friend bool operator==(const DeviceVersion&, const DeviceVersion&) = default;
};

// Empty: of none of the kinds that we know.
using DeviceAttributeValue =
    std::variant<std::monostate, std::int64_t, bool, std::string, DeviceVersion,
                 std::vector<std::int64_t>, std::vector<bool>, std::vector<std::string>,
                 std::vector<DeviceVersion>>;

struct DeviceAttribute {
  Symbol name;  // "domain/id", or "id" in the driver's own domain
  DeviceAttributeValue value;

  friend bool operator==(const DeviceAttribute&, const DeviceAttribute&) = default;
};

struct CapacityRequestPolicyRange {
  std::optional<Quantity> min;
  std::optional<Quantity> max;
  std::optional<Quantity> step;

  friend bool operator==(const CapacityRequestPolicyRange&,
                         const CapacityRequestPolicyRange&) = default;
};

struct CapacityRequestPolicy {
  std::optional<Quantity> default_value;
  std::vector<Quantity> valid_values;
  std::optional<CapacityRequestPolicyRange> valid_range;

  friend bool operator==(const CapacityRequestPolicy&, const CapacityRequestPolicy&) = default;
};

struct DeviceCapacity {
  Symbol name;  // as an attribute's
  Quantity value;
  std::optional<CapacityRequestPolicy> request_policy;

  friend bool operator==(const DeviceCapacity&, const DeviceCapacity&) = default;
};

// consumesCounters[]: amounts by counter.
struct DeviceCounterConsumption {
  Symbol counter_set;
  ResourceList counters;
  std::vector<Symbol> compatibility_groups;

  friend bool operator==(const DeviceCounterConsumption&,
                         const DeviceCounterConsumption&) = default;
};

struct CounterSet {
  Symbol name;
  ResourceList counters;

  friend bool operator==(const CounterSet&, const CounterSet&) = default;
};

struct DeviceTaint {
  Symbol key;
  Symbol value;
  Symbol effect;

  friend bool operator==(const DeviceTaint&, const DeviceTaint&) = default;
};

// nodeName, nodeSelector and allNodes, of a slice or of one of its devices.
struct DeviceNodeSelection {
  std::optional<Symbol> node_name;
  std::optional<std::vector<NodeSelectorTerm>> node_selector;
  bool all_nodes = false;

  friend bool operator==(const DeviceNodeSelection&, const DeviceNodeSelection&) = default;
};

struct Device {
  Symbol name;
  std::vector<DeviceAttribute> attributes;
  std::vector<DeviceCapacity> capacity;
  std::vector<DeviceCounterConsumption> consumes_counters;
  DeviceNodeSelection nodes;  // counts with perDeviceNodeSelection
  std::vector<DeviceTaint> taints;
  std::vector<Symbol> binding_conditions;
  std::vector<Symbol> binding_failure_conditions;
  bool binds_to_node = false;
  bool allow_multiple_allocations = false;

  const DeviceAttribute* attribute(Symbol attribute_name) const;
  friend bool operator==(const Device&, const Device&) = default;
};

struct ResourcePool {
  Symbol name;
  std::int64_t generation = 0;
  std::int64_t resource_slice_count = 0;

  friend bool operator==(const ResourcePool&, const ResourcePool&) = default;
};

struct ResourceSlice final : Object {
  explicit ResourceSlice(SymbolHold hold) : Object(ObjectKind::kResourceSlice, std::move(hold)) {}
  ResourceSlice(const ResourceSlice&) = default;

  Symbol driver;
  ResourcePool pool;
  DeviceNodeSelection nodes;
  std::optional<bool> per_device_node_selection;
  std::vector<Device> devices;
  std::vector<CounterSet> shared_counters;
};

struct DeviceClass final : Object {
  explicit DeviceClass(SymbolHold hold) : Object(ObjectKind::kDeviceClass, std::move(hold)) {}
  DeviceClass(const DeviceClass&) = default;

  std::optional<WallTime> creation_time;
  std::vector<CELDeviceSelector> selectors;
  std::vector<std::optional<OpaqueDeviceConfiguration>> config;
  Symbol extended_resource_name;  // empty: none
};

// The devices that a rule is about; a field that is absent is that of any device.
struct DeviceTaintSelector {
  std::optional<Symbol> driver;
  std::optional<Symbol> pool;
  std::optional<Symbol> device;

  bool selects(const DeviceId& id) const {
    return (!driver || *driver == id.driver) && (!pool || *pool == id.pool) &&
           (!device || *device == id.device);
  }
};

// A taint for all devices that are selected, as if their driver had written it into their slices.
struct DeviceTaintRule final : Object {
  explicit DeviceTaintRule(SymbolHold hold)
      : Object(ObjectKind::kDeviceTaintRule, std::move(hold)) {}
  DeviceTaintRule(const DeviceTaintRule&) = default;

  std::optional<DeviceTaintSelector> selector;  // absent: the rule is about no device
  DeviceTaint taint;
  std::optional<WallTime> time_added;  // of the taint
};

// Whether the taints of some device of the slice change when the rule `before` becomes `after`. A
// rule that is not there (any more) is null.
bool changes_taints(const DeviceTaintRule* before, const DeviceTaintRule* after,
                    const ResourceSlice& slice);

}  // namespace berth

template <>
struct std::hash<berth::DeviceId> {
  std::size_t operator()(const berth::DeviceId& id) const noexcept {
    const std::uint64_t pool = (std::uint64_t{id.driver.id} << 32) | id.pool.id;
    std::uint64_t mixed = (pool ^ (pool >> 29)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ id.device.id) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};
