#include <gtest/gtest.h>

#include <functional>

#include "base/testing/names.h"
#include "cluster/trial.h"
#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/testing/manifest_objects.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

// A node with 10m cpu, 20 bytes of memory and of storage, 5 of example.com/aaa, 5 bytes of huge
// pages and room for 32 pods; `used` is what is requested on it already.
Verdict verdict(const Amounts& used, const std::function<void(PodBuilder&)>& fill,
                const config::NodeResourcesFitArgs& args = {}) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").allocatable({{"cpu", "10m"},
                                                        {"memory", "20"},
                                                        {"pods", "32"},
                                                        {"example.com/aaa", "5"},
                                                        {"ephemeral-storage", "20"},
                                                        {"hugepages-2Mi", "5"}}));
  fixture.add_pod(fixture.world.pod("there").container(used).on("n"));
  PodBuilder pod = fixture.world.pod("p");
  fill(pod);
  const auto plugin = fixture.make<NodeResourcesFit>(args);
  const Verdict alone = fixture.filter_one_by_one(*plugin, pod)["n"];
  EXPECT_EQ(fixture.filter(*plugin, pod)["n"], alone);
  return alone;
}

std::function<void(PodBuilder&)> asking(Amounts amounts) {
  return [amounts = std::move(amounts)](PodBuilder& pod) { pod.container(amounts); };
}

// What a pod that asks for too much of these is told.
std::vector<std::string> lacking(const std::vector<std::string>& resources) {
  std::vector<std::string> reasons;
  for (const std::string& resource : resources) reasons.push_back("Insufficient " + resource);
  return reasons;
}

struct FitRow {
  const char* why;
  Amounts used;
  std::function<void(PodBuilder&)> pod;
  Verdict expected;
};

void check(const std::vector<FitRow>& table, const config::NodeResourcesFitArgs& args = {}) {
  for (const FitRow& row : table)
    EXPECT_EQ(verdict(row.used, row.pod, args), row.expected) << row.why;
}

TEST(NodeResourcesFitFilter, ComparesWhatIsAskedForWithWhatIsLeft) {
  const Amounts full = {{"cpu", "10m"}, {"memory", "20"}};
  check({
      {"nothing asked, nothing left", full, asking({}), {}},
      {"both short", full, asking({{"cpu", "1m"}, {"memory", "1"}}),
       unschedulable(lacking({"cpu", "memory"}))},
      {"equality fits",
       {{"cpu", "5m"}, {"memory", "19"}},
       asking({{"cpu", "5m"}, {"memory", "1"}}),
       {}},
      {"cpu short", {{"cpu", "9m"}}, asking({{"cpu", "2m"}}), unschedulable(lacking({"cpu"}))},
      {"memory short",
       {{"memory", "19"}},
       asking({{"memory", "2"}}),
       unschedulable(lacking({"memory"}))},
      {"more than the node has", {}, asking({{"cpu", "11m"}}), unresolvable(lacking({"cpu"}))},
      {"one hopeless reason makes all of it hopeless",
       {{"memory", "20"}},
       asking({{"cpu", "11m"}, {"memory", "1"}}),
       unresolvable(lacking({"cpu", "memory"}))},
      {"storage short",
       {{"ephemeral-storage", "10"}},
       asking({{"ephemeral-storage", "11"}}),
       unschedulable(lacking({"ephemeral-storage"}))},
      {"storage beyond the node",
       {},
       asking({{"ephemeral-storage", "25"}}),
       unresolvable(lacking({"ephemeral-storage"}))},
      {"all three, in order",
       {},
       asking({{"ephemeral-storage", "21"}, {"memory", "21"}, {"cpu", "1"}}),
       unresolvable(lacking({"cpu", "memory", "ephemeral-storage"}))},
      {"over-committed, but not asked for",
       {{"cpu", "30m"}, {"memory", "5"}},
       asking({{"memory", "1"}}),
       {}},
      {"a negative request is none", full, asking({{"cpu", "-1m"}}), {}},
  });
}

TEST(NodeResourcesFitFilter, ChecksScalarResources) {
  check({
      {"fits", {}, asking({{"example.com/aaa", "5"}}), {}},
      {"beyond the node",
       {{"example.com/aaa", "0"}},
       asking({{"example.com/aaa", "10"}}),
       unresolvable(lacking({"example.com/aaa"}))},
      {"taken",
       {{"example.com/aaa", "5"}},
       asking({{"example.com/aaa", "1"}}),
       unschedulable(lacking({"example.com/aaa"}))},
      {"the node does not know it",
       {},
       asking({{"example.com/bbb", "1"}}),
       unresolvable(lacking({"example.com/bbb"}))},
      {"kubernetes.io names count",
       {},
       asking({{"kubernetes.io/something", "1"}}),
       unresolvable(lacking({"kubernetes.io/something"}))},
      {"huge pages",
       {{"hugepages-2Mi", "3"}},
       asking({{"hugepages-2Mi", "3"}}),
       unschedulable(lacking({"hugepages-2Mi"}))},
      {"zero is not checked, even when over-committed",
       {{"example.com/aaa", "6"}},
       asking({{"example.com/aaa", "0"}}),
       {}},
      {"several, by name, after the native ones",
       {{"cpu", "10m"}},
       asking({{"example.com/zzz", "1"}, {"cpu", "1m"}, {"example.com/bbb", "1"}}),
       unresolvable(lacking({"cpu", "example.com/bbb", "example.com/zzz"}))},
      {"a name that is no resource of nodes", {}, asking({{"pickles", "1"}}), {}},
  });
}

TEST(NodeResourcesFitFilter, LeavesOutIgnoredExtendedResources) {
  config::NodeResourcesFitArgs by_name;
  by_name.ignored_resources = {"example.com/bbb", "hugepages-2Mi", "kubernetes.io/something"};
  check(
      {
          {"ignored", {}, asking({{"example.com/bbb", "1"}}), {}},
          {"another of the group",
           {},
           asking({{"example.com/ccc", "1"}}),
           unresolvable(lacking({"example.com/ccc"}))},
          {"huge pages cannot be ignored",
           {},
           asking({{"hugepages-2Mi", "6"}}),
           unresolvable(lacking({"hugepages-2Mi"}))},
          {"nor kubernetes.io names",
           {},
           asking({{"kubernetes.io/something", "1"}}),
           unresolvable(lacking({"kubernetes.io/something"}))},
      },
      by_name);
  config::NodeResourcesFitArgs by_group;
  by_group.ignored_resource_groups = {"example.com"};
  check(
      {
          {"ignored", {}, asking({{"example.com/bbb", "1"}}), {}},
          {"the others are not",
           {},
           asking({{"example.com/bbb", "1"}, {"kubernetes.io/something", "1"}}),
           unresolvable(lacking({"kubernetes.io/something"}))},
          {"nor a group that begins alike",
           {},
           asking({{"example.com.evil/bbb", "1"}}),
           unresolvable(lacking({"example.com.evil/bbb"}))},
      },
      by_group);
}

TEST(NodeResourcesFitFilter, AddsUpThePodsParts) {
  check({
      {"init containers count by their maximum",
       {{"cpu", "8m"}, {"memory", "19"}},
       [](PodBuilder& p) {
         p.container({{"cpu", "1m"}, {"memory", "1"}})
             .init_container({{"cpu", "3m"}, {"memory", "1"}});
       },
       unschedulable(lacking({"cpu"}))},
      {"and do not add up",
       {{"cpu", "7m"}},
       [](PodBuilder& p) {
         p.container({{"cpu", "1m"}})
             .init_container({{"cpu", "3m"}})
             .init_container({{"cpu", "2m"}});
       },
       {}},
      {"sidecars do",
       {{"cpu", "7m"}},
       [](PodBuilder& p) { p.container({{"cpu", "2m"}}).sidecar({{"cpu", "2m"}}); },
       unschedulable(lacking({"cpu"}))},
      {"overhead",
       {{"cpu", "5m"}, {"memory", "5"}},
       [](PodBuilder& p) {
         p.container({{"cpu", "1m"}, {"memory", "1"}}).overhead({{"cpu", "1m"}, {"memory", "15"}});
       },
       unschedulable(lacking({"memory"}))},
      {"overhead that fits",
       {{"cpu", "5m"}, {"memory", "5"}},
       [](PodBuilder& p) {
         p.container({{"cpu", "1m"}, {"memory", "1"}}).overhead({{"cpu", "3m"}, {"memory", "3"}});
       },
       {}},
      {"pod-level requests replace the containers'",
       {{"cpu", "5m"}, {"memory", "5"}},
       [](PodBuilder& p) {
         p.container({{"cpu", "1m"}}).pod_level({{"cpu", "7m"}, {"memory", "2"}});
       },
       unschedulable(lacking({"cpu"}))},
      {"pod-level huge pages",
       {},
       [](PodBuilder& p) { p.pod_level({{"hugepages-2Mi", "10"}}); },
       unresolvable(lacking({"hugepages-2Mi"}))},
  });
}

TEST(NodeResourcesFitFilter, WithTheGateOffPodLevelRequestsDoNotCount) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("1"));
  const Ref<const Pod> pod = fixture.world.pod("p").cpu("500m").pod_level({{"cpu", "2"}});
  EXPECT_EQ(fixture.filter(*fixture.make<NodeResourcesFit>(), pod)["n"],
            unresolvable(lacking({"cpu"})));
  ASSERT_TRUE(fixture.gates.set("PodLevelResources=false").has_value());
  EXPECT_EQ(fixture.filter(*fixture.make<NodeResourcesFit>(), pod)["n"], Verdict{});
}

TEST(NodeResourcesFitFilter, AFullNodeTakesNothing) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("full").allocatable({{"pods", "1"}}));
  fixture.add_node(fixture.world.node("closed").allocatable({{"pods", "0"}}));
  fixture.add_node(fixture.world.node("small").allocatable({{"pods", "1"}, {"cpu", "1"}}));
  fixture.add_pod(fixture.world.pod("a").on("full"));
  fixture.add_pod(fixture.world.pod("b").on("small").cpu("1"));
  const auto plugin = fixture.make<NodeResourcesFit>();
  const auto nothing = fixture.filter(*plugin, fixture.world.pod("p"));
  EXPECT_EQ(nothing.at("full"), unschedulable({"Too many pods"}));
  // Never hopeless by itself, not even where no pod is allowed.
  EXPECT_EQ(nothing.at("closed"), unschedulable({"Too many pods"}));
  EXPECT_EQ(fixture.filter(*plugin, fixture.world.pod("p").cpu("1"))["small"],
            unschedulable({"Too many pods", "Insufficient cpu"}));
  EXPECT_EQ(fixture.filter(*plugin, fixture.world.pod("p").cpu("2"))["small"],
            unresolvable({"Too many pods", "Insufficient cpu"}));
}

TEST(NodeResourcesFitFilter, JudgesEveryRowOfALargeTable) {
  PluginFixture fixture;
  for (int i = 0; i < 200; ++i)
    fixture.add_node(fixture.world.node("n" + std::to_string(i)).cpu(std::to_string(1 + i % 3)));
  const auto plugin = fixture.make<NodeResourcesFit>();
  const Ref<const Pod> pod = fixture.world.pod("p").cpu("2");
  const auto verdicts = fixture.filter(*plugin, pod);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(verdicts.at("n" + std::to_string(i)),
              i % 3 == 0 ? unresolvable(lacking({"cpu"})) : Verdict{})
        << i;
  EXPECT_EQ(fixture.filter_one_by_one(*plugin, pod), verdicts);
}

TEST(NodeResourcesFitFilter, NodesThatFailAlikeShareOneListOfReasons) {
  PluginFixture fixture;
  for (int i = 0; i < 100; ++i)
    fixture.add_node(fixture.world.node("n" + std::to_string(i)).cpu("1").memory("1Gi"));
  const auto plugin = fixture.make<NodeResourcesFit>();
  CycleAtFilter at(fixture.world.pod("p").cpu("2").memory("2Gi"), fixture.cluster);
  ASSERT_TRUE(plugin->pre_filter(at.cycle).outcome.ok());
  at.filter(*plugin);
  EXPECT_TRUE(at.feasible.empty());
  EXPECT_EQ(at.scratch.listed_reasons.size(), 1u);
}

TEST(NodeResourcesFitFilter, SeesPodsOfATrial) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n").cpu("2"));
  const auto plugin = fixture.make<NodeResourcesFit>();
  const Ref<const Pod> pod = fixture.world.pod("p").cpu("2");
  const NodeRow row = fixture.cluster.nodes().find(fixture.world.symbol("n"));
  {
    Trial trial(fixture.cluster);
    trial.add(fixture.world.pod("guest").cpu("1"), row);
    EXPECT_EQ(fixture.filter(*plugin, pod)["n"], unschedulable(lacking({"cpu"})));
  }
  EXPECT_EQ(fixture.filter(*plugin, pod)["n"], Verdict{});
}

TEST(NodeResourcesFitFilter, WithoutPreFilterItIsAnError) {
  PluginFixture fixture;
  fixture.add_node(fixture.world.node("n"));
  const auto plugin = fixture.make<NodeResourcesFit>();
  CycleAtFilter at(fixture.world.pod("p"), fixture.cluster);
  at.filter(*plugin);
  EXPECT_EQ(at.verdict(*plugin, fixture.cluster.nodes().find(fixture.world.symbol("n"))),
            (Verdict{Code::kError,
                     {"error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"}}));
}

TEST(NodeResourcesFit, ChecksItsArgumentsWhenItIsMade) {
  PluginFixture fixture;
  const auto complaint = [&](const config::NodeResourcesFitArgs& args) {
    const auto made = NodeResourcesFit::create(args, fixture.handle());
    return made ? "" : made.error().message;
  };
  config::NodeResourcesFitArgs args;
  EXPECT_EQ(complaint(args), "");
  args.resources = {{"cpu", 101}};
  EXPECT_EQ(
      complaint(args),
      "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in "
      "valid range (0, 100]");
  args.ignored_resource_groups = {"example.com/foo"};
  EXPECT_EQ(complaint(args),
            "[ignoredResourceGroups[0]: Invalid value: \"example.com/foo\": resource group name "
            "can't contain '/', scoringStrategy.resources[0].weight: Invalid value: 101: resource "
            "weight of cpu not in valid range (0, 100]]");
  args = {};
  args.strategy = config::ScoringStrategyType::kRequestedToCapacityRatio;
  EXPECT_NE(complaint(args), "");  // without a shape there is nothing to score by
}

TEST(NodeResourcesFit, SignsWhatThePodAsksFor) {
  PluginFixture fixture;
  testing::World& world = fixture.world;
  const auto plugin = fixture.make<NodeResourcesFit>();
  const auto signature = [&](const Ref<const Pod>& pod) {
    return berth::testing::signature(*plugin, pod, {"v1.Pod.Spec.ContainerRequestsAndOverheads()"});
  };
  EXPECT_EQ(signature(world.pod("a").cpu("1").request("x.com/b", "1").request("x.com/a", "2")),
            signature(world.pod("b").request("x.com/a", "2").request("x.com/b", "1").cpu("1000m")));
  EXPECT_NE(signature(world.pod("a").cpu("1")), signature(world.pod("a").cpu("2")));
  EXPECT_NE(signature(world.pod("a").cpu("1")), signature(world.pod("a").memory("1")));
  EXPECT_NE(signature(world.pod("a").cpu("1")),
            signature(world.pod("a").cpu("1").overhead({{"cpu", "1m"}})));
  EXPECT_NE(signature(world.pod("a").request("x.com/a", "1")),
            signature(world.pod("a").request("x.com/b", "1")));
}

// ---- resources that are devices

constexpr const char* kGpuClass =
    "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpus}, spec: "
    "{extendedResourceName: example.com/gpu}}";

TEST(NodeResourcesFitFilter, WhatANodeHasNoneOfMayBeDevices) {
  const auto judged = [](const Amounts& requests, const char* gate = "DRAExtendedResource=true") {
    PluginFixture fixture;
    fixture.gates.emulate({"1.36", 36}, {"1.35", 35});  // today it is locked
    EXPECT_TRUE(fixture.gates.set(gate).has_value());
    testing::put(fixture, kGpuClass);
    fixture.add_node(fixture.world.node("has").allocatable({{"example.com/gpu", "2"}}));
    fixture.add_node(fixture.world.node("none"));
    fixture.add_node(fixture.world.node("zero").allocatable({{"example.com/gpu", "0"}}));
    const auto plugin = fixture.make<NodeResourcesFit>();
    const Ref<const Pod> pod = fixture.world.pod("p").container(requests);
    auto verdicts = fixture.filter(*plugin, pod);
    EXPECT_EQ(verdicts, fixture.filter_one_by_one(*plugin, pod));
    return verdicts;
  };
  const Verdict none = unresolvable(lacking({"example.com/gpu"}));
  EXPECT_EQ(judged({{"example.com/gpu", "1"}}),
            (Verdicts{{"has", {}}, {"none", {}}, {"zero", {}}}));
  EXPECT_EQ(judged({{"example.com/gpu", "3"}}),
            (Verdicts{{"has", none}, {"none", {}}, {"zero", {}}}))
      << "a device plugin's node is held to what it has";
  EXPECT_EQ(judged({{"example.com/gpu", "1"}}, "DRAExtendedResource=false"),
            (Verdicts{{"has", {}}, {"none", none}, {"zero", none}}));
  const Verdict other = unresolvable(lacking({"example.com/other"}));
  EXPECT_EQ(judged({{"example.com/gpu", "1"}, {"example.com/other", "1"}}),
            (Verdicts{{"has", other}, {"none", other}, {"zero", other}}));
  const std::string implicit = "deviceclass.resource.kubernetes.io/gpus";
  EXPECT_EQ(judged({{implicit, "1"}}), (Verdicts{{"has", {}}, {"none", {}}, {"zero", {}}}));
}

TEST(NodeResourcesFitSign, PodsThatAskForDevicesAreNotSigned) {
  PluginFixture fixture;
  testing::put(fixture, kGpuClass);
  const auto signed_by = [](const auto& plugin, const Ref<const Pod>& pod) {
    std::vector<SignatureFragment> fragments;
    const Outcome outcome = plugin->sign(*pod, fragments);
    EXPECT_EQ(fragments.size(), outcome.ok() ? 1U : 0U);
    return outcome.message();
  };
  const std::string refused =
      "signature disabled when dra extended resources are used in the cluster";
  const auto fit = fixture.make<NodeResourcesFit>();
  const auto balanced = fixture.make<NodeResourcesBalancedAllocation>();
  const Ref<const Pod> asking_for_some = fixture.world.pod("p").request("example.com/gpu", "1");
  const Ref<const Pod> asking_for_none = fixture.world.pod("p").request("example.com/gpu", "0");
  EXPECT_EQ(signed_by(fit, asking_for_some), refused);
  EXPECT_EQ(signed_by(balanced, asking_for_some), refused);
  EXPECT_EQ(signed_by(fit, asking_for_none), "");
  fixture.gates.emulate({"1.36", 36}, {"1.35", 35});  // today it is locked
  ASSERT_TRUE(fixture.gates.set("DRAExtendedResource=false").has_value());
  EXPECT_EQ(signed_by(fixture.make<NodeResourcesFit>(), asking_for_some), "");
}

TEST(NodeResourcesFitFilter, NamesThatNobodyOffersAreOneListOfReasonsForAllNodes) {
  PluginFixture fixture;
  for (int i = 0; i < 200; ++i)
    fixture.add_node(fixture.world.node("n" + std::to_string(i)).cpu(i % 2 == 0 ? "1" : "8"));
  PodBuilder pod = fixture.world.pod("p");
  pod.cpu("2");
  std::vector<std::string> reasons;
  for (int i = 100; i < 600; ++i) {
    const std::string name = "example.com/r" + std::to_string(i);
    pod.request(name, "1");
    reasons.push_back("Insufficient " + name);
  }
  const Ref<const Pod> asked = pod;
  const auto plugin = fixture.make<NodeResourcesFit>();
  CycleAtFilter at(asked, fixture.cluster);
  ASSERT_TRUE(plugin->pre_filter(at.cycle).outcome.ok());
  at.filter(*plugin);
  EXPECT_TRUE(at.feasible.empty());
  EXPECT_EQ(at.scratch.listed_reasons.size(), 2U) << "with too little cpu, and with enough";
  std::vector<std::string> with_cpu = reasons;
  with_cpu.insert(with_cpu.begin(), "Insufficient cpu");
  const auto verdicts = fixture.filter(*plugin, asked);
  EXPECT_EQ(verdicts.at("n1"), unresolvable(reasons));
  EXPECT_EQ(verdicts.at("n2"), unresolvable(with_cpu));
}

TEST(NodeResourcesFitFilter, AResourceOfFewNodesIsComparedThere) {
  PluginFixture fixture;
  for (int i = 0; i < 300; ++i) fixture.add_node(fixture.world.node("n" + std::to_string(i)));
  fixture.add_node(
      fixture.world.node("has").allocatable({{"example.com/gpu", "2"}, {"pods", "9"}}));
  fixture.add_node(
      fixture.world.node("full").allocatable({{"example.com/gpu", "2"}, {"pods", "9"}}));
  fixture.add_pod(fixture.world.pod("there").request("example.com/gpu", "2").on("full"));
  fixture.add_pod(fixture.world.pod("odd").request("example.com/gpu", "1").on("n7"));
  const auto plugin = fixture.make<NodeResourcesFit>();
  const Ref<const Pod> asked = fixture.world.pod("p").request("example.com/gpu", "1");
  ASSERT_FALSE(fixture.cluster.nodes().scalar(fixture.world.symbol("example.com/gpu")).is_dense);
  for (const auto& verdicts :
       {fixture.filter(*plugin, asked), fixture.filter_one_by_one(*plugin, asked)}) {
    EXPECT_EQ(verdicts.at("has"), Verdict{});
    EXPECT_EQ(verdicts.at("full"), unschedulable(lacking({"example.com/gpu"})));
    EXPECT_EQ(verdicts.at("n7"), unresolvable(lacking({"example.com/gpu"})));
    EXPECT_EQ(verdicts.at("n8"), unresolvable(lacking({"example.com/gpu"})));
  }
}

}  // namespace
}  // namespace berth::plugins
