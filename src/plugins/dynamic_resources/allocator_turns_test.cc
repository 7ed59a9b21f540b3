// How long a search may take: limits, and turns.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/testing/allocator_fixture.h"

namespace berth::plugins {
namespace {

// A claim that cannot be satisfied by 32 devices, which takes ages to find out: eight of them with
// different values of "a", and eight more with the same "id".
const std::string kEndlessClaim = claim("c", exact("r", 8) + ", " + exact("q", 8),
                                        "constraints: [{distinctAttribute: drv/a}, {requests: [q], "
                                        "matchAttribute: drv/id}]");

std::string thirty_two_devices() {
  std::string many;
  for (int i = 0; i < 32; ++i)
    many += fmt::format("{}{{name: d{}, attributes: {{a: {{int: {}}}, id: {{int: {}}}}}}}",
                        i == 0 ? "" : ", ", i, i / 2, i);
  return many;
}

TEST(Allocator, ASearchThatCannotEndIsGivenUp) {
  AllocatorFixture fixture;
  fixture.add(slice("s", on("n1"), thirty_two_devices()));
  VirtualLoop loop;
  fixture.budget = {.loop = &loop, .timeout = std::chrono::milliseconds(20)};
  EXPECT_EQ(fixture.allocate("n1", {kEndlessClaim}), "timed out");
  EXPECT_GE(fixture.steps, SearchClock::kStepsPerSecond / 50);
  EXPECT_LE(fixture.steps, SearchClock::kStepsPerSecond / 50 + 512);
}

TEST(Allocator, ALongSearchTakesManyTurnsAndHasItsWholeTimeInThem) {
  AllocatorFixture fixture;
  fixture.add(slice("s", on("n1"), thirty_two_devices()));
  VirtualLoop loop;
  fixture.budget = {.loop = &loop,
                    .timeout = std::chrono::milliseconds(20),
                    .turn = std::chrono::milliseconds(5)};
  EXPECT_EQ(fixture.allocate("n1", {kEndlessClaim}), "timed out");
  EXPECT_EQ(fixture.turns, 4);
}

TEST(Allocator, WhenTheAttemptHasUsedItsTimeNoSearchBegins) {
  AllocatorFixture fixture;
  fixture.add(slice("s", on("n1"), thirty_two_devices()));
  fixture.add(slice("s2", on("n2"), thirty_two_devices(), {.pool = "pool2"}));
  const std::vector<Ref<const ResourceClaim>> endless = {fixture.claim_from(kEndlessClaim)};
  const std::vector<Ref<const ResourceClaim>> simple = {fixture.claim_from(claim("c", exact("r")))};
  VirtualLoop loop;
  fixture.pools.refresh(fixture.cluster);
  Allocator allocator(fixture.pools, fixture.allocated, fixture.cluster,
                      {.loop = &loop,
                       .timeout = std::chrono::milliseconds(20),
                       .attempt_timeout = std::chrono::milliseconds(30)});
  const Node& n1 = fixture.node("n1");
  const Node& n2 = fixture.node("n2");
  EXPECT_EQ(allocator.allocate(n1, endless).verdict, NodeAllocation::Verdict::kTimedOut);
  EXPECT_EQ(allocator.allocate(n2, simple).verdict, NodeAllocation::Verdict::kAllocated);
  // One that has begun may take its whole time, and is the last.
  EXPECT_EQ(allocator.allocate(n1, endless).verdict, NodeAllocation::Verdict::kTimedOut);
  EXPECT_EQ(allocator.allocate(n2, simple).verdict, NodeAllocation::Verdict::kTimedOut);
  // The node that was chosen before is searched once more, all the same.
  allocator.lift_limits();
  EXPECT_EQ(allocator.allocate(n2, simple).verdict, NodeAllocation::Verdict::kAllocated);
}

// A clock that stands where it was put.
class StandingClock final : public Loop {
 public:
  Duration time{0};
  TimePoint now() const override { return {time}; }
  WallTime wall_now() const override { return {time}; }
  void post(Callback) override {}
  TimerId at(TimePoint, Callback, TimerKind) override { return {}; }
  void cancel(TimerId) override {}
};

// A clock on which every look takes a turn.
class HurryingClock final : public Loop {
 public:
  TimePoint now() const override { return {time_ += std::chrono::milliseconds(10)}; }
  WallTime wall_now() const override { return {}; }
  void post(Callback) override {}
  TimerId at(TimePoint, Callback, TimerKind) override { return {}; }
  void cancel(TimerId) override {}

 private:
  mutable Duration time_{0};
};

std::string claim_with_selector(std::string_view expression) {
  return claim(
      "c", exact("r", 1, fmt::format("selectors: [{{cel: {{expression: '{}'}}}}]", expression)));
}

TEST(AllocatorConcurrent, ASelectorThatTakesLongIsWaitedForInTurns) {
  AllocatorFixture fixture;
  fixture.add(slice("s", on("n1"), "{name: d0}, {name: d1}"));
  HurryingClock loop;
  fixture.budget = {.loop = &loop, .turn = std::chrono::milliseconds(5)};
  EXPECT_EQ(
      fixture.allocate(
          "n1", {claim_with_selector("lists.range(3000).all(i, i + size(device.driver) > 0)")}),
      "c: r=drv/pool/d0 @n1");
  EXPECT_GE(fixture.turns, 1);
  EXPECT_EQ(fixture.allocate("n1", {claim_with_selector("lists.range(3000).all(i, i < 2999)")}),
            "impossible");
}

TEST(AllocatorConcurrent, ASelectorThatTakesTooLongTimesOut) {
  AllocatorFixture fixture;
  fixture.add(slice("s", on("n1"), "{name: d0}"));
  HurryingClock loop;
  fixture.budget = {.loop = &loop,
                    .timeout = std::chrono::milliseconds(50),
                    .turn = std::chrono::milliseconds(5)};
  // A text of a megabyte, counted again and again.
  std::string slow = fmt::format("cel.bind(s0, \"{}\", ", std::string(1000, 'x'));
  for (int i = 1; i <= 10; ++i) slow += fmt::format("cel.bind(s{}, s{} + s{}, ", i, i - 1, i - 1);
  slow += "lists.range(100000).all(i, size(s10) > i)" + std::string(11, ')');
  EXPECT_EQ(fixture.allocate("n1", {claim_with_selector(slow)}), "timed out");
}

TEST(SearchClock, CountsTimeOrStepsWhicheverIsMoreAndNotTheTurnsOfOthers) {
  using std::chrono::milliseconds;
  StandingClock loop;
  SearchClock clock({.loop = &loop, .timeout = milliseconds(50), .turn = milliseconds(5)});
  loop.time = milliseconds(3);
  clock.spend(1);
  EXPECT_EQ(clock.used(), milliseconds(3));
  EXPECT_FALSE(clock.turn_is_over());
  clock.spend(SearchClock::kStepsPerSecond / 500);
  EXPECT_EQ(clock.used(), milliseconds(5));
  EXPECT_TRUE(clock.turn_is_over());
  loop.time += std::chrono::seconds(100);
  clock.start_turn();
  EXPECT_FALSE(clock.turn_is_over());
  EXPECT_EQ(clock.used(), milliseconds(5));
  loop.time += milliseconds(50);
  clock.spend(1);
  EXPECT_TRUE(clock.timed_out_since(milliseconds(5)));
  EXPECT_FALSE(clock.timed_out_since(milliseconds(6)));
}

}  // namespace
}  // namespace berth::plugins
