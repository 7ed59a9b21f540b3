#include "wire/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/testing/names.h"

namespace berth {
namespace {

std::string error_of(const JsonReader& json) { return json.error() ? json.error()->message : ""; }

// Reads the field "x" of an object inside a list, and gives the error.
template <typename Read>
std::string error_when(std::string_view value, Read read) {
  JsonReader json(R"({"a":[{"x":0},{"x":)" + std::string(value) + "}]}");
  std::size_t index = 0;
  json.fields([&](std::string_view) {
    json.items([&] {
      json.fields([&](std::string_view) {
        if (index == 1) read(json);
      });
      ++index;
    });
  });
  return error_of(json);
}

TEST(JsonReader, WalksFieldsAndItemsOnce) {
  JsonReader json(R"( {"n":-5, "skip":{"deep":[1,{"x":[]}]}, "t":"a\u00e9", "b":true,
                      "l":["x",null,"y"], "q":0.5, "big":9223372036854775807} )");
  std::vector<std::string> seen;
  std::vector<std::string> list;
  std::int64_t number = 0;
  std::int64_t big = 0;
  std::string text;
  bool boolean = false;
  std::string literal;
  json.fields([&](std::string_view name) {
    seen.emplace_back(name);
    if (name == "n") number = json.int32();
    if (name == "t") text = json.text();
    if (name == "b") boolean = json.boolean();
    if (name == "l") json.items([&] { list.emplace_back(json.text()); });
    if (name == "q") literal = json.number_or_text("a quantity").value_or("");
    if (name == "big") big = json.int64();
  });
  EXPECT_EQ(error_of(json), "");
  EXPECT_THAT(seen, ElementsAre("n", "skip", "t", "b", "l", "q", "big"));
  EXPECT_THAT(list, ElementsAre("x", "", "y"));
  EXPECT_EQ(number, -5);
  EXPECT_EQ(big, 9223372036854775807);
  EXPECT_EQ(text, "aé");
  EXPECT_TRUE(boolean);
  EXPECT_EQ(literal, "0.5");
}

TEST(JsonReader, NullIsAbsentExceptInMapsOfPeoplesKeys) {
  std::vector<std::string> seen;
  JsonReader fields(R"({"a":null,"b":1})");
  fields.fields([&](std::string_view name) { seen.emplace_back(name); });
  EXPECT_THAT(seen, ElementsAre("b"));

  seen.clear();
  JsonReader entries(R"({"a":null,"b":"x"})");
  entries.entries([&](std::string_view name) {
    seen.emplace_back(name);
    seen.emplace_back(entries.text());
  });
  EXPECT_THAT(seen, ElementsAre("a", "", "b", "x"));
}

TEST(JsonReader, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(error_when("5", [](JsonReader& json) { json.text(); }),
            "a[1].x: expected a string, got a number");
  EXPECT_EQ(error_when("\"5\"", [](JsonReader& json) { json.int32(); }),
            "a[1].x: expected an integer, got a string");
  EXPECT_EQ(error_when("1.5", [](JsonReader& json) { json.int64(); }),
            "a[1].x: expected an integer, got 1.5");
  EXPECT_EQ(error_when("2147483648", [](JsonReader& json) { json.int32(); }),
            "a[1].x: 2147483648 does not fit in 32 bits");
  EXPECT_EQ(error_when("99999999999999999999", [](JsonReader& json) { json.int64(); }),
            "a[1].x: 99999999999999999999 does not fit in 64 bits");
  EXPECT_EQ(error_when("[]", [](JsonReader& json) { json.boolean(); }),
            "a[1].x: expected a boolean, got a list");
  EXPECT_EQ(error_when("{}", [](JsonReader& json) { json.items([] {}); }),
            "a[1].x: expected a list, got a map");
  EXPECT_EQ(error_when("true", [](JsonReader& json) { json.fields([](std::string_view) {}); }),
            "a[1].x: expected a map, got a boolean");
  EXPECT_EQ(error_when("true", [](JsonReader& json) { json.number_or_text("a quantity"); }),
            "a[1].x: expected a quantity, got a boolean");
  EXPECT_THAT(error_when("\"yesterday\"", [](JsonReader& json) { json.time(); }),
              StartsWith("a[1].x: "));
  EXPECT_EQ(error_when("1", [](JsonReader& json) { json.fail("no good"); }), "a[1].x: no good");
}

TEST(JsonReader, KeysWithDotsStandInBrackets) {
  JsonReader json(R"({"requests":{"nvidia.com/gpu":[]}})");
  json.fields([&](std::string_view) {
    json.entries([&](std::string_view) { json.number_or_text("a quantity"); });
  });
  EXPECT_EQ(error_of(json), "requests[nvidia.com/gpu]: expected a quantity, got a list");
}

TEST(JsonReader, TheFirstErrorStaysAndEndsReading) {
  JsonReader json(R"({"a":1,"b":2,"c":[1,2,3]})");
  int calls = 0;
  json.fields([&](std::string_view) {
    ++calls;
    json.text();
    json.items([&] { ++calls; });
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(error_of(json), "a: expected a string, got a number");
}

TEST(JsonReader, ANumberIsGivenAsItIsWrittenAndNullIsNothing) {
  JsonReader json(R"({"a":[1e3 ,"2","",null]})");
  std::vector<std::optional<std::string_view>> written;
  json.fields([&](std::string_view) {
    json.items([&] { written.push_back(json.number_or_text("a quantity")); });
  });
  EXPECT_EQ(error_of(json), "");
  EXPECT_THAT(written, ElementsAre("1e3", "2", "", std::nullopt));
}

TEST(JsonReader, TimesAreRfc3339) {
  JsonReader json(R"({"a":["2026-01-01T00:00:00Z","2026-01-01T02:00:00.5+02:00"]})");
  std::vector<std::optional<WallTime>> times;
  json.fields([&](std::string_view) { json.items([&] { times.push_back(json.time()); }); });
  EXPECT_EQ(error_of(json), "");
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0], VirtualLoop::kDefaultStart);
  EXPECT_EQ(times[1], VirtualLoop::kDefaultStart + std::chrono::milliseconds(500));
}

TEST(JsonReader, RawGivesTheTextOfAValue) {
  JsonReader json(R"({"a":{"b": [1, 2]},"c":[ {"d":1} , 5 ],"e":7})");
  std::vector<std::string> raw;
  json.fields([&](std::string_view name) {
    if (name == "c") {
      json.items([&] { raw.emplace_back(json.raw()); });
    } else {
      raw.emplace_back(json.raw());
    }
  });
  EXPECT_EQ(error_of(json), "");
  EXPECT_THAT(raw, ElementsAre(R"({"b": [1, 2]})", R"({"d":1})", "5", "7"));
}

TEST(JsonReader, WhatIsNotJsonIsRefused) {
  for (const char* text : {"", "   ", "5", "\"x\"", "null", "{", "{\"a\":", "{\"a\" 1}", "nonsense",
                           "\xff", "{\"a\":\"\\q\"}", "{\"a\":tru}"}) {
    JsonReader json(text);
    json.fields([&](std::string_view) { json.boolean(); });
    EXPECT_NE(error_of(json), "") << text;
  }
}

}  // namespace
}  // namespace berth
