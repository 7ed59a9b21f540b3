#include "kube/watched_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "berth/interner.h"
#include "config/load.h"

namespace berth::kube {
namespace {

struct Watched {
  Interner interner;
  config::FeatureGates gates;

  std::vector<WatchedKind> of(std::string_view profiles) {
    const std::string text = std::string(
                                 "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                 "kind: KubeSchedulerConfiguration\n") +
                             std::string(profiles);
    Result<config::Configuration> configuration =
        config::parse_configuration(text, gates, interner);
    EXPECT_TRUE(configuration) << configuration.error().message;
    return configuration ? watched_kinds(*configuration, gates) : std::vector<WatchedKind>();
  }
  std::vector<std::string> paths(std::string_view profiles) {
    std::vector<std::string> out;
    for (const WatchedKind& kind : of(profiles)) out.push_back(kind.path());
    return out;
  }
};

TEST(WatchedKinds, NineteenByDefault) {
  Watched watched;
  EXPECT_THAT(
      watched.paths(""),
      ElementsAre(
          "/api/v1/pods", "/api/v1/nodes", "/api/v1/namespaces", "/api/v1/services",
          "/api/v1/replicationcontrollers", "/apis/apps/v1/replicasets",
          "/apis/apps/v1/statefulsets", "/apis/policy/v1/poddisruptionbudgets",
          "/api/v1/persistentvolumes", "/api/v1/persistentvolumeclaims",
          "/apis/storage.k8s.io/v1/storageclasses", "/apis/storage.k8s.io/v1/csinodes",
          "/apis/storage.k8s.io/v1/csidrivers", "/apis/storage.k8s.io/v1/csistoragecapacities",
          "/apis/storage.k8s.io/v1/volumeattachments", "/apis/resource.k8s.io/v1/resourceclaims",
          "/apis/resource.k8s.io/v1/resourceslices", "/apis/resource.k8s.io/v1/deviceclasses",
          "/apis/resource.k8s.io/v1/devicetaintrules"));
}

TEST(WatchedKinds, FinishedPodsAreNotAskedFor) {
  Watched watched;
  const std::vector<WatchedKind> kinds = watched.of("");
  EXPECT_EQ(kinds.at(0).field_selector, "status.phase!=Succeeded,status.phase!=Failed");
  EXPECT_EQ(kinds.at(1).field_selector, "");
}

TEST(WatchedKinds, TheOneOfAProfileWithFewPluginsAreFew) {
  Watched watched;
  constexpr std::string_view kFew = R"(
profiles:
- plugins:
    multiPoint:
      enabled: [{name: PrioritySort}, {name: NodeName}, {name: DefaultBinder}]
      disabled: [{name: '*'}]
)";
  EXPECT_THAT(watched.paths(kFew), ElementsAre("/api/v1/pods", "/api/v1/nodes"));
}

TEST(WatchedKinds, APluginOfAnyProfileAtAnyPointCounts) {
  Watched watched;
  constexpr std::string_view kTwo = R"(
profiles:
- schedulerName: plain
  plugins:
    multiPoint:
      enabled: [{name: PrioritySort}, {name: DefaultBinder}]
      disabled: [{name: '*'}]
- schedulerName: near
  plugins:
    multiPoint:
      enabled: [{name: PrioritySort}, {name: DefaultBinder}]
      disabled: [{name: '*'}]
    filter:
      enabled: [{name: InterPodAffinity}, {name: VolumeRestrictions}]
)";
  const std::vector<WatchedKind> kinds = watched.of(kTwo);
  ASSERT_EQ(kinds.size(), 4U);
  EXPECT_EQ(kinds[2].kind, ObjectKind::kNamespace);
  EXPECT_THAT(kinds[2].consumers, ElementsAre("InterPodAffinity"));
  EXPECT_EQ(kinds[3].kind, ObjectKind::kPersistentVolumeClaim);
}

TEST(WatchedKinds, SpreadingWithoutDefaultConstraintsNeedsNoControllers) {
  Watched watched;
  constexpr std::string_view kNone = R"(
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List}
)";
  EXPECT_THAT(watched.paths(kNone), Not(Contains("/api/v1/services")));
  constexpr std::string_view kOne = R"(
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
)";
  EXPECT_THAT(watched.paths(kOne), Contains("/apis/apps/v1/replicasets"));
}

TEST(WatchedKinds, GatesAddAndRemoveKinds) {
  Watched earlier;
  earlier.gates.emulate({"1.36", 36}, {"1.35", 35});  // today the gate is locked
  const std::size_t all = earlier.paths("").size();
  ASSERT_TRUE(earlier.gates.set("DRAExtendedResource=false"));
  EXPECT_EQ(earlier.paths("").size(), all);  // DynamicResources still reads classes
  Watched watched;
  const std::size_t by_default = watched.paths("").size();
  ASSERT_TRUE(watched.gates.set("DRADeviceTaintRules=false"));
  EXPECT_THAT(watched.paths(""), Not(Contains("/apis/resource.k8s.io/v1/devicetaintrules")));
  ASSERT_TRUE(watched.gates.set("DRADeviceTaintRules=true"));
  EXPECT_THAT(watched.paths(""), Not(Contains("/apis/scheduling.k8s.io/v1beta1/podgroups")));
  // Features that are not built read nothing: nobody waits for an API that may not be served.
  ASSERT_TRUE(watched.gates.set("AllAlpha=true,AllBeta=true"));
  EXPECT_THAT(watched.paths(""), Contains("/apis/scheduling.k8s.io/v1beta1/podgroups"));
  EXPECT_THAT(watched.paths(""), ::testing::SizeIs(by_default + 1));
}

TEST(WatchedKinds, NamesAsOthersSayThem) {
  const WatchedKind pods{ObjectKind::kPod, "v1", "Pod", "pods", "", {}};
  EXPECT_EQ(pods.full_resource(), "pods");
  EXPECT_EQ(pods.type_name(), "*v1.Pod");
  const WatchedKind sets{ObjectKind::kReplicaSet, "apps/v1", "ReplicaSet", "replicasets", "", {}};
  EXPECT_EQ(sets.full_resource(), "replicasets.apps");
  EXPECT_EQ(sets.type_name(), "*v1.ReplicaSet");
}

TEST(WatchedKinds, ACustomResourceIsNamedByItsRegistration) {
  const WatchedKind cranes = other_kind("cranes.v1beta1.heavy.example.com", {"Harbour", "Lift"});
  EXPECT_EQ(cranes.kind, ObjectKind::kOther);
  EXPECT_EQ(cranes.path(), "/apis/heavy.example.com/v1beta1/cranes");
  EXPECT_EQ(cranes.full_resource(), "cranes.heavy.example.com");
  EXPECT_EQ(cranes.other_resource(), "cranes.v1beta1.heavy.example.com");
  EXPECT_EQ(cranes.type_name(), "*unstructured.Unstructured");
  EXPECT_THAT(cranes.consumers, ElementsAre("Harbour", "Lift"));
  EXPECT_TRUE(cranes.custom);
  const WatchedKind groups = other_kind("podgroups.v1alpha1.scheduling.x-k8s.io", {"Coscheduling"});
  EXPECT_EQ(groups.kind, ObjectKind::kCoschedulingPodGroup);
  EXPECT_EQ(groups.kind_name, "PodGroup");
  EXPECT_EQ(groups.path(), "/apis/scheduling.x-k8s.io/v1alpha1/podgroups");
}

}  // namespace
}  // namespace berth::kube
