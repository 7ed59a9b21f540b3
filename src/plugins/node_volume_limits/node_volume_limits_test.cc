#include "plugins/node_volume_limits/node_volume_limits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "berth/random.h"
#include "cluster/trial.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

constexpr const char* kTooMany = "node(s) exceed max volume count";
const std::string kEbs = "ebs.csi.aws.com";

struct NodeVolumeLimitsTest : ::testing::Test {
  PluginFixture fixture;
  testing::World& world = fixture.world;
  std::unique_ptr<NodeVolumeLimits> plugin = fixture.make<NodeVolumeLimits>();

  // Volumes as they are written, without names: those get v0, v1, …
  Ref<const Pod> pod(const std::string& name, const std::vector<std::string>& volumes,
                     const std::string& node = "", const std::string& in = "default") {
    std::string listed;
    for (std::size_t i = 0; i < volumes.size(); ++i)
      listed += fmt::format("{}{{name: v{}, {}}}", i == 0 ? "" : ", ", i, volumes[i]);
    return testing::pod_of(
        world,
        fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: \"{}\", namespace: {}, uid: "
                    "{}-{}}}, spec: {{nodeName: \"{}\", containers: [], volumes: [{}]}}}}",
                    name, in, in, name, node, listed));
  }
  static std::string pvc(const std::string& name) {
    return "persistentVolumeClaim: {claimName: \"" + name + "\"}";
  }
  AnyObject object(const std::string& api, const std::string& kind, const std::string& metadata,
                   const std::string& rest) {
    return testing::object_of(
        world, fmt::format("{{apiVersion: {}, kind: {}, metadata: {{{}}}, {}}}", api, kind,
                           metadata, rest));
  }
  AnyObject claim(const std::string& name, const std::string& spec,
                  const std::string& metadata = "namespace: default") {
    return object("v1", "PersistentVolumeClaim", "name: \"" + name + "\"" + ", " + metadata,
                  "spec: {" + spec + "}");
  }
  AnyObject volume(const std::string& name, const std::string& spec,
                   const std::string& labels = "") {
    return object("v1", "PersistentVolume", "name: \"" + name + "\"" + ", labels: {" + labels + "}",
                  "spec: {" + spec + "}");
  }
  AnyObject csi_node(const std::string& name,
                     const std::vector<std::pair<std::string, int>>& drivers) {
    std::string listed;
    for (const auto& [driver, count] : drivers)
      listed += fmt::format("{}{{name: {}, nodeID: x{}}}", listed.empty() ? "" : ", ", driver,
                            count < 0 ? "" : fmt::format(", allocatable: {{count: {}}}", count));
    return object("storage.k8s.io/v1", "CSINode", "name: \"" + name + "\"",
                  "spec: {drivers: [" + listed + "]}");
  }
  AnyObject attachment(const std::string& name, const std::string& node, const std::string& source,
                       const std::string& attacher = kEbs) {
    return object("storage.k8s.io/v1", "VolumeAttachment", "name: \"" + name + "\"",
                  fmt::format("spec: {{attacher: \"{}\", nodeName: \"{}\", source: {{{}}}}}",
                              attacher, node, source));
  }
  void put(const AnyObject& any) { fixture.cluster.put(std::get<Ref<const Object>>(any)); }
  // A claim that is bound to a volume of the driver, both of that name.
  void bound(const std::string& name, const std::string& driver = kEbs) {
    put(claim(name, "volumeName: " + name));
    put(volume(name, fmt::format("csi: {{driver: {}, volumeHandle: h-{}}}", driver, name)));
  }
  void storage_class(const std::string& name, const std::string& provisioner) {
    put(object("storage.k8s.io/v1", "StorageClass", "name: \"" + name + "\"",
               "provisioner: " + provisioner + ", volumeBindingMode: WaitForFirstConsumer"));
  }
  void node(const std::string& name, int limit, const std::string& driver = kEbs) {
    fixture.add_node(world.node(name));
    put(csi_node(name, {{driver, limit}}));
  }
  // The same whether rows are asked together, one by one or under a trial.
  Verdicts judge(const Ref<const Pod>& asked) {
    const Verdicts verdicts = fixture.filter(*plugin, asked);
    EXPECT_EQ(fixture.filter_one_by_one(*plugin, asked), verdicts);
    fixture.add_node(world.node("elsewhere"));
    {
      Trial trial(fixture.cluster);
      trial.add(pod("ghost", {}), fixture.cluster.nodes().find(world.symbol("elsewhere")));
      auto tried = fixture.filter(*plugin, asked);
      tried.erase("elsewhere");
      EXPECT_EQ(tried, verdicts);
    }
    EXPECT_TRUE(fixture.cluster.remove_node(world.symbol("elsewhere")).has_value());
    return verdicts;
  }
  Code pre_filter(const std::string& volume) {
    Cycle cycle(pod("p", {volume}), fixture.cluster);
    return plugin->pre_filter(cycle).outcome.code;
  }
};

TEST_F(NodeVolumeLimitsTest, PodsThatAttachNothingAreSkipped) {
  for (const char* volume : {"emptyDir: {}", "csi: {driver: d}", "rbd: {monitors: [], image: i}",
                             "iscsi: {iqn: i}", "configMap: {name: c}"})
    EXPECT_EQ(pre_filter(volume), Code::kSkip) << volume;
  for (const char* volume :
       {"persistentVolumeClaim: {claimName: gone}", "ephemeral: {}",
        "gcePersistentDisk: {pdName: d}", "awsElasticBlockStore: {volumeID: d}",
        "cinder: {volumeID: d}", "azureDisk: {diskName: d, diskURI: d}",
        "azureFile: {secretName: s, shareName: d}", "vsphereVolume: {volumePath: d}",
        "portworxVolume: {volumeID: d}"})
    EXPECT_EQ(pre_filter(volume), Code::kSuccess) << volume;
}

TEST_F(NodeVolumeLimitsTest, ANodeTakesAsManyAsItsDriverCan) {
  node("two", 2);
  node("one", 1);
  node("none", 0);
  node("other", 0, "csi.example.com");
  fixture.add_node(world.node("unknown"));
  fixture.add_node(world.node("unlimited"));
  put(csi_node("unlimited", {{kEbs, -1}}));
  for (const char* name : {"a", "b", "c"}) bound(name);
  EXPECT_EQ(judge(pod("p", {pvc("a")})), (Verdicts{{"two", {}},
                                                   {"one", {}},
                                                   {"none", unschedulable({kTooMany})},
                                                   {"other", {}},
                                                   {"unknown", {}},
                                                   {"unlimited", {}}}));
  EXPECT_EQ(judge(pod("p", {pvc("a"), pvc("b"), pvc("a")})),
            (Verdicts{{"two", {}},
                      {"one", unschedulable({kTooMany})},
                      {"none", unschedulable({kTooMany})},
                      {"other", {}},
                      {"unknown", {}},
                      {"unlimited", {}}}));
}

TEST_F(NodeVolumeLimitsTest, WhatTheNodeHasAlreadyCostsNothing) {
  node("n", 2);
  for (const char* name : {"a", "b", "c"}) bound(name);
  fixture.add_pod(pod("x", {pvc("a")}, "n"));
  fixture.add_pod(pod("y", {pvc("b"), pvc("a"), pvc("gone")}, "n"));
  EXPECT_EQ(judge(pod("p", {pvc("c")}))["n"], unschedulable({kTooMany}));
  EXPECT_EQ(judge(pod("p", {pvc("a")}))["n"], Verdict{});
  EXPECT_EQ(judge(pod("p", {pvc("a"), pvc("b")}))["n"], Verdict{});
  EXPECT_EQ(judge(pod("p", {pvc("a"), pvc("c")}))["n"], unschedulable({kTooMany}));
}

TEST_F(NodeVolumeLimitsTest, DriversAreCountedApart) {
  fixture.add_node(world.node("n"));
  put(csi_node("n", {{kEbs, 1}, {"csi.example.com", 1}}));
  bound("a");
  bound("b", "csi.example.com");
  bound("c", "csi.example.com");
  fixture.add_pod(pod("x", {pvc("a")}, "n"));
  EXPECT_EQ(judge(pod("p", {pvc("b")}))["n"], Verdict{});
  EXPECT_EQ(judge(pod("p", {pvc("b"), pvc("c")}))["n"], unschedulable({kTooMany}));
}

TEST_F(NodeVolumeLimitsTest, AClaimThatIsNotBoundCountsForItsClass) {
  node("full", 0);
  node("free", 1);
  storage_class("csi", kEbs);
  storage_class("migrated", "kubernetes.io/aws-ebs");
  storage_class("not-migrated", "kubernetes.io/vsphere-volume");
  storage_class("local", "kubernetes.io/no-provisioner");
  const std::pair<std::string, bool> table[] = {
      {"storageClassName: csi", true},
      {"storageClassName: csi, volumeName: gone", true},
      {"storageClassName: migrated", true},
      {"storageClassName: not-migrated", false},
      {"storageClassName: local", false},
      {"storageClassName: gone", false},
      {"", false},
  };
  for (const auto& [spec, counts] : table) {
    put(claim("c", spec));
    auto verdicts = judge(pod("p", {pvc("c")}));
    EXPECT_EQ(verdicts["full"], counts ? unschedulable({kTooMany}) : Verdict{}) << spec;
    EXPECT_EQ(verdicts["free"], Verdict{}) << spec;
  }
  // Two claims are two volumes; one claim is one, whoever uses it.
  put(claim("c", "storageClassName: csi"));
  put(claim("d", "storageClassName: csi"));
  fixture.add_pod(pod("x", {pvc("c")}, "free"));
  EXPECT_EQ(judge(pod("p", {pvc("c")}))["free"], Verdict{});
  EXPECT_EQ(judge(pod("p", {pvc("d")}))["free"], unschedulable({kTooMany}));
}

TEST_F(NodeVolumeLimitsTest, MigratedVolumesCountAsTheirDriversWhereThereIsACSINode) {
  struct Row {
    std::string driver, source;
    bool counts;
  };
  const Row table[] = {
      {"ebs.csi.aws.com", "awsElasticBlockStore: {volumeID: vol-1}", true},
      {"pd.csi.storage.gke.io", "gcePersistentDisk: {pdName: d}", true},
      {"cinder.csi.openstack.org", "cinder: {volumeID: c}", true},
      {"disk.csi.azure.com", "azureDisk: {diskName: d, diskURI: d}", true},
      {"pxd.portworx.com", "portworxVolume: {volumeID: p}", true},
      {"file.csi.azure.com", "azureFile: {secretName: s, shareName: d}", false},
      {"csi.vsphere.vmware.com", "vsphereVolume: {volumePath: d}", false},
  };
  for (const Row& row : table) {
    PluginFixture here;
    NodeVolumeLimitsTest* self = this;
    fixture.add_node(world.node("bare"));
    node("n", 0, row.driver);
    put(volume("pv", row.source));
    put(claim("c", "volumeName: pv"));
    for (const std::string& used : {pvc("c"), row.source}) {
      auto verdicts = self->judge(pod("p", {used}));
      EXPECT_EQ(verdicts["n"], row.counts ? unschedulable({kTooMany}) : Verdict{}) << used;
      EXPECT_EQ(verdicts["bare"], Verdict{}) << used;
    }
    // A claim's volume and an inline one may be the same.
    put(csi_node("n", {{row.driver, 1}}));
    EXPECT_EQ(judge(pod("p", {pvc("c"), row.source}))["n"], Verdict{}) << row.source;
    for (const char* name : {"n", "bare"})
      ASSERT_TRUE(fixture.cluster.remove_node(world.symbol(name)).has_value());
  }
}

TEST_F(NodeVolumeLimitsTest, APersistentVolumeThatCannotBeTranslatedDoesNotCount) {
  node("n", 0);
  put(volume("pv", "awsElasticBlockStore: {volumeID: \"aws://z/odd\"}"));
  put(claim("c", "volumeName: pv"));
  EXPECT_EQ(judge(pod("p", {pvc("c")}))["n"], Verdict{});
}

TEST_F(NodeVolumeLimitsTest, AnInlineVolumeThatCannotBeTranslatedIsAnError) {
  node("n", 5);
  node("limited", 5, "csi.example.com");
  fixture.add_node(world.node("bare"));
  bound("a");
  const std::string odd = "azureDisk: {diskName: d, diskURI: d, kind: Shared}";
  const Verdict error{
      Code::kError,
      {"converting volume(v0) from inline to csi: kind(Shared) is not supported in csi migration"}};
  EXPECT_EQ(judge(pod("p", {odd})), (Verdicts{{"n", error}, {"limited", error}, {"bare", {}}}));
  fixture.add_pod(pod("x", {odd}, "n"));
  fixture.add_pod(pod("y", {odd}, "limited"));
  fixture.add_pod(pod("z", {odd}, "bare"));
  EXPECT_EQ(judge(pod("p", {pvc("a")})),
            (Verdicts{{"n", error}, {"limited", error}, {"bare", {}}}));
}

TEST_F(NodeVolumeLimitsTest, ClaimsOfThePodMustExistAndBeItsOwn) {
  node("n", 5);
  fixture.add_node(world.node("bare"));
  put(claim("p-v0", "volumeName: pv"));
  const auto both = [&](const Ref<const Pod>& asked, const Verdict& verdict) {
    EXPECT_EQ(judge(asked), (Verdicts{{"n", verdict}, {"bare", verdict}}));
  };
  both(pod("p", {pvc("gone")}),
       unresolvable({"looking up PVC default/gone: persistentvolumeclaim \"gone\" not found"}));
  both(pod("p", {"emptyDir: {}", "ephemeral: {}"}),
       unresolvable({"looking up PVC default/p-v1: persistentvolumeclaim \"p-v1\" not found"}));
  both(pod("p", {pvc("")}), {Code::kError, {"PersistentVolumeClaim had no name"}});
  both(pod("p", {"ephemeral: {}"}),
       {Code::kError, {"PVC default/p-v0 was not created for pod default/p (pod is not owner)"}});
}

TEST_F(NodeVolumeLimitsTest, EphemeralVolumesCountThroughTheirClaims) {
  node("n", 1);
  const auto owned = [](const std::string& pod) {
    return "namespace: default, ownerReferences: [{apiVersion: v1, kind: Pod, name: " + pod +
           ", uid: default-" + pod + ", controller: true}]";
  };
  bound("a");
  put(claim("x-v0", "volumeName: a", owned("x")));
  put(claim("p-v0", "volumeName: b", owned("p")));
  put(volume("b", "csi: {driver: ebs.csi.aws.com, volumeHandle: h-b}"));
  const auto asked = pod("p", {"ephemeral: {}"});
  EXPECT_EQ(judge(asked)["n"], Verdict{});
  fixture.add_pod(pod("x", {"ephemeral: {}"}, "n"));
  EXPECT_EQ(judge(asked)["n"], unschedulable({kTooMany}));
  EXPECT_EQ(judge(pod("q", {pvc("a")}))["n"], Verdict{});
  // A claim that is somebody else's, of a pod that is there already.
  put(claim("x-v0", "volumeName: a"));
  EXPECT_EQ(judge(asked)["n"],
            (Verdict{Code::kError,
                     {"PVC default/x-v0 was not created for pod default/x (pod is not owner)"}}));
  fixture.cluster.remove(ObjectKind::kPersistentVolumeClaim, "default", "x-v0");
  EXPECT_EQ(judge(asked)["n"], Verdict{});
}

TEST_F(NodeVolumeLimitsTest, AttachmentsCountUnlessAPodHasTheVolume) {
  node("n", 2);
  for (const char* name : {"a", "b", "c"}) bound(name);
  put(volume("disk", "awsElasticBlockStore: {volumeID: vol-1}"));
  const auto verdict = [&](const std::string& claim) { return judge(pod("p", {pvc(claim)}))["n"]; };
  put(attachment("no-csi", "n", "persistentVolumeName: disk"));
  put(attachment("no-volume", "n", "persistentVolumeName: gone"));
  put(attachment("no-name", "n", "inlineVolumeSpec: {}"));
  put(attachment("no-attacher", "n", "persistentVolumeName: a", ""));
  put(attachment("not-here", "m", "persistentVolumeName: b"));
  put(attachment("another", "n", "persistentVolumeName: b", "csi.example.com"));
  put(attachment("a", "n", "persistentVolumeName: a"));
  EXPECT_EQ(verdict("c"), Verdict{});
  put(attachment("b", "n", "persistentVolumeName: b"));
  EXPECT_EQ(verdict("c"), unschedulable({kTooMany}));
  // Parity: what is attached without a pod is not free for the pod either.
  EXPECT_EQ(verdict("a"), unschedulable({kTooMany}));
  fixture.add_pod(pod("x", {pvc("a")}, "n"));
  EXPECT_EQ(verdict("a"), Verdict{});
  EXPECT_EQ(verdict("c"), unschedulable({kTooMany}));
  put(attachment("b", "m", "persistentVolumeName: b"));
  EXPECT_EQ(verdict("c"), Verdict{});
  put(attachment("b", "n", "persistentVolumeName: b"));
  fixture.cluster.remove(ObjectKind::kVolumeAttachment, "", "b");
  EXPECT_EQ(verdict("c"), Verdict{});
}

TEST_F(NodeVolumeLimitsTest, ATrialSeesWhatItTakesAway) {
  node("n", 1);
  bound("a");
  bound("b");
  const auto other = pod("x", {pvc("a")}, "n");
  fixture.add_pod(other);
  const auto asked = pod("p", {pvc("b")});
  EXPECT_EQ(fixture.filter(*plugin, asked)["n"], unschedulable({kTooMany}));
  {
    Trial trial(fixture.cluster);
    trial.remove(other, fixture.cluster.nodes().find(world.symbol("n")));
    EXPECT_EQ(fixture.filter(*plugin, asked)["n"], Verdict{});
    trial.add(pod("y", {pvc("b")}), fixture.cluster.nodes().find(world.symbol("n")));
    EXPECT_EQ(fixture.filter(*plugin, pod("q", {pvc("a")}))["n"], unschedulable({kTooMany}));
  }
  EXPECT_EQ(fixture.filter(*plugin, asked)["n"], unschedulable({kTooMany}));
}

TEST_F(NodeVolumeLimitsTest, ANodeWithoutADriverThatAsksForItIsRejected) {
  node("with", 5);
  node("without", 5, "csi.example.com");
  fixture.add_node(world.node("bare"));
  bound("a");
  put(object("storage.k8s.io/v1", "CSIDriver", "name: " + kEbs,
             "spec: {preventPodSchedulingIfMissing: true}"));
  const auto asked = pod("p", {pvc("a")});
  const Verdict missing =
      unschedulable({"ebs.csi.aws.com CSI driver is not installed on the node"});
  EXPECT_EQ(judge(asked), (Verdicts{{"with", {}}, {"without", missing}, {"bare", missing}}));
  // An error about nodes with a CSINode leaves the others to be judged.
  const Verdict error{
      Code::kError,
      {"converting volume(v1) from inline to csi: kind(Shared) is not supported in csi migration"}};
  EXPECT_EQ(judge(pod("p", {pvc("a"), "azureDisk: {diskName: d, diskURI: d, kind: Shared}"})),
            (Verdicts{{"with", error}, {"without", error}, {"bare", missing}}));
  // A volume that is still to be made needs its driver, too.
  storage_class("slow", kEbs);
  put(claim("later", "storageClassName: slow"));
  EXPECT_EQ(judge(pod("p", {pvc("later")})),
            (Verdicts{{"with", {}}, {"without", missing}, {"bare", missing}}));
  {
    ASSERT_TRUE(fixture.gates.set("VolumeLimitScaling=false").has_value());
    plugin = fixture.make<NodeVolumeLimits>();
    EXPECT_EQ(judge(asked), (Verdicts{{"with", {}}, {"without", {}}, {"bare", {}}}));
    ASSERT_TRUE(fixture.gates.set("VolumeLimitScaling=true").has_value());
    plugin = fixture.make<NodeVolumeLimits>();
  }
  put(object("storage.k8s.io/v1", "CSIDriver", "name: " + kEbs, "spec: {}"));
  EXPECT_EQ(judge(asked), (Verdicts{{"with", {}}, {"without", {}}, {"bare", {}}}));
}

// ---- what is kept -------------------------------------------------------------------------------

// Whatever changes, the plugin says what one says that has seen nothing before.
TEST_F(NodeVolumeLimitsTest, WhatIsKeptFollowsEveryChange) {
  Random random(7);
  const auto draw = [&](int below) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(below)));
  };
  const auto name = [&](const char* prefix, int count) {
    return fmt::format("{}{}", prefix, draw(count));
  };
  storage_class("class0", kEbs);
  std::map<std::string, Ref<const Pod>> placed;
  for (int step = 0; step < 600; ++step) {
    const std::string node_name = name("n", 4);
    switch (draw(12)) {
      case 0: fixture.cluster.add_node(world.node(node_name)); break;
      case 1: (void)fixture.cluster.remove_node(world.symbol(node_name)); break;
      case 2: put(csi_node(node_name, {{kEbs, draw(4)}})); break;
      case 3: put(csi_node(node_name, {{kEbs, draw(3)}, {"csi.example.com", draw(3)}})); break;
      case 4: fixture.cluster.remove(ObjectKind::kCSINode, "", node_name); break;
      case 5: put(claim(name("c", 5), "volumeName: " + name("pv", 5))); break;
      case 6: put(claim(name("c", 5), "storageClassName: " + name("class", 2))); break;
      case 7:
        put(volume(name("pv", 5),
                   fmt::format("csi: {{driver: {}, volumeHandle: {}}}",
                               draw(2) == 0 ? kEbs : "csi.example.com", name("h", 4))));
        break;
      case 8:
        if (draw(2) == 0)
          fixture.cluster.remove(ObjectKind::kPersistentVolume, "", name("pv", 5));
        else
          fixture.cluster.remove(ObjectKind::kPersistentVolumeClaim, "default", name("c", 5));
        break;
      case 9:
        if (draw(3) == 0)
          fixture.cluster.remove(ObjectKind::kVolumeAttachment, "", name("va", 4));
        else
          put(attachment(name("va", 4), node_name, "persistentVolumeName: " + name("pv", 5)));
        break;
      default: {
        const std::string pod_name = name("x", 6);
        if (const auto found = placed.find(pod_name); found != placed.end()) {
          ASSERT_TRUE(fixture.cluster.remove_pod(*found->second).has_value());
          placed.erase(found);
        } else {
          placed[pod_name] = pod(pod_name, {pvc(name("c", 5)), pvc(name("c", 5))}, node_name);
          fixture.add_pod(placed[pod_name]);
        }
      }
    }
    if (draw(20) == 0) storage_class(name("class", 2), draw(2) == 0 ? kEbs : "csi.example.com");
    const auto asked = pod("p", {pvc(name("c", 5)), "awsElasticBlockStore: {volumeID: vol-1}"});
    const auto fresh = fixture.make<NodeVolumeLimits>();
    ASSERT_EQ(fixture.filter(*plugin, asked), fixture.filter(*fresh, asked)) << "step " << step;
  }
}

// ---- events -------------------------------------------------------------------------------------

TEST_F(NodeVolumeLimitsTest, RegistersForWhatMattersToIt) {
  using enum EventResource;
  EXPECT_EQ(registered_events(*plugin), (RegisteredEvents{{kCSINode, action::kAdd},
                                                          {kCSINode, action::kUpdate},
                                                          {kAssignedPod, action::kDelete},
                                                          {kPersistentVolumeClaim, 1},
                                                          {kVolumeAttachment, 2}}));
  EXPECT_FALSE(plugin->events_to_register()->front().hint);
}

TEST_F(NodeVolumeLimitsTest, MoreRoomOnANodeWakesThePod) {
  const auto hint = [&](const std::vector<std::pair<std::string, int>>& before,
                        const std::vector<std::pair<std::string, int>>& after) {
    return fixture.hint(*plugin, {EventResource::kCSINode, action::kUpdate, {}}, pod("p", {}),
                        csi_node("n", before), csi_node("n", after)) == QueueingHint::kQueue;
  };
  EXPECT_TRUE(hint({{"d", 1}}, {{"d", 2}}));
  EXPECT_FALSE(hint({{"d", 2}}, {{"d", 2}}));
  EXPECT_FALSE(hint({{"d", 2}}, {{"d", 1}}));
  EXPECT_FALSE(hint({{"d", 2}}, {}));
  EXPECT_TRUE(hint({}, {{"d", 1}}));
  EXPECT_FALSE(hint({}, {{"d", 0}}));
  EXPECT_TRUE(hint({{"d", -1}}, {{"d", 1}}));
  EXPECT_FALSE(hint({{"d", 1}}, {{"d", -1}}));
  EXPECT_TRUE(hint({{"d", 2}, {"e", 1}}, {{"d", 1}, {"e", 2}}));
}

TEST_F(NodeVolumeLimitsTest, APodWithVolumesThatGoesWakesOthers) {
  const auto hint = [&](const std::vector<std::string>& volumes, const std::string& node) {
    return fixture.hint(*plugin, {EventResource::kAssignedPod, action::kDelete, {}}, pod("p", {}),
                        pod("gone", volumes, node), {}) == QueueingHint::kQueue;
  };
  EXPECT_TRUE(hint({pvc("c")}, "n"));
  EXPECT_TRUE(hint({"emptyDir: {}", "ephemeral: {}"}, "n"));
  EXPECT_TRUE(hint({"azureFile: {secretName: s, shareName: d}"}, "n"));
  EXPECT_FALSE(hint({"emptyDir: {}", "csi: {driver: d}"}, "n"));
  EXPECT_FALSE(hint({}, "n"));
  EXPECT_FALSE(hint({pvc("c")}, ""));
  EXPECT_EQ(fixture.hint(*plugin, {EventResource::kAssignedPod, action::kDelete, {}}, pod("p", {}),
                         testing::pod_of(world,
                                         "{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: "
                                         "{containers: [], volumes: [{name: v, ephemeral: {}}]}, "
                                         "status: {nominatedNodeName: node}}"),
                         {}),
            QueueingHint::kQueue);
  const std::vector<EventRegistration> registrations = *plugin->events_to_register();
  EXPECT_EQ(registrations[2].hint(*pod("p", {}), csi_node("n", {}), {}).error().message,
            "unexpected objects in isSchedulableAfterAssignedPodDeleted: expected *v1.Pod, but got "
            "*v1.CSINode");
}

TEST_F(NodeVolumeLimitsTest, TheClaimThatWasMissingWakesThePod) {
  const auto asked = pod("p", {pvc("data"), "ephemeral: {}"});
  const auto hint = [&](const AnyObject& added) {
    return fixture.hint(*plugin, {EventResource::kPersistentVolumeClaim, action::kAdd, {}}, asked,
                        {}, added) == QueueingHint::kQueue;
  };
  EXPECT_TRUE(hint(claim("data", "")));
  EXPECT_TRUE(hint(claim("p-v1", "")));
  EXPECT_FALSE(hint(claim("p-v0", "")));
  EXPECT_FALSE(hint(claim("data", "", "namespace: elsewhere")));
}

TEST_F(NodeVolumeLimitsTest, AnAttachmentThatGoesWakesPodsOfThatDriver) {
  const ClusterEvent event{EventResource::kVolumeAttachment, action::kDelete, {}};
  const auto gone = attachment("va", "n", "persistentVolumeName: pv", kEbs);
  const auto hint = [&](const std::string& volume) {
    return fixture.hint(*plugin, event, pod("p", {volume}), gone, {}) == QueueingHint::kQueue;
  };
  EXPECT_TRUE(hint(pvc("any")));
  EXPECT_TRUE(hint("awsElasticBlockStore: {volumeID: vol-1}"));
  EXPECT_FALSE(hint("gcePersistentDisk: {pdName: d}"));
  EXPECT_FALSE(hint("ephemeral: {}"));
  EXPECT_FALSE(hint("emptyDir: {}"));
  const std::vector<EventRegistration> registrations = *plugin->events_to_register();
  const auto odd = pod("p", {"azureDisk: {diskName: d, diskURI: d, kind: Shared}"});
  EXPECT_EQ(registrations.back().hint(*odd, gone, {}).error().message,
            "converting volume(v0) from inline to csi: kind(Shared) is not supported in csi "
            "migration");
}

}  // namespace
}  // namespace berth::plugins
