#include "cluster/scalar_columns.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/testing/names.h"
#include "berth/random.h"

namespace berth {
namespace {

struct ScalarColumnsTest : ::testing::Test {
  std::shared_ptr<Symbols> symbols = std::make_shared<Symbols>();
  SymbolHold hold{symbols};
  ScalarColumns scalars{symbols};

  Symbol name(const std::string& text) { return hold.intern(text); }
  std::int64_t allocatable(Symbol resource, NodeRow row) { return at(resource, row).allocatable; }
  std::int64_t requested(Symbol resource, NodeRow row) { return at(resource, row).requested; }
  ScalarColumns::AtRow at(Symbol resource, NodeRow row) {
    const ScalarColumns::View view = scalars.view(resource);
    if (view.is_dense) return {row, view.allocatable[row], view.requested[row]};
    for (const ScalarColumns::AtRow& at : view.few)
      if (at.row == row) return at;
    return {row};
  }
};

TEST_F(ScalarColumnsTest, AResourceGoesWithTheLastWhoNamesIt) {
  scalars.resize(100);
  const Symbol gpu = name("example.com/gpu");
  const std::vector<ScalarAmount> four{{gpu, 4}}, one{{gpu, 1}};
  scalars.offer(3, {}, four);
  scalars.take(3, one, 1);
  EXPECT_EQ(allocatable(gpu, 3), 4);
  EXPECT_EQ(requested(gpu, 3), 1);
  scalars.offer(3, four, {});
  EXPECT_EQ(scalars.size(), 1U) << "a pod still names it";
  EXPECT_EQ(allocatable(gpu, 3), 0);
  scalars.take(3, one, -1);
  EXPECT_EQ(scalars.size(), 0U);
  hold = SymbolHold(symbols);
  EXPECT_TRUE(symbols->find("example.com/gpu").empty()) << "its name is held for nobody";
}

TEST_F(ScalarColumnsTest, NamesThatNobodyOffersTakeNoMemoryPerRow) {
  scalars.resize(50'000);
  std::vector<ScalarAmount> many;
  for (int i = 0; i < 2'000; ++i) many.push_back({name(fmt::format("example.com/r{}", i)), 1});
  std::ranges::sort(many, {}, &ScalarAmount::name);
  scalars.take(7, many, 1);
  EXPECT_LT(scalars.bytes(), 2'000U * 256);
  scalars.take(7, many, -1);
  EXPECT_EQ(scalars.size(), 0U);
}

TEST_F(ScalarColumnsTest, ANodeThatOffersManyNamesTakesNoMemoryPerRow) {
  scalars.resize(50'000);
  std::vector<ScalarAmount> many;
  for (int i = 0; i < 2'000; ++i) many.push_back({name(fmt::format("example.com/r{}", i)), 1});
  std::ranges::sort(many, {}, &ScalarAmount::name);
  scalars.offer(7, {}, many);
  EXPECT_LT(scalars.bytes(), 2'000U * 256);
}

TEST_F(ScalarColumnsTest, AResourceOfManyRowsIsAColumnAndOfFewAListAgain) {
  scalars.resize(640);
  const Symbol gpu = name("example.com/gpu");
  const std::vector<ScalarAmount> two{{gpu, 2}};
  for (NodeRow row = 0; row < 200; ++row) scalars.offer(row, {}, two);
  EXPECT_TRUE(scalars.view(gpu).is_dense);
  EXPECT_EQ(scalars.view(gpu).allocatable.size(), 640U);
  for (NodeRow row = 1; row < 200; ++row) scalars.offer(row, two, {});
  const ScalarColumns::View view = scalars.view(gpu);
  EXPECT_FALSE(view.is_dense);
  ASSERT_EQ(view.few.size(), 1U);
  EXPECT_EQ(view.few[0].allocatable, 2);
}

TEST_F(ScalarColumnsTest, ColumnsAreMadeForThoseWhoAskForThem) {
  scalars.resize(3);
  const Symbol gpu = name("example.com/gpu");
  EXPECT_THAT(scalars.columns(gpu).allocatable, IsEmpty());
  const std::vector<ScalarAmount> two{{gpu, 2}};
  scalars.offer(1, {}, two);
  EXPECT_THAT(scalars.columns(gpu).allocatable, ElementsAre(0, 2, 0));
  EXPECT_THAT(scalars.columns(gpu).requested, ElementsAre(0, 0, 0));
  scalars.resize(4);
  EXPECT_THAT(scalars.columns(gpu).allocatable, ElementsAre(0, 2, 0, 0));
}

TEST_F(ScalarColumnsTest, HoweverTheyAreKeptTheNumbersAreTheSame) {
  Random random(7);
  std::vector<Symbol> names;
  for (int i = 0; i < 12; ++i) names.push_back(name(fmt::format("example.com/r{}", i)));
  std::ranges::sort(names);
  constexpr NodeRow kRows = 300;
  scalars.resize(kRows);
  std::map<NodeRow, std::vector<ScalarAmount>> offered;
  std::vector<std::pair<NodeRow, std::vector<ScalarAmount>>> taken;
  const auto some = [&] {
    std::vector<ScalarAmount> amounts;
    for (const Symbol one : names)
      if (random.chance(0.2)) amounts.push_back({one, static_cast<std::int64_t>(random.below(5))});
    return amounts;
  };
  for (int step = 0; step < 4'000; ++step) {
    const bool shrinking = step / 1'000 % 2 == 1;
    const auto row = static_cast<NodeRow>(random.below(kRows));
    if (random.chance(0.5)) {
      std::vector<ScalarAmount> next = shrinking ? std::vector<ScalarAmount>() : some();
      scalars.offer(row, offered[row], next);
      offered[row] = std::move(next);
    } else if (!taken.empty() && random.chance(shrinking ? 0.9 : 0.3)) {
      const auto gone = taken.begin() + static_cast<std::ptrdiff_t>(random.below(taken.size()));
      scalars.take(gone->first, gone->second, -1);
      taken.erase(gone);
    } else {
      taken.emplace_back(row, some());
      scalars.take(row, taken.back().second, 1);
    }
    if (step % 100 != 99) continue;
    std::map<std::pair<std::uint32_t, NodeRow>, std::pair<std::int64_t, std::int64_t>> expected;
    for (const auto& [at_row, amounts] : offered)
      for (const auto& [resource, amount] : amounts)
        expected[{resource.id, at_row}].first += amount;
    for (const auto& [at_row, amounts] : taken)
      for (const auto& [resource, amount] : amounts)
        expected[{resource.id, at_row}].second += amount;
    for (const Symbol resource : names)
      for (NodeRow each = 0; each < kRows; ++each) {
        ASSERT_EQ(allocatable(resource, each), (expected[{resource.id, each}].first)) << step;
        ASSERT_EQ(requested(resource, each), (expected[{resource.id, each}].second)) << step;
      }
  }
}

}  // namespace
}  // namespace berth
