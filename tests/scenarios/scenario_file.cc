#include "scenario_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "api/manifest.h"
#include "base/time_text.h"
#include "berth/interner.h"
#include "config/load.h"
#include "plugins/table.h"
#include "sim/report.h"
#include "sim/simulation.h"
#include "wire/json_tree.h"

namespace berth::scenarios {
namespace {

constexpr std::string_view kMark = "=== ";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string value_text(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kBool) return value.boolean ? "true" : "false";
  std::vector<std::string> parts;
  for (const JsonMember& member : value.members)
    parts.push_back(fmt::format("{}: {}", member.name, value_text(member.value)));
  for (const JsonValue& item : value.items) parts.push_back(value_text(item));
  if (value.kind == JsonValue::Kind::kObject) return fmt::format("{{{}}}", fmt::join(parts, ", "));
  if (value.kind == JsonValue::Kind::kArray) return fmt::format("[{}]", fmt::join(parts, ", "));
  return value.text;
}

// {"time":"1s","what":"bound","pod":"default/p","node":"n1"} as `1s bound default/p node=n1`.
Result<std::string> entry_text(const std::string& json, const std::vector<std::string>& kinds) {
  const Result<JsonValue> entry = parse_json(json);
  if (!entry) return fail(entry.error());
  std::vector<std::string> parts;
  for (const JsonMember& member : entry->members) {
    if (member.name == "what" && std::ranges::find(kinds, member.value.text) == kinds.end())
      return std::string();
    const bool named = member.name != "time" && member.name != "what" && member.name != "pod" &&
                       member.name != "about";
    parts.push_back(named ? fmt::format("{}={}", member.name, value_text(member.value))
                          : member.value.text);
  }
  return fmt::format("{}\n", fmt::join(parts, " "));
}

Result<void> apply_flags(const std::string& flags, sim::SimulationOptions& options) {
  std::istringstream in(flags);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() != 2) return fail(ErrorKind::kInvalid, "flags: not understood: " + line);
    if (words[0] == "seed:") {
      std::from_chars(words[1].data(), words[1].data() + words[1].size(), options.seed);
    } else if (words[0] == "until:") {
      const Result<Duration> until = parse_go_duration(words[1]);
      if (!until) return fail(until.error());
      options.until = *until;
    } else if (words[0] == "gates:") {
      if (Result<void> set = options.gates.set(words[1]); !set) return set;
    } else {
      return fail(ErrorKind::kInvalid, "flags: not understood: " + line);
    }
  }
  return options.gates.validate();
}

}  // namespace

Result<ScenarioFile> parse_scenario_file(const std::string& text) {
  ScenarioFile file;
  std::string* section = &file.about;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kMark)) {
      *section += line + '\n';
      continue;
    }
    std::vector<std::string> words = words_of(line.substr(kMark.size()));
    const std::string name = words.empty() ? "" : words.front();
    if (name == "flags")
      section = &file.flags;
    else if (name == "config")
      section = &file.config;
    else if (name == "cluster")
      section = &file.cluster;
    else if (name == "scenario")
      section = &file.scenario;
    else if (name == "timeline")
      section = &file.timeline;
    else if (name == "pods")
      section = &file.pods;
    else
      return fail(ErrorKind::kInvalid, "no such section: " + line);
    if (name == "timeline") file.kinds.assign(words.begin() + 1, words.end());
  }
  return file;
}

std::string to_text(const ScenarioFile& file) {
  std::string text = file.about;
  const auto section = [&](const std::string& title, const std::string& body, bool always) {
    if (always || !body.empty()) text += std::string(kMark) + title + '\n' + body;
  };
  section("flags", file.flags, false);
  section("config", file.config, false);
  section("cluster", file.cluster, true);
  section("scenario", file.scenario, false);
  section(fmt::format("timeline {}", fmt::join(file.kinds, " ")), file.timeline, true);
  section("pods", file.pods, true);
  return text;
}

Result<ScenarioFile> play(const ScenarioFile& file) {
  Interner interner;
  sim::SimulationOptions options;
  if (Result<void> applied = apply_flags(file.flags, options); !applied)
    return fail(applied.error());
  if (file.config.empty()) {
    options.configuration = config::default_configuration(options.gates);
  } else {
    Result<config::Configuration> read =
        config::parse_configuration(file.config, options.gates, interner);
    if (!read) return fail(read.error());
    options.configuration = std::move(*read);
  }
  sim::Scenario scenario;
  if (!file.scenario.empty()) {
    Result<sim::Scenario> read = sim::parse_scenario(file.scenario, "scenario");
    if (!read) return fail(read.error());
    scenario = std::move(*read);
  }
  Result<std::vector<ManifestObject>> objects = read_manifest(file.cluster, "cluster", interner);
  if (!objects) return fail(objects.error());
  if (Result<void> admitted = admit_all(*objects, interner, VirtualLoop::kDefaultStart); !admitted)
    return fail(admitted.error());
  Result<std::unique_ptr<sim::Simulation>> simulation = sim::Simulation::make(
      interner, plugins::make_plugin_table(), std::move(options), std::move(scenario));
  if (!simulation) return fail(simulation.error());
  if (Result<void> loaded = (*simulation)->load(*objects); !loaded) return fail(loaded.error());

  const sim::SimulationReport report = (*simulation)->run();
  ScenarioFile played = file;
  played.pods = sim::to_table(report);
  played.timeline.clear();
  for (const std::string& entry : report.timeline) {
    const Result<std::string> line = entry_text(entry, file.kinds);
    if (!line) return fail(line.error());
    played.timeline += *line;
  }
  return played;
}

}  // namespace berth::scenarios
