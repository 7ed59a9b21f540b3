#include "wire/json_tree.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(JsonTree, ForgetsNothing) {
  const auto tree = parse_json(R"( {"b": [1, -2.50e+3, true, null], "a": {"x": "y"}, "a": 0} )");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(to_json(*tree), R"({"b":[1,-2.50e+3,true,null],"a":{"x":"y"},"a":0})");
  EXPECT_EQ(tree->find("a")->text, "0");
  EXPECT_EQ(tree->find("c"), nullptr);
}

TEST(JsonTree, ReadsEscapes) {
  EXPECT_EQ(parse_json(R"("\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00")")->text,
            "\"\\/\b\f\n\r\t\u00e9\U0001F600");
  // Half a pair, and bytes that are not UTF-8.
  EXPECT_EQ(parse_json(R"("\ud83dx\ude00\ud83d\u0041")")->text, "\ufffdx\ufffd\ufffdA");
  EXPECT_EQ(parse_json("\"a\xff\"")->text, "a\ufffd");
}

TEST(JsonTree, SortsMembersAtEveryDepth) {
  auto tree = *parse_json(R"({"b":[{"d":1,"c":2}],"a":{"f":1,"e":2}})");
  sort_members(tree);
  EXPECT_EQ(to_json(tree), R"({"a":{"e":2,"f":1},"b":[{"c":2,"d":1}]})");
  auto repeated = *parse_json(R"({"b":1,"a":2,"b":3,"a":4,"b":5})");
  sort_members(repeated);
  EXPECT_EQ(to_json(repeated), R"({"a":4,"b":5})");
}

TEST(JsonTree, CanBeIndented) {
  const auto tree = parse_json(R"({"b":[1,{"c":"x"},[]],"a":{},"d":null})");
  EXPECT_EQ(to_indented_json(*tree), R"({
  "b": [
    1,
    {
      "c": "x"
    },
    []
  ],
  "a": {},
  "d": null
})");
}

TEST(JsonTree, ComplainsLikeGo) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "unexpected end of JSON input"},
      {"{\"a\":", "unexpected end of JSON input"},
      {"\"abc", "unexpected end of JSON input"},
      {"{\"a\":tru}", "invalid character '}' in literal true (expecting 'e')"},
      {"nul", "invalid character ' ' in literal null (expecting 'l')"},
      {"{\"a\":1.}", "invalid character '}' after decimal point in numeric literal"},
      {"{\"a\":-}", "invalid character '}' in numeric literal"},
      {"{\"a\":1e}", "invalid character '}' in exponent of numeric literal"},
      {"{\"a\":01}", "invalid character '1' after object key:value pair"},
      {R"({"a":"\x"})", "invalid character 'x' in string escape code"},
      {R"({"a":"\u12g"})", "invalid character 'g' in \\u hexadecimal character escape"},
      {"{\"a\":\"\x01\"}", "invalid character '\\x01' in string literal"},
      {"{\"a\" 1}", "invalid character '1' after object key"},
      {"{\"a\":1 2}", "invalid character '2' after object key:value pair"},
      {"[1 2]", "invalid character '2' after array element"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{'a':1}", "invalid character '\\'' looking for beginning of object key string"},
      {"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"},
      {"1 \"", "invalid character '\"' after top-level value"},
  };
  for (const auto& [text, error] : cases) {
    const auto tree = parse_json(text);
    ASSERT_FALSE(tree) << text;
    EXPECT_EQ(tree.error().message, error) << text;
  }
}

}  // namespace
}  // namespace berth
