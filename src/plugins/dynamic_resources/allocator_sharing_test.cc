// Devices that several have at once: shares with consumable capacity, and partitions that draw on
// common counters.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/allocator_capacity.h"
#include "plugins/dynamic_resources/testing/allocator_case.h"

namespace berth::plugins {
namespace {

std::string device(std::string_view name, std::string_view more) {
  return fmt::format("{{name: {}{}{}}}", name, more.empty() ? "" : ", ", more);
}
std::string shared(std::string_view name, std::string_view capacity) {
  return device(name, fmt::format("allowMultipleAllocations: true, capacity: {{{}}}", capacity));
}
std::string memory(std::string_view value, std::string_view policy = "") {
  return policy.empty()
             ? fmt::format("memory: {{value: {}}}", value)
             : fmt::format("memory: {{value: {}, requestPolicy: {{{}}}}}", value, policy);
}
std::string asking(std::string_view name, std::string_view amount, int count = 1) {
  return exact(name, count, fmt::format("capacity: {{requests: {{memory: {}}}}}", amount));
}
std::string with(std::string_view devices) { return slice("s", on("n1"), devices); }

TEST(ConsumableCapacity, ASharedDeviceIsGivenUntilItIsUsedUp) {
  const std::string one = with(shared("d", memory("8Gi")));
  const std::string two = with(shared("d", memory("8Gi")) + ", " + shared("e", memory("8Gi")));
  AllocatorFeatures off;
  off.consumable_capacity = false;
  check({
      {"what is asked for",
       {one},
       {},
       {claim("c", asking("r", "2Gi"))},
       "c: r=drv/pool/d(memory=2Gi) @n1"},
      {"all of it, if nothing is",
       {one},
       {},
       {claim("c", exact("r"))},
       "c: r=drv/pool/d(memory=8Gi) @n1"},
      {"in several requests",
       {one},
       {},
       {claim("c", asking("r", "5Gi") + ", " + asking("q", "3Gi"))},
       "c: r=drv/pool/d(memory=5Gi) q=drv/pool/d(memory=3Gi) @n1"},
      {"but not beyond its capacity",
       {one},
       {},
       {claim("c", asking("r", "5Gi") + ", " + asking("q", "4Gi"))},
       "impossible"},
      {"then the next",
       {two},
       {},
       {claim("c", asking("r", "5Gi") + ", " + asking("q", "4Gi"))},
       "c: r=drv/pool/d(memory=5Gi) q=drv/pool/e(memory=4Gi) @n1"},
      {"one request does not take it twice",
       {one},
       {},
       {claim("c", asking("r", "1Gi", 2))},
       "impossible"},
      {"but others",
       {two},
       {},
       {claim("c", asking("r", "1Gi", 2))},
       "c: r=drv/pool/d(memory=1Gi) r=drv/pool/e(memory=1Gi) @n1"},
      {"beside what others have",
       {one},
       {"drv/pool/d memory=6Gi"},
       {claim("c", asking("r", "2Gi"))},
       "c: r=drv/pool/d(memory=2Gi) @n1"},
      {"and not more",
       {two},
       {"drv/pool/d memory=7Gi"},
       {claim("c", asking("r", "2Gi"))},
       "c: r=drv/pool/e(memory=2Gi) @n1"},
      {"nothing, if somebody has it for himself",
       {one},
       {"drv/pool/d"},
       {claim("c", asking("r", "1Gi"))},
       "impossible"},
      {"an amount of something that it does not have",
       {one},
       {},
       {claim("c", exact("r", 1, "capacity: {requests: {cores: 1}}"))},
       "impossible"},
      {"names are compared as they are written",
       {one},
       {},
       {claim("c", exact("r", 1, "capacity: {requests: {drv/memory: 1Gi}}"))},
       "impossible"},
      {"a device without capacity can be shared without end",
       {with(shared("d", ""))},
       {},
       {claim("c", exact("r") + ", " + exact("q"))},
       "c: r=drv/pool/d() q=drv/pool/d() @n1"},
      {"a later need may send an earlier one elsewhere",
       {with(shared("d", memory("8Gi")) + ", " + shared("e", memory("4Gi")))},
       {},
       {claim("c", asking("r", "3Gi") + ", " + asking("q", "6Gi"))},
       "c: r=drv/pool/e(memory=3Gi) q=drv/pool/d(memory=6Gi) @n1"},
      {"of a subrequest",
       {one},
       {},
       {claim("c",
              first_available("f", sub("big", 1, "capacity: {requests: {memory: 9Gi}}") + ", " +
                                       sub("fit", 1, "capacity: {requests: {memory: 8Gi}}")))},
       "c: f/fit=drv/pool/d(memory=8Gi) @n1"},
      {"a device that cannot be shared must have that much",
       {with(device("d", "capacity: {" + memory("4Gi") + "}") + ", " +
             device("e", "capacity: {" + memory("8Gi") + "}"))},
       {},
       {claim("c", asking("r", "6Gi"))},
       "c: r=drv/pool/e @n1"},
      {"every capacity is accounted for",
       {with(shared("d", memory("8Gi") + ", cores: {value: 4}"))},
       {},
       {claim("c", asking("r", "2Gi"))},
       "c: r=drv/pool/d(cores=4,memory=2Gi) @n1"},
      {"selectors see that it can be shared",
       {with(shared("d", "") + ", " + device("e", ""))},
       {},
       {claim("c", exact("r", 1, selector("!device.allowMultipleAllocations")))},
       "c: r=drv/pool/e @n1"},
      {"switched off, amounts are an error",
       {one},
       {},
       {claim("c", asking("r", "1Gi"))},
       "error: claim default/c, request r: has capacity requests, but the DRAConsumableCapacity "
       "feature is disabled",
       off},
      {"also those of subrequests",
       {one},
       {},
       {claim("c", first_available("f", sub("s", 1, "capacity: {requests: {memory: 1Gi}}")))},
       "error: claim default/c, subrequest s: has capacity requests, but the "
       "DRAConsumableCapacity feature is disabled",
       off},
      {"and whoever has a device has it alone",
       {one},
       {},
       {claim("c", exact("r") + ", " + exact("q"))},
       "impossible",
       off},
  });
}

TEST(ConsumableCapacity, AllDevicesThatHaveEnough) {
  const std::string two = with(shared("d", memory("8Gi")) + ", " + shared("e", memory("2Gi")));
  const std::string equal = with(shared("d", memory("8Gi")) + ", " + shared("e", memory("8Gi")));
  const std::string wish = all("r", "capacity: {requests: {memory: 4Gi}}");
  check({
      {"others are left out", {two}, {}, {claim("c", wish)}, "c: r=drv/pool/d(memory=4Gi) @n1"},
      {"but none that is merely used up",
       {equal},
       {"drv/pool/d memory=6Gi"},
       {claim("c", wish)},
       "impossible"},
      {"there is enough of all",
       {equal},
       {"drv/pool/d memory=4Gi"},
       {claim("c", wish)},
       "c: r=drv/pool/d(memory=4Gi) r=drv/pool/e(memory=4Gi) @n1"},
      {"a device that another request of the pod uses up meanwhile",
       {two},
       {},
       {claim("c", asking("q", "5Gi") + ", " + wish)},
       "impossible"},
      {"with enough for both",
       {two},
       {},
       {claim("c", asking("q", "4Gi") + ", " + wish)},
       "c: q=drv/pool/d(memory=4Gi) r=drv/pool/d(memory=4Gi) @n1"},
  });
}

TEST(ConsumableCapacity, PoliciesRoundUp) {
  const std::string steps = "default: 1Gi, validRange: {min: 1Gi, step: 2Gi}";
  const std::string bounded = "default: 1Gi, validRange: {min: 1Gi, max: 4Gi}";
  const std::string values = "default: 1Gi, validValues: [1Gi, 4Gi]";
  const auto row = [](const char* name, const std::string& policy, const std::string& request,
                      std::string_view consumed) {
    return AllocatorCase{
        name,
        {with(shared("d", memory("8Gi", policy)))},
        {},
        {claim("c", request)},
        consumed.empty() ? "impossible" : fmt::format("c: r=drv/pool/d(memory={}) @n1", consumed)};
  };
  check({
      row("the default", steps, exact("r"), "1Gi"),
      row("to the minimum", steps, asking("r", "1Mi"), "1Gi"),
      row("to a whole step", steps, asking("r", "2Gi"), "3Gi"),
      row("a whole step already", steps, asking("r", "5Gi"), "5Gi"),
      row("beyond the capacity", steps, asking("r", "8Gi"), ""),
      row("without steps", bounded, asking("r", "1500Mi"), "1500Mi"),
      row("up to the maximum", bounded, asking("r", "4Gi"), "4Gi"),
      row("not beyond", bounded, asking("r", "5Gi"), ""),
      row("to a value of the list", values, asking("r", "2Gi"), "4Gi"),
      row("to the first of them", values, asking("r", "1Gi"), "1Gi"),
      row("beyond the last", values, asking("r", "5Gi"), ""),
      row("a default of nothing", "default: 0, validValues: [0]", exact("r"), "0"),
      row("more than nothing", "default: 0, validValues: [0]", asking("r", "1"), ""),
      row("in the way the step is written", "default: 1, validRange: {min: 1, step: 1k}",
          asking("r", "1500"), "2001"),
      row("of a thousand", "default: 1k, validRange: {min: 0, step: 1k}", asking("r", "1500"),
          "2k"),
      row("of binary thousands", "default: 1Ki, validRange: {min: 0, step: 1Ki}",
          asking("r", "1500"), "2Ki"),
      row("by an exponent", "default: '1e3', validRange: {min: 0, step: '1e3'}",
          asking("r", "1500"), "2e3"),
      row("of fractions, as whole units", "default: 1, validRange: {min: 1, step: 500m}",
          asking("r", "1200m"), "2"),
      row("steps of nothing at all", "default: 1Gi, validRange: {min: 1Gi, step: 0}",
          asking("r", "2Gi"), ""),
  });
}

TEST(ConsumableCapacity, AnAmountThatCannotBeWorkedOutEndsTheAttempt) {
  const std::string steps = "default: 1Gi, validRange: {min: 1Gi, step: 2Gi}";
  const std::string arithmetic =
      "capacity \"memory\": capacity request cannot be represented in the device's range "
      "arithmetic: ";
  const std::string one = with(shared("d", memory("8Gi", steps)));
  const std::string checking = "error: claim default/c, request r: checking capacity for device ";
  const std::string fits = shared("a", memory("8Gi"));
  check({
      {"a request beyond 64 bits",
       {one},
       {},
       {claim("c", asking("r", "10E"))},
       checking + "drv/pool/d: " + arithmetic + "request 10E exceeds MaxInt64"},
      {"also where all devices are wanted: there with the device's name only",
       {one},
       {},
       {claim("c", all("r", "capacity: {requests: {memory: 10E}}"))},
       checking + "d: " + arithmetic + "request 10E exceeds MaxInt64"},
      {"a step beyond 64 bits",
       {one},
       {},
       {claim("c", asking("r", "9223372036854775807"))},
       checking + "drv/pool/d: " + arithmetic +
           "rounding request 9223372036854775807 up to the next step passes MaxInt64"},
      {"without steps it is just too much",
       {with(shared("d", memory("8Gi", "default: 1Gi, validRange: {min: 1Gi}")))},
       {},
       {claim("c", asking("r", "10E"))},
       "impossible"},
      {"a device before it will do",
       {with(fits + ", " + shared("d", memory("-1")))},
       {},
       {claim("c", asking("r", "1Gi"))},
       "c: r=drv/pool/a(memory=1Gi) @n1"},
      {"a negative request",
       {with(fits)},
       {},
       {claim("c", asking("r", "-1Gi"))},
       checking + "drv/pool/a: capacity \"memory\": capacity value is negative"},
      {"a negative capacity",
       {with(shared("d", memory("-1")))},
       {},
       {claim("c", exact("r"))},
       checking + "drv/pool/d: capacity \"memory\": capacity value is negative"},
      {"whatever else does not fit",
       {with(shared("d", "cores: {value: 1}, " + memory("-1")))},
       {},
       {claim("c", exact("r", 1, "capacity: {requests: {cores: 2}}"))},
       checking + "drv/pool/d: capacity \"memory\": capacity value is negative"},
      {"but not of a device that lacks what is asked for",
       {with(shared("d", memory("-1")))},
       {},
       {claim("c", exact("r", 1, "capacity: {requests: {cores: 2}}"))},
       "impossible"},
  });
}

TEST(ConsumableCapacity, RangesMayHaveFractions) {
  const auto row = [](const char* name, const std::string& policy, const std::string& amount,
                      const std::string& expected) {
    AllocatorCase made{name,
                       {with(shared("d", memory("8", policy)))},
                       {},
                       {claim("c", asking("r", amount))},
                       expected};
    made.features.fractional_ranges = true;
    return made;
  };
  const auto consumed = [](std::string_view amount) {
    return fmt::format("c: r=drv/pool/d(memory={}) @n1", amount);
  };
  const std::string error =
      "error: claim default/c, request r: checking capacity for device drv/pool/d: capacity "
      "\"memory\": capacity request cannot be represented in the device's range arithmetic: ";
  const std::string tenths = "default: 500m, validRange: {min: 500m, step: 100m}";
  check({
      row("to a fraction", tenths, "550m", consumed("600m")),
      row("a step already", tenths, "700m", consumed("700m")),
      row("to a whole number", tenths, "950m", consumed("1")),
      row("to the minimum", tenths, "1m", consumed("500m")),
      row("not beyond the maximum",
          "default: 500m, validRange: {min: 500m, max: 1500m, step: 500m}", "1600m", "impossible"),
      row("whole numbers as well", "default: 1, validRange: {min: 1, step: 2}", "2", consumed("3")),
      row("a request of less than a thousandth", tenths, "600001u",
          error + "request 600001u is not a representable milli value"),
      row("which is fine for a range of such steps", "default: 1, validRange: {min: 1, step: 100u}",
          "2", consumed("2")),
      row("a step beyond 64 bits of thousandths",
          "default: 1, validRange: {min: 1, step: 9223372036854775}", "9223372036854775",
          error + "rounding request 9223372036854775 up to the next step passes the milli-value "
                  "range"),
  });
}

// A pool with one set of counters and devices d1, d2, … that take so much of it.
std::vector<std::string> partitioned(std::string_view total,
                                     std::initializer_list<std::string_view> amounts,
                                     std::string_view more = "") {
  std::string devices;
  int i = 0;
  for (const std::string_view amount : amounts) {
    devices += fmt::format(
        "{}{{name: d{}, consumesCounters: [{{counterSet: set, counters: {{memory: {{value: "
        "{}}}}}}}]{}{}}}",
        i == 0 ? "" : ", ", i + 1, amount, more.empty() ? "" : ", ", more);
    ++i;
  }
  return {counters("a", on("n1"),
                   fmt::format("{{name: set, counters: {{memory: {{value: {}}}}}}}", total),
                   {.slices = 2}),
          slice("b", on("n1"), devices, {.slices = 2})};
}

TEST(SharedCounters, PartitionsTakeWhatIsLeft) {
  AllocatorFeatures off;
  off.partitionable_devices = false;
  const std::string plain = slice("z", on("n1"), "{name: e}", {.pool = "z"});
  std::vector<std::string> with_plain = partitioned("8", {"4"});
  with_plain.push_back(plain);
  check({
      {"enough",
       partitioned("8", {"4", "4"}),
       {},
       {claim("c", exact("r", 2))},
       "c: r=drv/pool/d1 r=drv/pool/d2 @n1"},
      {"not enough", partitioned("8", {"4", "6"}), {}, {claim("c", exact("r", 2))}, "impossible"},
      {"the combination that fits",
       partitioned("8", {"6", "4", "4"}),
       {},
       {claim("c", exact("r", 2))},
       "c: r=drv/pool/d2 r=drv/pool/d3 @n1"},
      {"beside what others have",
       partitioned("8", {"4", "6", "2"}),
       {"drv/pool/d1"},
       {claim("c", exact("r"))},
       "c: r=drv/pool/d3 @n1"},
      {"overdrawn: nothing",
       partitioned("8", {"6", "4", "0"}),
       {"drv/pool/d1", "drv/pool/d2"},
       {claim("c", exact("r"))},
       "impossible"},
      {"all of them",
       partitioned("8", {"4", "4"}),
       {},
       {claim("c", all("r"))},
       "c: r=drv/pool/d1 r=drv/pool/d2 @n1"},
      {"all of them, which is too much",
       partitioned("8", {"4", "6"}),
       {},
       {claim("c", all("r"))},
       "impossible"},
      {"the smaller alternative",
       partitioned("8", {"6", "4"}),
       {"drv/pool/d2"},
       {claim("c", first_available("f", sub("a", 2) + ", " +
                                            sub("b", 1, selector("device.driver == \"x\"")) + ", " +
                                            sub("c", 1)))},
       "impossible"},
      {"devices for other nodes draw on the same counters",
       {counters("a", on("n1"), "{name: set, counters: {memory: {value: 8}}}", {.slices = 3}),
        slice("b", on("n1"),
              "{name: d1, consumesCounters: [{counterSet: set, counters: {memory: {value: 6}}}]}",
              {.slices = 3}),
        slice("c", on("n2"),
              "{name: d2, consumesCounters: [{counterSet: set, counters: {memory: {value: 6}}}]}",
              {.slices = 3})},
       {"drv/pool/d2"},
       {claim("c", exact("r"))},
       "impossible"},
      {"pools do not share them",
       {counters("a", on("n1"), "{name: set, counters: {memory: {value: 4}}}",
                 {.pool = "p1", .slices = 2}),
        slice("b", on("n1"),
              "{name: d, consumesCounters: [{counterSet: set, counters: {memory: {value: 4}}}]}",
              {.pool = "p1", .slices = 2}),
        counters("c", on("n1"), "{name: set, counters: {memory: {value: 4}}}",
                 {.pool = "p2", .slices = 2}),
        slice("d", on("n1"),
              "{name: d, consumesCounters: [{counterSet: set, counters: {memory: {value: 4}}}]}",
              {.pool = "p2", .slices = 2})},
       {},
       {claim("c", exact("r", 2))},
       "c: r=drv/p1/d r=drv/p2/d @n1"},
      {"several counters, several sets",
       {counters("a", on("n1"),
                 "{name: s1, counters: {memory: {value: 8}, cores: {value: 2}}}, "
                 "{name: s2, counters: {links: {value: 1}}}",
                 {.slices = 2}),
        slice("b", on("n1"),
              "{name: d1, consumesCounters: [{counterSet: s1, counters: {memory: {value: 2}, "
              "cores: {value: 1}}}, {counterSet: s2, counters: {links: {value: 1}}}]}, "
              "{name: d2, consumesCounters: [{counterSet: s2, counters: {links: {value: 1}}}]}, "
              "{name: d3, consumesCounters: [{counterSet: s1, counters: {cores: {value: 1}}}]}",
              {.slices = 2})},
       {},
       {claim("c", exact("r", 2))},
       "c: r=drv/pool/d1 r=drv/pool/d3 @n1"},
      {"switched off, slices of counters are ignored and their pools incomplete",
       partitioned("8", {"4"}),
       {},
       {claim("c", exact("r"))},
       "impossible",
       off},
      {"other pools are not", with_plain, {}, {claim("c", exact("r"))}, "c: r=drv/z/e @n1", off},
      {"nor are devices that consume none",
       {slice("s", on("n1"), "{name: d1, consumesCounters: [{counterSet: x}]}, {name: d2}")},
       {},
       {claim("c", exact("r"))},
       "c: r=drv/pool/d2 @n1",
       off},
  });
}

TEST(SharedCounters, AreGivenBackWhenADeviceIsRefused) {
  std::vector<std::string> tainted = partitioned("8", {"8", "8"});
  tainted[1] = slice(
      "b", on("n1"),
      "{name: d1, taints: [{key: k, effect: NoSchedule}], consumesCounters: [{counterSet: set, "
      "counters: {memory: {value: 8}}}]}, {name: d2, consumesCounters: [{counterSet: set, "
      "counters: "
      "{memory: {value: 8}}}]}",
      {.slices = 2});
  std::vector<std::string> attributed = tainted;
  attributed[1] = slice(
      "b", on("n1"),
      "{name: d1, consumesCounters: [{counterSet: set, counters: {memory: {value: 8}}}]}, {name: "
      "d2, attributes: {a: {int: 1}}, consumesCounters: [{counterSet: set, counters: {memory: "
      "{value: 8}}}]}",
      {.slices = 2});
  check({
      {"for a taint", tainted, {}, {claim("c", exact("r"))}, "c: r=drv/pool/d2 @n1"},
      {"for a constraint",
       attributed,
       {},
       {claim("c", exact("r"), "constraints: [{matchAttribute: drv/a}]")},
       "c: r=drv/pool/d2 @n1"},
  });
}

TEST(SharedCounters, ADeviceThatIsSharedTakesThemOnce) {
  const std::string sharing = "allowMultipleAllocations: true, capacity: {cores: {value: 4}}";
  const std::string wish = "capacity: {requests: {cores: 1}}";
  check({
      {"in one attempt",
       partitioned("8", {"8"}, sharing),
       {},
       {claim("c", exact("r", 1, wish) + ", " + exact("q", 1, wish))},
       "c: r=drv/pool/d1(cores=1) q=drv/pool/d1(cores=1) @n1"},
      {"beside another share",
       partitioned("8", {"8"}, sharing),
       {"drv/pool/d1 cores=1"},
       {claim("c", exact("r", 1, wish))},
       "c: r=drv/pool/d1(cores=1) @n1"},
      {"also beside one that consumes nothing",
       partitioned("8", {"8"}, sharing),
       {"drv/pool/d1 -"},
       {claim("c", exact("r", 1, wish))},
       "c: r=drv/pool/d1(cores=1) @n1"},
      {"another device finds them taken",
       partitioned("8", {"8", "8"}, sharing),
       {"drv/pool/d1 cores=4"},
       {claim("c", exact("r", 1, wish))},
       "impossible"},
  });
}

TEST(AllocatedDevices, CountSharesAndOwners) {
  AllocatorFixture fixture;
  const auto id = [&](std::string_view device) {
    return DeviceId{fixture.world.symbol("drv"), fixture.world.symbol("pool"),
                    fixture.world.symbol(device)};
  };
  AllocationResult owned;
  owned.results.emplace_back();
  owned.results[0].driver = id("d").driver;
  owned.results[0].pool = id("d").pool;
  owned.results[0].device = id("d").device;
  AllocationResult looked_at = owned;
  looked_at.results[0].admin_access = true;
  AllocationResult share = owned;
  share.results[0].share_id = "1";
  share.results[0].consumed_capacity.set(fixture.world.symbol("memory"), Quantity::of(3));

  AllocatedDevices devices(/*consumable_capacity=*/true);
  devices.add(looked_at);
  EXPECT_FALSE(devices.any(id("d")));
  EXPECT_EQ(devices.revision(), 0u);
  devices.add(owned);
  EXPECT_TRUE(devices.exclusive(id("d")));
  EXPECT_FALSE(devices.exclusive(id("e")));
  devices.remove(owned);
  EXPECT_FALSE(devices.any(id("d")));
  EXPECT_EQ(devices.revision(), 2u);

  devices.add(share);
  devices.add(share);
  EXPECT_FALSE(devices.exclusive(id("d")));
  EXPECT_TRUE(devices.any(id("d")));
  EXPECT_EQ(devices.consumed(id("d"))->find(fixture.world.symbol("memory"))->value(), 6);
  devices.remove(share);
  EXPECT_EQ(devices.consumed(id("d"))->find(fixture.world.symbol("memory"))->value(), 3);
  const AllocatedDevices copy = devices;
  devices.remove(share);
  EXPECT_EQ(devices.consumed(id("d")), nullptr);
  EXPECT_EQ(devices.size(), 0u);
  EXPECT_TRUE(copy.any(id("d")));

  AllocatedDevices without(/*consumable_capacity=*/false);
  without.add(share);
  EXPECT_TRUE(without.exclusive(id("d")));
}

}  // namespace
}  // namespace berth::plugins
