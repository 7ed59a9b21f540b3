#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/names.h"
#include "config/load.h"
#include "plugins/table.h"
#include "sim/report.h"
#include "sim/simulation.h"
#include "sim/testing/simulated.h"

namespace berth::sim::testing {
namespace {

constexpr std::string_view kGates = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true";

SimulationReport simulate(const std::string& manifests, std::string_view gates) {
  Interner interner;
  SimulationOptions options;
  const Result<void> set = options.gates.set(gates);
  EXPECT_TRUE(set) << set.error().message;
  options.configuration = config::default_configuration(options.gates);
  Result<std::vector<ManifestObject>> objects = read_manifest(manifests, "test", interner);
  EXPECT_TRUE(objects) << objects.error().message;
  const Result<void> admitted = admit_all(*objects, interner, VirtualLoop::kDefaultStart);
  EXPECT_TRUE(admitted) << admitted.error().message;
  Result<std::unique_ptr<Simulation>> made =
      Simulation::make(interner, plugins::make_plugin_table(), std::move(options), Scenario{});
  EXPECT_TRUE(made) << made.error().message;
  const Result<void> loaded = (*made)->load(*objects);
  EXPECT_TRUE(loaded) << loaded.error().message;
  return (*made)->run();
}

std::string member(const std::string& name, const std::string& group) {
  return pod(name, "3", "schedulingGroup: {podGroupName: " + group + "}");
}

std::string gang(const std::string& name, int min_count) {
  return "---\napiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: " + name +
         "}\nspec: {schedulingPolicy: {gang: {minCount: " + std::to_string(min_count) + "}}}\n";
}

TEST(SimulatedGroups, TheReportTellsHowEachGroupEnded) {
  const SimulationReport report = simulate(
      node("n1") + node("n2") + gang("fits", 2) + gang("waits", 2) + gang("absent", 1) +
          member("a", "fits") + member("b", "fits") + member("c", "waits") + member("d", "waits"),
      "GenericWorkload=true");
  ASSERT_EQ(report.groups.size(), 3U);
  EXPECT_EQ(report.groups[0].name, "absent");
  EXPECT_EQ(report.groups[0].status, "");
  EXPECT_EQ(report.groups[1].status, "True");
  EXPECT_EQ(report.groups[1].bound, 2U);
  EXPECT_EQ(report.groups[2].reason, "Unschedulable");
  EXPECT_EQ(report.groups[2].bound, 0U);
  const std::string table = to_table(report);
  EXPECT_THAT(table, HasSubstr("group default/absent: 0 of 0 pods bound, not tried\n"
                               "group default/fits: 2 of 2 pods bound, scheduled\n"
                               "group default/waits: 0 of 2 pods bound, not scheduled "
                               "(Unschedulable): minCount (2) cannot be satisfied: "
                               "0 scheduled, 1 remaining"));
  EXPECT_THAT(to_json(report),
              HasSubstr(R"({"namespace": "default", "name": "fits", "pods": 2, "bound": 2, )"
                        R"("status": "True", "reason": "Scheduled"})"));
}

TEST(SimulatedGroups, WithoutTheGateThereAreOnlyPods) {
  const SimulationReport report =
      simulate(node("n1") + gang("g", 2) + member("a", "g") + member("b", "g"), "");
  EXPECT_THAT(report.groups, IsEmpty());
  EXPECT_THAT(to_table(report), Not(HasSubstr("group ")));
  EXPECT_EQ(report.pods[0].status, "Bound") << "as if it had no group";
}

// docs/scenario.md shows it.
TEST(SimulatedGroups, TheExampleEndsAsItIsDocumented) {
  const std::string table =
      to_table(simulate(read_file(BERTH_EXAMPLES "/gangs/gangs.yaml").value(), kGates));
  EXPECT_THAT(read_file(BERTH_SCENARIOS).value(),
              HasSubstr("--feature-gates " + std::string(kGates) + "\n" + table + "```\n"));
}

}  // namespace
}  // namespace berth::sim::testing
