// A hundred thousand waiting pods: what they cost, and that time still comes in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/allocations.h"
#include "base/testing/names.h"
#include "berth/random.h"
#include "berth/task.h"
#include "berth/waiting_pods.h"

namespace berth {
namespace {

constexpr std::size_t kPods = 100'000;
constexpr std::size_t kBudget = 1024;

struct Crowd {
  testing::World world;
  std::vector<Ref<const Pod>> pods;

  Crowd() {
    const Ref<const Pod> model = world.pod("model");
    pods.reserve(kPods);
    for (std::size_t i = 0; i < kPods; ++i) {
      PodDraft draft = draft_of(*model);
      draft.name = "pod-" + std::to_string(i);
      draft.uid = "uid-" + std::to_string(i);
      pods.push_back(make_pod(std::move(draft)));
    }
  }
};

struct Tally {
  std::size_t allowed = 0;
  std::size_t rejected = 0;
};

Task<void> bind_and_count(WaitingPods& waiting, Ref<const Pod> pod, Tally& tally) {
  auto settled = waiting.settled(pod->uid());
  Outcome outcome = co_await settled;
  ++(outcome.ok() ? tally.allowed : tally.rejected);
}

TEST(WaitingPodsAtScale, AWaitingPodCostsAtMostOneKibibyteWithItsTaskAndTimers) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "nobody counts in this build";
  const Crowd crowd;
  VirtualLoop loop;
  WaitingPods waiting(loop);
  TaskSet bindings;
  Tally tally;
  const std::vector<PermitHold> holds = {{"gang", 5min}, {"quota", 10min}};

  testing::reset_peak_bytes();
  const std::size_t before = testing::live_bytes();
  for (const Ref<const Pod>& pod : crowd.pods) {
    waiting.hold(pod, "node-in-the-third-rack-of-zone-a", holds);
    bindings.spawn(bind_and_count(waiting, pod, tally));
  }
  const std::size_t each = (testing::live_bytes() - before) / kPods;
  RecordProperty("bytes_per_pod", static_cast<int>(each));
  EXPECT_LE(each, kBudget);
  EXPECT_GE(each, 100U) << "somebody forgot to count";

  // Nor does it take more when all of them settle at once, one way or the other.
  for (std::size_t i = 0; i < kPods; i += 2) {
    waiting.allow(crowd.pods[i]->uid(), "gang");
    waiting.allow(crowd.pods[i]->uid(), "quota");
    waiting.reject(crowd.pods[i + 1]->uid(), "gang", "the quorum of its group was not reached");
  }
  EXPECT_LE((testing::peak_bytes() - before) / kPods, kBudget);
  loop.run();
  EXPECT_EQ(tally.allowed, kPods / 2);
  EXPECT_EQ(tally.rejected, kPods / 2);
  EXPECT_EQ(loop.now().since_start, 0s);
  EXPECT_EQ(waiting.size(), 0U);
  EXPECT_EQ(bindings.size(), 0U);
}

struct Expiry {
  TimePoint when;
  std::uint32_t pod = 0;
  friend bool operator==(const Expiry&, const Expiry&) = default;
  friend auto operator<=>(const Expiry&, const Expiry&) = default;
};

Task<void> note_expiry(WaitingPods& waiting, Uid uid, std::uint32_t number, Loop& loop,
                       std::vector<Expiry>& expiries) {
  auto settled = waiting.settled(uid);
  Outcome outcome = co_await settled;
  if (!outcome.ok()) expiries.push_back({loop.now(), number});
}

TEST(WaitingPodsAtScale, TimersExpireInOrderInVirtualTime) {
  const Crowd crowd;
  VirtualLoop loop;
  WaitingPods waiting(loop);
  TaskSet bindings;
  Random random(5);
  std::vector<Expiry> expected, expiries;
  expected.reserve(kPods);
  expiries.reserve(kPods);
  for (std::uint32_t i = 0; i < kPods; ++i) {
    // Whole seconds, so that many fall together: those expire in the order of their holds.
    const Duration timeout = std::chrono::seconds(random.below(900));
    const std::vector<PermitHold> holds = {{"slow", 15min}, {"gang", timeout}};
    waiting.hold(crowd.pods[i], "node-1", holds);
    bindings.spawn(note_expiry(waiting, crowd.pods[i]->uid(), i, loop, expiries));
    expected.push_back({{timeout}, i});
  }
  std::ranges::sort(expected);
  loop.run();
  EXPECT_TRUE(expiries == expected);
  EXPECT_EQ(loop.now(), expected.back().when) << "no timer is left behind";
}

}  // namespace
}  // namespace berth
