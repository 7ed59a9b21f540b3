#include "berth/loop.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/testing/names.h"
#include "base/thread.h"

namespace berth {
namespace {

constexpr TimePoint at(Duration since_start) { return {since_start}; }

TEST(TimePoint, AddingToNeverStaysNever) {
  EXPECT_EQ(at(1s) + 2s, at(3s));
  EXPECT_EQ(at(1s) + -2s, at(-1s));
  EXPECT_EQ(at(1s) + Duration::max(), at(Duration::max()));
  EXPECT_EQ(at(-1s) + Duration::min(), at(Duration::min()));
  EXPECT_EQ((WallTime{1s} + Duration::max()).since_epoch, Duration::max());
}

TEST(VirtualLoop, TimersRunInTheOrderOfTheirTimesAndThenOfSetting) {
  VirtualLoop loop;
  std::vector<int> ran;
  loop.at(at(2s), [&] { ran.push_back(3); });
  loop.at(at(1s), [&] { ran.push_back(1); });
  loop.at(at(2s), [&] { ran.push_back(4); });
  loop.at(at(1s), [&] { ran.push_back(2); });
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(loop.now(), at(2s));
}

TEST(VirtualLoop, PostedWorkComesInOrderAndBeforeTimeMoves) {
  VirtualLoop loop;
  std::vector<int> ran;
  loop.at(at(0s), [&] { ran.push_back(4); });
  loop.post([&] {
    ran.push_back(1);
    loop.post([&] { ran.push_back(3); });
  });
  loop.post([&] { ran.push_back(2); });
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3, 4}));
}

TEST(VirtualLoop, AnHourIsOneStep) {
  VirtualLoop loop;
  bool rang = false;
  loop.after(1h, [&] { rang = true; });
  EXPECT_TRUE(loop.step());
  EXPECT_TRUE(rang);
  EXPECT_EQ(loop.now(), at(1h));
  EXPECT_FALSE(loop.step());
}

TEST(VirtualLoop, ATimerForThePastRunsNextAndTimeDoesNotGoBack) {
  VirtualLoop loop;
  loop.run_until(at(10s));
  std::optional<TimePoint> when;
  loop.at(at(1s), [&] { when = loop.now(); });
  loop.run();
  EXPECT_EQ(when, at(10s));
}

TEST(VirtualLoop, ACancelledTimerDoesNotRunAndDoesNotMoveTime) {
  VirtualLoop loop;
  bool rang = false;
  const TimerId timer = loop.after(1min, [&] { rang = true; });
  loop.cancel(timer);
  loop.cancel(timer);
  loop.run();
  EXPECT_FALSE(rang);
  EXPECT_EQ(loop.now(), at(0s));
}

TEST(VirtualLoop, CancellingATimerThatRanIsNothing) {
  VirtualLoop loop;
  TimerId timer;
  int rang = 0;
  timer = loop.after(1s, [&] {
    ++rang;
    loop.cancel(timer);
  });
  loop.after(1s, [&] { ++rang; });
  loop.run();
  loop.cancel(timer);
  EXPECT_EQ(rang, 2);
  EXPECT_FALSE(loop.work_pending());
}

TEST(VirtualLoop, RunUntilDoesEverythingUpToTheEndAndNoMore) {
  VirtualLoop loop;
  std::vector<int> ran;
  loop.at(at(1s), [&] {
    ran.push_back(1);
    loop.post([&] { ran.push_back(2); });
  });
  loop.at(at(2s), [&] { ran.push_back(3); });
  loop.at(at(2s + 1ns), [&] { ran.push_back(4); });
  loop.run_until(at(2s));
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(loop.now(), at(2s));
  EXPECT_EQ(loop.next_deadline(), at(2s + 1ns));
  loop.run_until(at(1s));
  EXPECT_EQ(loop.now(), at(2s)) << "time does not go back";
}

TEST(VirtualLoop, HousekeepingTimersAreNotWork) {
  VirtualLoop loop;
  const TimerId flush = loop.after(30s, [] {}, TimerKind::kHousekeeping);
  EXPECT_FALSE(loop.work_pending());
  const TimerId deadline = loop.after(1min, [] {});
  EXPECT_TRUE(loop.work_pending());
  loop.cancel(deadline);
  EXPECT_FALSE(loop.work_pending());
  loop.post([] {});
  EXPECT_TRUE(loop.work_pending());
  loop.run();
  EXPECT_EQ(loop.now(), at(30s));
  loop.cancel(flush);
  EXPECT_FALSE(loop.next_deadline());
}

TEST(VirtualLoop, TheWallClockRunsAlongAndMayJump) {
  VirtualLoop loop(WallTime{1000s});
  loop.run_until(at(5s));
  EXPECT_EQ(loop.wall_now(), WallTime{1005s});
  bool rang = false;
  loop.after(10s, [&] { rang = true; });
  loop.jump_wall_clock(-1h);
  EXPECT_EQ(loop.wall_now(), WallTime{1005s - 1h});
  EXPECT_EQ(loop.now(), at(5s));
  loop.run_until(at(15s));
  EXPECT_TRUE(rang) << "timers follow the clock that does not jump";
}

TEST(VirtualLoop, WorkOwnsWhatItCaptured) {
  auto token = std::make_shared<int>(0);
  {
    VirtualLoop loop;
    loop.after(1s, [token] {});
    loop.post([token] {});
    EXPECT_EQ(token.use_count(), 3);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(VirtualClock, TimersOfSeveralLoopsRunInTheOrderOfTheirTimes) {
  VirtualClock clock;
  VirtualLoop first(clock), second(clock);
  std::string order;
  first.after(2s, [&] { order += "c"; });
  second.after(1s, [&] {
    order += "a";
    first.post([&] { order += "b"; });
  });
  second.after(2s, [&] { order += "d"; });
  clock.run();
  EXPECT_EQ(order, "abcd") << "among equals the loop that was made first";
  EXPECT_EQ(first.now(), at(2s));
  EXPECT_EQ(second.now(), at(2s));
}

TEST(VirtualClock, EachLoopHasAWallClockOfItsOwn) {
  VirtualClock clock;
  VirtualLoop one(clock), other(clock, VirtualLoop::kDefaultStart + 3s);
  one.jump_wall_clock(-1s);
  clock.run_until(at(10s));
  EXPECT_EQ(other.wall_now() - one.wall_now(), 4s);
}

TEST(VirtualClock, AHaltedLoopDoesNothingAndIsLateAfterwards) {
  VirtualClock clock;
  VirtualLoop halted(clock), other(clock);
  std::vector<TimePoint> ran;
  const auto note = [&] { ran.push_back(clock.now()); };
  halted.after(1s, note);
  halted.post(note);
  halted.halt();
  other.after(5s, [&] { halted.resume(); });
  clock.run_until(at(4s));
  EXPECT_TRUE(ran.empty());
  clock.run();
  EXPECT_EQ(ran, (std::vector{at(5s), at(5s)}));
}

TEST(VirtualClock, ALoopThatEndsTakesItsWorkWithIt) {
  VirtualClock clock;
  VirtualLoop stays(clock);
  bool ran = false;
  {
    VirtualLoop ends(clock);
    ends.after(1s, [&] { ran = true; });
  }
  stays.after(2s, [] {});
  clock.run();
  EXPECT_FALSE(ran);
  EXPECT_EQ(clock.now(), at(2s));
}

TEST(ConcurrentLoop, AnyThreadMayPostToAVirtualLoopAndAskTheTime) {
  VirtualLoop loop;
  int done = 0;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back("poster", [&loop, &done] {
        for (int n = 0; n < 500; ++n) {
          const TimePoint seen = loop.now();
          loop.post([&loop, &done, seen] { done += loop.now() >= seen; });
        }
      });
    for (int second = 1; second <= 100; ++second) loop.run_until(at(std::chrono::seconds(second)));
  }
  loop.run();
  EXPECT_EQ(done, 1500);
}

TEST(RealLoop, RunsWhatWasPostedBeforeAndStops) {
  RealLoop loop;
  std::vector<int> ran;
  loop.post([&] { ran.push_back(1); });
  loop.post([&] {
    ran.push_back(2);
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
}

TEST(RealLoop, TimersRunInOrder) {
  RealLoop loop;
  std::vector<int> ran;
  loop.at(at(2us), [&] { ran.push_back(2); });
  loop.at(at(3us), [&] {
    ran.push_back(3);
    loop.stop();
  });
  const TimerId dropped = loop.at(at(1us), [&] { ran.push_back(0); });
  loop.at(at(1us), [&] { ran.push_back(1); });
  loop.cancel(dropped);
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
}

TEST(RealLoop, StoppingLeavesTheRestForTheNextRun) {
  RealLoop loop;
  std::vector<int> ran;
  loop.at(at(0s), [&] {
    ran.push_back(1);
    loop.post([&] {
      ran.push_back(3);
      loop.stop();
    });
    loop.stop();
  });
  loop.at(at(0s), [&] { ran.push_back(2); });
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{1}));
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{1, 3}));
}

TEST(RealLoop, AStopBeforeTheRunIsKept) {
  RealLoop loop;
  bool ran = false;
  loop.post([&] { ran = true; });
  loop.stop();
  loop.run();
  EXPECT_FALSE(ran);
}

TEST(RealLoop, WorkThatRepeatsForEverStarvesNobody) {
  RealLoop loop;
  // Each posts, or sets for the past, itself again: a loop that favours one never sees the other.
  int posts = 0, rings = 0;
  std::function<void()> post_again = [&] {
    if (++posts >= 10 && rings >= 10) loop.stop();
    loop.post([&] { post_again(); });
  };
  std::function<void()> ring_again = [&] {
    ++rings;
    loop.at(at(-1s), [&] { ring_again(); });
  };
  post_again();
  ring_again();
  loop.run();
  EXPECT_GE(posts, 10);
  EXPECT_GE(rings, 10);
}

TEST(RealLoop, AllThatIsDueRunsInOneTurn) {
  RealLoop loop;
  int rings = 0, turns = 0;
  for (int i = 0; i < 100; ++i) loop.at(at(0s), [&] { ++rings; });
  std::function<void()> count_turn = [&] {
    ++turns;
    if (rings == 100) return loop.stop();
    loop.post([&] { count_turn(); });
  };
  count_turn();
  loop.run();
  EXPECT_EQ(turns, 3) << "before the loop, before the timers, after them";
}

TEST(RealLoop, ADeadlineBeyondAllTimeDoesNotHinderTheRest) {
  RealLoop loop;
  bool ran = false;
  const TimerId never = loop.after(Duration::max(), [] {});
  EXPECT_EQ(never.when, at(Duration::max()));
  Thread other("poster", [&] {
    loop.post([&] {
      ran = true;
      loop.stop();
    });
  });
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(ConcurrentLoop, AnyThreadMayPostToARealLoopAndStopIt) {
  RealLoop loop;
  int done = 0;
  std::vector<Thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back("poster", [&loop, &done] {
      for (int n = 0; n < 300; ++n)
        loop.post([&loop, &done] {
          if (++done == 900) loop.stop();
        });
    });
  loop.run();
  EXPECT_EQ(done, 900);
}

TEST(ConcurrentLoop, AStopFromAnotherThreadWakesALoopWithNothingToDo) {
  for (int round = 0; round < 50; ++round) {
    RealLoop loop;
    Thread stopper("stopper", [&loop] { loop.stop(); });
    loop.run();
  }
}

}  // namespace
}  // namespace berth
