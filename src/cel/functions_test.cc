// The functions and operators, each by expressions that are true.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cel/device_selector.h"

namespace berth {
namespace {

void expect_true(const std::vector<std::string>& expressions) {
  const SelectorDevice device("driver");
  for (const std::string& each : expressions) {
    const auto selector = DeviceSelector::compile(each);
    ASSERT_TRUE(selector) << each << "\n" << selector.error().message;
    const auto matches = (*selector)->matches(device);
    ASSERT_TRUE(matches) << each << "\n" << matches.error().message;
    EXPECT_TRUE(*matches) << each;
  }
}

void expect_error(const std::string& expression, const std::string& error) {
  const auto selector = DeviceSelector::compile(expression);
  ASSERT_TRUE(selector) << expression << "\n" << selector.error().message;
  const auto matches = (*selector)->matches(SelectorDevice("driver"));
  ASSERT_FALSE(matches) << expression;
  EXPECT_EQ(matches.error().message, error) << expression;
}

TEST(CelOperators, ArithmeticAndOrder) {
  expect_true({
      "1 + 2 * 3 == 7",
      "(1 + 2) * 3 == 9",
      "7 / 2 == 3 && -7 / 2 == -3 && -7 % 3 == -1",
      "1.5 + 1.5 == 3.0",
      "2u * 3u == 6u",
      "--1 == 1 && - 1 == -1 && 1 - -1 == 2",
      "0x1F == 31 && 1e3 == 1000.0 && .5 == 0.5",
      "\"a\" + \"b\" == \"ab\" && b\"a\" + b\"b\" == b\"ab\"",
      "[1] + [2] == [1, 2]",
      "1 < 2.5 && 1u < 2 && 2.0 <= 2 && 3 >= 3u",
      "\"a\" < \"b\" && false < true && b\"a\" <= b\"a\"",
      "!(0.0 / 0.0 == 0.0 / 0.0)",
  });
  expect_error("9223372036854775807 + 1 > 0", "integer overflow");
  expect_error("1u - 2u == 0u", "unsigned integer overflow");
  expect_error("1 % 0 == 0", "modulus by zero");
  expect_error("0.0 / 0.0 < 1.0", "NaN values cannot be ordered");
  expect_error("dyn(true) + 1 == 2", "no such overload: _+_");
}

TEST(CelOperators, ContainersAndAccess) {
  expect_true({
      "1 in [1, 2] && !(3 in [1, 2]) && dyn(1.0) in [1]",
      "\"a\" in {\"a\": 1}",
      "[1, 2, 3][1] == 2 && {\"a\": 1}.a == 1 && dyn({1: 2})[1u] == 2",
      "dyn([1, 2])[1.0] == 2",
      "[1, ?optional.none()] == [1] && {\"a\": 1, ?\"b\": optional.of(2)}.b == 2",
      "[1, 2,] == [1, 2] && [,] == [] && {,} == {}",
      "(true ? {\"a\": 1} : {\"b\": 2}).a == 1",
      "size([1, 2]) == 2 && \"über\".size() == 4 && b\"abc\".size() == 3",
  });
  expect_error("[1, 2][5] == 1", "index out of bounds: 5");
  expect_error("dyn([1])[\"a\"] == 1", "unsupported index type 'string' in list");
  expect_error("dyn([1])[0.5] == 1", "unsupported index value 0.5 in list");
  expect_error("{\"a\": 1}[\"b\"] == 1", "no such key: b");
}

TEST(CelMacros, GoOverListsAndMaps) {
  expect_true({
      "[1, 2].all(x, x > 0) && ![1, 2].exists(x, x > 2) && [1, 2].exists_one(x, x == 2)",
      "[1, 2].map(x, x * 2) == [2, 4] && [1, 2].map(x, x > 1, x) == [2]",
      "[1, 2].filter(x, x > 1) == [2]",
      "[5, 6].all(i, x, i < x) && [5, 6].existsOne(i, x, x == 6)",
      "[5, 6].transformList(i, x, i + x) == [5, 7]",
      "[5].transformMap(i, x, x) == {0: 5} && [5].transformMapEntry(i, x, {x: i}) == {5: 0}",
      "cel.bind(x, 1, cel.bind(y, x + 1, x + y == 3))",
      "[3, 1, 2].sortBy(x, -x) == [3, 2, 1]",
      "optional.of(1).optMap(x, x + 1).value() == 2",
      "optional.of(1).optFlatMap(x, optional.of(x)).orValue(3) == 1",
  });
  expect_error("[1, 1].transformMapEntry(i, x, {x: i}) == {}",
               "insert failed: key 1 already exists");
}

TEST(CelConversions, GoBothWays) {
  expect_true({
      "int(\"5\") == 5 && int(1.9) == 1 && int(5u) == 5 && uint(5) == 5u && double(2) == 2.0",
      "string(1.5) == \"1.5\" && string(1000000.0) == \"1e+06\" && string(true) == \"true\"",
      "bytes(\"a\") == b\"a\" && string(b\"a\") == \"a\" && bool(\"true\")",
      "type(1) == int && type([]) == list && type(type(1)) == type && type(null) == null_type",
      "duration(\"1h30m\") == duration(\"90m\") && string(duration(\"90s\")) == \"90s\"",
      "timestamp(\"2026-01-01T00:00:00+01:00\") == timestamp(\"2025-12-31T23:00:00Z\")",
      "timestamp(\"2026-01-02T03:04:05Z\").getDate() == 2",
      "timestamp(\"2026-01-01T00:00:00Z\").getHours(\"-02:00\") == 22",
      "timestamp(5) - timestamp(2) == duration(\"3s\")",
  });
  expect_error("int(\"\" + \"x\") == 1", "type conversion error from 'string' to 'int'");
  expect_error("string(b\"\" + b\"\\xff\") == \"\"",
               "invalid UTF-8 in bytes, cannot convert to string");
}

TEST(CelStrings, HaveTheirFunctions) {
  expect_true({
      "\"abc\".charAt(1) == \"b\" && \"abc\".substring(1, 2) == \"b\"",
      "\"hello\".indexOf(\"l\") == 2 && \"hello\".lastIndexOf(\"l\", 2) == 2",
      "\"hello\".indexOf(\"\", 9) == 5 && \"hello\".lastIndexOf(\"\", 9) == 5",
      "\"hello\".indexOf(\"\", 2) == 2 && \"hello\".lastIndexOf(\"\", 2) == 2",
      "[1, 2].includes(2) && ![1, 2].includes(\"2\") && \"a\".includes(\"a\")",
      "!lists.range(100).includes(100) && lists.range(100).includes(99)",
      "\"a,b,c\".split(\",\", 2) == [\"a\", \"b,c\"] && \"ab\".split(\"\") == [\"a\", \"b\"]",
      "\"abc\".replace(\"\", \"-\") == \"-a-b-c-\" && \"aaa\".replace(\"a\", \"b\", 2) == \"bba\"",
      "\" a \".trim() == \"a\" && \"ÄbC\".lowerAscii() == \"Äbc\" && \"a\".upperAscii() == \"A\"",
      "[\"a\", \"b\"].join(\"-\") == \"a-b\"",
      "strings.quote(\"a\\\"\") == \"\\\"a\\\\\\\"\\\"\"",
      "\"a1b22\".findAll(\"[0-9]+\") == [\"1\", \"22\"] && \"a\".matches(\"(?<n>a)\")",
      "\"%s %d %x %.1f\".format([\"a\", 5, 255, 1.25]) == \"a 5 ff 1.2\"",
      "\"%s\".format([{\"a\": [1, \"x\"]}]) == \"{\\\"a\\\":[1, \\\"x\\\"]}\"",
  });
  expect_error("\"abc\".charAt(4) == \"\"", "index out of range: 4");
  expect_error("\"a\".find(\"\" + \"(\") == \"\"",
               "Illegal regex: error parsing regexp: missing closing ): `(`");
}

TEST(CelLists, HaveTheirFunctions) {
  expect_true({
      "[3, 1].sort() == [1, 3] && [1, 2].reverse() == [2, 1] && [1, 1].distinct() == [1]",
      "[1, 2, 3].slice(0, 2) == [1, 2] && [[1], [2]].flatten() == [1, 2]",
      "lists.range(3) == [0, 1, 2] && [1, 2].sum() == 3 && [1, 2].min() == 1 && [1, 2].max() == 2",
      "[1, 2].isSorted() && [1, 2, 1].lastIndexOf(1) == 2",
      "sets.contains([1, 2], [1]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 1], [1])",
      "[1, 2].first().value() == 1 && optional.unwrap([optional.of(1), optional.none()]) == [1]",
  });
  expect_error("[1].slice(0, 5) == []", "cannot slice(0, 5), list is length 1");
  expect_error("[].max() == 1", "max called on empty list");
  expect_error("lists.range(-1) == []", "lists.range: size must be non-negative, got -1");
  expect_error("\"a\".indexOf(\"\", -1) == 0", "index out of range: -1");
  expect_error("dyn(1).orValue(2) == 1", "no such overload");
}

TEST(CelKubernetes, QuantitiesAndVersions) {
  expect_true({
      "quantity(\"1Gi\").isGreaterThan(quantity(\"1G\")) && isQuantity(\"5m\")",
      "!isQuantity(\"x\")",
      "quantity(\"50k\").asInteger() == 50000 && quantity(\"1.5\").asApproximateFloat() == 1.5",
      "quantity(\"1.5k\").isInteger() && !quantity(\"1.5\").isInteger()",
      "!quantity(\"1000m\").isInteger() && !quantity(\"1.0\").isInteger()",
      "!quantity(\"500m\").add(quantity(\"500m\")).isInteger()",
      "!quantity(\"1.5Gi\").isInteger() && quantity(\"2Gi\").isInteger()",
      "sign(quantity(\"-1\")) == -1 && quantity(\"1\").sub(2).isLessThan(quantity(\"0\"))",
      "semver(\"v1.2\", true) == semver(\"1.2.0\") && isSemver(\"1.2.3\") && !isSemver(\"1.2\")",
      "semver(\"1.2.3-rc.1\").isLessThan(semver(\"1.2.3\")) && semver(\"1.2.3\").minor() == 2",
  });
  expect_error("quantity(\"1.0\").asInteger() == 1", "cannot convert value to integer");
  expect_error("semver(\"01.2.3\") == semver(\"1.2.3\")",
               "Major number must not contain leading zeroes \"01\"");
  expect_error("semver(\"1.2-x\", true).major() == 1",
               "short version cannot contain PreRelease/Build meta data");
}

TEST(CelKubernetes, AddressesUrlsAndFormats) {
  expect_true({
      "ip(\"10.0.0.1\").family() == 4 && ip(\"::1\").isLoopback() && !isIP(\"300.1.1.1\")",
      "cidr(\"10.0.0.0/8\").containsIP(\"10.1.2.3\")",
      "cidr(\"10.0.0.5/8\").masked() == cidr(\"10.0.0.0/8\")",
      "string(ip(\"2001:DB8:0:0::1\")) == \"2001:db8::1\" && !ip.isCanonical(\"2001:DB8::1\")",
      "url(\"https://example.com:80/a b?x=1&x=2\").getQuery() == {\"x\": [\"1\", \"2\"]}",
      "url(\"https://[::1]:80/p\").getHostname() == \"::1\" && !isURL(\"x\")",
      "!format.dns1123Label().validate(\"my-name\").hasValue()",
      "format.named(\"uuid\").value().validate(\"x\").value().size() == 1",
  });
  expect_error("ip(\"1.2.3\").family() == 4",
               "IP Address \"1.2.3\" parse error during conversion from string: "
               "ParseAddr(\"1.2.3\"): IPv4 address too short");
}

}  // namespace
}  // namespace berth
