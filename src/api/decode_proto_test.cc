#include "api/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/envelope.h"
#include "api/kinds.h"
#include "api/proto_json.h"
#include "api/testing/golden.h"
#include "api/testing/protobuf.h"
#include "api/written_pod.h"
#include "base/testing/names.h"
#include "berth/node.h"

namespace berth {
namespace {

template <typename Kind>
void expect_same_object(const Object& from_json, const Object& from_proto, auto&&... members) {
  const auto& a = dynamic_cast<const Kind&>(from_json);
  const auto& b = dynamic_cast<const Kind&>(from_proto);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.namespace_name, b.namespace_name);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.uid, b.uid);
  EXPECT_EQ(a.resource_version, b.resource_version);
  EXPECT_EQ(a.generation, b.generation);
  [[maybe_unused]] const auto expect_equal = [&](auto member) { EXPECT_EQ(a.*member, b.*member); };
  (expect_equal(members), ...);
}

void expect_same(const Object& a, const Object& b) {
  switch (a.kind) {
    case ObjectKind::kNode:
      return expect_same_object<Node>(a, b, &Node::symbol, &Node::labels, &Node::annotations,
                                      &Node::taints, &Node::unschedulable, &Node::capacity,
                                      &Node::allocatable, &Node::allocatable_resources,
                                      &Node::images, &Node::conditions, &Node::declared_features);
    case ObjectKind::kNamespace: return expect_same_object<Namespace>(a, b, &Namespace::labels);
    case ObjectKind::kService: return expect_same_object<Service>(a, b, &Service::selector);
    case ObjectKind::kReplicationController:
      return expect_same_object<ReplicationController>(a, b, &ReplicationController::selector);
    case ObjectKind::kReplicaSet:
      return expect_same_object<ReplicaSet>(a, b, &ReplicaSet::selector);
    case ObjectKind::kStatefulSet:
      return expect_same_object<StatefulSet>(a, b, &StatefulSet::selector);
    case ObjectKind::kPriorityClass:
      return expect_same_object<PriorityClass>(a, b, &PriorityClass::value,
                                               &PriorityClass::global_default,
                                               &PriorityClass::preempt_never);
    case ObjectKind::kPodDisruptionBudget:
      return expect_same_object<PodDisruptionBudget>(a, b, &PodDisruptionBudget::selector,
                                                     &PodDisruptionBudget::disruptions_allowed,
                                                     &PodDisruptionBudget::disrupted_pods);
    default: return expect_same_object<Object>(a, b);
  }
}

void expect_same(const Pod& a, const Pod& b) {
  EXPECT_EQ(a.spec_ref(), b.spec_ref()) << "equal specs are one";
  EXPECT_EQ(a.meta_ref(), b.meta_ref());
  EXPECT_EQ(a.full_name(), b.full_name());
  EXPECT_EQ(a.uid_text(), b.uid_text());
  EXPECT_EQ(a.resource_version(), b.resource_version());
  EXPECT_EQ(a.generation(), b.generation());
  EXPECT_EQ(a.node(), b.node());
  EXPECT_EQ(a.nominated_node(), b.nominated_node());
  EXPECT_EQ(a.phase(), b.phase());
  EXPECT_EQ(a.scheduled_condition(), b.scheduled_condition());
  EXPECT_EQ(a.creation_time(), b.creation_time());
  EXPECT_EQ(a.start_time(), b.start_time());
  EXPECT_EQ(a.deletion_time(), b.deletion_time());
  ASSERT_EQ(a.extra() == nullptr, b.extra() == nullptr);
  if (a.extra() == nullptr) return;
  EXPECT_EQ(a.extra()->conditions, b.extra()->conditions);
  EXPECT_EQ(a.extra()->container_resources, b.extra()->container_resources);
  EXPECT_EQ(a.extra()->pod_resources, b.extra()->pod_resources);
  EXPECT_EQ(a.extra()->resource_claim_statuses, b.extra()->resource_claim_statuses);
  EXPECT_EQ(a.extra()->extended_resource_claim_status, b.extra()->extended_resource_claim_status);
  EXPECT_EQ(a.usage().requests, b.usage().requests);
}

void expect_same(const AnyObject& a, const AnyObject& b) {
  ASSERT_EQ(a.index(), b.index());
  if (const auto* pod = std::get_if<Ref<const Pod>>(&a))
    expect_same(**pod, *std::get<Ref<const Pod>>(b));
  if (const auto* object = std::get_if<Ref<const Object>>(&a))
    expect_same(**object, *std::get<Ref<const Object>>(b));
}

TEST(DecodeProto, GivesTheObjectsThatJsonGives) {
  Interner interner;
  int decoded = 0;
  for (const Golden& object : golden_objects()) {
    SCOPED_TRACE(object.json);
    const auto from_json = decode_object(object.json, interner, nullptr);
    const auto from_proto = decode_enveloped(object.proto, interner);
    ASSERT_TRUE(from_json) << from_json.error().message;
    ASSERT_TRUE(from_proto) << from_proto.error().message;
    expect_same(*from_json, *from_proto);
    if (from_json->index() != 0) ++decoded;
  }
  EXPECT_GE(decoded, 12);
}

// Each of the fields that scheduling reads, alone: what is absent must look the same, too.
TEST(DecodeProto, AbsentFieldsAreAbsentInBothEncodings) {
  const char* const pods[] = {
      R"({})",
      R"({"spec":{"containers":[{"name":"a"}]}})",
      R"({"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}})",
      R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":1}]}]}})",
      R"({"spec":{"tolerations":[{"operator":"Other","effect":"Odd"}]}})",
      R"({"spec":{"affinity":{}}})",
      R"({"spec":{"affinity":{"nodeAffinity":{}}}})",
      R"({"spec":{"affinity":{"podAffinity":{},"podAntiAffinity":{}}}})",
      R"({"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
          {"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Odd"}]}]}}}}})",
      R"({"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z",
          "whenUnsatisfiable":"Odd"}]}})",
      R"({"spec":{"volumes":[{"name":"v","rbd":{"monitors":["m"],"image":"i"}}]}})",
      R"({"spec":{"volumes":[{"name":"v","nfs":{"server":"s","path":"p","readOnly":true}}]}})",
      R"({"spec":{"hostUsers":true}})",
      R"({"spec":{"terminationGracePeriodSeconds":-5}})",
      R"({"spec":{"terminationGracePeriodSeconds":99999999999}})",
      R"({"spec":{"resources":{"limits":{"cpu":"1"}}}})",
      R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u",
          "controller":false}]}})",
      R"({"status":{"phase":"Odd"}})",
      R"({"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",
          "message":"m","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
      R"({"status":{"resources":{}}})",
      R"({"status":{"resourceClaimStatuses":[{"name":"a","resourceClaimName":"c"},{"name":"b"}],
          "extendedResourceClaimStatus":{"resourceClaimName":"e","requestMappings":[
          {"containerName":"c","resourceName":"r","requestName":"q"}]}}})",
  };
  Interner interner;
  for (const char* json : pods) {
    SCOPED_TRACE(json);
    const auto bytes = json_to_proto("v1", "Pod", json);
    ASSERT_TRUE(bytes) << bytes.error().message;
    const auto from_proto = decode_object_proto(ObjectKind::kPod, *bytes, interner);
    const auto from_json = decode_object(ObjectKind::kPod, json, interner, nullptr);
    ASSERT_TRUE(from_json && from_proto);
    expect_same(*from_json, *from_proto);
  }
}

TEST(DecodeProto, RefusesWhatJsonRefuses) {
  Interner interner;
  const auto error = [&](std::string_view json) {
    const auto bytes = json_to_proto("v1", "Pod", json);
    const auto pod = decode_pod_proto(bytes.value(), interner);
    return pod ? "" : pod.error().message;
  };
  EXPECT_EQ(error(R"({"spec":{"preemptionPolicy":"Sometimes"}})"),
            R"(field 2.31: Unsupported value: "Sometimes": supported values: "Never", )"
            R"("PreemptLowerPriority")");
  EXPECT_EQ(error(R"({"spec":{"topologySpreadConstraints":[{"nodeTaintsPolicy":"x"}]}})"),
            R"(field 2.33.7: Unsupported value: "x": supported values: "Honor", "Ignore")");
  EXPECT_EQ(error(R"({"metadata":{"name":")" + std::string(254, 'x') + R"("}})"),
            "field 1.1: must be no more than 253 characters");
}

TEST(DecodeProto, KindsThatAreNotDecodedGiveNothing) {
  Interner interner;
  const auto object = decode_enveloped(golden("ConfigMap", "cm").proto, interner);
  ASSERT_TRUE(object);
  EXPECT_EQ(object->index(), 0U);
}

TEST(DecodeProto, EveryTruncationIsReadOrRefused) {
  Interner interner;
  for (const Golden& object : golden_objects()) {
    const auto envelope = open_envelope(object.proto);
    ASSERT_TRUE(envelope);
    const ObjectKind kind = object_kind(envelope->api_version, envelope->kind);
    for (std::size_t size = 0; size < envelope->object.size(); size += 3)
      static_cast<void>(decode_object_proto(kind, envelope->object.substr(0, size), interner));
  }
}

TEST(DecodeProto, FlippedBitsAreReadOrRefused) {
  Interner interner;
  std::string bytes = golden("Pod", "rich-1").proto;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    for (const int mask : {0x03, 0x80}) {
      bytes[i] = static_cast<char>(bytes[i] ^ mask);
      static_cast<void>(decode_enveloped(bytes, interner));
      bytes[i] = static_cast<char>(bytes[i] ^ mask);
    }
  }
}

}  // namespace
}  // namespace berth
