#include "sim/entity_cycles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "config/load.h"
#include "plugins/table.h"
#include "sim/testing/simulated.h"

namespace berth::sim::testing {
namespace {

struct EntityCyclesTest : ::testing::Test {
  Interner interner;

  EntityCycles run(const std::string& manifests) {
    Result<std::vector<ManifestObject>> objects = read_manifest(manifests, "test", interner);
    EXPECT_TRUE(objects) << objects.error().message;
    const Result<void> admitted = admit_all(*objects, interner, VirtualLoop::kDefaultStart);
    EXPECT_TRUE(admitted) << admitted.error().message;
    EntityCyclesOptions options;
    options.verify_increments = true;
    options.configuration = config::default_configuration(options.gates);
    Result<EntityCycles> cycles =
        run_entity_cycles(interner, plugins::make_plugin_table(), std::move(options), *objects);
    EXPECT_TRUE(cycles) << cycles.error().message;
    return cycles ? *std::move(cycles) : EntityCycles{};
  }

  // "pod -> node", or "pod: code", of all members in order.
  static std::vector<std::string> outcomes(const EntityCycles& cycles) {
    std::vector<std::string> texts;
    for (const EntityResult& entity : cycles.entities)
      for (const MemberResult& member : entity.members)
        texts.push_back(member.node.empty() ? member.pod + ": " + member.code
                                            : member.pod + " -> " + member.node);
    return texts;
  }
};

TEST_F(EntityCyclesTest, PodsAreTriedByPriorityAndEqualNodesGoByName) {
  const EntityCycles cycles = run(node("n2") + node("n3") + node("n1") + pod("low") +
                                  pod("high", "1", "priority: 10") + pod("low-2"));
  EXPECT_THAT(outcomes(cycles),
              ElementsAre("default/high -> n1", "default/low -> n2", "default/low-2 -> n3"));
}

TEST_F(EntityCyclesTest, ABetterNodeStandsAboveTheFirstByName) {
  const EntityCycles cycles = run(node("n1", "4") + node("n2", "64") + pod("p", "2"));
  EXPECT_THAT(outcomes(cycles), ElementsAre("default/p -> n2"));
}

TEST_F(EntityCyclesTest, APodThatFailsIsTriedOnce) {
  const EntityCycles cycles = run(node("n1") + pod("big", "100") + pod("p"));
  EXPECT_THAT(outcomes(cycles), ElementsAre("default/big: Unschedulable", "default/p -> n1"));
  EXPECT_THAT(cycles.entities[0].members[0].message, HasSubstr("1 Insufficient cpu."));
}

TEST_F(EntityCyclesTest, VictimsStayWhereTheyAreAndNominationsCount) {
  const EntityCycles cycles =
      run(node("n1", "2") + pod("victim", "2", "nodeName: n1") + pod("high", "2", "priority: 10") +
          pod("next", "2", "priority: 5"));
  EXPECT_THAT(outcomes(cycles),
              ElementsAre("default/high: Unschedulable", "default/next: Unschedulable"));
  EXPECT_THAT(cycles.entities[0].victims, ElementsAre("default/victim"));
  EXPECT_EQ(cycles.entities[0].members[0].nominated, "n1");
  EXPECT_THAT(cycles.entities[1].victims, IsEmpty()) << "its place is promised to another";
  EXPECT_EQ(cycles.entities[1].members[0].nominated, "");
}

TEST_F(EntityCyclesTest, WhatPreEnqueueHoldsIsLeft) {
  const EntityCycles cycles =
      run(node("n1") + pod("held", "1", "schedulingGates: [{name: g}]") + pod("p"));
  EXPECT_THAT(outcomes(cycles), ElementsAre("default/p -> n1"));
  EXPECT_THAT(cycles.gated, ElementsAre("default/held"));
}

TEST_F(EntityCyclesTest, TheResultIsWrittenAsJsonAndAsATable) {
  EntityCycles cycles;
  cycles.entities.push_back(
      {.group = "default/g",
       .condition = GroupCondition{"False", "Unschedulable", "why"},
       .members =
           {{.pod = "default/a", .node = "n1"},
            {.pod = "default/b", .code = "Unschedulable", .message = "no room", .nominated = "n2"}},
       .victims = {"default/v"}});
  cycles.entities.push_back({.members = {{.pod = "default/p", .node = "n1"}}});
  cycles.incomplete = {"default/i"};
  EXPECT_EQ(to_json(cycles), R"({"entities": [
  {"group": "default/g", "condition": {"status": "False", "reason": "Unschedulable", "message": "why"}, "members": [
      {"pod": "default/a", "node": "n1"},
      {"pod": "default/b", "code": "Unschedulable", "message": "no room", "nominated": "n2"}
    ], "victims": ["default/v"]},
  {"pod": "default/p", "members": [
      {"pod": "default/p", "node": "n1"}
    ]}
],
"left": {"incomplete": ["default/i"]}}
)");
  EXPECT_EQ(to_table(cycles), R"(group default/g: 1 of 2 pods placed
  not scheduled (Unschedulable): why
  default/a  ->  n1
  default/b: no room
      room is being made on n2
  1 pod evicted: default/v

  default/p  ->  n1

not tried, their group is not there: default/i
)");
}

}  // namespace
}  // namespace berth::sim::testing
