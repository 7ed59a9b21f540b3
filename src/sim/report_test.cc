#include "sim/report.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"

namespace berth::sim {
namespace {

PodReport bound(std::string name, std::string node, Duration at) {
  PodReport pod;
  pod.namespace_name = "default";
  pod.name = std::move(name);
  pod.status = "Bound";
  pod.node = std::move(node);
  pod.bound = TimePoint{at};
  pod.attempts = 1;
  return pod;
}

PodReport pending(std::string name, std::string message) {
  PodReport pod;
  pod.namespace_name = "shop";
  pod.name = std::move(name);
  pod.status = "Pending";
  pod.attempts = 12;
  pod.message = std::move(message);
  return pod;
}

TEST(ReportTable, HasAColumnForEverythingAndTheReasonLast) {
  SimulationReport report;
  report.duration = 90s;
  report.pods = {bound("web-1", "n1", 2ms), pending("a-long-name", "0/1 nodes are available.")};
  EXPECT_EQ(to_table(report),
            "NAMESPACE  NAME         STATUS   NODE  AT   TRIES  REASON\n"
            "default    web-1        Bound    n1    2ms  1\n"
            "shop       a-long-name  Pending             12     0/1 nodes are available.\n"
            "\n"
            "2 pods: 1 bound, 1 pending after 1m30s of virtual time\n");
}

TEST(ReportTable, SumsUpInAFixedOrder) {
  SimulationReport report;
  for (const char* status :
       {"Finished", "Gated", "Pending", "Terminating", "Waiting", "Bound", "Bound"}) {
    PodReport pod;
    pod.name = status;
    pod.status = status;
    report.pods.push_back(pod);
  }
  const std::string table = to_table(report);
  EXPECT_EQ(table.substr(table.rfind("\n\n") + 2),
            "7 pods: 2 bound, 1 waiting, 1 pending, 1 gated, 1 terminating, 1 finished after 0s of "
            "virtual time\n");
}

TEST(ReportTable, OfNothingIsAHeadAndASum) {
  EXPECT_EQ(
      to_table(SimulationReport{}),
      "NAMESPACE  NAME  STATUS  NODE  AT  TRIES  REASON\n\n0 pods after 0s of virtual time\n");
}

TEST(ReportTable, SaysThatItWasCutShort) {
  SimulationReport report;
  report.cut_short = true;
  report.duration = 1h;
  EXPECT_NE(to_table(report).find("0 pods after 1h0m0s of virtual time, cut short by --until\n"),
            std::string::npos);
}

TEST(ReportJson, HasPodsAndTimeline) {
  SimulationReport report;
  report.duration = 90s;
  report.cut_short = true;
  report.pods = {bound("web-1", "n1", 2ms), pending("p", "it says \"no\"\n")};
  report.timeline = {R"({"time": "0s", "what": "queued"})", R"({"time": "1s"})"};
  EXPECT_EQ(to_json(report),
            R"({
  "duration": "1m30s",
  "cutShort": true,
  "pods": [
    {"namespace": "default", "name": "web-1", "status": "Bound", "node": "n1", "boundAt": "2ms", "attempts": 1},
    {"namespace": "shop", "name": "p", "status": "Pending", "attempts": 12, "message": "it says \"no\"\n"}
  ],
  "timeline": [
    {"time": "0s", "what": "queued"},
    {"time": "1s"}
  ]
}
)");
}

PodTrace trace_of_p() {
  PodTrace trace;
  trace.at = TimePoint{5s};
  trace.attempt = 2;
  trace.decision.pod = "shop/p";
  trace.decision.all_nodes = 2;
  trace.decision.rejected["n1"] = {Code::kUnschedulable, "NodeResourcesFit", {"Insufficient cpu"}};
  trace.decision.chosen = "n2";
  return trace;
}

TEST(ReportJson, HasTheTracesThatWereAskedFor) {
  SimulationReport report;
  report.traces = {trace_of_p()};
  EXPECT_EQ(to_json(report),
            R"({
  "duration": "0s",
  "cutShort": false,
  "pods": [],
  "timeline": [],
  "traces": [
    {"at": "5s", "attempt": 2, "decision": {"pod": "shop/p", "rejected": {"n1": {"code": "Unschedulable", "plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"]}}, "chosen": "n2"}}
  ]
}
)");
}

TEST(ReportTable, HasTheTracesThatWereAskedForFirst) {
  SimulationReport report;
  report.traces = {trace_of_p()};
  EXPECT_EQ(to_table(report),
            "5s, attempt 2: shop/p  ->  n2\n"
            "  1 of 2 nodes fits; nothing to choose from\n"
            "  1 of 2 nodes does not\n"
            "       1  NodeResourcesFit: Insufficient cpu\n"
            "          n1\n"
            "\n" +
                to_table(SimulationReport{}));
}

TEST(ReportJson, OfNothingHasEmptyLists) {
  EXPECT_EQ(to_json(SimulationReport{}),
            "{\n  \"duration\": \"0s\",\n  \"cutShort\": false,\n  \"pods\": [],\n  \"timeline\": "
            "[]\n}\n");
}

}  // namespace
}  // namespace berth::sim
