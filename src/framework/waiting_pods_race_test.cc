// Waiting pods under real threads: who settles a pod first is open, that exactly one does is not.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "base/thread.h"
#include "berth/task.h"
#include "berth/waiting_pods.h"

namespace berth {
namespace {

constexpr int kRounds = 500;
using Holds = std::vector<PermitHold>;

Task<void> bind_racing(WaitingPods& pods, Uid uid, std::vector<Outcome>& outcomes) {
  auto settled = pods.settled(uid);
  Outcome outcome = co_await settled;
  outcomes.push_back(std::move(outcome));
}

// One pod in a world of its own.
struct Race {
  VirtualLoop loop;
  WaitingPods pods{loop};
  std::vector<Outcome> outcomes;
  TaskSet bindings;

  Race(const Ref<const Pod>& pod, const Holds& holds) {
    pods.hold(pod, "node-1", holds);
    bindings.spawn(bind_racing(pods, pod->uid(), outcomes));
  }
};

class ConcurrentWaitingPods : public ::testing::Test {
 protected:
  testing::World world_;
  Ref<const Pod> pod_ = world_.pod("pod");
  const Uid uid_ = pod_->uid();
};

TEST_F(ConcurrentWaitingPods, OfTwoRacingOutcomesExactlyOneWins) {
  for (int round = 0; round < kRounds; ++round) {
    Race race(pod_, {{"gang", 5min}});
    bool allowed = false, rejected = false;
    {
      Thread first("first", [&] { allowed = race.pods.allow(uid_, "gang"); });
      Thread second("second", [&] { rejected = race.pods.reject(uid_, "gang", "no"); });
    }
    race.loop.run();
    ASSERT_NE(allowed, rejected);
    ASSERT_EQ(race.outcomes.size(), 1U);
    ASSERT_EQ(race.outcomes[0].ok(), allowed);
  }
}

TEST_F(ConcurrentWaitingPods, TheLastOfTwoPluginsThatAllowTogetherSettles) {
  for (int round = 0; round < kRounds; ++round) {
    Race race(pod_, {{"quota", 5min}, {"gang", 5min}});
    bool quota = false, gang = false;
    {
      Thread first("quota", [&] { quota = race.pods.allow(uid_, "quota"); });
      Thread second("gang", [&] { gang = race.pods.allow(uid_, "gang"); });
      race.loop.run_until({1s});
    }
    race.loop.run();
    ASSERT_TRUE(quota && gang);
    ASSERT_EQ(race.outcomes.size(), 1U);
    ASSERT_TRUE(race.outcomes[0].ok());
    ASSERT_EQ(race.loop.now().since_start, 1s) << "all timers are gone";
  }
}

TEST_F(ConcurrentWaitingPods, TheDeadlineRacesAllowRejectAndPreempt) {
  for (int round = 0; round < kRounds; ++round) {
    Race race(pod_, {{"gang", 1ms}});
    std::atomic<int> winners{0};
    std::atomic<Code> expected{Code::kUnschedulable};
    const auto won = [&](bool did, Code code) {
      if (!did) return;
      ++winners;
      expected = code;
    };
    {
      Thread first("allow", [&] { won(race.pods.allow(uid_, "gang"), Code::kSuccess); });
      Thread second("preempt",
                    [&] { won(race.pods.preempt(uid_, "gang", "preempted"), Code::kError); });
      // The world is at it in the meantime; the deadline is due as soon as it looks.
      race.loop.run_until({1ms});
    }
    race.loop.run();
    ASSERT_EQ(race.outcomes.size(), 1U);
    ASSERT_LE(winners, 1);
    ASSERT_EQ(race.outcomes[0].code, expected);
    ASSERT_FALSE(race.pods.contains(uid_));
    if (winners > 0) continue;
    ASSERT_EQ(race.outcomes[0].message(),
              "rejected due to timeout after waiting 1ms at plugin gang");
  }
}

TEST_F(ConcurrentWaitingPods, ASignalRacesTheBeginningOfTheWait) {
  for (int round = 0; round < kRounds; ++round) {
    VirtualLoop loop;
    WaitingPods pods(loop);
    std::vector<Outcome> outcomes;
    TaskSet bindings;
    pods.hold(pod_, "node-1", Holds{{"gang", 5min}});
    {
      Thread signal("signal", [&] { pods.reject(uid_, "gang", "no"); });
      bindings.spawn(bind_racing(pods, uid_, outcomes));
    }
    loop.run();
    ASSERT_EQ(outcomes.size(), 1U);
    ASSERT_EQ(outcomes[0].message(), "no");
  }
}

TEST_F(ConcurrentWaitingPods, ShutdownRacesASignal) {
  for (int round = 0; round < kRounds; ++round) {
    Race race(pod_, {{"gang", 5min}});
    {
      Thread signal("signal", [&] { race.pods.allow(uid_, "gang"); });
      race.bindings.clear();
      race.loop.run_until({1s});
    }
    race.loop.run_until({2s});
    ASSERT_TRUE(race.outcomes.empty());
  }
}

TEST_F(ConcurrentWaitingPods, EverybodyLooksWhileThePodsComeAndGo) {
  std::vector<Ref<const Pod>> all;
  for (int i = 0; i < 40; ++i) all.push_back(world_.pod("pod-" + std::to_string(i)));

  RealLoop loop;
  WaitingPods pods(loop);
  std::vector<Outcome> outcomes;
  TaskSet bindings;
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::vector<Thread> threads;
  // Two of them settle what they see: one allows, one turns every third pod away.
  for (int number = 0; number < 2; ++number)
    threads.emplace_back("settler", [&, number] {
      while (!over)
        pods.for_each([&](const WaitingPod& waiting) {
          const Uid& uid = waiting.pod->uid();
          if (number == 0)
            pods.allow(uid, "gang");
          else if (uid.low % 3 == 0)
            pods.reject(uid, "quota", "no");
        });
    });
  threads.emplace_back("reader", [&] {
    while (!over) {
      for (const Ref<const Pod>& pod : all) {
        const std::optional<WaitingPod> found = pods.find(pod->uid());
        if (found && (found->pod != pod || found->node_name != "node-1")) ++wrong;
        pods.contains(pod->uid());
      }
      if (pods.size() > all.size()) ++wrong;
    }
  });

  // The world: each pod comes back until it has waited often enough.
  constexpr int kTurns = 25;
  struct World {
    static Task<void> visit(WaitingPods& pods, Ref<const Pod> pod, std::vector<Outcome>& outcomes) {
      for (int turn = 0; turn < kTurns; ++turn) {
        pods.hold(pod, "node-1", Holds{{"gang", 15min}});
        auto settled = pods.settled(pod->uid());
        Outcome outcome = co_await settled;
        outcomes.push_back(std::move(outcome));
      }
    }
    static Task<void> visit_and_count(WaitingPods& pods, Ref<const Pod> pod,
                                      std::vector<Outcome>& outcomes, std::size_t& left,
                                      RealLoop& loop) {
      Task<void> visits = visit(pods, std::move(pod), outcomes);
      co_await visits;
      if (--left == 0) loop.stop();
    }
  };
  std::size_t left = all.size();
  loop.post([&] {
    for (const Ref<const Pod>& pod : all)
      bindings.spawn(World::visit_and_count(pods, pod, outcomes, left, loop));
  });
  loop.run();
  over = true;
  threads.clear();
  EXPECT_EQ(outcomes.size(), all.size() * kTurns) << "every wait settles once";
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pods.size(), 0U);
  EXPECT_EQ(bindings.size(), 0U);
}

}  // namespace
}  // namespace berth
