#include "plugins/dynamic_resources/allocator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/allocator_case.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kSmall = "{name: small, attributes: {size: {string: small}}}";
constexpr std::string_view kLarge = "{name: large, attributes: {size: {string: large}}}";

std::string list(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) {
    if (!out.empty()) out += ", ";
    out += part;
  }
  return out;
}

// d1 … dn, or with another letter.
std::string devices(int count, std::string_view letter = "d") {
  std::string out;
  for (int i = 1; i <= count; ++i)
    out +=
        std::string(i == 1 ? "" : ", ") + "{name: " + std::string(letter) + std::to_string(i) + "}";
  return out;
}

// " r=drv/pool/d1 r=drv/pool/d2 …"
std::string taken(std::string_view request, int first, int last) {
  std::string out;
  for (int i = first; i <= last; ++i)
    out += " " + std::string(request) + "=drv/pool/d" + std::to_string(i);
  return out;
}

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

TEST(Allocator, NoClaimHoldsMoreThanThirtyTwoDevices) {
  const std::string many = slice("s", on("n1"), devices(40));
  check({
      {"thirty-two are fine",
       {many},
       {},
       {claim("c", exact("r", 32))},
       "c:" + taken("r", 1, 32) + " @n1"},
      {"one more is not",
       {many},
       {},
       {claim("c", exact("r", 33))},
       "error: claim default/c, request r: adding 33 devices exceeds the claim limit of 32, with 0 "
       "already accounted for"},
      {"all requests together",
       {many},
       {},
       {claim("c", list({exact("x", 20), exact("w", 13)}))},
       "error: claim default/c, request w: adding 13 devices exceeds the claim limit of 32, with "
       "20 already accounted for"},
      {"before later requests are looked at",
       {many},
       {},
       {claim("c", list({exact("x", 33), exact("w", 1, "deviceClassName: none")}))},
       "error: claim default/c, request x: adding 33 devices exceeds the claim limit of 32, with 0 "
       "already accounted for"},
      {"the smallest alternative",
       {many},
       {},
       {claim("c", list({exact("x", 20),
                         first_available("w", list({sub("big", 20), sub("small", 13)}))}))},
       "error: claim default/c, request w: adding 13 devices exceeds the claim limit of 32, with "
       "20 already accounted for"},
      {"each claim has its own limit",
       {many},
       {},
       {claim("a", exact("x", 20)), claim("b", exact("w", 20))},
       "a:" + taken("x", 1, 20) + " @n1\nb:" + taken("w", 21, 40) + " @n1"},
      {"all devices, but too many",
       {many},
       {},
       {claim("c", all("r"))},
       "error: claim default/c, request r: adding 40 devices exceeds the claim limit of 32, with 0 "
       "already accounted for"},
      {"the least that will do counts",
       {many},
       {},
       {claim("c", list({exact("x", 20),
                         first_available("w", list({sub("big", 20), sub("small", 12)}))}))},
       "c:" + taken("x", 1, 20) + taken("w/small", 21, 32) + " @n1"},
      {"where the first alternative is too much for what follows",
       {many},
       {},
       {claim("c", list({first_available("w", list({sub("big", 20), sub("small", 2)})),
                         exact("x", 20)}))},
       "c:" + taken("w/small", 1, 2) + taken("x", 3, 22) + " @n1"},
  });
}

TEST(Allocator, AllMeansEveryDeviceThatTheSelectorsName) {
  const std::string three = slice("s", on("n1"), devices(3));
  check({
      {"one",
       {slice("s", on("n1"), devices(1))},
       {},
       {claim("c", all("r"))},
       "c: r=drv/pool/d1 @n1"},
      {"several", {three}, {}, {claim("c", all("r"))}, "c:" + taken("r", 1, 3) + " @n1"},
      {"of what is selected",
       {slice("s", on("n1"), list({kSmall, kLarge}))},
       {},
       {claim("c", all("r", sized("large")))},
       "c: r=drv/pool/large @n1"},
      {"none is too few", {slice("s", on("n1"), "")}, {}, {claim("c", all("r"))}, "impossible"},
      {"no slices", {}, {}, {claim("c", all("r"))}, "impossible"},
      {"if somebody has one of them, none",
       {three},
       {"drv/pool/d2"},
       {claim("c", all("r"))},
       "impossible"},
      {"but for admin access",
       {three},
       {"drv/pool/d2"},
       {claim("c", all("r", "adminAccess: true"))},
       "c: r=drv/pool/d1(admin) r=drv/pool/d2(admin) r=drv/pool/d3(admin) @n1"},
      {"leaves nothing for others",
       {three},
       {},
       {claim("c", list({all("r"), exact("s")}))},
       "impossible"},
      {"nor do others for it",
       {three},
       {},
       {claim("c", list({exact("s"), all("r")}))},
       "impossible"},
      {"others may take what it does not name",
       {slice("s", on("n1"), list({kSmall, kLarge}))},
       {},
       {claim("c", list({exact("s"), all("r", sized("small"))}))},
       "c: s=drv/pool/large r=drv/pool/small @n1"},
      {"a broken constraint is an error",
       {slice("s", on("n1"), list({kSmall, kLarge}))},
       {},
       {claim("c", all("r"), "constraints: [{matchAttribute: drv/size}]")},
       "error: claim default/c, request r: cannot add device drv/pool/large because a claim "
       "constraint would not be satisfied"},
  });
}

TEST(Allocator, AdminAccessLooksOverShoulders) {
  const std::string one = slice("s", on("n1"), devices(1));
  const std::string admin = "adminAccess: true";
  AllocatorFeatures off;
  off.admin_access = false;
  check({
      {"a device that somebody has",
       {one},
       {"drv/pool/d1"},
       {claim("c", exact("r", 1, admin))},
       "c: r=drv/pool/d1(admin) @n1"},
      {"but once per claim",
       {one},
       {},
       {claim("c", list({exact("x", 1, admin), exact("w", 1, admin)}))},
       "impossible"},
      {"in another claim again",
       {one},
       {},
       {claim("a", exact("x", 1, admin)), claim("b", exact("w", 1, admin))},
       "a: x=drv/pool/d1(admin) @n1\nb: w=drv/pool/d1(admin) @n1"},
      {"after somebody of the same pod",
       {one},
       {},
       {claim("a", exact("x")), claim("b", exact("w", 1, admin))},
       "a: x=drv/pool/d1 @n1\nb: w=drv/pool/d1(admin) @n1"},
      {"not before",
       {one},
       {},
       {claim("a", exact("x", 1, admin)), claim("b", exact("w"))},
       "impossible"},
      {"said to be false is like not said",
       {one},
       {"drv/pool/d1"},
       {claim("c", exact("r", 1, "adminAccess: false"))},
       "impossible"},
      {"switched off, the word alone is an error",
       {one},
       {},
       {claim("c", exact("r", 1, "adminAccess: false"))},
       "error: claim default/c, request r: admin access is requested, but the feature is disabled",
       off},
  });
}

TEST(Allocator, TheFirstSubrequestThatLeavesRoomForTheRestWins) {
  const std::string two = slice("s", on("n1"), list({kSmall, kLarge}));
  const std::string large_or_small = first_available(
      "r", list({sub("large", 1, sized("large")), sub("small", 1, sized("small"))}));
  AllocatorFeatures off;
  off.prioritized_list = false;
  check({
      {"the first", {two}, {}, {claim("c", large_or_small)}, "c: r/large=drv/pool/large @n1"},
      {"the second, if the first is taken",
       {two},
       {"drv/pool/large"},
       {claim("c", large_or_small)},
       "c: r/small=drv/pool/small @n1"},
      {"neither",
       {two},
       {"drv/pool/large", "drv/pool/small"},
       {claim("c", large_or_small)},
       "impossible"},
      {"the second, if a later request needs the first",
       {two},
       {},
       {claim("c", list({large_or_small, exact("l", 1, sized("large"))}))},
       "c: r/small=drv/pool/small l=drv/pool/large @n1"},
      {"or a later claim",
       {two},
       {},
       {claim("a", large_or_small), claim("b", exact("l", 1, sized("large")))},
       "a: r/small=drv/pool/small @n1\nb: l=drv/pool/large @n1"},
      {"all devices",
       {two},
       {},
       {claim("c",
              first_available("r", list({sub_all("none", selector("false")), sub_all("all")})))},
       "c: r/all=drv/pool/small r/all=drv/pool/large @n1"},
      {"two lists",
       {two},
       {},
       {claim("c", list({large_or_small,
                         first_available("q", list({sub("l", 1, sized("large")), sub("x")}))}))},
       "c: r/large=drv/pool/large q/x=drv/pool/small @n1"},
      {"all would be too many",
       {slice("s", on("n1"), devices(33))},
       {},
       {claim("c", first_available("r", list({sub_all("all"), sub("one")})))},
       "c: r/one=drv/pool/d1 @n1"},
      {"a missing class of a later one is an error",
       {two},
       {},
       {claim("c", first_available("r", list({sub("a"), sub("b", 1, "deviceClassName: none")})))},
       "error: claim default/c, request b: could not retrieve device class none: "
       "deviceclass.resource.k8s.io \"none\" not found"},
      {"switched off",
       {two},
       {},
       {claim("c", large_or_small)},
       "error: claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is "
       "disabled",
       off},
  });
}

TEST(Allocator, DeviceTaintRulesAddTaintsToTheDevicesThatTheySelect) {
  const auto rule = [](std::string_view spec, std::string_view effect = "NoSchedule") {
    return fmt::format(
        "{{apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {{name: 'rule {0}'}}, "
        "spec: {{{0} taint: {{key: k, value: v, effect: {1}}}}}}}",
        spec, effect);
  };
  const auto selects = [&](std::string_view fields, std::string_view effect = "NoSchedule") {
    return rule(fmt::format("deviceSelector: {{{}}},", fields), effect);
  };
  const std::string devices = slice("s", on("n1"), "{name: d1}, {name: d2}");
  const std::string one = claim("c", exact("r"));
  const std::string first = "c: r=drv/pool/d1 @n1";
  const std::string second = "c: r=drv/pool/d2 @n1";
  AllocatorFeatures off;
  off.device_taint_rules = false;
  check({
      {"no selector", {devices, rule("")}, {}, {one}, first},
      {"empty selector", {devices, selects("")}, {}, {one}, "impossible"},
      {"driver", {devices, selects("driver: drv")}, {}, {one}, "impossible"},
      {"other driver", {devices, selects("driver: other")}, {}, {one}, first},
      {"pool", {devices, selects("pool: pool")}, {}, {one}, "impossible"},
      {"other pool", {devices, selects("pool: other")}, {}, {one}, first},
      {"device", {devices, selects("device: d1")}, {}, {one}, second},
      {"all three", {devices, selects("driver: drv, pool: pool, device: d1")}, {}, {one}, second},
      {"not all three", {devices, selects("driver: drv, pool: p, device: d1")}, {}, {one}, first},
      {"several",
       {devices, selects("device: d1"), selects("driver: drv, device: d2", "NoExecute")},
       {},
       {one},
       "impossible"},
      {"no effect", {devices, selects("", "None")}, {}, {one}, first},
      {"tolerated",
       {devices, selects("")},
       {},
       {claim("c", exact("r", 1, "tolerations: [{key: k, operator: Equal, value: v}]"))},
       first},
      {"own taint is not tolerated",
       {slice("s", on("n1"), "{name: d1, taints: [{key: own, effect: NoExecute}]}, {name: d2}"),
        selects("")},
       {},
       {claim("c", exact("r", 1, "tolerations: [{key: k, operator: Exists}]"))},
       second},
      {"all devices", {devices, selects("device: d2")}, {}, {claim("c", all("r"))}, "impossible"},
      {"switched off", {devices, selects("")}, {}, {one}, first, off},
  });
}

TEST(Allocator, ADeviceTaintRuleThatChangesOrGoesIsFollowed) {
  const auto rule = [](std::string_view device) {
    return fmt::format(
        "{{apiVersion: resource.k8s.io/v1, kind: DeviceTaintRule, metadata: {{name: rule}}, "
        "spec: {{deviceSelector: {{device: {}}}, taint: {{key: k, effect: NoSchedule}}}}}}",
        device);
  };
  AllocatorFixture fixture;
  fixture.add(slice("s", on("n1"), "{name: d1}, {name: d2}"));
  const std::string one = claim("c", exact("r"));
  fixture.add(rule("d1"));
  EXPECT_EQ(fixture.allocate("n1", {one}), "c: r=drv/pool/d2 @n1");
  fixture.add(rule("d2"));
  EXPECT_EQ(fixture.allocate("n1", {one}), "c: r=drv/pool/d1 @n1");
  fixture.take("drv/pool/d1");
  EXPECT_EQ(fixture.allocate("n1", {one}), "impossible");
  fixture.cluster.remove(ObjectKind::kDeviceTaintRule, "", "rule");
  EXPECT_EQ(fixture.allocate("n1", {one}), "c: r=drv/pool/d2 @n1");
}

TEST(Allocator, TaintsKeepAwayWhoDoesNotTolerateThem) {
  const auto tainted = [](std::string_view taints) {
    return slice("s", on("n1"), "{name: d1, taints: [" + std::string(taints) + "]}, {name: d2}");
  };
  const std::string no_schedule = "{key: k, value: v, effect: NoSchedule}";
  const auto tolerating = [](std::string_view tolerations) {
    return exact("r", 1, "tolerations: [" + std::string(tolerations) + "]");
  };
  const std::string first = "c: r=drv/pool/d1 @n1";
  const std::string second = "c: r=drv/pool/d2 @n1";
  AllocatorFeatures off;
  off.device_taints = false;
  check({
      {"NoSchedule", {tainted(no_schedule)}, {}, {claim("c", exact("r"))}, second},
      {"NoExecute", {tainted("{key: k, effect: NoExecute}")}, {}, {claim("c", exact("r"))}, second},
      {"None", {tainted("{key: k, effect: None}")}, {}, {claim("c", exact("r"))}, first},
      {"Equal",
       {tainted(no_schedule)},
       {},
       {claim("c", tolerating("{key: k, operator: Equal, value: v, effect: NoSchedule}"))},
       first},
      {"Equal is the default",
       {tainted(no_schedule)},
       {},
       {claim("c", tolerating("{key: k, value: v}"))},
       first},
      {"another value",
       {tainted(no_schedule)},
       {},
       {claim("c", tolerating("{key: k, operator: Equal, value: w}"))},
       second},
      {"another effect",
       {tainted(no_schedule)},
       {},
       {claim("c", tolerating("{key: k, operator: Exists, effect: NoExecute}"))},
       second},
      {"Exists",
       {tainted(no_schedule)},
       {},
       {claim("c", tolerating("{key: k, operator: Exists}"))},
       first},
      {"of any key",
       {tainted(no_schedule)},
       {},
       {claim("c", tolerating("{operator: Exists}"))},
       first},
      {"an operator that is none",
       {tainted(no_schedule)},
       {},
       {claim("c", tolerating("{key: k, operator: Like, value: v}"))},
       second},
      {"every taint must be tolerated",
       {tainted(no_schedule + ", {key: l, effect: NoExecute}")},
       {},
       {claim("c", tolerating("{key: k, operator: Exists}"))},
       second},
      {"also for admins",
       {tainted(no_schedule)},
       {},
       {claim("c", exact("r", 1, "adminAccess: true"))},
       "c: r=drv/pool/d2(admin) @n1"},
      {"all devices", {tainted(no_schedule)}, {}, {claim("c", all("r"))}, "impossible"},
      {"of a subrequest",
       {tainted(no_schedule)},
       {},
       {claim("c", first_available("r", list({sub("a", 2), sub("b", 2,
                                                               "tolerations: [{operator: "
                                                               "Exists}]")})))},
       "c: r/b=drv/pool/d1 r/b=drv/pool/d2 @n1"},
      {"switched off", {tainted(no_schedule)}, {}, {claim("c", exact("r"))}, first, off},
  });
}

TEST(Allocator, BindingConditionsComeLast) {
  const std::string with = "{name: d, bindingConditions: [ready], bindingFailureConditions: [bad]}";
  AllocatorFeatures off;
  off.device_binding = false;
  check({
      {"their pools after all others",
       {slice("a", on("n1"), with, {.pool = "a"}),
        slice("b", on("n1"), "{name: d}", {.pool = "b"})},
       {},
       {claim("c", exact("r", 2))},
       "c: r=drv/b/d r=drv/a/d @n1"},
      {"the whole pool, for the sake of one device",
       {slice("a", on("n1"), "{name: c}, " + with, {.pool = "a"}),
        slice("b", on("n1"), "{name: d}", {.pool = "b"})},
       {},
       {claim("c", exact("r", 3))},
       "c: r=drv/b/d r=drv/a/c r=drv/a/d @n1"},
      {"switched off such devices are not there",
       {slice("a", on("n1"), with, {.pool = "a"})},
       {},
       {claim("c", exact("r"))},
       "impossible",
       off},
  });
  AllocatorFixture fixture;
  fixture.add(slice("a", on("n1"), with));
  fixture.allocate("n1", {claim("c", exact("r"))});
  EXPECT_EQ(fixture.json(),
            R"({"devices":{"results":[{"request":"r","driver":"drv","pool":"pool","device":"d",)"
            R"("bindingConditions":["ready"],"bindingFailureConditions":["bad"]}]},)"
            R"("nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name",)"
            R"("operator":"In","values":["n1"]}]}]}})");
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
