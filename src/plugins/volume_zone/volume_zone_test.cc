#include "plugins/volume_zone/volume_zone.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "api/storage.h"
#include "base/testing/names.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

const std::string kZone = "topology.kubernetes.io/zone";
const std::string kRegion = "topology.kubernetes.io/region";
const std::string kBetaZone = "failure-domain.beta.kubernetes.io/zone";
const std::string kBetaRegion = "failure-domain.beta.kubernetes.io/region";
constexpr const char* kNoZone = "node(s) had no available volume zone";

struct VolumeZoneTest : ::testing::Test {
  PluginFixture fixture;
  testing::World& world = fixture.world;
  const std::unique_ptr<VolumeZone> plugin = fixture.make<VolumeZone>();

  Ref<const Pod> pod(const std::string& volumes) {
    return testing::pod_of(
        world,
        fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: default}}, "
                    "spec: {{containers: [], volumes: [{}]}}}}",
                    volumes));
  }
  static std::string pvc(const std::string& name) {
    return "{name: v, persistentVolumeClaim: {claimName: \"" + name + "\"}}";
  }
  AnyObject claim(const std::string& name, const std::string& spec,
                  const std::string& in = "default") {
    return testing::object_of(
        world, fmt::format("{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {}, "
                           "namespace: {}}}, spec: {{{}}}}}",
                           name, in, spec));
  }
  AnyObject volume(const std::string& name, const std::string& labels) {
    return testing::object_of(
        world,
        fmt::format("{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {}, labels: "
                    "{{{}}}}}, spec: {{csi: {{driver: d, volumeHandle: h}}}}}}",
                    name, labels));
  }
  AnyObject storage_class(const std::string& name, const std::string& mode) {
    return testing::object_of(
        world, fmt::format("{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: "
                           "{}}}, provisioner: p{}}}",
                           name, mode.empty() ? "" : ", volumeBindingMode: " + mode));
  }
  void put(const AnyObject& object) { fixture.cluster.put(std::get<Ref<const Object>>(object)); }

  // The verdict about a node with these labels on a pod whose volume has those; "skipped" as such.
  std::string judge(const std::string& volume_labels,
                    const std::vector<std::pair<std::string, std::string>>& node_labels) {
    PluginFixture here;
    testing::NodeBuilder node = here.world.node("n");
    for (const auto& [key, value] : node_labels) node.label(key, value);
    here.add_node(node);
    testing::put(here, fmt::format(R"(
{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: c, namespace: default}}, spec: {{volumeName: pv}}}}
---
{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: pv, labels: {{{}}}}}, spec: {{}}}}
)",
                                   volume_labels));
    testing::PodBuilder asked = here.world.pod("p");
    Volume v;
    v.source = VolumeSource::kPersistentVolumeClaim;
    v.source_name = asked.symbol("c");
    asked.spec().volumes.push_back(v);
    Cycle cycle(asked, here.cluster);
    const auto made = here.make<VolumeZone>();
    if (made->pre_filter(cycle).outcome.code == Code::kSkip) return "skipped";
    const Verdict verdict = here.filter(*made, asked)["n"];
    if (verdict.code == Code::kSuccess) return "";
    EXPECT_EQ(verdict.code, Code::kUnschedulableAndUnresolvable);
    return verdict.reasons.at(0);
  }
};

TEST_F(VolumeZoneTest, NodesMustBeInTheZonesOfTheVolume) {
  struct Row {
    std::string volume;
    std::vector<std::pair<std::string, std::string>> node;
    std::string verdict;
  };
  const Row table[] = {
      {"", {{kZone, "a"}}, "skipped"},
      {"other: x", {{kZone, "a"}}, "skipped"},
      {kZone + ": ''", {{kZone, "a"}}, "skipped"},
      {kZone + ": a____b", {{kZone, "c"}}, "skipped"},
      {kZone + ": 'a__ '", {{kZone, "c"}}, "skipped"},
      {kZone + ": a", {{kZone, "a"}}, ""},
      {kZone + ": a", {{kZone, "b"}}, kNoZone},
      {kZone + ": a", {}, ""},
      {kZone + ": a", {{"other", "b"}}, ""},
      {kZone + ": a", {{kRegion, "a"}}, kNoZone},
      {kZone + ": a", {{kBetaZone, "a"}}, kNoZone},
      {kZone + ": a__b", {{kZone, "b"}}, ""},
      {kZone + ": ' a__ b '", {{kZone, "b"}}, ""},
      {kZone + ": a__b", {{kZone, "a__b"}}, kNoZone},
      {kZone + ": a", {{kZone, ""}}, kNoZone},
      {kBetaZone + ": a", {{kBetaZone, "a"}}, ""},
      {kBetaZone + ": a", {{kZone, "a"}}, ""},
      {kBetaZone + ": a", {{kZone, "b"}}, kNoZone},
      {kBetaZone + ": a", {{kBetaZone, "b"}, {kZone, "a"}}, kNoZone},
      {kBetaRegion + ": r", {{kRegion, "r"}}, ""},
      {kBetaRegion + ": r", {{kRegion, "s"}}, kNoZone},
      {kRegion + ": r__s", {{kRegion, "s"}}, ""},
      {kZone + ": a, " + kRegion + ": r", {{kZone, "a"}, {kRegion, "s"}}, kNoZone},
      {kZone + ": a, " + kRegion + ": r", {{kZone, "a"}, {kRegion, "r"}}, ""},
      {kZone + ": a, " + kBetaZone + ": b", {{kZone, "a"}}, kNoZone},
      {kZone + ": a, " + kRegion + ": ''", {{kZone, "a"}}, ""},
  };
  for (const Row& row : table)
    EXPECT_EQ(judge(row.volume, row.node), row.verdict)
        << row.volume << " on " << ::testing::PrintToString(row.node);
}

TEST_F(VolumeZoneTest, AllVolumesOfThePodCount) {
  put(claim("a", "volumeName: in-a"));
  put(claim("b", "volumeName: in-ab"));
  put(volume("in-a", kZone + ": a"));
  put(volume("in-ab", kZone + ": a__b"));
  for (const char* zone : {"a", "b", "c"}) fixture.add_node(world.node(zone).zone(zone));
  const Verdicts expected = {
      {"a", {}}, {"b", unresolvable({kNoZone})}, {"c", unresolvable({kNoZone})}};
  EXPECT_EQ(fixture.filter(*plugin, pod(pvc("a") + ", " + pvc("b"))), expected);
  EXPECT_EQ(fixture.filter_one_by_one(*plugin, pod(pvc("a") + ", " + pvc("b"))), expected);
}

TEST_F(VolumeZoneTest, ClaimsThatCannotBeJudgedRejectThePod) {
  put(claim("bare", ""));
  put(claim("orphan", "storageClassName: gone"));
  put(claim("later", "storageClassName: waits"));
  put(claim("now", "storageClassName: immediate"));
  put(claim("odd", "storageClassName: modeless"));
  put(claim("lost", "volumeName: gone"));
  put(claim("bound", "volumeName: pv"));
  put(volume("pv", ""));
  put(storage_class("waits", "WaitForFirstConsumer"));
  put(storage_class("immediate", "Immediate"));
  put(storage_class("modeless", ""));
  const std::pair<std::string, std::string> table[] = {
      {"", ""},
      {"{name: v, emptyDir: {}}", ""},
      {"{name: v, ephemeral: {}}", ""},
      {pvc("bound"), ""},
      {pvc("later"), ""},
      {pvc(""), "PersistentVolumeClaim had no name"},
      {pvc("gone"), "persistentvolumeclaim \"gone\" not found"},
      {pvc("bare"), "PersistentVolumeClaim had no pv name and storageClass name"},
      {pvc("orphan"), "storageclass.storage.k8s.io \"gone\" not found"},
      {pvc("odd"), "VolumeBindingMode not set for StorageClass \"modeless\""},
      {pvc("now"), "PersistentVolume had no name"},
      {pvc("lost"), "persistentvolume \"gone\" not found"},
      {pvc("later") + ", " + pvc("lost") + ", " + pvc("bare"),
       "persistentvolume \"gone\" not found"},
  };
  fixture.add_node(world.node("n").zone("a"));
  for (const auto& [volumes, text] : table) {
    CycleAtFilter at(pod(volumes), fixture.cluster);
    const Outcome outcome = plugin->pre_filter(at.cycle).outcome;
    EXPECT_EQ(outcome.code, text.empty() ? Code::kSkip : Code::kUnschedulableAndUnresolvable);
    EXPECT_EQ(outcome.message(), text) << volumes;

    // Filter without PreFilter says the same.
    at.filter(*plugin);
    const Verdict verdict = at.verdict(*plugin, 0);
    EXPECT_EQ(verdict.code == Code::kSuccess, text.empty()) << volumes;
    if (!text.empty()) {
      EXPECT_EQ(verdict.reasons.at(0), text);
    }
  }
}

TEST_F(VolumeZoneTest, RegistersForWhatMattersToIt) {
  using enum EventResource;
  constexpr std::uint32_t kAddOrUpdate = action::kAdd | action::kUpdate;
  EXPECT_EQ(registered_events(*plugin),
            (RegisteredEvents{{kStorageClass, 1},
                              {kNode, action::kAdd | action::kUpdateNodeLabel},
                              {kPersistentVolumeClaim, kAddOrUpdate},
                              {kPersistentVolume, kAddOrUpdate}}));
}

TEST_F(VolumeZoneTest, ChangesThatMayHelpWakeThePod) {
  constexpr std::uint32_t kAddOrUpdate = action::kAdd | action::kUpdate;
  const auto asked = pod(pvc("data"));
  const auto hint = [&](EventResource resource, std::uint32_t actions, const AnyObject& before,
                        const AnyObject& after) {
    return fixture.hint(*plugin, {resource, actions, {}}, asked, before, after) ==
           QueueingHint::kQueue;
  };
  const auto on_class = [&](const std::string& mode) {
    return hint(EventResource::kStorageClass, action::kAdd, {}, storage_class("c", mode));
  };
  EXPECT_TRUE(on_class("WaitForFirstConsumer"));
  EXPECT_FALSE(on_class("Immediate"));
  EXPECT_FALSE(on_class(""));

  const auto on_claim = [&](const AnyObject& before, const AnyObject& after) {
    return hint(EventResource::kPersistentVolumeClaim, kAddOrUpdate, before, after);
  };
  EXPECT_TRUE(on_claim({}, claim("data", "")));
  EXPECT_TRUE(on_claim(claim("data", ""), claim("data", "")));
  EXPECT_FALSE(on_claim({}, claim("other", "")));
  EXPECT_FALSE(on_claim({}, claim("data", "", "elsewhere")));

  const auto on_volume = [&](const AnyObject& before, const AnyObject& after) {
    return hint(EventResource::kPersistentVolume, kAddOrUpdate, before, after);
  };
  EXPECT_TRUE(on_volume({}, volume("pv", "")));
  EXPECT_FALSE(on_volume(volume("pv", kZone + ": a__b"), volume("pv", kZone + ": b__a, x: z")));
  EXPECT_FALSE(on_volume(volume("pv", ""), volume("pv", kZone + ": ''")));
  EXPECT_TRUE(on_volume(volume("pv", kZone + ": a"), volume("pv", kZone + ": b")));
  EXPECT_TRUE(on_volume(volume("pv", kZone + ": a"), volume("pv", "")));
  EXPECT_TRUE(on_volume(volume("pv", kZone + ": a"), volume("pv", kBetaZone + ": a")));
}

TEST_F(VolumeZoneTest, SaysWhichVolumeIsInAnotherZone) {
  fixture.add_node(world.node("here").label(kZone, "a"));
  fixture.add_node(world.node("there").label(kZone, "b"));
  fixture.add_node(world.node("nowhere").label(kRegion, "r"));
  put(claim("c", "volumeName: pv"));
  put(volume("pv", kZone + ": a"));
  const std::string text = "VolumeZoneConflict default/c: volume pv of claim default/c is in " +
                           kZone +
                           " [a], the node "
                           "has ";
  EXPECT_EQ(
      fixture.obstacle_texts(*plugin, pod(pvc("c"))),
      (ObstacleTexts{{"there", {text + kZone + "=b"}}, {"nowhere", {text + "no label " + kZone}}}));
}

TEST_F(VolumeZoneTest, SaysWhatIsWrongWithAClaim) {
  put(claim("unbound", ""));
  put(claim("immediate", "storageClassName: now"));
  put(claim("classless", "storageClassName: gone"));
  put(claim("modeless", "storageClassName: odd"));
  put(claim("lost", "volumeName: gone"));
  put(storage_class("now", "Immediate"));
  put(storage_class("odd", ""));
  const std::vector<std::array<std::string, 2>> table = {
      {"missing", "ClaimNotFound default/missing: claim default/missing does not exist"},
      {"unbound",
       "ClaimUnbound default/unbound: claim default/unbound is not bound, and has no storage "
       "class"},
      {"immediate",
       "ClaimUnbound default/immediate: claim default/immediate is not bound, which is to happen "
       "before scheduling"},
      {"classless",
       "StorageClassNotFound default/classless: claim default/classless has storage class gone, "
       "which does not exist"},
      {"modeless",
       "BindingModeNotSet default/modeless: claim default/modeless has storage class odd without a "
       "binding mode"},
      {"lost",
       "VolumeNotFound default/lost: claim default/lost is bound to volume gone, which does not "
       "exist"},
  };
  for (const auto& [name, text] : table)
    EXPECT_EQ(fixture.obstacle_texts(*plugin, pod(pvc(name))), (ObstacleTexts{{"", {text}}}));
  EXPECT_EQ(fixture.obstacle_texts(*plugin, pod(pvc(""))),
            (ObstacleTexts{{"", {"ClaimNameMissing v: volume v of the pod names no claim"}}}));
}

}  // namespace
}  // namespace berth::plugins
