#include "framework/log_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/search_trace.h"
#include "berth/status.h"
#include "framework/observers.h"
#include "framework/testing/fake_plugins.h"

namespace berth {
namespace {

class LogObserverTest : public ::testing::Test {
 protected:
  LogObserver at(int verbosity) {
    telemetry::LogOptions options;
    options.verbosity = verbosity;
    return LogObserver(telemetry::Log(std::make_shared<telemetry::LogOutput>(
        options, [] { return VirtualLoop::kDefaultStart; },
        std::make_unique<telemetry::StringSink>(text_))));
  }
  // What the records say, without time and place.
  std::string said() {
    std::string all;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = text_.find('\n', at);
      const std::size_t body = text_.find("] ", at);
      all += text_.substr(body + 2, end - body - 1);
      at = end + 1;
    }
    text_.clear();
    return all;
  }
  Decision found(const Ref<const Pod>& pod) {
    Decision decision;
    decision.pod = pod;
    decision.node = "n1";
    decision.evaluated_nodes = 5;
    decision.feasible_nodes = 3;
    return decision;
  }

  testing::FakeWorld world_;
  Ref<const Pod> pod_ = world_.pod("web");
  std::string text_;
};

TEST_F(LogObserverTest, SaysAtLevelTwoWhatBecameOfAPod) {
  LogObserver log = at(2);
  log.attempt_started(*pod_, 1);
  log.decided(found(pod_));
  log.bound(*pod_, "n1", 1);
  EXPECT_EQ(said(),
            "\"Successfully bound pod to node\" pod=\"default/web\" node=\"n1\" evaluatedNodes=5"
            " feasibleNodes=3\n");
  log.failed(*pod_, Outcome::unschedulable("0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_EQ(said(),
            "\"Unable to schedule pod; no fit; waiting\" pod=\"default/web\""
            " err=\"0/1 nodes are available: 1 Insufficient cpu.\"\n");
  log.preempted(*pod_, *pod_, "n1");
  EXPECT_THAT(said(),
              HasSubstr("\"Preemptor Pod preempted victim Pod\" preemptor=\"default/web\""));
}

TEST_F(LogObserverTest, TellsErrorsAtEveryLevel) {
  LogObserver log = at(0);
  log.decided(found(pod_));
  log.bound(*pod_, "n1", 1);
  log.failed(*pod_, Outcome::unschedulable("no"));
  EXPECT_THAT(said(), IsEmpty());
  log.failed(*pod_, Outcome::failure("the server is gone"));
  EXPECT_EQ(said(),
            "\"Error scheduling pod; retrying\" err=\"the server is gone\" pod=\"default/web\"\n");
  log.internal_error("odd");
  EXPECT_EQ(said(), "\"odd\"\n");
}

TEST_F(LogObserverTest, SaysWhereThereAreNoNodesAtAll) {
  LogObserver log = at(2);
  Outcome outcome = Outcome::of(Code::kUnschedulable);
  outcome.error = std::string(kNoNodesAvailable);
  log.failed(*pod_, outcome);
  EXPECT_EQ(said(),
            "\"Unable to schedule pod; no nodes are registered to the cluster; waiting\""
            " pod=\"default/web\"\n");
}

TEST_F(LogObserverTest, TellsMoreTheHigherTheLevel) {
  LogObserver log = at(5);
  log.queued(*pod_, QueueName::kBackoff, "ScheduleAttemptFailure");
  log.attempt_started(*pod_, 1);
  const PermitHold holds[] = {{"Quorum", std::chrono::seconds(10)}};
  log.wait_started(*pod_, holds);
  EXPECT_EQ(said(),
            "\"Pod moved to an internal scheduling queue\" pod=\"default/web\""
            " event=\"ScheduleAttemptFailure\" queue=\"Backoff\"\n"
            "\"Attempting to schedule pod\" pod=\"default/web\"\n"
            "\"One or more plugins asked to wait and no plugin rejected pod\" pod=\"default/web\""
            " plugins=[\"Quorum\"]\n"
            "\"Pod waiting on permit\" pod=\"default/web\"\n");
}

TEST_F(LogObserverTest, SaysAtLevelFourWhoTurnedAPodAwayAfterItHadANode) {
  LogObserver log = at(4);
  log.wait_ended(*pod_, Outcome::success(), std::chrono::seconds(1));
  EXPECT_THAT(said(), IsEmpty());
  log.wait_ended(*pod_, Outcome::unschedulable("not enough of them"), std::chrono::seconds(1));
  EXPECT_EQ(said(),
            "\"Pod rejected while waiting on permit\" pod=\"default/web\""
            " status=\"not enough of them\"\n");
  Decision decision = found(pod_);
  decision.outcome = Outcome::unschedulable("no quota").by("Quota");
  decision.outcome.fit_error = fit_error_for_one(decision.outcome);
  log.decided(decision);
  EXPECT_EQ(
      said(),
      "\"Pod rejected by plugin\" pod=\"default/web\" plugin=\"Quota\" status=\"no quota\"\n");
  LogObserver quiet = at(3);
  quiet.decided(decision);
  quiet.wait_ended(*pod_, Outcome::unschedulable("no"), std::chrono::seconds(1));
  EXPECT_THAT(said(), IsEmpty());
  quiet.wait_ended(*pod_, Outcome::failure("preempted"), std::chrono::seconds(1));
  EXPECT_EQ(said(), "\"Failed waiting on permit for pod\" err=\"preempted\" pod=\"default/web\"\n");
}

TEST_F(LogObserverTest, TellsRejectionsAndScoresAtLevelTen) {
  testing::FakeWorld world;
  world.cluster.add_node(world.node("n1"));
  EXPECT_FALSE(at(9).wants_trace(*pod_));
  LogObserver log = at(10);
  EXPECT_TRUE(log.wants_trace(*pod_));
  SearchTrace trace;
  world.cluster.add_node(world.node("n2"));
  trace.rejected.push_back(
      {world.row("n2"), {Outcome::unschedulable("Insufficient cpu").by("NodeResourcesFit")}});
  trace.feasible = NodeSet(2);
  trace.feasible.insert(world.row("n1"));
  trace.scores.push_back({SearchTrace::Scorer::kPlugin, "ImageLocality", {{5, 10, 20}, {}}});
  trace.scores.push_back({SearchTrace::Scorer::kExtender, "gpu", {{7, 7, 70}, {}}});
  trace.totals = {90, 0};
  Observers({&log}).traced(*pod_, world.cluster.nodes(), trace);
  EXPECT_EQ(said(),
            "\"Plugin rejected node for pod\" pod=\"default/web\" plugin=\"NodeResourcesFit\""
            " node=\"n2\" status=\"Insufficient cpu\"\n"
            "\"Plugin scored node for pod\" pod=\"default/web\" plugin=\"ImageLocality\""
            " node=\"n1\" score=20\n"
            "\"Extender scored node for pod\" pod=\"default/web\" extender=\"gpu\""
            " node=\"n1\" score=7\n"
            "\"Calculated node's final score for pod\" pod=\"default/web\" node=\"n1\""
            " score=90\n");
}

TEST_F(LogObserverTest, ASlowSearchIsTracedWithTheStepsThatTookTheirShare) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  LogObserver log = at(0);
  SlowSearch trace;
  trace.begun = VirtualLoop::kDefaultStart + std::chrono::hours(15);
  trace.filtered = milliseconds(120);
  trace.scored = milliseconds(125);
  trace.total = microseconds(125'500);
  log.searched_slowly(*pod_, trace);
  EXPECT_EQ(text_.substr(text_.find("] ") + 2),
            "Trace[1]: \"Scheduling\" namespace:default,name:web (01-Jan-2026 15:00:00.000)"
            " (total time: 125ms):\n"
            "Trace[1]: ---\"Computing predicates done\" 120ms (15:00:00.120)\n"
            "Trace[1]: [125.5ms] [500µs] END\n");
}

TEST_F(LogObserverTest, IsOneOfSeveralObservers) {
  struct Counting final : Observer {
    void internal_error(std::string_view message) override { heard.emplace_back(message); }
    std::vector<std::string> heard;
  };
  LogObserver log = at(0);
  Counting counting;
  Observers both({&log, &counting});
  both.internal_error("odd");
  EXPECT_EQ(said(), "\"odd\"\n");
  EXPECT_THAT(counting.heard, ElementsAre("odd"));
  EXPECT_EQ(both.measuring(), nullptr);
}

}  // namespace
}  // namespace berth
