#include "app/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <ostream>
#include <utility>

#include "api/manifest.h"
#include "app/input.h"
#include "app/page_output.h"
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

Result<std::vector<ManifestObject>> objects_of(const SimulateOptions& options, Interner& interner,
                                               std::ostream& err) {
  std::vector<ManifestObject> all;
  for (const std::string& path : options.files) {
    Result<std::vector<ManifestObject>> objects =
        read_manifests(path, options.strict, interner, err);
    if (!objects) return fail(objects.error());
    std::move(objects->begin(), objects->end(), std::back_inserter(all));
  }
  if (Result<void> admitted = admit_all(all, interner, VirtualLoop::kDefaultStart); !admitted)
    return fail(admitted.error());
  return all;
}

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

Result<void> print(const SimulateOptions& options, const sim::SimulationReport& report,
                   std::ostream& out) {
  switch (options.output) {
    case OutputFormat::kTable:
      out << sim::to_table(report);
      if (options.differences && report.replay) out << sim::differences_text(*report.replay);
      break;
    case OutputFormat::kJson: out << sim::to_json(report); break;
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
  sim::SimulationOptions simulation;
  simulation.seed = options.seed;
  simulation.verify_increments = options.verify_increments;
  simulation.trace_pods = options.trace_pods;
  simulation.keep_timeline =
      options.output == OutputFormat::kJson || options.output == OutputFormat::kYaml;
  simulation.keep_history = options.output == OutputFormat::kHtml;
  if (Result<void> set = simulation.gates.set(options.feature_gates); !set) return set;
  if (Result<void> valid = simulation.gates.validate(); !valid) return valid;
  Result<config::Configuration> configuration =
      read_configuration(options.config, simulation.gates, interner);
  if (!configuration) return fail(configuration.error());
  simulation.configuration = std::move(*configuration);
  if (!simulation.configuration.extenders.empty())
    err << fmt::format("{}: {} extender(s) are configured; a simulation does not ask them\n",
                       options.config, simulation.configuration.extenders.size());
  Result<sim::Scenario> scenario = scenario_of(options);
  if (!scenario) return fail(scenario.error());
  const Result<std::vector<ManifestObject>> objects = objects_of(options, interner, err);
  if (!objects) return fail(objects.error());
  const Result<std::optional<trace::Trace>> trace = trace_of(options, interner, err);
  if (!trace) return fail(trace.error());
  simulation.until = options.until.value_or(sim::usual_end(*trace ? &**trace : nullptr));
  if (const trace::Trace* const replayed = *trace ? &**trace : nullptr) {
    if (Result<void> checked = sim::check_nodes(*replayed, *objects, *scenario); !checked)
      return checked;
    simulation.trace = replayed;
    simulation.explain_differences = options.differences || simulation.keep_timeline;
  }

  Result<std::unique_ptr<sim::Simulation>> made = sim::Simulation::make(
      interner, plugins::make_plugin_table(), std::move(simulation), std::move(*scenario));
  if (!made) return fail(made.error());
  if (Result<void> loaded = (*made)->load(*objects); !loaded) return loaded;
  for (const std::string& line : (*made)->skipped()) err << line << '\n';
  const sim::SimulationReport report = (*made)->run();
  if (report.increment_difference)
    return fail(ErrorKind::kInternal, "increments differ: " + *report.increment_difference);
  for (const std::string& name : report.not_traced)
    err << fmt::format("--trace-pod {}: no pod of that name was tried\n", name);
  return print(options, report, out);
}

}  // namespace berth::app
