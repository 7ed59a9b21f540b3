// The same inputs and the same seed give the same bytes; another seed gives others.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "api/manifest.h"
#include "app/simulate.h"
#include "berth/random.h"
#include "config/load.h"
#include "plugins/table.h"
#include "random_run.h"
#include "sim/report.h"
#include "sim/simulation.h"

namespace berth::simulation {
namespace {

using namespace std::chrono_literals;

std::string simulated(const std::string& manifests, const std::string& scenario,
                      std::uint64_t seed) {
  app::SimulateOptions options;
  options.files = {fmt::format("{}/{}", BERTH_EXAMPLES, manifests)};
  options.scenario = fmt::format("{}/{}", BERTH_EXAMPLES, scenario);
  options.seed = seed;
  options.output = app::OutputFormat::kJson;
  std::ostringstream out, err;
  const Result<void> done = app::simulate(options, out, err);
  EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
  return out.str();
}

struct Example {
  const char* manifests;
  const char* scenario;
  bool has_choice;  // between equally good nodes, or of calls that fail: what a seed decides

  friend void PrintTo(const Example& example, std::ostream* out) { *out << example.scenario; }
};

class Examples : public ::testing::TestWithParam<Example> {};

TEST_P(Examples, GiveTheSameBytesForTheSameSeedAndOthersForAnotherWhereItHasAChoice) {
  const auto [manifests, scenario, has_choice] = GetParam();
  const std::string first = simulated(manifests, scenario, 1);
  EXPECT_GT(first.size(), 1000u);
  EXPECT_TRUE(simulated(manifests, scenario, 1) == first);
  EXPECT_EQ(simulated(manifests, scenario, 2) != first, has_choice);
}

INSTANTIATE_TEST_SUITE_P(
    Determinism, Examples,
    ::testing::Values(Example{"journey/pods.yaml", "journey/scenario.yaml", true},
                      Example{"nodes-cluster.yaml", "nodes.yaml", false},
                      Example{"flaky-api-cluster.yaml", "flaky-api.yaml", true}),
    [](const auto& test) {
      const std::string name = test.param.scenario;
      return name.substr(0, name.find_first_of("-./"));
    });

TEST(Determinism, ARandomRunWithFaultsIsTheSameTwice) {
  std::vector<std::string> before;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RandomRun first(seed), second(seed);
    const std::vector<std::string> timeline = first.run().timeline;
    EXPECT_EQ(timeline, second.run().timeline) << "seed " << seed;
    EXPECT_NE(timeline, before) << "seed " << seed << " and the one before it";
    before = timeline;
  }
}

// ---- random scenarios through the simulator

std::string random_scenario(Random& random) {
  std::string text = fmt::format(
      "kind: Scenario\n"
      "timing: {{call: {}ms, watch: {}ms}}\n"
      "nodePools:\n"
      "- {{name: node, count: {}, zones: [a, b], node: {{status: {{capacity: {{cpu: \"4\", memory: "
      "8Gi, "
      "pods: \"10\"}}}}}}}}\n"
      "quorums: [{{label: group, quorum: 3, timeout: 20s}}]\n"
      "faults: [{{call: bind, probability: 0.2, error: Unavailable}}]\n"
      "events:\n",
      1 + random.below(50), 1 + random.below(50), 3 + random.below(5));
  for (std::uint64_t i = 0; i < 30; ++i) {
    const std::uint64_t at = random.below(90);
    switch (random.below(5)) {
      case 0:
        text += fmt::format("- {{at: {}s, cordon: node-{}}}\n", at, 1 + random.below(3));
        break;
      case 1:
        text += fmt::format("- {{at: {}s, uncordon: node-{}}}\n", at, 1 + random.below(3));
        break;
      case 2:
        text += fmt::format("- {{at: {}s, delete: {{kind: Pod, name: p{}}}}}\n", at,
                            random.below(i + 1));
        break;
      default:
        text += fmt::format(
            "- {{at: {}s, create: {{apiVersion: v1, kind: Pod, metadata: {{name: p{}, labels: "
            "{{{}}}}}, "
            "spec: {{containers: [{{name: c, image: c, resources: {{requests: {{cpu: "
            "{}m}}}}}}]}}}}}}\n",
            at, i, random.chance(0.3) ? "group: g" : "", 100 * (1 + random.below(20)));
    }
  }
  return text;
}

std::string report_of(const std::string& scenario_text, std::uint64_t seed) {
  Interner interner;
  sim::SimulationOptions options;
  options.configuration = config::default_configuration(options.gates);
  options.seed = seed;
  options.until = 1h;
  Result<sim::Scenario> scenario = sim::parse_scenario(scenario_text, "scenario");
  if (!scenario) return scenario.error().message;
  Result<std::unique_ptr<sim::Simulation>> simulation = sim::Simulation::make(
      interner, plugins::make_plugin_table(), std::move(options), std::move(*scenario));
  if (!simulation) return simulation.error().message;
  return sim::to_json((*simulation)->run());
}

TEST(Determinism, RandomScenariosGiveTheSameBytesTwice) {
  int different = 0;
  for (std::uint64_t number = 1; number <= 20; ++number) {
    Random random(number);
    const std::string scenario = random_scenario(random);
    const std::string first = report_of(scenario, number);
    EXPECT_THAT(first, ::testing::HasSubstr("\"bound\"")) << scenario;
    EXPECT_TRUE(report_of(scenario, number) == first) << scenario;
    if (report_of(scenario, number + 1000) != first) ++different;
  }
  EXPECT_GE(different, 18) << "a seed that changes nothing is not used";
}

}  // namespace
}  // namespace berth::simulation
