#include "api/read_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "base/testing/hex.h"
#include "base/testing/names.h"

namespace berth {
namespace {

// Of the field "x" of an object.
std::string quantity_error(std::string_view value) {
  JsonReader json(R"({"x":)" + std::string(value) + "}");
  json.fields([&](std::string_view) { read_quantity(json); });
  return json.error() ? json.error()->message : "";
}

TEST(ReadValues, QuantitiesMayBeNumbersOrPaddedText) {
  JsonReader json(R"({"a":[1,"2",0.25," 3 ",1e3,"1.5Ki"]})");
  std::vector<std::int64_t> milli;
  json.fields([&](std::string_view) {
    json.items([&] { milli.push_back(read_quantity(json).milli_value()); });
  });
  EXPECT_FALSE(json.error());
  EXPECT_THAT(milli, ElementsAre(1000, 2000, 250, 3000, 1000000, 1536000));
}

TEST(ReadValues, AQuantityThatIsNoneSaysWhereAndWhat) {
  EXPECT_EQ(quantity_error("true"), "x: expected a quantity, got a boolean");
  EXPECT_THAT(quantity_error("\"1KKi\""), StartsWith("x: unable to parse quantity's suffix"));
  EXPECT_EQ(quantity_error("null"), "");
  EXPECT_NE(quantity_error("\"\""), "");
}

TEST(ReadValues, TimesAreWholeSecondsAndMicrosecondsAndNoneWhenEmpty) {
  using std::chrono::seconds;
  // 1: Time{10, 999999999}, 2: MicroTime{10, 1999}, 3: Time{}, 4: Time{the largest}
  const std::string bytes = from_hex(
      "0a08080a10ff93ebdc03"
      "1205080a10cf0f"
      "1a00"
      "220a08ffffffffffffffff7f");
  ProtoReader proto(bytes);
  std::vector<std::optional<WallTime>> times;
  proto.fields([&](std::uint32_t field) {
    times.push_back(field == 2 ? read_micro_time(proto) : read_time(proto));
  });
  ASSERT_FALSE(proto.error());
  ASSERT_EQ(times.size(), 4U);
  EXPECT_EQ(times[0], WallTime{seconds(10)});
  EXPECT_EQ(times[1], WallTime{seconds(10) + std::chrono::microseconds(1)});
  EXPECT_EQ(times[2], std::nullopt);
  EXPECT_EQ(times[3], WallTime{Duration::max()});
}

}  // namespace
}  // namespace berth
