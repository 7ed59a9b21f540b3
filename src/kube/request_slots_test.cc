#include "kube/request_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/names.h"

namespace berth::kube {
namespace {

class RequestSlotsTest : public ::testing::Test {
 protected:
  Task<void> ask(std::string name, Urgency urgency, CancelToken cancel = {}) {
    Task<bool> taking = slots_.take(urgency, cancel);
    const bool taken = co_await taking;
    went_.push_back(taken ? name : name + " cancelled");
  }
  void spawn(std::string name, Urgency urgency = Urgency::kNormal, CancelToken cancel = {}) {
    tasks_.spawn(ask(std::move(name), urgency, cancel));
  }

  RequestSlots slots_{2};
  std::vector<std::string> went_;
  TaskSet tasks_;
};

TEST_F(RequestSlotsTest, SoManyGoAtOnceAndTheOthersWhenOneIsDone) {
  spawn("a"), spawn("b"), spawn("c"), spawn("d");
  EXPECT_THAT(went_, ElementsAre("a", "b"));
  slots_.give_back();
  EXPECT_THAT(went_, ElementsAre("a", "b", "c"));
  slots_.give_back(), slots_.give_back();
  EXPECT_THAT(went_, ElementsAre("a", "b", "c", "d"));
  spawn("e");
  EXPECT_EQ(went_.back(), "e") << "what nobody waits for is free again";
}

TEST_F(RequestSlotsTest, TheMostUrgentGoFirst) {
  spawn("a"), spawn("b");
  went_.clear();
  spawn("event", Urgency::kLow), spawn("status"), spawn("binding", Urgency::kHigh);
  for (int i = 0; i < 3; ++i) slots_.give_back();
  EXPECT_THAT(went_, ElementsAre("binding", "status", "event"));
}

TEST_F(RequestSlotsTest, WhoLeavesOrIsCancelledTakesNoSlot) {
  spawn("a"), spawn("b");
  went_.clear();
  CancelSource stop;
  spawn("cancelled", Urgency::kNormal, stop.token());
  stop.cancel("enough");
  EXPECT_THAT(went_, ElementsAre("cancelled cancelled"));
  {
    TaskSet leaving;
    leaving.spawn(ask("left", Urgency::kNormal));
    EXPECT_EQ(slots_.waiting(), 1u);
  }
  EXPECT_EQ(slots_.waiting(), 0u);
  went_.clear();
  spawn("c");
  EXPECT_THAT(went_, IsEmpty());
  slots_.give_back();
  EXPECT_THAT(went_, ElementsAre("c"));
}

}  // namespace
}  // namespace berth::kube
