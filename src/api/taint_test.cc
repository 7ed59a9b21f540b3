#include "berth/node_selector.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/names.h"

namespace berth {
namespace {

constexpr auto kNoSchedule = TaintEffect::kNoSchedule;
constexpr auto kPreferNoSchedule = TaintEffect::kPreferNoSchedule;
constexpr auto kNoExecute = TaintEffect::kNoExecute;
constexpr auto kAny = TaintEffect::kAny;
using Op = TolerationOperator;

struct TaintTest : ::testing::Test {
  std::shared_ptr<Symbols> symbols = make_symbols();
  SymbolHold hold{symbols};
  TolerationRules rules{*symbols, false};
  TolerationRules comparing{*symbols, true};

  Taint taint(std::string_view key, std::string_view value, TaintEffect effect = kNoSchedule) {
    return {hold.intern(key), hold.intern(value), effect};
  }
  Toleration toleration(std::string_view key, Op op, std::string_view value = "",
                        TaintEffect effect = kAny) {
    return {hold.intern(key), hold.intern(value), op, effect, std::nullopt};
  }
};

TEST_F(TaintTest, TolerationsMatchByKeyEffectAndOperator) {
  struct Row {
    Toleration toleration;
    Taint taint;
    bool tolerated;
  };
  const std::vector<Row> rows = {
      {toleration("a", Op::kEqual, "x"), taint("a", "x"), true},
      {toleration("a", Op::kEqual, "x"), taint("a", "x", kNoExecute), true},
      {toleration("a", Op::kEqual, "x"), taint("a", "y"), false},
      {toleration("a", Op::kEqual, "x"), taint("b", "x"), false},
      {toleration("a", Op::kEqual, ""), taint("a", ""), true},
      {toleration("a", Op::kEqual, "x", kNoExecute), taint("a", "x"), false},
      {toleration("a", Op::kEqual, "x", kNoSchedule), taint("a", "x"), true},
      {toleration("a", Op::kEqual, "x", kPreferNoSchedule), taint("a", "x", kPreferNoSchedule),
       true},
      {toleration("", Op::kExists), taint("any", "thing"), true},
      {toleration("", Op::kExists, "", kNoExecute), taint("any", "thing"), false},
      {toleration("a", Op::kExists, "ignored"), taint("a", "anything"), true},
      {toleration("a", Op::kExists), taint("b", ""), false},
      {toleration("", Op::kEqual, "x"), taint("b", "x"), true},
      {toleration("", Op::kEqual, "x"), taint("b", "y"), false},
      {toleration("a", Op::kUnknown, "x"), taint("a", "x"), false},
  };
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(tolerates(rows[i].toleration, rows[i].taint, rules), rows[i].tolerated) << i;
}

TEST_F(TaintTest, ComparisonsCountOnlyWithTheirGateAndStrictNumbers) {
  struct Row {
    Op op;
    std::string bound, value;
    bool tolerated;
  };
  const std::vector<Row> rows = {
      {Op::kGreaterThan, "900", "950", true},
      {Op::kGreaterThan, "900", "900", false},
      {Op::kGreaterThan, "900", "abc", false},
      {Op::kGreaterThan, "900", "0950", false},
      {Op::kGreaterThan, "900", "+950", false},
      {Op::kGreaterThan, "900", "", false},
      {Op::kGreaterThan, "0900", "950", false},
      {Op::kGreaterThan, "-1", "0", true},
      {Op::kGreaterThan, "-1", "-0", false},
      {Op::kGreaterThan, "0", "9223372036854775807", true},
      {Op::kGreaterThan, "0", "9223372036854775808", false},
      {Op::kLessThan, "100", "99", true},
      {Op::kLessThan, "100", "100", false},
      {Op::kLessThan, "100", "-5", true},
      {Op::kLessThan, "100", "-", false},
      {Op::kLessThan, "100", "-05", false},
      {Op::kLessThan, "0", "-9223372036854775808", true},
      {Op::kLessThan, "0", "-9223372036854775809", false},
      {Op::kLessThan, "0", "00", false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.bound + " " + row.value);
    const Toleration bound = toleration("a", row.op, row.bound);
    EXPECT_EQ(tolerates(bound, taint("a", row.value), comparing), row.tolerated);
    EXPECT_FALSE(tolerates(bound, taint("a", row.value), rules)) << "the gate is off";
    EXPECT_FALSE(tolerates(bound, taint("b", row.value), comparing)) << "another key";
  }
}

TEST_F(TaintTest, TheFirstTaintThatRepelsAndIsNotToleratedIsFound) {
  const std::vector<Taint> taints = {taint("soft", "", kPreferNoSchedule), taint("a", "1"),
                                     taint("b", "2", kNoExecute), taint("c", "3")};
  const std::vector<Toleration> a = {toleration("x", Op::kExists), toleration("a", Op::kExists)};
  const std::vector<Toleration> all = {toleration("", Op::kExists)};
  EXPECT_EQ(find_untolerated(taints, {}, rules), &taints[1]);
  EXPECT_EQ(find_untolerated(taints, a, rules), &taints[2]);
  EXPECT_EQ(find_untolerated(taints, all, rules), nullptr);
  EXPECT_EQ(find_untolerated({}, {}, rules), nullptr);
  EXPECT_EQ(find_untolerated(std::span(taints).first(1), {}, rules), nullptr)
      << "a preference repels nobody";
}

TEST_F(TaintTest, AnyOfSeveralTolerationsIsEnough) {
  const std::vector<Toleration> list = {toleration("a", Op::kEqual, "1"),
                                        toleration("a", Op::kEqual, "2")};
  EXPECT_TRUE(tolerates(list, taint("a", "2"), rules));
  EXPECT_FALSE(tolerates(list, taint("a", "3"), rules));
  EXPECT_FALSE(tolerates(std::span<const Toleration>{}, taint("a", "3"), rules));
}

}  // namespace
}  // namespace berth
