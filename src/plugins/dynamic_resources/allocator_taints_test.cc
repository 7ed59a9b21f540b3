// Devices that are taken only when tolerated, or after all others.
#include "plugins/dynamic_resources/allocator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/allocator_case.h"

namespace berth::plugins {
namespace {

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

}  // namespace
}  // namespace berth::plugins
