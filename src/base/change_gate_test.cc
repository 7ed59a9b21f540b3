#include "base/change_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/testing/names.h"
#include "berth/task.h"

namespace berth {
namespace {

struct Gate {
  ChangeGate gate;
  std::vector<int> done;
  TaskSet tasks;

  void pass(int change) {
    gate.pass([this, change] { done.push_back(change); });
  }
  static Task<void> walk(ChangeGate& gate, std::vector<int>& done, int change) {
    ChangeGate::Passed passed(gate);
    co_await passed;
    done.push_back(change);
  }
  void spawn(int change) { tasks.spawn(walk(gate, done, change)); }
};

TEST(ChangeGate, AnOpenGateLetsEverythingThroughAtOnce) {
  Gate gate;
  gate.pass(1);
  gate.spawn(2);
  EXPECT_THAT(gate.done, ElementsAre(1, 2));
  EXPECT_EQ(gate.gate.parked(), 0U);
}

TEST(ChangeGate, AClosedGateParksChangesInOrder) {
  Gate gate;
  gate.gate.close();
  gate.pass(1);
  gate.spawn(2);
  gate.pass(3);
  EXPECT_TRUE(gate.gate.closed());
  EXPECT_EQ(gate.gate.parked(), 3U);
  EXPECT_THAT(gate.done, IsEmpty());
  gate.gate.open();
  EXPECT_THAT(gate.done, ElementsAre(1, 2, 3));
  EXPECT_FALSE(gate.gate.closed());
  EXPECT_EQ(gate.tasks.size(), 0U);
}

TEST(ChangeGate, AChangeThatBringsAnotherDoesNotOvertakeThoseThatWait) {
  Gate gate;
  gate.gate.close();
  gate.gate.pass([&] {
    gate.done.push_back(1);
    gate.pass(3);
    gate.spawn(4);
  });
  gate.pass(2);
  gate.gate.open();
  EXPECT_THAT(gate.done, ElementsAre(1, 2, 3, 4));
}

TEST(ChangeGate, AChangeMayCloseTheGateForTheRest) {
  Gate gate;
  gate.gate.close();
  gate.gate.pass([&] {
    gate.done.push_back(1);
    gate.gate.close();
  });
  gate.pass(2);
  gate.gate.open();
  EXPECT_THAT(gate.done, ElementsAre(1));
  EXPECT_TRUE(gate.gate.closed());
  gate.gate.open();
  EXPECT_THAT(gate.done, ElementsAre(1, 2));
}

TEST(ChangeGate, AChangeMayCloseAndOpenTheGateWithoutDisorder) {
  Gate gate;
  gate.gate.close();
  gate.gate.pass([&] {
    gate.gate.close();
    gate.pass(3);
    gate.gate.open();
    gate.done.push_back(1);
  });
  gate.pass(2);
  gate.gate.open();
  EXPECT_THAT(gate.done, ElementsAre(1, 2, 3));
}

TEST(ChangeGate, ATaskThatEndsWhileItWaitsGivesUpItsTurn) {
  Gate gate;
  gate.gate.close();
  gate.pass(1);
  gate.spawn(2);
  gate.pass(3);
  gate.tasks.clear();
  EXPECT_EQ(gate.gate.parked(), 2U);
  gate.gate.open();
  EXPECT_THAT(gate.done, ElementsAre(1, 3));
}

}  // namespace
}  // namespace berth
