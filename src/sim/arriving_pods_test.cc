#include "sim/arriving_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "sim/testing/simulated.h"

namespace berth::sim {
namespace {

using testing::node;
using testing::Simulated;

constexpr const char* kPod =
    "{spec: {containers: [{name: c, resources: {requests: {cpu: \"2\"}}}]}}";

std::string arrivals(const std::string& fields, const std::string& pods = kPod) {
  return "arrivals:\n- {name: job, " + fields + ", pods: [" + pods + "]}\n";
}

TEST(Arrivals, ComeEvenlyOverTheTime) {
  const Simulated run(node("n1", "8"), arrivals("count: 4, from: 10s, over: 1m"));
  EXPECT_EQ(run.error, "");
  ASSERT_THAT(run.names(), ElementsAre("job-1", "job-2", "job-3", "job-4"));
  // An arrival is seen 1 ms later, a binding takes effect 1 ms after that.
  const Duration expected[] = {10s, 25s, 40s, 55s};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(run.report.pods[i].bound, TimePoint{expected[i] + 2ms}) << run.names()[i];
}

TEST(Arrivals, EndTheirRunTimeAfterTheyWereBound) {
  const Simulated run(node("n1", "2"), arrivals("count: 3, runs: [30s]"));
  EXPECT_EQ(run.error, "");
  // One fits at a time: the others wait for its end.
  for (const char* name : {"job-1", "job-2", "job-3"}) EXPECT_EQ(run.stands(name), "Finished n1");
  EXPECT_EQ(run.find("job-1")->bound, TimePoint{2ms});
  EXPECT_GT(run.find("job-2")->bound, TimePoint{30s});
  EXPECT_GT(run.find("job-3")->bound, TimePoint{60s});
  EXPECT_TRUE(
      run.happened(R"("time": "30.002s", "what": "scenario", "about": "finish default/job-1")"));
}

TEST(Arrivals, WithoutRunTimesTheyStay) {
  const Simulated run(node("n1", "8"), arrivals("count: 2"));
  EXPECT_EQ(run.stands("job-1"), "Bound n1");
  EXPECT_EQ(run.stands("job-2"), "Bound n1");
}

TEST(Arrivals, TakeManifestsInTurnAndDrawRunTimesBySeed) {
  const std::string scenario =
      arrivals("count: 40, runs: [1m, 2m]", std::string("{metadata: {namespace: a}}, ") + kPod);
  const Simulated run(node("n1", "64"), scenario), again(node("n1", "64"), scenario);
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.find("job-1")->namespace_name, "a");
  EXPECT_EQ(run.find("job-2")->namespace_name, "default");
  EXPECT_TRUE(run.happened(R"("time": "1m0.002s", "what": "scenario")"));
  EXPECT_TRUE(run.happened(R"("time": "2m0.002s", "what": "scenario")"));
  EXPECT_EQ(run.report.timeline, again.report.timeline);
}

TEST(Arrivals, APodThatComesAgainUnderTheNameHasNoRunTime) {
  const Simulated run(
      node("n1", "8"),
      arrivals("count: 1, runs: [30s]") +
          "events:\n- {at: 10s, delete: {kind: Pod, name: job-1}}\n"
          "- {at: 1m, create: {apiVersion: v1, kind: Pod, metadata: {name: job-1}}}\n");
  EXPECT_EQ(run.stands("job-1"), "Bound n1") << "the first one's time ended before";
}

TEST(Arrivals, MistakesAreNamed) {
  struct Row {
    std::string scenario;
    const char* message;
  };
  const Row rows[] = {
      {"arrivals: [{count: 3}]", "scenario.yaml: arrivals[0]: needs name and pods"},
      {arrivals("count: 0"), "scenario.yaml: arrivals[0]: count must be between 1 and 100000000"},
      {arrivals("runs: [-1s]"),
       "scenario.yaml: arrivals[0]: from, over and runs must not be negative"},
      {arrivals("runs: [soon]"),
       "scenario.yaml: arrivals[0].runs[0]: time: invalid duration \"soon\""},
      {arrivals("evry: 3s"), "scenario.yaml: arrivals[0].evry: unknown field"},
      {arrivals("count: 1", "{spec: {priority: high}}"),
       "arrivals job: pods[0]: spec.priority: expected an integer, got a string"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(Simulated(node("n1"), row.scenario).error, row.message) << row.scenario;
}

TEST(Arrivals, PodsThatAdmissionRefusesAreTrouble) {
  const Simulated run(
      node("n1"), arrivals("count: 2", std::string("{spec: {priorityClassName: none}}, ") + kPod));
  EXPECT_EQ(run.error, "");
  EXPECT_THAT(run.names(), ElementsAre("job-2"));
  EXPECT_TRUE(
      run.happened(R"("what": "trouble", "about": "arrivals", "detail": "arrivals job: pods[0]: )"
                   R"(no PriorityClass with name none was found")"));
}

}  // namespace
}  // namespace berth::sim
