#include "plugins/pod_group_placements/pod_group_placements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

struct PodGroupPlacementsTest : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};
  GroupStates states;
  Ref<PodGroup> group = make_ref<PodGroup>(SymbolHold(world.interner.symbols()));
  TopologyPlacementGenerator generator;

  PodGroupPlacementsTest() {
    group->name = "g";
    group->symbol = group->symbols.intern("g");
    group->namespace_name = group->symbols.intern("default");
    group->topology.push_back({group->symbols.intern("rack")});
    for (const auto& [name, rack] : {std::pair{"n1", "b"}, {"n2", "a"}, {"n3", "b"}, {"n4", ""}}) {
      auto node = world.node(name);
      if (*rack != '\0') node.label("rack", rack);
      cluster.add_node(node.build());
    }
    cluster.begin_cycle();
  }
  void on_node(const std::string& name, const std::string& node) {
    auto builder = world.pod(name);
    builder.group("g").on(node);
    const Ref<const Pod> pod = builder.build();
    states.see(pod);
    ASSERT_TRUE(cluster.add_pod(pod));
  }
  PlacementGeneratePlugin::Generated generate() {
    return generator.generate(*group, states.find(group_key(*group)), cluster);
  }
  // "a: n2"
  std::vector<std::string> placements() {
    std::vector<std::string> texts;
    for (const Placement& placement : generate().placements) {
      std::string text = placement.name + ":";
      placement.nodes.for_each(
          [&](NodeRow row) { text += " " + std::string(cluster.nodes().name_text(row)); });
      texts.push_back(text);
    }
    return texts;
  }
};

TEST_F(PodGroupPlacementsTest, EveryValueOfTheLabelIsAPlacementInTheOrderOfTheValues) {
  EXPECT_THAT(placements(), ElementsAre("a: n2", "b: n1 n3"));
}

TEST_F(PodGroupPlacementsTest, WithoutAConstraintAllNodesAreOne) {
  group->topology.clear();
  EXPECT_THAT(placements(), ElementsAre(": n1 n2 n3 n4"));
}

TEST_F(PodGroupPlacementsTest, PodsThatAreOnNodesDecideTheDomain) {
  on_node("p", "n3");
  EXPECT_THAT(placements(), ElementsAre("b: n1 n3"));
  on_node("q", "n2");
  EXPECT_THAT(generate().outcome.message(),
              HasSubstr("cannot determine domain for already scheduled pods: more than 1 domain "
                        "found for pod group: "));
}

TEST_F(PodGroupPlacementsTest, APodOnANodeWithoutTheLabelIsAnError) {
  on_node("p", "n4");
  EXPECT_EQ(generate().outcome.message(),
            "cannot determine domain for already scheduled pods: no topology domain found for pod "
            "default/p");
}

TEST_F(PodGroupPlacementsTest, NodesWithoutTheLabelAreNoPlacement) {
  group->topology.front().key = group->symbols.intern("no-such-label");
  EXPECT_TRUE(generate().outcome.ok());
  EXPECT_THAT(placements(), IsEmpty());
}

TEST_F(PodGroupPlacementsTest, MorePodsAreBetter) {
  const PodGroupPodsCount plugin;
  const NodeSet nodes(4);
  EXPECT_EQ(plugin.score_placement({*group, nodes, 3, {}}, cluster), 3);
  std::vector<Score> scores{11, 100, 101, 102};
  plugin.normalize_placements(scores);
  EXPECT_THAT(scores, ElementsAre(10, 98, 99, 100));
}

}  // namespace
}  // namespace berth::plugins
