// A small cluster for one plugin: put nodes and pods in, ask the plugin about a pod, get its
// verdicts and scores by node name.
//
//   PluginFixture fixture;
//   fixture.add_node(fixture.world.node("n1").cpu("2"));
//   auto plugin = fixture.make<NodeResourcesFit>();
//   EXPECT_EQ(fixture.filter(*plugin, pod)["n1"], Verdict{});
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "api/testing/builders.h"
#include "berth/loop.h"
#include "berth/plugin_table.h"
#include "berth/random.h"
#include "berth/views.h"
#include "berth/waiting_pods.h"
#include "config/feature_gates.h"
#include "framework/pods_in_pre_bind.h"
#include "framework/testing/recording_api.h"

namespace berth::testing {

// What a Filter plugin says about one node.
struct Verdict {
  Code code = Code::kSuccess;
  std::vector<std::string> reasons;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};
void PrintTo(const Verdict& verdict, std::ostream* out);

Verdict unschedulable(std::vector<std::string> reasons);
Verdict unresolvable(std::vector<std::string> reasons);

using Verdicts = std::map<std::string, Verdict>;  // by node name
using Texts = std::vector<std::string>;
using Obstacles = std::map<std::string, std::vector<Obstacle>>;  // by node name
using ObstacleTexts = std::map<std::string, Texts>;              // by node name
using Facts = std::map<std::string, std::string>;
using Scores = std::map<std::string, Score>;  // by node name

// A cycle that has come to Filter. PreFilter is the test's to call, or to leave out.
struct CycleAtFilter {
  CycleAtFilter(Ref<const Pod> pod, const Cluster& cluster);
  // Filter over all nodes.
  void filter(const FilterPlugin& plugin);
  // What the plugin said about the row.
  Verdict verdict(const Plugin& plugin, NodeRow row) const;

  internal::CycleScratch scratch;
  Cycle cycle;
  NodeSet feasible;
};

// What the plugin says keeps the pod off the row, whose verdict has these sentences (none: it is
// accepted). Expects that it is about each of them, and about nothing else.
std::vector<Obstacle> checked_obstacles(const Plugin& plugin, const Cycle& cycle, NodeRow row,
                                        const std::vector<std::string>& sentences);

// An event, and the answer of a plugin's hint to it.
struct HintRow {
  const char* why;
  AnyObject before, after;
  QueueingHint hint;
};

class PluginFixture {
 public:
  World world;
  config::FeatureGates gates;
  Cluster cluster{world.interner.symbols()};
  RecordingApi api;

  void add_node(Ref<const Node> node) { cluster.add_node(std::move(node)); }
  // A pod that is on a node.
  void add_pod(Ref<const Pod> pod);

  Handle handle();
  // As the framework makes it, with the gates as they are now.
  template <typename P>
  std::unique_ptr<P> make(const config::PluginArgs& arguments = {}) {
    return std::unique_ptr<P>(dynamic_cast<P*>(created(P::create(arguments, handle()))));
  }

  // By node name: PreFilter, if the plugin has it, then Filter over all nodes. Checks the obstacles
  // of plugins that name them, too.
  Verdicts filter(const Plugin& plugin, Ref<const Pod> pod);
  // The same, asked about one row at a time.
  Verdicts filter_one_by_one(const Plugin& plugin, Ref<const Pod> pod);
  // By node name, or "" if PreFilter rejects the pod: what the plugin says keeps it off.
  Obstacles obstacles(const Plugin& plugin, Ref<const Pod> pod);
  // The same as texts: "Code subject: text".
  ObstacleTexts obstacle_texts(const Plugin& plugin, Ref<const Pod> pod);
  // By node name: PreScore, if the plugin has it, Score and NormalizeScore over all nodes. nullopt
  // when PreScore says Skip.
  std::optional<Scores> score(const Plugin& plugin, Ref<const Pod> pod);

  // A hint's answer to an event for which the plugin registered with exactly these bits.
  QueueingHint hint(const Plugin& plugin, const ClusterEvent& registered, Ref<const Pod> rejected,
                    const AnyObject& before, const AnyObject& after);
  // Expects the answer of each row.
  void expect_hints(const Plugin& plugin, const ClusterEvent& registered,
                    const Ref<const Pod>& rejected, const std::vector<HintRow>& rows);

 private:
  class NoNominations final : public Nominator {
   public:
    std::vector<Ref<const Pod>> nominated_pods(Symbol) const override { return {}; }
    const std::vector<Symbol>& nominated_nodes() const override { return none_; }

   private:
    std::vector<Symbol> none_;
  };
  class NoActivation final : public Activator {
   public:
    void activate(std::span<const Ref<const Pod>>) override {}
  };

  static Plugin* created(Result<std::unique_ptr<Plugin>> result);
  Verdicts filter_rows(const Plugin& plugin, Ref<const Pod> pod,
                       const std::vector<NodeSet>& passes);

  VirtualLoop loop_;
  Random random_{1};
  WaitingPods waiting_pods_{loop_};
  PodsInPreBind pods_in_pre_bind_;
  NoNominations nominator_;
  NoActivation activator_;
};

// (resource, action bits) of each registration, in order.
using RegisteredEvents = std::vector<std::pair<EventResource, std::uint32_t>>;
RegisteredEvents registered_events(const Plugin& plugin);

// What the plugin signs for a pod, which must stand under these keys; values are joined by "|".
std::string signature(const SignPlugin& plugin, const Ref<const Pod>& pod,
                      const std::vector<std::string>& keys);

}  // namespace berth::testing
