// A simulation in one line, for tests.
//
//   Simulated run(node("n1") + pod("p"), "events: [{at: 1s, cordon: n1}]");
//   EXPECT_EQ(run.stands("p"), "Bound n1");
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/interner.h"
#include "sim/simulation.h"

namespace berth::sim::testing {

struct Simulated {
  // `scenario` without its first line.
  explicit Simulated(const std::string& manifests, const std::string& scenario = "",
                     std::optional<Duration> until = {}, std::vector<std::string> trace_pods = {});

  const PodReport* find(const std::string& name) const;
  // "Bound n1", "Pending": how the pod stands.
  std::string stands(const std::string& name) const;
  std::string message(const std::string& name) const;
  std::vector<std::string> names() const;
  // Whether the timeline has an entry with this text.
  bool happened(const std::string& text) const;

  Interner interner;
  std::unique_ptr<Simulation> simulation;
  SimulationReport report;
  std::string error;  // what went wrong before the run

 private:
  Result<void> run(const std::string& manifests, const std::string& scenario,
                   std::optional<Duration> until, std::vector<std::string> trace_pods);
};

// Manifests, to be put together with +.
std::string node(const std::string& name, const std::string& cpu = "4",
                 const std::string& spec = "");
std::string pod(const std::string& name, const std::string& cpu = "1", const std::string& spec = "",
                const std::string& labels = "");

}  // namespace berth::sim::testing
