// A block of rows gets what its rows get one by one, whatever the amounts.
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "berth/random.h"
#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

// Blocks of ordinary nodes, of nodes with nothing of something, and with more than a double holds.
void add_nodes(PluginFixture& fixture, Random& random) {
  const auto amount = [&](std::uint64_t limit) { return std::to_string(random.below(limit)); };
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::string name = "n" + std::to_string(i);
    const bool wild = i >= 256;
    fixture.add_node(
        fixture.world.node(name)
            .cpu(random.below(8) == 0 ? "0" : amount(64000) + "m")
            .memory(random.below(8) == 0 ? "0" : amount(wild ? 1ULL << 62 : 1ULL << 40))
            .allocatable({{"pods", amount(3)}}));
    for (std::uint64_t pods = random.below(3); pods > 0; --pods)
      fixture.add_pod(fixture.world.pod("on-" + name + "-" + std::to_string(pods))
                          .cpu(amount(32000) + "m")
                          .memory(amount(wild ? 1ULL << 62 : 1ULL << 39))
                          .on(name));
  }
}

std::vector<Score> scores(PluginFixture& fixture, const ScorePlugin& plugin,
                          const Ref<const Pod>& pod, bool one_by_one) {
  const NodeTable& nodes = fixture.cluster.nodes();
  Cycle cycle(pod, fixture.cluster);
  std::vector<Score> all(nodes.rows()), by_row(nodes.rows());
  if (!one_by_one) {
    EXPECT_TRUE(plugin.score(cycle, nodes.nodes(), all).ok());
    return all;
  }
  nodes.nodes().for_each([&](NodeRow row) {
    NodeSet alone(nodes.rows());
    alone.insert(row);
    EXPECT_TRUE(plugin.score(cycle, alone, by_row).ok());
    all[row] = by_row[row];
  });
  return all;
}

// A few rows of each word.
NodeSet some_rows(const NodeTable& nodes, Random& random) {
  NodeSet some(nodes.rows());
  nodes.nodes().for_each([&](NodeRow row) {
    if (random.below(8) == 0) some.insert(row);
  });
  return some;
}

TEST(NodeResourcesKernels, ScoreRowsThatAreFarApartLikeSingleRows) {
  PluginFixture fixture;
  Random random(9);
  add_nodes(fixture, random);
  const auto fit = fixture.make<NodeResourcesFit>();
  const auto balanced = fixture.make<NodeResourcesBalancedAllocation>();
  for (int i = 0; i < 50; ++i) {
    const Ref<const Pod> pod = fixture.world.pod("p" + std::to_string(i))
                                   .cpu(std::to_string(random.below(8000)) + "m")
                                   .memory(std::to_string(random.below(1ULL << (14 + i))));
    const NodeSet some = some_rows(fixture.cluster.nodes(), random);
    for (const ScorePlugin* plugin :
         std::initializer_list<const ScorePlugin*>{fit.get(), balanced.get()}) {
      const std::vector<Score> alone = scores(fixture, *plugin, pod, true);
      std::vector<Score> together(alone.size());
      Cycle cycle(pod, fixture.cluster);
      EXPECT_TRUE(plugin->score(cycle, some, together).ok());
      some.for_each([&](NodeRow row) {
        EXPECT_EQ(together[row], alone[row]) << plugin->name() << " about pod " << i;
      });
    }
  }
}

TEST(NodeResourcesKernels, FilterRowsThatAreFarApartLikeSingleRows) {
  PluginFixture fixture;
  Random random(10);
  add_nodes(fixture, random);
  const auto plugin = fixture.make<NodeResourcesFit>();
  const NodeTable& nodes = fixture.cluster.nodes();
  internal::CycleScratch scratch;
  const auto verdicts_of = [&](const Ref<const Pod>& pod, const NodeSet& asked, bool one_by_one) {
    Cycle cycle(pod, fixture.cluster);
    scratch.reset(nodes.rows());
    cycle.lend(&scratch);
    EXPECT_TRUE(plugin->pre_filter(cycle).outcome.ok());
    NodeSet left = asked, alone(nodes.rows());
    const auto ask = [&](NodeSet& rows) {
      FilterPass pass(0, cycle, rows, scratch.verdicts);
      plugin->filter(cycle, pass);
    };
    if (!one_by_one) ask(left);
    if (one_by_one)
      asked.for_each([&](NodeRow row) {
        alone.clear();
        alone.insert(row);
        ask(alone);
        if (!alone.contains(row)) left.erase(row);
      });
    std::vector<std::vector<std::string>> said;
    asked.for_each([&](NodeRow row) {
      said.push_back(cycle.reasons_of(scratch.verdicts[row], plugin.get()));
    });
    return std::pair(left, said);
  };
  for (int i = 0; i < 50; ++i) {
    const Ref<const Pod> pod = fixture.world.pod("p" + std::to_string(i))
                                   .cpu(std::to_string(random.below(64000)) + "m")
                                   .memory(std::to_string(random.below(1ULL << (10 + i))));
    const NodeSet some = some_rows(nodes, random);
    EXPECT_EQ(verdicts_of(pod, some, false), verdicts_of(pod, some, true)) << i;
  }
}

TEST(NodeResourcesKernels, ScoreBlocksLikeSingleRows) {
  PluginFixture fixture;
  Random random(7);
  add_nodes(fixture, random);
  config::NodeResourcesFitArgs most;
  most.strategy = config::ScoringStrategyType::kMostAllocated;
  most.resources = {{"cpu", 3}, {"memory", 2}};
  const auto least_allocated = fixture.make<NodeResourcesFit>();
  const auto most_allocated = fixture.make<NodeResourcesFit>(most);
  const auto balanced = fixture.make<NodeResourcesBalancedAllocation>();
  for (int i = 0; i < 50; ++i) {
    const Ref<const Pod> pod = fixture.world.pod("p" + std::to_string(i))
                                   .cpu(std::to_string(random.below(8000)) + "m")
                                   .memory(std::to_string(random.below(1ULL << (14 + i))));
    for (const ScorePlugin* plugin : std::initializer_list<const ScorePlugin*>{
             least_allocated.get(), most_allocated.get(), balanced.get()})
      EXPECT_EQ(scores(fixture, *plugin, pod, false), scores(fixture, *plugin, pod, true))
          << plugin->name() << " about pod " << i;
  }
}

TEST(NodeResourcesKernels, FilterBlocksLikeSingleRows) {
  PluginFixture fixture;
  Random random(8);
  add_nodes(fixture, random);
  const auto plugin = fixture.make<NodeResourcesFit>();
  for (int i = 0; i < 50; ++i) {
    const Ref<const Pod> pod = fixture.world.pod("p" + std::to_string(i))
                                   .cpu(std::to_string(random.below(64000)) + "m")
                                   .memory(std::to_string(random.below(1ULL << (10 + i))));
    EXPECT_EQ(fixture.filter(*plugin, pod), fixture.filter_one_by_one(*plugin, pod)) << i;
  }
}

}  // namespace
}  // namespace berth::plugins
