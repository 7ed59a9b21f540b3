#include "kube/write_gate.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/testing/names.h"

namespace berth::kube {
namespace {

constexpr Duration kDoubt = seconds(5);

struct WriteGateTest : ::testing::Test {
  VirtualLoop loop;
  WritePermit permit = WritePermit::kSend;
  WriteGate gate{loop, [this] { return permit; }, kDoubt};
  TaskSet tasks;

  static Task<void> keep(Task<bool> asking, std::optional<bool>& answer) {
    const bool got = co_await asking;
    answer = got;
  }
  void ask(std::optional<bool>& answer, CancelToken cancel = {}) {
    tasks.spawn(keep(gate.pass(cancel), answer));
  }
  void run_for(Duration duration) { loop.run_until(loop.now() + duration); }
};

TEST_F(WriteGateTest, ALeadersWritesPassAtOnceAndOthersDoNot) {
  std::optional<bool> first, second;
  ask(first);
  EXPECT_EQ(first, true);
  permit = WritePermit::kDrop;
  ask(second);
  EXPECT_EQ(second, false);
}

TEST_F(WriteGateTest, WhileNobodyKnowsWritesWait) {
  for (const WritePermit found : {WritePermit::kSend, WritePermit::kDrop}) {
    permit = WritePermit::kWait;
    std::optional<bool> answer;
    ask(answer);
    run_for(seconds(2));
    EXPECT_FALSE(answer);
    permit = found;
    run_for(milliseconds(50));
    EXPECT_EQ(answer, found == WritePermit::kSend);
  }
}

TEST_F(WriteGateTest, AWriteThatWaitsCanBeCancelled) {
  permit = WritePermit::kWait;
  CancelSource stop;
  std::optional<bool> answer;
  ask(answer, stop.token());
  stop.cancel("enough");
  EXPECT_EQ(answer, false);
}

TEST_F(WriteGateTest, SettlesWhenEveryWriteIsAnswered) {
  std::optional<WriteGate::UnderWay> write(std::in_place, gate);
  std::optional<bool> settled;
  tasks.spawn(keep(gate.settle(seconds(10)), settled));
  run_for(seconds(3));
  EXPECT_FALSE(settled);
  write->answered();
  write.reset();
  run_for(milliseconds(50));
  EXPECT_EQ(settled, true);
}

TEST_F(WriteGateTest, AWriteThatWasGivenUpMayStillArriveForAWhile) {
  {
    const WriteGate::UnderWay lost(gate);
  }
  std::optional<bool> settled;
  tasks.spawn(keep(gate.settle(seconds(10)), settled));
  run_for(milliseconds(4999));
  EXPECT_FALSE(settled);
  run_for(milliseconds(1));
  EXPECT_EQ(settled, true);
}

TEST_F(WriteGateTest, DoesNotSettleForEver) {
  const WriteGate::UnderWay write(gate);
  std::optional<bool> settled;
  tasks.spawn(keep(gate.settle(seconds(10)), settled));
  run_for(seconds(10));
  EXPECT_EQ(settled, false);
}

}  // namespace
}  // namespace berth::kube
