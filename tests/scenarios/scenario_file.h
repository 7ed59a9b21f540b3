// A scenario test in one text file:
//
//   What it shows, in a sentence or two.
//   === flags                 (optional) seed: N, until: 1m, gates: A=true,B=false
//   === config                (optional) a KubeSchedulerConfiguration
//   === cluster               manifests, as `berth simulate` reads them
//   === scenario              (optional) what happens, docs/scenario.md
//   === timeline queued bound the entries of these kinds that must come of it, in order
//   === pods                  the table that must come of it
#pragma once

#include <string>
#include <vector>

#include "berth/result.h"

namespace berth::scenarios {

struct ScenarioFile {
  std::string about;
  std::string flags, config, cluster, scenario;
  std::vector<std::string> kinds;  // of timeline entries
  std::string timeline, pods;      // expected
};

Result<ScenarioFile> parse_scenario_file(const std::string& text);
std::string to_text(const ScenarioFile& file);

// The run's outcome in the place of what was expected.
Result<ScenarioFile> play(const ScenarioFile& file);

}  // namespace berth::scenarios
