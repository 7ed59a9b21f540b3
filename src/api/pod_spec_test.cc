// Equality and hashes of the parts that pods share.
#include <gtest/gtest.h>

#include <functional>
#include <unordered_set>
#include <vector>

#include "api/names.h"
#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/pod.h"

namespace berth {
namespace {

// Changes of one field each; every one makes another spec.
std::vector<std::function<void(PodSpec&)>> single_changes(SymbolHold& names) {
  const Symbol x = names.intern("x");
  const auto affinity = [](auto change) {
    return [change](PodSpec& spec) {
      Affinity made = spec.affinity ? *spec.affinity : Affinity{};
      change(made);
      spec.affinity = std::make_shared<const Affinity>(std::move(made));
    };
  };
  return {
      [](PodSpec& s) { s.containers.emplace_back(); },
      [](PodSpec& s) { s.containers[1] = Container{}; },
      [x](PodSpec& s) { s.containers[0].name = x; },
      [x](PodSpec& s) { s.containers[0].image = x; },
      [x](PodSpec& s) { s.containers[0].requests.set(x, Quantity::of(1)); },
      [x](PodSpec& s) { s.containers[0].requests.set(x, Quantity::of(2)); },
      [x](PodSpec& s) { s.containers[0].limits.set(x, Quantity::of(1)); },
      [](PodSpec& s) { s.containers[0].ports.emplace_back(); },
      [](PodSpec& s) { s.containers[1].ports[0].container_port = 1; },
      [](PodSpec& s) { s.containers[1].ports[0].host_port = 1; },
      [x](PodSpec& s) { s.containers[1].ports[0].protocol = x; },
      [x](PodSpec& s) { s.containers[1].ports[0].host_ip = x; },
      [](PodSpec& s) { s.containers[0].restart_always = true; },
      [](PodSpec& s) { s.containers[0].restarts_all = true; },
      [](PodSpec& s) { s.containers[0].bind_mount_options = true; },
      [](PodSpec& s) { s.ephemeral_bind_mount_options = true; },
      [](PodSpec& s) { s.init_containers.emplace_back(); },
      [](PodSpec& s) { s.pod_requests.emplace(); },
      [x](PodSpec& s) { s.pod_requests.emplace().set(x, Quantity::of(1)); },
      [](PodSpec& s) { s.pod_limits.emplace(); },
      [x](PodSpec& s) { s.overhead.set(x, Quantity::of(1)); },
      [x](PodSpec& s) { s.node_selector.push_back({x, {}}); },
      [x](PodSpec& s) { s.node_selector.push_back({x, x}); },
      affinity([](Affinity&) {}),
      affinity([](Affinity& a) { a.node.emplace(); }),
      affinity([](Affinity& a) { a.node.emplace().required.emplace(); }),
      affinity([](Affinity& a) { a.node.emplace().required.emplace().emplace_back(); }),
      affinity([x](Affinity& a) {
        a.node.emplace().required.emplace().emplace_back().match_expressions.push_back(
            {x, SelectorOperator::kIn, {}, {}});
      }),
      affinity([x](Affinity& a) {
        a.node.emplace().required.emplace().emplace_back().match_fields.push_back(
            {x, SelectorOperator::kIn, {}, {}});
      }),
      affinity([x](Affinity& a) {
        a.node.emplace().required.emplace().emplace_back().match_fields.push_back(
            {x, SelectorOperator::kNotIn, {}, {x}});
      }),
      affinity([x](Affinity& a) {
        a.node.emplace().required.emplace().emplace_back().match_fields.push_back(
            {x, SelectorOperator::kUnknown, x, {}});
      }),
      affinity([](Affinity& a) { a.node.emplace().preferred.emplace_back(); }),
      affinity([](Affinity& a) { a.node.emplace().preferred.emplace_back().weight = 1; }),
      affinity([](Affinity& a) { a.pod.emplace(); }),
      affinity([](Affinity& a) { a.pod_anti.emplace(); }),
      affinity([](Affinity& a) { a.pod.emplace().required.emplace_back(); }),
      affinity([](Affinity& a) { a.pod_anti.emplace().required.emplace_back(); }),
      affinity([](Affinity& a) { a.pod.emplace().preferred.emplace_back(); }),
      affinity([](Affinity& a) { a.pod.emplace().preferred.emplace_back().weight = 1; }),
      affinity([x](Affinity& a) { a.pod.emplace().required.emplace_back().topology_key = x; }),
      affinity(
          [](Affinity& a) { a.pod.emplace().required.emplace_back().label_selector.emplace(); }),
      affinity([](Affinity& a) {
        a.pod.emplace().required.emplace_back().namespace_selector.emplace();
      }),
      affinity([x](Affinity& a) {
        a.pod.emplace().required.emplace_back().label_selector.emplace().match_labels = {{x, {}}};
      }),
      affinity([x](Affinity& a) { a.pod.emplace().required.emplace_back().namespaces = {x}; }),
      affinity(
          [x](Affinity& a) { a.pod.emplace().required.emplace_back().match_label_keys = {x}; }),
      affinity(
          [x](Affinity& a) { a.pod.emplace().required.emplace_back().mismatch_label_keys = {x}; }),
      [](PodSpec& s) { s.tolerations.emplace_back(); },
      [x](PodSpec& s) { s.tolerations.emplace_back().key = x; },
      [x](PodSpec& s) { s.tolerations.emplace_back().value = x; },
      [](PodSpec& s) { s.tolerations.emplace_back().op = TolerationOperator::kExists; },
      [](PodSpec& s) { s.tolerations.emplace_back().effect = TaintEffect::kNoExecute; },
      [](PodSpec& s) { s.tolerations.emplace_back().toleration_seconds = 0; },
      [](PodSpec& s) { s.tolerations.emplace_back().toleration_seconds = 1; },
      [](PodSpec& s) { s.topology_spread_constraints.emplace_back(); },
      [](PodSpec& s) { s.topology_spread_constraints.emplace_back().max_skew = 2; },
      [x](PodSpec& s) { s.topology_spread_constraints.emplace_back().topology_key = x; },
      [](PodSpec& s) {
        s.topology_spread_constraints.emplace_back().when_unsatisfiable =
            UnsatisfiableAction::kScheduleAnyway;
      },
      [](PodSpec& s) { s.topology_spread_constraints.emplace_back().label_selector.emplace(); },
      [](PodSpec& s) { s.topology_spread_constraints.emplace_back().min_domains = 1; },
      [](PodSpec& s) {
        s.topology_spread_constraints.emplace_back().node_affinity_policy =
            NodeInclusionPolicy::kHonor;
      },
      [](PodSpec& s) {
        s.topology_spread_constraints.emplace_back().node_taints_policy =
            NodeInclusionPolicy::kHonor;
      },
      [x](PodSpec& s) { s.topology_spread_constraints.emplace_back().match_label_keys = {x}; },
      [x](PodSpec& s) { s.scheduling_gates = {x}; },
      [](PodSpec& s) { s.volumes.emplace_back(); },
      [x](PodSpec& s) { s.volumes.emplace_back().name = x; },
      [](PodSpec& s) { s.volumes.emplace_back().source = VolumeSource::kCsi; },
      [x](PodSpec& s) { s.volumes.emplace_back().source_name = x; },
      [](PodSpec& s) { s.volumes.emplace_back().read_only = true; },
      [x](PodSpec& s) { s.volumes.emplace_back().detail = x; },
      [x](PodSpec& s) { s.volumes.emplace_back().kind = x; },
      [x](PodSpec& s) { s.volumes.emplace_back().monitors.push_back(x); },
      [](PodSpec& s) { s.resource_claims.emplace_back(); },
      [x](PodSpec& s) { s.resource_claims.emplace_back().name = x; },
      [x](PodSpec& s) { s.resource_claims.emplace_back().claim_name = x; },
      [x](PodSpec& s) { s.resource_claims.emplace_back().template_name = x; },
      [x](PodSpec& s) { s.scheduler_name = x; },
      [x](PodSpec& s) { s.priority_class_name = x; },
      [x](PodSpec& s) { s.scheduling_group = x; },
      [](PodSpec& s) { s.priority = 1; },
      [](PodSpec& s) { s.priority = -1; },
      [](PodSpec& s) { s.termination_grace_seconds = 1; },
      [](PodSpec& s) { s.preemption_policy = PreemptionPolicy::kNever; },
      [](PodSpec& s) { s.host_network = true; },
      [](PodSpec& s) { s.own_users = true; },
  };
}

TEST(PodSpec, EveryFieldCountsForEqualityAndHash) {
  World world;
  SymbolHold names = world.interner.hold();
  const auto original = [&] {
    PodSpec spec(world.interner.hold());
    spec.containers.resize(2);
    spec.containers[1].ports.resize(1);
    return spec;
  };
  std::vector<PodSpec> specs = {original()};
  for (const auto& change : single_changes(names)) {
    specs.push_back(original());
    change(specs.back());
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (std::size_t j = 0; j < specs.size(); ++j) {
      EXPECT_EQ(specs[i] == specs[j], i == j) << i << " " << j;
      EXPECT_EQ(hash_of(specs[i]) == hash_of(specs[j]), i == j) << i << " " << j;
    }
    EXPECT_TRUE(specs[i] == PodSpec(specs[i]));
    EXPECT_EQ(hash_of(specs[i]), hash_of(PodSpec(specs[i])));
  }
}

TEST(PodSpec, DerivedPartsDoNotCount) {
  World world;
  PodSpec a(world.interner.hold()), b(world.interner.hold());
  a.usage.requests.milli_cpu = 5;
  a.symbols.intern("something");
  a.affinity = std::make_shared<const Affinity>();
  b.affinity = std::make_shared<const Affinity>();
  EXPECT_TRUE(a == b) << "affinities are equal by what they say";
  EXPECT_EQ(hash_of(a), hash_of(b));
}

TEST(PodSpec, SpecsThatDifferInOneNumberHaveDifferentHashes) {
  World world;
  std::unordered_set<std::size_t> hashes, low;
  PodSpec spec(world.interner.hold());
  spec.containers.resize(1);
  for (std::int32_t i = 0; i < 100'000; ++i) {
    spec.containers[0].requests.set(names::kCpu, Quantity::of_milli(i));
    hashes.insert(hash_of(spec));
    spec.containers[0].requests.set(names::kCpu, Quantity());
    spec.priority = i + 1;
    hashes.insert(hash_of(spec));
    low.insert(hash_of(spec) % 1024);
    spec.priority = 0;
  }
  EXPECT_EQ(hashes.size(), 200'000U);
  EXPECT_EQ(low.size(), 1024U) << "also the low bits are spread";
}

TEST(PodMeta, EveryFieldCountsForEqualityAndHash) {
  World world;
  SymbolHold hold = world.interner.hold();
  const Symbol x = hold.intern("x"), y = hold.intern("y");
  std::vector<PodMeta> metas(7, PodMeta(world.interner.hold()));
  metas[1].namespace_name = x;
  metas[2].labels = LabelSet({{x, {}}});
  metas[3].labels = LabelSet({{x, y}});
  metas[4].controller.api_version = x;
  metas[5].controller.kind = x;
  metas[6].controller.name = x;
  for (std::size_t i = 0; i < metas.size(); ++i)
    for (std::size_t j = 0; j < metas.size(); ++j) {
      EXPECT_EQ(metas[i] == metas[j], i == j) << i << " " << j;
      EXPECT_EQ(hash_of(metas[i]) == hash_of(metas[j]), i == j) << i << " " << j;
    }
}

}  // namespace
}  // namespace berth
