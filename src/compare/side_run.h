// One side of a comparison on one input: a whole simulation, from texts to figures. Any thread; runs
// share nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/observer.h"
#include "berth/plugin_table.h"
#include "berth/result.h"
#include "compare/decision_log.h"
#include "compare/end_state.h"
#include "config/configuration.h"
#include "config/feature_gates.h"
#include "sim/simulation.h"
#include "trace/trace.h"
#include "wire/json_tree.h"

namespace berth::compare {

struct NamedText {
  std::string name;  // the file's, for messages; empty: there is none
  std::string text;
};

// What all sides get.
struct Input {
  std::string name;
  std::vector<NamedText> files;  // manifests
  NamedText cluster;             // as an API server returns it: the pods of its workloads are in it
  NamedText scenario;
  std::vector<std::string> traces;  // files that are replayed, together one trace
  trace::TraceOptions trace{};
};

struct Side {
  std::string name;
  NamedText config;  // a KubeSchedulerConfiguration; without a name: the default
  std::string feature_gates;
  std::optional<std::uint64_t> seed;  // absent: that of the run
};

struct SideQuestion {
  const Input& input;
  const Side& side;
  std::uint64_t seed = 0;
  std::optional<Duration> until{};  // absent: sim::usual_end
  FitLimits limits{};
  bool strict = false;        // unknown fields are errors
  bool warns = false;         // fill in SideResult::warnings
  bool keep_series = false;   // for plots
  bool keep_history = false;  // for the page's tiles
};

struct SideResult {
  JsonValue figures;
  JsonValue series;     // null unless asked for
  std::string history;  // of nodes and of pods on them, JSON (sim::History); empty unless asked for
  DecisionLog log;
  std::vector<std::string> warnings;  // unknown fields, objects that were left out
};

Result<SideResult> run_side(const SideQuestion& question, const PluginTable& plugins);

// A simulation of one side that has not begun.
class SideSimulation {
 public:
  // `interner` and `observers` outlive it; no observer is called before load().
  static Result<std::unique_ptr<SideSimulation>> make(const SideQuestion& question,
                                                      const PluginTable& plugins,
                                                      Interner& interner,
                                                      std::vector<Observer*> observers,
                                                      std::vector<std::string>* warnings);

  sim::Simulation& simulation() { return *simulation_; }
  Result<void> load();

  Interner& interner;
  config::FeatureGates gates;
  config::Configuration configuration;

 private:
  explicit SideSimulation(Interner& shared) : interner(shared) {}
  Result<void> read(const SideQuestion& question, std::vector<std::string>* warnings);
  Result<void> add_file(const NamedText& file, bool strict, std::vector<std::string>* warnings);

  std::vector<ManifestObject> objects_;
  std::optional<trace::Trace> trace_;
  std::vector<std::string>* warnings_ = nullptr;
  std::unique_ptr<sim::Simulation> simulation_;
};

}  // namespace berth::compare
