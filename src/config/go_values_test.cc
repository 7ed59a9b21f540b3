#include "config/go_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/testing/names.h"

namespace berth::config {
namespace {

template <typename T>
std::string message(const Result<T>& result) {
  return result ? "none" : result.error().message;
}

TEST(GoValues, WholeNumbersInEveryBase) {
  const std::initializer_list<std::pair<const char*, std::int64_t>> rows{
      {"0", 0},
      {"-5", -5},
      {"+5", 5},
      {"0x10", 16},
      {"0b1", 1},
      {"0o17", 15},
      {"017", 15},
      {"0X1f", 31},
      {"1_000", 1000},
      {"0x_1", 1},
      {"0_7", 7},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN}};
  for (const auto& [text, number] : rows) EXPECT_EQ(parse_int(text, 0, 64), number) << text;
  for (const char* text : {"", "x", "1.5", "08", "_1", "1__0", "1_", " 1", "1e3", "0x", "--1"}) {
    EXPECT_EQ(message(parse_int(text, 0, 64)),
              "strconv.ParseInt: parsing \"" + std::string(text) + "\": invalid syntax");
  }
}

TEST(GoValues, NumbersThatDoNotFit) {
  EXPECT_EQ(message(parse_int("9223372036854775808", 0, 64)),
            "strconv.ParseInt: parsing \"9223372036854775808\": value out of range");
  EXPECT_EQ(message(parse_int("99999999999999999999", 0, 64)),
            "strconv.ParseInt: parsing \"99999999999999999999\": value out of range");
  EXPECT_EQ(parse_int("-2147483648", 0, 32), INT32_MIN);
  EXPECT_EQ(message(parse_int("2147483648", 0, 32)),
            "strconv.ParseInt: parsing \"2147483648\": value out of range");
  EXPECT_EQ(message(parse_uint("-1", 10, 31)), "strconv.ParseUint: parsing \"-1\": invalid syntax");
  EXPECT_EQ(message(parse_uint("2147483648", 10, 31)),
            "strconv.ParseUint: parsing \"2147483648\": value out of range");
}

TEST(GoValues, Floats) {
  const std::initializer_list<std::pair<const char*, float>> rows{
      {"1.5", 1.5F}, {".5", .5F}, {"5.", 5},        {"1e3", 1000},
      {"-1", -1},    {"+2", 2},   {"0x1p-2", .25F}, {"1_0", 10}};
  for (const auto& [text, number] : rows) EXPECT_EQ(parse_float(text), number) << text;
  EXPECT_EQ(parse_float("1e-50"), 0.0F);
  EXPECT_EQ(parse_float("1e-5000"), 0.0F);
  EXPECT_TRUE(std::isinf(*parse_float("-Inf")));
  EXPECT_TRUE(std::isnan(*parse_float("nan")));
  for (const char* text : {"", "x", "1e", "0x1", "_1", "1_e5", "--1", "1 ", "infi", "e5", "."}) {
    EXPECT_EQ(message(parse_float(text)),
              "strconv.ParseFloat: parsing \"" + std::string(text) + "\": invalid syntax");
  }
  EXPECT_EQ(message(parse_float("1e40")),
            "strconv.ParseFloat: parsing \"1e40\": value out of range");
  EXPECT_EQ(message(parse_float("1e5000")),
            "strconv.ParseFloat: parsing \"1e5000\": value out of range");
}

TEST(GoValues, AddressesHaveOneForm) {
  const std::initializer_list<std::pair<const char*, const char*>> rows{
      {"1.2.3.4", "1.2.3.4"},
      {"::", "::"},
      {"0:0::1", "::1"},
      {"::ffff:1.2.3.4", "1.2.3.4"},
      {"::1.2.3.4", "::102:304"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"}};
  for (const auto& [text, address] : rows) EXPECT_EQ(parse_ip(text), address) << text;
  for (const char* text : {"", "x", "01.2.3.4", "1.2.3", "fe80::1%eth0", "[::1]"}) {
    EXPECT_FALSE(parse_ip(text)) << text;
  }
}

TEST(GoValues, CommaSeparated) {
  EXPECT_THAT(*read_csv("a, b,"), ElementsAre("a", " b", ""));
  EXPECT_THAT(*read_csv("\"a,b\",\"c\"\"d\""), ElementsAre("a,b", "c\"d"));
  EXPECT_EQ(message(read_csv("a\"b")),
            "parse error on line 1, column 2: bare \" in non-quoted-field");
  EXPECT_EQ(message(read_csv("\"a\"b")),
            "parse error on line 1, column 3: extraneous or missing \" in quoted-field");
  EXPECT_EQ(message(read_csv("\n")), "EOF");
  EXPECT_EQ(write_csv({"a", "b,c", "d\"e", " f", ""}), "a,\"b,c\",\"d\"\"e\",\" f\",");
}

}  // namespace
}  // namespace berth::config
