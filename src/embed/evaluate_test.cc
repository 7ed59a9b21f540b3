#include "berth/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "embed/testing/scheduler_fixture.h"

namespace berth {
namespace {

struct EvaluatorTest : ::testing::Test {
  Evaluator::Options options{.plugins = Scheduler::built_in_plugins()};

  Evaluator cluster(const std::string& manifest) {
    Result<Evaluator> empty = Evaluator::make(std::move(options));
    EXPECT_TRUE(empty) << empty.error().message;
    Result<Evaluator> made = empty->with(manifest);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  static Evaluator changed(Result<Evaluator> made) {
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  static Verdict only(const Result<std::vector<Verdict>>& verdicts) {
    EXPECT_TRUE(verdicts) << verdicts.error().message;
    EXPECT_EQ(verdicts->size(), 1u);
    return verdicts->front();
  }
  // "a on n1", or "a nowhere"
  static std::vector<std::string> places(const Result<std::vector<Verdict>>& verdicts) {
    EXPECT_TRUE(verdicts) << verdicts.error().message;
    std::vector<std::string> lines;
    for (const Verdict& verdict : *verdicts)
      lines.push_back(verdict.pod + (verdict.fits() ? " on " + verdict.node : " nowhere"));
    return lines;
  }
};

std::string pod_on(const std::string& name, const std::string& node, const std::string& cpu) {
  return pod(name, cpu, "nodeName: " + node + ",");
}

// ---- one question

TEST_F(EvaluatorTest, APodThatFitsHasANodeAndEveryNodeItsScore) {
  Evaluator evaluator = cluster(node("n1", "4") + node("n2", "8"));
  const Verdict verdict = only(evaluator.evaluate(pod("a")));
  EXPECT_TRUE(verdict.fits());
  EXPECT_EQ(verdict.pod, "default/a");
  EXPECT_EQ(verdict.node, "n2");
  EXPECT_EQ(verdict.message, "");
  ASSERT_EQ(verdict.nodes.size(), 2u);
  EXPECT_EQ(verdict.nodes[0].node, "n1");
  EXPECT_TRUE(verdict.nodes[0].fits());
  EXPECT_LT(verdict.nodes[0].score, verdict.nodes[1].score);
  std::int64_t sum = 0;
  for (const auto& [plugin, points] : verdict.nodes[1].by_plugin) sum += points;
  EXPECT_EQ(sum, verdict.nodes[1].score);
  EXPECT_TRUE(verdict.nodes[1].by_plugin.contains("NodeResourcesFit"));
}

TEST_F(EvaluatorTest, APodThatDoesNotFitHasAReasonForEveryNode) {
  Evaluator evaluator =
      cluster(node("n1", "4") + pod_on("there", "n1", "3500m") +
              "---\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\nspec: {unschedulable: true}\n"
              "status: {capacity: {cpu: '1', memory: 8Gi, pods: '10'}}\n");
  const Verdict verdict = only(evaluator.evaluate(pod("a", "2")));
  EXPECT_FALSE(verdict.fits());
  EXPECT_THAT(verdict.message, HasSubstr("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) "
                                         "were unschedulable."));
  ASSERT_EQ(verdict.nodes.size(), 2u);
  ASSERT_EQ(verdict.nodes[0].rejections.size(), 1u);
  EXPECT_EQ(verdict.nodes[0].rejections[0].plugin, "NodeResourcesFit");
  EXPECT_EQ(verdict.nodes[0].rejections[0].code, Code::kUnschedulable);
  EXPECT_THAT(verdict.nodes[0].rejections[0].reasons, ElementsAre("Insufficient cpu"));
  ASSERT_EQ(verdict.nodes[1].rejections.size(), 1u) << "the scheduler asks no further";
  EXPECT_EQ(verdict.nodes[1].rejections[0].plugin, "NodeUnschedulable");
}

TEST_F(EvaluatorTest, AllRejectionsAreToldWhenTheyAreAskedFor) {
  options.question.all_rejections = true;
  Evaluator evaluator = cluster(
      "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {unschedulable: true}\n"
      "status: {capacity: {cpu: '1', memory: 8Gi, pods: '10'}}\n");
  const Verdict verdict = only(evaluator.evaluate(pod("a", "2")));
  ASSERT_EQ(verdict.nodes[0].rejections.size(), 2u);
  EXPECT_EQ(verdict.nodes[0].rejections[0].plugin, "NodeUnschedulable");
  EXPECT_EQ(verdict.nodes[0].rejections[1].plugin, "NodeResourcesFit");
}

TEST_F(EvaluatorTest, ANodeThatPreFilterRuledOutIsRejectedToo) {
  Evaluator evaluator = cluster(node("n1") + node("n2"));
  const Verdict verdict = only(evaluator.evaluate(
      pod("a", "1",
          "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
          "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: "
          "[n2]}]}]}}},")));
  EXPECT_EQ(verdict.node, "n2");
  ASSERT_EQ(verdict.nodes[0].rejections.size(), 1u);
  EXPECT_EQ(verdict.nodes[0].rejections[0].plugin, "NodeAffinity");
  EXPECT_TRUE(verdict.nodes[1].fits());
}

TEST_F(EvaluatorTest, PreemptionSaysWhoWouldHaveToGo) {
  options.question.preempt = true;
  Evaluator evaluator = cluster(node("n1", "1") + pod_on("low", "n1", "1"));
  const Verdict verdict = only(evaluator.evaluate(pod("high", "1", "priority: 10,")));
  EXPECT_FALSE(verdict.fits());
  ASSERT_TRUE(verdict.preemption);
  EXPECT_EQ(verdict.preemption->node, "n1");
  EXPECT_THAT(verdict.preemption->victims, ElementsAre("default/low"));
}

// ---- several pods

TEST_F(EvaluatorTest, PodsThatAreEvaluatedDoNotSeeEachOther) {
  Evaluator evaluator = cluster(node("n1", "1"));
  EXPECT_THAT(places(evaluator.evaluate(pod("a") + pod("b"))),
              ElementsAre("default/a on n1", "default/b on n1"));
  EXPECT_THAT(places(evaluator.evaluate(pod("a"))), ElementsAre("default/a on n1"));
}

TEST_F(EvaluatorTest, PodsThatArePlacedStay) {
  Evaluator evaluator = cluster(node("n1", "1") + node("n2", "1"));
  EXPECT_THAT(places(evaluator.place(pod("a") + pod("b") + pod("c"))),
              ElementsAre("default/a on n1", "default/b on n2", "default/c nowhere"));
  EXPECT_THAT(places(evaluator.evaluate(pod("d"))), ElementsAre("default/d nowhere"));
  Evaluator larger = changed(evaluator.with(node("n3", "1")));
  EXPECT_THAT(places(larger.place(pod("d") + pod("e"))),
              ElementsAre("default/d on n3", "default/e nowhere"));
}

TEST_F(EvaluatorTest, PendingPodsOfTheClusterAreListedAndCanBePlaced) {
  Evaluator evaluator = cluster(node("n1", "1") + pod("b") + pod("a") + pod_on("c", "n1", "100m"));
  const std::vector<Ref<const Pod>> pending = evaluator.pending();
  ASSERT_EQ(pending.size(), 2u);
  EXPECT_EQ(pending[0]->name(), "a");
  const Result<Verdict> nowhere = evaluator.place(pending[0]);
  ASSERT_TRUE(nowhere) << nowhere.error().message;
  EXPECT_FALSE(nowhere->fits());
  Evaluator larger = changed(evaluator.with(node("n2", "1")));
  const Result<Verdict> placed = larger.place(pending[0]);
  ASSERT_TRUE(placed) << placed.error().message;
  EXPECT_EQ(placed->node, "n2");
  EXPECT_THAT(larger.pending(), ElementsAre(pending[1]));
  EXPECT_EQ(larger.place(pending[0]).error().message, "pod default/a has a node already");
}

// ---- a changed cluster

TEST_F(EvaluatorTest, AChangedClusterLeavesTheOneItWasMadeOfAsItIs) {
  Evaluator today = cluster(node("n1", "1"));
  Evaluator larger = changed(today.with(node("n2", "4") + node("n1", "2")));
  EXPECT_THAT(places(today.evaluate(pod("a", "2"))), ElementsAre("default/a nowhere"));
  EXPECT_THAT(places(larger.evaluate(pod("a", "2"))), ElementsAre("default/a on n2"));
  Evaluator without = changed(larger.without(ObjectKind::kNode, "", "n2"));
  EXPECT_THAT(places(without.evaluate(pod("a", "2"))), ElementsAre("default/a on n1"));
  EXPECT_THAT(places(larger.evaluate(pod("a", "2"))), ElementsAre("default/a on n2"));
}

TEST_F(EvaluatorTest, APodThatIsTakenAwayLeavesItsRoom) {
  Evaluator full = cluster(node("n1", "1") + pod_on("there", "n1", "1"));
  EXPECT_THAT(places(full.evaluate(pod("a"))), ElementsAre("default/a nowhere"));
  Evaluator empty = changed(full.without(ObjectKind::kPod, "default", "there"));
  EXPECT_THAT(places(empty.evaluate(pod("a"))), ElementsAre("default/a on n1"));
  const Result<Evaluator> again = empty.without(ObjectKind::kPod, "default", "there");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kNotFound);
}

TEST_F(EvaluatorTest, ObjectsGoInAsObjects) {
  Evaluator empty = cluster("");
  auto small = make_ref<Node>(empty.interner().hold());
  small->name = "n1";
  small->symbol = small->symbols.intern("n1");
  const Symbol cpu = small->symbols.intern("cpu");
  small->capacity.set(cpu, Quantity::of_milli(2000));
  small->capacity.set(small->symbols.intern("pods"), Quantity::of_milli(10'000));
  Evaluator one = changed(empty.with({AnyObject(Ref<const Object>(small))}));
  EXPECT_THAT(places(one.place(pod("a", "1500m") + pod("b", "1500m"))),
              ElementsAre("default/a on n1", "default/b nowhere"));
}

TEST_F(EvaluatorTest, WhatCannotBeAskedIsAnError) {
  Evaluator evaluator = cluster(node("n1"));
  EXPECT_EQ(evaluator.evaluate(node("n2")).error().message, "only pods can be asked about");
  EXPECT_EQ(evaluator.evaluate(pod_on("a", "n1", "1")).error().message,
            "pod default/a has a node already");
  EXPECT_THAT(evaluator
                  .with("kind: Pod\napiVersion: v1\nmetadata: {name: b}\n"
                        "spec: {priority: high}\n")
                  .error()
                  .message,
              HasSubstr("Pod default/b: spec.priority: "));
  EXPECT_EQ(evaluator.evaluate(pod("a", "1", "priorityClassName: none,")).error().kind,
            ErrorKind::kForbidden);
  EXPECT_THAT(Evaluator::make({.plugins = {}, .feature_gates = "Foo=true"}).error().message,
              HasSubstr("unrecognized feature gate: Foo"));
  EXPECT_THAT(
      Evaluator::make({.plugins = Scheduler::built_in_plugins(), .question = {.profile = "other"}})
          .error()
          .message,
      HasSubstr("no profile is named \"other\""));
}

// ---- the cluster of a running scheduler

TEST_F(SchedulerTest, AnEvaluatorHasTheClusterThatTheSchedulerSees) {
  start();
  apply(node("n1", "2") + pod("a") + pod("b", "4"));
  scheduler->run_until(1s);
  Result<Evaluator> now = scheduler->evaluator();
  ASSERT_TRUE(now) << now.error().message;
  ASSERT_EQ(now->pending().size(), 1u);
  EXPECT_EQ(now->pending()[0]->name(), "b");
  EXPECT_EQ(EvaluatorTest::places(now->place(pod("c") + pod("d"))),
            (std::vector<std::string>{"default/c on n1", "default/d nowhere"}));
  EXPECT_EQ(where("c"), "") << "the scheduler does not know of it";
}

TEST_F(SchedulerTest, AnEvaluatorCountsPodsThatAreAboutToBeBound) {
  use(entry("Hold", [](const Handle&) { return std::make_unique<Hold>(); }));
  start();
  apply(node("n1", "1") + pod("a"));
  scheduler->run_until(1s);
  ASSERT_EQ(scheduler->waiting_pods().size(), 1u);
  Result<Evaluator> now = scheduler->evaluator();
  ASSERT_TRUE(now) << now.error().message;
  EXPECT_THAT(now->pending(), IsEmpty());
  EXPECT_EQ(EvaluatorTest::places(now->evaluate(pod("b"))),
            (std::vector<std::string>{"default/b nowhere"}));
}

}  // namespace
}  // namespace berth
