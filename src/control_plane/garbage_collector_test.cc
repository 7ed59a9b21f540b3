#include "control_plane/garbage_collector.h"

#include <gtest/gtest.h>

#include "control_plane/testing/small_cluster.h"

namespace berth::control_plane::testing {
namespace {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

// A ConfigMap that belongs to others; each owner as "name" or "name!" (it blocks the owner).
std::string owned(SmallCluster& cluster, const std::string& name,
                  const std::vector<std::string>& owners) {
  std::string references;
  for (std::string owner : owners) {
    const bool blocks = owner.ends_with('!');
    if (blocks) owner.pop_back();
    const std::string uid(text_at(cluster.get(kMaps + "/" + owner), "metadata.uid"));
    references += fmt::format(
        R"({}{{"apiVersion":"v1","kind":"ConfigMap","name":"{}","uid":"{}","blockOwnerDeletion":{}}})",
        references.empty() ? "" : ",", owner, uid.empty() ? "gone" : uid, blocks);
  }
  return fmt::format(R"({{"metadata":{{"name":"{}","ownerReferences":[{}]}}}})", name, references);
}

struct Family : SmallCluster {
  Family() : SmallCluster({"garbage-collector-controller"}) {
    post(kMaps, R"({"metadata":{"name":"parent"}})");
    post(kMaps, owned(*this, "child", {"parent!"}));
    post(kMaps, owned(*this, "grandchild", {"child!"}));
  }
  std::vector<std::string> left() { return names(resource_of("configmaps")); }
};
using Names = std::vector<std::string>;

TEST(GarbageCollector, WhoseOwnerGoesGoesToo) {
  Family family;
  family.remove(kMaps + "/parent", R"({"propagationPolicy":"Background"})");
  EXPECT_EQ(family.left(), Names());
}

TEST(GarbageCollector, SayingNothingMeansBackground) {
  Family family;
  family.remove(kMaps + "/parent");
  EXPECT_EQ(family.left(), Names());
}

TEST(GarbageCollector, ACircleOfOwnersGoesAsAWhole) {
  Family family;
  // The grandchild owns its grandparent.
  const std::string uid(text_at(family.get(kMaps + "/grandchild"), "metadata.uid"));
  family.merge(kMaps + "/parent",
               fmt::format(R"({{"metadata":{{"ownerReferences":[{{"apiVersion":"v1","kind":)"
                           R"("ConfigMap","name":"grandchild","uid":"{}",)"
                           R"("blockOwnerDeletion":true}}]}}}})",
                           uid));
  family.remove(kMaps + "/parent", R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(family.left(), Names());
}

TEST(GarbageCollector, OrphansAreLetGoOfAndStay) {
  Family family;
  family.remove(kMaps + "/parent", R"({"propagationPolicy":"Orphan"})");
  EXPECT_EQ(family.left(), (Names{"child", "grandchild"}));
  EXPECT_EQ(at(family.get(kMaps + "/child"), "metadata.ownerReferences"), nullptr);
  EXPECT_NE(at(family.get(kMaps + "/grandchild"), "metadata.ownerReferences"), nullptr);
}

TEST(GarbageCollector, InTheForegroundTheOwnerGoesLast) {
  Family family;
  family.merge(kMaps + "/grandchild", R"({"metadata":{"finalizers":["example.com/hold"]}})");
  family.remove(kMaps + "/parent", R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(family.left(), (Names{"child", "grandchild", "parent"}));
  EXPECT_EQ(items_at(family.get(kMaps + "/parent"), "metadata.finalizers")[0].text,
            "foregroundDeletion");
  family.merge(kMaps + "/grandchild", R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(family.left(), Names());
}

TEST(GarbageCollector, OneOwnerThatIsLeftIsEnough) {
  Family family;
  family.post(kMaps, R"({"metadata":{"name":"uncle"}})");
  family.post(kMaps, owned(family, "both", {"parent", "uncle"}));
  family.remove(kMaps + "/parent");
  EXPECT_EQ(family.left(), (Names{"both", "uncle"}));
  EXPECT_EQ(items_at(family.get(kMaps + "/both"), "metadata.ownerReferences").size(), 1U);
}

TEST(GarbageCollector, AnOwnerThatNeverWasIsAnOwnerThatIsGone) {
  Family family;
  family.post(kMaps, owned(family, "stray", {"nobody"}));
  EXPECT_EQ(family.left(), (Names{"child", "grandchild", "parent"}));
}

TEST(GarbageCollector, AnotherObjectOfTheSameNameIsNotTheOwner) {
  Family family;
  family.remove(kMaps + "/parent", R"({"propagationPolicy":"Orphan"})");
  family.post(kMaps, R"({"metadata":{"name":"parent"}})");
  family.post(kMaps, R"({"metadata":{"name":"heir","ownerReferences":[{"apiVersion":"v1",)"
                     R"("kind":"ConfigMap","name":"parent","uid":"another"}]}})");
  EXPECT_EQ(family.left(), (Names{"child", "grandchild", "parent"}));
}

TEST(GarbageCollector, OwnersOfKindsThatAreNotServedAreBelieved) {
  Family family;
  family.post(kMaps, R"({"metadata":{"name":"foreign","ownerReferences":[{"apiVersion":"x.io/v1",)"
                     R"("kind":"Thing","name":"t","uid":"u"}]}})");
  EXPECT_EQ(family.left().size(), 4U);
}

TEST(GarbageCollector, AnUnknownPolicyIsRefused) {
  Family family;
  family.remove(kMaps + "/parent", R"({"propagationPolicy":"Never"})");
  EXPECT_EQ(family.code, 422);
  EXPECT_EQ(family.left().size(), 3U);
}

}  // namespace
}  // namespace berth::control_plane::testing
