#include "wire/json_stream.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/testing/names.h"

namespace berth {
namespace {

// A text that comes in pieces of this size.
class Pieces : public TextSource {
 public:
  Pieces(std::string_view text, std::size_t size) : rest_(text), size_(size) {}

  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t count = std::min({size, size_, rest_.size()});
    std::copy_n(rest_.begin(), count, into);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
  std::size_t size_;
};

// What a visitor is handed, one text each.
class Handed : public JsonStream::Visitor {
 public:
  void begin_object(std::size_t line) override { all.push_back(fmt::format("line {}", line)); }
  bool begin_items(std::string_view so_far) override { return take("items of", so_far); }
  bool item(std::string_view json) override { return take("item", json); }
  bool end_object(std::string_view json) override { return take("object", json); }

  std::vector<std::string> all;
  std::string stop_at = "nothing";

 private:
  bool take(std::string_view what, std::string_view json) {
    all.push_back(fmt::format("{} {}", what, json));
    return all.back() != stop_at;
  }
};

struct JsonStreamTest : public ::testing::Test {
  // In pieces of every small size: what is handed out must not depend on where they end.
  std::vector<std::string> handed(std::string_view text) {
    std::vector<std::string> first;
    for (std::size_t size = 1; size < 12; ++size) {
      Pieces pieces(text, size);
      JsonStream stream(pieces, "");
      Handed visitor;
      const Result<void> read = stream.read(visitor);
      EXPECT_TRUE(read) << read.error().message;
      rest = stream.rest();
      if (size == 1) first = visitor.all;
      EXPECT_EQ(visitor.all, first) << "in pieces of " << size;
    }
    return first;
  }
  static std::string error(std::string_view text) {
    Pieces pieces(text, 7);
    JsonStream stream(pieces, "");
    Handed visitor;
    const Result<void> read = stream.read(visitor);
    return read ? "" : read.error().message;
  }

  std::string rest;
};

TEST_F(JsonStreamTest, ItemsAreHandedOutOneByOneAndLeftOutOfTheirObject) {
  EXPECT_THAT(handed(R"({"kind": "List", "items": [{"a": [1, {"b": "]"}]}, 12.5, "x" ],
 "metadata": {"items": [7]}})"),
              ElementsAre("line 1", R"(items of {"kind":"List"})", R"(item {"a": [1, {"b": "]"}]})",
                          "item 12.5", R"(item "x")",
                          R"(object {"kind":"List","items":[],"metadata":{"items": [7]}})"));
}

TEST_F(JsonStreamTest, ObjectsFollowEachOtherWithOrWithoutASeparator) {
  EXPECT_THAT(handed("\n{\"a\": 1}\n---\n{}{\"items\": []}\n---\n"),
              ElementsAre("line 2", R"(object {"a":1})", "line 4", "object {}", "line 4",
                          "items of {}", R"(object {"items":[]})"));
  EXPECT_EQ(rest, "");
}

TEST_F(JsonStreamTest, ItemsThatAreNoListBelongToTheirObject) {
  EXPECT_THAT(handed(R"({"items": {"a": 1}})"),
              ElementsAre("line 1", R"(object {"items":{"a": 1}})"));
}

TEST_F(JsonStreamTest, WhatIsNoObjectIsTheRest) {
  EXPECT_THAT(handed("{}\n---\nkind: Pod\n"), ElementsAre("line 1", "object {}"));
  EXPECT_EQ(rest, "kind: Pod\n");
  EXPECT_THAT(handed("{} --x"), ElementsAre("line 1", "object {}"));
  EXPECT_EQ(rest, "--x");
}

TEST_F(JsonStreamTest, AVisitorMayEndTheReading) {
  Pieces pieces(R"({"items": [1, 2, 3]} {)", 5);
  JsonStream stream(pieces, "");
  Handed visitor;
  visitor.stop_at = "item 2";
  EXPECT_TRUE(stream.read(visitor));
  EXPECT_THAT(visitor.all, ElementsAre("line 1", "items of {}", "item 1", "item 2"));
}

TEST_F(JsonStreamTest, ErrorsSayWhere) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"{\"items\": [1,\n {\"a\": \"b",
       "line 2, byte 24: invalid JSON: the text ends in the middle"},
      {"{\"items\": [1, 2", "line 1, byte 16: invalid JSON: the text ends in the middle"},
      {"{\"items\": [1, 2]", "line 1, byte 17: invalid JSON: the text ends in the middle"},
      {"{\"a", "line 1, byte 4: invalid JSON: the text ends in the middle"},
      {"{\"a\":", "line 1, byte 6: invalid JSON: the text ends in the middle"},
      {"{\"a\": {\"b\" 1}}", "line 1, byte 12: invalid JSON: expected ':', got \"1\""},
      {"{\"items\": [\n{\"a\": tru }]}",
       "line 2, byte 19: invalid JSON: expected a value, got \"t\""},
      {"{\"items\": [1 2]}", "line 1, byte 14: invalid JSON: expected ',' or ']', got '2'"},
      {"{\"items\": [1,]}", "line 1, byte 14: invalid JSON: nothing between ',' and ']'"},
      {"{\"a\": 1, }", "line 1, byte 10: invalid JSON: nothing between ',' and '}'"},
      {"{\"a\": 1, \"a\": 2}",
       "line 1, byte 14: invalid JSON: the key \"a\" stands twice in a map"},
      {"{\"items\": [{\"a\": 1, \"a\": 2}]}",
       "line 1, byte 21: invalid JSON: a key stands twice in a map"},
      {"{\"a\": \"\\x\"}", "line 1, byte 10: invalid JSON: an invalid escape in a string"},
      {"{\"a\": \"\xff\"}", "line 1, byte 8: invalid JSON: invalid UTF-8"},
      {"{\"a\": 01}", "line 1, byte 9: invalid JSON: a number begins with 0"},
  };
  for (const Row& row : rows) EXPECT_EQ(error(row.text), row.message) << row.text;
  EXPECT_NE(error("{\"items\": " + std::string(2000, '[')), "") << "nested too deep";
}

// Cut off anywhere, a text is an error or a shorter text; nothing worse.
TEST_F(JsonStreamTest, TextsThatAreCutOffAreErrors) {
  const std::string text =
      R"({"kind":"List","items":[{"a":"\ud83d\ude00é","b":[true,null,-1.5e+3]},{}],"x":{}})";
  for (std::size_t size = 1; size < text.size(); ++size)
    EXPECT_THAT(error(text.substr(0, size)), HasSubstr("line 1, byte ")) << text.substr(0, size);
  EXPECT_EQ(error(text), "");
}

}  // namespace
}  // namespace berth
