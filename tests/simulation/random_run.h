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
#include "base/loop.h"
#include "base/random.h"
#include "engine/engine.h"
#include "history.h"
#include "invariants.h"
#include "mischief.h"
#include "sim/sim_cluster.h"
#include "sim/timeline.h"

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

// Sees what the engine does.
class Recorder final : public Observer {
 public:
  Recorder(Loop& loop, History& history, std::map<std::string, int>& happened)
      : timeline_(loop), history_(history), happened_(happened) {}

  // Prints the timeline as it grows, so that a run that does not end well can be read.
  void print() { prints_ = true; }
  const std::vector<std::string>& timeline() const { return timeline_.entries(); }
  void note(std::string_view what, std::string_view about);

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void decided(const Decision& decision) override;
  void wait_started(const Pod& pod, std::span<const PermitHold> holds) override;
  void wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) override;
  void bound(const Pod& pod, std::string_view node, std::int32_t attempts) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void status_decided(const Pod& pod, const PodStatusPatch& patch) override;
  void event(const PodEvent& event) override;
  void trouble(std::string_view message) override;

 private:
  void told();

  sim::Timeline timeline_;
  History& history_;
  std::map<std::string, int>& happened_;
  bool prints_ = false;
  std::size_t printed_ = 0;
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
