#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/result.h"
#include "perf/test_case.h"

namespace berth::perf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kBasic = R"(
- name: Basic
  labels: [fast]
  defaultPodTemplatePath: pod.yaml
  featureGates: {A: true}
  workloadTemplate:
  - {opcode: createNodes, countParam: $initNodes}
  - {opcode: createPods, count: 3, collectMetrics: true}
  workloads:
  - name: Small
    labels: [performance]
    featureGates: {B: false}
    params: {initNodes: 5}
  - {name: Empty}
)";

TEST(TestCases, AreReadWithTheirWorkloads) {
  const Result<std::vector<TestCase>> read = parse_test_cases(kBasic, "folder/x.yaml");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->size(), 1U);
  const TestCase& basic = read->front();
  EXPECT_EQ(basic.name, "Basic");
  EXPECT_EQ(basic.folder, "folder");
  EXPECT_EQ(basic.default_pod_template, "pod.yaml");
  ASSERT_EQ(basic.workloads.size(), 2U);
  const Workload& small = basic.workloads.front();
  EXPECT_THAT(small.labels, ElementsAre("fast", "performance"));
  EXPECT_EQ(small.feature_gates, (std::map<std::string, bool>{{"A", true}, {"B", false}}));
  EXPECT_EQ(*basic.operations[0].number("count", small, 0), 5);
  EXPECT_EQ(*basic.operations[1].number("count", small, 0), 3);
  EXPECT_TRUE(basic.operations[1].flag("collectMetrics"));
  const Result<std::int64_t> missing = basic.operations[0].number("count", basic.workloads[1], 0);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message,
            "Basic: operation 1: workload Empty has no parameter $initNodes");
}

TEST(TestCases, ComplaintsSayWhatAndWhere) {
  for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"a: b", "x.yaml: line 1: expected a list of test cases"},
           {"- {}", "x.yaml: a test case has no name"},
           {"- name: A", "x.yaml: A needs a list workloadTemplate"},
           {"- {name: A, workloadTemplate: [{}], workloads: []}",
            "x.yaml: A: operation 1 has no opcode"},
           {"- {name: A, workloadTemplate: [], workloads: [{}]}",
            "x.yaml: A has a workload without a name"}}) {
    const Result<std::vector<TestCase>> read = parse_test_cases(text, "x.yaml");
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().message, complaint);
  }
}

TEST(Results, GoThroughJsonUnchanged) {
  Progress::Measured measured;
  measured.pods = 4;
  measured.took = std::chrono::seconds(2);
  for (int i = 1; i <= 4; ++i) measured.when.push_back(std::chrono::milliseconds(500 * i));
  measured.attempts = {Duration(1000), Duration(3000), Duration(2000), Duration(4000)};
  WorkloadResult result = summarize("A/B", measured);
  result.peak_rss_bytes = 123456789;
  EXPECT_EQ(result.pods_per_second, 2);
  EXPECT_EQ(result.attempt_seconds.p50, 2e-6);
  EXPECT_EQ(result.attempt_seconds.p99, 4e-6);
  WorkloadResult skipped;
  skipped.name = "A/C";
  skipped.skipped = "opcode \"x\" is not supported";
  const std::string json = to_json({result, skipped});
  const Result<std::vector<WorkloadResult>> read = results_from_json(json);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(to_json(*read), json);
  EXPECT_THAT(to_table(*read), HasSubstr("A/C       skipped: opcode \"x\" is not supported"));
}

}  // namespace
}  // namespace berth::perf
