#include "sim/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/names.h"
#include "sim/testing/simulated.h"

namespace berth::sim::testing {
namespace {

// Where `second` stands after `first`.
::testing::AssertionResult in_order(const std::string& text, const std::string& first,
                                    const std::string& second) {
  const std::size_t at = text.find(first);
  if (at == std::string::npos) return ::testing::AssertionFailure() << "no " << first;
  if (text.find(second, at) == std::string::npos)
    return ::testing::AssertionFailure() << "no " << second << " after " << first;
  return ::testing::AssertionSuccess();
}

TEST(History, HasNodesWithWhatTheyOffer) {
  const Simulated run(node("n1", "4",
                           "unschedulable: true, taints: [{key: team, value: red, "
                           "effect: NoSchedule}, {key: old, effect: NoExecute}]"));
  ASSERT_EQ(run.error, "");
  EXPECT_THAT(run.report.history, HasSubstr(R"({"name": "n1", "labels": {)"));
  EXPECT_THAT(run.report.history,
              HasSubstr(R"("taints": ["team=red:NoSchedule", "old:NoExecute"], "cordoned": true, )"
                        R"("allocatable": {"cpu": 4000, "memory": )"));
  EXPECT_THAT(run.report.history, HasSubstr(R"({"at": 0, "what": "nodeAdded", "node": 0})"));
}

TEST(History, PodsThatAreAlikeShareATemplate) {
  const Simulated run(node("n1") + pod("a", "500m") + pod("b", "500m") +
                      pod("c", "1", "priority: 7"));
  EXPECT_THAT(run.report.history, HasSubstr(R"({"name": "a", "template": 0})"));
  EXPECT_THAT(run.report.history, HasSubstr(R"({"name": "b", "template": 0})"));
  EXPECT_THAT(run.report.history, HasSubstr(R"({"name": "c", "template": 1})"));
  EXPECT_THAT(run.report.history, HasSubstr(R"("requests": {"cpu": 500)"));
  EXPECT_THAT(run.report.history, HasSubstr(R"("priority": 7)"));
}

TEST(History, TellsAPodsWayToItsNode) {
  const Simulated run(node("n1") + pod("a"));
  const std::string& history = run.report.history;
  EXPECT_TRUE(in_order(history, R"("what": "created", "pod": 0)",
                       R"("what": "queued", "pod": 0, "queue": "active")"));
  EXPECT_TRUE(in_order(history, R"("what": "attempt", "pod": 0, "attempt": 1)",
                       R"("what": "decided", "pod": 0, "outcome": "Success", "node": 0, )"
                       R"("evaluated": 1, "feasible": 1)"));
  EXPECT_TRUE(
      in_order(history, R"("what": "decided")", R"("what": "bound", "pod": 0, "node": 0})"));
}

TEST(History, KeepsAMessageOnce) {
  const Simulated run(node("n1", "1") + pod("a", "2") + pod("b", "2"));
  const std::string& history = run.report.history;
  const std::string message = "0/1 nodes are available: 1 Insufficient cpu.";
  const std::size_t first = history.find(message);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(history.find(message, first + 1), std::string::npos);
  EXPECT_TRUE(in_order(history, R"("what": "failed", "pod": 0, "outcome": "Unschedulable")",
                       R"("what": "failed", "pod": 1, "outcome": "Unschedulable")"));
}

TEST(History, TellsWhatNodesBecome) {
  const Simulated run(
      node("n1"), "events:\n- {at: 1s, cordon: n1}\n- {at: 2s, delete: {kind: Node, name: n1}}\n");
  const std::string& history = run.report.history;
  EXPECT_TRUE(in_order(history,
                       R"({"at": 1000, "what": "nodeChanged", "node": 0, "now": {"labels")",
                       R"("cordoned": true)"));
  EXPECT_TRUE(in_order(history, R"("what": "nodeChanged")",
                       R"({"at": 2000, "what": "nodeRemoved", "node": 0})"));
  EXPECT_THAT(history, HasSubstr("\"cordon n1\""));
}

TEST(History, ANodeThatComesAgainIsTheSameNode) {
  const Simulated run(
      node("n1"),
      "events:\n- {at: 1s, delete: {kind: Node, name: n1}}\n- at: 2s\n  create: {apiVersion: v1, "
      "kind: Node, metadata: {name: n1}, status: {capacity: {cpu: \"64\", pods: \"5\"}}}\n");
  EXPECT_TRUE(in_order(run.report.history, R"("what": "nodeRemoved", "node": 0)",
                       R"("what": "nodeAdded", "node": 0, "now": {"labels": )"));
  EXPECT_THAT(run.report.history, HasSubstr(R"("cpu": 64000)"));
}

TEST(History, APodThatComesAgainIsAnotherPod) {
  const Simulated run(node("n1") + pod("a"),
                      "events:\n- {at: 1s, delete: {kind: Pod, name: a}}\n- at: 1m\n  create: "
                      "{apiVersion: v1, kind: "
                      "Pod, metadata: {name: a}, spec: {containers: [{name: c, image: c}]}}\n");
  const std::string& history = run.report.history;
  EXPECT_TRUE(
      in_order(history, R"("what": "terminating", "pod": 0})", R"("what": "deleted", "pod": 0})"));
  EXPECT_TRUE(in_order(history, R"("what": "deleted", "pod": 0})",
                       R"({"at": 60000, "what": "created", "pod": 1})"));
  EXPECT_TRUE(in_order(history, R"("what": "created", "pod": 1)", R"("what": "bound", "pod": 1)"));
}

TEST(History, TellsOfVictimsAndWhoNeededTheirPlace) {
  const Simulated run(node("n1", "1") + pod("low") +
                          pod("high", "1", "priority: 5\n  schedulingGates: [{name: g}]"),
                      "events: [{at: 1s, removeGate: {pod: high, gate: g}}]");
  EXPECT_THAT(run.report.history, HasSubstr(R"("gates": ["g"])"));
  EXPECT_THAT(run.report.history, HasSubstr(R"("queue": "gated")"));
  EXPECT_THAT(
      run.report.history,
      ::testing::ContainsRegex(R"("what": "preempted", "pod": [01], "by": [01], "node": 0)"));
}

TEST(History, HoldsAtPermitHaveTheirTimeouts) {
  const Simulated run(node("n1") + pod("a", "1", "", "job: x"),
                      "quorums: [{label: job, quorum: 2, timeout: 30s}]\n");
  EXPECT_TRUE(
      in_order(run.report.history, R"("what": "waiting", "pod": 0, "holds": {"Quorum": 30000})",
               R"("what": "settled", "pod": 0, "outcome": "Unschedulable", "plugin": "Quorum")"));
}

}  // namespace
}  // namespace berth::sim::testing
