// What all plugins have against nodes, in random clusters: whatever a plugin rejects, its obstacles
// are about each sentence of the verdict and about nothing else (PluginFixture checks it).
#include "plugins/obstacles.h"

#include <gtest/gtest.h>

#include <array>

#include "api/testing/storage_builders.h"
#include "base/testing/names.h"
#include "berth/random.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/testing/plugin_fixture.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"

namespace berth::plugins {
namespace {

constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";
constexpr std::array kApps = {"web", "db", "cache"};
constexpr std::array kZones = {"a", "b", "c"};
constexpr std::array kDisks = {"ssd", "hdd"};

// A cluster of eight nodes with pods and volumes, and pods that ask for something of everything.
class RandomCluster {
 public:
  explicit RandomCluster(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < kNodes; ++i) add_node("n" + std::to_string(i));
    for (int i = 0; i < kClaims; ++i) add_claim("c" + std::to_string(i));
    for (int i = 0; i < 2 * kNodes; ++i) {
      testing::PodBuilder pod = asking("there-" + std::to_string(i));
      if (chance(0.1)) testing::with_claim(pod, any_claim());
      fixture.add_pod(pod.on(any_node()));
    }
  }

  // A pod that looks for a node.
  Ref<const Pod> wanting() {
    testing::PodBuilder pod = asking("p");
    PodSpec& spec = pod.spec();
    if (chance(0.3)) pod.node_selector("disk", one_of(kDisks));
    if (chance(0.4)) require(pod);
    if (chance(0.4)) pod.tolerates("team", "NoSchedule", "red");
    if (chance(0.2)) pod.tolerates("node.kubernetes.io/unschedulable");
    if (chance(0.1)) pod.on(any_node());
    for (int i = 0; i < 2; ++i)
      if (chance(0.4)) spread(pod);
    for (int i = 0; i < 2; ++i)
      if (chance(0.2)) testing::with_claim(pod, any_claim());
    if (chance(0.2)) {
      Volume& disk = spec.volumes.emplace_back();
      disk.source = VolumeSource::kGcePersistentDisk;
      disk.source_name = pod.symbol("disk");
    }
    return pod;
  }

  PluginFixture fixture;

 private:
  static constexpr int kNodes = 8;
  static constexpr int kClaims = 6;

  bool chance(double probability) { return random_.chance(probability); }
  int below(int n) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(n))); }
  template <std::size_t N>
  const char* one_of(const std::array<const char*, N>& all) {
    return all[random_.below(N)];
  }
  std::string any_node() { return "n" + std::to_string(below(kNodes)); }
  std::string any_claim() { return "c" + std::to_string(below(kClaims + 1)); }  // one is missing

  void add_node(const std::string& name) {
    testing::NodeBuilder node = world.node(name);
    node.cpu(std::to_string(1 + below(4))).allocatable({{"pods", std::to_string(2 + below(4))}});
    if (chance(0.8)) node.label(kZoneLabel, one_of(kZones));
    if (chance(0.7)) node.label("disk", one_of(kDisks));
    if (chance(0.3)) node.taint("team", "NoSchedule", "red");
    if (chance(0.2)) node.taint("slow", "PreferNoSchedule");
    if (chance(0.2)) node.cordoned();
    fixture.add_node(node);
  }

  void add_claim(const std::string& name) {
    testing::ClaimBuilder claim(world, name);
    testing::VolumeBuilder volume(world, "pv-" + name);
    if (chance(0.4)) volume.only_from({{kZoneLabel, one_of(kZones)}});
    if (chance(0.4)) volume.label(kZoneLabel, one_of(kZones));
    if (chance(0.2)) claim.modes({"ReadWriteOncePod"});
    if (chance(0.8)) claim.bound_to("pv-" + name);
    fixture.cluster.put(claim.build());
    if (chance(0.9)) fixture.cluster.put(volume.build());
  }

  // A pod with labels, requests and affinity to other pods.
  testing::PodBuilder asking(const std::string& name) {
    testing::PodBuilder pod = world.pod(name);
    pod.label("app", one_of(kApps)).cpu(std::to_string(100 * (1 + below(15))) + "m");
    if (chance(0.2)) pod.request("example.com/x", "1");
    if (chance(0.3)) pod.host_port(8080 + below(2));
    Affinity affinity;
    if (chance(0.3)) affinity.pod.emplace().required.push_back(term(pod));
    if (chance(0.3)) affinity.pod_anti.emplace().required.push_back(term(pod));
    if (affinity.pod || affinity.pod_anti)
      pod.spec().affinity = std::make_shared<const Affinity>(affinity);
    if (chance(0.1)) {
      Volume& disk = pod.spec().volumes.emplace_back();
      disk.source = VolumeSource::kGcePersistentDisk;
      disk.source_name = pod.symbol("disk");
    }
    return pod;
  }

  LabelSelector selector(testing::PodBuilder& pod) {
    return {{{pod.symbol("app"), pod.symbol(one_of(kApps))}}, {}};
  }

  PodAffinityTerm term(testing::PodBuilder& pod) {
    PodAffinityTerm made;
    made.label_selector = selector(pod);
    made.topology_key = pod.symbol(chance(0.6)   ? kZoneLabel
                                   : chance(0.8) ? "kubernetes.io/hostname"
                                                 : "rack");
    return made;
  }

  void spread(testing::PodBuilder& pod) {
    TopologySpreadConstraint constraint;
    constraint.topology_key = pod.symbol(chance(0.6) ? kZoneLabel : "kubernetes.io/hostname");
    constraint.max_skew = 1 + below(2);
    if (chance(0.2)) constraint.min_domains = 4;
    constraint.label_selector = selector(pod);
    pod.spec().topology_spread_constraints.push_back(std::move(constraint));
  }

  // Node affinity with one or two terms of one or two requirements.
  void require(testing::PodBuilder& pod) {
    Affinity affinity;
    if (pod.spec().affinity) affinity = *pod.spec().affinity;
    auto& terms = affinity.node.emplace().required.emplace();
    for (int i = below(2); i >= 0; --i) {
      NodeSelectorTerm& made = terms.emplace_back();
      for (int k = below(2); k >= 0; --k) {
        SelectorRequirement requirement;
        requirement.key = pod.symbol(chance(0.5) ? "disk" : kZoneLabel);
        requirement.op = static_cast<SelectorOperator>(below(4));
        if (requirement.op <= SelectorOperator::kNotIn)
          requirement.values = {pod.symbol(chance(0.5) ? one_of(kDisks) : one_of(kZones))};
        made.match_expressions.push_back(std::move(requirement));
      }
      if (!chance(0.2)) continue;
      SelectorRequirement field;
      field.key = pod.symbol("metadata.name");
      field.values = {pod.symbol(any_node())};
      made.match_fields.push_back(std::move(field));
    }
    pod.spec().affinity = std::make_shared<const Affinity>(std::move(affinity));
  }

  testing::World& world = fixture.world;
  Random random_;
};

TEST(Obstacles, AmountsAreWrittenAsKubernetesDoes) {
  std::vector<std::int64_t> amounts = {0, 1, 999, 1000, 1001, 1023, 1024, 1025, 1500, 2048};
  for (std::int64_t amount = 7; amount > 0 && amount < std::int64_t{1} << 50; amount *= 3)
    for (const std::int64_t base : {1, 1000, 1024})
      amounts.insert(amounts.end(), {amount * base, amount / base * base, amount - amount % 16});
  for (const std::int64_t positive : amounts)
    for (const std::int64_t amount : {positive, -positive}) {
      EXPECT_EQ(amount_text("cpu", amount), Quantity::of_milli(amount).to_string());
      EXPECT_EQ(amount_text("example.com/x", amount), Quantity::of(amount).to_string());
      EXPECT_EQ(amount_text("memory", amount),
                Quantity::of(amount, Quantity::Format::kBinarySI).to_string());
    }
}

TEST(Obstacles, AreAboutWhatEachPluginRejects) {
  std::map<std::string, std::size_t> rejections;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomCluster cluster(seed);
    PluginFixture& fixture = cluster.fixture;
    const std::unique_ptr<Plugin> plugins[] = {
        fixture.make<InterPodAffinity>(),   fixture.make<plugins::NodeAffinity>(),
        fixture.make<NodeName>(),           fixture.make<NodePorts>(),
        fixture.make<NodeResourcesFit>(),   fixture.make<NodeUnschedulable>(),
        fixture.make<NodeVolumeLimits>(),   fixture.make<PodTopologySpread>(),
        fixture.make<TaintToleration>(),    fixture.make<VolumeBinding>(),
        fixture.make<VolumeRestrictions>(), fixture.make<VolumeZone>(),
    };
    for (int i = 0; i < 6; ++i) {
      const Ref<const Pod> pod = cluster.wanting();
      for (const std::unique_ptr<Plugin>& plugin : plugins)
        rejections[std::string(plugin->name())] += fixture.obstacles(*plugin, pod).size();
    }
  }
  EXPECT_EQ(rejections.size(), 12U);
  for (const auto& [plugin, count] : rejections) EXPECT_GT(count, 20U) << plugin;
}

}  // namespace
}  // namespace berth::plugins
