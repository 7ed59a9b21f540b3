#include "wire/json_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, StringsAreEscaped) {
  EXPECT_EQ(json_string("plain é 😀"), "\"plain é 😀\"");
  EXPECT_EQ(json_string("\"\\\n\r\t"), R"("\"\\\n\r\t")");
  EXPECT_EQ(json_string(std::string_view("\0\x1f", 2)), R"("\u0000\u001f")");
  EXPECT_EQ(json_string("a\xff\xed\xa0\x80z"), R"("a\ufffd\ufffd\ufffd\ufffdz")");
}

TEST(JsonText, FloatsAreWrittenAsGoWritesThem) {
  EXPECT_EQ(go_float(0), "0");
  EXPECT_EQ(go_float(-0.0), "-0");
  EXPECT_EQ(go_float(0.1), "0.1");
  EXPECT_EQ(go_float(100), "100");
  EXPECT_EQ(go_float(123.456), "123.456");
  EXPECT_EQ(go_float(1e-6), "0.000001");
  EXPECT_EQ(go_float(1e-7), "1e-7");
  EXPECT_EQ(go_float(123456789012345678901.0), "123456789012345680000");
  EXPECT_EQ(go_float(1e21), "1e+21");
  EXPECT_EQ(go_float(-1.25e-10), "-1.25e-10");
  EXPECT_EQ(go_float(std::numeric_limits<double>::max()), "1.7976931348623157e+308");

  EXPECT_EQ(go_float_general(1.5F), "1.5");
  EXPECT_EQ(go_float_general(123456.0F), "123456");
  EXPECT_EQ(go_float_general(1234567.0F), "1.234567e+06");
  EXPECT_EQ(go_float_general(0.0001F), "0.0001");
  EXPECT_EQ(go_float_general(0.00001F), "1e-05");
}

TEST(JsonText, OnlyProperJsonIsTakenAsSuch) {
  for (const char* good : {"{}", "  {\"a\":[1,-2.5e+3,true,false,null,\"x\\u0041\\\"\"]}\n",
                           "{\"a\":{\"b\":{}}} {}", "{\"a\":\"\\ud83d\\ude00\"}", "{\"\":0}"})
    EXPECT_TRUE(split_json_objects(good)) << good;
  for (const char* bad : {"[]",
                          "1",
                          "{",
                          "{\"a\"}",
                          "{\"a\":}",
                          "{\"a\":1,}",
                          "{a:1}",
                          "{\"a\":01}",
                          "{\"a\":1.}",
                          "{\"a\":.5}",
                          "{\"a\":1e}",
                          "{\"a\":+1}",
                          "{\"a\":nul}",
                          "{\"a\":\"\\x\"}",
                          "{\"a\":\"\\u12\"}",
                          "{\"a\":\"\\ud83d\"}",
                          "{\"a\":\"\\ude00\"}",
                          "{\"a\":\"\t\"}",
                          "{\"a\":\"\xff\"}",
                          "{\"a\":[1,]}",
                          "{\"a\":1,\"a\":2}",
                          "{\"\\u0061\":1}",
                          "{} x",
                          "{\"a\":1 \"b\":2}",
                          "{\"a\":[1 2]}",
                          "{\"a\":\"x"})
    EXPECT_FALSE(split_json_objects(bad)) << bad;
}

TEST(JsonText, ObjectsKnowTheirLines) {
  const auto objects = split_json_objects("\n{\"a\":\n1}\n\n {}");
  ASSERT_TRUE(objects);
  ASSERT_EQ(objects->size(), 2U);
  EXPECT_EQ((*objects)[0].text, "{\"a\":\n1}");
  EXPECT_EQ((*objects)[0].line, 2U);
  EXPECT_EQ((*objects)[1].text, "{}");
  EXPECT_EQ((*objects)[1].line, 5U);
}

}  // namespace
}  // namespace berth
