#include "wire/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/names.h"

namespace berth {
namespace {

// The JSON of the only document, or the error's text.
std::string one(std::string_view text) {
  const auto documents = parse_yaml(text);
  if (!documents) return documents.error().message;
  if (documents->size() != 1) return "documents: " + std::to_string(documents->size());
  return documents->front().json;
}

std::vector<std::string> all(std::string_view text) {
  std::vector<std::string> out;
  const auto documents = parse_yaml(text);
  if (!documents) return {documents.error().message};
  for (const YamlDocument& document : *documents) out.push_back(document.json);
  return out;
}

struct Row {
  std::string_view yaml;
  std::string_view json;
};

TEST(Yaml, PlainScalarsMeanWhatTheyMeanToKubernetes) {
  constexpr Row kRows[] = {
      // booleans, in these spellings only
      {"y", "true"},
      {"Y", "true"},
      {"yes", "true"},
      {"Yes", "true"},
      {"YES", "true"},
      {"on", "true"},
      {"On", "true"},
      {"ON", "true"},
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"n", "false"},
      {"N", "false"},
      {"no", "false"},
      {"No", "false"},
      {"NO", "false"},
      {"off", "false"},
      {"Off", "false"},
      {"OFF", "false"},
      {"false", "false"},
      {"False", "false"},
      {"FALSE", "false"},
      {"yEs", "\"yEs\""},
      {"oN", "\"oN\""},
      // nothing
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"", "null"},
      {"nULL", "\"nULL\""},
      // integers
      {"12", "12"},
      {"+12", "12"},
      {"-12", "-12"},
      {"0x1F", "31"},
      {"0o17", "15"},
      {"017", "15"},
      {"0b101", "5"},
      {"-0x10", "-16"},
      {"1_000", "1000"},
      {"1__0", "10"},
      {"0_x1", "1"},
      {"-0", "0"},
      {"9223372036854775807", "9223372036854775807"},
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      // too large for an integer, or no octal number
      {"18446744073709551616", "18446744073709552000"},
      {"08", "8"},
      {"0888", "888"},
      {"12345678901234567890123", "1.2345678901234568e+22"},
      // floats
      {"0.5", "0.5"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"1.", "1"},
      {"1e3", "1000"},
      {"1.5e300", "1.5e+300"},
      {"1e21", "1e+21"},
      {"1e20", "100000000000000000000"},
      {"1e-7", "1e-7"},
      {"0.000001", "0.000001"},
      {"-0.0", "-0"},
      {"1e-400", "0"},
      // text after all
      {"1e400", "\"1e400\""},
      {"0x", "\"0x\""},
      {"0b2", "\"0b2\""},
      {"-a", "\"-a\""},
      {".", "\".\""},
      {"_1", "\"_1\""},
      {"1:30", "\"1:30\""},
      {"2001-01-01", "\"2001-01-01\""},
      {"2001-12-14t21:59:43.10-05:00", "\"2001-12-14t21:59:43.10-05:00\""},
      {"=", "\"=\""},
      {"500m", "\"500m\""},
      {"1.5Gi", "\"1.5Gi\""},
      {"a b", "\"a b\""},
  };
  for (const auto& [yaml, json] : kRows)
    EXPECT_EQ(one("a: " + std::string(yaml)), "{\"a\":" + std::string(json) + "}") << yaml;
}

TEST(Yaml, QuotedAndTaggedScalars) {
  constexpr Row kRows[] = {
      {R"("yes")", R"("yes")"},
      {"'12'", R"("12")"},
      {"\"\"", R"("")"},
      {"!!str 12", R"("12")"},
      {"!!int \"12\"", "12"},
      {"!!float 3", "3"},
      {"!!bool \"on\"", "true"},
      {"!!null ''", "null"},
      {"!!binary aGk=", R"("hi")"},
      {"!!binary aGVsbG8=", R"("hello")"},
      {"!mine 12", R"("12")"},
      {R"("a\tb\n\u00e9\x41")", R"("a\tb\néA")"},
      {"'it''s'", R"("it's")"},
      {"|\n  x\n   y\n", R"("x\n y\n")"},
      {">-\n  x\n  y\n\n  z\n", R"("x y\nz")"},
      {"|+\n  x\n\n", R"("x\n\n")"},
      {"x\n  y", R"("x y")"},
  };
  for (const auto& [yaml, json] : kRows)
    EXPECT_EQ(one("a: " + std::string(yaml)), "{\"a\":" + std::string(json) + "}") << yaml;
}

TEST(Yaml, KeysThatAreNotTextBecomeText) {
  EXPECT_EQ(one("{y: 1, 0x10: 2, 1.5: 3, 1e6: 4, 1e-5: 5, .inf: 6, \"n\": 7, 1234567.0: 8}"),
            R"({"true":1,"16":2,"1.5":3,"1e+06":4,"1e-05":5,".inf":6,"n":7,"1.234567e+06":8})");
}

TEST(Yaml, MapsAndLists) {
  constexpr Row kRows[] = {
      {"a:\n- 1\n- b: 2\n  c: 3\n-\n", R"({"a":[1,{"b":2,"c":3},null]})"},
      {"a: >\nb: |\nc: >-\n", R"({"a":"","b":"","c":""})"},
      {"- - a\n  - b\n", R"([["a","b"]])"},
      {"{a: [1, 2, ], b: , c}", R"({"a":[1,2],"b":null,"c":null})"},
      {"[a: 1]", R"([{"a":1}])"},
      {"? a\n: b\n? c\n", R"({"a":"b","c":null})"},
      {"a: http://x:80/y # comment\n", R"({"a":"http://x:80/y"})"},
      {"{}", "{}"},
      {"a: []", R"({"a":[]})"},
  };
  for (const auto& [yaml, json] : kRows) EXPECT_EQ(one(yaml), json) << yaml;
}

TEST(Yaml, DocumentsAreSeparatedAndEmptyOnesLeftOut) {
  EXPECT_THAT(all("# nothing\n"), ElementsAre());
  EXPECT_THAT(all(""), ElementsAre());
  EXPECT_THAT(all("---\n---\n# c\n---\nnull\n"), ElementsAre());
  EXPECT_THAT(all("--- {a: 1}\n---\n# c\n---\nb: 2\n...\n---\nc: 3\n"),
              ElementsAre(R"({"a":1})", R"({"b":2})", R"({"c":3})"));
}

TEST(Yaml, DocumentsKnowTheLineTheyBeginOn) {
  const auto documents = parse_yaml("# first\na: 1\n---\n# more\n\nb: 2\n--- {c: 3}\n");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 3U);
  EXPECT_EQ((*documents)[0].line, 2U);
  EXPECT_EQ((*documents)[1].line, 6U);
  EXPECT_EQ((*documents)[2].line, 7U);
}

TEST(Yaml, JsonIsTakenAsItIs) {
  EXPECT_EQ(one("\n {\"a\": [1.50, \"\\ud83d\\ude00\", {}], \"b\": 1e5}\n"),
            R"({"a": [1.50, "\ud83d\ude00", {}], "b": 1e5})");
  EXPECT_THAT(all("{\"a\":1}\n{\"b\":2}"), ElementsAre(R"({"a":1})", R"({"b":2})"));
  EXPECT_EQ(parse_yaml("{\"a\":1}\n\n{\"b\":2}")->at(1).line, 3U);
  EXPECT_EQ(one("\xEF\xBB\xBF{\"a\":1}"), R"({"a":1})") << "a byte order mark is no content";
}

TEST(Yaml, WhatOnlyLooksLikeJsonIsReadAsYaml) {
  EXPECT_EQ(one("{\"a\": 1, b: yes}"), R"({"a":1,"b":true})");
  EXPECT_EQ(one("{\"a\": 01}"), R"({"a":1})");
  EXPECT_EQ(one("{\"a\": 1,}"), R"({"a":1})");
  EXPECT_EQ(one("{\"a\\u0062\": 1}"), R"({"ab":1})");
}

TEST(Yaml, AliasesAndMerges) {
  EXPECT_EQ(one("a: &x [1, 2]\nb: *x\n"), R"({"a":[1,2],"b":[1,2]})");
  EXPECT_EQ(one("- &k key\n- ? *k\n  : 1\n"), R"(["key",{"key":1}])");
  EXPECT_EQ(one("a: &a {x: 1, z: 2}\nb:\n  <<: *a\n  x: 7\n"),
            R"({"a":{"x":1,"z":2},"b":{"x":7,"z":2}})");
  EXPECT_EQ(one("a: &a {x: 1}\nb:\n  <<: [*a, {x: 3, z: 4}]\n"),
            R"({"a":{"x":1},"b":{"x":1,"z":4}})")
      << "of several, the first counts";
  EXPECT_EQ(one("a: &a {x: 1}\nb:\n  x: 5\n  <<: *a\n"), R"({"a":{"x":1},"b":{"x":1}})")
      << "go-yaml v2 lets a merge replace what stands before it";
  EXPECT_EQ(one("\"<<\": 1"), R"({"<<":1})");
  // A name may be used again, and means what it meant last.
  EXPECT_EQ(one("[&a 1, *a, &a 2, *a]"), "[1,1,2,2]");
}

TEST(Yaml, AKeyThatStandsTwiceIsAnErrorInGosWords) {
  EXPECT_EQ(one("a: 1\nb:\n  parallelism: 1\n  c: 2\n  parallelism: 3\n"),
            "yaml: unmarshal errors:\n  line 5: key \"parallelism\" already set in map");
  EXPECT_EQ(one("{\"a\":1,\n\"a\":2}"),
            "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map");
  EXPECT_EQ(one("a: 1\na: 2\n9: x\n9: y\n"),
            "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map\n"
            "  line 4: key 9 already set in map");
  EXPECT_EQ(one("a: 1\na:\n  b: 2\n"),
            "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map")
      << "the line is the value's";
}

TEST(Yaml, ErrorsAreOneLineWithALineNumber) {
  constexpr Row kRows[] = {
      {"a: 1\nb: *x\n", "yaml: line 2: unknown anchor 'x' referenced"},
      {"a: &x\n  b: *x\n", "yaml: line 2: anchor 'x' value contains itself"},
      {"a: 1\n~: 2\n", "yaml: line 2: unsupported map key: null"},
      {"18446744073709551615: a\n", "yaml: line 1: unsupported map key: 18446744073709551615"},
      {"a: {{ .Values.x }}\n",
       "yaml: line 1: invalid map key: neither a map nor a list can be one"},
      {"a: .inf\n", "yaml: line 1: unsupported value: +Inf"},
      {"a: .nan\n", "yaml: line 1: unsupported value: NaN"},
      {"<<: 5\n", "yaml: line 1: map merge requires map or sequence of maps as the value"},
      {"a: !!int abc\n", "yaml: line 1: cannot decode !!str `abc` as a !!int"},
      {"a: !!binary '*'\n", "yaml: line 1: !!binary value contains invalid base64 data"},
      {"a: 1\nb: \x01\n", "yaml: line 2: control characters are not allowed"},
      {std::string_view("a: \0", 4), "yaml: line 1: control characters are not allowed"},
      {"a: \xff\n", "yaml: line 1: invalid UTF-8"},
      {"a: \xed\xa0\x80\n", "yaml: line 1: invalid UTF-8"},
  };
  for (const auto& [yaml, message] : kRows) EXPECT_EQ(one(yaml), message) << yaml;
}

TEST(Yaml, SyntaxErrorsAreGosWithTheRightLine) {
  constexpr Row kRows[] = {
      {"a: b: c\n", "yaml: line 1: mapping values are not allowed in this context"},
      {"a: 1\nb: @x\n", "yaml: line 2: found character that cannot start any token"},
      {"a: 1\n\tb: 2\n", "yaml: line 2: found a tab character that violates indentation"},
      {"a: 1\nb: \"\\z\"\n", "yaml: line 2: found unknown escape character"},
      {"- a\nb: c\n", "yaml: line 2: did not find expected '-' indicator"},
      {"a:\n  - b\n - c\n", "yaml: line 3: did not find expected key"},
      {"a: [1\nb: 2\n", "yaml: line 2: did not find expected ',' or ']'"},
      {"a: 'x\n", "yaml: line 2: found unexpected end of stream"},
      {"a: \"\\uD800\"\n", "yaml: line 1: found invalid Unicode character escape code"},
  };
  for (const auto& [yaml, message] : kRows) EXPECT_EQ(one(yaml), message) << yaml;
}

TEST(Yaml, NothingExpandsWithoutBounds) {
  std::string laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  std::string merges = "a0: &a0 {x: 1}\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i) + ": &a" + std::to_string(i);
    std::string many = before;
    for (int k = 1; k < 10; ++k) many += "," + before;
    laughs += name + " [" + many + "]\n";
    merges += name + " {<<: [" + many + "]}\n";
  }
  EXPECT_THAT(one(laughs), HasSubstr("document contains excessive aliasing"));
  EXPECT_THAT(one(merges), HasSubstr("document contains excessive aliasing"));

  std::string large = "a: &a " + std::string(1 << 20, 'x') + "\nb: [";
  for (int i = 0; i < 200; ++i) large += "*a,";
  EXPECT_THAT(one(large + "]"), HasSubstr("document contains excessive aliasing"));

  std::string few = "a: &a x\nb: [";
  for (int i = 0; i < 500; ++i) few += "*a,";
  EXPECT_THAT(one(few + "]"), StartsWith("{\"a\":\"x\"")) << "ordinary use is no abuse";
}

TEST(Yaml, DepthIsLimited) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(one(nested(1000)), nested(1000));
  EXPECT_EQ(one(nested(1001)), "yaml: line 1: exceeded max depth of 1000");
  EXPECT_EQ(one(std::string(100'000, '[')), "yaml: line 1: exceeded max depth of 1000");
  EXPECT_EQ(one(std::string(100'000, '{')), "yaml: line 1: exceeded max depth of 1000");

  const auto objects = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "{\"a\":";
    return text + "1" + std::string(depth, '}');
  };
  EXPECT_EQ(one(objects(1000)), objects(1000));
  EXPECT_EQ(one(objects(1001)), "yaml: line 1: exceeded max depth of 1000");

  // Aliases cannot be used to go deeper.
  std::string steps = "[&a0 [x]";
  for (int i = 1; i < 1100; ++i)
    steps += ", &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]";
  EXPECT_THAT(one(steps + "]"), StartsWith("yaml: line 1: "));
}

}  // namespace
}  // namespace berth
