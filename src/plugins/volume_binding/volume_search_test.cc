// VolumeSearch finds by index what asking every volume would find.

#include "plugins/volume_binding/volume_search.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "berth/random.h"
#include "plugins/volume_binding/testing/volume_fixture.h"

namespace berth::plugins {
namespace {

struct VolumeSearchTest : ::testing::Test, VolumeFixture {
  Random random{7};

  std::uint64_t up_to(std::uint64_t end) { return random.below(end); }
  std::string key() { return "k" + std::to_string(up_to(3)); }
  std::string value() { return "v" + std::to_string(up_to(3)); }

  SelectorRequirement requirement(VolumeBuilder& volume) {
    using enum SelectorOperator;
    constexpr SelectorOperator kOperators[] = {kIn, kIn, kIn, kNotIn, kExists, kDoesNotExist};
    SelectorRequirement one{volume.symbol(key()), kOperators[up_to(6)], {}, {}};
    if (one.op == kIn || one.op == kNotIn)
      for (std::uint64_t i = 0; i <= up_to(2); ++i) one.values.push_back(volume.symbol(value()));
    return one;
  }
  VolumeBuilder random_volume(const std::string& name) {
    VolumeBuilder made = volume(name);
    made.of("local").size(std::to_string(1 + up_to(4)) + "Gi");
    if (up_to(6) == 0) made.claimed_by("default", "c" + std::to_string(up_to(4)));
    const std::uint64_t terms = up_to(4);  // three and more: none at all
    for (std::uint64_t i = 0; i < terms && terms < 3; ++i) {
      NodeSelectorTerm term;
      for (std::uint64_t j = up_to(3); j > 0; --j)
        term.match_expressions.push_back(requirement(made));
      made.term(std::move(term));
    }
    return made;
  }
  // One volume after the other, as the rules are written.
  Ref<const PersistentVolume> best(const PersistentVolumeClaim& claim, const Node& node,
                                   const std::vector<StaticBinding>& taken) {
    Ref<const PersistentVolume> smallest;
    for (const Ref<const Object>& object : cluster.list(ObjectKind::kPersistentVolume)) {
      const Ref<const PersistentVolume> volume(static_cast<const PersistentVolume*>(object.get()));
      if (std::ranges::find(taken, volume, &StaticBinding::volume) != taken.end()) continue;
      const bool meant = is_bound_to(*volume, claim);
      if (volume->claim_ref && !meant) continue;
      if (volume->capacity < *claim.request) continue;
      const bool reachable = VolumeAffinity(volume->node_affinity, cluster.symbols())
                                 .matches(node.labels, cluster.symbols());
      if (meant) return reachable ? volume : nullptr;
      if (reachable && (!smallest || volume->capacity < smallest->capacity)) smallest = volume;
    }
    return smallest;
  }
};

TEST_F(VolumeSearchTest, TheIndexChangesNoAnswer) {
  put(storage_class("local").static_only());
  AssumedVolumes volumes(
      cluster, ObjectKind::kPersistentVolume, "persistentvolumes",
      [](const PersistentVolume& volume) { return volume.symbols.text(volume.storage_class); });
  CSINodes csi_nodes(cluster);
  StorageCapacities capacities(cluster);
  std::size_t bound = 0, unbound = 0;
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 12; ++i) put(random_volume("pv-" + std::to_string(i)));
    PodClaims claims;
    for (int i = 0; i < 3; ++i) {
      claims.delayed.push_back(
          claim("c" + std::to_string(i)).of("local").asks(std::to_string(1 + up_to(4)) + "Gi"));
    }
    const VolumeSearch search(claims, cluster, volumes, csi_nodes, capacities);
    std::ranges::sort(claims.delayed, [](const auto& a, const auto& b) {
      return std::pair(*a->request, a->name) < std::pair(*b->request, b->name);
    });
    for (int n = 0; n < 8; ++n) {
      NodeBuilder builder = world.node("n");
      for (const char* name : {"k0", "k1", "k2"})
        if (up_to(3) != 0) builder.label(name, value());
      const Ref<const Node> node = builder;
      std::vector<StaticBinding> expected;
      for (const Ref<const PersistentVolumeClaim>& one : claims.delayed)
        if (Ref<const PersistentVolume> volume = best(*one, *node, expected))
          expected.push_back({one, volume});
      NodeVolumes found;
      const VolumeSearch::Answer answer = search.find(*node, found);
      EXPECT_EQ(answer.error, "");
      EXPECT_EQ(answer.conflicts == 0, expected.size() == claims.delayed.size());
      ASSERT_EQ(found.bindings.size(), expected.size()) << "round " << round;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(found.bindings[i].claim, expected[i].claim);
        EXPECT_EQ(found.bindings[i].volume->name, expected[i].volume->name);
      }
      (expected.size() == claims.delayed.size() ? bound : unbound) += 1;
    }
  }
  EXPECT_GT(bound, 20U);
  EXPECT_GT(unbound, 20U);
}

}  // namespace
}  // namespace berth::plugins
