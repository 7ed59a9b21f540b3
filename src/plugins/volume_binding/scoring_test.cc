// VolumeBinding: scores by free storage (volumes-dra-gang.md §3.5).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/volume_binding/testing/volume_fixture.h"

namespace berth::plugins {
namespace {

struct VolumeBindingScore : ::testing::Test, VolumeFixture {
  VolumeBindingScore() { add_zoned_nodes({"a", "b"}); }

  // PreFilter and Filter before, as in a cycle.
  Scores score(const Plugin& by, Ref<const Pod> pod) {
    const auto& binding = dynamic_cast<const VolumeBinding&>(by);
    Cycle cycle(std::move(pod), cluster);
    const Code code = binding.pre_filter(cycle).outcome.code;
    EXPECT_TRUE(code == Code::kSuccess || code == Code::kSkip);
    EXPECT_TRUE(binding.pre_score(cycle, cluster.nodes().nodes()).ok());
    std::vector<Score> by_row(cluster.nodes().rows(), -1);
    EXPECT_TRUE(binding.score(cycle, cluster.nodes().nodes(), by_row).ok());
    Scores scores;
    cluster.nodes().nodes().for_each(
        [&](NodeRow row) { scores[std::string(cluster.nodes().name_text(row))] = by_row[row]; });
    return scores;
  }
};

TEST_F(VolumeBindingScore, WithoutTheGateNobodyIsScored) {
  ASSERT_TRUE(gates.set("StorageCapacityScoring=false").has_value());
  Cycle cycle(pod_with({}), cluster);
  EXPECT_EQ(plugin().pre_score(cycle, cluster.nodes().nodes()).code, Code::kSkip);
}

TEST_F(VolumeBindingScore, APodWithoutClaimsScoresNothing) {
  EXPECT_EQ(score(plugin(), pod_with({})), (Scores{{"a", 0}, {"b", 0}}));
  put(volume("pv"));
  put(claim("bound").bound_to("pv"));
  EXPECT_EQ(score(plugin(), pod_with({"bound"})), (Scores{{"a", 0}, {"b", 0}}));
}

TEST_F(VolumeBindingScore, TheMoreIsLeftTheBetter) {
  put(storage_class("csi"));
  put(csi_driver(world, "csi.example.com", true));
  put(capacity("in-a", "csi").from("zone", "a").capacity("100Gi"));
  put(capacity("in-b", "csi").from("zone", "b").capacity("30Gi"));
  put(claim("c").of("csi").asks("10Gi"));
  put(claim("d").of("csi").asks("15Gi"));
  // 10 of 100 and 10 of 30 are 10 and 33 percent.
  EXPECT_EQ(score(plugin(), pod_with({"c"})), (Scores{{"a", 90}, {"b", 67}}));
  // Two of a class come out of the same storage.
  EXPECT_EQ(score(plugin(), pod_with({"c", "d"})), (Scores{{"a", 75}, {"b", 17}}));
}

TEST_F(VolumeBindingScore, AShapeTurnsItAround) {
  config::VolumeBindingArgs args;
  args.shape = {{0, 0}, {100, 10}};
  put(storage_class("local").static_only());
  put(volume("large").of("local").size("100Gi").only_from({{"zone", "a"}}));
  put(volume("small").of("local").size("20Gi").only_from({{"zone", "b"}}));
  put(claim("c").of("local").asks("10Gi"));
  const auto by = make<VolumeBinding>(args);
  EXPECT_EQ(score(*by, pod_with({"c"})), (Scores{{"a", 10}, {"b", 50}}));
}

TEST_F(VolumeBindingScore, ClassesCountAlike) {
  put(storage_class("x").static_only());
  put(storage_class("y").static_only());
  put(volume("x").of("x").size("100Gi"));
  put(volume("y").of("y").size("10Gi"));
  put(claim("x").of("x").asks("10Gi"));
  put(claim("y").of("y").asks("5Gi"));
  // 90 and 50, and half of their sum.
  EXPECT_EQ(score(plugin(), pod_with({"x", "y"})), (Scores{{"a", 70}, {"b", 70}}));
}

TEST_F(VolumeBindingScore, WhereSomethingIsBoundWhatIsMadeDoesNotCount) {
  put(storage_class("csi"));
  put(csi_driver(world, "csi.example.com", true));
  put(capacity("all", "csi").from_everywhere().capacity("1000Gi"));
  put(volume("pv").of("csi").size("20Gi").only_from({{"zone", "b"}}));
  put(claim("c").of("csi").asks("10Gi"));
  put(claim("d").of("csi").asks("10Gi"));
  EXPECT_EQ(score(plugin(), pod_with({"c", "d"})), (Scores{{"a", 98}, {"b", 50}}));
}

TEST_F(VolumeBindingScore, NoKnownCapacityIsFull) {
  put(storage_class("csi"));
  put(csi_driver(world, "csi.example.com", true));
  put(capacity("in-a", "csi").from("zone", "a").capacity("5Gi").maximum("100Gi"));
  put(capacity("in-b", "csi").from("zone", "b").maximum("100Gi"));
  put(claim("c").of("csi").asks("10Gi"));
  EXPECT_EQ(score(plugin(), pod_with({"c"})), (Scores{{"a", 0}, {"b", 0}}));
}

TEST_F(VolumeBindingScore, ProvisioningWithoutFiguresScoresNothing) {
  put(storage_class("csi"));
  put(claim("c").of("csi"));
  EXPECT_EQ(score(plugin(), pod_with({"c"})), (Scores{{"a", 0}, {"b", 0}}));
}

}  // namespace
}  // namespace berth::plugins
