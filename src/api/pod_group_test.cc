#include "api/pod_group.h"

#include <gtest/gtest.h>

#include "api/decode.h"
#include "api/owned_fields.h"
#include "api/proto_json.h"
#include "berth/interner.h"
#include "wire/json_tree.h"

namespace berth {
namespace {

constexpr std::string_view kVersion = "scheduling.k8s.io/v1beta1";
constexpr std::string_view kGang =
    R"({"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"g",)"
    R"("namespace":"ns","uid":"u-g","resourceVersion":"4"},"spec":{"schedulingPolicy":{"gang":)"
    R"({"minCount":3}},"schedulingConstraints":{"topology":[{"key":"rack"}]},"resourceClaims":)"
    R"([{"name":"net","resourceClaimTemplateName":"nics"}],"disruptionMode":{"all":{}},)"
    R"("priorityClassName":"high","priority":100,"preemptionPolicy":"Never"},"status":{)"
    R"("conditions":[{"type":"PodGroupInitiallyScheduled","status":"False",)"
    R"("lastTransitionTime":"2026-11-19T10:00:00Z","reason":"Unschedulable","message":"why"}],)"
    R"("resourceClaimStatuses":[{"name":"net","resourceClaimName":"net-x"}]}})";

struct PodGroupTest : ::testing::Test {
  Interner interner;

  Ref<const PodGroup> cast(const Result<AnyObject>& decoded) {
    EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message);
    const auto* object = std::get_if<Ref<const Object>>(&*decoded);
    EXPECT_NE(object, nullptr);
    return Ref<const PodGroup>(dynamic_cast<const PodGroup*>(object->get()));
  }
  Ref<const PodGroup> decode(std::string_view json) {
    return cast(decode_object(json, interner, nullptr));
  }
};

void expect_gang(const PodGroup& group) {
  EXPECT_EQ(group.name, "g");
  EXPECT_EQ(group.symbols.text(group.symbol), "g");
  EXPECT_EQ(group.symbols.text(group.namespace_name), "ns");
  ASSERT_TRUE(group.gang);
  EXPECT_EQ(group.quorum(), 3);
  ASSERT_EQ(group.topology.size(), 1u);
  EXPECT_EQ(group.symbols.text(group.topology[0].key), "rack");
  EXPECT_EQ(group.disruption_mode, DisruptionMode::kAll);
  EXPECT_EQ(group.effective_priority(), 100);
  EXPECT_EQ(group.preemption_policy, PreemptionPolicy::kNever);
  ASSERT_EQ(group.resource_claims.size(), 1u);
  EXPECT_EQ(group.resource_claims[0].template_name, "nics");
  ASSERT_EQ(group.claim_statuses.size(), 1u);
  EXPECT_EQ(group.claim_statuses[0].claim_name, "net-x");
  const PodCondition* condition = group.condition(kPodGroupInitiallyScheduled);
  ASSERT_TRUE(condition);
  EXPECT_EQ(condition->status, "False");
  EXPECT_EQ(condition->message, "why");
  EXPECT_TRUE(condition->last_transition_time);
}

TEST_F(PodGroupTest, IsTheSameFromJsonAndFromProtobuf) {
  expect_gang(*decode(kGang));
  const Result<std::string> proto = json_to_proto(kVersion, "PodGroup", kGang);
  ASSERT_TRUE(proto);
  expect_gang(*cast(decode_object_proto(ObjectKind::kPodGroup, *proto, interner)));
}

TEST_F(PodGroupTest, OfABasicPolicyIsReadyWithOnePod) {
  const auto group = decode(
      R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"b"},)"
      R"("spec":{"schedulingPolicy":{"basic":{}},"disruptionMode":{"single":{}}}})");
  EXPECT_FALSE(group->gang);
  EXPECT_EQ(group->quorum(), 1);
  EXPECT_EQ(group->disruption_mode, DisruptionMode::kSingle);
  EXPECT_EQ(group->effective_priority(), 0);
}

TEST_F(PodGroupTest, IsWrittenWithTheSchedulersConditionAndNothingElse) {
  PodCondition condition;
  condition.type = kPodGroupInitiallyScheduled;
  condition.status = "True";
  condition.reason = "Scheduled";
  condition.last_transition_time = WallTime{std::chrono::seconds(10)};
  const auto changed = with_condition(*decode(kGang), condition);
  ASSERT_TRUE(is_written(ObjectKind::kPodGroup, WrittenPart::kStatus));
  EXPECT_FALSE(is_written(ObjectKind::kPodGroup, WrittenPart::kObject));

  constexpr std::string_view kStored =
      R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g",)"
      R"("mine":1},"spec":{"unknown":2},"status":{"conditions":[{"type":"DisruptionTarget"},)"
      R"({"type":"PodGroupInitiallyScheduled","status":"False"}]}})";
  Result<JsonValue> stored = parse_json(kStored);
  ASSERT_TRUE(stored);
  const Result<JsonValue> laid =
      lay_over(*std::move(stored), *changed, WrittenPart::kStatus, interner);
  ASSERT_TRUE(laid);
  EXPECT_EQ(to_json(*laid),
            R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g",)"
            R"("mine":1},"spec":{"unknown":2},"status":{"conditions":[{"type":"DisruptionTarget"},)"
            R"({"lastTransitionTime":"1970-01-01T00:00:10Z","message":"","reason":"Scheduled",)"
            R"("status":"True","type":"PodGroupInitiallyScheduled"}]}})");

  const Ref<const Object> lean = lay_over(*decode(kGang), *changed, WrittenPart::kStatus, "9");
  EXPECT_EQ(lean->resource_version, "9");
  const auto& group = static_cast<const PodGroup&>(*lean);
  ASSERT_EQ(group.conditions.size(), 1u);
  EXPECT_EQ(group.conditions[0], condition);
}

}  // namespace
}  // namespace berth
