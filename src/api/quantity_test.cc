#include "berth/resources.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace berth {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Quantity quantity(std::string_view text) {
  Result<Quantity> parsed = Quantity::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(Quantity());
}

std::string error(std::string_view text) {
  const Result<Quantity> parsed = Quantity::parse(text);
  return parsed ? "parsed as " + parsed->to_string() : parsed.error().message;
}

TEST(Quantity, RoundsUpToWholeUnitsAndToThousandths) {
  struct Row {
    std::string text;
    std::int64_t value, milli;
  };
  const std::vector<Row> rows = {
      {"0", 0, 0},
      {"1", 1, 1000},
      {"500m", 1, 500},
      {"1500m", 2, 1500},
      {"0.5", 1, 500},
      {"100k", 100'000, 100'000'000},
      {"2M", 2'000'000, 2'000'000'000},
      {"3G", 3'000'000'000, 3'000'000'000'000},
      {"4T", 4'000'000'000'000, 4'000'000'000'000'000},
      {"5P", 5'000'000'000'000'000, 5'000'000'000'000'000'000},
      {"1Ki", 1024, 1'024'000},
      {"16Gi", 17'179'869'184, 17'179'869'184'000},
      {"2Ti", 2'199'023'255'552, 2'199'023'255'552'000},
      {"1e3", 1000, 1'000'000},
      {"1E3", 1000, 1'000'000},
      {"1e+3", 1000, 1'000'000},
      {"12e-1", 2, 1200},
      {"500u", 1, 1},
      {"-1.5", -2, -1500},
      {"-500m", -1, -500},
      {"1E", 1'000'000'000'000'000'000, 0},
      {"1e16", 10'000'000'000'000'000, 0},
      {"10E", 0, 0},
      {"1e19", 0, 0},
      {"9223372036854775807", kMax, -1000},
      {"9223372036854775808", kMin, 0},
      {"12345678901234567890", -6101065172474983726, 4807115922877858896},
      {"0.1m", 1, 1},
      {"1n", 1, 1},
      {"1.1Gi", 1181116007, 1181116006400},
      {"0.1Ki", 103, 102400},
      {"1Pi", 1125899906842624, 1125899906842624000},
      {"8Ei", kMax, -1000},
      {"9Ei", kMax, -1000},
      {"1e-10", 1, 1},
      {"1e-2147483648", 1, 1},
      {"1e4294967296", 1, 1000},  // the exponent is cut to 32 bits
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(quantity(row.text).value(), row.value);
    EXPECT_EQ(quantity(row.text).milli_value(), row.milli);
  }
}

TEST(Quantity, AnOverflowWrapsForSomeExponentsAndIsZeroForOthers) {
  struct Row {
    std::string text;
    std::int64_t milli;
  };
  // 18 digits with a suffix stay small; the thousandfold of them no longer fits.
  const std::vector<Row> rows = {
      {"999999999999999999", static_cast<std::int64_t>(999999999999999999ULL * 1000)},      // 10^3
      {"999999999999999999k", static_cast<std::int64_t>(999999999999999999ULL * 1000000)},  // 10^6
      {"999999999999999999M", static_cast<std::int64_t>(999999999999999999ULL * 1000000000)},
      {"-999999999999999999", -static_cast<std::int64_t>(999999999999999999ULL * 1000)},
      {"999999999999999999G", 0},   // 10^12
      {"999999999999999999e1", 0},  // 10^4
      {"0e1000", 0},
  };
  for (const Row& row : rows) EXPECT_EQ(quantity(row.text).milli_value(), row.milli) << row.text;
  EXPECT_EQ(quantity("999999999999999999e1").value(),
            static_cast<std::int64_t>(999999999999999999ULL * 10));
  EXPECT_EQ(quantity("999999999999999999e4").value(), 0);
}

TEST(Quantity, NegativeNumbersRoundByTheFormTheyAreKeptIn) {
  EXPECT_EQ(quantity("-1.5").value(), -2) << "short: away from zero";
  EXPECT_EQ(quantity("-1.5Ki").value(), -1536);
  EXPECT_EQ(quantity("-0.1Ki").value(), -101) << "long: towards zero, then one up";
  EXPECT_EQ(quantity("-20000000000.0000000001").value(), -1553255925)
      << "of the low 64 bits of its nanos";
  EXPECT_EQ(quantity("-0.1m").value(), -1);
}

TEST(Quantity, OddTextsThatAreAccepted) {
  for (const std::string_view text : {"+", "-", "000", ".", "m", "Ki", "e5", "0Pi", "-0", "+0.0",
                                      "0.00000000000000000000000", "0e-999999999", "0e99"})
    EXPECT_TRUE(quantity(text).is_zero()) << text;
  EXPECT_EQ(quantity("1.").value(), 1);
  EXPECT_EQ(quantity(".5").milli_value(), 500);
  EXPECT_EQ(quantity("1.G").value(), 1'000'000'000);
  EXPECT_EQ(quantity("+5").value(), 5);
  EXPECT_EQ(quantity("007").value(), 7);
  EXPECT_EQ(quantity(".5Pi").value(), 562949953421312);
}

TEST(Quantity, TextsThatAreRefused) {
  constexpr const char* kFormat =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const std::string_view text :
       {"", " 1", "1 ", "1.1.1", "1e5x", "1Kib", "abc", "0x10", "1_0", "1,5", "½"})
    EXPECT_EQ(error(text), kFormat) << text;
  for (const std::string_view text : {"1e", "--1", "+-1", "1KKi", "1E-", "1i", "1mm", "1-3", "1+",
                                      "1e99999999999999999999", "1Ee3", "1ki"})
    EXPECT_EQ(error(text), "unable to parse quantity's suffix") << text;
  for (const std::string_view text : {"Pi", "Ei", "+Ei", ".Pi", "e-10"})
    EXPECT_EQ(error(text), "unable to parse numeric part of quantity") << text;
}

// As k8s.io/apimachinery answers.
TEST(Quantity, HugeNumbersOverflowAsUpstreamsDo) {
  struct Row {
    std::vector<std::string> terms;  // what begins with ~ is taken away
    std::int64_t value, milli;
    std::string canonical;  // empty: too long to be shown here
  };
  const std::vector<Row> rows = {
      {{"1e10001"}, 0, 0, "100e9999"},
      {{"-1e10001"}, 0, 0, "-100e9999"},
      {{"1e2147483647"}, 0, 1, "10e2147483646"},
      {{"-1e2147483647"}, 0, -1, "-10e2147483646"},
      {{"1e2147483644"}, 0, 0, "10e2147483643"},
      {{"5e2147483640"}, 0, 0, "5e2147483640"},
      {{"1.5e-2147483648"}, 0, 15, "150e2147483646"},
      {{"1234567890123456789e99"}, 0, 0, "1234567890123456789e99"},
      {{"1234567890123456789e9999"}, 0, 0, "1234567890123456789e9999"},
      {{"-1234567890123456789e9999"}, 0, 0, "-1234567890123456789e9999"},
      {{"12345678901234567890.5"},
       -6101065172474983725,
       4807115922877859396,
       "12345678901234567890500m"},
      {{"-12345678901234567890.5"}, -5097733591, -5097733592501, "-12345678901234567890500m"},
      {{"0.5e-20"}, 1, 1, "1e-9"},
      {{"99999999999999999999999999999999999999"},
       687399551400673279,
       4870020673419869208,
       "99999999999999999999999999999999999999"},
      {{"-99999999999999999999999999999999999999"},
       -6450984251,
       -6450984252742,
       "-99999999999999999999999999999999999999"},
      {{"9223372036854775807"}, kMax, -1000, "9223372036854775807"},
      {{"9223372036854775808"}, kMin, 0, "9223372036854775808"},
      {{"-9223372036854775808"}, 0, 0, "-9223372036854775808"},
      {{"-9223372036854775809"}, -1, -1000, "-9223372036854775809"},
      {{"9223372036854775.807"}, 9223372036854776, kMax, "9223372036854775807m"},
      {{"9223372036854775.8071"}, 9223372036854776, kMin, "9223372036854775807100u"},
      {{"1e15"}, 1000000000000000, 1000000000000000000, "1e15"},
      {{"1e16"}, 10000000000000000, 0, "10e15"},
      {{"9e15"}, 9000000000000000, 9000000000000000000, "9e15"},
      {{"922337203685477580700m"}, 922337203685477581, -100, "922337203685477580700m"},
      {{"1.0000000001"}, 2, 1001, "1000000001n"},
      {{"-1.0000000001"}, 0, -999, "-1000000001n"},
      {{"1e-10"}, 1, 1, "1e-9"},
      {{"-1e-10"}, 1, 1, "-1e-9"},
      {{"0.1n"}, 1, 1, "1n"},
      {{"-0.1n"}, 1, 1, "-1n"},
      {{"1.9999999999Ki"}, 2048, 2048000, "2047999999898n"},
      {{"0.0000000001Ki"}, 1, 1, "103n"},
      {{"7.9999999999999999999Ei"}, kMax, -1000, "9223372036854775807"},
      {{"8Ei"}, kMax, -1000, "9223372036854775807"},
      {{"-8Ei"}, -9223372036854775807, 1000, "-9223372036854775807"},
      {{"-9Ei"}, -9223372036854775807, 1000, "-9223372036854775807"},
      {{"1e18"}, 1000000000000000000, 0, "1e18"},
      {{"1e19"}, 0, 0, "10e18"},
      {{"1e20"}, 0, 0, "100e18"},
      {{"10E"}, 0, 0, "10E"},
      {{"100E"}, 0, 0, "100E"},
      {{"1e10001", "1"}, 1, 1000, ""},
      {{"1e10001", "1n"}, 1, 1, ""},
      {{"1e9999", "~1"}, -1, -1000, ""},
      {{"1", "1e10001"}, 1, 1000, ""},
      {{"1e2147483647", "1n"}, 1, 1, "2e-9"},
      {{"1n", "1e2147483647"}, 1, 1, "2n"},
      {{"1e2147483640", "1e2147483640"}, 0, 0, "2e2147483640"},
      {{"1e2147483647", "1e2147483646"}, 0, 11, "11e2147483646"},
      {{"9E", "9E"}, 0, 0, "18E"},
      {{"9e18", "9e18"}, 0, 0, "18e18"},
      {{"9e18", "9e18", "1"}, -446744073709551615, -4022215940522376216, "18000000000000000001"},
      {{"999999999999999999e5", "1e5"}, 0, 0, "100e21"},
      {{"0e-999", "1"}, 1, 1000, "1"},
      {{"0.0e-50", "5"}, 5, 5000, "5"},
      {{"1Ki", "1e30"}, 5076944270305264640, 4089650035137945600, "976562500000000000000000001Ki"},
      {{"8Ei", "8Ei"}, -2, -2000, "18446744073709551614"},
      {{"-8Ei", "~1"}, kMin, 0, "-8Ei"},
      {{"1e30", "~1e30"}, 0, 0, "0"},
      {{"1e30", "~1e30", "1m"}, 1, 1, "1m"},
      {{"1e40", "1Ki"},
       -5047021154770877440,
       7386721425539702784,
       "10000000000000000000000000000000000001024"},
      {{"1234567890123456789e10", "~1"},
       5097733592002180095,
       6432227658343848984,
       "12345678901234567889999999999"},
      {{"1e22", "5e-9"},
       1864712049423024129,
       1590897978359414785,
       "10000000000000000000000000000005e-9"},
      {{"5", "~1e22"}, -1864712049423024123, -1590897978359409784, "-9999999999999999999995"},
      {{"5m", "~12345678901234567890"}, -5097733590, -5097733591996, "-12345678901234567889995m"},
      {{"1.00000000000000000000000000000000000000001"}, 2, 1001, "1000000001n"},
      {{"1.00000000000000000000000000000000000000001Ki"}, 1025, 1024001, "1024000000001n"},
      {{"1e100", "1e80", "1e60", "1e40", "1e20", "1", "1n"},
       3872179981288210434,
       -1636274190795406359,
       ""},
  };
  for (const Row& row : rows) {
    Quantity sum = quantity(row.terms.front());
    std::string shown = row.terms.front();
    for (std::size_t i = 1; i < row.terms.size(); ++i) {
      const bool taken_away = row.terms[i].starts_with('~');
      const Quantity term = quantity(row.terms[i].substr(taken_away ? 1 : 0));
      taken_away ? sum -= term : sum += term;
      shown += " " + row.terms[i];
    }
    EXPECT_EQ(sum.value(), row.value) << shown;
    EXPECT_EQ(sum.milli_value(), row.milli) << shown;
    if (!row.canonical.empty()) {
      EXPECT_EQ(sum.to_string(), row.canonical) << shown;
    }
  }
}

TEST(Quantity, SumsOfHugeNumbersCostTheirDigits) {
  Quantity sum = quantity("1e9999");
  sum += quantity("1n");
  EXPECT_GT(sum, quantity("1e9999"));
  EXPECT_EQ(sum.value(), 1) << "the low 64 bits, rounded up";
  Quantity difference = quantity("1e2000000000");
  for (int i = 0; i < 1000; ++i) difference -= quantity("3");
  EXPECT_LT(difference, quantity("1e2000000000"));
  EXPECT_GT(difference, quantity("9e1999999999"));
  EXPECT_EQ(difference.value(), -3000);
  EXPECT_EQ(difference.to_string(), "100000000000e1999999989") << "not written out";
  for (int i = 0; i < 1000; ++i) difference += quantity("3");
  EXPECT_EQ(difference, quantity("1e2000000000"));
}

TEST(Quantity, MegabytesOfDigitsAreExact) {
  const std::string nines(1'500'000, '9');
  const Quantity large = quantity(nines);
  EXPECT_EQ(large.value(), -1);
  EXPECT_EQ(large.to_string(), nines);
  Quantity sum = large;
  sum += quantity("1");
  EXPECT_EQ(sum, quantity("1e1500000"));
  EXPECT_EQ(quantity("0." + nines), quantity("1"));
  EXPECT_EQ(quantity("0." + nines + "Ki"), quantity("1Ki"));
  EXPECT_EQ(quantity("0." + std::string(1'500'000, '0') + "1Ki"), quantity("1n"));
  EXPECT_EQ(quantity(nines + "Ei").value(), kMax);
}

TEST(Quantity, ComparesByNumber) {
  const std::vector<std::string> rows = {"-12345678901234567890",
                                         "-1E",
                                         "-1.5",
                                         "-1n",
                                         "0",
                                         "1n",
                                         "1u",
                                         "999u",
                                         "1m",
                                         "999m",
                                         "1",
                                         "1.5",
                                         "1k",
                                         "1Ki",
                                         "1Gi",
                                         "1P",
                                         "1Pi",
                                         "1E",
                                         "8Ei",
                                         "10E",
                                         "12345678901234567890",
                                         "1e30",
                                         "1e3000"};
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows.size(); ++j)
      EXPECT_EQ(quantity(rows[i]) <=> quantity(rows[j]), i <=> j) << rows[i] << " " << rows[j];
}

TEST(Quantity, EqualNumbersAreEqualAndHashEqualHoweverWritten) {
  const std::vector<std::vector<std::string>> same = {
      {"0", "0m", "0e30", "0e-30", "-0", "Ki"},
      {"1", "1000m", "1e0", "1.000000000000000000000", "1000000000n"},
      {"1Ki", "1024", "1.024k", "1024.0000000000000000000"},
      {"1.5Gi", "1536Mi", "1610612736"},
      {"1e21", "1000E", "1000000000000000000000"},
      {"8Ei", "9223372036854775807", "9.223372036854775807e18"},
      {"-1", "-1000m", "-1.0000000000000000000"},
  };
  for (const std::vector<std::string>& texts : same) {
    for (const std::string& text : texts) {
      EXPECT_EQ(quantity(text), quantity(texts.front())) << text << " " << texts.front();
      EXPECT_EQ(quantity(text).hash(), quantity(texts.front()).hash()) << text;
      EXPECT_EQ(quantity(text).sign(), quantity(texts.front()).sign()) << text;
    }
  }
  EXPECT_NE(quantity("1").hash(), quantity("2").hash());
  EXPECT_NE(quantity("1").hash(), quantity("10").hash());
  EXPECT_NE(quantity("1").hash(), quantity("-1").hash());
  EXPECT_NE(quantity("12345678901234567891").hash(), quantity("12345678901234567892").hash());
}

TEST(Quantity, SumsAreExact) {
  struct Row {
    std::string a, b, sum, difference;
  };
  const std::vector<Row> rows = {
      {"500u", "500u", "1m", "0"},
      {"1", "1n", "1000000001n", "999999999n"},
      {"0", "5", "5", "-5"},
      {"5", "0", "5", "5"},
      {"1Gi", "1", "1073741825", "1073741823"},
      {"1.5Gi", "0.5Gi", "2Gi", "1Gi"},
      {"999999999999999999", "999999999999999999", "1999999999999999998", "0"},
      {"9E", "9E", "18E", "0"},
      {"999999999999999999E", "1n", "999999999999999999000000000000000000.000000001",
       "999999999999999998999999999999999999.999999999"},
      {"9223372036854775807", "1", "9223372036854775808", "9223372036854775806"},
      {"-1", "1n", "-0.999999999", "-1.000000001"},
      {"1e3000", "-1e3000", "0", "2e3000"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.a + " and " + row.b);
    Quantity sum = quantity(row.a);
    sum += quantity(row.b);
    EXPECT_EQ(sum, quantity(row.sum)) << sum.to_string();
    Quantity difference = quantity(row.a);
    difference -= quantity(row.b);
    EXPECT_EQ(difference, quantity(row.difference)) << difference.to_string();
  }
}

TEST(Quantity, ManySmallAmountsOverflowIntoExactNumbers) {
  Quantity sum;
  for (int i = 0; i < 100; ++i) sum += Quantity::of(kMax);
  EXPECT_EQ(sum, quantity("922337203685477580700"));
  for (int i = 0; i < 100; ++i) sum -= Quantity::of(kMax);
  EXPECT_TRUE(sum.is_zero());
  Quantity negative = Quantity::of(0);
  negative -= Quantity::of(kMin);
  EXPECT_EQ(negative, quantity("9223372036854775808"));
}

TEST(Quantity, PrintsItsCanonicalForm) {
  struct Row {
    std::string text, canonical;
  };
  const std::vector<Row> rows = {
      {"0", "0"},
      {"0Gi", "0"},
      {"1", "1"},
      {"1000m", "1"},
      {"0.5", "500m"},
      {"1500m", "1500m"},
      {"100m", "100m"},
      {"0.0005", "500u"},
      {"1n", "1n"},
      {"0.1n", "1n"},
      {"1000", "1k"},
      {"1500", "1500"},
      {"1500000", "1500k"},
      {"1000000", "1M"},
      {"10E", "10E"},
      {"1000E", "1000E"},
      {"1Ki", "1Ki"},
      {"1024Ki", "1Mi"},
      {"1.5Gi", "1536Mi"},
      {"0.5Ki", "512"},
      {"1000Ki", "1000Ki"},
      {"1.1Gi", "1181116006400m"},
      {"0.0001Ki", "102400u"},
      {"1023", "1023"},
      {"-1Ki", "-1Ki"},
      {"-0.5", "-500m"},
      {"8Ei", "9223372036854775807"},
      {"4096Pi", "4Ei"},
      {"1e3", "1e3"},
      {"10e3", "10e3"},
      {"1e5", "100e3"},
      {"1.5e0", "1500e-3"},
      {"5e0", "5"},
      {"1e30", "1e30"},
      {"12345678901234567890", "12345678901234567890"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(quantity(row.text).to_string(), row.canonical);
    EXPECT_EQ(quantity(row.canonical), quantity(row.text)) << "must read as the same number";
  }
}

TEST(Quantity, ASumIsPrintedLikeItsFirstNonZeroPart) {
  Quantity sum;
  sum += quantity("1Gi");
  sum += quantity("1M");
  EXPECT_EQ(sum.to_string(), "1074741824");
  sum += quantity("1048576");
  sum -= quantity("1M");
  EXPECT_EQ(sum.to_string(), "1025Mi");
}

TEST(Quantity, IsAnIntegerOnlyAsWritten) {
  struct Row {
    const char* text;
    std::optional<std::int64_t> expected;
  };
  const Row rows[] = {
      {"0", 0},
      {"-5", -5},
      {"1.5k", 1500},
      {"1e3", 1000},
      {"1E", std::int64_t{1'000'000'000'000'000'000}},
      {"2Gi", std::int64_t{2} << 30},
      {"0.0", {}},
      {"1.0", {}},
      {"1000m", {}},
      {"1e-1", {}},
      {"1.5Gi", {}},
      {"10E", {}},
      {"1Ei", {}},
      {"1234567890123456789", {}},
  };
  for (const Row& row : rows) EXPECT_EQ(quantity(row.text).as_int64(), row.expected) << row.text;
  Quantity sum = quantity("500m");
  sum += quantity("500m");
  EXPECT_EQ(sum.as_int64(), std::nullopt);
  sum = quantity("0.0");
  sum += quantity("1");
  EXPECT_EQ(sum.as_int64(), 1);
}

TEST(Quantity, MadeFromNumbers) {
  EXPECT_EQ(Quantity::of(7), quantity("7"));
  EXPECT_EQ(Quantity::of_milli(1500), quantity("1.5"));
  EXPECT_EQ(Quantity::of_milli(kMin).milli_value(), kMin);
  EXPECT_EQ(Quantity::of_milli(kMin).value(), kMin / 1000 - 1);
  EXPECT_TRUE(Quantity().is_zero());
}

TEST(Quantity, CopiesAreIndependent) {
  const Quantity original = quantity("12345678901234567890");
  Quantity copy = original;
  copy += quantity("1");
  EXPECT_NE(copy, original);
  copy = original;
  EXPECT_EQ(copy, original);
  const Quantity moved = std::move(copy);
  EXPECT_EQ(moved, original);
}

}  // namespace
}  // namespace berth
