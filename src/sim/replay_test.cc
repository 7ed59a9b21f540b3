#include "sim/replay.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "api/decode.h"
#include "api/defaulting.h"
#include "base/stable_sort.h"
#include "base/testing/names.h"
#include "config/load.h"
#include "plugins/table.h"
#include "sim/report.h"
#include "sim/simulation.h"

namespace berth::sim::testing {
namespace {

struct ReplayTest : ::testing::Test {
  AnyObject object(ObjectKind kind, const std::string& json) {
    Admission admission;
    admission.now = trace.start;
    return decode_object(kind, json, interner, &admission).value();
  }
  void happens(Duration at, DeltaType type, AnyObject what) {
    trace.steps.push_back({at, type, std::move(what), {}});
  }
  void node(const std::string& name, const std::string& cpu, Duration at = 0s,
            const std::string& spec = "", DeltaType type = DeltaType::kAdded) {
    happens(
        at, type,
        object(ObjectKind::kNode,
               fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}}},"status":{{"capacity":)"
                           R"({{"cpu":"{}","memory":"8Gi","pods":"110"}}}}}})",
                           name, spec, cpu)));
  }
  static std::string pod_json(const std::string& name, const std::string& cpu,
                              const std::string& spec = "", const std::string& metadata = "") {
    return fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"default"{}}},"spec":{{{}"containers":[{{"name":"c",)"
        R"("resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}})",
        name, metadata, spec, cpu);
  }
  // A pod that arrives, and what became of it there.
  trace::PodPast& pod(const std::string& name, Duration at, const std::string& cpu = "1",
                      const std::string& there = "", const std::string& spec = "") {
    const AnyObject made = object(ObjectKind::kPod, pod_json(name, cpu, spec));
    happens(at, DeltaType::kAdded, made);
    trace::PodPast& past = trace.pods.emplace_back();
    past.uid = std::get<Ref<const Pod>>(made)->uid();
    past.namespace_name = "default";
    past.name = name;
    past.arrived = at;
    past.scheduled_there = true;
    past.node = there;
    if (!there.empty()) past.bound = at + 1ms;
    return past;
  }
  void goes(const std::string& name, Duration at, const std::string& cpu = "1") {
    happens(at, DeltaType::kDeleted, object(ObjectKind::kPod, pod_json(name, cpu)));
  }

  const SimulationReport& replay() {
    sort_stably(trace.steps, {}, &trace::Step::at);
    SimulationOptions options;
    options.configuration = config::default_configuration(options.gates);
    options.trace = &trace;
    options.explain_differences = true;
    auto simulation =
        Simulation::make(interner, plugins::make_plugin_table(), std::move(options), scenario)
            .value();
    report = simulation->run();
    return report;
  }
  const PodReport& of(const std::string& name) const {
    const auto found = std::ranges::find(report.pods, name, &PodReport::name);
    EXPECT_NE(found, report.pods.end()) << name;
    return *found;
  }
  std::string stands(const std::string& name) const {
    return of(name).status + " " + of(name).node;
  }
  std::size_t count(Agreement agreement) const {
    const auto found = report.replay->counts.find(agreement);
    return found == report.replay->counts.end() ? 0 : found->second;
  }

  Interner interner;
  trace::Trace trace;
  Scenario scenario;
  SimulationReport report;
};

TEST_F(ReplayTest, PodsArriveWhenTheyDidAndGoWhereBerthPutsThem) {
  node("n1", "4");
  pod("a", 5s, "1", "n1");
  pod("b", 9s, "1", "n1");
  replay();
  EXPECT_EQ(stands("a"), "Bound n1");
  EXPECT_GE(*of("a").bound, TimePoint{5s});
  EXPECT_GE(*of("b").bound, TimePoint{9s});
  EXPECT_EQ(report.replay->pods, 2U);
  EXPECT_EQ(count(Agreement::kSameNode), 2U);
  EXPECT_TRUE(report.replay->differences.empty());
}

// On a full node the second waits for the end of the first.
TEST_F(ReplayTest, APodEndsItsRunTimeAfterItWasBoundHere) {
  node("n1", "1");
  pod("a", 1s, "1", "n1").run_time = 60s;
  pod("b", 2s, "1", "n2").run_time = 30s;
  trace.pods[1].end = PodPhase::kFailed;
  trace.pods[1].removed_after_end = 10s;
  replay();
  EXPECT_EQ(stands("a"), "Finished n1");
  EXPECT_EQ(stands("b"), "Finished n1");
  EXPECT_GE(*of("b").bound, TimePoint{61s});
  EXPECT_GE(report.duration, 101s);
}

TEST_F(ReplayTest, PodsAndNodesGoWhenTheyWent) {
  node("n1", "1");
  pod("a", 1s, "1", "n1");
  pod("b", 2s);
  goes("a", 40s);
  node("n2", "4", 20s);
  node("n2", "4", 30s, R"("unschedulable":true)", DeltaType::kUpdated);
  pod("c", 35s);
  replay();
  EXPECT_EQ(stands("a"), "Deleted n1");
  EXPECT_EQ(stands("b"), "Bound n2");
  EXPECT_GE(*of("b").bound, TimePoint{20s});
  EXPECT_EQ(stands("c"), "Bound n1") << "n2 is cordoned, n1 is free after 40 s";
  EXPECT_GE(*of("c").bound, TimePoint{40s});
}

TEST_F(ReplayTest, SaysWhoWentElsewhereAndWhy) {
  node("n1", "4", 0s, R"("taints":[{"key":"k","value":"v","effect":"NoSchedule"}])");
  node("n2", "4");
  node("n3", "2");
  pod("elsewhere", 1s, "1", "n1");
  pod("less", 2s, "1", "n3");
  pod("nowhere-here", 3s, "50", "n9");
  pod("nowhere-there", 4s, "100m").message = "0/3 nodes are available: 3 Insufficient cpu.";
  pod("nowhere", 5s, "50");
  replay();
  EXPECT_EQ(report.replay->pods, 5U);
  EXPECT_EQ(count(Agreement::kOtherNode), 2U);
  EXPECT_EQ(count(Agreement::kOnlyThere), 1U);
  EXPECT_EQ(count(Agreement::kOnlyHere), 1U);
  EXPECT_EQ(count(Agreement::kNowhere), 1U);
  std::map<std::string, std::string> why;
  for (const ReplayedPod& pod : report.replay->differences) why[pod.name] = pod.explanation;
  EXPECT_EQ(why["elsewhere"], "n1: node(s) had untolerated taint(s) (TaintToleration)");
  EXPECT_THAT(why["less"], ::testing::MatchesRegex("n3 scored [0-9]+, n2 [0-9]+: .*-[0-9]+.*"));
  EXPECT_EQ(why["nowhere-here"], "n9 is not there");
  EXPECT_EQ(why["nowhere-there"], "0/3 nodes are available: 3 Insufficient cpu.");
  EXPECT_THAT(differences_text(*report.replay),
              ::testing::HasSubstr("default/elsewhere: n1 at 1.001s in the trace, n2 at 1.00"));
  EXPECT_THAT(to_table(report),
              ::testing::EndsWith("compared with the trace: 5 pods: 2 on another node, 1 bound in "
                                  "the trace only, 1 bound here only, 1 bound in neither\n"));
  EXPECT_THAT(to_json(report), ::testing::HasSubstr(R"("agreement": "otherNode")"));
}

TEST_F(ReplayTest, AnotherSchedulersPodsGoWhereTheyWent) {
  node("n1", "4");
  node("n2", "4", 0s, R"("unschedulable":true)");
  pod("a", 1s, "3", "n2", R"("schedulerName":"other",)").run_time = 30s;
  replay();
  EXPECT_EQ(stands("a"), "Finished n2");
  EXPECT_EQ(report.replay->pods, 0U);
}

// Labels, gates and the like change as they did; where the pod is does not.
TEST_F(ReplayTest, WhatIsWrittenFromOutsideChangesAsItDid) {
  node("n1", "4");
  node("n2", "4");
  pod("a", 1s, "1", "n2", R"("schedulingGates":[{"name":"g"}],)");
  happens(30s, DeltaType::kUpdated, object(ObjectKind::kPod, pod_json("a", "1")));
  replay();
  EXPECT_EQ(of("a").status, "Bound");
  EXPECT_GE(*of("a").bound, TimePoint{30s});
}

// Of a StatefulSet: there it was evicted and made again.
TEST_F(ReplayTest, ANewPodOfTheSameNameTakesThePlaceOfTheOld) {
  node("n1", "1");
  pod("web-0", 1s, "1", "n1");
  const AnyObject again = object(
      ObjectKind::kPod, pod_json("web-0", "1", "", R"(,"uid":"another","labels":{"a":"b"})"));
  happens(20s, DeltaType::kAdded, again);
  replay();
  EXPECT_EQ(report.pods.size(), 2U);
  EXPECT_EQ(report.pods[0].status, "Bound");
  EXPECT_EQ(report.pods[1].status, "Deleted");
}

TEST_F(ReplayTest, ManifestsBecomePodsThatRunAsLongAsTheRecordedOnes) {
  node("n1", "4");
  trace.steps.push_back({1s,
                         DeltaType::kAdded,
                         {},
                         R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web",
      "namespace":"default"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{
      "metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}]}}}})"});
  trace.run_times_by_owner["Deployment default/web"] = {10s, 20s};
  scenario = {};
  replay();
  std::size_t finished = 0;
  for (const PodReport& pod : report.pods) finished += pod.status == "Finished" ? 1 : 0;
  EXPECT_EQ(finished, 2U);
}

TEST_F(ReplayTest, TwoReplaysAreTheSame) {
  for (int i = 0; i < 4; ++i) node(fmt::format("n{}", i), "4");
  for (int i = 0; i < 40; ++i)
    pod(fmt::format("p{}", i), Duration(1s) * (i / 3), "500m", fmt::format("n{}", i % 4)).run_time =
        Duration(1s) * (i % 7);
  const std::string once = to_json(replay());
  EXPECT_EQ(to_json(replay()), once);
}

// Finding out why changes nothing.
TEST_F(ReplayTest, ExplainingDoesNotChangeWherePodsGo) {
  for (int i = 0; i < 4; ++i) node(fmt::format("n{}", i), "4");
  for (int i = 0; i < 20; ++i)
    pod(fmt::format("p{}", i), Duration(1s) * i, "500m", fmt::format("n{}", i % 4));
  replay();
  const std::vector<PodReport> explained = report.pods;
  SimulationOptions options;
  options.configuration = config::default_configuration(options.gates);
  options.trace = &trace;
  const auto plain =
      Simulation::make(interner, plugins::make_plugin_table(), std::move(options), {}).value();
  const SimulationReport other = plain->run();
  ASSERT_EQ(other.pods.size(), explained.size());
  for (std::size_t i = 0; i < explained.size(); ++i)
    EXPECT_EQ(other.pods[i].node, explained[i].node) << explained[i].name;
}

}  // namespace
}  // namespace berth::sim::testing
