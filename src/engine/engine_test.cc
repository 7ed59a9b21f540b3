// Whole journeys: from the watch to the node, in one profile or several, to the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "engine/testing/engine_fixture.h"

namespace berth {
namespace {

// ---- the plain way

TEST_F(EngineTest, APodGoesFromTheWatchToItsNode) {
  start();
  node("n1");
  const Ref<const Pod> p = pod("p");
  run_to(1s);
  EXPECT_THAT(observer.bound_pods, ElementsAre("p on n1"));
  EXPECT_EQ(api.node_of(p), "n1");
  EXPECT_EQ(engine->cluster().placed(p->uid())->node_name(), "n1");
  EXPECT_EQ(queued(), 0u);
  expect_settled();
}

TEST_F(EngineTest, StepByStepOnlyWhatIsAskedForHappens) {
  ASSERT_EQ(make(), "");
  node("n1"), node("n2");
  pod("a"), pod("b");
  run_to(1s);
  EXPECT_THAT(api.binds(), IsEmpty()) << "nobody started it";
  EXPECT_TRUE(engine->run_one());
  EXPECT_EQ(api.binds().size(), 1u);
  EXPECT_TRUE(engine->run_one());
  EXPECT_FALSE(engine->run_one());
  run_to(2s);
  EXPECT_EQ(observer.bound_pods.size(), 2u);
  expect_settled();
}

TEST_F(EngineTest, AfterStopBindingsGoOnAndNobodyElseBegins) {
  permit("Gang", 1min);
  profile("default-scheduler", {"OneEach", "Gang"});
  start();
  node("n1"), node("n2");
  const Ref<const Pod> first = pod("first");
  run_to(1s);
  engine->stop();
  pod("second");
  engine->waiting_pods().allow(first->uid(), "Gang");
  run_to(10s);
  EXPECT_THAT(observer.bound_pods, ElementsAre(HasSubstr("first on")));
  EXPECT_EQ(queued(), 1u);
  engine->start();
  run_to(11s);
  EXPECT_EQ(engine->waiting_pods().size(), 1u) << "and can be started again";
}

TEST_F(EngineTest, AfterStopWritesNothingLeavesAndNobodyStaysAssumed) {
  start();
  node("n1"), node("n2");
  api.on_bind = [](const Pod&) { return TestApi::Fate{.answer = 1min, .shown = std::nullopt}; };
  pod("under-way");
  run_to(1s);
  ASSERT_EQ(engine->cluster().assumed_count(), 1u);
  engine->stop_writes();
  engine->stop();
  pod("later");
  run_to(10min);
  EXPECT_THAT(api.binds(), ElementsAre(HasSubstr("under-way on")));
  EXPECT_THAT(api.messages(), IsEmpty());
  EXPECT_THAT(api.events, IsEmpty()) << "nobody is told of a failure that was none";
  EXPECT_EQ(engine->cluster().assumed_count(), 0u);
  EXPECT_EQ(engine->tasks(), 0u);
}

TEST_F(EngineTest, APodThatFitsNowhereIsHelpedByTheEndOfAnother) {
  start();
  node("n1");
  const Ref<const Pod> first = pod("first");
  run_to(1s);
  const Ref<const Pod> second = pod("second");
  run_to(2s);
  EXPECT_EQ(engine->queue().place(*second), QueuePlace::kUnschedulable);
  EXPECT_THAT(api.messages(),
              ElementsAre("second: 0/1 nodes are available: 1 node(s) were taken."));
  api.remove_pod(first);
  run_to(10s);
  EXPECT_EQ(api.node_of(second), "n1");
  expect_settled();
}

// ---- several profiles

TEST_F(EngineTest, EveryProfileTakesThePodsThatNameIt) {
  const auto only = [this](const std::string& node_name) {
    plugin("Only" + node_name, [this, node_name](const Handle&) {
      auto filter = std::make_unique<FakeFilter>("Only" + node_name);
      filter->script = [this, node_name](const Cycle& cycle, NodeRow row) {
        return cycle.nodes().name(row) == world.symbol(node_name) ? Outcome()
                                                                  : Outcome::unschedulable("no");
      };
      return filter;
    });
  };
  only("n1"), only("n2");
  profile("one", {"Onlyn1"});
  profile("two", {"Onlyn2"});
  start();
  node("n1"), node("n2");
  pod(world.pod("a").scheduler("one"));
  pod(world.pod("b").scheduler("two"));
  const Ref<const Pod> theirs = pod(world.pod("c").scheduler("default-scheduler"));
  run_to(1s);
  EXPECT_THAT(observer.bound_pods, UnorderedElementsAre("a on n1", "b on n2"));
  EXPECT_EQ(api.node_of(theirs), "") << "a pod of somebody else's";
  ASSERT_EQ(api.events.size(), 2u);
  for (const PodEvent& event : api.events)
    EXPECT_EQ(event.reporting_controller, event.pod->name() == "a" ? "one" : "two");
  EXPECT_EQ(made, 8) << "every profile has plugins of its own";
}

TEST_F(EngineTest, TheWaitingPodsOfAllProfilesAreOneTable) {
  // Whoever comes second lets everybody go, whichever profile they came by.
  plugin("Pair", [](const Handle& handle) {
    auto pair = std::make_unique<FakePermit>("Pair");
    pair->script = [&waiting = handle.waiting_pods](Cycle&) {
      if (waiting.size() == 0) return PermitResult::wait(1min);
      for (const WaitingPod& other : waiting.list()) waiting.allow(other.pod->uid(), "Pair");
      return PermitResult{};
    };
    return pair;
  });
  profile("one", {"OneEach", "Pair"});
  profile("two", {"OneEach", "Pair"});
  start();
  node("n1"), node("n2");
  pod(world.pod("a").scheduler("one"));
  run_to(5s);
  EXPECT_EQ(engine->waiting_pods().size(), 1u);
  EXPECT_THAT(observer.bound_pods, IsEmpty());
  pod(world.pod("b").scheduler("two"));
  run_to(6s);
  EXPECT_EQ(observer.bound_pods.size(), 2u);
  expect_settled();
}

// ---- what an engine cannot be made of

TEST_F(EngineTest, WithoutAProfileThereIsNoEngine) {
  EXPECT_EQ(make_as_configured(), "initializing profiles: at least one profile is required");
}

TEST_F(EngineTest, AProfilesMistakeNamesTheProfile) {
  profile("one");
  profile("two", {"Foo"});
  EXPECT_EQ(make_as_configured(),
            "initializing profiles: creating profile for scheduler name two: PreFilterPlugin"
            " \"Foo\" does not exist");
}

TEST_F(EngineTest, ProfilesMustGoTogether) {
  plugin("OtherSort", [](const Handle&) {
    class Other final : public FakePlugin, public QueueSortPlugin {
     public:
      Other() : FakePlugin("OtherSort") {}
      bool less(const QueuedPod&, const QueuedPod&) const override { return false; }
    };
    return std::make_unique<Other>();
  });
  struct Case {
    const char* behaviour;
    std::function<void(EngineTest&)> arrange;
    const char* message;
  };
  const Case cases[] = {
      {"a name twice",
       [](auto& t) {
         t.profile("one");
         t.profile("one");
       },
       "initializing profiles: duplicate profile with scheduler name \"one\""},
      {"no name", [](auto& t) { t.profile(""); },
       "initializing profiles: scheduler name is needed"},
      {"different orders",
       [](auto& t) {
         t.profile("one");
         t.profile("two", {"OtherSort"}).plugins.at(ExtensionPoint::kQueueSort) = {
             {{"OtherSort", 0}}, {"*"}};
       },
       "initializing profiles: different queue sort plugins for profile \"two\": \"OtherSort\","
       " first: \"Sort\""},
      {"different arguments of the order",
       [](auto& t) {
         t.profile("one");
         t.profile("two").plugin_config = {{"Sort", config::OpaqueArgs{"{\"by\":\"age\"}"}}};
       },
       "initializing profiles: different queue sort plugin args for profile \"two\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.behaviour);
    options = {};
    c.arrange(*this);
    EXPECT_EQ(make_as_configured(), c.message);
  }
}

// ---- the end

TEST(EngineThatEnds, InTheMiddleLeavesNothingToHappen) {
  struct Case {
    const char* phase;
    std::function<void(EngineTest&)> arrange;
    std::size_t tasks;  // that are open then
  };
  TestExtender never("never");
  never.late = true;
  const Case cases[] = {
      {"before it is started", [](EngineTest& t) { t.profile("default-scheduler"); }, 1},
      {"pods wait",
       [](EngineTest& t) {
         t.permit("Gang", 1h);
         t.profile("default-scheduler", {"Gang"});
       },
       3},
      {"pods are in PreBind, side by side",
       [](EngineTest& t) {
         t.pre_bind("Volumes", 1h);
         t.profile("default-scheduler", {"Volumes"});
       },
       3},
      {"pods are in Bind",
       [](EngineTest& t) {
         t.profile("default-scheduler");
         t.api.on_bind = [](const Pod&) -> TestApi::Fate { return {1h, {}, 1h}; };
       },
       3},
      {"an extender is asked",
       [&never](EngineTest& t) {
         t.profile("default-scheduler");
         t.options.extenders = {&never};
       },
       1},
      {"failures are being written",
       [](EngineTest& t) {
         t.api.patch_takes = 1h;
         t.plugin("No", [](const Handle&) {
           auto filter = std::make_unique<FakeFilter>("No");
           filter->script = [](const Cycle&, NodeRow) { return Outcome::unschedulable("no"); };
           return filter;
         });
         t.profile("default-scheduler", {"No"});
       },
       3},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.phase);
    struct OneCase : EngineTest {
      void TestBody() override {}
    } test;
    c.arrange(test);
    ASSERT_EQ(test.make(), "");
    test.node("n1");
    for (const char* name : {"a", "b", "c"}) test.pod(name);
    if (c.phase == std::string_view("before it is started")) {
      // Work is posted, but its turn has not come.
      test.engine->start();
    } else {
      test.engine->start();
      test.run_to(1s);
      EXPECT_EQ(test.engine->tasks(), c.tasks);
      test.node("n2");  // parked, in the case of the extender
    }
    const std::size_t binds = test.api.binds().size();
    test.destroy();
    test.run_to(3h);
    EXPECT_EQ(test.api.binds().size(), binds);
    EXPECT_THAT(test.observer.bound_pods, IsEmpty());
    EXPECT_FALSE(test.loop.work_pending());
  }
  never.go_on->set(true);  // an answer that nobody waits for
}

TEST_F(EngineTest, TwoEnginesInOneProcessDoNotKnowOfEachOther) {
  struct OneCase : EngineTest {
    void TestBody() override {}
  } other;
  start();
  other.start();
  node("here");
  other.node("there");
  const Ref<const Pod> p = pod("p");
  const Ref<const Pod> q = other.pod("p");
  run_to(1s);
  other.run_to(1s);
  EXPECT_EQ(api.node_of(p), "here");
  EXPECT_EQ(other.api.node_of(q), "there");
}

}  // namespace
}  // namespace berth
