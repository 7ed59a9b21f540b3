#include "sim/testing/simulated.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/manifest.h"
#include "config/load.h"
#include "plugins/table.h"

namespace berth::sim::testing {

Simulated::Simulated(const std::string& manifests, const std::string& scenario,
                     std::optional<Duration> until, std::vector<std::string> trace_pods) {
  if (const Result<void> ran = run(manifests, scenario, until, std::move(trace_pods)); !ran)
    error = ran.error().message;
}

Result<void> Simulated::run(const std::string& manifests, const std::string& scenario,
                            std::optional<Duration> until, std::vector<std::string> trace_pods) {
  SimulationOptions options;
  options.configuration = config::default_configuration(options.gates);
  options.keep_history = true;
  options.until = until;
  options.trace_pods = std::move(trace_pods);
  Result<Scenario> read = parse_scenario("kind: Scenario\n" + scenario, "scenario.yaml");
  if (!read) return fail(read.error());
  Result<std::vector<ManifestObject>> objects = read_manifest(manifests, "cluster.yaml", interner);
  if (!objects) return fail(objects.error());
  if (Result<void> admitted = admit_all(*objects, interner, VirtualLoop::kDefaultStart); !admitted)
    return admitted;
  Result<std::unique_ptr<Simulation>> made = Simulation::make(
      interner, plugins::make_plugin_table(), std::move(options), std::move(*read));
  if (!made) return fail(made.error());
  simulation = std::move(*made);
  if (Result<void> loaded = simulation->load(*objects); !loaded) return loaded;
  report = simulation->run();
  return {};
}

const PodReport* Simulated::find(const std::string& name) const {
  const auto found = std::ranges::find(report.pods, name, &PodReport::name);
  return found == report.pods.end() ? nullptr : &*found;
}

std::string Simulated::stands(const std::string& name) const {
  const PodReport* found = find(name);
  if (!found) return "gone";
  return found->node.empty() ? found->status : fmt::format("{} {}", found->status, found->node);
}

std::string Simulated::message(const std::string& name) const {
  const PodReport* found = find(name);
  return found ? found->message : "gone";
}

std::vector<std::string> Simulated::names() const {
  std::vector<std::string> all;
  for (const PodReport& reported : report.pods) all.push_back(reported.name);
  return all;
}

bool Simulated::happened(const std::string& text) const {
  return std::ranges::any_of(report.timeline, [&](const std::string& entry) {
    return entry.find(text) != std::string::npos;
  });
}

std::string node(const std::string& name, const std::string& cpu, const std::string& spec) {
  return fmt::format(
      "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {0}, labels: {{name: {0}}}}}\n"
      "spec: {{{2}}}\nstatus: {{capacity: {{cpu: \"{1}\", memory: 16Gi, pods: \"110\"}}}}\n",
      name, cpu, spec);
}

std::string pod(const std::string& name, const std::string& cpu, const std::string& spec,
                const std::string& labels) {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}, labels: {{{}}}}}\nspec:\n  {}\n"
      "  containers: [{{name: c, image: c, resources: {{requests: {{cpu: \"{}\"}}}}}}]\n",
      name, labels, spec, cpu);
}

}  // namespace berth::sim::testing
