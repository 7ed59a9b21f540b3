// Simulation: a cluster and pods from manifests, a scenario, and the scheduler, in virtual time.
//
// Runs until nothing is left to do: nothing is waiting, binding or about to happen, and every
// pending pod has failed since the last change that could have helped it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/manifest.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/plugin_table.h"
#include "berth/result.h"
#include "config/configuration.h"
#include "config/feature_gates.h"
#include "engine/engine.h"
#include "framework/observers.h"
#include "sim/history.h"
#include "sim/pod_traces.h"
#include "sim/replay.h"
#include "sim/scenario.h"
#include "sim/sim_cluster.h"
#include "sim/timeline.h"
#include "trace/trace.h"

namespace berth::sim {

struct SimulationOptions {
  config::Configuration configuration;
  config::FeatureGates gates;
  std::uint64_t seed = 0;
  std::optional<Duration> until;          // stop there, whatever is left
  bool keep_timeline = true;              // SimulationReport::timeline
  Timeline::EntrySink on_timeline_entry;  // is handed each entry as it is made
  bool keep_history = false;
  bool verify_increments = false;       // stop at the first difference
  std::vector<std::string> trace_pods;  // whose attempts are told of in full (PodTraces)
  // What is replayed; outlives the simulation. Without it time starts at VirtualLoop::kDefaultStart.
  const trace::Trace* trace = nullptr;
  bool explain_differences = false;  // from the trace; costs time
  std::vector<Observer*> observers;  // are told of everything, too; they outlive the run
};

// When a run is ended if nobody says: after a day, of a trace a day after twice its length. Some
// clusters never come to rest.
Duration usual_end(const trace::Trace* replayed);
// A trace without nodes would have every pod wait for ever: kInvalid unless somebody else gives some.
Result<void> check_nodes(const trace::Trace& trace, const std::vector<ManifestObject>& objects,
                         const Scenario& scenario);

// How one pod stands at the end.
struct PodReport {
  std::string namespace_name;
  std::string name;
  std::string status;  // "Bound", "Pending", "Waiting", "Gated", "Finished", "Preempted", …
  std::string node;
  std::optional<TimePoint> bound;
  std::int32_t attempts = 0;
  std::string message;       // why it is pending
  std::string preempted_by;  // full name of the pod that needed its place
};

// How a PodGroup stands at the end.
struct GroupReport {
  std::string namespace_name;
  std::string name;
  std::size_t pods = 0;
  std::size_t bound = 0;
  // The condition PodGroupInitiallyScheduled; empty: nothing was decided about the group.
  std::string status;
  std::string reason;
  std::string message;
};

// By namespace and name.
std::vector<GroupReport> report_groups(const SimCluster& cluster);

struct SimulationReport {
  std::optional<std::string> increment_difference;  // with verify_increments: a bug
  Duration duration{0};                             // virtual
  bool cut_short = false;                           // by `until`, with something left to do
  bool stuck = false;                   // ended because a pod failed on and on, with no change
  std::vector<PodReport> pods;          // by namespace and name
  std::vector<GroupReport> groups;      // with the gate GenericWorkload
  std::vector<std::string> timeline;    // JSON, one object each
  std::string history;                  // JSON, what the page shows; with keep_history
  std::vector<PodTrace> traces;         // of SimulationOptions::trace_pods, in order
  std::vector<std::string> not_traced;  // those of them that no pod is called
  std::optional<ReplayReport> replay;   // with SimulationOptions::trace
};

class Simulation {
 public:
  // The interner is the one the objects were read with.
  static Result<std::unique_ptr<Simulation>> make(Interner& interner, PluginTable plugins,
                                                  SimulationOptions options, Scenario scenario);
  ~Simulation();

  // Objects that are there from the beginning. Workloads become pods; kinds that scheduling does
  // not read are left out and named in `skipped()`.
  Result<void> load(const std::vector<ManifestObject>& objects);
  const std::vector<std::string>& skipped() const { return skipped_; }

  // Called now and then during run(), as long as something happens.
  void on_turn(std::function<void()> callback) { on_turn_ = std::move(callback); }
  SimulationReport run();

  // How far it is.
  Duration virtual_time() const { return loop_.now().since_start; }
  std::size_t scheduled_pods() const { return timeline_.scheduled(); }

  Engine& engine() { return *engine_; }
  SimCluster& cluster() { return *cluster_; }
  VirtualLoop& loop() { return loop_; }

 private:
  Simulation(Interner& interner, SimulationOptions options, Scenario scenario);
  Result<void> assemble(PluginTable plugins);
  CallFate fate_of(ApiCall call, const Pod& pod);
  CallFate object_fate_of(ApiCall call, const std::string& full_name);
  // The first rule for the call that applies now and to this name.
  CallFate fate(ApiCall call, std::string_view name, std::string_view full_name);
  // In the timeline, and in the history if there is one.
  void note(std::string_view what, std::string_view about, std::string_view detail);
  void play(const ScenarioEvent& event);
  Result<void> apply_manifest(const std::string& json, bool remove);
  std::unique_ptr<Replay> make_replay();
  bool finished() const;
  PodReport report_of(const Pod& pod);
  std::optional<PodReport> report_of(const RemovedPod& removed) const;
  std::vector<PodReport> report_pods();

  Interner& interner_;
  SimulationOptions options_;
  Scenario scenario_;
  PluginTable plugins_;
  VirtualLoop loop_;
  Random faults_random_;
  Timeline timeline_;
  PodTraces traces_;
  History history_;
  std::unique_ptr<Observers> observers_;
  std::unique_ptr<SimCluster> cluster_;
  std::unique_ptr<Replay> replay_;
  std::unique_ptr<class PodWatch> pods_;
  std::unique_ptr<class Workloads> workloads_;
  std::unique_ptr<VolumeController> volumes_;
  std::unique_ptr<class ResourceClaimController> claims_;
  std::unique_ptr<class ArrivingPods> arrivals_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::string> skipped_;
  std::vector<std::int64_t> fault_uses_;
  std::function<void()> on_turn_;
};

}  // namespace berth::sim
