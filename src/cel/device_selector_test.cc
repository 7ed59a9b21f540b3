#include "cel/device_selector.h"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "base/testing/names.h"

namespace berth {
namespace {

constexpr const char* kDriver = "gpu.example.com";

Quantity quantity(const char* text) { return Quantity::parse(text).value(); }

SelectorDevice sample() {
  SelectorDevice device(kDriver, true);
  device.add_attribute("model", "A100-SXM");
  device.add_attribute("count", std::int64_t{8});
  device.add_attribute("fast", true);
  device.add_version("version", "1.2.3");
  device.add_attribute("other.example.com/name", "x");
  device.add_capacity("memory", quantity("40Gi"));
  return device;
}

// `A.` stands for the attributes of the driver's own domain, `C.` for its capacities.
std::string expand(std::string text) {
  for (const auto& [mark, means] :
       {std::pair<std::string, std::string>{"A.", "device.attributes[\"gpu.example.com\"]."},
        {"C.", "device.capacity[\"gpu.example.com\"]."}}) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += means.size()) {
      text.replace(at, mark.size(), means);
    }
  }
  return text;
}

struct Answer {
  std::string text;  // "true", "false" or the error
  std::uint64_t cost = 0;
};

Answer ask(const std::string& expression, const SelectorDevice& device = sample()) {
  const auto selector = DeviceSelector::compile(expand(expression));
  if (!selector) return {"compile: " + selector.error().message};
  Answer answer;
  const auto matches = (*selector)->matches(device, &answer.cost);
  answer.text = !matches ? matches.error().message : *matches ? "true" : "false";
  return answer;
}

struct Case {
  const char* expression;
  const char* answer;
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    EXPECT_EQ(ask(each.expression).text, each.answer) << each.expression;
  }
}

TEST(DeviceSelector, WhatVendorsWriteSelects) {
  expect_all({
      {"device.driver == 'gpu.example.com'", "true"},
      {"device.driver == \"gpu.example.com\" && A.model == \"A100-SXM\"", "true"},
      {"A.fast", "true"},
      {"!A.fast || A.count > 4", "true"},
      {"A.model in [\"H100\", \"A100-SXM\"]", "true"},
      {"\"model\" in device.attributes[\"gpu.example.com\"]", "true"},
      {"\"nobody.example.com\" in device.attributes", "false"},
      {"has(A.missing)", "false"},
      {"A.count >= 8 && A.count < 9", "true"},
      {"C.memory.compareTo(quantity(\"40Gi\")) >= 0", "true"},
      {"C.memory.isGreaterThan(quantity(\"40Gi\"))", "false"},
      {"C.memory.isLessThan(quantity(\"1Ti\"))", "true"},
      {"A.version.compareTo(semver(\"1.2.0\")) > 0", "true"},
      {"A.version.isGreaterThan(semver(\"1.10.0\"))", "false"},
      {"A.model.matches(\"^A[0-9]+\")", "true"},
      {"A.model.startsWith(\"A100\") && A.model.endsWith(\"SXM\")", "true"},
      {"A.model.lowerAscii().contains(\"sxm\")", "true"},
      {"A.model.split(\"-\")[1] == \"SXM\"", "true"},
      {"A.model.find(\"[0-9]+\") == \"100\"", "true"},
      {"cel.bind(a, device.attributes[\"gpu.example.com\"], a.fast && a.count == 8)", "true"},
      {"device.attributes.exists(d, d.startsWith(\"other\"))", "true"},
      {"device.attributes[\"gpu.example.com\"].all(k, k != \"\")", "true"},
      {"device.attributes[\"gpu.example.com\"].exists_one(k, k == \"fast\")", "true"},
      {"A.fast ? A.count == 8 : false", "true"},
      {"device.driver == 'x' ||\n  // or else\n  A.fast", "true"},
      {"device.allowMultipleAllocations", "true"},
  });
}

TEST(DeviceSelector, WhatIsNotThereIsAnErrorExceptForADomain) {
  expect_all({
      {"A.missing == 1", "no such key: missing"},
      {"device.attributes[\"nobody\"].x == 1", "no such key: x"},
      {"has(device.attributes.nobody)", "true"},
      {"device.attributes[?\"nobody\"].hasValue()", "true"},
      {"device.attributes[?\"nobody\"].?x.hasValue()", "false"},
      {"device.attributes[?\"gpu.example.com\"].?model.orValue(\"\") == \"A100-SXM\"", "true"},
      {"C.missing == quantity(\"1\")", "no such key: missing"},
  });
}

TEST(DeviceSelector, LogicAbsorbsErrorsWhereTheOtherSideDecides) {
  expect_all({
      {"A.missing == 1 || true", "true"},
      {"true || A.missing == 1", "true"},
      {"A.missing == 1 && false", "false"},
      {"A.missing == 1 && true", "no such key: missing"},
      {"A.model || false", "no such overload"},
      {"[0, 1].exists(x, 1 / x == 1)", "true"},
      {"[0, 2].exists(x, 1 / x == 1)", "division by zero"},
  });
}

TEST(DeviceSelector, ValuesOfDifferentTypesCompareAsUpstreamHasIt) {
  expect_all({
      {"A.count == 8.0 && A.count == 8u", "true"},
      {"A.count == \"8\"", "false"},
      {"A.count > \"8\"", "no such overload"},
      {"A.version == \"1.2.3\"", "no such overload"},
      {"\"1.2.3\" == A.version", "false"},
      {"A.version != \"1.2.3\"", "true"},
      {"A.version == null", "false"},
      {"A.version == semver(\"1.2.3+other\")", "true"},
      {"A.version in [\"a\"]", "internal error: runtime error: hash of unhashable type cel.Semver"},
      {"A.version in [A.model]", "false"},
      {"[A.version] == [\"x\"]", "true"},
      {"quantity(\"2\") == quantity(\"1\").add(quantity(\"1\"))", "no such overload"},
      {"quantity(\"1\").add(quantity(\"1\")) == quantity(\"2\")", "true"},
      {"dyn(1).isGreaterThan(semver(\"1.0.0\"))",
       "no such overload: isGreaterThan(int, kubernetes.Semver)"},
      {"size(A.count) == 1", "no such overload: size"},
  });
}

TEST(DeviceSelector, TheResultMustBeABool) {
  expect_all({
      {"A.count",
       "CEL result of type int could not be converted to bool: unsupported type conversion from "
       "'int' to bool"},
      {"A.model",
       "CEL result of type string could not be converted to bool: unsupported native conversion "
       "from string to 'bool'"},
      {"1", "compile: must evaluate to bool or the unknown type, not int"},
      {"[1]", "compile: must evaluate to bool or the unknown type, not list(int)"},
      {"dyn(true)", "true"},
  });
}

TEST(DeviceSelector, WhatDoesNotCompileShowsWhere) {
  EXPECT_EQ(ask("device.foo == 1").text,
            "compile: compilation failed: ERROR: <input>:1:7: undefined field 'foo'\n"
            " | device.foo == 1\n"
            " | ......^");
  EXPECT_EQ(ask("true &&\n  x").text,
            "compile: compilation failed: ERROR: <input>:2:3: undeclared reference to 'x' (in "
            "container '')\n"
            " |   x\n"
            " | ..^");
  expect_all({
      {"int(\"x\") == 1",
       "compile: program instantiation failed: type conversion error from 'string' to 'int'"},
  });
  const std::vector<Case> parts = {
      {"C.memory == \"40Gi\"",
       "found no matching overload for '_==_' applied to "
       "'(kubernetes.Quantity, string)'"},
      {"C.memory >= quantity(\"1\")", "found no matching overload for '_>=_'"},
      {"[1, \"a\"] == [1]", "expected type 'int' but found 'string'"},
      {"A.model.matches(\"[\")", "invalid matches argument"},
      {"duration(\"x\") == duration(\"1s\")", "invalid duration argument"},
      {"device.driver.all(x, true)",
       "expression of type 'string' cannot be range of a comprehension"},
      {"has(device)", "invalid argument to has() macro"},
      {"[1].all(1, true)", "argument must be a simple name"},
      {"package == 1", "reserved identifier: package"},
      {"true &&", "Syntax error: mismatched input '<EOF>'"},
      {"\"%d\".format([\"x\"]) == \"\"", "decimal clause can only be used on integers"},
      {"\"abc\".reverse() == \"cba\"", "found no matching overload for 'reverse'"},
      {"math.abs(1) == 1", "undeclared reference"},
  };
  for (const Case& each : parts) {
    const std::string text = ask(each.expression).text;
    EXPECT_THAT(text, StartsWith("compile: compilation failed: ERROR: ")) << each.expression;
    EXPECT_THAT(text, HasSubstr(each.answer)) << each.expression;
  }
}

TEST(DeviceSelector, AnAttributeThatCannotBeConvertedFailsEverySelector) {
  SelectorDevice version(kDriver);
  version.add_version("v", "1.2");
  EXPECT_EQ(ask("true", version).text,
            "attribute v: parse semantic version: No Major.Minor.Patch elements found");
  SelectorDevice odd(kDriver);
  odd.add_unsupported("x");
  EXPECT_EQ(ask("true", odd).text, "attribute x: unsupported attribute value");
}

TEST(DeviceSelector, AttributesMayBeLists) {
  SelectorDevice device(kDriver);
  device.add_list("sizes", std::array<std::int64_t, 2>{1, 2});
  device.add_version_list("versions", std::array<std::string, 1>{"1.0.0"});
  EXPECT_EQ(ask("A.sizes.exists(x, x == 2)", device).text, "true");
  EXPECT_EQ(ask("A.sizes.includes(3)", device).text, "false");
  EXPECT_EQ(ask("A.versions[0].isLessThan(semver(\"2.0.0\"))", device).text, "true");
  device.add_version_list("later", std::array<std::string, 2>{"1.0.0", "two"});
  EXPECT_EQ(ask("true", device).text,
            "attribute later: parse semantic version: No Major.Minor.Patch elements found");
}

TEST(DeviceSelector, NamesOfMacrosHideTheDevice) {
  expect_all({
      {"[1, 2].all(device, device > 0)", "true"},
      {"[1].all(device, .device.driver == 'gpu.example.com')", "true"},
      {".device.driver == 'gpu.example.com'", "true"},
      {"[{'driver': 1}].all(device, device.driver == 1)", "true"},
      {"[1].all(x, cel.bind(device, 2, [.device].all(d, d.driver.size() > x)))", "true"},
  });
  EXPECT_TRUE(
      ask("[1].all(x, .x == 1)")
          .text.starts_with(
              "compile: compilation failed: ERROR: <input>:1:13: undeclared reference to '.x'"));
}

TEST(DeviceSelector, FieldsMayBeQuoted) {
  SelectorDevice device(kDriver);
  device.add_attribute("gpu-model", "x");
  EXPECT_EQ(ask("A.`gpu-model` == \"x\"", device).text, "true");
  EXPECT_EQ(ask("A.?`gpu-model`.orValue(\"\") == \"x\"", device).text, "true");
  EXPECT_EQ(ask("has(A.`gpu-model`)", device).text, "true");
  EXPECT_TRUE(ask("A.`gpu-model`()", device).text.starts_with("compile: "));
}

TEST(DeviceSelector, AnOptionalKeepsTheDefaultOfUnknownDomains) {
  expect_all({
      {"optional.of(device.attributes)[\"none.example.com\"].hasValue()", "true"},
      {"optional.of(device.attributes)[?\"none.example.com\"].?x.hasValue()", "false"},
  });
}

TEST(DeviceSelector, CostsAreUpstreams) {
  EXPECT_EQ(ask("device.driver.startsWith(\"gpu\")").cost, 3u) << "of what it is to begin with";
  EXPECT_EQ(ask("matches(\"aaaaaaaaaaaaaaaaaaaa\", \"a+a+a+a+a\")").cost, 9u);
  EXPECT_EQ(ask("device.driver == \"drv\"").cost, 3u);
  EXPECT_EQ(ask("A.fast").cost, 4u);
  EXPECT_EQ(ask("A.version.compareTo(semver(\"1.2\", true)) > 0").cost, 7u);
  EXPECT_EQ(ask("has(A.fast)").cost, 3u);
  EXPECT_EQ(ask("true").cost, 0u);
  EXPECT_EQ(ask("cel.bind(x, A.missing, true)").cost, 0u) << "a name that nobody uses";
}

TEST(DeviceSelector, AnEvaluationThatCostsTooMuchIsGivenUp) {
  const Answer answer = ask("lists.range(2000).all(x, lists.range(2000).all(y, x + y >= 0))");
  EXPECT_EQ(answer.text, "operation cancelled: actual cost limit exceeded");
  EXPECT_GT(answer.cost, DeviceSelector::kCostLimit);
  EXPECT_EQ(ask("lists.range(9223372036854775807).size() == 1").text,
            "lists.range: size 9223372036854775807 exceeds maximum allowed (1000000)");
}

// 2^40 elements that take no room: the same list, twice in a sum, forty times over.
std::string huge_list(const std::string& about_it) {
  std::string text = "cel.bind(x0, [1], ";
  for (int i = 1; i <= 40; ++i)
    text += "cel.bind(x" + std::to_string(i) + ", x" + std::to_string(i - 1) + " + x" +
            std::to_string(i - 1) + ", ";
  return text + about_it + std::string(41, ')');
}

TEST(DeviceSelector, AListThatIsLongerThanMemoryIsNotLookedThrough) {
  EXPECT_EQ(ask(huge_list("size(x40) == 1099511627776")).text, "true");
  EXPECT_EQ(ask(huge_list("2 in x40")).text, "operation cancelled: actual cost limit exceeded");
  EXPECT_EQ(ask(huge_list("x40 == x40")).text, "operation cancelled: actual cost limit exceeded");
}

TEST(DeviceSelector, AnEvaluationEndsWhenItHasTakenItsSteps) {
  const auto compiled =
      DeviceSelector::compile("lists.range(1000).all(x, size(device.driver) + x > 0)");
  ASSERT_TRUE(compiled);
  const DeviceSelector& selector = **compiled;
  EXPECT_EQ(selector.matches(sample(), {.steps = 20'000}), Result<bool>(true));
  const Result<bool> interrupted = selector.matches(sample(), {.steps = 2'000});
  ASSERT_FALSE(interrupted);
  EXPECT_EQ(interrupted.error(), (Error{ErrorKind::kTimeout, "operation interrupted"}));

  const std::atomic<bool> cancelled = true;
  const Result<bool> given_up = selector.matches(sample(), {.cancelled = &cancelled});
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().kind, ErrorKind::kTimeout);
}

TEST(DeviceSelector, ACallThatWouldTakeMoreStepsThanAreLeftIsNotBegun) {
  const auto compiled = DeviceSelector::compile(R"(device.driver.matches("(a{0,9}){0,9}$"))");
  ASSERT_TRUE(compiled);
  const SelectorDevice long_name(std::string(100'000, 'a'));
  EXPECT_TRUE((*compiled)->matches(long_name, {.steps = 100'000}));
  EXPECT_FALSE((*compiled)->matches(long_name, {.steps = 1'000}));
}

TEST(DeviceSelector, NestingHasALimit) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "true" + std::string(depth, ')');
  };
  EXPECT_EQ(ask(nested(249)).text, "true");
  EXPECT_EQ(
      ask(nested(250)).text,
      "compile: compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: "
      "250");
  EXPECT_THAT(ask(nested(40000)).text, HasSubstr("recursion limit"));
  EXPECT_THAT(ask(std::string(100'001, ' ')).text, HasSubstr("code point size exceeds limit"));
}

TEST(DeviceSelector, ValuesThatHoldThemselvesManyTimesOverAreNotVisitedForever) {
  std::string list = "cel.bind(x0, [1, 1], ";
  for (int i = 1; i <= 40; ++i) {
    const std::string before = "x" + std::to_string(i - 1);
    list += "cel.bind(x" + std::to_string(i) + ", [" + before + ", " + before + "], ";
  }
  EXPECT_EQ(ask(list + "x40 == x40" + std::string(41, ')')).text,
            "operation cancelled: actual cost limit exceeded");
}

}  // namespace
}  // namespace berth
