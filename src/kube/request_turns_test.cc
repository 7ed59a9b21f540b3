#include "kube/request_turns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/names.h"

namespace berth::kube {
namespace {

struct RequestTurnsTest : ::testing::Test {
  VirtualLoop loop;
  RequestTurns turns{1, 1, loop};
  std::vector<std::string> order;  // "name@second"
  TaskSet tasks;

  static Task<void> wait(RequestTurnsTest& test, std::string name, Urgency urgency,
                         CancelToken cancel) {
    Task<bool> waiting = test.turns.wait(urgency, cancel);
    const bool come = co_await waiting;
    const auto second = std::chrono::floor<seconds>(test.loop.now().since_start).count();
    test.order.push_back((come ? name : "no " + name) + "@" + std::to_string(second));
  }
  void ask(const std::string& name, Urgency urgency, CancelToken cancel = {}) {
    tasks.spawn(wait(*this, name, urgency, cancel));
  }
  static Task<void> again(RequestTurnsTest& test, int times) {
    for (int i = 0; i < times; ++i) {
      Task<bool> waiting = test.turns.wait(Urgency::kNormal, {});
      [[maybe_unused]] const bool come = co_await waiting;
      test.ask(std::to_string(i), Urgency::kHigh);
    }
  }
};

TEST_F(RequestTurnsTest, TheFirstGoesAtOnceTheOthersWhenTheirTurnComes) {
  ask("a", Urgency::kLow);
  EXPECT_EQ(order, std::vector<std::string>{"a@0"});
  ask("b", Urgency::kLow);
  ask("c", Urgency::kNormal);
  ask("d", Urgency::kHigh);
  loop.run();
  EXPECT_EQ(order, (std::vector<std::string>{"a@0", "d@1", "c@2", "b@3"}));
}

TEST_F(RequestTurnsTest, WhoIsCancelledOrDestroyedTakesNothing) {
  CancelSource source;
  ask("a", Urgency::kNormal);
  ask("b", Urgency::kNormal, source.token());
  {
    TaskSet short_lived;
    short_lived.spawn(wait(*this, "c", Urgency::kNormal, {}));
  }
  ask("d", Urgency::kNormal);
  source.cancel("enough");
  ask("e", Urgency::kNormal, source.token());
  loop.run();
  EXPECT_EQ(order, (std::vector<std::string>{"a@0", "no b@0", "no e@0", "d@1"}));
  EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(RequestTurnsTest, WhoIsLetGoMayAskAgainThereAndThen) {
  tasks.spawn(again(*this, 3));
  loop.run();
  EXPECT_EQ(order, (std::vector<std::string>{"0@1", "1@3", "2@5"}));
}

TEST_F(RequestTurnsTest, NobodyWaitsWithoutALimit) {
  RequestTurns free(-1, 10, loop);
  EXPECT_FALSE(free.limited());
  EXPECT_TRUE(turns.limited());
}

Task<void> pausing(Loop& loop, CancelToken cancel, std::vector<bool>& results) {
  Task<bool> waiting = pause(loop, seconds(3), cancel);
  const bool waited = co_await waiting;
  results.push_back(waited);
}

TEST(Pause, EndsInTimeOrByACancellation) {
  VirtualLoop loop;
  std::vector<bool> results;
  TaskSet tasks;
  tasks.spawn(pausing(loop, {}, results));
  loop.run();
  EXPECT_EQ(loop.now(), TimePoint{seconds(3)});
  CancelSource source;
  tasks.spawn(pausing(loop, source.token(), results));
  source.cancel("enough");
  tasks.spawn(pausing(loop, source.token(), results));
  EXPECT_EQ(results, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(loop.next_deadline(), std::nullopt);
}

}  // namespace
}  // namespace berth::kube
