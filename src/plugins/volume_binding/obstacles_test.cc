#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/volume_binding/testing/volume_fixture.h"

namespace berth::plugins {
namespace {

struct VolumeBindingObstacles : ::testing::Test, VolumeFixture {
  ObstacleTexts said(const Ref<const Pod>& pod) { return obstacle_texts(plugin(), pod); }
};

TEST_F(VolumeBindingObstacles, SaysWhyAClaimWillNotDo) {
  put(storage_class("late"));
  put(storage_class("now").immediate());
  put(claim("lost").phase(PersistentVolumeClaim::Phase::kLost).volume("pv-gone"));
  put(claim("going").of("late").terminating());
  put(claim("now").of("now"));
  put(claim("now-too").of("now"));
  struct Row {
    std::vector<std::string> claims;
    Texts texts;
  };
  const Row table[] = {
      {{"missing"}, {"ClaimNotFound default/missing: claim default/missing does not exist"}},
      {{"lost"}, {"ClaimLost default/lost: claim default/lost has lost its volume pv-gone"}},
      {{"going"}, {"ClaimTerminating default/going: claim default/going is being deleted"}},
      {{"now", "now-too"},
       {"ClaimUnbound default/now: claim default/now is not bound, which is to happen before "
        "scheduling",
        "ClaimUnbound default/now-too: claim default/now-too is not bound, which is to happen "
        "before "
        "scheduling"}},
  };
  for (const Row& row : table)
    EXPECT_EQ(said(pod_with(row.claims)), (ObstacleTexts{{"", row.texts}}));
}

TEST_F(VolumeBindingObstacles, ClaimsOfEphemeralVolumesAreMadeForTheirPod) {
  put(storage_class("late"));
  PodBuilder builder = world.pod("p");
  const Ref<const Pod> pod = with_ephemeral(builder, "scratch");
  EXPECT_EQ(said(pod)[""],
            (Texts{"ClaimNotCreated default/p-scratch: claim default/p-scratch of an "
                   "ephemeral volume has not been created yet"}));
  put(claim("p-scratch").of("late"));
  EXPECT_EQ(said(pod)[""],
            (Texts{"ClaimOfAnotherPod default/p-scratch: claim default/p-scratch was "
                   "not created for this pod"}));
}

TEST_F(VolumeBindingObstacles, NamesTheVolumeThatIsElsewhere) {
  add_zoned_nodes({"a", "b"});
  put(volume("in-a").only_from({{"zone", "a"}}));
  put(claim("data").bound_to("in-a"));
  EXPECT_EQ(said(pod_with({"data"})),
            (ObstacleTexts{{"b",
                            {"VolumeNodeConflict default/data: volume in-a of claim default/data "
                             "needs label zone in [a], the node has zone=b"}}}));
  EXPECT_EQ(obstacles(plugin(), pod_with({"data"}))["b"].front().facts,
            (Facts{{"persistentVolume", "in-a"},
                   {"claim", "default/data"},
                   {"requirements", "zone in [a]"}}));
}

TEST_F(VolumeBindingObstacles, NamesEveryVolumeThatIsElsewhere) {
  add_zoned_nodes({"b"});
  for (const char* name : {"one", "two"}) {
    put(volume(name).only_from({{"zone", "a"}}));
    put(claim(name).bound_to(name));
  }
  EXPECT_EQ(said(pod_with({"one", "two"}))["b"].size(), 2U);
}

TEST_F(VolumeBindingObstacles, AVolumeThatIsGoneIsNowhere) {
  add_zoned_nodes({"a"});
  put(claim("data").bound_to("gone"));
  EXPECT_EQ(said(pod_with({"data"}))["a"],
            (Texts{"VolumeNotFound default/data: claim default/data is bound to volume gone, which "
                   "does not exist"}));
}

TEST_F(VolumeBindingObstacles, SaysWhyNothingCanBeBound) {
  add_zoned_nodes({"a", "b"});
  put(storage_class("local").static_only());
  put(volume("pv-a").of("local").only_from({{"zone", "a"}}));
  put(claim("c").of("local"));
  EXPECT_EQ(
      said(pod_with({"c"})),
      (ObstacleTexts{{"b",
                      {"NoVolumeToBind default/c: claim default/c finds no volume that can be "
                       "used here, and class local makes none"}}}));
}

TEST_F(VolumeBindingObstacles, SaysWhereAClassMakesVolumes) {
  add_zoned_nodes({"a", "b"});
  put(storage_class("zonal").topology("zone", {"a"}));
  put(claim("c").of("zonal"));
  EXPECT_EQ(said(pod_with({"c"})),
            (ObstacleTexts{{"b",
                            {"TopologyNotAllowed default/c: claim default/c gets no volume here, "
                             "class zonal makes them elsewhere: needs label zone in [a], the node "
                             "has zone=b"}}}));
}

TEST_F(VolumeBindingObstacles, SaysHowMuchStorageIsNotThere) {
  add_zoned_nodes({"a", "b"});
  put(storage_class("csi"));
  put(csi_driver(world, "csi.example.com", true));
  put(capacity("in-a", "csi").from("zone", "a").capacity("5Gi"));
  put(claim("c").of("csi").asks("5Gi"));
  EXPECT_EQ(said(pod_with({"c"})),
            (ObstacleTexts{{"b",
                            {"InsufficientStorage default/c: claim default/c needs 5Gi, and no "
                             "storage of class csi within reach has as much free"}}}));
}

TEST_F(VolumeBindingObstacles, AClaimWhoseNodeIsSelectedIsForThatOne) {
  add_zoned_nodes({"a", "b"});
  put(storage_class("csi"));
  put(claim("c").of("csi").selected_node("b"));
  EXPECT_EQ(said(pod_with({"c"})),
            (ObstacleTexts{{"a",
                            {"ClaimForAnotherNode default/c: claim default/c is being provisioned "
                             "for node b"}}}));
}

}  // namespace
}  // namespace berth::plugins
