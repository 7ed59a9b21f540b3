// Journeys that are disturbed: extenders, answers out of order, pods and nodes that go on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "engine/testing/engine_fixture.h"

namespace berth {
namespace {

// ---- extenders

TEST_F(EngineTest, APodThatAnExtenderTurnsAwayIsTriedAgainOnAnyEvent) {
  TestExtender extender("http://extender");
  bool open = false;
  extender.verdicts = [&open](std::vector<std::string> nodes) {
    ExtenderVerdicts answer;
    for (std::string& name : nodes)
      if (open)
        answer.nodes.push_back(std::move(name));
      else
        answer.failed[std::move(name)] = "closed";
    return answer;
  };
  options.extenders = {&extender};
  start();
  node("n1");
  const Ref<const Pod> p = pod("p");
  run_to(1s);
  EXPECT_THAT(api.messages(), ElementsAre("p: 0/1 nodes are available: 1 closed."));
  EXPECT_EQ(engine->queue().place(*p), QueuePlace::kUnschedulable);
  open = true;
  run_to(20s);
  EXPECT_EQ(engine->queue().place(*p), QueuePlace::kUnschedulable) << "nothing happened";
  engine->apply(
      {DeltaType::kUpdated, Ref<const Object>(world.node("n1").annotation("a", "b").build())});
  run_to(21s);
  EXPECT_EQ(api.node_of(p), "n1");
}

TEST_F(EngineTest, ExtendersThatMayBeIgnoredAreAskedLast) {
  std::vector<std::string> asked;
  TestExtender first("first"), second("second"), third("third");
  for (TestExtender* extender : {&first, &second, &third}) extender->asked = &asked;
  first.may_be_ignored = true;
  options.extenders = {&first, &second, &third};
  start();
  node("n1"), node("n2");
  pod("p");
  run_to(1s);
  EXPECT_THAT(asked, ElementsAre("second", "third", "first"));
}

TEST_F(EngineTest, WhileAnExtenderIsAskedTheWorldStandsStillAndTimeDoesNot) {
  permit("Gang", 1min);
  TestExtender extender("slow");
  options.extenders = {&extender};
  profile("default-scheduler", {"OneEach", "Gang"});
  start();
  node("n1");
  const Ref<const Pod> waits = pod("waits");
  run_to(1s);
  ASSERT_EQ(engine->waiting_pods().size(), 1u);
  node("n2");
  extender.late = true;
  const Ref<const Pod> asks = pod("asks");
  run_to(2s);
  ASSERT_TRUE(engine->cycle_open());
  const Ref<const Node> late_node = node("n3");
  api.remove_pod(waits);
  EXPECT_EQ(engine->cluster().nodes().node_count(), 2u) << "parked";
  EXPECT_EQ(engine->waiting_pods().size(), 1u);
  run_to(2min);  // the wait is over meanwhile
  EXPECT_EQ(engine->cluster().assumed_count(), 1u) << "but its place is kept until the cycle ends";
  extender.late = false;
  extender.go_on->set(true);
  EXPECT_FALSE(engine->cycle_open());
  EXPECT_EQ(engine->cluster().nodes().node_count(), 3u);
  engine->waiting_pods().allow(asks->uid(), "Gang");
  run_to(3min);
  EXPECT_EQ(api.node_of(asks), "n2") << "as it was when the cycle began";
  EXPECT_EQ(api.node_of(waits), "gone");
  expect_settled();
  EXPECT_EQ(queued(), 0u);
}

// ---- the answer to a binding and what the watch shows

TEST_F(EngineTest, AnswersAndTheWatchMayComeInAnyOrder) {
  struct Case {
    const char* behaviour;
    TestApi::Fate first;
    std::vector<std::string> binds;
    const char* node;
  };
  const char* timeout = "timed out";
  const Case cases[] = {
      {"answered, then shown", {0s, {}, 3s}, {"p on n1"}, "n1"},
      {"shown, then answered", {3s, {}, 1s}, {"p on n1"}, "n1"},
      {"shown at the same time", {1s, {}, 1s}, {"p on n1"}, "n1"},
      {"it failed and is tried again", {1s, timeout, std::nullopt}, {"p on n1", "p on n1"}, "n1"},
      {"shown, then the answer is a failure", {3s, timeout, 1s}, {"p on n1"}, "n1"},
      {"the answer is a failure, then it is shown after all",
       {100ms, timeout, 500ms},
       {"p on n1"},
       "n1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.behaviour);
    struct OneCase : EngineTest {
      void TestBody() override {}
    } test;
    bool is_first = true;
    test.api.on_bind = [&](const Pod&) {
      return std::exchange(is_first, false) ? c.first : TestApi::Fate{};
    };
    test.start();
    test.node("n1");
    const Ref<const Pod> p = test.pod("p");
    test.run_to(1min);
    EXPECT_EQ(test.api.binds(), c.binds);
    EXPECT_EQ(test.api.node_of(p), c.node);
    EXPECT_EQ(test.engine->cluster().placed_count(), 1u);
    EXPECT_EQ(test.queued(), 0u);
    test.expect_settled();
  }
}

TEST_F(EngineTest, AFailedBindingGivesThePlaceToOthers) {
  int binds = 0;
  api.on_bind = [&](const Pod&) -> TestApi::Fate {
    if (++binds == 1) return {1s, "try later", std::nullopt};
    return {};
  };
  start();
  node("n1");
  const Ref<const Pod> unlucky = pod("unlucky");
  run_to(500ms);
  const Ref<const Pod> waiting_for_room = pod("other");
  run_to(900ms);
  EXPECT_EQ(engine->queue().place(*waiting_for_room), QueuePlace::kUnschedulable);
  run_to(1min);
  EXPECT_THAT(api.binds(), ElementsAre("unlucky on n1", "other on n1"));
  EXPECT_THAT(api.messages(), Contains("unlucky: running Bind plugin \"Binder\": try later"));
  EXPECT_EQ(engine->queue().place(*unlucky), QueuePlace::kUnschedulable);
  EXPECT_EQ(reserved - unreserved, 1) << "the one that is bound";
  expect_settled();
}

// ---- pods that are deleted on the way

TEST(DeletedPods, LeaveNothingBehindWhereverTheyWere) {
  struct Case {
    const char* phase;
    std::function<void(EngineTest&)> arrange;
    std::size_t queued, waiting, assumed, tasks;  // of the pod, before it is deleted
    std::size_t binds;                            // that were sent, in the end
  };
  const Case cases[] = {
      {"queued: it fits nowhere",
       [](EngineTest& t) { t.profile("default-scheduler", {"OneEach"}); }, 1, 0, 0, 0, 0},
      {"waiting",
       [](EngineTest& t) {
         t.permit("Gang", 1h);
         t.profile("default-scheduler", {"Gang"});
       },
       0, 1, 1, 1, 0},
      {"in PreBind: the place is given back at once, the binding fails later",
       [](EngineTest& t) {
         t.pre_bind("Volumes", 10s);
         t.profile("default-scheduler", {"Volumes"});
         t.api.on_bind = [](const Pod&) -> TestApi::Fate {
           return {0s, "pods \"p\" not found", std::nullopt};
         };
       },
       0, 0, 1, 1, 1},
      {"in Bind",
       [](EngineTest& t) {
         t.profile("default-scheduler");
         t.api.on_bind = [](const Pod&) -> TestApi::Fate {
           return {10s, "pods \"p\" not found", std::nullopt};
         };
       },
       0, 0, 1, 1, 1},
      {"in Bind, and the API says yes all the same",
       [](EngineTest& t) {
         t.profile("default-scheduler");
         t.api.on_bind = [](const Pod&) -> TestApi::Fate { return {10s, {}, 5s}; };
       },
       0, 0, 1, 1, 1},
  };
  for (const Case& c : cases) {
    for (const bool in_two_steps : {false, true}) {
      SCOPED_TRACE(c.phase);
      SCOPED_TRACE(in_two_steps ? "with a grace period" : "at once");
      struct OneCase : EngineTest {
        void TestBody() override {}
      } test;
      c.arrange(test);
      test.start();
      test.node("n1");
      if (c.queued > 0) test.api.create_pod(test.world.pod("resident").on("n1"));
      const Ref<const Pod> p = test.pod("p");
      test.run_to(2s);
      EXPECT_EQ(test.queued(), c.queued);
      EXPECT_EQ(test.engine->waiting_pods().size(), c.waiting);
      EXPECT_EQ(test.engine->cluster().assumed_count(), c.assumed);
      EXPECT_EQ(test.engine->tasks(), c.tasks);
      if (in_two_steps) {
        test.engine->apply(
            {DeltaType::kUpdated,
             test.world.pod("p").version("2").deleted(test.loop.wall_now()).build()});
        test.run_to(3s);
      }
      test.api.remove_pod(p);
      test.run_to(4s);
      EXPECT_EQ(test.engine->cluster().assumed_count(), 0u) << "the place is free at once";
      test.run_to(1min);
      EXPECT_EQ(test.api.binds().size(), c.binds);
      EXPECT_EQ(test.engine->cluster().seen_pod("default", "p"), nullptr);
      EXPECT_EQ(test.engine->cluster().placed_count(), c.queued);  // the resident
      EXPECT_EQ(test.queued(), 0u);
      test.expect_settled();
    }
  }
}

TEST_F(EngineTest, AWaitingPodThatIsDeletedTellsSo) {
  permit("Gang", 1h);
  profile("default-scheduler", {"Gang"});
  start();
  node("n1");
  const Ref<const Pod> p = pod("p");
  run_to(1s);
  api.remove_pod(p);
  run_to(2s);
  ASSERT_EQ(observer.failures.size(), 1u);
  EXPECT_EQ(observer.failures[0].second.message(), "0/1 nodes are available: 1 removed.");
  EXPECT_EQ(reserved, unreserved);
}

TEST_F(EngineTest, APodMadeAnewWhileTheOldOneWaitsIsScheduledOnItsOwn) {
  permit("Gang", 10s);
  profile("default-scheduler", {"OneEach", "Gang"});
  start();
  node("n1");
  pod(world.pod("p").uid("first"));
  run_to(1s);
  const Ref<const Pod> second = world.pod("p").uid("second").version("2");
  api.create_pod(second);
  run_to(5s);
  EXPECT_TRUE(engine->waiting_pods().contains(second->uid()));
  engine->waiting_pods().allow(second->uid(), "Gang");
  run_to(1min);
  EXPECT_THAT(observer.bound_pods, ElementsAre("p on n1"));
  expect_settled();
}

// ---- nodes that go

TEST_F(EngineTest, ANodeThatGoesWhilePodsAreAssumedOnIt) {
  permit("Gang", 1h);
  profile("default-scheduler", {"Gang"});
  start();
  const Ref<const Node> gone = node("n1");
  const Ref<const Pod> p = pod("p"), q = pod("q");
  run_to(1s);
  remove(gone);
  EXPECT_EQ(engine->cluster().nodes().node_count(), 0u);
  EXPECT_EQ(engine->cluster().assumed_count(), 2u) << "their binding cycles decide";
  EXPECT_TRUE(engine->waiting_pods().reject(q->uid(), "Gang", "no node"));
  EXPECT_TRUE(engine->waiting_pods().allow(p->uid(), "Gang"));
  run_to(2s);
  EXPECT_EQ(api.node_of(p), "n1") << "the API server does not mind";
  EXPECT_EQ(engine->cluster().nodes().ghost_count(), 1u);
  EXPECT_NE(engine->queue().place(*q), QueuePlace::kNowhere);
  api.remove_pod(p);
  api.remove_pod(q);
  run_to(3s);
  EXPECT_EQ(engine->cluster().nodes().ghost_count(), 0u);
  EXPECT_EQ(queued(), 0u);
  expect_settled();
}

TEST_F(EngineTest, WithoutNodesPodsWaitForOne) {
  start();
  const Ref<const Pod> p = pod("p");
  run_to(1s);
  EXPECT_THAT(api.messages(), ElementsAre("p: no nodes available to schedule pods"));
  node("n1");
  run_to(1min);
  EXPECT_EQ(api.node_of(p), "n1");
  expect_settled();
}

}  // namespace
}  // namespace berth
