#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/testing/manifest_objects.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

class NodeAffinityObstaclesTest : public ::testing::Test {
 protected:
  NodeAffinityObstaclesTest() {
    fixture.add_node(world.node("n1").label("disk", "hdd").label("cores", "4").zone("a"));
    fixture.add_node(world.node("n2").label("disk", "ssd"));
  }

  // The pod's spec as YAML.
  Ref<const Pod> pod(const std::string& spec) {
    return testing::pod_of(
        world,
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: " + spec + "}");
  }
  // With one or more terms, as YAML.
  Ref<const Pod> requiring(const std::string& terms) {
    return pod(
        "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "{nodeSelectorTerms: [" +
        terms + "]}}}}");
  }
  Texts on_n1(const Ref<const Pod>& asked) {
    return fixture.obstacle_texts(*fixture.make<NodeAffinity>(), asked)["n1"];
  }

  PluginFixture fixture;
  testing::World& world = fixture.world;
};

TEST_F(NodeAffinityObstaclesTest, NamesEachKeyOfTheNodeSelector) {
  EXPECT_EQ(on_n1(pod("{nodeSelector: {disk: ssd, gpu: 'yes', cores: '4'}}")),
            (Texts{"NodeSelectorMismatch disk=ssd: needs label disk=ssd (nodeSelector), the node "
                   "has disk=hdd",
                   "NodeSelectorMismatch gpu=yes: needs label gpu=yes (nodeSelector), the node has "
                   "no label gpu"}));
}

TEST_F(NodeAffinityObstaclesTest, SaysWhichRequirementOfWhichTermDoesNotMatch) {
  struct Row {
    const char* why;
    const char* terms;
    const char* said;
  };
  const Row table[] = {
      {"In", "{matchExpressions: [{key: disk, operator: In, values: [ssd, nvme]}]}",
       "disk in [nvme, ssd]: needs label disk in [nvme, ssd], the node has disk=hdd"},
      {"In, many values",
       "{matchExpressions: [{key: disk, operator: In, values: [a, b, c, d, e, f, g]}]}",
       "disk in [a, b, c, d, e, and 2 more]: needs label disk in [a, b, c, d, e, and 2 more], the "
       "node has disk=hdd"},
      {"NotIn", "{matchExpressions: [{key: disk, operator: NotIn, values: [hdd]}]}",
       "disk not in [hdd]: needs label disk not in [hdd], the node has disk=hdd"},
      {"Exists", "{matchExpressions: [{key: gpu, operator: Exists}]}",
       "gpu: needs label gpu, the node has no label gpu"},
      {"DoesNotExist", "{matchExpressions: [{key: disk, operator: DoesNotExist}]}",
       "no disk: must not have label disk, the node has disk=hdd"},
      {"Gt", "{matchExpressions: [{key: cores, operator: Gt, values: ['8']}]}",
       "cores > 8: needs label cores > 8, the node has cores=4"},
      {"Lt", "{matchExpressions: [{key: cores, operator: Lt, values: ['2']}]}",
       "cores < 2: needs label cores < 2, the node has cores=4"},
      {"what matches is not named",
       "{matchExpressions: [{key: cores, operator: Exists}, {key: disk, operator: Exists}, "
       "{key: gpu, operator: Exists}]}",
       "gpu: needs label gpu, the node has no label gpu"},
      {"several requirements",
       "{matchExpressions: [{key: disk, operator: In, values: [ssd]}, {key: gpu, operator: "
       "Exists}]}",
       "disk in [ssd] and gpu: needs label disk in [ssd], the node has disk=hdd, and needs label "
       "gpu, the node has no label gpu"},
      {"several terms",
       "{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}, {matchExpressions: [{key: "
       "gpu, operator: Exists}]}",
       "disk in [ssd] or gpu: term 0: needs label disk in [ssd], the node has disk=hdd; term 1: "
       "needs label gpu, the node has no label gpu"},
      {"an empty term", "{}", "empty term: an empty term matches no node"},
  };
  for (const Row& row : table)
    EXPECT_EQ(on_n1(requiring(row.terms)), (Texts{std::string("NodeAffinityMismatch ") + row.said}))
        << row.why;
}

TEST_F(NodeAffinityObstaclesTest, OfManyTermsTheNearestIsAmongThoseDescribed) {
  std::string terms;
  for (int i = 0; i < 6; ++i)
    terms += "{matchExpressions: [{key: a, operator: Exists}, {key: b, operator: Exists}]}, ";
  terms += "{matchExpressions: [{key: disk, operator: Exists}, {key: b, operator: Exists}]}";
  const auto said = fixture.obstacles(*fixture.make<NodeAffinity>(), requiring(terms))["n1"];
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said.front().distance, 0.5);
  EXPECT_EQ(said.front().facts.at("term"), "6");
  EXPECT_EQ(said.front().facts.at("requirements"), "b");
  EXPECT_TRUE(said.front().text.ends_with("; and 4 more terms")) << said.front().text;
}

TEST_F(NodeAffinityObstaclesTest, NodeSelectorAndTermsAreTwoThings) {
  const char* spec =
      "{nodeSelector: {disk: ssd}, affinity: {nodeAffinity: "
      "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
      "[{key: gpu, operator: Exists}]}]}}}}";
  const auto plugin = fixture.make<NodeAffinity>();
  const ObstacleTexts said = fixture.obstacle_texts(*plugin, pod(spec));
  EXPECT_EQ(said.at("n1").size(), 2U);
  EXPECT_EQ(said.at("n2"), (Texts{"NodeAffinityMismatch gpu: needs label gpu, the node has no "
                                  "label gpu"}));
}

TEST_F(NodeAffinityObstaclesTest, NodesThatPreFilterLeavesOutAreNotTheOnesThatThePodNames) {
  const auto plugin = fixture.make<NodeAffinity>();
  const char* named = "{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}";
  const auto said = fixture.obstacles(*plugin, requiring(named));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said.at("n1").front().reason, "node(s) didn't satisfy plugin(s) [NodeAffinity]");
  EXPECT_EQ(said.at("n1").front().text, "needs field metadata.name in [n2], the node is n1");

  // Named, but without the label: Filter says no.
  const char* both =
      "{matchFields: [{key: metadata.name, operator: In, values: [n2]}], matchExpressions: [{key: "
      "gpu, operator: Exists}]}";
  EXPECT_EQ(fixture.obstacles(*plugin, requiring(both)).at("n2").front().reason,
            "node(s) didn't match Pod's node affinity/selector");
}

TEST_F(NodeAffinityObstaclesTest, NamesThatExcludeEachOtherRejectThePod) {
  const char* conflict =
      "{matchFields: [{key: metadata.name, operator: In, values: [n1]}, {key: metadata.name, "
      "operator: In, values: [n2]}]}";
  const ObstacleTexts said =
      fixture.obstacle_texts(*fixture.make<NodeAffinity>(), requiring(conflict));
  EXPECT_EQ(said,
            (ObstacleTexts{{"",
                            {"NodeAffinityConflict metadata.name: the node affinity names nodes "
                             "(metadata.name) in a way that no node can match"}}}));
}

TEST_F(NodeAffinityObstaclesTest, WhatTheProfileAddsIsNamedAsSuch) {
  config::NodeAffinityArgs args;
  args.symbols = world.interner.hold();
  SelectorRequirement requirement;
  requirement.key = args.symbols.intern("disk");
  requirement.values = {args.symbols.intern("ssd")};
  args.added_affinity.emplace();
  args.added_affinity->required.emplace().push_back({{requirement}, {}});
  EXPECT_EQ(fixture.obstacle_texts(*fixture.make<NodeAffinity>(args), world.pod("p")),
            (ObstacleTexts{
                {"n1",
                 {"AddedAffinityMismatch disk in [ssd]: needs label disk in [ssd], the node has "
                  "disk=hdd"}}}));
}

}  // namespace
}  // namespace berth::plugins
