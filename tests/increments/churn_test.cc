// An increment never changes a decision.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "churn.h"
#include "framework/plugin_table.h"

namespace berth::increments {
namespace {

using ::testing::HasSubstr;

std::uint64_t first_seed = 1, last_seed = 300;

TEST(Increments, DecideAsALookAtEverythingDoes) {
  std::size_t decisions = 0, placed = 0;
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    const ChurnReport report = Churn(seed).run(120);
    ASSERT_EQ(report.difference, std::nullopt) << "seed " << seed;
    decisions += report.decisions;
    placed += report.placed;
  }
  // The runs are not about nothing.
  EXPECT_GT(placed, (last_seed - first_seed + 1) * 50);
  EXPECT_GT(decisions, placed);
}

// Preemption, with nominated pods that wait for their victims to go.
TEST(Increments, PreemptAsALookAtEverythingDoes) {
  int evicted = 0;
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    Churn churn(seed);
    churn.crowd();
    ChurnReport report = churn.run(120);
    ASSERT_EQ(report.difference, std::nullopt) << "seed " << seed;
    evicted += report.happened["pod evicted"];
  }
  EXPECT_GT(evicted, static_cast<int>(last_seed - first_seed + 1) * 5);
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

TEST(Increments, APluginThatDeclaresNothingIsAskedEachTime) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(Churn(seed, with_fickle(Dependence::kAnything)).run(60).difference, std::nullopt);
}

TEST(Increments, APluginThatDeclaresTooMuchIsFoundOut) {
  const ChurnReport report = Churn(1, with_fickle(Dependence::kRow)).run(200);
  ASSERT_TRUE(report.difference);
  EXPECT_THAT(*report.difference, HasSubstr("pod "));
  EXPECT_THAT(*report.difference, HasSubstr(", node "));
}

}  // namespace
}  // namespace berth::increments

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--seeds="))
      berth::increments::last_seed = std::strtoull(argv[i] + 8, nullptr, 10);
    if (argument.starts_with("--seed="))
      berth::increments::first_seed = berth::increments::last_seed =
          std::strtoull(argv[i] + 7, nullptr, 10);
  }
  return RUN_ALL_TESTS();
}
