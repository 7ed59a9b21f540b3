// A simulation in one line, for tests.
//
//   Simulated run(kNode + kPod, "events: [{at: 1s, cordon: n1}]");
//   EXPECT_EQ(run.stands("p"), "Bound n1");
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/manifest.h"
#include "config/load.h"
#include "plugins/table.h"
#include "sim/simulation.h"

namespace berth::sim::testing {

struct Simulated {
  Interner interner;
  std::unique_ptr<Simulation> simulation;
  SimulationReport report;
  std::string error;  // of whatever went wrong before the run

  explicit Simulated(const std::string& manifests, const std::string& scenario = "",
                     std::optional<Duration> until = {}) {
    SimulationOptions options;
    options.configuration = config::default_configuration(options.gates);
    options.until = until;
    Result<Scenario> read = parse_scenario("kind: Scenario\n" + scenario, "scenario.yaml");
    if (!read) return note(read.error());
    Result<std::vector<ManifestObject>> objects =
        read_manifest(manifests, "cluster.yaml", interner);
    if (!objects) return note(objects.error());
    if (const auto admitted = admit_all(*objects, interner, VirtualLoop::kDefaultStart); !admitted)
      return note(admitted.error());
    Result<std::unique_ptr<Simulation>> made = Simulation::make(
        interner, plugins::make_plugin_table(), std::move(options), std::move(*read));
    if (!made) return note(made.error());
    simulation = std::move(*made);
    if (const Result<void> loaded = simulation->load(*objects); !loaded)
      return note(loaded.error());
    report = simulation->run();
  }

  const PodReport* find(const std::string& name) const {
    for (const PodReport& pod : report.pods)
      if (pod.name == name) return &pod;
    return nullptr;
  }
  // "Bound n1", "Pending": how the pod stands.
  std::string stands(const std::string& name) const {
    const PodReport* pod = find(name);
    if (!pod) return "gone";
    return pod->node.empty() ? pod->status : fmt::format("{} {}", pod->status, pod->node);
  }
  std::string message(const std::string& name) const {
    const PodReport* pod = find(name);
    return pod ? pod->message : "gone";
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const PodReport& pod : report.pods) all.push_back(pod.name);
    return all;
  }
  // Whether the timeline has an entry with this text.
  bool happened(const std::string& text) const {
    for (const std::string& entry : report.timeline)
      if (entry.find(text) != std::string::npos) return true;
    return false;
  }

 private:
  void note(const Error& e) { error = e.message; }
};

inline std::string node(const std::string& name, const std::string& cpu = "4",
                        const std::string& more = "") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {0}, labels: {{name: {0}}}}}\n"
      "spec: {{{2}}}\nstatus: {{capacity: {{cpu: \"{1}\", memory: 16Gi, pods: \"110\"}}}}\n",
      name, cpu, more);
}

inline std::string pod(const std::string& name, const std::string& cpu = "1",
                       const std::string& spec = "", const std::string& labels = "") {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}, labels: {{{}}}}}\nspec:\n  {}\n"
      "  containers: [{{name: c, image: c, resources: {{requests: {{cpu: \"{}\"}}}}}}]\n",
      name, labels, spec, cpu);
}

}  // namespace berth::sim::testing
