#include "api/big_decimal.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "berth/random.h"

namespace berth {
namespace {

using Int128 = BigDecimal::Int128;

std::string text(const BigDecimal& number) {
  if (number.sign() == 0) return "0";
  return (number.sign() < 0 ? "-" : "") + number.digits(0);
}

BigDecimal negative(BigDecimal number) {
  number.negate();
  return number;
}

TEST(BigDecimal, IsWrittenAsItWasRead) {
  for (const std::string& digits : std::vector<std::string>{
           "1", "499999999999999999", "500000000000000000", "999999999999999999",
           "1000000000000000000", "12345678901234567890123456789012345678901234567890",
           std::string(1000, '9'), "5" + std::string(100, '0') + "5"}) {
    EXPECT_EQ(text(BigDecimal::parse(digits, 0)), digits);
    EXPECT_EQ(text(negative(BigDecimal::parse(digits, 0))), "-" + digits);
    EXPECT_EQ(text(BigDecimal::parse(digits, 25)), digits + std::string(25, '0'));
    EXPECT_EQ(BigDecimal::parse(digits, 25).digits(25), digits);
  }
  EXPECT_EQ(text(BigDecimal::parse("", 0)), "0");
  EXPECT_EQ(text(BigDecimal::parse("000", 7)), "0");
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(text(BigDecimal::scaled(Limits::min(), 30)),
            "-9223372036854775808" + std::string(30, '0'));
  EXPECT_EQ(text(BigDecimal(Int128{Limits::max()} * Limits::max())),
            "85070591730234615847396907784232501249");
}

TEST(BigDecimal, ANumberHasOneForm) {
  EXPECT_EQ(BigDecimal::scaled(1, 40), BigDecimal::parse("1", 40));
  EXPECT_EQ(BigDecimal::scaled(-5, 17), BigDecimal(Int128{-500'000'000'000'000'000}));
  EXPECT_EQ(BigDecimal::scaled(10, 17), BigDecimal::scaled(1, 18));
  EXPECT_EQ(negative(negative(BigDecimal::scaled(-5, 17))), BigDecimal::scaled(-5, 17));
  EXPECT_EQ(BigDecimal::scaled(10, 17).hash(), BigDecimal::scaled(1, 18).hash());
}

// What the compiler's own 128 bits say.
TEST(BigDecimal, ReckonsLikeIntegers) {
  Random random(1);
  const auto draw = [&] {
    const auto size = static_cast<unsigned>(random.below(63));
    const auto value = static_cast<std::int64_t>(random.next() >> size);
    return random.chance(0.5) ? Int128{value} * 1'000'000'000 : Int128{value} * value;
  };
  for (int i = 0; i < 20'000; ++i) {
    const Int128 a = draw() / 2, b = random.chance(0.2) ? -a : draw() / 2;
    BigDecimal sum{a};
    sum += BigDecimal(b);
    ASSERT_EQ(sum, BigDecimal(a + b));
    ASSERT_EQ(negative(BigDecimal(a)), BigDecimal(-a));
    ASSERT_EQ(BigDecimal(a) < BigDecimal(b), a < b);
    ASSERT_EQ(BigDecimal(a).sign(), a < 0 ? -1 : a > 0 ? 1 : 0);
    Int128 power = 1;
    for (std::int64_t exponent = 0; exponent < 38; ++exponent, power *= 10) {
      Int128 floor = a / power;
      if (a % power < 0) --floor;
      const auto [low_bits, exact] = BigDecimal(a).divide(exponent);
      ASSERT_EQ(low_bits, static_cast<std::uint64_t>(floor)) << exponent;
      ASSERT_EQ(exact, a % power == 0);
    }
  }
}

TEST(BigDecimal, NumbersFarApartCostTheirDigits) {
  const BigDecimal huge = BigDecimal::scaled(1, 2'000'000'000);
  BigDecimal sum = huge;
  sum += BigDecimal(-1);
  EXPECT_LT(sum, huge);
  EXPECT_GT(sum, BigDecimal::scaled(9, 1'999'999'999));
  EXPECT_EQ(sum.divide(0).low_bits, std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(sum.divide(1).exact);
  EXPECT_EQ(sum.trailing_zeros(), 0);
  EXPECT_EQ(huge.trailing_zeros(), 2'000'000'000);
  sum += BigDecimal(1);
  EXPECT_EQ(sum, huge);
  sum += sum;
  EXPECT_EQ(sum, BigDecimal::scaled(2, 2'000'000'000));
}

TEST(BigDecimal, ABorrowGoesThroughEveryDigit) {
  BigDecimal nines = BigDecimal::scaled(1, 90);
  nines += BigDecimal(-1);
  EXPECT_EQ(text(nines), std::string(90, '9'));
  BigDecimal long_sum = BigDecimal::parse(std::string(200, '9'), 0);
  long_sum += BigDecimal::parse(std::string(150, '9') + "0", 0);
  EXPECT_EQ(text(long_sum), "1" + std::string(49, '0') + std::string(149, '9') + "89");
}

TEST(BigDecimal, TakesOutMultiplesOf1024) {
  EXPECT_EQ(BigDecimal(1536).binary_digits(0, 6), std::pair(std::string("1536"), 0));
  EXPECT_EQ(BigDecimal::scaled(1 << 20, 9).binary_digits(9, 6), std::pair(std::string("1"), 2));
  EXPECT_EQ(BigDecimal(Int128{1} << 100).binary_digits(0, 6),
            std::pair(std::string("1099511627776"), 6));
}

}  // namespace
}  // namespace berth
