#include "search/objections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "search/testing/search_fixture.h"

namespace berth::testing {
namespace {

struct FakeObstacles final : FakePlugin, PerNodeFilter, ObstaclePlugin {
  using FakePlugin::FakePlugin;
  Outcome filter_node(const Cycle&, NodeRow) const override {
    return Outcome::unschedulable("Insufficient cpu");
  }
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override {
    return {{.code = "InsufficientResource",
             .reason = "Insufficient cpu",
             .subject = "cpu",
             .text = "on " + std::string(cycle.nodes().name_text(row)),
             .facts = {}},
            {.code = "TooManyPods",
             .reason = "Too many pods",
             .subject = {},
             .text = "is no part of the verdict",
             .facts = {}}};
  }
};

struct ObjectionsTest : NodeSearchTest {
  // "node: plugin reason [code text], …", a line for each node.
  std::string objections(Ref<const Pod> pod) {
    world.cluster.begin_cycle();
    std::string text;
    for (const SearchTrace::Objections& at :
         find_objections(pod, world.cluster, profile.framework())) {
      text += std::string(world.cluster.nodes().name_text(at.row)) + ":";
      for (const SearchTrace::Objection& by : at.by) {
        text += " " + by.outcome.plugin + (by.pre_filter ? "*" : "") + " " + by.outcome.message();
        for (const Obstacle& obstacle : by.obstacles)
          text += " [" + obstacle.code + " " + obstacle.text + "]";
      }
      text += "\n";
    }
    return text;
  }
  std::string objections() { return objections(world.pod("p")); }
};

TEST_F(ObjectionsTest, EveryFilterIsAskedAboutEveryNode) {
  nodes(3);
  filter_all([](std::string_view node) {
    return node == "n3" ? Outcome() : Outcome::unschedulable("no");
  });
  profile.filter("Second", [&](const Cycle&, NodeRow row) {
    return row == world.row("n2") ? Outcome::unschedulable("full") : Outcome();
  });
  EXPECT_EQ(objections(),
            "n1: Filter no [Rejected no]\n"
            "n2: Filter no [Rejected no] Second full [Rejected full]\n");
}

TEST_F(ObjectionsTest, APluginThatRejectsThePodInPreFilterDoesNotSilenceTheOthers) {
  nodes(2);
  profile.pre_filter("First", [](Cycle&) { return Outcome::unschedulable("no claim"); });
  profile.pre_filter("Narrow",
                     [&](Cycle&) { return PreFilterResult(Outcome(), {world.symbol("n2")}); });
  profile.pre_filter("Broken", [](Cycle&) { return Outcome::failure("out of order"); });
  profile.filter("Last", [](const Cycle&, NodeRow) { return Outcome::unschedulable("full"); });
  const std::string broken =
      "Broken* running PreFilter plugin \"Broken\": out of order"
      " [Error running PreFilter plugin \"Broken\": out of order]";
  EXPECT_EQ(objections(),
            "n1: First* no claim [Rejected no claim]"
            " Narrow* node(s) didn't satisfy plugin(s) [Narrow]"
            " [Rejected node(s) didn't satisfy plugin(s) [Narrow]]"
            " " +
                broken +
                " Last full [Rejected full]\n"
                "n2: First* no claim [Rejected no claim] " +
                broken + " Last full [Rejected full]\n");
}

TEST_F(ObjectionsTest, APluginSaysWhatStandsInTheWay) {
  nodes(1);
  profile.add(std::make_unique<FakeObstacles>("Resources"), profile.plugins.filter);
  EXPECT_EQ(objections(), "n1: Resources Insufficient cpu [InsufficientResource on n1]\n");
}

// As DynamicResources does: an error ends the attempt, whatever is known of the other nodes.
struct StopsAtItsFirstError final : FakePlugin, FilterPlugin {
  using FakePlugin::FakePlugin;
  void filter(const Cycle&, FilterPass& pass) const override {
    for (const NodeRow row : pass.nodes().order()) {
      if (!pass.feasible().contains(row)) continue;
      const std::string_view node = pass.nodes().name_text(row);
      if (node == "n4") continue;
      if (node == "n3") return pass.reject(row, Code::kUnschedulable, {"full"});
      pass.reject(row, Code::kError, {"broken"});
      return;
    }
  }
};

TEST_F(ObjectionsTest, APluginThatStopsAtAnErrorIsAskedAboutTheOtherNodesToo) {
  nodes(4);
  profile.add(std::make_unique<StopsAtItsFirstError>("Devices"), profile.plugins.filter);
  const std::string broken =
      "Devices running \"Devices\" filter plugin: broken"
      " [Error running \"Devices\" filter plugin: broken]\n";
  EXPECT_EQ(objections(), "n1: " + broken + "n2: " + broken + "n3: Devices full [Rejected full]\n");
}

TEST_F(ObjectionsTest, NominatedPodsCountForEachPluginAlone) {
  nodes(2);
  FakePreFilter& counting =
      profile.pre_filter("Count", [](Cycle&) { return PreFilterResult::success(); });
  int added = 0;
  counting.on_add = [&](const Pod&, NodeRow) {
    ++added;
    return Outcome();
  };
  profile.filter("Room", [](const Cycle& asked_in, NodeRow row) {
    return asked_in.nodes().pods(row).empty() ? Outcome() : Outcome::unschedulable("taken");
  });
  world.nominator.nominate(world.pod("first").priority(10), world.symbol("n2"));
  EXPECT_EQ(objections(), "n2: Room taken [Rejected taken]\n");
  EXPECT_EQ(added, 0) << "it sits out while Room is asked";
}

struct OnePodANode final : FakePlugin, PerNodeFilter, ObstaclePlugin {
  using FakePlugin::FakePlugin;
  Outcome filter_node(const Cycle& cycle, NodeRow row) const override {
    return cycle.nodes().pods(row).empty() ? Outcome() : Outcome::unschedulable("taken");
  }
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override {
    if (cycle.nodes().pods(row).empty()) return {};
    return {{.code = "Taken",
             .reason = "taken",
             .subject = {},
             .text = std::to_string(cycle.nodes().pods(row).size()) + " there",
             .facts = {}}};
  }
};

TEST_F(ObjectionsTest, WhatOnlyNominatedPodsAccountForHasACodeOfItsOwn) {
  nodes(2);
  profile.add(std::make_unique<OnePodANode>("Room"), profile.plugins.filter);
  world.nominator.nominate(world.pod("first").priority(10), world.symbol("n2"));
  world.nominator.nominate(world.pod("lesser").priority(-1), world.symbol("n2"));
  EXPECT_EQ(objections(),
            "n2: Room taken [NominatedPods only beside default/first, nominated to the node: 1 "
            "there]\n");
  ASSERT_TRUE(world.cluster.add_pod(world.pod("there").on("n2")));
  EXPECT_EQ(objections(), "n2: Room taken [Taken 1 there]\n");
}

TEST_F(ObjectionsTest, ATraceHasThemOnRequestAndTheSearchStaysAsItIs) {
  nodes(2);
  filter_all([](std::string_view node) {
    return node == "n1" ? Outcome() : Outcome::unschedulable("no");
  });
  profile.filter("Second", [&](const Cycle&, NodeRow row) {
    return row == world.row("n2") ? Outcome::unschedulable("full") : Outcome();
  });
  SearchTrace trace;
  EXPECT_EQ(chosen(search(world.pod("p"), &trace)), "n1");
  EXPECT_TRUE(trace.objections.empty());
  trace = SearchTrace();
  trace.every_objection = true;
  EXPECT_EQ(chosen(search(world.pod("p"), &trace)), "n1");
  ASSERT_EQ(trace.objections.size(), 1U);
  EXPECT_EQ(trace.objections[0].by.size(), 2U);
  ASSERT_EQ(trace.rejected.size(), 1U);
  EXPECT_EQ(trace.rejected[0].by.plugin, "Filter");
}

}  // namespace
}  // namespace berth::testing
