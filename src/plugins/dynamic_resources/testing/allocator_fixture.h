// A cluster of devices for tests of the allocator: slices, classes and claims as YAML, and what
// claims would get on a node as a line of text each.
//
//   AllocatorFixture fixture;
//   fixture.add(slice("s", on("n1"), "{name: d1}, {name: d2}"));
//   EXPECT_EQ(fixture.allocate("n1", {claim("c", exact("r", 2))}),
//             "c: r=drv/pool/d1 r=drv/pool/d2 @n1");
//
// Nodes n1 and n2 (in the zones a and b) and the class "any", which selects every device, are
// always there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/testing/builders.h"
#include "berth/views.h"
#include "plugins/dynamic_resources/allocator_pools.h"

namespace berth::testing {

// ---- YAML of the usual parts
struct PoolOf {
  std::string driver = "drv";
  std::string pool = "pool";
  int generation = 1;
  int slices = 1;
};
std::string on(std::string_view node);       // "nodeName: …"
std::string in_zone(std::string_view zone);  // "nodeSelector: …"
std::string slice(std::string_view name, std::string_view where, std::string_view devices,
                  const PoolOf& pool = {});
// Counter sets, e.g. "{name: set, counters: {memory: {value: 8}}}".
std::string counters(std::string_view name, std::string_view where, std::string_view sets,
                     const PoolOf& pool = {});
std::string device_class(std::string_view name, std::string_view selector,
                         std::string_view more = "");
// A request for so many devices of the class "any"; `more` is added to what it says.
std::string exact(std::string_view name, int count = 1, std::string_view more = "");
std::string all(std::string_view name, std::string_view more = "");
// The same as subrequests.
std::string sub(std::string_view name, int count = 1, std::string_view more = "");
std::string sub_all(std::string_view name, std::string_view more = "");
std::string first_available(std::string_view name, std::string_view subrequests);
// `more` is added to spec.devices.
std::string claim(std::string_view name, std::string_view requests, std::string_view more = "");

class AllocatorFixture {
 public:
  explicit AllocatorFixture(plugins::AllocatorFeatures features = {});

  void add(std::string_view yaml);
  void remove_slice(std::string_view name);
  // Devices that somebody has: "drv/pool/d1", or a share "drv/pool/d1 memory=2Gi".
  void take(std::string_view device);

  // What the claims get, or why nothing: "impossible", "node: …", "error: …", "timed out". Every
  // search is done twice: in turns as short as can be (or as in `budget`), and in one. A difference
  // is told instead of the answer.
  std::string allocate(std::string_view node, const std::vector<std::string>& claims);
  Ref<const ResourceClaim> claim_from(std::string_view yaml);
  const Node& node(std::string_view name) const;
  // The whole results of the last allocation that was possible, as JSON.
  std::string json(std::size_t claim = 0) const;

  World world;
  Cluster cluster{world.interner.symbols()};
  plugins::AllocatorFeatures features;
  plugins::DevicePools pools;
  plugins::AllocatedDevices allocated;
  plugins::SearchBudget budget;
  std::uint64_t steps = 0;  // of the last search
  int turns = 0;            // that it took

 private:
  std::string allocate(const Node& on_node,
                       const std::vector<Ref<const ResourceClaim>>& to_allocate,
                       const plugins::SearchBudget& with);
  std::string describe(const AllocationResult& result) const;

  SymbolHold hold_{world.interner.symbols()};
  std::vector<AllocationResult> results_;
};

}  // namespace berth::testing
