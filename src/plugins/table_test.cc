#include "plugins/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/group_plugins.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

TEST(PluginTable, ListsAllPluginsTheDefaultOnesFirstInUpstreamsOrder) {
  std::vector<std::pair<std::string, std::int32_t>> names;
  const PluginTable table = make_plugin_table();
  for (const PluginEntry& entry : table.entries())
    names.emplace_back(entry.name, entry.default_weight);
  EXPECT_EQ(names, (std::vector<std::pair<std::string, std::int32_t>>{
                       {"SchedulingGates", 0},
                       {"PrioritySort", 0},
                       {"NodeName", 0},
                       {"NodeUnschedulable", 0},
                       {"TaintToleration", 3},
                       {"NodeAffinity", 2},
                       {"NodePorts", 0},
                       {"NodeResourcesFit", 1},
                       {"VolumeRestrictions", 0},
                       {"NodeVolumeLimits", 0},
                       {"VolumeBinding", 1},
                       {"VolumeZone", 0},
                       {"PodTopologySpread", 2},
                       {"InterPodAffinity", 2},
                       {"DynamicResources", 2},
                       {"DefaultPreemption", 0},
                       {"NodeResourcesBalancedAllocation", 1},
                       {"ImageLocality", 1},
                       {"DefaultBinder", 0},
                       {"NodeDeclaredFeatures", 0},
                       {"Coscheduling", 0},
                       {"DeferredPodScheduling", 0},
                       {"GangScheduling", 0},
                       {"TopologyPlacementGenerator", 0},
                       {"PodGroupPodsCount", 1},
                   }));
}

// The extension points that a plugin has, from its interfaces.
std::string points_of(const Plugin& plugin) {
  std::string points;
  const auto add = [&](bool has, const char* point) {
    if (has) points += (points.empty() ? "" : ", ") + std::string(point);
  };
  add(dynamic_cast<const PreEnqueuePlugin*>(&plugin), "PreEnqueue");
  add(dynamic_cast<const QueueSortPlugin*>(&plugin), "QueueSort");
  add(dynamic_cast<const PreFilterPlugin*>(&plugin), "PreFilter");
  add(dynamic_cast<const FilterPlugin*>(&plugin), "Filter");
  add(dynamic_cast<const PostFilterPlugin*>(&plugin), "PostFilter");
  add(dynamic_cast<const PreScorePlugin*>(&plugin), "PreScore");
  add(dynamic_cast<const ScorePlugin*>(&plugin), "Score");
  add(dynamic_cast<const ReservePlugin*>(&plugin), "Reserve");
  add(dynamic_cast<const PermitPlugin*>(&plugin), "Permit");
  add(dynamic_cast<const PreBindPlugin*>(&plugin), "PreBind");
  add(dynamic_cast<const BindPlugin*>(&plugin), "Bind");
  add(dynamic_cast<const PostBindPlugin*>(&plugin), "PostBind");
  add(dynamic_cast<const PlacementGeneratePlugin*>(&plugin), "PlacementGenerate");
  add(dynamic_cast<const PlacementScorePlugin*>(&plugin), "PlacementScore");
  add(dynamic_cast<const PodGroupPostFilterPlugin*>(&plugin), "PodGroupPostFilter");
  return points;
}

TEST(PluginTable, EveryBuiltPluginIsWhatItsEntrySays) {
  testing::PluginFixture fixture;
  std::vector<std::string> not_built;
  const PluginTable table = make_plugin_table();
  for (const PluginEntry& entry : table.entries()) {
    EXPECT_FALSE(entry.extension_points.empty()) << entry.name;
    EXPECT_THAT(entry.description, ::testing::EndsWith(".")) << entry.name;
    if (!entry.create) {
      not_built.push_back(entry.name);
      continue;
    }
    const auto plugin = entry.create({}, fixture.handle());
    ASSERT_TRUE(plugin.has_value()) << entry.name;
    EXPECT_EQ((*plugin)->name(), entry.name);
    EXPECT_EQ(points_of(**plugin), entry.extension_points) << entry.name;
  }
  EXPECT_THAT(not_built, ::testing::ElementsAre("DeferredPodScheduling"));
}

TEST(PluginTable, MostPluginsLookAtNothingButTheNodesRow) {
  testing::PluginFixture fixture;
  std::vector<std::string> others;
  const PluginTable table = make_plugin_table();
  for (const PluginEntry& entry : table.entries()) {
    if (!entry.create) continue;
    const auto plugin = entry.create({}, fixture.handle());
    ASSERT_TRUE(plugin.has_value()) << entry.name;
    if ((*plugin)->dependence() != Dependence::kRow) others.push_back(entry.name);
  }
  EXPECT_THAT(others, ::testing::ElementsAre("VolumeRestrictions", "NodeVolumeLimits",
                                             "VolumeBinding", "VolumeZone", "PodTopologySpread",
                                             "InterPodAffinity", "DynamicResources"));
}

// Upstream counts an evaluation for each that does not skip, also where it has nothing to do.
TEST(PluginTable, ThesePluginsDoNotSkipPreFilterForAPlainPod) {
  testing::PluginFixture fixture;
  fixture.add_node(fixture.world.node("n"));
  std::vector<std::string> asked, extended;
  const PluginTable table = make_plugin_table();
  for (const PluginEntry& entry : table.entries()) {
    if (!entry.create) continue;
    const auto plugin = entry.create({}, fixture.handle());
    ASSERT_TRUE(plugin.has_value()) << entry.name;
    const auto* pre_filter = dynamic_cast<const PreFilterPlugin*>(plugin->get());
    if (!pre_filter) continue;
    Cycle cycle(fixture.world.pod("p"), fixture.cluster);
    const PreFilterResult result = pre_filter->pre_filter(cycle);
    EXPECT_FALSE(result.nodes) << entry.name;
    if (result.outcome.code != Code::kSkip) asked.push_back(entry.name);
    if (pre_filter->has_extensions()) extended.push_back(entry.name);
  }
  EXPECT_THAT(asked, ::testing::ElementsAre("NodeName", "NodeUnschedulable", "TaintToleration",
                                            "NodeResourcesFit", "Coscheduling"));
  EXPECT_THAT(extended, ::testing::ElementsAre("VolumeRestrictions", "PodTopologySpread",
                                               "InterPodAffinity"));
}

TEST(PluginTable, ArgumentsOfAnotherPluginAreAnError) {
  testing::PluginFixture fixture;
  const PluginTable table = make_plugin_table();
  const auto fit =
      table.find("NodeResourcesFit")->create(config::DefaultPreemptionArgs{}, fixture.handle());
  ASSERT_FALSE(fit.has_value());
  EXPECT_EQ(fit.error().message,
            "want args to be of type NodeResourcesFitArgs, got *config.DefaultPreemptionArgs");
  const auto balanced = table.find("NodeResourcesBalancedAllocation")
                            ->create(config::NodeResourcesFitArgs{}, fixture.handle());
  ASSERT_FALSE(balanced.has_value());
  EXPECT_EQ(balanced.error().message,
            "want args to be of type NodeResourcesBalancedAllocationArgs, got "
            "*config.NodeResourcesFitArgs");
}

}  // namespace
}  // namespace berth::plugins
