#include "page/node_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/builders.h"

namespace berth::page {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class NodeDevicesTest : public ::testing::Test {
 protected:
  SymbolHold hold() { return world.interner.hold(); }

  // A slice of a pool of the driver "gpu", with devices of one node.
  Ref<const Object> slice(const std::string& name, const std::string& node,
                          const std::vector<std::string>& names) {
    auto made = make_ref<ResourceSlice>(hold());
    made->name = name;
    made->driver = made->symbols.intern("gpu");
    made->pool.name = made->symbols.intern(node);
    if (!node.empty()) made->nodes.node_name = made->symbols.intern(node);
    for (const std::string& device : names)
      made->devices.emplace_back().name = made->symbols.intern(device);
    return Ref<const ResourceSlice>(std::move(made));
  }
  Ref<const Object> claim(const std::string& name, const std::string& node,
                          const std::vector<std::string>& names, bool admin = false) {
    auto made = make_ref<ResourceClaim>(hold());
    made->name = name;
    made->namespace_name = made->symbols.intern("default");
    made->status.allocation.emplace();
    for (const std::string& device : names) {
      auto& result = made->status.allocation->results.emplace_back();
      result.driver = made->symbols.intern("gpu");
      result.pool = made->symbols.intern(node);
      result.device = made->symbols.intern(device);
      result.admin_access = admin;
    }
    return Ref<const ResourceClaim>(std::move(made));
  }
  std::set<std::string> show(const Ref<const Object>& object,
                             DeltaType type = DeltaType::kUpdated) {
    return devices.changed({type, object});
  }
  std::string on(const std::string& node) const {
    const DevicesByDriver* found = devices.on(node);
    if (!found) return "none";
    std::string text;
    for (const auto& [driver, counts] : *found)
      text += driver + " " + std::to_string(counts.allocated) + " of " + std::to_string(counts.all);
    return text;
  }

  berth::testing::World world;
  NodeDevices devices;
};

TEST_F(NodeDevicesTest, CountsWhatSlicesHaveAndClaimsTake) {
  EXPECT_THAT(show(slice("s1", "n1", {"a", "b", "c"})), ElementsAre("n1"));
  EXPECT_EQ(on("n1"), "gpu 0 of 3");
  EXPECT_THAT(show(claim("c1", "n1", {"a", "b"})), ElementsAre("n1"));
  EXPECT_EQ(on("n1"), "gpu 2 of 3");
  EXPECT_THAT(show(claim("c1", "n1", {"b"})), ElementsAre("n1"));
  EXPECT_EQ(on("n1"), "gpu 1 of 3");
  EXPECT_THAT(show(claim("c1", "n1", {"b"})), IsEmpty());
  show(claim("c1", "n1", {"b"}), DeltaType::kDeleted);
  EXPECT_EQ(on("n1"), "gpu 0 of 3");
  EXPECT_EQ(on("n2"), "none");
}

TEST_F(NodeDevicesTest, ADeviceThatIsSharedOrLookedAtCountsOnce) {
  show(slice("s1", "n1", {"a", "b"}));
  show(claim("c1", "n1", {"a"}));
  EXPECT_THAT(show(claim("c2", "n1", {"a"})), IsEmpty());
  show(claim("admin", "n1", {"b"}, true));
  EXPECT_EQ(on("n1"), "gpu 1 of 2");
  show(claim("c1", "n1", {"a"}), DeltaType::kDeleted);
  EXPECT_EQ(on("n1"), "gpu 1 of 2");
}

TEST_F(NodeDevicesTest, TheOrderInWhichObjectsComeDoesNotMatter) {
  EXPECT_THAT(show(claim("c1", "n1", {"a"})), IsEmpty());
  show(slice("s1", "n1", {"a", "b"}));
  EXPECT_EQ(on("n1"), "gpu 1 of 2");
  show(slice("s1", "n1", {"a"}));
  EXPECT_EQ(on("n1"), "gpu 1 of 1");
  // The pool is written anew: the new slice comes before the old one goes.
  show(slice("s2", "n1", {"a", "b"}));
  show(slice("s1", "n1", {"a"}), DeltaType::kDeleted);
  EXPECT_EQ(on("n1"), "gpu 1 of 2");
  show(slice("s2", "n1", {"a", "b"}), DeltaType::kDeleted);
  EXPECT_EQ(on("n1"), "none");
  EXPECT_THAT(devices.all(), IsEmpty());
}

TEST_F(NodeDevicesTest, DevicesOfNoSingleNodeAreNotCounted) {
  EXPECT_THAT(show(slice("s1", "", {"a"})), IsEmpty());
  EXPECT_THAT(show(claim("c1", "", {"a"})), IsEmpty());
  EXPECT_THAT(devices.all(), IsEmpty());
}

}  // namespace
}  // namespace berth::page
