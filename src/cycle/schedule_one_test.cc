#include "cycle/schedule_one.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "cycle/testing/cycle_fixture.h"

namespace berth {
namespace {

struct ScheduleOneTest : ::testing::Test {
  CycleFixture fixture;
  FakeWorld& world = fixture.world;
  FakeProfile& profile = fixture.profile;

  ScheduleOneTest() { world.cluster.add_node(world.node("n1")); }
};

TEST_F(ScheduleOneTest, PodsAreTakenByPriorityThenByArrival) {
  fixture.start();
  fixture.add("first");
  fixture.add(world.pod("important").priority(100));
  fixture.add("second");
  fixture.settle();
  EXPECT_THAT(fixture.observer.bound_pods,
              ElementsAre("important on n1", "first on n1", "second on n1"));
}

TEST_F(ScheduleOneTest, APodThatIsBeingDeletedIsSkippedWithAWord) {
  fixture.start();
  const Ref<const Pod> pod = fixture.add(world.pod("p").deleted(WallTime{std::chrono::seconds(5)}));
  fixture.settle();
  ASSERT_THAT(world.api.events, SizeIs(1));
  EXPECT_EQ(world.api.events[0].note, "skip schedule deleting pod: default/p");
  EXPECT_EQ(fixture.queue->place(*pod), QueuePlace::kNowhere);
  EXPECT_EQ(fixture.queue->sizes().in_flight, 0u);
}

TEST_F(ScheduleOneTest, APodThatIsAlreadyAssumedIsSkippedSilently) {
  fixture.start();
  const Ref<const Pod> pod = world.pod("p");
  ASSERT_TRUE(world.cluster.assume(pod, world.row("n1")));
  fixture.add(pod);
  fixture.settle();
  EXPECT_THAT(world.api.events, IsEmpty());
  EXPECT_THAT(fixture.observer.decisions, IsEmpty());
  EXPECT_EQ(fixture.queue->sizes().in_flight, 0u);
}

TEST_F(ScheduleOneTest, ADecisionSaysHowManyNodesWereLookedAt) {
  world.cluster.add_node(world.node("n2"));
  profile.filter("Filter", [](const Cycle& c, NodeRow row) {
    return c.nodes().name_text(row) == "n1" ? Outcome::unschedulable("no") : Outcome();
  });
  profile.score("Score", [](const Cycle&, NodeRow) { return Score{1}; });
  fixture.start();
  fixture.add("p");
  fixture.settle();
  ASSERT_THAT(fixture.observer.decisions, SizeIs(1));
  EXPECT_EQ(fixture.observer.decisions[0].node, "n2");
  EXPECT_EQ(fixture.observer.decisions[0].evaluated_nodes, 2u);
  EXPECT_EQ(fixture.observer.decisions[0].feasible_nodes, 1u);
}

TEST_F(ScheduleOneTest, AssumedPodsCountForTheNextPod) {
  profile.filter("OnePod", [](const Cycle& c, NodeRow row) {
    return c.nodes().pod_counts()[row] > 0 ? Outcome::unschedulable("taken") : Outcome();
  });
  fixture.start();
  fixture.add("first");
  const Ref<const Pod> second = fixture.add("second");
  fixture.settle();
  EXPECT_THAT(fixture.observer.bound_pods, ElementsAre("first on n1"));
  EXPECT_EQ(fixture.queue->place(*second), QueuePlace::kUnschedulable);
}

TEST_F(ScheduleOneTest, PodsToActivateAreWokenWhenTheAttemptSucceeds) {
  Ref<const Pod> sleeper;
  auto& filter = profile.filter("Awake", [](const Cycle& c, NodeRow) {
    return c.pod().name() == "sleeper" ? Outcome::unschedulable("asleep") : Outcome();
  });
  filter.events = std::vector<EventRegistration>();
  profile.reserve("Waker", [&](Cycle& c) {
    if (c.pod().name() == "waker") c.pods_to_activate.push_back(sleeper);
    return Outcome();
  });
  fixture.start();
  sleeper = fixture.add("sleeper");
  fixture.settle();
  ASSERT_EQ(fixture.queue->find(*sleeper)->attempts, 1);
  fixture.add("waker");
  fixture.settle();
  EXPECT_EQ(fixture.queue->find(*sleeper)->attempts, 2);
}

TEST_F(ScheduleOneTest, AfterStopNoPodIsTaken) {
  fixture.start();
  fixture.schedule_one->stop();
  fixture.add("p");
  fixture.run_until(1min);
  EXPECT_THAT(fixture.observer.decisions, IsEmpty());
}

// ---- turns

// Virtual time in which work takes as long as the test says.
class BusyLoop final : public Loop {
 public:
  explicit BusyLoop(VirtualLoop& loop) : loop_(loop) {}
  TimePoint now() const override { return loop_.now(); }
  WallTime wall_now() const override { return loop_.wall_now(); }
  TimePoint tick() const override { return now() + worked; }
  void post(Callback work) override { loop_.post(std::move(work)); }
  TimerId at(TimePoint when, Callback work, TimerKind kind) override {
    return loop_.at(when, std::move(work), kind);
  }
  void cancel(TimerId id) override { loop_.cancel(id); }

  Duration worked{0};

 private:
  VirtualLoop& loop_;
};

struct TurnTest : ScheduleOneTest {
  BusyLoop busy{world.loop};

  // Each pod takes so long, and twenty of them are there.
  void start(Duration of_pod) {
    fixture.loop = &busy;
    profile.filter("Slow", [this, of_pod](const Cycle&, NodeRow) {
      busy.worked += of_pod;
      return Outcome();
    });
    fixture.start();
    for (int i = 0; i < 20; ++i) fixture.add("p" + std::to_string(i));
  }
};

TEST_F(TurnTest, AfterTenMillisecondsPostedWorkIsDoneBeforeTheNextPod) {
  start(4ms);
  std::size_t decided_before = 0;
  ASSERT_TRUE(world.loop.step());  // the first turn
  world.loop.post([&] { decided_before = fixture.observer.decisions.size(); });
  EXPECT_THAT(fixture.observer.decisions, SizeIs(3));
  fixture.settle();
  EXPECT_LE(decided_before, 6u);
  EXPECT_THAT(fixture.observer.decisions, SizeIs(20));
}

TEST_F(TurnTest, OnePodMayTakeLongerThanATurn) {
  start(50ms);
  ASSERT_TRUE(world.loop.step());
  EXPECT_THAT(fixture.observer.decisions, SizeIs(1));
  fixture.settle();
  EXPECT_THAT(fixture.observer.decisions, SizeIs(20));
}

TEST_F(TurnTest, PodsThatTakeNoTimeAreCounted) {
  start(0ms);
  ASSERT_TRUE(world.loop.step());
  EXPECT_THAT(fixture.observer.decisions, SizeIs(16));
  fixture.settle();
  EXPECT_THAT(fixture.observer.decisions, SizeIs(20));
}

// ---- a cycle that is suspended in the middle

// Answers when it is told to.
class LateExtender final : public Extender {
 public:
  std::string_view name() const override { return "late"; }
  bool interested_in(const Pod& pod) const override { return pod.name() == "slow"; }
  bool ignorable() const override { return false; }
  bool filters() const override { return true; }
  bool prioritizes() const override { return false; }
  bool binds() const override { return false; }
  std::int64_t weight() const override { return 1; }
  Task<Result<ExtenderVerdicts>> filter(Ref<const Pod>, std::vector<std::string> nodes) override {
    asked = nodes;
    co_await answered;
    co_return ExtenderVerdicts{nodes, {}, {}};
  }
  Task<Result<std::vector<ExtenderScore>>> prioritize(Ref<const Pod>,
                                                      std::vector<std::string>) override {
    co_return std::vector<ExtenderScore>();
  }
  Task<Result<void>> bind(Ref<const Pod>, std::string) override { co_return Result<void>(); }

  std::vector<std::string> asked;
  Eventual<bool> answered;
};

struct ParkingTest : ScheduleOneTest {
  LateExtender extender;

  void start() {
    fixture.extenders = {&extender};
    fixture.start();
  }
};

TEST_F(ParkingTest, WhileAnExtenderIsAskedChangesWaitAndAreAppliedInOrderAfterwards) {
  start();
  fixture.add("slow");
  fixture.settle();
  ASSERT_THAT(extender.asked, ElementsAre("n1"));
  ASSERT_TRUE(fixture.schedule_one->cycle_open());

  std::vector<int> applied;
  fixture.gate.pass([&] {
    world.cluster.add_node(world.node("n2"));
    applied.push_back(1);
  });
  fixture.gate.pass([&] { applied.push_back(2); });
  EXPECT_THAT(applied, IsEmpty());
  EXPECT_EQ(world.cluster.nodes().node_count(), 1u) << "the cycle sees one state of the world";

  extender.answered.set(true);
  fixture.settle();
  EXPECT_THAT(applied, ElementsAre(1, 2));
  EXPECT_THAT(fixture.observer.bound_pods, ElementsAre("slow on n1"));
}

TEST_F(ParkingTest, ASearchOfMoreThanAHundredMillisecondsIsTraced) {
  start();
  fixture.add("quick");
  fixture.add("slow");
  fixture.settle();
  ASSERT_TRUE(fixture.schedule_one->cycle_open());
  fixture.run_until(250ms);
  EXPECT_THAT(fixture.observer.slow_searches, IsEmpty());
  extender.answered.set(true);
  ASSERT_THAT(fixture.observer.slow_searches, SizeIs(1));
  EXPECT_EQ(fixture.observer.slow_searches[0].total, 250ms);
  EXPECT_EQ(fixture.observer.slow_searches[0].filtered, Duration(250ms));
  EXPECT_EQ(fixture.observer.slow_searches[0].scored, std::nullopt) << "there is one node only";
  EXPECT_EQ(fixture.observer.slow_searches[0].begun, VirtualLoop::kDefaultStart);
}

TEST_F(ParkingTest, NoOtherPodIsTakenMeanwhileButAfterwards) {
  start();
  fixture.add("slow");
  fixture.settle();
  fixture.add("other");
  fixture.run_until(10s);
  EXPECT_THAT(fixture.observer.decisions, IsEmpty());
  extender.answered.set(true);
  fixture.settle();
  EXPECT_THAT(fixture.observer.bound_pods, ElementsAre("slow on n1", "other on n1"));
}

TEST_F(ParkingTest, WaitsAndTimersGoOnAndTheirConsequencesWait) {
  profile.permit("Gang", [](Cycle& c) {
    return c.pod().name() == "waiting" ? PermitResult::wait(5s) : PermitResult();
  });
  start();
  const Ref<const Pod> waiting = fixture.add("waiting");
  fixture.settle();
  ASSERT_TRUE(world.waiting_pods.contains(waiting->uid()));
  fixture.add("slow");
  fixture.run_until(10s);
  EXPECT_FALSE(world.waiting_pods.contains(waiting->uid())) << "its time is up";
  EXPECT_EQ(world.cluster.assumed_count(), 1u) << "but it still has its place";
  extender.answered.set(true);
  fixture.settle();
  EXPECT_EQ(fixture.queue->place(*waiting), QueuePlace::kUnschedulable);
  EXPECT_EQ(world.cluster.assumed_count(), 1u) << "that is the slow one's";
}

TEST_F(ParkingTest, ASchedulerThatEndsInTheMiddleLeavesNothingBehind) {
  start();
  fixture.add("slow");
  fixture.settle();
  fixture.tasks.clear();
  extender.answered.set(true);
  EXPECT_THAT(fixture.observer.bound_pods, IsEmpty());
}

TEST_F(ScheduleOneTest, WhileASearchIsInTurnsTheWorldMovesButNothingChanges) {
  world.cluster.add_node(world.node("n2"));
  world.cluster.add_node(world.node("n3"));
  profile.slow_filter("Slow");
  profile.score("Score", [](const Cycle&, NodeRow) { return Score{1}; });
  fixture.start();
  fixture.add("p");
  fixture.add("q");
  bool added = false;
  bool timer = false;
  world.loop.post([&] {
    EXPECT_TRUE(fixture.schedule_one->cycle_open());
    fixture.gate.pass([&] { added = true; });
    world.loop.after(Duration(0), [&] {
      timer = true;
      EXPECT_FALSE(added);
    });
  });
  while (fixture.observer.decisions.empty() && world.loop.step()) {
  }
  EXPECT_TRUE(timer);
  EXPECT_TRUE(added) << "the cycle is over";
  fixture.settle();
  EXPECT_THAT(fixture.observer.bound_pods, SizeIs(2));
}

TEST_F(ScheduleOneTest, ASearchThatIsInTurnsIsFinishedAfterStopAndNoOtherBegun) {
  world.cluster.add_node(world.node("n2"));
  profile.slow_filter("Slow");
  profile.score("Score", [](const Cycle&, NodeRow) { return Score{1}; });
  fixture.start();
  fixture.add("p");
  fixture.add("q");
  world.loop.post([&] {
    EXPECT_TRUE(fixture.schedule_one->cycle_open());
    fixture.schedule_one->stop();
  });
  fixture.settle();
  EXPECT_THAT(fixture.observer.bound_pods, SizeIs(1));
}

TEST_F(ScheduleOneTest, ASearchThatIsInTurnsEndsWithTheScheduler) {
  world.cluster.add_node(world.node("n2"));
  profile.slow_filter("Slow");
  profile.score("Score", [](const Cycle&, NodeRow) { return Score{1}; });
  fixture.start();
  fixture.add("p");
  world.loop.step();
  ASSERT_TRUE(fixture.schedule_one->cycle_open());
  fixture.tasks.clear();
  fixture.settle();
  EXPECT_THAT(fixture.observer.decisions, IsEmpty());
}

}  // namespace
}  // namespace berth
