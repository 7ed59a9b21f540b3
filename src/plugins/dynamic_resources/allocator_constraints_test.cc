#include "plugins/dynamic_resources/allocator_constraints.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/allocator_case.h"

namespace berth::plugins {
namespace {

// Devices d1, d2, … with these values of the attribute `a`; "-" has none.
std::string valued(std::initializer_list<std::string_view> values) {
  std::string out;
  int i = 0;
  for (const std::string_view value : values) {
    if (i++ > 0) out += ", ";
    if (value == "-") {
      out += fmt::format("{{name: d{}}}", i);
    } else {
      out += fmt::format("{{name: d{}, attributes: {{a: {{{}}}}}}}", i, value);
    }
  }
  return slice("s", on("n1"), out);
}

std::string match(std::string_view requests = "", std::string_view attribute = "drv/a") {
  return fmt::format("constraints: [{{requests: [{}], matchAttribute: {}}}]", requests, attribute);
}
std::string distinct(std::string_view requests = "", std::string_view attribute = "drv/a") {
  return fmt::format("constraints: [{{requests: [{}], distinctAttribute: {}}}]", requests,
                     attribute);
}

std::string got(std::string_view text) {
  std::string out = "c:";
  for (std::size_t i = 0; i < text.size(); i += 2)
    out += fmt::format(" {}=drv/pool/d{}", text[i], text[i + 1]);
  return out + " @n1";
}

TEST(MatchAttribute, AllDevicesHaveTheSameValue) {
  const std::string pair = exact("r", 2);
  check({
      {"strings",
       {valued({"string: x", "string: z", "string: x"})},
       {},
       {claim("c", pair, match())},
       got("r1r3")},
      {"integers",
       {valued({"int: 1", "int: 2", "int: 2"})},
       {},
       {claim("c", pair, match())},
       got("r2r3")},
      {"booleans",
       {valued({"bool: true", "bool: false", "bool: false"})},
       {},
       {claim("c", pair, match())},
       got("r2r3")},
      {"versions",
       {valued({"version: 1.0.0", "version: 1.0.1", "version: 1.0.0"})},
       {},
       {claim("c", pair, match())},
       got("r1r3")},
      {"no two alike",
       {valued({"int: 1", "int: 2", "int: 3"})},
       {},
       {claim("c", pair, match())},
       "impossible"},
      {"a string is no version",
       {valued({"string: 1.0.0", "version: 1.0.0"})},
       {},
       {claim("c", pair, match())},
       "impossible"},
      {"devices without it are out",
       {valued({"-", "int: 1", "-", "int: 1"})},
       {},
       {claim("c", pair, match())},
       got("r2r4")},
      {"an attribute of nobody",
       {valued({"int: 1"})},
       {},
       {claim("c", exact("r"), match("", "drv/none"))},
       "impossible"},
      {"of another domain",
       {valued({"int: 1"})},
       {},
       {claim("c", exact("r"), match("", "x/a"))},
       "impossible"},
      {"written out in full",
       {slice("s", on("n1"), "{name: d1, attributes: {x/a: {int: 1}}}")},
       {},
       {claim("c", exact("r"), match("", "x/a"))},
       got("r1")},
      {"lists cannot be compared",
       {valued({"ints: [1]", "ints: [1]"})},
       {},
       {claim("c", pair, match())},
       "impossible"},
      {"but one is no comparison",
       {valued({"ints: [1]"})},
       {},
       {claim("c", exact("r"), match())},
       got("r1")},
      {"across requests",
       {valued({"int: 1", "int: 2", "int: 1"})},
       {},
       {claim("c", exact("r") + ", " + exact("q"), match())},
       got("r1q3")},
      {"only those that it names",
       {valued({"int: 1", "int: 2", "int: 1"})},
       {},
       {claim("c", exact("r") + ", " + exact("q") + ", " + exact("p"), match("r, p"))},
       got("r1q2p3")},
      {"which may send the others elsewhere",
       {valued({"int: 1", "int: 1", "int: 2"})},
       {},
       {claim("c", exact("q") + ", " + exact("r", 2), match("r"))},
       got("q3r1r2")},
      {"each claim for itself",
       {valued({"int: 1", "int: 2"})},
       {},
       {claim("c", exact("r"), match()), claim("d", exact("q"), match())},
       "c: r=drv/pool/d1 @n1\nd: q=drv/pool/d2 @n1"},
  });
}

TEST(MatchAttribute, MayNameARequestOrOneOfItsSubrequests) {
  const std::string three = valued({"int: 1", "int: 2", "int: 1"});
  const std::string either = first_available("f", sub("big", 2) + ", " + sub("small"));
  check({
      {"the request",
       {three},
       {},
       {claim("c", either + ", " + exact("r"), match("f, r"))},
       "c: f/small=drv/pool/d1 r=drv/pool/d3 @n1"},
      {"a subrequest",
       {three},
       {},
       {claim("c", either + ", " + exact("r"), match("f/small, r"))},
       "c: f/big=drv/pool/d1 f/big=drv/pool/d2 r=drv/pool/d3 @n1"},
      {"the one that is chosen",
       {three},
       {},
       {claim("c", either, match("f/big"))},
       "c: f/big=drv/pool/d1 f/big=drv/pool/d3 @n1"},
  });
}

TEST(DistinctAttribute, NoTwoRequestsHaveTheSameValue) {
  const std::string three = exact("r") + ", " + exact("q") + ", " + exact("p");
  AllocatorFeatures stable;
  stable.consumable_capacity = false;
  stable.device_binding = false;
  check({
      {"all differ",
       {valued({"int: 1", "int: 1", "int: 2", "int: 3"})},
       {},
       {claim("c", three, distinct())},
       got("r1q3p4")},
      {"too few values",
       {valued({"int: 1", "int: 2", "int: 1"})},
       {},
       {claim("c", three, distinct())},
       "impossible"},
      {"two devices of one request",
       {valued({"string: x", "string: x", "string: z"})},
       {},
       {claim("c", exact("r", 2), distinct())},
       got("r1r3")},
      {"none of three devices of one request returns to the first value",
       {valued({"int: 1", "int: 2", "int: 1"})},
       {},
       {claim("c", exact("r", 3), distinct())},
       "impossible"},
      {"but there may be a third one",
       {valued({"int: 1", "int: 2", "int: 1", "int: 3"})},
       {},
       {claim("c", exact("r", 3), distinct())},
       got("r1r2r4")},
      {"without the attribute",
       {valued({"-", "-"})},
       {},
       {claim("c", exact("r"), distinct())},
       "impossible"},
      {"kinds of values differ",
       {valued({"int: 1", "string: \"1\""})},
       {},
       {claim("c", exact("r", 2), distinct())},
       got("r1r2")},
      {"a list differs from nothing",
       {valued({"int: 1", "ints: [2]"})},
       {},
       {claim("c", exact("r", 2), distinct())},
       "impossible"},
      {"only those that it names",
       {valued({"int: 1", "int: 1", "int: 2"})},
       {},
       {claim("c", three, distinct("r, p"))},
       got("r1q2p3")},
      {"of a subrequest",
       {valued({"int: 1", "int: 1", "int: 2"})},
       {},
       {claim("c", exact("r") + ", " + first_available("f", sub("one")), distinct("r, f/one"))},
       "c: r=drv/pool/d1 f/one=drv/pool/d3 @n1"},
      {"unknown to those who have neither sharing nor binding conditions",
       {valued({"int: 1"})},
       {},
       {claim("c", exact("r"), distinct())},
       "error: claim default/c, constraint #0: empty constraint (unsupported constraint type?)",
       stable},
  });
}

TEST(AttributeLists, AreComparedAsSetsWhereTheyAreSupported) {
  AllocatorFeatures lists;
  lists.list_type_attributes = true;
  const std::string pair = exact("r", 2);
  check({
      {"an element in common is a match",
       {valued({"ints: [1, 2]", "ints: [3]", "ints: [2, 3]"})},
       {},
       {claim("c", pair, match())},
       got("r1r3"),
       lists},
      {"one that all have in common",
       {valued({"ints: [1, 2]", "ints: [2, 3]", "ints: [3, 1]", "ints: [2]"})},
       {},
       {claim("c", exact("r", 3), match())},
       got("r1r2r4"),
       lists},
      {"a single value is a list of one",
       {valued({"strings: [x, z]", "version: 1.0.0", "string: z"})},
       {},
       {claim("c", pair, match())},
       got("r1r3"),
       lists},
      {"nothing in common is distinct",
       {valued({"ints: [1, 2]", "ints: [2, 3]", "int: 3", "bools: [true]"})},
       {},
       {claim("c", exact("r", 3), distinct())},
       got("r1r3r4"),
       lists},
      {"no value is neither",
       {valued({"", "ints: []"})},
       {},
       {claim("c", exact("r"), match())},
       "impossible",
       lists},
  });
}

TEST(DistinctAttribute, BothKindsTogether) {
  const std::string devices =
      "{name: d1, attributes: {rack: {int: 1}, card: {int: 1}}}, "
      "{name: d2, attributes: {rack: {int: 2}, card: {int: 1}}}, "
      "{name: d3, attributes: {rack: {int: 2}, card: {int: 1}}}, "
      "{name: d4, attributes: {rack: {int: 2}, card: {int: 2}}}";
  check({{"same rack, different cards",
          {slice("s", on("n1"), devices)},
          {},
          {claim("c", exact("r") + ", " + exact("q"),
                 "constraints: [{matchAttribute: drv/rack}, {distinctAttribute: drv/card}]")},
          got("r2q4")}});
}

}  // namespace
}  // namespace berth::plugins
