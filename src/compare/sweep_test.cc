#include "compare/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/comparison_table.h"
#include "compare/testing/manifests.h"
#include "plugins/table.h"

namespace berth::compare {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::input;
using ::testing::IsEmpty;
using testing::node;
using ::testing::Not;
using testing::packing;
using testing::pod;
using testing::side;

std::string many_pods() {
  std::string manifests = node("n1", "8") + node("n2", "8", "b") + node("n3", "4", "b");
  for (int i = 0; i < 12; ++i) manifests += pod("web-" + std::to_string(i), i % 3 == 0 ? "2" : "1");
  return manifests;
}

SweepPlan plan_of(std::vector<Side> sides, std::vector<std::uint64_t> seeds = {0}) {
  SweepPlan plan;
  plan.inputs = {input(many_pods())};
  plan.sides = std::move(sides);
  plan.seeds = std::move(seeds);
  return plan;
}

SweepResult run(const SweepPlan& plan) {
  Result<SweepResult> result = run_sweep(plan, plugins::make_plugin_table());
  EXPECT_TRUE(result) << result.error().message;
  return result ? *std::move(result) : SweepResult();
}

std::string error_of(const SweepPlan& plan) {
  const Result<SweepResult> result = run_sweep(plan, plugins::make_plugin_table());
  return result ? "" : result.error().message;
}

const JsonValue& run_at(const JsonValue& document, std::size_t number) {
  return document.find("runs")->items.at(number);
}

std::string merge_error(const std::vector<NamedText>& parts) {
  const Result<JsonValue> merged = merge_parts(parts);
  return merged ? "" : merged.error().message;
}

TEST(Sweep, AConfigurationDoesNotDifferFromItself) {
  const SweepResult result = run(plan_of({side("a"), side("b")}));
  const JsonValue& difference = *run_at(result.document, 1).find("difference");
  EXPECT_EQ(to_json(difference),
            R"({"against":"a","pods":{"elsewhere":0,"onlyThere":0,"onlyHere":0},"moved":[]})");
  EXPECT_EQ(to_json(*run_at(result.document, 0).find("figures")),
            to_json(*run_at(result.document, 1).find("figures")));
  EXPECT_THAT(to_table(result.document), EndsWith("b against a: no difference\n"));
}

TEST(Sweep, ThePluginThatMadeTheDifferenceIsNamed) {
  const SweepResult result = run(plan_of({side("spreading"), packing()}));
  const JsonValue& difference = *run_at(result.document, 1).find("difference");
  EXPECT_NE(difference.find("pods")->find("elsewhere")->text, "0");
  const JsonValue& divergence = *difference.find("firstDivergence");
  EXPECT_EQ(divergence.find("cause")->find("type")->text, "Score") << to_json(divergence);
  EXPECT_EQ(divergence.find("cause")->find("plugin")->text, "NodeResourcesFit");
  const std::vector<JsonValue>& moved = difference.find("moved")->items;
  ASSERT_GE(moved.size(), 2U);
  // The first pod that moved saw the same cluster on both sides.
  EXPECT_EQ(to_json(*moved[0].find("diverged")), "false");
  EXPECT_EQ(moved[0].find("cause")->find("plugin")->text, "NodeResourcesFit");
  // Later ones did not, which is said.
  EXPECT_TRUE(std::ranges::any_of(moved, [](const JsonValue& pod) {
    const JsonValue* const diverged = pod.find("diverged");
    return diverged && diverged->boolean;
  }));
  EXPECT_THAT(to_table(result.document),
              AllOf(HasSubstr("packing against spreading: "), HasSubstr("first divergence: "),
                    HasSubstr("the clusters had diverged, pods elsewhere by then: ")));
}

TEST(Sweep, APodWithoutANodeOnOneSideIsTold) {
  SweepPlan plan = plan_of({side("default"), side("other")});
  plan.sides[1] = side("picky", "plugins: {filter: {disabled: [{name: NodeResourcesFit}]}}");
  plan.inputs = {input(node("n1", "2") + pod("a", "2") + pod("b", "2"))};
  const SweepResult result = run(plan);
  const JsonValue& difference = *run_at(result.document, 1).find("difference");
  EXPECT_EQ(difference.find("pods")->find("onlyHere")->text, "1");
  EXPECT_EQ(difference.find("moved")->items.at(0).find("cause")->find("text")->text,
            "NodeResourcesFit rejects n1 on side default: Insufficient cpu");
}

TEST(Sweep, EqualNodesAreDrawnByTheSeed) {
  SweepPlan plan = plan_of({side("one"), side("two")});
  plan.sides[0].seed = 1;
  plan.sides[1].seed = 2;
  std::string nodes;
  for (int i = 0; i < 8; ++i) nodes += node("n" + std::to_string(i));
  plan.inputs = {input(nodes + pod("a") + pod("b"))};
  const SweepResult result = run(plan);
  const JsonValue& difference = *run_at(result.document, 1).find("difference");
  ASSERT_TRUE(difference.find("firstDivergence")) << to_json(difference);
  EXPECT_EQ(difference.find("firstDivergence")->find("cause")->find("type")->text, "Draw");
}

TEST(SweepConcurrent, ThreadsDoNotChangeTheResult) {
  SweepPlan plan = plan_of({side("a"), packing(), side("c")}, {1, 2, 3});
  const std::string alone = to_json(run(plan).document);
  plan.threads = 4;
  EXPECT_EQ(to_json(run(plan).document), alone);
}

TEST(Sweep, MergedShardsAreTheWhole) {
  SweepPlan plan = plan_of({side("a"), packing(), side("c")}, {1, 2, 3});
  const std::string whole = to_indented_json(run(plan).document);
  for (const std::size_t count : {2U, 4U, 20U}) {
    std::vector<NamedText> parts;
    for (std::size_t index = count; index-- > 0;) {
      plan.shard = {index, count};
      parts.push_back({"part" + std::to_string(index), to_indented_json(run(plan).document)});
    }
    const Result<JsonValue> merged = merge_parts(parts);
    ASSERT_TRUE(merged) << merged.error().message;
    EXPECT_EQ(to_indented_json(*merged), whole) << count;
  }
}

TEST(Sweep, PartsThatDoNotBelongTogetherAreRefused) {
  SweepPlan plan = plan_of({side("a"), packing()}, {1, 2});
  const auto part = [&plan](std::size_t index) {
    plan.shard = {index, 2};
    return to_json(run(plan).document);
  };
  const NamedText first{"p0", part(0)}, second{"p1", part(1)};
  EXPECT_EQ(merge_error({first, second}), "");
  EXPECT_EQ(merge_error({first}), "shard 1/2 is missing");
  EXPECT_EQ(merge_error({first, {"copy", first.text}}), "p0 and copy are both shard 0/2");
  plan.limits.pods = 7;
  EXPECT_EQ(merge_error({first, {"other", part(1)}}), "p0 and other are parts of different sweeps");
  plan.shard = {};
  EXPECT_EQ(merge_error({{"whole", to_json(run(plan).document)}}),
            "whole: it is whole: there is nothing to merge");
  EXPECT_EQ(merge_error({{"x", "{}"}}), "x: not a part written by `berth compare --shard`");
  EXPECT_THAT(merge_error({{"x", second.text.substr(0, 100)}}), HasSubstr("x: unexpected end"));
  EXPECT_EQ(merge_error({}), "there are no parts to merge");
}

TEST(Sweep, DamagedPartsDoNoHarm) {
  SweepPlan plan = plan_of({side("a"), packing()});
  plan.shard = {0, 2};
  const std::string text = to_json(run(plan).document);
  for (const char* document :
       {R"({"kind":"BerthComparison","version":1,"shard":"0/1","sweep":3,"runs":[{"number":0}]})",
        R"({"kind":"BerthComparison","version":1,"shard":"0/1","sweep":{"runs":1,"inputs":["a"],)"
        R"("sides":[{"name":"x"},7]},"runs":[{"number":0,"input":"a","side":"x","figures":5}]})",
        R"({"kind":"BerthComparison","version":1,"shard":"0/1","runs":[]})",
        R"({"kind":"BerthComparison","version":1,"shard":"9/","sweep":{},"runs":[]})"}) {
    const Result<JsonValue> merged = merge_parts({{"x", document}});
    if (merged) to_table(*merged);
  }
}

TEST(Sweep, SeveralSeedsGiveMeansAndTheirRange) {
  const SweepResult result = run(plan_of({side("a"), packing()}, {1, 2, 3}));
  EXPECT_EQ(result.document.find("runs")->items.size(), 6U);
  EXPECT_THAT(to_table(result.document), HasSubstr("pods elsewhere with other seeds: "));
}

TEST(Sweep, TheFirstErrorIsToldWhateverTheThreads) {
  SweepPlan plan =
      plan_of({side("a"), side("broken", "plugins: {score: 3}"), side("also", "nothing: true")});
  plan.threads = 3;
  EXPECT_THAT(error_of(plan), HasSubstr("broken.yaml: "));
  plan = plan_of({side("a"), side("b")});
  plan.inputs.front().files.front().text = "kind: [";
  EXPECT_THAT(error_of(plan), HasSubstr("input.yaml"));
}

TEST(Sweep, AClusterAsAnApiServerReturnsItMakesNoNewPods) {
  SweepPlan plan = plan_of({side("a"), side("b")});
  plan.inputs.front().files.clear();
  plan.inputs.front().cluster = {
      "dump.yaml",
      node("n1") + pod("web-1", "1", "nodeName: n1, ") +
          "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, "
          "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: "
          "{containers: [{name: c, image: i}]}}}\n"};
  const SweepResult result = run(plan);
  EXPECT_EQ(run_at(result.document, 0).find("figures")->find("pods")->find("created")->text, "1");
}

}  // namespace
}  // namespace berth::compare
