#include "wire/proto_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/testing/hex.h"
#include "base/testing/names.h"

namespace berth {
namespace {

// What the reader says about bytes of which every message is entered at field 2.
std::string error_of(std::string_view hex) {
  const std::string bytes = from_hex(hex);
  ProtoReader proto(bytes);
  proto.fields([&](std::uint32_t field) {
    if (field == 1) static_cast<void>(proto.int64());
    if (field == 2)
      proto.fields([&](std::uint32_t inner) {
        if (inner == 3) static_cast<void>(proto.text());
      });
  });
  return proto.error() ? proto.error()->message : "";
}

TEST(ProtoReader, WalksAMessageAndSkipsWhatIsNotRead) {
  // 1: 150, 7: "skipped", 2: {3: "abc"}, 9: fixed64, 1: -1, 10: fixed32
  const std::string bytes = from_hex(
      "089601"
      "3a07736b6970706564"
      "12051a03616263"
      "490102030405060708"
      "08ffffffffffffffffff01"
      "5501020304");
  ProtoReader proto(bytes);
  std::vector<std::int64_t> numbers;
  std::string text;
  std::vector<std::uint32_t> seen;
  proto.fields([&](std::uint32_t field) {
    seen.push_back(field);
    if (field == 1) numbers.push_back(proto.int64());
    if (field == 2)
      proto.fields([&](std::uint32_t inner) {
        if (inner == 3) text = proto.text();
      });
  });
  EXPECT_FALSE(proto.error());
  EXPECT_THAT(seen, ElementsAre(1, 7, 2, 9, 1, 10));
  EXPECT_THAT(numbers, ElementsAre(150, -1));
  EXPECT_EQ(text, "abc");
}

TEST(ProtoReader, MapEntriesHaveAKeyAndAValueInAnyOrderOrNone) {
  // 1: {key "k", value "v"}, 1: {value "w", key "l"}, 1: {}
  const std::string bytes = from_hex(
      "0a060a016b120176"
      "0a061201770a016c"
      "0a00");
  ProtoReader proto(bytes);
  std::vector<std::string> entries;
  proto.fields([&](std::uint32_t) {
    proto.entry([&](std::string_view key) {
      entries.push_back(std::string(key) + "=" + std::string(proto.text()));
    });
  });
  EXPECT_THAT(entries, ElementsAre("k=v", "l=w", "="));
}

TEST(ProtoReader, SaysWhereItIsWrong) {
  EXPECT_EQ(error_of(""), "");
  EXPECT_EQ(error_of("0a0161"), "field 1: expected a number, got bytes");
  EXPECT_EQ(error_of("12021801"), "field 2.3: expected bytes, got a number");
  EXPECT_EQ(error_of("1001"), "field 2: expected bytes, got a number");
  EXPECT_EQ(error_of("1205"), "field 2: malformed protobuf: it ends too early");
  EXPECT_EQ(error_of("12021a05"), "field 2.3: malformed protobuf: it ends too early");
  EXPECT_THAT(error_of("08ff"), StartsWith("field 1: malformed protobuf: "));
  EXPECT_THAT(error_of("08ffffffffffffffffffffff01"), StartsWith("field 1: malformed protobuf: "));
  EXPECT_EQ(error_of("00"), "field 0: malformed protobuf: no such field number");
  EXPECT_EQ(error_of("0b0c"), "field 1: malformed protobuf: wire type 3");
  EXPECT_EQ(error_of("12ffffffffffffffff7f"), "field 2: malformed protobuf: it ends too early");
}

TEST(ProtoReader, NothingIsReadAfterTheFirstError) {
  const std::string bytes = from_hex(
      "0a0161"
      "0807");
  ProtoReader proto(bytes);
  int fields = 0;
  proto.fields([&](std::uint32_t) {
    ++fields;
    EXPECT_EQ(proto.int64(), 0);
  });
  EXPECT_EQ(fields, 1);
}

}  // namespace
}  // namespace berth
