#include "framework/object_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/kinds.h"
#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/task.h"

namespace berth {
namespace {

struct ObjectWaitsTest : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};
  VirtualLoop loop;
  ObjectWaits waits{loop, cluster};
  CancelSource stop;
  std::vector<std::string> log;
  TaskSet tasks;

  static const char* to_text(WaitEnd end) {
    return end == WaitEnd::kChanged ? "changed" : end == WaitEnd::kDeadline ? "late" : "cancelled";
  }
  Task<void> wait_for(std::vector<ObjectName> names, Duration at_most, int times) {
    const TimePoint deadline = loop.now() + at_most;
    for (int i = 0; i < times; ++i) {
      NextChange change = waits.next_change(names, deadline, stop.token());
      const WaitEnd end = co_await change;
      log.push_back(std::string(to_text(end)) + " at " +
                    std::to_string((loop.now() - TimePoint{}) / 1s));
      if (end != WaitEnd::kChanged) co_return;
    }
  }
  void begin(std::vector<ObjectName> names, Duration at_most = 10s, int times = 1) {
    tasks.spawn(wait_for(std::move(names), at_most, times));
  }
  void put(const std::string& name) {
    auto object = make_ref<Service>(world.interner.hold());
    object->namespace_name = object->symbols.intern("ns");
    object->name = name;
    cluster.put(std::move(object));
  }
  static ObjectName service(const std::string& name) { return {ObjectKind::kService, "ns", name}; }
};

TEST_F(ObjectWaitsTest, AChangeWakesInATurnOfItsOwn) {
  begin({service("a"), service("b")});
  loop.after(2s, [this] {
    put("other");
    put("b");
    log.push_back("applied");
    put("a");  // once is enough
  });
  loop.run();
  EXPECT_THAT(log, ElementsAre("applied", "changed at 2"));
  EXPECT_EQ(tasks.size(), 0U);
  EXPECT_EQ(cluster.object_changes().watched(), 0U);
}

TEST_F(ObjectWaitsTest, TheDeadlineEndsItAndNothingIsLeft) {
  begin({service("a")}, 3s);
  loop.run();
  EXPECT_THAT(log, ElementsAre("late at 3"));
  EXPECT_EQ(cluster.object_changes().watched(), 0U);
}

TEST_F(ObjectWaitsTest, CancellationEndsIt) {
  begin({service("a")});
  loop.after(1s, [this] {
    stop.cancel("not any more");
    log.push_back("asked");
  });
  loop.run();
  EXPECT_THAT(log, ElementsAre("asked", "cancelled at 1"));
}

TEST_F(ObjectWaitsTest, WhatIsOverBeforeItBeginsDoesNotWait) {
  begin({service("a")}, 0s);
  EXPECT_THAT(log, ElementsAre("late at 0"));
  stop.cancel("before");
  begin({service("a")}, 5s);
  EXPECT_THAT(log, ElementsAre("late at 0", "cancelled at 0"));
  EXPECT_EQ(cluster.object_changes().watched(), 0U);
}

TEST_F(ObjectWaitsTest, ALoopOfChecksSeesEveryChangeThatComesLater) {
  begin({service("a")}, 10s, 3);
  for (const int second : {1, 2, 4}) loop.after(std::chrono::seconds(second), [this] { put("a"); });
  loop.run();
  EXPECT_THAT(log, ElementsAre("changed at 1", "changed at 2", "changed at 4"));
}

TEST_F(ObjectWaitsTest, AChangeAndACancellationInOneTurnWakeOnce) {
  begin({service("a")}, 10s, 1);
  loop.after(1s, [this] {
    put("a");
    stop.cancel("too late");
  });
  loop.run();
  EXPECT_THAT(log, ElementsAre("changed at 1"));
}

TEST_F(ObjectWaitsTest, ATaskThatEndsWhileItWaitsLeavesNothingBehind) {
  begin({service("a")});
  begin({service("a")});
  loop.after(1s, [this] {
    put("a");       // both are to be woken
    tasks.clear();  // and are gone before their turn
  });
  loop.run();
  EXPECT_THAT(log, IsEmpty());
  EXPECT_EQ(cluster.object_changes().watched(), 0U);
}

TEST_F(ObjectWaitsTest, WithoutNamesItIsASleepThatCanBeCancelled) {
  begin({}, 4s);
  put("a");
  loop.run();
  EXPECT_THAT(log, ElementsAre("late at 4"));
}

}  // namespace
}  // namespace berth
