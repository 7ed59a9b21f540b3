#include "api/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode.h"
#include "base/testing/names.h"

namespace berth {
namespace {

struct Kinds {
  Interner interner;

  template <typename Kind>
  Ref<const Kind> decode(std::string_view json) {
    const auto decoded = decode_object(json, interner, nullptr);
    EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message);
    const auto* object = std::get_if<Ref<const Object>>(&*decoded);
    EXPECT_NE(object, nullptr);
    return Ref<const Kind>(dynamic_cast<const Kind*>(object->get()));
  }
  std::string error(std::string_view json) {
    const auto decoded = decode_object(json, interner, nullptr);
    return decoded ? "" : decoded.error().message;
  }
};

TEST(KindsJson, Namespace) {
  Kinds kinds;
  const auto object = kinds.decode<Namespace>(
      R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"prod","uid":"u",
          "labels":{"team":"a"}}})");
  EXPECT_EQ(object->kind, ObjectKind::kNamespace);
  EXPECT_EQ(object->name, "prod");
  EXPECT_EQ(object->uid, "u");
  EXPECT_TRUE(object->namespace_name.empty());
  EXPECT_EQ(object->symbols.text(object->labels.begin()->value), "a");
}

TEST(KindsJson, ServiceTellsNoSelectorFromAnEmptyOne) {
  Kinds kinds;
  const auto with = [&](std::string_view spec) {
    return kinds.decode<Service>(
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":)" +
        std::string(spec) + "}");
  };
  EXPECT_FALSE(with("{}")->selector);
  EXPECT_FALSE(with(R"({"selector":null})")->selector);
  EXPECT_TRUE(with(R"({"selector":{}})")->selector);
  const auto object = with(R"({"selector":{"app":"x"},"ports":[{"port":80}]})");
  EXPECT_EQ(object->selector->size(), 1U);
  EXPECT_EQ(object->symbols.text(object->namespace_name), "default");
}

TEST(KindsJson, ReplicationControllerSelectsByItsTemplatesLabelsIfItSaysNothing) {
  Kinds kinds;
  const auto own = kinds.decode<ReplicationController>(
      R"({"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"r","namespace":"x"},
          "spec":{"selector":{"a":"1"},"template":{"metadata":{"labels":{"a":"1","b":"2"}}}}})");
  EXPECT_EQ(own->selector.size(), 1U);
  EXPECT_EQ(own->symbols.text(own->namespace_name), "x");
  const auto derived = kinds.decode<ReplicationController>(
      R"({"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"r"},
          "spec":{"template":{"metadata":{"labels":{"a":"1","b":"2"}}}}})");
  EXPECT_EQ(derived->selector.size(), 2U);
}

TEST(KindsJson, ReplicaSetAndStatefulSetHaveSelectors) {
  Kinds kinds;
  const auto set = kinds.decode<ReplicaSet>(
      R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r"},
          "spec":{"selector":{"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b",
              "operator":"Exists"}]}}})");
  ASSERT_TRUE(set->selector);
  EXPECT_EQ(set->selector->match_labels.size(), 1U);
  EXPECT_EQ(set->selector->match_expressions.at(0).op, SelectorOperator::kExists);
  const auto stateful = kinds.decode<StatefulSet>(
      R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"s"},"spec":{}})");
  EXPECT_FALSE(stateful->selector);
}

TEST(KindsJson, PriorityClass) {
  Kinds kinds;
  const auto high = kinds.decode<PriorityClass>(
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},
          "value":1000,"globalDefault":true,"preemptionPolicy":"Never","description":"x"})");
  EXPECT_EQ(high->value, 1000);
  EXPECT_TRUE(high->global_default);
  EXPECT_TRUE(high->preempt_never);
  const auto low = kinds.decode<PriorityClass>(
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"low"},
          "value":-5})");
  EXPECT_EQ(low->value, -5);
  EXPECT_FALSE(low->global_default);
  EXPECT_FALSE(low->preempt_never);
}

TEST(KindsJson, PodDisruptionBudget) {
  Kinds kinds;
  const auto object = kinds.decode<PodDisruptionBudget>(
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"p"},
          "spec":{"minAvailable":"50%","selector":{}},
          "status":{"disruptionsAllowed":2,"disruptedPods":{"b":"2026-01-01T00:00:00Z",
              "a":null}}})");
  ASSERT_TRUE(object->selector);
  EXPECT_EQ(object->disruptions_allowed, 2);
  EXPECT_THAT(object->disrupted_pods, ElementsAre("a", "b"));
}

TEST(KindsJson, KindsAreToldApartByTheirGroup) {
  EXPECT_EQ(object_kind("v1", "Service"), ObjectKind::kService);
  EXPECT_EQ(object_kind("serving.knative.dev/v1", "Service"), ObjectKind::kOther);
  EXPECT_EQ(object_kind("policy/v1beta1", "PodDisruptionBudget"), ObjectKind::kPodDisruptionBudget);
  EXPECT_EQ(object_kind("v1", "Deployment"), ObjectKind::kOther);
  EXPECT_EQ(object_kind("apps/v1", "Deployment"), ObjectKind::kDeployment);
  EXPECT_EQ(object_kind("v1", "Other"), ObjectKind::kOther);
  EXPECT_TRUE(is_namespaced(ObjectKind::kPod));
  EXPECT_FALSE(is_namespaced(ObjectKind::kNode));
  EXPECT_FALSE(is_namespaced(ObjectKind::kOther));
}

TEST(KindsJson, KindsThatAreNotDecodedGiveNothing) {
  Kinds kinds;
  const auto decoded =
      decode_object(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}})",
                    kinds.interner, nullptr);
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(*decoded));
}

TEST(KindsJson, ErrorsNameTheField) {
  struct Row {
    const char* json;
    const char* message;
  };
  const Row rows[] = {
      {R"({"kind":"Pod"})", "apiVersion: must be set"},
      {R"({"apiVersion":"v1"})", "kind: must be set"},
      {R"({"apiVersion":"v1","kind":5})", "kind: expected a string, got a number"},
      {R"({"apiVersion":"v1","kind":"Namespace","metadata":7})",
       "metadata: expected a map, got a number"},
      {R"({"apiVersion":"v1","kind":"Service","spec":{"selector":[]}})",
       "spec.selector: expected a map, got a list"},
      {R"({"apiVersion":"v1","kind":"ReplicationController","spec":{"selector":{"a":{}}}})",
       "spec.selector.a: expected a string, got a map"},
      {R"({"apiVersion":"apps/v1","kind":"ReplicaSet",
          "spec":{"selector":{"matchExpressions":{}}}})",
       "spec.selector.matchExpressions: expected a list, got a map"},
      {R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","value":"1"})",
       "value: expected an integer, got a string"},
      {R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","preemptionPolicy":"Maybe"})",
       "preemptionPolicy: Unsupported value: \"Maybe\": supported values: \"Never\", "
       "\"PreemptLowerPriority\""},
      {R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget",
          "status":{"disruptionsAllowed":true}})",
       "status.disruptionsAllowed: expected an integer, got a boolean"},
  };
  Kinds kinds;
  for (const Row& row : rows) EXPECT_EQ(kinds.error(row.json), row.message) << row.json;
}

}  // namespace
}  // namespace berth
