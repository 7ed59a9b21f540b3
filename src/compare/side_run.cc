#include "compare/side_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/decode.h"
#include "api/manifest.h"
#include "compare/figures.h"
#include "compare/run_meter.h"
#include "config/load.h"
#include "sim/history.h"
#include "sim/workloads.h"

namespace berth::compare {
namespace {

Result<config::Configuration> configuration_of(const Side& side, const config::FeatureGates& gates,
                                               Interner& interner) {
  if (side.config.name.empty()) return config::default_configuration(gates);
  Result<config::Configuration> parsed =
      config::parse_configuration(side.config.text, gates, interner);
  if (parsed) return parsed;
  return fail(parsed.error().kind, fmt::format("{}: {}", side.config.name, parsed.error().message));
}

std::vector<AnyObject> objects_in(const sim::SimCluster& cluster) {
  std::vector<AnyObject> objects;
  for (int kind = 0; kind <= static_cast<int>(ObjectKind::kOther); ++kind)
    if (static_cast<ObjectKind>(kind) != ObjectKind::kPod)
      std::ranges::move(cluster.objects(static_cast<ObjectKind>(kind)),
                        std::back_inserter(objects));
  std::ranges::move(cluster.pods(), std::back_inserter(objects));
  return objects;
}

}  // namespace

Result<void> SideSimulation::add_file(const NamedText& file, bool strict,
                                      std::vector<std::string>* warnings) {
  Result<std::vector<ManifestObject>> objects = read_manifest(file.text, file.name, interner);
  if (!objects) return fail(objects.error());
  if (strict || warnings) {
    const std::vector<std::string> faults = name_unknown_fields(*objects);
    if (strict && !faults.empty())
      return fail(ErrorKind::kInvalid, fmt::format("{}", fmt::join(faults, "; ")));
    for (const std::string& fault : faults)
      if (warnings) warnings->push_back("warning: " + fault);
  }
  std::ranges::move(*objects, std::back_inserter(objects_));
  return {};
}

Result<void> SideSimulation::read(const SideQuestion& question,
                                  std::vector<std::string>* warnings) {
  const Input& input = question.input;
  if (!input.cluster.name.empty()) {
    if (Result<void> added = add_file(input.cluster, question.strict, warnings); !added)
      return added;
    std::erase_if(objects_, [](const ManifestObject& object) { return is_workload(object.kind); });
  }
  for (const NamedText& file : input.files)
    if (Result<void> added = add_file(file, question.strict, warnings); !added) return added;
  return admit_all(objects_, interner, VirtualLoop::kDefaultStart);
}

Result<std::unique_ptr<SideSimulation>> SideSimulation::make(const SideQuestion& question,
                                                             const PluginTable& plugins,
                                                             Interner& interner,
                                                             std::vector<Observer*> observers,
                                                             std::vector<std::string>* warnings) {
  auto made = std::unique_ptr<SideSimulation>(new SideSimulation(interner));
  const Side& side = question.side;
  if (Result<void> set = made->gates.set(side.feature_gates); !set) return fail(set.error());
  if (Result<void> valid = made->gates.validate(); !valid) return fail(valid.error());
  Result<config::Configuration> configuration = configuration_of(side, made->gates, interner);
  if (!configuration) return fail(configuration.error());
  made->configuration = *std::move(configuration);
  if (warnings && !made->configuration.extenders.empty())
    warnings->push_back(
        fmt::format("{}: {} extender(s) are configured; a simulation does not ask them",
                    side.config.name, made->configuration.extenders.size()));
  Result<sim::Scenario> scenario = sim::Scenario{};
  if (!question.input.scenario.name.empty())
    scenario = sim::parse_scenario(question.input.scenario.text, question.input.scenario.name);
  if (!scenario) return fail(scenario.error());
  if (Result<void> read = made->read(question, warnings); !read) return fail(read.error());

  if (!question.input.traces.empty()) {
    Result<trace::Trace> trace =
        trace::read_traces(question.input.traces, question.input.trace, interner);
    if (!trace) return fail(trace.error());
    if (warnings) std::ranges::copy(trace->notes, std::back_inserter(*warnings));
    if (Result<void> checked = sim::check_nodes(*trace, made->objects_, *scenario); !checked)
      return fail(checked.error());
    made->trace_ = *std::move(trace);
  }

  sim::SimulationOptions options;
  options.trace = made->trace_ ? &*made->trace_ : nullptr;
  options.configuration = made->configuration;
  options.gates = made->gates;
  options.seed = question.side.seed.value_or(question.seed);
  options.until = question.until.value_or(sim::usual_end(options.trace));
  options.keep_timeline = false;
  options.observers = std::move(observers);
  Result<std::unique_ptr<sim::Simulation>> simulation =
      sim::Simulation::make(interner, plugins, std::move(options), *std::move(scenario));
  if (!simulation) return fail(simulation.error());
  made->simulation_ = *std::move(simulation);
  made->warnings_ = warnings;
  return made;
}

Result<void> SideSimulation::load() {
  if (Result<void> loaded = simulation_->load(objects_); !loaded) return loaded;
  objects_ = {};
  if (warnings_) std::ranges::copy(simulation_->skipped(), std::back_inserter(*warnings_));
  return {};
}

Result<SideResult> run_side(const SideQuestion& question, const PluginTable& plugins) {
  SideResult result;
  Interner interner;
  RunMeter meter(question.keep_series);
  Result<std::unique_ptr<SideSimulation>> made = SideSimulation::make(
      question, plugins, interner, {&meter}, question.warns ? &result.warnings : nullptr);
  if (!made) return fail(made.error());
  SideSimulation& side = **made;
  sim::SimCluster& cluster = side.simulation().cluster();
  meter.begin(side.simulation().loop());
  // Node pools are there already.
  for (const Ref<const Object>& node : cluster.objects(ObjectKind::kNode))
    meter.changed({DeltaType::kAdded, node});
  cluster.on_change([&meter](const Delta& delta) { meter.changed(delta); });
  // Without what the scheduler did: tiles show what is in the store.
  sim::History history(side.simulation().loop());
  if (question.keep_history) {
    for (const Ref<const Object>& node : cluster.objects(ObjectKind::kNode))
      history.changed({DeltaType::kAdded, node});
    cluster.on_change([&history](const Delta& delta) { history.changed(delta); });
  }
  if (Result<void> loaded = side.load(); !loaded) return fail(loaded.error());
  const sim::SimulationReport report = side.simulation().run();
  meter.finish(report.duration);

  const std::vector<AnyObject> objects = objects_in(cluster);
  const Result<EndState> end = find_end_state({.configuration = side.configuration,
                                               .gates = side.gates,
                                               .objects = objects,
                                               .shapes = meter.shapes(),
                                               .limits = question.limits},
                                              plugins, interner);
  if (!end) return fail(end.error());
  result.figures = figures_json(meter, *end, report);
  if (question.keep_series) result.series = series_json(meter);
  if (question.keep_history) result.history = history.json(report.duration);
  result.log = meter.take_log();
  return result;
}

}  // namespace berth::compare
