#include "framework/preemption_evictions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/change_gate.h"
#include "base/testing/names.h"
#include "framework/metrics_observer.h"
#include "framework/testing/fake_plugins.h"

namespace berth {
namespace {

// The call that gives a victim its condition.
std::string mark(const std::string& victim) {
  return fmt::format("patch {} default-scheduler: preempting to accommodate a higher priority pod",
                     victim);
}

class NotingObserver final : public Observer {
 public:
  void preempted(const Pod& victim, const Pod& preemptor, std::string_view node) override {
    told.push_back(fmt::format("{} by {} on {}", victim.name(), preemptor.name(), node));
  }
  void internal_error(std::string_view message) override { internal_errors.emplace_back(message); }
  std::vector<std::string> told, internal_errors;
};

class EvictionsTest : public ::testing::Test {
 protected:
  EvictionsTest() {
    world.cluster.add_node(world.node("n1"));
    preemptor = world.pod("high").priority(10).uid("11111111-2222-3333-4444-555555555555");
    world.cluster.see_pod(preemptor);
  }
  Ref<const Pod> victim(const std::string& name, bool terminating = false) {
    auto pod = world.pod(name);
    pod.on("n1").generation(3);
    if (terminating) pod.deleted(WallTime{std::chrono::hours(1)});
    const Ref<const Pod> made = pod;
    world.cluster.see_pod(made);
    EXPECT_TRUE(world.cluster.add_pod(made).has_value());
    return made;
  }
  PreemptionCandidate on_n1(std::vector<Ref<const Pod>> victims) {
    return {"n1", {std::move(victims), 0}};
  }
  Evictions& evictions() {
    if (!evictions_) {
      Handle handle{"my-scheduler",  world.loop,         world.random,
                    world.cluster,   world.waiting_pods, world.pods_in_pre_bind,
                    world.nominator, world.nominator,    api,
                    world.gates,     &world.cluster,     &gate,
                    &observer};
      evictions_ = std::make_unique<Evictions>(handle, "DefaultPreemption");
    }
    return *evictions_;
  }
  bool running() { return evictions().running_for(preemptor->uid()); }

  FakeWorld world;
  testing::RecordingApi api;
  NotingObserver observer;
  ChangeGate gate;
  Ref<const Pod> preemptor;

 private:
  std::unique_ptr<Evictions> evictions_;
};

TEST_F(EvictionsTest, AVictimGetsItsConditionThenIsDeletedThenTheEventIsTold) {
  evictions().begin(preemptor, on_n1({victim("low")}));
  EXPECT_THAT(api.calls, ElementsAre(mark("low"), "evict low"));
  ASSERT_EQ(api.patches.size(), 1u);
  const PodCondition& condition = api.patches[0].second.condition.value();
  EXPECT_EQ(condition.type, "DisruptionTarget");
  EXPECT_EQ(condition.status, "True");
  EXPECT_EQ(condition.reason, "PreemptionByScheduler");
  EXPECT_EQ(condition.message,
            "default-scheduler: preempting to accommodate a higher priority pod");
  EXPECT_EQ(condition.observed_generation, 3);
  EXPECT_EQ(condition.last_transition_time, world.loop.wall_now());
  ASSERT_EQ(api.events.size(), 1u);
  const PodEvent& event = api.events.front();
  EXPECT_EQ(event.pod->name(), "low");
  EXPECT_EQ(event.type, EventType::kNormal);
  EXPECT_EQ(event.reason, "Preempted");
  EXPECT_EQ(event.action, "Preempting");
  EXPECT_EQ(event.note, "Preempted by pod 11111111-2222-3333-4444-555555555555 on node n1");
  EXPECT_EQ(event.reporting_controller, "my-scheduler");
  ASSERT_TRUE(event.related);
  EXPECT_EQ(event.related->name(), "high");
  EXPECT_THAT(observer.told, ElementsAre("low by high on n1"));
  EXPECT_FALSE(running());
  EXPECT_THAT(world.nominator.activated, IsEmpty()) << "the victims' going will wake it";
}

TEST_F(EvictionsTest, AVictimThatHasTheConditionIsNotPatchedAgain) {
  PodCondition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  condition.message = "default-scheduler: preempting to accommodate a higher priority pod";
  const Ref<const Pod> low = world.pod("low").on("n1").condition(condition);
  evictions().begin(preemptor, on_n1({low}));
  EXPECT_THAT(api.calls, ElementsAre("evict low"));
}

TEST_F(EvictionsTest, NothingBeginsBeforeTheCycleIsOver) {
  gate.close();
  evictions().begin(preemptor, on_n1({victim("low")}));
  EXPECT_THAT(api.calls, IsEmpty());
  EXPECT_TRUE(running());
  gate.open();
  EXPECT_THAT(api.calls, ElementsAre(mark("low"), "evict low"));
  EXPECT_FALSE(running());
}

TEST_F(EvictionsTest, TheLastVictimWaitsForTheOthers) {
  const Ref<const Pod> last = victim("c");
  api.hold("evict a");
  api.hold("evict c");
  evictions().begin(preemptor, on_n1({victim("a"), victim("b"), last}));
  EXPECT_THAT(api.calls, ElementsAre(mark("a"), "evict a", mark("b"), "evict b"));
  EXPECT_TRUE(running());
  api.answer("evict a");
  EXPECT_THAT(api.calls,
              ElementsAre(mark("a"), "evict a", mark("b"), "evict b", mark("c"), "evict c"));
  EXPECT_TRUE(running()) << "the last one still stands there";

  // The watch may be faster than the answer.
  world.cluster.see_pod(world.pod("c").on("n1").deleted(WallTime{std::chrono::hours(1)}));
  EXPECT_FALSE(running()) << "it is going";
  world.cluster.see_pod(last);
  EXPECT_TRUE(running());
  world.cluster.remove_seen_pod(*last);
  EXPECT_FALSE(running()) << "it is gone";
  api.answer("evict c");
  EXPECT_THAT(world.nominator.activated, IsEmpty());
}

TEST_F(EvictionsTest, AfterAFailureTheLastVictimStaysAndThePreemptorIsTriedAgain) {
  api.fails("evict a", {ErrorKind::kUnavailable, "not today"});
  evictions().begin(preemptor, on_n1({victim("a"), victim("b"), victim("c")}));
  EXPECT_THAT(api.calls, ElementsAre(mark("a"), "evict a", mark("b"), "evict b"));
  EXPECT_FALSE(running());
  EXPECT_THAT(world.nominator.activated, ElementsAre(preemptor));
  EXPECT_THAT(observer.internal_errors,
              ElementsAre("Error occurred during async preemption of pod default/high on node n1: "
                          "not today"));
  EXPECT_THAT(observer.told, ElementsAre("b by high on n1"));
}

TEST_F(EvictionsTest, AFailureWithTheLastVictimIsOneTooAndSoIsOneOfTheCondition) {
  for (const char* call : {"evict low", "patch low"}) {
    api.fails(call, {ErrorKind::kForbidden, "no"});
    world.nominator.activated.clear();
    evictions().begin(preemptor, on_n1({world.pod("low").on("n1")}));
    EXPECT_THAT(world.nominator.activated, ElementsAre(preemptor)) << call;
    EXPECT_THAT(observer.told, IsEmpty());
    EXPECT_FALSE(running());
  }
}

TEST_F(EvictionsTest, AVictimThatIsGoneAlreadyIsFineAndNotTold) {
  for (const char* call : {"patch low", "evict low"}) {
    api.fails(call, {ErrorKind::kNotFound, "pods \"low\" not found"});
    evictions().begin(preemptor, on_n1({world.pod("low").on("n1")}));
    EXPECT_THAT(world.nominator.activated, IsEmpty()) << call;
    EXPECT_THAT(observer.told, IsEmpty());
  }
}

TEST_F(EvictionsTest, VictimsThatGoAnywayAreLeftAlone) {
  evictions().begin(preemptor, on_n1({victim("a", true), victim("b")}));
  EXPECT_THAT(api.calls, ElementsAre(mark("b"), "evict b"));
  api.calls.clear();
  world.nominator.nominate(world.pod("lesser").nominated("n1"), world.symbol("n1"));
  evictions().begin(preemptor, on_n1({victim("c", true)}));
  EXPECT_THAT(api.calls, IsEmpty()) << "nor are nominations cleared then";
  EXPECT_FALSE(running());
}

TEST_F(EvictionsTest, LowerNominationsToTheNodeAreClearedFirst) {
  world.nominator.nominate(world.pod("lesser").priority(9).nominated("n1"), world.symbol("n1"));
  world.nominator.nominate(world.pod("equal").priority(10).nominated("n1"), world.symbol("n1"));
  world.nominator.nominate(world.pod("just-decided"), world.symbol("n1"));
  world.nominator.nominate(world.pod("in-flight").scheduler(""), world.symbol("n1"));
  world.nominator.nominate(world.pod("elsewhere").nominated("n2"), world.symbol("n2"));
  evictions().begin(preemptor, on_n1({victim("low")}));
  EXPECT_THAT(api.calls, ElementsAre("patch lesser on \"\"", "patch just-decided on \"\"",
                                     mark("low"), "evict low"));
  EXPECT_THAT(world.nominator.activated, IsEmpty());
}

TEST_F(EvictionsTest, ANominationThatCannotBeClearedStopsNothingAndThePreemptorIsTriedAgain) {
  world.nominator.nominate(world.pod("lesser").priority(9).nominated("n1"), world.symbol("n1"));
  api.fails("patch lesser on \"\"", {ErrorKind::kTimeout, "slow"});
  evictions().begin(preemptor, on_n1({victim("low")}));
  EXPECT_THAT(api.calls, ElementsAre("patch lesser on \"\"", mark("low"), "evict low"));
  EXPECT_THAT(observer.internal_errors,
              ElementsAre("clearing the nominated node of pod default/lesser: slow",
                          "Error occurred during async preemption of pod default/high on node n1: "
                          "clearing the nominated node of pod default/lesser: slow"));
  EXPECT_THAT(world.nominator.activated, ElementsAre(preemptor));
}

class EvictionsMetrics : public EvictionsTest {
 protected:
  telemetry::Registry registry;
  MetricsObserver metrics{world.loop, registry};
  Handle handle{
      "my-scheduler",         world.loop,      world.random,    world.cluster, world.waiting_pods,
      world.pods_in_pre_bind, world.nominator, world.nominator, api,           world.gates,
      &world.cluster,         &gate,           &metrics};
  Evictions counted{handle, "DefaultPreemption"};
};

TEST_F(EvictionsMetrics, VictimsAreCountedAlsoIfAllOfThemGoAnyway) {
  counted.begin(preemptor, on_n1({victim("a", true), victim("b", true)}));
  EXPECT_THAT(registry.text(), HasSubstr("scheduler_preemption_victims_sum 2\n"));
  counted.begin(preemptor, on_n1({victim("c", true), victim("d"), victim("e")}));
  EXPECT_THAT(registry.text(), HasSubstr("scheduler_preemption_victims_sum 5\n"));
  testing::run_task(world.loop, counted.carry_out(preemptor, on_n1({victim("f", true)})));
  EXPECT_THAT(registry.text(), HasSubstr("scheduler_preemption_victims_sum 6\n"));
  EXPECT_THAT(registry.text(), HasSubstr("scheduler_preemption_victims_count 3\n"));
}

TEST_F(EvictionsMetrics, EndedEvictionsAreCountedByTheirResult) {
  const auto ended = [](std::string_view result, int times) {
    return HasSubstr(fmt::format(
        "scheduler_preemption_goroutines_execution_total{{result=\"{}\"}} {}\n", result, times));
  };
  api.hold("evict a");
  counted.begin(preemptor, on_n1({victim("a")}));
  EXPECT_THAT(registry.text(), HasSubstr("operation=\"DefaultPreemption\"} 1\n"));
  EXPECT_THAT(registry.text(), ::testing::Not(ended("success", 1))) << "not before the end";
  api.answer("evict a");
  EXPECT_THAT(registry.text(), ended("success", 1));
  api.fails("evict b", {ErrorKind::kForbidden, "no"});
  counted.begin(preemptor, on_n1({victim("b")}));
  EXPECT_THAT(registry.text(), ended("error", 1));
  world.nominator.nominate(world.pod("lesser").priority(9).nominated("n1"), world.symbol("n1"));
  api.fails("patch lesser on \"\"", {ErrorKind::kTimeout, "slow"});
  counted.begin(preemptor, on_n1({victim("c")}));
  EXPECT_THAT(registry.text(), ended("error", 2)) << "a nomination that stays is an error";
}

TEST_F(EvictionsTest, AWaitingVictimIsTurnedAwayInMemory) {
  const Ref<const Pod> low = world.pod("low");
  const PermitHold hold{"Gang", std::chrono::seconds(30)};
  world.waiting_pods.hold(low, "n1", std::span(&hold, 1));
  evictions().begin(preemptor, on_n1({low}));
  EXPECT_THAT(api.calls, IsEmpty());
  ASSERT_EQ(api.events.size(), 1u);
  EXPECT_EQ(api.events.front().note,
            "Preempted by pod 11111111-2222-3333-4444-555555555555 on node n1 (in kube-scheduler "
            "memory).");
  EXPECT_THAT(world.nominator.activated, IsEmpty());
  world.loop.run();
  EXPECT_THAT(world.nominator.activated, ElementsAre(preemptor)) << "no deletion will wake it";
  // It cannot be turned away twice: the second time it is deleted.
  evictions().begin(preemptor, on_n1({low}));
  EXPECT_THAT(api.calls, ElementsAre(mark("low"), "evict low"));
}

TEST_F(EvictionsTest, AVictimInPreBindIsCancelledUnlessItIsThrough) {
  const Ref<const Pod> low = world.pod("low");
  PodsInPreBind::Stay stay(world.pods_in_pre_bind, low->uid());
  evictions().begin(preemptor, on_n1({low}));
  EXPECT_THAT(api.calls, IsEmpty());
  EXPECT_EQ(stay.token().cause(), "preempted by DefaultPreemption");
  EXPECT_THAT(observer.told, ElementsAre("low by high on n1"));

  const Ref<const Pod> bound = world.pod("bound");
  PodsInPreBind::Stay through(world.pods_in_pre_bind, bound->uid());
  EXPECT_TRUE(through.mark_prebound());
  evictions().begin(preemptor, on_n1({bound}));
  EXPECT_THAT(api.calls, ElementsAre(mark("bound"), "evict bound"));
}

// The place is free when the binding cycle of the rejected pod has ended. Before that the preemptor
// would select the same victim again.
TEST_F(EvictionsTest, ThePreemptorIsTriedAgainWhenTheLastVictimLeftItsPlace) {
  for (const bool leaves : {true, false}) {
    const Ref<const Pod> low = world.pod(leaves ? "quick" : "slow").on("n1");
    world.cluster.see_pod(low);
    ASSERT_TRUE(world.cluster.assume(low, world.row("n1")).has_value());
    PodsInPreBind::Stay stay(world.pods_in_pre_bind, low->uid());
    world.nominator.activated.clear();
    evictions().begin(preemptor, on_n1({low}));
    EXPECT_TRUE(running());
    if (leaves) {
      EXPECT_TRUE(world.cluster.forget(*low).has_value());
    }
    EXPECT_EQ(running(), !leaves);
    world.loop.run();
    EXPECT_FALSE(running());
    EXPECT_EQ(world.nominator.activated.size(), leaves ? 1u : 0u)
        << "the end of its PreBind will wake the preemptor";
  }
}

TEST_F(EvictionsTest, AnInMemoryVictimThatIsNotTheLastActivatesNobody) {
  const Ref<const Pod> low = world.pod("low");
  PodsInPreBind::Stay stay(world.pods_in_pre_bind, low->uid());
  evictions().begin(preemptor, on_n1({low, victim("last")}));
  world.loop.run();
  EXPECT_THAT(api.calls, ElementsAre(mark("last"), "evict last"));
  EXPECT_THAT(world.nominator.activated, IsEmpty());
}

TEST_F(EvictionsTest, CarriedOutInTheForegroundItTellsWhatWentWrong) {
  world.nominator.nominate(world.pod("lesser").nominated("n1"), world.symbol("n1"));
  const Result<void> fine = testing::run_task(
      world.loop, evictions().carry_out(preemptor, on_n1({victim("a"), victim("b", true)})));
  EXPECT_TRUE(fine.has_value());
  EXPECT_THAT(api.calls, ElementsAre(mark("a"), "evict a", "patch lesser on \"\""));
  api.calls.clear();
  api.fails("evict c", {ErrorKind::kForbidden, "hands off"});
  const Result<void> refused =
      testing::run_task(world.loop, evictions().carry_out(preemptor, on_n1({victim("c")})));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "hands off");
  EXPECT_THAT(api.calls, ElementsAre(mark("c"), "evict c")) << "nominations stay then";
}

}  // namespace
}  // namespace berth
