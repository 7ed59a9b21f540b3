#include "plugins/volume_restrictions/volume_restrictions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

constexpr const char* kNoDisk = "node(s) had no available disk";
constexpr const char* kInUse =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod";

struct VolumeRestrictionsTest : ::testing::Test {
  PluginFixture fixture;
  testing::World& world = fixture.world;
  const std::unique_ptr<VolumeRestrictions> plugin = fixture.make<VolumeRestrictions>();
  internal::CycleScratch scratch;

  // Volumes as they are written, without names.
  static Ref<const Pod> pod_in(testing::World& where, const std::string& name,
                               const std::vector<std::string>& volumes,
                               const std::string& node = "", const std::string& in = "default") {
    std::string listed;
    for (const std::string& volume : volumes)
      listed +=
          fmt::format("{}{{name: v{}, {}}}", listed.empty() ? "" : ", ", listed.size(), volume);
    return testing::pod_of(
        where, fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: {}, namespace: {}, uid: "
                           "{}-{}}}, spec: {{nodeName: \"{}\", containers: [], volumes: [{}]}}}}",
                           name, in, in, name, node, listed));
  }
  Ref<const Pod> pod(const std::string& name, const std::vector<std::string>& volumes,
                     const std::string& node = "", const std::string& in = "default") {
    return pod_in(world, name, volumes, node, in);
  }
  Ref<const Object> claim(const std::string& name, const std::string& modes,
                          const std::string& in = "default") {
    return std::get<Ref<const Object>>(testing::object_of(
        world, fmt::format("{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {}, "
                           "namespace: {}}}, spec: {{accessModes: [{}]}}}}",
                           name, in, modes)));
  }
  static std::string pvc(const std::string& name) {
    return "persistentVolumeClaim: {claimName: " + name + "}";
  }
  PreFilterResult pre_filter(const Ref<const Pod>& asked) {
    Cycle cycle(asked, fixture.cluster);
    return plugin->pre_filter(cycle);
  }
  // What Filter says now about the one node.
  Verdict filter(const Cycle& cycle) {
    const NodeTable& nodes = fixture.cluster.nodes();
    scratch.reset(nodes.rows());
    NodeSet feasible = nodes.nodes();
    FilterPass pass(0, cycle, feasible, scratch.verdicts);
    plugin->filter(cycle, pass);
    const Status& status = scratch.verdicts[0];
    return {status.code,
            status.ok() ? std::vector<std::string>() : cycle.reasons_of(status, plugin.get())};
  }
};

TEST_F(VolumeRestrictionsTest, DisksConflictByTheirOwnRules) {
  struct Row {
    std::string mine, theirs;
    bool conflict;
  };
  const auto rbd = [](const std::string& monitors, const std::string& image,
                      const std::string& pool = "p", bool read_only = false) {
    return fmt::format("rbd: {{monitors: [{}], image: {}, pool: {}, readOnly: {}}}", monitors,
                       image, pool, read_only);
  };
  const std::string gce = "gcePersistentDisk: {pdName: d}";
  const std::string gce_reader = "gcePersistentDisk: {pdName: d, readOnly: true}";
  const std::string ebs = "awsElasticBlockStore: {volumeID: d}";
  const std::string ebs_reader = "awsElasticBlockStore: {volumeID: d, readOnly: true}";
  const std::string iscsi = "iscsi: {targetPortal: t, iqn: i, lun: 0}";
  const std::string iscsi_reader = "iscsi: {targetPortal: u, iqn: i, lun: 1, readOnly: true}";
  const Row table[] = {
      {gce, gce, true},
      {gce, "gcePersistentDisk: {pdName: other}", false},
      {gce, gce_reader, true},
      {gce_reader, gce, true},
      {gce_reader, gce_reader, false},
      {gce, ebs, false},
      {ebs, ebs, true},
      {ebs_reader, ebs_reader, true},
      {ebs, "awsElasticBlockStore: {volumeID: other}", false},
      {iscsi, iscsi, true},
      {iscsi, iscsi_reader, true},
      {iscsi_reader, iscsi_reader, false},
      {iscsi, "iscsi: {targetPortal: t, iqn: other, lun: 0}", false},
      {rbd("a, b", "i"), rbd("b, c", "i"), true},
      {rbd("a, b", "i"), rbd("c", "i"), false},
      {rbd("a", "i"), rbd("a", "j"), false},
      {rbd("a", "i", "p"), rbd("a", "i", "q"), false},
      {rbd("a", "i", "p", true), rbd("a", "i", "p", true), false},
      {rbd("a", "i", "p", true), rbd("a", "i", "p", false), true},
      {rbd("", "i"), rbd("", "i"), false},
      {"cinder: {volumeID: d}", "cinder: {volumeID: d}", false},
      {"emptyDir: {}", "emptyDir: {}", false},
  };
  for (const Row& row : table) {
    PluginFixture here;
    here.add_node(here.world.node("n"));
    here.add_pod(pod_in(here.world, "other", {"emptyDir: {}", row.theirs}, "n", "elsewhere"));
    Cycle cycle(pod_in(here.world, "p", {"secret: {secretName: s}", row.mine}), here.cluster);
    const PreFilterResult result = plugin->pre_filter(cycle);
    if (result.outcome.code == Code::kSkip) {
      EXPECT_FALSE(row.conflict) << row.mine << " / " << row.theirs;
      continue;
    }
    scratch.reset(here.cluster.nodes().rows());
    NodeSet feasible = here.cluster.nodes().nodes();
    cycle.lend(&scratch);
    FilterPass pass(0, cycle, feasible, scratch.verdicts);
    plugin->filter(cycle, pass);
    EXPECT_EQ(feasible.empty(), row.conflict) << row.mine << " / " << row.theirs;
    if (row.conflict) {
      EXPECT_EQ(scratch.verdicts[0].code, Code::kUnschedulable);
      EXPECT_EQ(plugin->reasons()[scratch.verdicts[0].reason], kNoDisk);
    }
  }
}

TEST_F(VolumeRestrictionsTest, OnlyTheNodeWithTheDiskIsRejected) {
  fixture.add_node(world.node("n1"));
  fixture.add_node(world.node("n2"));
  fixture.add_pod(pod("other", {"awsElasticBlockStore: {volumeID: d}"}, "n1"));
  const auto asked = pod("p", {"awsElasticBlockStore: {volumeID: d}"});
  const Verdicts expected = {{"n1", unschedulable({kNoDisk})}, {"n2", {}}};
  EXPECT_EQ(fixture.filter(*plugin, asked), expected);
  EXPECT_EQ(fixture.filter_one_by_one(*plugin, asked), expected);
}

TEST_F(VolumeRestrictionsTest, APodWithNothingToRestrictIsSkipped) {
  fixture.add_node(world.node("n"));
  fixture.cluster.put(claim("one", "ReadWriteOncePod"));
  fixture.cluster.put(claim("shared", "ReadWriteOnce"));
  fixture.add_pod(pod("other", {pvc("shared")}, "n"));
  for (const auto& volumes : std::vector<std::vector<std::string>>{
           {}, {"emptyDir: {}"}, {pvc("one")}, {pvc("shared")}, {"ephemeral: {}"}})
    EXPECT_EQ(pre_filter(pod("p", volumes)).outcome.code, Code::kSkip);
}

TEST_F(VolumeRestrictionsTest, AMissingClaimRejectsThePod) {
  const PreFilterResult result = pre_filter(pod("p", {pvc("gone")}));
  EXPECT_EQ(result.outcome.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(result.outcome.message(), "persistentvolumeclaim \"gone\" not found");
  fixture.cluster.put(claim("gone", "ReadWriteOnce", "elsewhere"));
  EXPECT_EQ(pre_filter(pod("p", {pvc("gone")})).outcome.code, Code::kUnschedulableAndUnresolvable);
}

TEST_F(VolumeRestrictionsTest, AClaimForOnePodInUseRejectsEveryNode) {
  fixture.add_node(world.node("n1"));
  fixture.add_node(world.node("n2"));
  fixture.cluster.put(claim("one", "ReadWriteOnce, ReadWriteOncePod"));
  fixture.add_pod(pod("other", {pvc("one")}, "n1"));
  EXPECT_EQ(fixture.filter(*plugin, pod("p", {pvc("one")})),
            (Verdicts{{"n1", unschedulable({kInUse})}, {"n2", unschedulable({kInUse})}}));
  // Not by a claim of the same name elsewhere.
  fixture.cluster.put(claim("one", "ReadWriteOncePod", "elsewhere"));
  EXPECT_EQ(pre_filter(pod("p", {pvc("one")}, "", "elsewhere")).outcome.code, Code::kSkip);
}

TEST_F(VolumeRestrictionsTest, TheDiskIsNamedBeforeTheClaim) {
  fixture.add_node(world.node("n"));
  fixture.cluster.put(claim("one", "ReadWriteOncePod"));
  const std::string disk = "awsElasticBlockStore: {volumeID: d}";
  fixture.add_pod(pod("other", {pvc("one"), disk}, "n"));
  EXPECT_EQ(fixture.filter(*plugin, pod("p", {pvc("one"), disk}))["n"], unschedulable({kNoDisk}));
}

TEST_F(VolumeRestrictionsTest, ATrialTakesTheUserAwayAndPutsItBack) {
  fixture.add_node(world.node("n"));
  fixture.cluster.put(claim("one", "ReadWriteOncePod"));
  fixture.cluster.put(claim("two", "ReadWriteOncePod"));
  const auto one = pod("a", {pvc("one")}, "n"), two = pod("b", {pvc("two")}, "n");
  fixture.add_pod(one);
  fixture.add_pod(two);
  Cycle cycle(pod("p", {pvc("one"), pvc("two"), pvc("one")}), fixture.cluster);
  ASSERT_TRUE(plugin->pre_filter(cycle).outcome.ok());
  EXPECT_EQ(filter(cycle), unschedulable({kInUse}));
  EXPECT_TRUE(plugin->remove_pod(cycle, *one, 0).ok());
  EXPECT_EQ(filter(cycle), unschedulable({kInUse}));
  EXPECT_TRUE(plugin->remove_pod(cycle, *two, 0).ok());
  EXPECT_EQ(filter(cycle), Verdict{});
  EXPECT_TRUE(plugin->add_pod(cycle, *one, 0).ok());
  EXPECT_EQ(filter(cycle), unschedulable({kInUse}));
  // Another's name counts as well, and a pod once for each of its volumes.
  EXPECT_TRUE(plugin->remove_pod(cycle, *pod("c", {pvc("one")}, "n", "elsewhere"), 0).ok());
  EXPECT_EQ(filter(cycle), Verdict{});
  EXPECT_TRUE(plugin->add_pod(cycle, *pod("d", {pvc("one"), pvc("one")}, "n"), 0).ok());
  EXPECT_TRUE(plugin->remove_pod(cycle, *one, 0).ok());
  EXPECT_EQ(filter(cycle), unschedulable({kInUse}));
}

TEST_F(VolumeRestrictionsTest, WithoutPreFilterItCannotTell) {
  fixture.add_node(world.node("n"));
  Cycle cycle(pod("p", {}), fixture.cluster);
  cycle.lend(&scratch);
  const std::string text = "cannot read \"PreFilterVolumeRestrictions\" from cycleState";
  EXPECT_EQ(filter(cycle), (Verdict{Code::kError, {text}}));
  EXPECT_EQ(plugin->add_pod(cycle, *pod("q", {}, "n"), 0).message(), text);
  EXPECT_EQ(plugin->remove_pod(cycle, *pod("q", {}, "n"), 0).message(), text);
}

TEST_F(VolumeRestrictionsTest, RegistersForWhatMattersToIt) {
  using enum EventResource;
  EXPECT_EQ(registered_events(*plugin), (RegisteredEvents{{kAssignedPod, action::kDelete},
                                                          {kNode, action::kAdd},
                                                          {kPersistentVolumeClaim, 1}}));
}

TEST_F(VolumeRestrictionsTest, APodThatHadTheVolumeWakesOthers) {
  const ClusterEvent event{EventResource::kAssignedPod, action::kDelete, {}};
  const auto asked = pod("p", {pvc("data"), "awsElasticBlockStore: {volumeID: d}"});
  const auto hint = [&](const Ref<const Pod>& gone) {
    return fixture.hint(*plugin, event, asked, gone, {});
  };
  EXPECT_EQ(hint(pod("q", {pvc("data")})), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod("q", {"awsElasticBlockStore: {volumeID: d}"})), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod("q", {pvc("other"), "awsElasticBlockStore: {volumeID: e}"})),
            QueueingHint::kSkip);
  EXPECT_EQ(hint(pod("q", {})), QueueingHint::kSkip);
  EXPECT_EQ(hint(pod("q", {pvc("data"), "awsElasticBlockStore: {volumeID: d}"}, "", "elsewhere")),
            QueueingHint::kSkip);
  EXPECT_EQ(
      plugin->events_to_register()->front().hint(*asked, claim("data", ""), {}).error().message,
      "unexpected objects in isSchedulableAfterAssignedPodDeleted: expected *v1.Pod, but got "
      "*v1.PersistentVolumeClaim");
}

TEST_F(VolumeRestrictionsTest, TheClaimThatWasMissingWakesThePod) {
  const ClusterEvent event{EventResource::kPersistentVolumeClaim, action::kAdd, {}};
  const auto asked = pod("p", {pvc("data"), "ephemeral: {}"});
  const auto hint = [&](const Ref<const Object>& added) {
    return fixture.hint(*plugin, event, asked, {}, added);
  };
  EXPECT_EQ(hint(claim("data", "")), QueueingHint::kQueue);
  EXPECT_EQ(hint(claim("other", "")), QueueingHint::kSkip);
  EXPECT_EQ(hint(claim("data", "", "elsewhere")), QueueingHint::kSkip);
  EXPECT_EQ(hint(claim("p-v0", "")), QueueingHint::kSkip);
}

TEST_F(VolumeRestrictionsTest, SignsSourcesButNotConfigMapsAndSecrets) {
  const auto signature = [&](const std::vector<std::string>& volumes) {
    return berth::testing::signature(*plugin, pod("p", volumes),
                                     {"v1.Pod.Spec.Volumes.NonSyntheticSources()"});
  };
  EXPECT_EQ(signature({"configMap: {name: c}", "secret: {secretName: s}"}), signature({}));
  EXPECT_EQ(signature({pvc("a"), pvc("b")}), signature({pvc("b"), pvc("a")}));
  EXPECT_NE(signature({pvc("a")}), signature({pvc("b")}));
  EXPECT_NE(signature({pvc("a")}), signature({}));
  EXPECT_NE(signature({"rbd: {monitors: [a], image: i}"}),
            signature({"rbd: {monitors: [b], image: i}"}));
}

TEST_F(VolumeRestrictionsTest, SaysWhoHasTheDisk) {
  fixture.add_node(world.node("n"));
  fixture.add_node(world.node("other"));
  fixture.add_pod(pod("there", {"gcePersistentDisk: {pdName: d}"}, "n"));
  EXPECT_EQ(fixture.obstacle_texts(*plugin,
                                   pod("p", {"gcePersistentDisk: {pdName: d}", "iscsi: {iqn: i}"})),
            (ObstacleTexts{{"n",
                            {"DiskConflict gcePersistentDisk d: gcePersistentDisk d is in use by "
                             "default/there"}}}));
}

TEST_F(VolumeRestrictionsTest, SaysWhoHasTheClaim) {
  fixture.add_node(world.node("n"));
  fixture.add_node(world.node("other"));
  fixture.cluster.put(claim("c", "ReadWriteOncePod"));
  fixture.add_pod(pod("there", {pvc("c")}, "other"));
  const std::string text =
      "ReadWriteOncePodInUse default/c: claim default/c is for one pod only (ReadWriteOncePod), "
      "default/there on node other has it";
  EXPECT_EQ(fixture.obstacle_texts(*plugin, pod("p", {pvc("c")})),
            (ObstacleTexts{{"n", {text}}, {"other", {text}}}));
  EXPECT_EQ(
      fixture.obstacle_texts(*plugin, pod("p", {pvc("gone")})),
      (ObstacleTexts{{"", {"ClaimNotFound default/gone: claim default/gone does not exist"}}}));
}

}  // namespace
}  // namespace berth::plugins
