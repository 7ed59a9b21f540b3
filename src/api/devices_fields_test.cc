#include "api/claim_json.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/decode.h"
#include "api/proto_json.h"
#include "api/testing/protobuf.h"
#include "berth/interner.h"

namespace berth {
namespace {

constexpr std::string_view kClaim = R"({
  "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
  "metadata": {"name": "c", "namespace": "ns", "uid": "u", "resourceVersion": "7",
    "annotations": {"a": "b"}, "finalizers": ["resource.kubernetes.io/delete-protection"],
    "deletionTimestamp": "2026-01-02T03:04:05Z",
    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "pu", "controller": true}]},
  "spec": {"devices": {
    "requests": [
      {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2,
        "adminAccess": true, "selectors": [{"cel": {"expression": "true"}}],
        "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}],
        "capacity": {"requests": {"memory": "2Gi"}},
        "derivedAttributes": [{"name": "example.com/half", "expression": "device.attributes"}]}},
      {"name": "f", "firstAvailable": [
        {"name": "big", "deviceClassName": "large", "allocationMode": "All"},
        {"name": "small", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1,
         "selectors": [{"cel": {"expression": "false"}}],
         "tolerations": [{"operator": "Exists"}], "capacity": {"requests": {"memory": "1Gi"}}}]}],
    "constraints": [{"requests": ["r", "f/big"], "matchAttribute": "drv/a"}, {"distinctAttribute": "drv/b"}],
    "config": [{"requests": ["r"], "opaque": {"driver": "drv", "parameters": {"x": [1, "two"]}}}]}},
  "status": {
    "allocation": {
      "devices": {
        "results": [{"request": "f/big", "driver": "drv", "pool": "p", "device": "d", "adminAccess": true,
          "tolerations": [{"key": "k", "operator": "Equal", "value": "v"}],
          "bindingConditions": ["ready"], "bindingFailureConditions": ["bad"],
          "shareID": "s", "consumedCapacity": {"memory": "1Gi"}, "skipNodeOperations": ["*"]}],
        "config": [{"source": "FromClaim", "requests": ["r"], "opaque": {"driver": "drv", "parameters": {"y": 1}}},
                   {"source": "FromClass", "opaque": {"driver": "drv", "parameters": {"z": 1}}}]},
      "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": ["n"]}]}]},
      "allocationTimestamp": "2026-01-02T03:04:06Z"},
    "reservedFor": [{"apiGroup": "g", "resource": "pods", "name": "p", "uid": "pu"}],
    "devices": [{"driver": "drv", "pool": "p", "device": "d", "shareID": "s",
      "conditions": [{"type": "ready", "status": "True", "reason": "R", "message": "M",
        "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 3}],
      "data": {"ip": 1}}]}})";

constexpr std::string_view kSlice = R"({
  "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
  "spec": {"driver": "drv", "pool": {"name": "p", "generation": 3, "resourceSliceCount": 2},
    "nodeName": "n", "allNodes": true, "perDeviceNodeSelection": true,
    "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]},
    "devices": [{"name": "d",
      "attributes": {"i": {"int": -5}, "b": {"bool": false}, "s": {"string": ""}, "v": {"version": "1.2.3"},
        "li": {"ints": [1, 2]}, "lb": {"bools": [true, false]}, "ls": {"strings": ["x"]},
        "lv": {"versions": ["1.0.0"]}, "none": {}},
      "capacity": {
        "memory": {"value": "8Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "max": "4Gi", "step": "1Gi"}}},
        "cores": {"value": "4", "requestPolicy": {"default": "1", "validValues": ["1", "2"]}}},
      "consumesCounters": [{"counterSet": "set", "counters": {"memory": {"value": "4Gi"}},
        "compatibilityGroups": ["a", "b"]}],
      "nodeName": "n", "nodeSelector": {"nodeSelectorTerms": []}, "allNodes": true,
      "taints": [{"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-01-02T03:04:05Z"}],
      "bindsToNode": true, "bindingConditions": ["ready"], "bindingFailureConditions": ["bad"],
      "allowMultipleAllocations": true,
      "nodeAllocatableResources": {"cpu": {"mapping": {"capacityKey": "cores", "capacityMultiplier": "2"}}}}],
    "sharedCounters": [{"name": "set", "counters": {"memory": {"value": "8Gi"}}}]}})";

constexpr std::string_view kClass = R"({
  "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
  "metadata": {"name": "gpu", "creationTimestamp": "2026-01-02T03:04:05Z"},
  "spec": {"selectors": [{"cel": {"expression": "device.driver == \"drv\""}}],
    "config": [{"opaque": {"driver": "drv", "parameters": {"x": 1}}}],
    "extendedResourceName": "example.com/gpu"}})";

class DevicesJson : public ::testing::Test {
 protected:
  template <typename T>
  Ref<const T> decoded(Result<AnyObject> object) {
    if (!object) {
      ADD_FAILURE() << object.error().message;
      return nullptr;
    }
    return Ref<const T>(dynamic_cast<const T*>(std::get<Ref<const Object>>(*object).get()));
  }
  template <typename T>
  Ref<const T> from_json(std::string_view json) {
    return decoded<T>(decode_object(json, interner, nullptr));
  }
  template <typename T>
  Ref<const T> from_proto(std::string_view json) {
    const Result<std::string> proto = json_to_envelope(json);
    EXPECT_TRUE(proto) << proto.error().message;
    return decoded<T>(testing::decode_enveloped(*proto, interner));
  }
  std::string_view text(Symbol symbol) { return interner.symbols()->text(symbol); }
  Symbol symbol(std::string_view text) { return interner.symbols()->intern(text); }

  Interner interner;
};

TEST_F(DevicesJson, ReadsWhatAClaimAsksFor) {
  const Ref<const ResourceClaim> claim = from_json<ResourceClaim>(kClaim);
  EXPECT_EQ(text(claim->namespace_name), "ns");
  EXPECT_EQ(claim->controller_uid, "pu");
  EXPECT_EQ(text(claim->controller.kind), "Pod");
  EXPECT_TRUE(claim->deleting());
  EXPECT_EQ(claim->finalizers,
            std::vector<std::string>{"resource.kubernetes.io/delete-protection"});
  ASSERT_EQ(claim->annotations.size(), 1u);
  EXPECT_EQ(text(claim->annotations[0].value), "b");

  ASSERT_EQ(claim->spec.requests.size(), 2u);
  const ExactDeviceRequest& exact = *claim->spec.requests[0].exactly;
  EXPECT_EQ(text(exact.device_class_name), "gpu");
  EXPECT_EQ(text(exact.allocation_mode), "ExactCount");
  EXPECT_EQ(exact.count, 2);
  EXPECT_EQ(exact.admin_access, true);
  EXPECT_EQ(exact.selectors[0].expression, "true");
  EXPECT_EQ(exact.tolerations[0].toleration_seconds, 5);
  EXPECT_EQ(exact.capacity->find(symbol("memory"))->to_string(), "2Gi");
  EXPECT_EQ(text(exact.derived_attributes.at(0).name), "example.com/half");
  EXPECT_EQ(exact.derived_attributes.at(0).expression, "device.attributes");
  const DeviceRequest& either = claim->spec.requests[1];
  EXPECT_FALSE(either.exactly);
  ASSERT_EQ(either.first_available.size(), 2u);
  EXPECT_EQ(text(either.first_available[0].name), "big");
  EXPECT_EQ(either.first_available[0].admin_access, std::nullopt);
  EXPECT_EQ(text(claim->spec.constraints[0].requests[1]), "f/big");
  EXPECT_EQ(claim->spec.constraints[0].distinct_attribute, std::nullopt);
  EXPECT_EQ(text(*claim->spec.constraints[1].distinct_attribute), "drv/b");
  EXPECT_EQ(claim->spec.config[0].opaque->parameters, R"({"x": [1, "two"]})");
}

TEST_F(DevicesJson, ReadsWhatAClaimHas) {
  const Ref<const ResourceClaim> claim = from_json<ResourceClaim>(kClaim);
  ASSERT_TRUE(claim->allocated());
  const AllocationResult& allocation = *claim->status.allocation;
  ASSERT_EQ(allocation.results.size(), 1u);
  EXPECT_EQ(allocation.results[0].id(), (DeviceId{symbol("drv"), symbol("p"), symbol("d")}));
  EXPECT_EQ(allocation.results[0].share_id, "s");
  EXPECT_EQ(text(allocation.results[0].skip_node_operations.at(0)), "*");
  EXPECT_EQ(allocation.config[0].source, AllocationConfigSource::kFromClaim);
  EXPECT_EQ(allocation.config[1].source, AllocationConfigSource::kFromClass);
  EXPECT_EQ(text(allocation.node_selector->front().match_fields[0].values[0]), "n");
  EXPECT_TRUE(allocation.allocation_timestamp);
  EXPECT_EQ(claim->status.reserved_for[0].uid, "pu");
  ASSERT_EQ(claim->status.devices.size(), 1u);
  EXPECT_EQ(claim->status.devices[0].conditions[0].status, "True");
  EXPECT_NE(claim->status.devices[0].rest, 0u);
  EXPECT_EQ(from_json<ResourceClaim>(kClaim)->status, claim->status);
}

TEST_F(DevicesJson, ReadsWhatASliceOffers) {
  const Ref<const ResourceSlice> slice = from_json<ResourceSlice>(kSlice);
  EXPECT_EQ(slice->pool, (ResourcePool{symbol("p"), 3, 2}));
  EXPECT_EQ(slice->per_device_node_selection, true);
  const Device& device = slice->devices.at(0);
  const auto value = [&](std::string_view name) { return device.attribute(symbol(name))->value; };
  EXPECT_EQ(value("i"), DeviceAttributeValue(std::int64_t{-5}));
  EXPECT_EQ(value("b"), DeviceAttributeValue(false));
  EXPECT_EQ(value("s"), DeviceAttributeValue(std::string()));
  EXPECT_EQ(value("v"), DeviceAttributeValue(DeviceVersion{"1.2.3"}));
  EXPECT_EQ(value("li"), DeviceAttributeValue(std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(value("lb"), DeviceAttributeValue(std::vector<bool>{true, false}));
  EXPECT_EQ(value("ls"), DeviceAttributeValue(std::vector<std::string>{"x"}));
  EXPECT_EQ(value("lv"), DeviceAttributeValue(std::vector<DeviceVersion>{{"1.0.0"}}));
  EXPECT_EQ(value("none"), DeviceAttributeValue());
  EXPECT_EQ(device.attribute(symbol("absent")), nullptr);
  EXPECT_EQ(device.capacity.at(0).request_policy->valid_range->max->to_string(), "4Gi");
  EXPECT_EQ(device.capacity.at(1).request_policy->valid_values.size(), 2u);
  EXPECT_EQ(device.consumes_counters.at(0).counters.find(symbol("memory"))->to_string(), "4Gi");
  EXPECT_EQ(text(device.taints.at(0).effect), "NoExecute");
  EXPECT_TRUE(device.binds_to_node && device.allow_multiple_allocations);
  EXPECT_EQ(text(device.consumes_counters.at(0).compatibility_groups.at(1)), "b");
  EXPECT_EQ(slice->shared_counters.at(0).counters.size(), 1u);
}

TEST_F(DevicesJson, ATaintRule) {
  const auto rule = [](std::string_view selector) {
    return R"({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule",
               "metadata": {"name": "broken"}, "spec": {)" +
           std::string(selector) +
           R"("taint": {"key": "k", "value": "v", "effect": "NoExecute",
                        "timeAdded": "2026-01-02T03:04:05Z"}}})";
  };
  const std::string selecting = rule(R"("deviceSelector": {"driver": "drv", "device": "d"},)");
  for (const auto& read :
       {from_json<DeviceTaintRule>(selecting), from_proto<DeviceTaintRule>(selecting)}) {
    EXPECT_EQ(read->name, "broken");
    EXPECT_EQ(text(read->taint.key), "k");
    EXPECT_EQ(text(read->taint.value), "v");
    EXPECT_EQ(text(read->taint.effect), "NoExecute");
    EXPECT_TRUE(read->time_added);
    ASSERT_TRUE(read->selector);
    EXPECT_EQ(text(*read->selector->driver), "drv");
    EXPECT_FALSE(read->selector->pool);
    EXPECT_EQ(text(*read->selector->device), "d");
  }
  EXPECT_FALSE(from_json<DeviceTaintRule>(rule(""))->selector);
  EXPECT_FALSE(from_proto<DeviceTaintRule>(rule(""))->selector);
  const std::string any = rule(R"("deviceSelector": {},)");
  EXPECT_TRUE(from_json<DeviceTaintRule>(any)->selector);
  EXPECT_TRUE(from_proto<DeviceTaintRule>(any)->selector);
}

TEST_F(DevicesJson, BothEncodingsSayTheSame) {
  const auto claim = from_proto<ResourceClaim>(kClaim);
  const auto claim_json_form = from_json<ResourceClaim>(kClaim);
  EXPECT_EQ(claim->name, claim_json_form->name);
  EXPECT_EQ(claim->controller_uid, claim_json_form->controller_uid);
  EXPECT_EQ(claim->finalizers, claim_json_form->finalizers);
  EXPECT_EQ(claim->annotations, claim_json_form->annotations);
  EXPECT_EQ(claim->deletion_time, claim_json_form->deletion_time);
  EXPECT_EQ(claim->spec.requests, claim_json_form->spec.requests);
  EXPECT_EQ(claim->spec.constraints, claim_json_form->spec.constraints);
  EXPECT_EQ(claim->status.reserved_for, claim_json_form->status.reserved_for);
  EXPECT_EQ(claim->status.allocation->results, claim_json_form->status.allocation->results);
  EXPECT_EQ(claim->status.allocation->node_selector,
            claim_json_form->status.allocation->node_selector);
  EXPECT_EQ(claim->status.allocation->config.size(), 2u);
  EXPECT_EQ(claim->status.devices[0].conditions, claim_json_form->status.devices[0].conditions);

  const auto slice = from_proto<ResourceSlice>(kSlice);
  const auto slice_json_form = from_json<ResourceSlice>(kSlice);
  EXPECT_EQ(slice->driver, slice_json_form->driver);
  EXPECT_EQ(slice->pool, slice_json_form->pool);
  EXPECT_EQ(slice->nodes, slice_json_form->nodes);
  EXPECT_EQ(slice->per_device_node_selection, slice_json_form->per_device_node_selection);
  EXPECT_EQ(slice->shared_counters, slice_json_form->shared_counters);
  ASSERT_EQ(slice->devices.size(), 1u);
  Device device = slice->devices[0];
  Device device_json_form = slice_json_form->devices[0];
  // Maps have no order.
  for (Device* either : {&device, &device_json_form}) {
    std::ranges::sort(either->attributes, {}, &DeviceAttribute::name);
    std::ranges::sort(either->capacity, {}, &DeviceCapacity::name);
  }
  EXPECT_EQ(device, device_json_form);

  const auto device_class = from_proto<DeviceClass>(kClass);
  const auto class_json_form = from_json<DeviceClass>(kClass);
  EXPECT_EQ(device_class->selectors, class_json_form->selectors);
  EXPECT_EQ(device_class->config.size(), 1u);
  EXPECT_EQ(device_class->creation_time, class_json_form->creation_time);
  EXPECT_EQ(text(device_class->extended_resource_name), "example.com/gpu");
}

TEST_F(DevicesJson, WritesWhatItReads) {
  const auto claim = from_json<ResourceClaim>(kClaim);
  const std::string written = to_json(claim_json(*claim));
  const auto again = from_json<ResourceClaim>(written);
  EXPECT_EQ(again->spec.requests, claim->spec.requests);
  EXPECT_EQ(again->spec.constraints, claim->spec.constraints);
  EXPECT_EQ(again->status.allocation->results, claim->status.allocation->results);
  EXPECT_EQ(again->status.allocation->allocation_timestamp,
            claim->status.allocation->allocation_timestamp);
  EXPECT_EQ(again->status.reserved_for, claim->status.reserved_for);
  EXPECT_EQ(again->controller_uid, "pu");
  EXPECT_EQ(again->finalizers, claim->finalizers);

  EXPECT_EQ(to_json(reserved_for_json(claim->status.reserved_for, *interner.symbols())),
            R"([{"apiGroup":"g","resource":"pods","name":"p","uid":"pu"}])");
  EXPECT_EQ(to_json(allocation_json(AllocationResult(), *interner.symbols())), R"({"devices":{}})");
}

TEST_F(DevicesJson, AClaimWithoutANameAsksForOne) {
  ResourceClaim claim(interner.hold());
  claim.namespace_name = claim.symbols.intern("ns");
  claim.generate_name = "p-extended-resources-";
  EXPECT_EQ(to_json(claim_json(claim)),
            R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":)"
            R"({"generateName":"p-extended-resources-","namespace":"ns"},"spec":{"devices":{}}})");
}

TEST_F(DevicesJson, DefaultsAreAnApiServers) {
  const Admission admission;
  const auto claim = decoded<ResourceClaim>(decode_object(
      R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"},
          "spec": {"devices": {"requests": [
            {"name": "r", "exactly": {"deviceClassName": "x", "tolerations": [{"key": "k"}]}},
            {"name": "f", "firstAvailable": [{"name": "s", "deviceClassName": "x"},
              {"name": "t", "deviceClassName": "x", "allocationMode": "All"}]}]}}})",
      interner, &admission));
  const ExactDeviceRequest& exact = *claim->spec.requests[0].exactly;
  EXPECT_EQ(text(exact.allocation_mode), "ExactCount");
  EXPECT_EQ(exact.count, 1);
  EXPECT_EQ(text(exact.tolerations[0].op), "Equal");
  EXPECT_EQ(claim->spec.requests[1].first_available[0].count, 1);
  EXPECT_EQ(claim->spec.requests[1].first_available[1].count, 0);
}

TEST_F(DevicesJson, TheOldFormIsUnderstood) {
  const auto claim = from_json<ResourceClaim>(
      R"({"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "metadata": {"name": "c"},
          "spec": {"devices": {"requests": [
            {"name": "r", "deviceClassName": "x", "allocationMode": "ExactCount", "count": 3}]}}})");
  ASSERT_TRUE(claim->spec.requests[0].exactly);
  EXPECT_EQ(claim->spec.requests[0].exactly->count, 3);
  EXPECT_EQ(text(claim->spec.requests[0].exactly->device_class_name), "x");
  const auto slice = from_json<ResourceSlice>(
      R"({"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice", "metadata": {"name": "s"},
          "spec": {"driver": "drv", "pool": {"name": "p"}, "allNodes": true,
            "devices": [{"name": "d", "basic": {"attributes": {"a": {"int": 1}}}}]}})");
  EXPECT_EQ(text(slice->devices[0].name), "d");
  EXPECT_EQ(slice->devices[0].attributes.size(), 1u);
}

TEST_F(DevicesJson, ErrorsSayWhere) {
  const Result<AnyObject> bad = decode_object(
      R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
          "spec": {"devices": [{"name": "d", "capacity": {"memory": {"value": "lots"}}}]}})",
      interner, nullptr);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.substr(0, 35), "spec.devices[0].capacity.memory.val");
}

TEST_F(DevicesJson, AnAllocationKeepsItsSymbols) {
  SymbolHold hold = interner.hold();
  AllocationResult allocation;
  {
    const auto claim = from_json<ResourceClaim>(
        R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"},
            "status": {"allocation": {"devices": {"results": [{"request": "only-here", "driver": "x",
              "pool": "y-pool", "device": "z-device"}]}}}})");
    allocation = *claim->status.allocation;
    retain_symbols(allocation, hold);
  }
  EXPECT_EQ(text(allocation.results[0].request), "only-here");
  EXPECT_EQ(interner.symbols()->find("z-device"), allocation.results[0].device);
}

}  // namespace
}  // namespace berth
