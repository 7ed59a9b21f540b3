#include "cluster/image_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/views.h"

namespace berth {
namespace {

struct Images : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};

  void set(const std::string& name, std::int64_t size, const std::string& image = "x:1") {
    cluster.update_node(world.node(name).image(image, size));
    cluster.begin_cycle();
  }
  NodeRow row(const std::string& name) {
    return cluster.nodes().find(cluster.symbols().find(name));
  }
  // (size, nodes) of every image of the node.
  std::vector<std::pair<std::int64_t, std::int32_t>> of(const std::string& name) {
    std::vector<std::pair<std::int64_t, std::int32_t>> images;
    if (row(name) == kNoRow) return images;
    for (const ImageState& image : cluster.nodes().images(row(name)))
      images.emplace_back(image.size_bytes, image.node_count);
    return images;
  }
};

TEST_F(Images, ANodeThatStoodStillKeepsItsStaleSpread) {
  set("a", 100);
  EXPECT_THAT(of("a"), ElementsAre(Pair(100, 1)));
  set("b", 999);
  EXPECT_THAT(of("b"), ElementsAre(Pair(100, 2))) << "the first reporter's size stays";
  EXPECT_THAT(of("a"), ElementsAre(Pair(100, 1)));
  set("a", 555);
  EXPECT_THAT(of("a"), ElementsAre(Pair(100, 2)));
  ASSERT_TRUE(cluster.remove_node(cluster.symbols().find("b")));
  cluster.begin_cycle();
  EXPECT_THAT(of("a"), ElementsAre(Pair(100, 2)));
  set("a", 777);
  EXPECT_THAT(of("a"), ElementsAre(Pair(777, 1))) << "the only holder renews the size";
}

TEST_F(Images, AnyChangeOfTheRowRenewsTheSpread) {
  set("a", 100);
  set("b", 100);
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("a")));
  EXPECT_THAT(of("a"), ElementsAre(Pair(100, 1))) << "not before the next cycle";
  cluster.begin_cycle();
  EXPECT_THAT(of("a"), ElementsAre(Pair(100, 2)));
}

TEST_F(Images, AnImageIsSaidToBeNowhereOnlyWhenNoRowShowsIt) {
  set("a", 100, "x:1");
  set("b", 100, "y:1");
  const Symbol x = cluster.symbols().find("x:1"), y = cluster.symbols().find("y:1");
  // Keeps the names known.
  const Ref<const Node> held = world.node("elsewhere").image("x:1", 1).image("z:1", 1);
  EXPECT_TRUE(cluster.nodes().may_have_image(x));
  EXPECT_TRUE(cluster.nodes().may_have_image(y));
  EXPECT_FALSE(cluster.nodes().may_have_image(cluster.symbols().find("z:1")));
  cluster.update_node(world.node("a"));
  EXPECT_TRUE(cluster.nodes().may_have_image(x)) << "until the next cycle the row shows it";
  cluster.begin_cycle();
  EXPECT_FALSE(cluster.nodes().may_have_image(x));
  ASSERT_TRUE(cluster.remove_node(cluster.symbols().find("b")));
  EXPECT_FALSE(cluster.nodes().may_have_image(y));
}

TEST_F(Images, ANewSpreadIsLogged) {
  set("a", 100);
  set("b", 100);
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("a")));
  const std::uint64_t before = cluster.nodes().log_end();
  cluster.begin_cycle();
  const auto changes = cluster.nodes().changes_since(before);
  ASSERT_EQ(changes->size(), 1U);
  EXPECT_EQ(changes->front().row, row("a"));
  EXPECT_EQ(changes->front().changes, static_cast<std::uint8_t>(RowChange::kOther));
  ASSERT_TRUE(cluster.add_pod(world.pod("q").on("a")));
  const std::uint64_t after = cluster.nodes().log_end();
  cluster.begin_cycle();
  EXPECT_EQ(cluster.nodes().log_end(), after) << "the same spread again is no change";
}

TEST_F(Images, EveryNameCountsAndANameTwiceCountsOnce) {
  cluster.add_node(world.node("a").image("x:1", 100).image("x@sha", 100).image("x:1", 200));
  cluster.add_node(world.node("b").image("x@sha", 50));
  cluster.begin_cycle();
  EXPECT_THAT(of("a"), UnorderedElementsAre(Pair(100, 1), Pair(100, 2)));
}

TEST_F(Images, AnImageThatEverybodyDroppedIsForgotten) {
  set("a", 100, "x:1");
  set("a", 200, "y:1");
  set("b", 300, "x:1");
  EXPECT_THAT(of("b"), ElementsAre(Pair(300, 1)));
  EXPECT_THAT(of("a"), ElementsAre(Pair(200, 1)));
}

TEST_F(Images, AGhostHasNone) {
  set("a", 100);
  ASSERT_TRUE(cluster.add_pod(world.pod("p").on("a")));
  ASSERT_TRUE(cluster.remove_node(cluster.symbols().find("a")));
  EXPECT_THAT(of("a"), IsEmpty());
  cluster.begin_cycle();
  EXPECT_THAT(of("a"), IsEmpty());
  set("b", 300);
  EXPECT_THAT(of("b"), ElementsAre(Pair(300, 1)));
  cluster.add_node(world.node("a").image("x:1", 100));
  cluster.begin_cycle();
  EXPECT_THAT(of("a"), ElementsAre(Pair(300, 2)));
}

TEST_F(Images, NamesStayReadableUntilTheNextCycle) {
  set("a", 100, "only-here:1");
  cluster.update_node(world.node("a"));
  const auto images = cluster.nodes().images(row("a"));
  ASSERT_EQ(images.size(), 1U);
  EXPECT_EQ(cluster.symbols().text(images[0].name), "only-here:1");
  cluster.begin_cycle();
  EXPECT_THAT(of("a"), IsEmpty());
}

}  // namespace
}  // namespace berth
