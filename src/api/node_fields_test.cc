#include "api/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

Result<Ref<const Node>> decode_node(std::string_view json, Interner& interner) {
  Result<AnyObject> node = decode_object(ObjectKind::kNode, json, interner, nullptr);
  if (!node) return fail(std::move(node).error());
  return Ref<const Node>(&static_cast<const Node&>(*std::get<Ref<const Object>>(*node)));
}

TEST(NodeJson, EverythingThatSchedulingReads) {
  Interner interner;
  const auto decoded = decode_node(R"({
    "apiVersion": "v1", "kind": "Node",
    "metadata": {"name": "n1", "uid": "u", "resourceVersion": "9", "generation": 2,
        "namespace": "ignored",
                 "labels": {"zone": "a"}, "annotations": {"note": "b"}},
    "spec": {"podCIDR": "10.0.0.0/24", "unschedulable": true,
             "podPreemptionPolicy": {"disableResizePreemption": ["example.com/autoscaler"]},
             "taints": [{"key": "k", "value": "v", "effect": "NoSchedule",
                 "timeAdded": "2026-01-01T00:00:00Z"},
                        {"key": "p", "effect": "PreferNoSchedule"}, {"key": "e",
                            "effect": "NoExecute"},
                        {"key": "o", "effect": "Odd"}, {"key": "none"}]},
    "status": {"capacity": {"cpu": "8"},
               "allocatable": {"cpu": "7500m", "memory": "16Gi", "pods": 110,
                   "ephemeral-storage": "1Ti",
                               "example.com/gpu": "2", "hugepages-2Mi": "0"},
               "images": [{"names": ["a:1", "a@sha256:0"], "sizeBytes": 123}, {"names": null}],
               "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
               "declaredFeatures": ["A", "B"], "nodeInfo": {"architecture": "amd64"}}})",
                                   interner);
  ASSERT_TRUE(decoded) << decoded.error().message;
  const Node& node = **decoded;
  const auto text = [&](Symbol symbol) { return std::string(node.symbols.text(symbol)); };
  EXPECT_EQ(node.name, "n1");
  EXPECT_EQ(text(node.symbol), "n1");
  EXPECT_TRUE(node.namespace_name.empty());
  EXPECT_EQ(node.uid, "u");
  EXPECT_EQ(node.resource_version, "9");
  EXPECT_EQ(node.generation, 2);
  EXPECT_EQ(text(node.labels.get(interner.symbols()->find("zone"))), "a");
  EXPECT_EQ(text(node.annotations.get(interner.symbols()->find("note"))), "b");
  EXPECT_TRUE(node.unschedulable);
  ASSERT_TRUE(node.pod_preemption_policy);
  ASSERT_EQ(node.pod_preemption_policy->disable_resize_preemption.size(), 1U);
  EXPECT_EQ(text(node.pod_preemption_policy->disable_resize_preemption[0]),
            "example.com/autoscaler");

  ASSERT_EQ(node.taints.size(), 5U);
  EXPECT_EQ(text(node.taints[0].key), "k");
  EXPECT_EQ(text(node.taints[0].value), "v");
  EXPECT_EQ(node.taints[0].effect, TaintEffect::kNoSchedule);
  EXPECT_EQ(node.taints[1].effect, TaintEffect::kPreferNoSchedule);
  EXPECT_EQ(node.taints[2].effect, TaintEffect::kNoExecute);
  EXPECT_EQ(node.taints[3].effect, TaintEffect::kUnknown);
  EXPECT_EQ(node.taints[4].effect, TaintEffect::kUnknown) << "a taint has no effect that means any";

  EXPECT_EQ(node.capacity.size(), 1U);
  EXPECT_EQ(node.allocatable_resources.milli_cpu, 7500);
  EXPECT_EQ(node.allocatable_resources.memory, 16LL << 30);
  EXPECT_EQ(node.allocatable_resources.pods, 110);
  EXPECT_EQ(node.allocatable_resources.ephemeral_storage, 1LL << 40);
  EXPECT_EQ(node.allocatable_resources.scalar(interner.symbols()->find("example.com/gpu")), 2);
  EXPECT_TRUE(node.allocatable_resources.has_scalar(interner.symbols()->find("hugepages-2Mi")));

  ASSERT_EQ(node.images.size(), 2U);
  EXPECT_EQ(node.images[0].size_bytes, 123);
  EXPECT_EQ(text(node.images[0].names.at(1)), "a@sha256:0");
  ASSERT_EQ(node.conditions.size(), 1U);
  EXPECT_EQ(text(node.conditions[0].type), "Ready");
  EXPECT_EQ(text(node.conditions[0].status), "True");
  ASSERT_EQ(node.declared_features.size(), 2U);
  EXPECT_EQ(text(node.declared_features[1]), "B");
}

TEST(NodeJson, WithoutAdmissionCapacityIsNotAllocatable) {
  Interner interner;
  const auto node = decode_node(R"({"status":{"capacity":{"cpu":"8"}}})", interner);
  ASSERT_TRUE(node);
  EXPECT_EQ((*node)->allocatable_resources.milli_cpu, 0);
}

TEST(NodeJson, ErrorsNameTheField) {
  struct Row {
    const char* json;
    const char* message;
  };
  const Row rows[] = {
      {R"({"spec":{"unschedulable":"yes"}})",
       "spec.unschedulable: expected a boolean, got a string"},
      {R"({"spec":{"taints":[{"key":1}]}})", "spec.taints[0].key: expected a string, got a number"},
      {R"({"status":{"allocatable":{"cpu":"x1"}}})",
       "status.allocatable.cpu: quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {R"({"status":{"images":[{},{"sizeBytes":"1"}]}})",
       "status.images[1].sizeBytes: expected an integer, got a string"},
      {R"([])", "expected a map, got a list"},
  };
  Interner interner;
  for (const Row& row : rows) {
    const auto node = decode_node(row.json, interner);
    ASSERT_FALSE(node) << row.json;
    EXPECT_EQ(node.error().message, row.message);
    EXPECT_EQ(node.error().kind, ErrorKind::kInvalid);
  }
}

}  // namespace
}  // namespace berth
