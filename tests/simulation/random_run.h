// RandomRun: a small cluster, pods of all kinds and a few minutes in which everything happens that
// can happen, all drawn from one seed; then the mischief is lifted and the cluster comes to rest.
//
//   cluster ──► engine ──► mischief (plugins, extender, API calls)
//      ▲ pods and nodes come, change and go; clocks jump; waits are settled
//
// The invariants are checked many times on the way and once more at rest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "engine/engine.h"
#include "history.h"
#include "invariants.h"
#include "mischief.h"
#include "recorder.h"
#include "sim/sim_cluster.h"

namespace berth::simulation {

// Bugs to plant. Everything that is empty is as it should be.
struct Planted {
  std::function<void(Mischief&)> mischief;
  std::function<void(config::Configuration&)> configuration;
  // Stands between the engine and the API server.
  std::function<std::unique_ptr<ClusterApi>(sim::SimCluster&, History&)> api;
  std::function<bool(const Delta&)> lost;  // deltas that the watch never shows
  // Done to the world at rest, before the last look; what it returns lives until after that.
  std::function<std::shared_ptr<void>(Engine&, sim::SimCluster&, berth::testing::World&)> at_rest;
  std::function<void(History&, State&)> doctored;  // the last look itself
};

struct RunReport {
  std::vector<Violation> violations;
  std::vector<std::string> timeline;  // JSON, one object each
  // What the run was like, to see that the mischief reaches everything.
  std::map<std::string, int> happened;
};

class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed, Planted planted = {});
  ~RandomRun();

  void print_timeline() { recorder_.print(); }
  RunReport run();

 private:
  void assemble();
  void build_cluster();
  void plan();
  bool checked(Moment moment);
  void come_to_rest();

  // ---- what can happen (events.cc)
  using Happening = void (RandomRun::*)();
  void something_happens();
  void create_pod();
  void create_node(const std::string& name);
  void delete_pod(const Ref<const Pod>& pod);
  void delete_any_pod();
  void delete_waiting_pod();
  void delete_assumed_pod();
  void recreate_pod();
  void finish_pod();
  void touch_pod();
  void remove_gate();
  void bind_behind_the_back();
  void remove_node();
  void remove_node_in_use();
  void bring_node_back();
  void cordon();
  void taint();
  void jump_wall_clock();
  void lag_watch();
  void allow();
  void reject();
  void preempt();
  void activate();

  Ref<const Pod> some_pod(const std::function<bool(const Pod&)>& which = {});
  Ref<const Pod> pending_pod();
  std::string some_node();

  const std::uint64_t seed_;
  const Planted planted_;
  VirtualLoop loop_;
  Random random_;
  berth::testing::World world_;
  History history_;
  RunReport report_;
  Mischief mischief_;
  Recorder recorder_;
  LateExtender extender_;
  PluginTable plugins_;
  sim::SimCluster cluster_;
  std::unique_ptr<ClusterApi> planted_api_;
  std::unique_ptr<Engine> engine_;
  std::map<Uid, PodKey> names_;                   // of all pods ever
  std::map<std::string, Ref<const Node>> nodes_;  // as they were made
  std::uint64_t made_pods_ = 0;
};

}  // namespace berth::simulation
