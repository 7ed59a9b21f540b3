// NodeSearch: decisions from what is kept of a class of pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/testing/names.h"
#include "search/testing/search_fixture.h"

namespace berth {
namespace {

struct KeptSearch : NodeSearchTest {
  // A filter and a scorer that say they look at the row alone, and count how often they are asked.
  void row_plugins() {
    profile
        .filter("Filter",
                [this](const Cycle& c, NodeRow row) {
                  asked.emplace_back(c.nodes().name_text(row));
                  return Outcome();
                })
        .declared = Dependence::kRow;
    profile
        .score("Score", [](const Cycle& c,
                           NodeRow row) { return static_cast<Score>(c.nodes().pod_counts()[row]); })
        .declared = Dependence::kRow;
  }
};

TEST_F(KeptSearch, FromTheThirdPodOfAClassOnOnlyChangedNodesAreAskedAbout) {
  nodes(4);
  row_plugins();
  for (int i = 0; i < 2; ++i) search();  // the first is seen, the second is worth remembering
  EXPECT_EQ(asked.size(), 4U);
  search();
  EXPECT_EQ(asked.size(), 0U);
  ASSERT_TRUE(world.cluster.add_pod(world.pod("other").on("n3")).has_value());
  EXPECT_EQ(chosen(search()), "n3");
  EXPECT_THAT(asked, ElementsAre("n3"));
  EXPECT_EQ(searcher().decided_from_kept(), 3U);
}

TEST_F(KeptSearch, PodsOfGroupsThatDifferInNothingElseAreOneClass) {
  nodes(4);
  row_plugins();
  const auto search_in_group = [&](const std::string& group) {
    world.cluster.begin_cycle();
    asked.clear();
    auto pod = world.pod("p");
    cycle = std::make_unique<Cycle>(pod.group(group), world.cluster);
    return run_task(world.loop, searcher().run_in_group(*cycle, profile.framework(), 0, nullptr));
  };
  for (const char* group : {"a", "a", "b", "c"}) EXPECT_TRUE(search_in_group(group).outcome.ok());
  EXPECT_EQ(asked.size(), 0U);
  EXPECT_EQ(searcher().decided_from_kept(), 3U);
}

// A class takes the only feasible node without scoring it; scoring it for a trace may fail.
TEST_F(KeptSearch, AnErrorInScoringTheOnlyNodeIsNoDifference) {
  policy.scores_single = true;
  nodes(1);
  row_plugins();
  profile.score("TooMuch", [](const Cycle&, NodeRow) -> Score { return 400; }).declared =
      Dependence::kDomain;
  for (int i = 0; i < 3; ++i) {
    SearchTrace trace;
    EXPECT_FALSE(search(world.pod("p"), &trace).outcome.ok());
    EXPECT_EQ(searcher().difference(), std::nullopt);
  }
  EXPECT_EQ(searcher().decided_from_kept(), 2U);
}

// A scorer that looks at more than the row, for some pods.
class FarSighted final : public testing::FakePlugin, public ScorePlugin {
 public:
  using FakePlugin::FakePlugin;
  bool far = true;

  Dependence dependence() const override { return Dependence::kRow; }
  bool score_keys(Cycle&, RowKeys& keys) const override {
    if (far) keys.add_numbers({});
    return true;
  }
  Outcome score(const Cycle&, const NodeSet& feasible, std::span<Score> by_row) const override {
    feasible.for_each([&](NodeRow row) { by_row[row] = 0; });
    return Outcome::success();
  }
  bool normalizes() const override { return false; }
};

TEST_F(KeptSearch, NothingIsKeptOfAPodForWhichARowPluginLooksFurther) {
  nodes(4);
  row_plugins();
  FarSighted& far_sighted =
      profile.add(std::make_unique<FarSighted>("Far"), profile.plugins.score, 1);
  for (int i = 0; i < 3; ++i) search();
  EXPECT_EQ(asked.size(), 4U);
  EXPECT_EQ(searcher().decided_from_kept(), 0U);
  far_sighted.far = false;
  for (int i = 0; i < 3; ++i) search();
  EXPECT_EQ(asked.size(), 0U);
}

// Depends on domains, and throws when it is asked for its keys.
class ThrowingKeys final : public testing::FakePlugin, public ScorePlugin {
 public:
  ThrowingKeys(std::string name, Dependence declares)
      : FakePlugin(std::move(name)), declares_(declares) {}

  Dependence dependence() const override { return declares_; }
  bool score_keys(Cycle&, RowKeys&) const override { throw std::runtime_error("no keys"); }
  Outcome score(const Cycle&, const NodeSet& feasible, std::span<Score> by_row) const override {
    feasible.for_each([&](NodeRow row) { by_row[row] = 0; });
    return Outcome::success();
  }

 private:
  Dependence declares_;
};

struct ThrowingKeysSearch : NodeSearchTest, ::testing::WithParamInterface<Dependence> {};

TEST_P(ThrowingKeysSearch, EveryNodeIsAskedAbout) {
  nodes(3);
  profile.add(std::make_unique<ThrowingKeys>("Throwing", GetParam()), profile.plugins.score, 1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(search().outcome.ok());
}

INSTANTIATE_TEST_SUITE_P(Dependences, ThrowingKeysSearch,
                         ::testing::Values(Dependence::kRow, Dependence::kDomain));

TEST_F(KeptSearch, PodsOfAnotherSpecAreAnotherClass) {
  nodes(4);
  row_plugins();
  for (int i = 0; i < 3; ++i) search();
  search(world.pod("p").cpu("1"));
  EXPECT_EQ(asked.size(), 4U);
}

TEST_F(KeptSearch, ANodeMoreIsAReasonToAskAboutAll) {
  nodes(4);
  row_plugins();
  for (int i = 0; i < 3; ++i) search();
  world.cluster.add_node(world.node("n5"));
  search();
  EXPECT_EQ(asked.size(), 5U);
}

}  // namespace
}  // namespace berth
