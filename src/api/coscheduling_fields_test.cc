#include "api/coscheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode.h"
#include "api/defaulting.h"
#include "base/testing/names.h"

namespace berth {
namespace {

Ref<const CoschedulingPodGroup> group_of(const Result<AnyObject>& decoded) {
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message);
  const auto* object = decoded ? std::get_if<Ref<const Object>>(&*decoded) : nullptr;
  return Ref<const CoschedulingPodGroup>(
      object ? dynamic_cast<const CoschedulingPodGroup*>(object->get()) : nullptr);
}

TEST(CoschedulingPodGroup, IsReadWithItsStatus) {
  Interner interner;
  const auto group = group_of(decode_object(
      R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup",
          "metadata":{"name":"gang","namespace":"ml","creationTimestamp":"2026-01-02T03:04:05Z"},
          "spec":{"minMember":3,"minResources":{"cpu":"6","nvidia.com/gpu":4},
                  "scheduleTimeoutSeconds":10},
          "status":{"phase":"Running","occupiedBy":"ml/job","running":3,"succeeded":1,"failed":2}})",
      interner, nullptr));
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->kind, ObjectKind::kCoschedulingPodGroup);
  EXPECT_EQ(to_string(group->kind), "PodGroup");
  EXPECT_EQ(group->symbols.text(group->namespace_name), "ml");
  EXPECT_EQ(group->min_member, 3);
  ASSERT_TRUE(group->min_resources);
  EXPECT_EQ(group->min_resources->size(), 2U);
  EXPECT_EQ(group->schedule_timeout_seconds, 10);
  EXPECT_EQ(group->creation_time->since_epoch, 1'767'323'045s);
  EXPECT_EQ(group->status.phase, "Running");
  EXPECT_EQ(group->status.occupied_by, "ml/job");
  EXPECT_EQ(group->status.running, 3);
  EXPECT_EQ(group->status.succeeded, 1);
  EXPECT_EQ(group->status.failed, 2);
}

TEST(CoschedulingPodGroup, TellsWhatIsNotSaidFromZero) {
  Interner interner;
  const auto with = [&](const std::string& spec) {
    return group_of(decode_object(R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup",
                                      "metadata":{"name":"gang"},"spec":)" +
                                      spec + "}",
                                  interner, nullptr));
  };
  EXPECT_EQ(with("{}")->min_member, 0);
  EXPECT_FALSE(with("{}")->min_resources);
  EXPECT_TRUE(with(R"({"minResources":{}})")->min_resources);
  EXPECT_FALSE(with("{}")->schedule_timeout_seconds);
  EXPECT_EQ(with(R"({"scheduleTimeoutSeconds":0})")->schedule_timeout_seconds, 0);
}

TEST(CoschedulingPodGroup, IsAnotherKindThanTheNativeOne) {
  EXPECT_EQ(object_kind("scheduling.k8s.io/v1beta1", "PodGroup"), ObjectKind::kPodGroup);
  EXPECT_EQ(object_kind("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
            ObjectKind::kCoschedulingPodGroup);
  EXPECT_TRUE(is_namespaced(ObjectKind::kCoschedulingPodGroup));
}

TEST(CoschedulingPodGroup, WithoutATimeOfItsOwnIsAsOldAsTheSecondInWhichItWasMade) {
  Interner interner;
  Admission admission;
  admission.now = WallTime{1'000'700ms};
  const auto group =
      group_of(decode_object(R"({"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup",
                        "metadata":{"name":"gang"}})",
                             interner, &admission));
  EXPECT_EQ(group->creation_time, WallTime{1000s});
}

TEST(OtherObject, KeepsItsTextAndIsNamedByItsMetadata) {
  Interner interner;
  const std::string json =
      R"({"apiVersion":"example.com/v1","kind":"Crane","spec":{"lifts":3},
          "metadata":{"name":"big","namespace":"port","uid":"u","resourceVersion":"7"}})";
  const Result<AnyObject> decoded = decode_other_object("cranes.v1.example.com", json, interner);
  ASSERT_TRUE(decoded);
  const auto* crane = dynamic_cast<const OtherObject*>(std::get<Ref<const Object>>(*decoded).get());
  ASSERT_NE(crane, nullptr);
  EXPECT_EQ(crane->resource, "cranes.v1.example.com");
  EXPECT_EQ(crane->name, "big");
  EXPECT_EQ(crane->symbols.text(crane->namespace_name), "port");
  EXPECT_EQ(crane->resource_version, "7");
  EXPECT_EQ(crane->json, json);
  EXPECT_FALSE(decode_other_object("cranes.v1.example.com", "{\"metadata\": 3}", interner));
}

TEST(OtherObject, OfAKindOfOurOwnIsThat) {
  Interner interner;
  EXPECT_NE(group_of(decode_other_object(CoschedulingPodGroup::kResource,
                                         R"({"metadata":{"name":"gang"}})", interner)),
            nullptr);
}

TEST(OtherObject, HasAResourceThatFollowsFromItsKind) {
  EXPECT_EQ(usual_resource("example.com/v1", "Crane"), "cranes.v1.example.com");
  EXPECT_EQ(usual_resource("a.b.c/v1beta1", "Policy"), "policies.v1beta1.a.b.c");
  EXPECT_EQ(usual_resource("a.b/v1", "Class"), "classes.v1.a.b");
}

}  // namespace
}  // namespace berth
