// An increment never changes a decision.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "berth/plugin_table.h"
#include "churn.h"
#include "tests/seeds.h"

namespace berth::churn {
namespace {

using ::testing::HasSubstr;

Seeds wanted{.count = 300};  // set by main, before any test

TEST(Churn, DecideAsALookAtEverythingDoes) {
  std::size_t decisions = 0, placed = 0;
  for (std::uint64_t seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
    const ChurnReport report = Churn(seed).run(120);
    ASSERT_EQ(report.difference, std::nullopt) << "seed " << seed;
    decisions += report.decisions;
    placed += report.placed;
  }
  // The runs are not about nothing.
  EXPECT_GT(placed, wanted.count * 50);
  EXPECT_GT(decisions, placed);
}

// Preemption, with nominated pods that wait for their victims to go.
TEST(Churn, PreemptAsALookAtEverythingDoes) {
  int evicted = 0;
  for (std::uint64_t seed = wanted.first; seed < wanted.first + wanted.count; ++seed) {
    Churn churn(seed);
    churn.crowd();
    ChurnReport report = churn.run(120);
    ASSERT_EQ(report.difference, std::nullopt) << "seed " << seed;
    evicted += report.happened["pod evicted"];
  }
  EXPECT_GT(evicted, static_cast<int>(wanted.count) * 5);
}

// A plugin whose answers change without anything having changed.
class Fickle final : public PerNodeFilter {
 public:
  explicit Fickle(Dependence declared) : declared_(declared) {}
  std::string_view name() const override { return "Fickle"; }
  Dependence dependence() const override { return declared_; }
  Outcome filter_node(const Cycle& cycle, NodeRow row) const override {
    const std::uint64_t pods = cycle.cluster().placed_count();
    return (row + pods) % 3 == 0 ? Outcome::unschedulable("not today") : Outcome::success();
  }

 private:
  Dependence declared_;
};

Churn::Adjust with_fickle(Dependence declared) {
  return [declared](PluginTable& plugins, EngineOptions& options) {
    PluginEntry entry{"Fickle",
                      [declared](const config::PluginArgs&, const Handle&) {
                        return Result<std::unique_ptr<Plugin>>(std::make_unique<Fickle>(declared));
                      },
                      "Filter", 0, "Changes its mind."};
    ASSERT_TRUE(plugins.add(std::move(entry)).has_value());
    for (config::Profile& profile : options.configuration.profiles)
      profile.plugins.at(config::ExtensionPoint::kFilter).enabled.push_back({"Fickle", 0});
  };
}

TEST(Churn, APluginThatDeclaresNothingIsAskedEachTime) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(Churn(seed, with_fickle(Dependence::kAnything)).run(60).difference, std::nullopt);
}

TEST(Churn, APluginThatDeclaresTooMuchIsFoundOut) {
  const ChurnReport report = Churn(1, with_fickle(Dependence::kRow)).run(200);
  ASSERT_TRUE(report.difference);
  EXPECT_THAT(*report.difference, HasSubstr("pod "));
  EXPECT_THAT(*report.difference, HasSubstr(", node "));
}

}  // namespace

int run_tests(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  read_seed_flags(argc, argv, wanted);
  return RUN_ALL_TESTS();
}

}  // namespace berth::churn

int main(int argc, char** argv) { return berth::churn::run_tests(argc, argv); }
