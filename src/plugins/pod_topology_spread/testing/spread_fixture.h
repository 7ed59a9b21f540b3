// A small cluster for the tests of PodTopologySpread: constraints in one line, nodes with so many
// matching pods, what the candidates score.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {

inline constexpr const char* kHost = "kubernetes.io/hostname";
inline constexpr const char* kZone = "topology.kubernetes.io/zone";

// What a constraint says; the selector is app=web unless another is given.
struct WantedConstraint {
  std::string key = kHost;
  std::int32_t max_skew = 1;
  UnsatisfiableAction action = UnsatisfiableAction::kDoNotSchedule;
  std::optional<std::int32_t> min_domains = {};
  std::optional<NodeInclusionPolicy> affinity = {};
  std::optional<NodeInclusionPolicy> taints = {};
  std::vector<std::pair<std::string, std::string>> labels = {{"app", "web"}};
  bool selects = true;  // false: no selector at all
  std::vector<std::string> match_label_keys = {};
};

inline constexpr UnsatisfiableAction kSoft = UnsatisfiableAction::kScheduleAnyway;

struct SpreadFixture : ::testing::Test, berth::testing::PluginFixture {
  // A pod that matches app=web, with the constraints.
  berth::testing::PodBuilder web(const std::string& name,
                                 const std::vector<WantedConstraint>& constraints = {}) {
    berth::testing::PodBuilder pod = world.pod(name);
    pod.label("app", "web");
    for (const WantedConstraint& wanted : constraints) constrain(pod, wanted);
    return pod;
  }
  static void constrain(berth::testing::PodBuilder& pod, const WantedConstraint& wanted) {
    TopologySpreadConstraint constraint;
    constraint.topology_key = pod.symbol(wanted.key);
    constraint.max_skew = wanted.max_skew;
    constraint.when_unsatisfiable = wanted.action;
    constraint.min_domains = wanted.min_domains;
    constraint.node_affinity_policy = wanted.affinity;
    constraint.node_taints_policy = wanted.taints;
    if (wanted.selects) {
      LabelSelector selector;
      for (const auto& [key, value] : wanted.labels)
        selector.match_labels.push_back({pod.symbol(key), pod.symbol(value)});
      constraint.label_selector = std::move(selector);
    }
    for (const std::string& key : wanted.match_label_keys)
      constraint.match_label_keys.push_back(pod.symbol(key));
    pod.spec().topology_spread_constraints.push_back(std::move(constraint));
  }

  // A node with its name as hostname, in a zone unless that is "", with so many pods app=web.
  void node(const std::string& name, const std::string& zone = "", int pods = 0) {
    auto builder = world.node(name);
    if (!zone.empty()) builder.zone(zone);
    add_node(builder);
    for (int i = 0; i < pods; ++i) place(name);
  }
  // Without the hostname that every other node has; in a zone unless that is "".
  void node_without_hostname(const std::string& name, const std::string& zone = "") {
    const Ref<const Node> built = world.node(name);
    auto node = make_ref<Node>(*built);
    node->labels = zone.empty()
                       ? LabelSet()
                       : LabelSet({{node->symbols.intern(kZone), node->symbols.intern(zone)}});
    add_node(Ref<const Node>(std::move(node)));
  }
  Ref<const Pod> place(const std::string& node_name, const std::string& app = "web") {
    const Ref<const Pod> pod =
        world.pod("bound-" + std::to_string(++placed_)).label("app", app).on(node_name);
    add_pod(pod);
    return pod;
  }
  NodeRow row(const std::string& name) {
    return cluster.nodes().find(cluster.symbols().find(name));
  }

  void service(const std::string& name, const std::string& key, const std::string& value,
               const std::string& namespace_name = "default") {
    auto made = make_ref<Service>(world.interner.hold());
    made->namespace_name = made->symbols.intern(namespace_name);
    made->name = name;
    made->selector = {{made->symbols.intern(key), made->symbols.intern(value)}};
    cluster.put(Ref<const Object>(std::move(made)));
  }

  // Scores of the candidates, before and after NormalizeScore; nullopt when PreScore skips.
  using Scores = std::vector<Score>;
  std::optional<Scores> scores(const Plugin& plugin, const Ref<const Pod>& pod,
                               const std::vector<std::string>& candidates, bool normalized = true) {
    const auto& spread = dynamic_cast<const PodTopologySpread&>(plugin);
    NodeSet feasible(cluster.nodes().rows());
    for (const std::string& name : candidates) feasible.insert(row(name));
    Cycle cycle(pod, cluster);
    const Outcome prepared = spread.pre_score(cycle, feasible);
    if (prepared.code == Code::kSkip) return std::nullopt;
    EXPECT_TRUE(prepared.ok()) << prepared.message();
    std::vector<Score> by_row(cluster.nodes().rows(), -7);
    EXPECT_TRUE(spread.score(cycle, feasible, by_row).ok());
    if (normalized) {
      EXPECT_TRUE(spread.normalize(cycle, feasible, by_row).ok());
    }
    Scores result;
    for (const std::string& name : candidates) result.push_back(by_row[row(name)]);
    return result;
  }

 private:
  int placed_ = 0;
};

}  // namespace berth::plugins
