#include "sim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "sim/testing/simulated.h"

namespace berth::sim::testing {
namespace {

TEST(Simulation, PodsThatFitAreBoundAndItEnds) {
  const Simulated run(node("n1") + pod("a") + pod("b"));
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.stands("a"), "Bound n1");
  EXPECT_EQ(run.stands("b"), "Bound n1");
  EXPECT_FALSE(run.report.cut_short);
  EXPECT_LT(run.report.duration, 1s);
  EXPECT_EQ(run.find("a")->attempts, 1);
  EXPECT_TRUE(run.find("a")->bound.has_value());
}

TEST(Simulation, WithoutAnythingToDoItEndsAtOnce) {
  const Simulated run(node("n1"));
  EXPECT_THAT(run.report.pods, IsEmpty());
  EXPECT_LT(run.report.duration, 1s);
}

TEST(Simulation, APodThatFitsNowhereIsPendingWithUpstreamsSentence) {
  const Simulated run(node("n1") + node("n2", "4", "unschedulable: true") + pod("big", "100"));
  EXPECT_EQ(run.stands("big"), "Pending");
  EXPECT_THAT(run.message("big"), HasSubstr("0/2 nodes are available: 1 Insufficient cpu, 1 node(s)"
                                            " were unschedulable."));
  EXPECT_FALSE(run.report.cut_short);
}

TEST(Simulation, WithoutNodesThatIsSaid) {
  const Simulated run(pod("p"));
  EXPECT_EQ(run.stands("p"), "Pending");
  EXPECT_EQ(run.message("p"), "no nodes available to schedule pods");
}

TEST(Simulation, MoreImportantPodsComeFirst) {
  const Simulated run(node("n1", "1") + pod("small", "1", "priority: 1") +
                      pod("important", "1", "priority: 100"));
  EXPECT_EQ(run.stands("important"), "Bound n1");
  EXPECT_EQ(run.stands("small"), "Pending");
}

TEST(Simulation, ANodeThatComesLaterHelps) {
  const Simulated run(node("n1", "1") + pod("p", "2"),
                      "events:\n- at: 10s\n  create: {apiVersion: v1, kind: Node, metadata: {name: "
                      "n2}, status: {capacity: {cpu: \"4\", memory: 8Gi, pods: \"10\"}}}\n");
  EXPECT_EQ(run.stands("p"), "Bound n2");
  EXPECT_EQ(run.find("p")->attempts, 2);
  EXPECT_GE(run.find("p")->bound->since_start, 10s);
}

TEST(Simulation, OfTracedPodsEveryAttemptIsToldInFull) {
  const Simulated run(
      node("n1", "1") + pod("a", "2") + pod("b"),
      "events:\n- at: 1m\n  create: {apiVersion: v1, kind: Node, metadata: {name: n2}, "
      "status: {capacity: {cpu: \"4\", memory: 8Gi, pods: \"10\"}}}\n",
      {}, {"default/a", "nobody"});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.stands("a"), "Bound n2");
  ASSERT_EQ(run.report.traces.size(), 2U);
  const PodTrace& first = run.report.traces[0];
  const PodTrace& second = run.report.traces[1];
  EXPECT_EQ(first.attempt, 1);
  EXPECT_EQ(first.decision.chosen, "");
  EXPECT_EQ(first.decision.rejected.at("n1").plugin, "NodeResourcesFit");
  EXPECT_THAT(first.decision.message, HasSubstr("0/1 nodes are available"));
  EXPECT_EQ(second.attempt, 2);
  EXPECT_GE(second.at.since_start, 1min);
  EXPECT_EQ(second.decision.chosen, "n2");
  EXPECT_THAT(run.report.not_traced, ElementsAre("nobody"));
}

TEST(Simulation, TracesChangeNothing) {
  std::string manifests = node("n1") + node("n2") + node("n3", "2");
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) manifests += pod(name);
  manifests += pod("big", "4", "priority: 5") + pod("huge", "9");
  const Simulated run(manifests);
  const Simulated traced(manifests, "", {}, {"*"});
  ASSERT_EQ(traced.error, "");
  EXPECT_EQ(traced.report.timeline, run.report.timeline);
  EXPECT_GE(traced.report.traces.size(), 10U);
}

TEST(Simulation, ATracedPodTellsWhomItPreempts) {
  const Simulated run(node("n1", "1") + pod("low") +
                          pod("high", "1", "priority: 5\n  schedulingGates: [{name: g}]"),
                      "events: [{at: 1s, removeGate: {pod: high, gate: g}}]", {}, {"hi*"});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.stands("high"), "Bound n1");
  ASSERT_GE(run.report.traces.size(), 2U);
  const explain::PodDecision& first = run.report.traces.front().decision;
  ASSERT_TRUE(first.preempt);
  EXPECT_EQ(first.preempt->node, "n1");
  EXPECT_THAT(first.preempt->victims, ElementsAre("default/low"));
  EXPECT_EQ(run.report.traces.back().decision.chosen, "n1");
}

TEST(Simulation, APodThatGoesMakesRoom) {
  const Simulated run(
      node("n1", "1") + pod("first", "1", "priority: 9\n  preemptionPolicy: Never") + pod("second"),
      "events: [{at: 5s, delete: {kind: Pod, name: first}}]");
  EXPECT_EQ(run.stands("first"), "gone");
  EXPECT_EQ(run.stands("second"), "Bound n1");
  EXPECT_GE(run.find("second")->bound->since_start, 35s) << "after the grace period";
}

TEST(Simulation, APodThatFinishesMakesRoom) {
  const Simulated run(node("n1", "1") + pod("job", "1", "priority: 9") + pod("next"),
                      "events: [{at: 5s, finish: job}]");
  EXPECT_EQ(run.stands("job"), "Finished n1");
  EXPECT_EQ(run.stands("next"), "Bound n1");
}

TEST(Simulation, TaintsKeepPodsAwayUntilTheyGo) {
  const Simulated run(node("n1", "4", "taints: [{key: gpu, effect: NoSchedule}]") + pod("p") +
                          pod("tolerant", "1", "tolerations: [{key: gpu, operator: Exists}]"),
                      "events: [{at: 7s, untaint: {node: n1, key: gpu}}]");
  EXPECT_EQ(run.find("tolerant")->attempts, 1);
  EXPECT_EQ(run.stands("p"), "Bound n1");
  EXPECT_GE(run.find("p")->bound->since_start, 7s);
}

TEST(Simulation, CordonedNodesTakeNothingUntilTheyAreUncordoned) {
  const Simulated run(node("n1") + pod("p", "1", "schedulingGates: [{name: g}]"),
                      "events: [{at: 1s, cordon: n1}, {at: 2s, removeGate: {pod: p, gate: g}}, "
                      "{at: 20s, uncordon: n1}]");
  EXPECT_EQ(run.stands("p"), "Bound n1");
  EXPECT_GE(run.find("p")->bound->since_start, 20s);
}

// ---- gates

TEST(Simulation, AGatedPodWaitsAndSaysForWhat) {
  const Simulated run(node("n1") +
                      pod("p", "1", "schedulingGates: [{name: first}, {name: second}]"));
  EXPECT_EQ(run.stands("p"), "Gated");
  EXPECT_EQ(run.message("p"), "waiting for scheduling gates: [first second]");
  EXPECT_EQ(run.find("p")->attempts, 0);
  EXPECT_FALSE(run.report.cut_short);
}

TEST(Simulation, WhenTheLastGateGoesThePodIsScheduled) {
  const Simulated run(node("n1") + pod("p", "1", "schedulingGates: [{name: a}, {name: b}]"),
                      "events: [{at: 10s, removeGate: {pod: p, gate: a}}, {at: 20s, removeGate: "
                      "{pod: p, gate: b}}]");
  EXPECT_EQ(run.stands("p"), "Bound n1");
  EXPECT_GE(run.find("p")->bound->since_start, 20s);
}

// ---- waiting at Permit

TEST(Simulation, AGroupGoesWhenItIsComplete) {
  const Simulated run(node("n1") + pod("a", "1", "", "group: g") + pod("b", "1", "", "group: g"),
                      "quorums: [{label: group, quorum: 3, timeout: 1m}]\n"
                      "events:\n- at: 10s\n  create: {apiVersion: v1, kind: Pod, metadata: {name: "
                      "c, labels: {group: g}}, spec: {containers: [{name: c, image: c}]}}\n");
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(run.stands(name), "Bound n1") << name;
    EXPECT_GE(run.find(name)->bound->since_start, 10s) << name;
  }
}

TEST(Simulation, AGroupThatStaysIncompleteIsTurnedAway) {
  const Simulated run(node("n1") + pod("a", "1", "", "group: g") + pod("b", "1", "", "group: g"),
                      "quorums: [{label: group, quorum: 3, timeout: 30s}]");
  EXPECT_EQ(run.stands("a"), "Pending");
  EXPECT_EQ(run.stands("b"), "Pending");
  EXPECT_THAT(run.message("a") + run.message("b"),
              HasSubstr("rejected due to timeout after waiting 30s at plugin Quorum"));
  EXPECT_GE(run.report.duration, 30s);
}

TEST(Simulation, PodsOfAFormerLifeDoNotCountForTheGroup) {
  const std::string member =
      "{apiVersion: v1, kind: Pod, metadata: {name: late, labels: {group: g}}, "
      "spec: {containers: [{name: c, image: c}]}}";
  const Simulated run(node("n1") + pod("a", "1", "", "group: g") + pod("b", "1", "", "group: g"),
                      "quorums: [{label: group, quorum: 2, timeout: 30s}]\n"
                      "events:\n"
                      "- {at: 10s, delete: {kind: Pod, name: a}}\n"
                      "- {at: 10s, delete: {kind: Pod, name: b}}\n"
                      "- at: 2m\n  create: " +
                          member + "\n");
  EXPECT_EQ(run.stands("late"), "Pending") << "one of two: the others are long gone";
}

TEST(Simulation, WaitingPodsAreSettledByTheScenario) {
  const Simulated run(
      node("n1") + pod("go", "1", "", "group: g1") + pod("stay", "1", "", "group: g2"),
      "quorums: [{label: group, quorum: 2, timeout: 10m}]\n"
      "events: [{at: 5s, allow: {pod: go, plugin: Quorum}}, {at: 6s, reject: {pod: stay, plugin: "
      "Quorum, message: not you}}]",
      1min);
  EXPECT_EQ(run.stands("go"), "Bound n1");
  EXPECT_GE(run.find("go")->bound->since_start, 5s);
  EXPECT_TRUE(run.happened("0/1 nodes are available: 1 not you."));
}

TEST(Simulation, AWaitingPodIsReportedAsOne) {
  const Simulated run(node("n1") + pod("p", "1", "", "group: g"),
                      "quorums: [{label: group, quorum: 2, timeout: 10m}]", 1min);
  EXPECT_EQ(run.stands("p"), "Waiting n1");
  EXPECT_EQ(run.message("p"), "held by Quorum");
  EXPECT_TRUE(run.report.cut_short);
  EXPECT_EQ(run.report.duration, 1min);
}

// ---- time

TEST(Simulation, UntilCutsItShort) {
  const Simulated run(node("n1") + pod("p", "1", "schedulingGates: [{name: g}]"),
                      "events: [{at: 1h, removeGate: {pod: p, gate: g}}]", 10min);
  EXPECT_TRUE(run.report.cut_short);
  EXPECT_EQ(run.report.duration, 10min);
  EXPECT_EQ(run.stands("p"), "Gated");
}

TEST(Simulation, UntilLaterThanTheEndChangesNothing) {
  const Simulated run(node("n1") + pod("p"), "", 1h);
  EXPECT_FALSE(run.report.cut_short);
  EXPECT_LT(run.report.duration, 1s);
}

// A change that no plugin waits for wakes nobody; the flush after five minutes does.
TEST(Simulation, AfterAChangeThatWakesNobodyTheFlushTriesAgain) {
  const Simulated run(node("n1", "1") + pod("p", "2"),
                      "events: [{at: 10s, label: {kind: Node, name: n1, key: a, value: b}}]");
  EXPECT_EQ(run.stands("p"), "Pending");
  EXPECT_EQ(run.find("p")->attempts, 2);
  EXPECT_GE(run.report.duration, 5min);
  EXPECT_LE(run.report.duration, 6min);
  EXPECT_TRUE(run.happened("UnschedulableTimeout"));
}

TEST(Simulation, AWallClockThatJumpsBackKeepsNobodyWaiting) {
  const Simulated run(node("n1", "1") + pod("p", "2"),
                      "events:\n- {at: 10s, jumpWallClock: -2h}\n- at: 20s\n  create: {apiVersion: "
                      "v1, kind: Node, metadata: {name: n2}, status: {capacity: {cpu: \"4\", "
                      "memory: 8Gi, pods: \"10\"}}}\n");
  EXPECT_EQ(run.stands("p"), "Bound n2");
  EXPECT_LE(run.find("p")->bound->since_start, 30s);
}

// ---- faults

TEST(Simulation, ABindingThatFailsIsTriedAgain) {
  const Simulated run(node("n1") + pod("p"),
                      "faults: [{call: bind, times: 2, error: Unavailable, message: busy}]");
  EXPECT_EQ(run.stands("p"), "Bound n1");
  EXPECT_EQ(run.find("p")->attempts, 3);
  EXPECT_TRUE(run.happened("busy"));
}

TEST(Simulation, ThePlaceOfAFailedBindingHelpsOthers) {
  const Simulated run(
      node("n1", "1") + pod("first", "1", "priority: 9\n  preemptionPolicy: Never") + pod("second"),
      "faults: [{call: bind, pods: first, error: Unavailable, message: busy}]", 2min);
  EXPECT_EQ(run.stands("second"), "Bound n1");
  EXPECT_EQ(run.stands("first"), "Pending");
}

TEST(Simulation, APreemptionIsPlayedToItsEnd) {
  const Simulated run(
      node("n1", "1") + pod("low", "1", "terminationGracePeriodSeconds: 7"),
      "events: [{at: 1s, create: {apiVersion: v1, kind: Pod, metadata: {name: high}, spec: "
      "{priority: 5, containers: [{name: c, image: c, resources: {requests: {cpu: \"1\"}}}]}}}]");
  EXPECT_EQ(run.stands("low"), "Preempted n1");
  EXPECT_EQ(run.message("low"), "preempted by default/high");
  EXPECT_EQ(run.find("low")->preempted_by, "default/high");
  EXPECT_EQ(run.find("low")->bound->since_start, 2ms);
  EXPECT_EQ(run.stands("high"), "Bound n1");
  EXPECT_GE(run.find("high")->bound->since_start, 8s);
  EXPECT_TRUE(run.happened(
      R"("what": "preempted", "pod": "default/low", "by": "default/high", "node": "n1")"));
}

TEST(Simulation, AVictimThatIsStillGoingSaysForWhom) {
  const Simulated run(node("n1", "1") + pod("low") +
                          pod("high", "1", "priority: 5\n  schedulingGates: [{name: g}]"),
                      "events: [{at: 1s, removeGate: {pod: high, gate: g}}]", 10s);
  EXPECT_EQ(run.stands("low"), "Terminating n1");
  EXPECT_EQ(run.message("low"), "preempted by default/high");
  EXPECT_TRUE(run.report.cut_short);
}

TEST(Simulation, APreemptionThatNeverWorksEndsTheRunAllTheSame) {
  const Simulated run(node("n1", "1") + pod("low") +
                          pod("high", "1", "priority: 5\n  schedulingGates: [{name: g}]"),
                      "events: [{at: 1s, removeGate: {pod: high, gate: g}}]\n"
                      "faults: [{call: evict, error: Forbidden}]");
  EXPECT_EQ(run.stands("low"), "Bound n1");
  EXPECT_EQ(run.stands("high"), "Pending");
  EXPECT_TRUE(run.report.stuck);
}

TEST(Simulation, ABindingThatNeverWorksEndsTheRunAllTheSame) {
  const Simulated run(node("n1") + pod("p"), "faults: [{call: bind, error: Forbidden}]", 24h);
  EXPECT_EQ(run.stands("p"), "Pending");
  EXPECT_FALSE(run.report.cut_short);
}

TEST(Simulation, ABindingThatWorkedAndSaidOtherwiseIsNotRepeated) {
  const Simulated run(node("n1") + pod("p"),
                      "faults: [{call: bind, error: Timeout, takesEffect: true, answerDelay: 2s}]");
  EXPECT_EQ(run.stands("p"), "Bound n1");
  EXPECT_EQ(run.find("p")->attempts, 1);
}

TEST(Simulation, FaultsApplyInTheirTimeToTheirPodsAndTheFirstOneDecides) {
  const Simulated run(node("n1") + pod("web-1") + pod("db-1"),
                      "faults:\n"
                      "- {call: bind, pods: \"default/db-*\", times: 1, error: Timeout, message: "
                      "slow}\n"
                      "- {call: bind, from: 1m, error: Internal, message: never}\n"
                      "- {call: bind, pods: \"web-*\", until: 0s, error: Internal, message: past}");
  EXPECT_EQ(run.find("web-1")->attempts, 1);
  EXPECT_EQ(run.find("db-1")->attempts, 2);
  EXPECT_FALSE(run.happened("never"));
  EXPECT_FALSE(run.happened("past"));
}

// ---- the scenario's events, told in the timeline

TEST(Simulation, WhatCannotBeDoneIsNotedAndTheRunGoesOn) {
  const Simulated run(
      node("n1") + pod("p"),
      "events: [{at: 1s, cordon: n9}, {at: 1s, removeGate: {pod: p, gate: g}}, {at: "
      "1s, allow: {pod: p, plugin: X}}, {at: 1s, delete: {kind: Pod, name: q}}]");
  EXPECT_TRUE(run.happened(R"("what": "trouble", "about": "cordon n9")"));
  EXPECT_TRUE(run.happened(R"(node \"n9\" not found)"));
  EXPECT_TRUE(run.happened(R"(pod \"default/p\" has no scheduling gate \"g\")"));
  EXPECT_TRUE(run.happened(R"(pod \"default/p\" is not waiting at X)"));
  EXPECT_TRUE(run.happened(R"(Pod \"default/q\" not found)"));
  EXPECT_EQ(run.stands("p"), "Bound n1");
}

TEST(Simulation, TheTimelineTellsTheWholeStory) {
  const Simulated run(node("n1") + pod("p"));
  std::string story;
  for (const std::string& entry : run.report.timeline) {
    const std::size_t at = entry.find("\"what\": \"") + 9;
    story += entry.substr(at, entry.find('"', at) - at) + " ";
  }
  EXPECT_EQ(story, "queued attempt decided event bound ");
}

// ---- loading

TEST(Simulation, KindsThatSchedulingDoesNotReadAreSkippedAndNamed) {
  const Simulated run(node("n1") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
  ASSERT_EQ(run.error, "");
  ASSERT_EQ(run.simulation->skipped().size(), 1u);
  EXPECT_THAT(run.simulation->skipped()[0],
              HasSubstr("ConfigMap c is not read by scheduling, skipped"));
}

TEST(Simulation, TwoObjectsOfOneNameAreAnError) {
  const Simulated run(pod("p") + pod("p"));
  EXPECT_THAT(run.error, HasSubstr("Pod \"default/p\" already exists"));
  EXPECT_THAT(run.error, HasSubstr("cluster.yaml: document 2"));
}

TEST(Simulation, PodsThatAreOnNodesAlreadyTakeTheirRoom) {
  const Simulated run(node("n1", "1") + pod("running", "1", "nodeName: n1") + pod("p"));
  EXPECT_EQ(run.stands("running"), "Bound n1");
  EXPECT_EQ(run.stands("p"), "Pending");
}

TEST(Simulation, PodsOfAnotherSchedulerAreLeftAlone) {
  const Simulated run(node("n1") + pod("p", "1", "schedulerName: somebody-else"));
  EXPECT_EQ(run.stands("p"), "Pending");
  EXPECT_EQ(run.find("p")->attempts, 0);
}

TEST(Simulation, ANodeThatGoesTakesItsPodsWithItAfterAWhile) {
  const Simulated run(node("n1") + pod("p"), "events: [{at: 10s, delete: {kind: Node, name: n1}}]");
  EXPECT_EQ(run.stands("p"), "gone");
  EXPECT_GE(run.report.duration, 50s);
}

// A pod may be bound to a node long after the node is gone: it waited at Permit meanwhile.
TEST(Simulation, APodThatIsBoundToANodeThatIsGoneIsCollectedAsWell) {
  const Simulated run(
      node("n1") + pod("p", "1", "", "group: g"),
      "quorums: [{label: group, quorum: 2, timeout: 10m}]\n"
      "events: [{at: 10s, delete: {kind: Node, name: n1}}, {at: 5m, allow: {pod: p, "
      "plugin: Quorum}}]");
  EXPECT_EQ(run.stands("p"), "gone");
}

}  // namespace
}  // namespace berth::sim::testing
