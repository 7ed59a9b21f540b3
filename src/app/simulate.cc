#include "app/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <optional>
#include <ostream>
#include <utility>

#include "api/manifest.h"
#include "app/input.h"
#include "app/page_output.h"
#include "app/progress.h"
#include "app/timeline_output.h"
#include "base/time_text.h"
#include "berth/interner.h"
#include "explain/decision_text.h"
#include "page/page.h"
#include "plugins/table.h"
#include "sim/report.h"
#include "sim/simulation.h"
#include "trace/trace.h"
#include "wire/json_text.h"
#include "wire/yaml_text.h"

namespace berth::app {
namespace {

Result<sim::Scenario> scenario_of(const SimulateOptions& options) {
  if (options.scenario.empty()) return sim::Scenario{};
  const Result<std::string> text = read_file(options.scenario);
  if (!text) return fail(text.error());
  return sim::parse_scenario(*text, options.scenario);
}

double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// The `PageData` of web/model.js. The title is what was run.
std::string page_data(const SimulateOptions& options, const sim::SimulationReport& report) {
  std::vector<std::string> inputs = options.files;
  inputs.insert(inputs.end(), options.traces.begin(), options.traces.end());
  if (!options.scenario.empty()) inputs.push_back(options.scenario);
  std::string json = "{\"title\": ";
  append_json_string(json, fmt::format("{}", fmt::join(inputs, " ")));
  if (report.cut_short) json += ", \"note\": \"cut short by --until\"";
  if (report.stuck) json += ", \"note\": \"given up: a pod fails again and again with no change\"";
  json += ", \"history\": " + report.history + ", \"traces\": [";
  for (const sim::PodTrace& trace : report.traces) {
    if (json.back() != '[') json += ",\n";
    json += fmt::format("{{\"at\": {}, \"attempt\": {}, \"decision\": {}}}",
                        go_float(milliseconds(trace.at.since_start)), trace.attempt,
                        explain::to_json_line(trace.decision));
  }
  return json + "]}\n";
}

// Nothing: there is none.
Result<std::optional<trace::Trace>> trace_of(const SimulateOptions& options, Interner& interner,
                                             std::ostream& err) {
  if (options.traces.empty()) return std::nullopt;
  Result<trace::Trace> trace = trace::read_traces(options.traces, options.trace, interner);
  if (!trace) return fail(trace.error());
  for (const std::string& note : trace->notes) err << note << '\n';
  return *std::move(trace);
}

// Virtual time, pods, and how many of them in a second.
void show_progress(sim::Simulation& simulation, Progress& progress) {
  simulation.on_turn([&simulation, &progress] {
    progress.update([&](Duration taken) {
      const std::size_t pods = simulation.scheduled_pods();
      const double seconds = std::chrono::duration<double>(taken).count();
      return fmt::format(
          "{} of virtual time, {} pods scheduled, {:.0f}/s",
          go_duration(std::chrono::floor<std::chrono::milliseconds>(simulation.virtual_time())),
          pods, static_cast<double>(pods) / seconds);
    });
  });
}

Result<sim::SimulationOptions> simulation_options(const SimulateOptions& options,
                                                  const trace::Trace* trace, Interner& interner,
                                                  std::ostream& err) {
  sim::SimulationOptions simulation;
  simulation.seed = options.seed;
  simulation.verify_increments = options.verify_increments;
  simulation.trace_pods = options.trace_pods;
  // YAML is made of the whole JSON.
  simulation.keep_timeline = options.output == OutputFormat::kYaml;
  simulation.keep_history = options.output == OutputFormat::kHtml;
  simulation.until = options.until.value_or(sim::usual_end(trace));
  simulation.trace = trace;
  simulation.explain_differences =
      trace != nullptr && (options.differences || options.output == OutputFormat::kJson ||
                           options.output == OutputFormat::kYaml);
  if (Result<void> set = simulation.gates.set(options.feature_gates); !set)
    return fail(set.error());
  if (Result<void> valid = simulation.gates.validate(); !valid) return fail(valid.error());
  Result<config::Configuration> configuration =
      read_configuration(options.config, simulation.gates, interner);
  if (!configuration) return fail(configuration.error());
  simulation.configuration = std::move(*configuration);
  if (!simulation.configuration.extenders.empty())
    err << fmt::format("{}: {} extender(s) are configured; a simulation does not ask them\n",
                       options.config, simulation.configuration.extenders.size());
  return simulation;
}

// The simulation with all that was read: it has that alone from then on.
Result<std::unique_ptr<sim::Simulation>> load(const SimulateOptions& options,
                                              sim::SimulationOptions simulation,
                                              sim::Scenario scenario, Interner& interner,
                                              const Loop* clock, std::ostream& err) {
  Progress progress(clock, err);
  const Result<std::vector<ManifestObject>> objects = load_manifests(
      options.files, options.strict, interner, VirtualLoop::kDefaultStart, err, &progress);
  if (!objects) return fail(objects.error());
  if (simulation.trace != nullptr)
    if (Result<void> checked = sim::check_nodes(*simulation.trace, *objects, scenario); !checked)
      return fail(checked.error());
  Result<std::unique_ptr<sim::Simulation>> made = sim::Simulation::make(
      interner, plugins::make_plugin_table(), std::move(simulation), std::move(scenario));
  if (!made) return made;
  if (Result<void> loaded = (*made)->load(*objects); !loaded) return fail(loaded.error());
  return made;
}

Result<void> write_json(const sim::SimulationReport& report, TimelineOutput& timeline,
                        std::ostream& out) {
  Result<void> listed;
  sim::write_json(report, out, [&](std::ostream& stream) { listed = timeline.list(stream); });
  return listed;
}

Result<void> print(const SimulateOptions& options, const sim::SimulationReport& report,
                   TimelineOutput& timeline, std::ostream& out) {
  switch (options.output) {
    case OutputFormat::kTable:
      sim::write_table(report, out);
      if (options.differences && report.replay) out << sim::differences_text(*report.replay);
      break;
    case OutputFormat::kJson: return write_json(report, timeline, out);
    case OutputFormat::kHtml: out << page::page_with(page_data(options, report)); break;
    case OutputFormat::kYaml: out << json_to_yaml(sim::to_json(report)); break;
  }
  return {};
}

}  // namespace

std::string check_simulate(const SimulateOptions& options) {
  if (options.files.empty() && options.traces.empty())
    return "give manifests with -f FILE, or a trace with --trace FILE";
  if (options.differences && options.traces.empty())
    return "--differences are those from a trace: give one with --trace FILE";
  return {};
}

Result<void> simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err) {
  if (options.output == OutputFormat::kHtml)
    if (Result<void> allowed = check_page_output(out); !allowed) return allowed;
  Interner interner;
  const Result<std::optional<trace::Trace>> trace = trace_of(options, interner, err);
  if (!trace) return fail(trace.error());
  Result<sim::SimulationOptions> simulation =
      simulation_options(options, *trace ? &**trace : nullptr, interner, err);
  if (!simulation) return fail(simulation.error());
  Result<sim::Scenario> scenario = scenario_of(options);
  if (!scenario) return fail(scenario.error());
  const Result<std::unique_ptr<TimelineOutput>> timeline =
      TimelineOutput::open(options.timeline, options.output == OutputFormat::kJson);
  if (!timeline) return fail(timeline.error());
  if ((*timeline)->wants_entries())
    simulation->on_timeline_entry = [&timeline](const std::string& entry) {
      (*timeline)->add(entry);
    };
  std::optional<RealLoop> clock;
  if (is_terminal(err)) clock.emplace();
  const Loop* const progress_clock = clock ? &*clock : nullptr;
  const Result<std::unique_ptr<sim::Simulation>> made =
      load(options, *std::move(simulation), *std::move(scenario), interner, progress_clock, err);
  if (!made) return fail(made.error());

  for (const std::string& line : (*made)->skipped()) err << line << '\n';
  Progress progress(progress_clock, err);
  if (progress_clock != nullptr) show_progress(**made, progress);
  const sim::SimulationReport report = (*made)->run();
  progress.erase();

  if (Result<void> written = (*timeline)->finish(); !written) return written;
  if (report.increment_difference)
    return fail(ErrorKind::kInternal, "increments differ: " + *report.increment_difference);
  for (const std::string& name : report.not_traced)
    err << fmt::format("--trace-pod {}: no pod of that name was tried\n", name);
  return print(options, report, **timeline, out);
}

}  // namespace berth::app
