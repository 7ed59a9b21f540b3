#include "wire/message_pack.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

using std::string_literals::operator""s;

struct Example {
  std::string bytes;
  std::string json;  // or the error
};

TEST(MessagePackTest, ReadsEveryTypeThatJsonHas) {
  for (const auto& [bytes, json] : {
           Example{"\x07"s, "7"},
           {"\xff"s, "-1"},
           {"\xc0"s, "null"},
           {"\xc2"s, "false"},
           {"\xc3"s, "true"},
           {"\xa3web"s, R"("web")"},
           {"\xd9\x03web"s, R"("web")"},
           {"\xda\x00\x03web"s, R"("web")"},
           {"\xdb\x00\x00\x00\x03web"s, R"("web")"},
           {"\xcc\xff"s, "255"},
           {"\xcd\x01\x00"s, "256"},
           {"\xcf\xff\xff\xff\xff\xff\xff\xff\xff"s, "18446744073709551615"},
           {"\xd0\x80"s, "-128"},
           {"\xd1\xff\x00"s, "-256"},
           {"\xca\x3f\x00\x00\x00"s, "0.5"},
           {"\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00"s, "0.5"},
           {"\x92\x01\xa1x"s, R"([1,"x"])"},
           {"\xdc\x00\x01\x01"s, "[1]"},
           {"\x81\xa1x\x80"s, R"({"x":{}})"},
           {"\xde\x00\x01\xa1x\x01"s, R"({"x":1})"},
           {"\x81\x05\x01"s, R"({"5":1})"},
           {"\x81\x92\xa1x\xa1y\x01"s, R"({"x y":1})"},
       }) {
    const Result<JsonValue> read = parse_message_pack(bytes);
    ASSERT_TRUE(read) << json << ": " << read.error().message;
    EXPECT_EQ(to_json(*read), json);
  }
}

TEST(MessagePackTest, SaysWhereItIsWrong) {
  for (const auto& [bytes, error] : {
           Example{""s, "byte 0: ends within a value"},
           {"\xa3we"s, "byte 1: ends within a text"},
           {"\x93\x01"s, "byte 1: ends within a list of 3"},
           {"\xdf\xff\xff\xff\xff"s, "byte 5: ends within a map of 4294967295"},
           {"\x01\x02"s, "byte 1: 1 bytes after the end of the value"},
           {"\xc1"s, "byte 1: type 0xc1 has no meaning here"},
           {"\xc7\x01\x01x"s, "byte 1: type 0xc7 has no meaning here"},
           {std::string(5000, '\x91'), "byte 1001: nested too deep"},
           {"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00"s, "byte 9: a number that is not finite"},
       }) {
    const Result<JsonValue> read = parse_message_pack(bytes);
    ASSERT_FALSE(read) << error;
    EXPECT_EQ(read.error().message, error);
  }
}

}  // namespace
}  // namespace berth
