#include "plugins/dynamic_resources/allocator.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/allocator_case.h"

namespace berth::plugins {
namespace {

TEST(Allocator, TakesTheFirstDeviceThatWillDo) {
  check({
      {"one device of one",
       {slice("s", on("n1"), devices(1))},
       {},
       {claim("c", exact("r"))},
       "c: r=drv/pool/d1 @n1"},
      {"in the order of the slice",
       {slice("s", on("n1"), "{name: z}, {name: a}")},
       {},
       {claim("c", exact("r"))},
       "c: r=drv/pool/z @n1"},
      {"slices by name",
       {slice("b", on("n1"), "{name: d1}", {.slices = 2}),
        slice("a", on("n1"), "{name: d2}", {.slices = 2})},
       {},
       {claim("c", exact("r"))},
       "c: r=drv/pool/d2 @n1"},
      {"pools by driver, then by name",
       {slice("a", on("n1"), "{name: d}", {.driver = "drv-b", .pool = "a"}),
        slice("b", on("n1"), "{name: d}", {.driver = "drv-a", .pool = "z"}),
        slice("c", on("n1"), "{name: d}", {.driver = "drv-a", .pool = "x"})},
       {},
       {claim("c", exact("r", 3))},
       "c: r=drv-a/x/d r=drv-a/z/d r=drv-b/a/d @n1"},
      {"not what somebody has",
       {slice("s", on("n1"), devices(3))},
       {"drv/pool/d1"},
       {claim("c", exact("r", 2))},
       "c:" + taken("r", 2, 3) + " @n1"},
      {"nothing left",
       {slice("s", on("n1"), devices(2))},
       {"drv/pool/d1", "drv/pool/d2"},
       {claim("c", exact("r"))},
       "impossible"},
      {"another node's",
       {slice("s", on("n2"), devices(1))},
       {},
       {claim("c", exact("r"))},
       "impossible"},
      {"no slices at all", {}, {}, {claim("c", exact("r"))}, "impossible"},
      {"a claim that asks for nothing", {}, {}, {claim("c", "")}, "c:"},
      {"no claims", {slice("s", on("n1"), devices(1))}, {}, {}, ""},
      {"two requests and two claims",
       {slice("s", on("n1"), devices(4))},
       {},
       {claim("a", list({exact("x"), exact("w")})), claim("b", exact("z", 2))},
       "a: x=drv/pool/d1 w=drv/pool/d2 @n1\nb:" + taken("z", 3, 4) + " @n1"},
  });
}

TEST(Allocator, SelectorsOfClassAndRequestMustBothAgree) {
  const std::string large_class =
      device_class("large", "device.attributes[\"drv\"].size == \"large\"");
  const std::string other = slice("s", on("n1"), list({kSmall, kLarge}));
  check({
      {"of the request",
       {other},
       {},
       {claim("c", exact("r", 1, sized("large")))},
       "c: r=drv/pool/large @n1"},
      {"of the class",
       {other, large_class},
       {},
       {claim("c", exact("r", 1, "deviceClassName: large"))},
       "c: r=drv/pool/large @n1"},
      {"one against the other",
       {other, large_class},
       {},
       {claim("c", exact("r", 1, "deviceClassName: large, " + sized("small")))},
       "impossible"},
      {"neither", {other}, {}, {claim("c", exact("r", 1, selector("false")))}, "impossible"},
      {"whoever comes first takes a device that another needs, and gives it back",
       {slice("s", on("n1"), list({kLarge, kSmall}))},
       {},
       {claim("c", list({exact("any"), exact("large", 1, sized("large"))}))},
       "c: any=drv/pool/small large=drv/pool/large @n1"},
      {"also across claims",
       {slice("s", on("n1"), list({kLarge, kSmall}))},
       {},
       {claim("a", exact("any")), claim("b", exact("large", 1, sized("large")))},
       "a: any=drv/pool/small @n1\nb: large=drv/pool/large @n1"},
      {"too few that fit", {other}, {}, {claim("c", exact("r", 2, sized("large")))}, "impossible"},
  });
}

TEST(Allocator, SaysWhatIsWrongWithARequest) {
  const std::string hint =
      ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check "
      "with has() for optional fields";
  const std::string broken = selector("device.attributes[\"drv\"].nothing == 1");
  const std::string one = slice("s", on("n1"), devices(1));
  check({
      {"a class that is not there",
       {one},
       {},
       {claim("c", exact("r", 1, "deviceClassName: none"))},
       "error: claim default/c, request r: could not retrieve device class none: "
       "deviceclass.resource.k8s.io \"none\" not found"},
      {"no class named",
       {one},
       {},
       {claim("c", exact("r", 1, "deviceClassName: \"\""))},
       "error: claim default/c, request r: missing device class name (unsupported request type?)"},
      {"a selector of another kind",
       {one},
       {},
       {claim("c", exact("r", 1, "selectors: [{}]"))},
       "error: claim default/c, request r, selector #0: CEL expression empty (unsupported selector "
       "type?)"},
      {"attributes of its own",
       {one},
       {},
       {claim("c", exact("r", 1,
                         "derivedAttributes: [{name: x/a, expression: \"1\"}], selectors: [{}]"))},
       "error: claim default/c, request r: cannot handle request with derived attributes, the "
       "feature is disabled"},
      {"also in a subrequest",
       {one},
       {},
       {claim("c", first_available("f", list({sub("a"), sub("b", 1,
                                                            "derivedAttributes: [{name: x/a, "
                                                            "expression: \"1\"}]")})))},
       "error: claim default/c, request b: cannot handle request with derived attributes, the "
       "feature is disabled"},
      {"an unknown mode",
       {one},
       {},
       {claim("c", "{name: r, exactly: {deviceClassName: any, allocationMode: Some}}")},
       "error: claim default/c, request r: unsupported count mode Some"},
      {"an empty constraint",
       {one},
       {},
       {claim("c", exact("r"), "constraints: [{matchAttribute: drv/a}, {requests: [r]}]")},
       "error: claim default/c, constraint #1: empty constraint (unsupported constraint type?)"},
      {"a selector that cannot be evaluated",
       {one},
       {},
       {claim("c", exact("r", 1, broken))},
       "error: claim default/c: selector #0 on device drv/pool/d1: CEL runtime error: no such key: "
       "nothing" +
           hint},
      {"also where all devices are wanted",
       {one},
       {},
       {claim("c", all("r", broken))},
       "error: claim default/c: selector #0 on device drv/pool/d1: CEL runtime error: no such key: "
       "nothing" +
           hint},
      {"for another reason",
       {one},
       {},
       {claim("c", exact("r", 1, selector("1 / 0 == 1")))},
       "error: claim default/c: selector #0 on device drv/pool/d1: CEL runtime error: division by "
       "zero"},
      {"or not even compiled",
       {one},
       {},
       {claim("c", exact("r", 1, selector("1")))},
       "error: claim default/c: selector #0: CEL compile error: must evaluate to bool or the "
       "unknown type, not int"},
      {"of a class",
       {one, device_class("bad", "device.attributes[\"drv\"].nothing == 1")},
       {},
       {claim("c", exact("r", 1, "deviceClassName: bad"))},
       "error: class bad: selector #0 on device drv/pool/d1: CEL runtime error: no such key: "
       "nothing" +
           hint},
      {"which nobody asks about a device in use",
       {one},
       {"drv/pool/d1"},
       {claim("c", exact("r", 1, broken))},
       "impossible"},
      {"or after another selector has said no",
       {one},
       {},
       {claim("c", exact("r", 1,
                         "selectors: [{cel: {expression: 'false'}}, {cel: {expression: "
                         "'device.attributes[\"drv\"].nothing == 1'}}]"))},
       "impossible"},
      {"or where an earlier device will do",
       {slice("s", on("n1"), "{name: d1, attributes: {nothing: {int: 1}}}, {name: d2}")},
       {},
       {claim("c", exact("r", 1, broken))},
       "c: r=drv/pool/d1 @n1"},
  });
}

TEST(Allocator, ConfigurationIsCopiedOnceWithTheRequestsItIsFor) {
  const auto config = [](std::string_view requests, std::string_view value) {
    return "{requests: [" + std::string(requests) +
           "], opaque: {driver: drv, parameters: {v: " + std::string(value) + "}}}";
  };
  const std::string with_config =
      device_class("configured", "",
                   "config: [{opaque: {driver: drv, parameters: {v: 1}}}, {opaque: {driver: drv, "
                   "parameters: {v: 2}}}]");
  const auto parts = [](AllocatorFixture& fixture) {
    const std::string json = fixture.json();
    const std::size_t begin = json.find("\"config\"");
    return json.substr(begin, json.find("},\"nodeSelector\"") - begin);
  };
  const auto opaque = [](std::string_view source, std::string_view requests, int value) {
    return "{\"source\":\"" + std::string(source) + "\"" +
           (requests.empty() ? "" : ",\"requests\":[" + std::string(requests) + "]") +
           ",\"opaque\":{\"driver\":\"drv\",\"parameters\":{\"v\":" + std::to_string(value) + "}}}";
  };
  AllocatorFixture fixture;
  fixture.add(with_config);
  fixture.add(slice("s", on("n1"), devices(4)));
  const std::string of_class = "deviceClassName: configured";
  fixture.allocate(
      "n1",
      {claim("c", list({exact("a", 1, of_class), exact("b"), exact("d", 1, of_class)}),
             "config: [" + list({config("", "3"), config("a, b", "4"), config("x", "5")}) + "]")});
  EXPECT_EQ(parts(fixture), "\"config\":[" + opaque("FromClass", "\"a\",\"d\"", 1) + "," +
                                opaque("FromClass", "\"a\",\"d\"", 2) + "," +
                                opaque("FromClaim", "", 3) + "," +
                                opaque("FromClaim", "\"a\",\"b\"", 4) + "]");
  fixture.allocate(
      "n1",
      {claim("c", first_available("r", list({sub("none", 9, of_class), sub("one", 1, of_class)})),
             "config: [" + list({config("r/none", "3"), config("r/one", "4"), config("r", "5")}) +
                 "]")});
  EXPECT_EQ(parts(fixture), "\"config\":[" + opaque("FromClass", "", 1) + "," +
                                opaque("FromClass", "", 2) + "," + opaque("FromClaim", "", 4) +
                                "," + opaque("FromClaim", "", 5) + "]")
      << "for all requests";
  fixture.allocate(
      "n1",
      {claim("c",
             list({first_available("r", list({sub("one", 1, of_class), sub("two", 2)})),
                   exact("a", 1, of_class)}),
             "config: [" + list({config("r/two, a", "3"), config("r/two, r/one, a", "4")}) + "]")});
  EXPECT_EQ(parts(fixture),
            "\"config\":[" + opaque("FromClass", "", 1) + "," + opaque("FromClass", "", 2) + "," +
                opaque("FromClaim", "\"r/two\",\"a\"", 3) + "," + opaque("FromClaim", "", 4) + "]");
}

TEST(Allocator, RemembersWhatSelectorsSaidUntilTheSliceChanges) {
  AllocatorFixture fixture;
  fixture.add(slice("s", on("n1"), list({kSmall, kLarge})));
  const std::string wish = claim("c", exact("r", 1, sized("large")));
  EXPECT_EQ(fixture.allocate("n1", {wish}), "c: r=drv/pool/large @n1");
  EXPECT_EQ(fixture.allocate("n1", {wish}), "c: r=drv/pool/large @n1");
  fixture.add(slice("s", on("n1"),
                    "{name: other, attributes: {size: {string: large}}}, " + std::string(kLarge)));
  EXPECT_EQ(fixture.allocate("n1", {wish}), "c: r=drv/pool/other @n1");
  fixture.remove_slice("s");
  EXPECT_EQ(fixture.allocate("n1", {wish}), "impossible");
}

}  // namespace
}  // namespace berth::plugins
