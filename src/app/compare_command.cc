#include "app/compare_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <utility>

#include "app/input.h"
#include "app/page_output.h"
#include "base/file.h"
#include "base/parallel.h"
#include "compare/comparison_table.h"
#include "compare/sweep.h"
#include "page/page.h"
#include "plugins/table.h"
#include "wire/json_text.h"
#include "wire/json_tree.h"
#include "wire/yaml_text.h"

namespace berth::app {
namespace {

constexpr std::size_t kExplained = 5;
constexpr std::size_t kMostExplainedRuns = 16;  // a larger sweep explains only what it is asked to

// Each file is read once, however many sides and inputs name it.
class Files {
 public:
  Result<compare::NamedText> read(const std::string& path) {
    if (path.empty()) return compare::NamedText{};
    const auto known = texts_.find(path);
    if (known == texts_.end()) {
      Result<std::string> text = app::read_file(path);
      if (!text) return fail(text.error());
      return compare::NamedText{shown_path(path),
                                texts_.emplace(path, *std::move(text)).first->second};
    }
    return compare::NamedText{shown_path(path), known->second};
  }

 private:
  std::map<std::string, std::string> texts_;
};

Result<void> read_sides(const CompareWords& words, Files& files, compare::SweepPlan& plan) {
  const Result<std::vector<SideWords>> sides = sides_of(words);
  if (!sides) return fail(sides.error());
  for (const SideWords& side : *sides) {
    Result<compare::NamedText> config = files.read(side.config);
    if (!config) return fail(config.error());
    plan.sides.push_back({side.name, *std::move(config), side.feature_gates, side.seed});
  }
  return {};
}

Result<void> read_inputs(const CompareWords& words, const trace::TraceOptions& trace, Files& files,
                         compare::SweepPlan& plan) {
  const Result<std::vector<InputWords>> inputs = inputs_of(words);
  if (!inputs) return fail(inputs.error());
  for (const InputWords& input : *inputs) {
    compare::Input& read = plan.inputs.emplace_back();
    read.name = input.name;
    read.traces = input.traces;
    read.trace = trace;
    for (const std::string& path : input.files) {
      Result<compare::NamedText> file = files.read(path);
      if (!file) return fail(file.error());
      read.files.push_back(*std::move(file));
    }
    Result<compare::NamedText> cluster = files.read(input.cluster);
    if (!cluster) return fail(cluster.error());
    read.cluster = *std::move(cluster);
    Result<compare::NamedText> scenario = files.read(input.scenario);
    if (!scenario) return fail(scenario.error());
    read.scenario = *std::move(scenario);
  }
  return {};
}

Result<compare::SweepPlan> plan_of(const CompareOptions& options) {
  compare::SweepPlan plan;
  Files files;
  if (Result<void> read = read_sides(options.words, files, plan); !read) return fail(read.error());
  if (Result<void> read = read_inputs(options.words, options.trace, files, plan); !read)
    return fail(read.error());
  const Result<std::vector<std::uint64_t>> seeds = seeds_of(options.words);
  if (!seeds) return fail(seeds.error());
  plan.seeds = *seeds;
  const auto shard = shard_of(options.words.shard);
  if (!shard) return fail(shard.error());
  plan.shard = {shard->first, shard->second};
  plan.until = options.until;
  plan.limits.pods = options.fit_limit;
  plan.explained = options.explained.value_or(plan.runs() > kMostExplainedRuns ? 0 : kExplained);
  plan.strict = options.strict;
  plan.keep_series = options.keep_series || options.output == OutputFormat::kHtml;
  plan.keep_histories = options.output == OutputFormat::kHtml;
  plan.threads = options.threads.value_or(hardware_threads());
  return plan;
}

Result<compare::SweepResult> run_plan(const CompareOptions& options, std::ostream& err) {
  const Result<compare::SweepPlan> plan = plan_of(options);
  if (!plan) return fail(plan.error());
  const bool shows_progress = &err == &std::cerr && ::isatty(STDERR_FILENO) != 0;
  compare::SweepProgress progress;
  if (shows_progress)
    progress = [&err](std::size_t ended, std::size_t all) {
      err << fmt::format("\r\033[K{} of {} runs", ended, all) << std::flush;
    };
  Result<compare::SweepResult> result =
      compare::run_sweep(*plan, plugins::make_plugin_table(), progress);
  if (shows_progress) err << "\r\033[K" << std::flush;
  if (!result) return fail(result.error());
  for (const std::string& warning : result->warnings) err << warning << '\n';
  return result;
}

Result<compare::SweepResult> merge(const std::vector<std::string>& paths) {
  std::vector<compare::NamedText> parts;
  for (const std::string& path : paths) {
    Result<std::string> text = app::read_file(path);
    if (!text) return fail(text.error());
    parts.push_back({shown_path(path), *std::move(text)});
  }
  Result<JsonValue> document = compare::merge_parts(parts);
  if (!document) return fail(document.error());
  compare::SweepResult merged;
  merged.document = *std::move(document);
  return merged;
}

// The `PageData` of web/model.js.
std::string page_data(const compare::SweepResult& result) {
  const JsonValue& document = result.document;
  std::string title = "comparison";
  if (const JsonValue* const sweep = document.find("sweep"))
    if (const JsonValue* const inputs = sweep->find("inputs"); inputs && inputs->items.size() == 1)
      title = "comparison on " + inputs->items.front().text;
  std::string data = "{\"title\": ";
  append_json_string(data, title);
  data += ", \"comparison\": " + to_json(document) + ", \"histories\": [";
  for (std::size_t run = 0; run < result.histories.size(); ++run) {
    if (run > 0) data += ",\n";
    data += result.histories[run].empty() ? "null" : result.histories[run];
  }
  return data + "]}\n";
}

}  // namespace

Result<void> compare(const CompareOptions& options, std::ostream& out, std::ostream& err) {
  if (options.output == OutputFormat::kHtml)
    if (Result<void> allowed = check_page_output(out); !allowed) return allowed;
  const Result<compare::SweepResult> result =
      options.merge.empty() ? run_plan(options, err) : merge(options.merge);
  if (!result) return fail(result.error());
  const JsonValue& document = result->document;
  if (!options.words.shard.empty()) {
    const std::string text = to_indented_json(document) + "\n";
    if (!options.part_file.empty()) return write_file(options.part_file, text);
    out << text;
    return {};
  }
  switch (options.output) {
    case OutputFormat::kJson: out << to_indented_json(document) << '\n'; break;
    case OutputFormat::kYaml: out << to_go_yaml(document); break;
    case OutputFormat::kHtml: out << page::page_with(page_data(*result)); break;
    default: out << compare::to_table(document);
  }
  return {};
}

}  // namespace berth::app
