#include "plugins/dynamic_resources/allocator_pools.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/allocator_case.h"

namespace berth::plugins {
namespace {

const std::string kAnywhere = "allNodes: true";
const std::string kPerDevice = "perDeviceNodeSelection: true";
const std::string kWish = claim("c", exact("r"));
const std::string kWishAll = claim("c", all("r"));

TEST(DevicePools, AClaimCanBeUsedWhereItsDevicesCanBeReached) {
  check({
      {"from everywhere", {slice("s", kAnywhere, "{name: d}")}, {}, {kWish}, "c: r=drv/pool/d"},
      {"from a zone",
       {slice("s", in_zone("a"), "{name: d}")},
       {},
       {kWish},
       "c: r=drv/pool/d @zone=a"},
      {"from another zone", {slice("s", in_zone("b"), "{name: d}")}, {}, {kWish}, "impossible"},
      {"a device that binds to the node it is given to",
       {slice("s", kAnywhere, "{name: d, bindsToNode: true}")},
       {},
       {kWish},
       "c: r=drv/pool/d @n1"},
      {"one that is local restricts the others",
       {slice("a", in_zone("a"), "{name: d}", {.pool = "a"}),
        slice("b", on("n1"), "{name: d}", {.pool = "b"})},
       {},
       {claim("c", exact("r", 2))},
       "c: r=drv/a/d r=drv/b/d @n1"},
      {"several selectors become one term, each requirement once",
       {slice("a", in_zone("a"), "{name: d}", {.pool = "a"}),
        slice("b", in_zone("a"), "{name: d}", {.pool = "b"}),
        slice("c",
              "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: "
              "Exists}]}]}",
              "{name: d}", {.pool = "c"})},
       {},
       {claim("c", exact("r", 3))},
       "c: r=drv/a/d r=drv/b/d r=drv/c/d @zone=a,zone="},
      {"two terms cannot be one",
       {slice("s",
              "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: "
              "Exists}]}, {matchExpressions: [{key: zone, operator: In, values: [b]}]}]}",
              "{name: d}")},
       {},
       {kWish},
       "error: create NodeSelector for claim c: unsupported ResourceSlice.NodeSelector with 2 "
       "terms"},
      {"a slice that says nothing about nodes is nobody's",
       {slice("s", "allNodes: false", "{name: d}")},
       {},
       {kWish},
       "impossible"},
      {"a selector that makes no sense",
       {slice("s",
              "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: "
              "In}]}]}",
              "{name: d}")},
       {},
       {kWish},
       "error: gather pool information: failed to perform node selection for slice s: failed to "
       "parse node selector: nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: "
       "for 'in', 'notin' operators, values set can't be empty"},
  });
}

TEST(DevicePools, DevicesMayHaveNodesOfTheirOwn) {
  AllocatorFeatures off;
  off.partitionable_devices = false;
  const std::string mixed = slice("s", kPerDevice,
                                  "{name: other, nodeName: n2}, {name: zone, " + in_zone("a") +
                                      "}, {name: own, nodeName: n1}, "
                                      "{name: everywhere, allNodes: true}, {name: nowhere}");
  check({
      {"in their order", {mixed}, {}, {claim("c", exact("r", 1))}, "c: r=drv/pool/zone @zone=a"},
      {"all of them",
       {mixed},
       {},
       {kWishAll},
       "c: r=drv/pool/zone r=drv/pool/own r=drv/pool/everywhere @n1"},
      {"on the other node",
       {mixed},
       {},
       {kWishAll},
       "c: r=drv/pool/other r=drv/pool/everywhere @n2",
       {},
       "n2"},
      {"none for this node",
       {slice("s", kPerDevice, "{name: d, nodeName: n2}")},
       {},
       {kWish},
       "impossible"},
      {"switched off they are not there", {mixed}, {}, {kWish}, "impossible", off},
      {"even if the slice says no",
       {slice("s", "allNodes: true, perDeviceNodeSelection: false", "{name: d}")},
       {},
       {kWish},
       "impossible",
       off},
  });
}

TEST(DevicePools, OnlyTheNewestGenerationCounts) {
  const auto of = [](int generation, int slices = 1) {
    return PoolOf{.generation = generation, .slices = slices};
  };
  check({
      {"older slices are ignored",
       {slice("a", on("n1"), "{name: old}", of(1)), slice("b", on("n1"), "{name: new}", of(2))},
       {},
       {kWish},
       "c: r=drv/pool/new @n1"},
      {"a newer one for another node only: the pool is being replaced",
       {slice("a", on("n1"), "{name: old}", of(1, 2)),
        slice("b", on("n2"), "{name: new}", of(2, 2))},
       {},
       {kWish},
       "impossible"},
      {"which is no reason to refuse all devices",
       {slice("a", on("n1"), "{name: old}", of(1, 2)),
        slice("b", on("n2"), "{name: new}", of(2, 2)),
        slice("z", on("n1"), "{name: d}", {.pool = "z"})},
       {},
       {kWishAll},
       "c: r=drv/z/d @n1"},
      {"unless the old one is all there",
       {slice("a", on("n1"), "{name: old}", of(1)), slice("b", on("n2"), "{name: new}", of(2))},
       {},
       {kWish},
       "c: r=drv/pool/old @n1"},
      {"a missing slice", {slice("a", on("n1"), "{name: d}", of(1, 2))}, {}, {kWish}, "impossible"},
      {"a slice for another node is not missing",
       {slice("a", on("n1"), "{name: d}", of(1, 2)), slice("b", on("n2"), "{name: e}", of(1, 2))},
       {},
       {kWish},
       "c: r=drv/pool/d @n1"},
      {"an older one does not replace it",
       {slice("a", on("n1"), "{name: d}", of(2, 2)), slice("b", on("n2"), "{name: e}", of(1, 2))},
       {},
       {kWish},
       "impossible"},
      {"all devices of an incomplete pool",
       {slice("a", on("n1"), "{name: d}", of(1, 2))},
       {},
       {kWishAll},
       "error: claim default/c, request r: asks for all devices, but resource pool drv/pool is "
       "currently being updated"},
      {"whether or not they would be selected",
       {slice("a", on("n1"), "{name: d}", of(1, 2)),
        slice("z", on("n1"), "{name: d}", {.driver = "a"})},
       {},
       {claim("c", all("r", selector("device.driver == \"a\"")))},
       "error: claim default/c, request r: asks for all devices, but resource pool drv/pool is "
       "currently being updated"},
      {"some devices come from another pool",
       {slice("a", on("n1"), "{name: d}", of(1, 2)),
        slice("z", on("n1"), "{name: d}", {.pool = "z"})},
       {},
       {kWish},
       "c: r=drv/z/d @n1"},
  });
}

TEST(DevicePools, APoolThatContradictsItselfIsNotUsed) {
  const std::string twice = slice("a", on("n1"), "{name: d}, {name: d}");
  const std::string other = slice("z", on("n1"), "{name: e}", {.pool = "z"});
  const auto with_counters = [](std::string_view sets, std::string_view consumed) {
    return std::vector<std::string>{
        counters("a", on("n1"), sets, {.slices = 2}),
        slice("b", on("n1"), "{name: d, consumesCounters: [" + std::string(consumed) + "]}",
              {.slices = 2})};
  };
  const std::string set = "{name: set, counters: {memory: {value: 8}}}";
  const std::string failure = "node: invalid resource pools were encountered";
  check({
      {"a name twice", {twice}, {}, {kWish}, failure},
      {"in two slices",
       {slice("a", on("n1"), "{name: d}", {.slices = 2}),
        slice("b", on("n1"), "{name: d}", {.slices = 2})},
       {},
       {kWish},
       failure},
      {"others will do", {twice, other}, {}, {kWish}, "c: r=drv/z/e @n1"},
      {"unless all are wanted",
       {twice, other},
       {},
       {kWishAll},
       "error: claim default/c, request r: asks for all devices, but resource pool drv/pool is "
       "currently invalid"},
      {"a counter set twice", with_counters(set + ", " + set, ""), {}, {kWish}, failure},
      {"a set that there is not",
       with_counters(set, "{counterSet: none, counters: {memory: {value: 1}}}"),
       {},
       {kWish},
       failure},
      {"a counter that there is not",
       with_counters(set, "{counterSet: set, counters: {none: {value: 1}}}"),
       {},
       {kWish},
       failure},
      {"counters of another pool",
       {counters("a", on("n1"), set, {.pool = "x"}),
        slice("b", on("n1"),
              "{name: d, consumesCounters: [{counterSet: set, counters: {memory: {value: 1}}}]}")},
       {},
       {kWish},
       failure},
      {"also of devices for other nodes",
       {counters("a", on("n1"), set, {.slices = 3}),
        slice("b", on("n1"), "{name: d}", {.slices = 3}),
        slice("c", on("n2"),
              "{name: e, consumesCounters: [{counterSet: none, counters: {memory: {value: 1}}}]}",
              {.slices = 3})},
       {},
       {kWish},
       failure},
      {"a counter set twice, once on another node",
       {counters("a", on("n1"), set, {.slices = 3}), counters("b", on("n2"), set, {.slices = 3}),
        slice("c", on("n1"), "{name: d}", {.slices = 3})},
       {},
       {kWish},
       failure},
  });
}

TEST(DevicePools, CountersOfOtherNodesConcernANodeWithDevicesOfThePool) {
  AllocatorFeatures stable;
  stable.consumable_capacity = false;
  stable.device_binding = false;
  const std::string set = "{name: set, counters: {memory: {value: 8}}}";
  const std::string other = slice("z", on("n1"), "{name: e}", {.pool = "z"});
  const auto consuming = [](std::string_view name, std::string_view where, int memory) {
    return slice(name, where,
                 fmt::format("{{name: d{0}, consumesCounters: [{{counterSet: set, counters: "
                             "{{memory: {{value: {0}}}}}}}]}}",
                             memory),
                 {.slices = 3});
  };
  const std::vector<std::string> shared = {counters("a", on("n2"), set, {.slices = 3}),
                                           consuming("b", on("n1"), 5),
                                           consuming("c", kAnywhere, 4)};
  check({
      {"their counters are there", shared, {}, {kWish}, "c: r=drv/pool/d5 @n1"},
      {"and are shared", shared, {"drv/pool/d4"}, {kWish}, "impossible"},
      {"a pool without devices for the node may be unsound",
       {counters("a", on("n2"), set + ", " + set), other},
       {},
       {kWish},
       "c: r=drv/z/e @n1"},
      {"or incomplete",
       {counters("a", on("n2"), set, {.slices = 2}), other},
       {},
       {kWishAll},
       "c: r=drv/z/e @n1"},
      {"unless sharing and binding conditions are off",
       {counters("a", on("n2"), set + ", " + set)},
       {},
       {kWish},
       "node: invalid resource pools were encountered",
       stable},
      {"or incomplete, with these off",
       {counters("a", on("n2"), set, {.slices = 2}), other},
       {},
       {kWishAll},
       "error: claim default/c, request r: asks for all devices, but resource pool drv/pool is "
       "currently being updated",
       stable},
  });
}

TEST(DevicePools, ASliceWithCompatibilityGroupsIsMissing) {
  const std::string set = "{name: set, counters: {memory: {value: 8}}}";
  const auto grouped = [](std::string_view name, int slices) {
    return slice(name, on("n1"),
                 "{name: d, consumesCounters: [{counterSet: set, counters: {memory: {value: 1}}, "
                 "compatibilityGroups: [a]}]}",
                 {.slices = slices});
  };
  const std::string counted = counters("a", on("n1"), set, {.slices = 3});
  const std::string plain = slice("c", on("n1"), "{name: e}", {.slices = 3});
  check({
      {"so are the others of its pool",
       {counted, grouped("b", 3), plain},
       {},
       {kWish},
       "impossible"},
      {"all devices are not known",
       {counted, grouped("b", 3), plain},
       {},
       {kWishAll},
       "error: claim default/c, request r: asks for all devices, but resource pool drv/pool is "
       "currently being updated"},
      {"a pool of such slices is not there", {grouped("b", 1)}, {}, {kWishAll}, "impossible"},
      {"other pools are",
       {grouped("b", 1), slice("z", on("n1"), "{name: e}", {.pool = "z"})},
       {},
       {kWish},
       "c: r=drv/z/e @n1"},
  });
}

TEST(DevicePools, WhatWasGatheredIsForgottenWhenSlicesOrNodesChange) {
  AllocatorFixture fixture;
  fixture.add(slice("a", on("n1"), "{name: d1}", {.slices = 2}));
  EXPECT_EQ(fixture.allocate("n1", {kWish}), "impossible");
  // The other slice of the pool is for another node, and makes the pool complete.
  fixture.add(slice("b", on("n2"), "{name: d2}", {.slices = 2}));
  EXPECT_EQ(fixture.allocate("n1", {kWish}), "c: r=drv/pool/d1 @n1");
  EXPECT_EQ(fixture.allocate("n2", {kWish}), "c: r=drv/pool/d2 @n2");
  fixture.remove_slice("b");
  EXPECT_EQ(fixture.allocate("n1", {kWish}), "impossible");

  fixture.add(slice("z", in_zone("a"), "{name: d3}", {.pool = "z"}));
  EXPECT_EQ(fixture.allocate("n1", {kWish}), "c: r=drv/z/d3 @zone=a");
  fixture.cluster.update_node(fixture.world.node("n1").label("zone", "b"));
  EXPECT_EQ(fixture.allocate("n1", {kWish}), "impossible");
  fixture.add(slice("z", in_zone("b"), "{name: d3}", {.pool = "z"}));
  EXPECT_EQ(fixture.allocate("n1", {kWish}), "c: r=drv/z/d3 @zone=b");

  // A slice that moves from one node to another.
  fixture.remove_slice("a");
  fixture.remove_slice("z");
  fixture.add(slice("m", on("n1"), "{name: d}"));
  EXPECT_EQ(fixture.allocate("n1", {kWish}), "c: r=drv/pool/d @n1");
  EXPECT_EQ(fixture.allocate("n2", {kWish}), "impossible");
  fixture.add(slice("m", on("n2"), "{name: d}"));
  EXPECT_EQ(fixture.allocate("n1", {kWish}), "impossible");
  EXPECT_EQ(fixture.allocate("n2", {kWish}), "c: r=drv/pool/d @n2");
}

}  // namespace
}  // namespace berth::plugins
