#include "base/lifetime.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace berth {
namespace {

TEST(Lifetime, AGuardedCallbackRunsWhileTheObjectExists) {
  std::optional<Lifetime> lifetime(std::in_place);
  int sum = 0;
  const std::function<void(int)> add = lifetime->guard([&](int number) { sum += number; });
  add(2);
  add(3);
  EXPECT_EQ(sum, 5);
}

TEST(Lifetime, AGuardedCallbackDoesNothingAfterTheObject) {
  std::optional<Lifetime> lifetime(std::in_place);
  int calls = 0;
  const std::function<void()> count = lifetime->guard([&] { ++calls; });
  lifetime.reset();
  count();
  EXPECT_EQ(calls, 0);
}

TEST(Lifetime, AGuardedCallbackMayHoldWhatCanOnlyBeMoved) {
  const Lifetime lifetime;
  int seen = 0;
  auto take = lifetime.guard(
      [&, number = std::make_unique<int>(7)]() mutable { seen = *std::exchange(number, nullptr); });
  take();
  EXPECT_EQ(seen, 7);
}

TEST(Lifetime, AWatchEndsWithTheObject) {
  std::optional<Lifetime> lifetime(std::in_place);
  const Lifetime::Watch watch = lifetime->watch();
  EXPECT_FALSE(watch.ended());
  lifetime.reset();
  EXPECT_TRUE(watch.ended());
}

}  // namespace
}  // namespace berth
