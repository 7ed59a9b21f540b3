// The commands that ask what would be: capacity and compare.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <utility>

#include "app/capacity_command.h"
#include "app/cli_command.h"
#include "app/compare_command.h"
#include "app/compare_words.h"
#include "base/time_text.h"

namespace berth::app {
namespace {

constexpr int kSuccess = 0;

std::string check_ratio(const std::string& text) {
  const Result<std::vector<std::int64_t>> ratio = parse_ratio(text);
  return ratio ? std::string() : ratio.error().message;
}

std::string check_count(const std::string& text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size() && count >= 0) return {};
  return fmt::format("\"{}\" is not a whole number", text);
}

std::int64_t count_of(const std::string& text) {
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

std::string check_data_format(const std::string& text) {
  if (text == "table" || text == "json" || text == "yaml") return {};
  return fmt::format("\"{}\" is none of table, json, yaml", text);
}

class CapacityCommand : public CliCommand {
 public:
  explicit CapacityCommand(CLI::App& command) : CliCommand(command) {
    add_flag_of(command, "-f,--file", options_.files, "FILE",
                "Manifests of the pods, with what they need beside them (claims, templates); each"
                " pod is a shape; - reads standard input");
    add_flag_of(command, "--cluster", options_.cluster.file, "FILE",
                "The cluster's objects as an API server returns them: a List, YAML or JSON; - reads"
                " standard input. Without it they are read from an API server, and nothing is"
                " written");
    add_flag_of(command, "--kubeconfig", options_.cluster.kubeconfig, "FILE",
                "Where that is, and as whom to read (default: as kubectl finds it)");
    add_flag_of(command, "--context", options_.cluster.context, "NAME",
                "Of the kubeconfig (default: the current one)");
    add_flag_of(command, "--ratio", ratio_, "A:B",
                "How many pods of each shape in a round, in the order of the shapes (default 1:1)",
                check_ratio);
    add_flag_of(command, "--max", most_, "N", "Stop at so many pods in all", check_count);
    add_config_flags(command, options_.config, options_.feature_gates);
    add_flag_of(command, "--profile", options_.profile, "NAME",
                "Scheduler name of the profile that decides (default: that of the pods)");
    add_strict_flag(command, options_.cluster.strict);
    add_flag_of(command, "-o,--output", output_, "FORMAT", "table, json or yaml (default table)",
                check_data_format);
    command.footer(
        "Pods are placed one after the other by the scheduler's own search, and nobody is\n"
        "preempted. docs/compare.md says what is printed.");
  }

  std::string misuse() const override {
    const ClusterSource& cluster = options_.cluster;
    if (options_.files.empty()) return "capacity needs -f FILE: the pods that are to fit";
    if (!cluster.file.empty() && !(cluster.kubeconfig + cluster.context).empty())
      return "capacity takes either --cluster or --kubeconfig and --context";
    if (std::ranges::count(options_.files, "-") + (cluster.file == "-" ? 1 : 0) > 1)
      return "standard input can be read once only";
    return {};
  }

  Result<int> run(std::ostream& out, std::ostream& err) override {
    if (!ratio_.empty()) options_.ratio = *parse_ratio(ratio_);
    if (!most_.empty()) options_.most = count_of(most_);
    options_.output = output_format_of(output_);
    const Result<void> done = capacity(options_, out, err);
    if (!done) return fail(done.error());
    return kSuccess;
  }

 private:
  CapacityOptions options_;
  std::string ratio_, most_, output_;
};

class CompareCommand : public CliCommand {
 public:
  explicit CompareCommand(CLI::App& command) : CliCommand(command) {
    add_flag_of(command, "--config", words_.configs, "FILE",
                "A side: a KubeSchedulerConfiguration; default is berth's own. Given again, another"
                " side. The first side is what the others are compared with");
    add_flag_of(
        command, "--side", words_.sides, "KEY=VALUE,…",
        "A side in full: name=, config=, seed=, feature-gates=A=true,B=false. Sides given so"
        " follow those of --config");
    add_flag_of(command, "--seed", words_.seed, "N", "Of every run (default 0)", check_seed);
    add_flag_of(command, "--seeds", words_.seeds, "A..B|A,B",
                "Run everything with each of these seeds; figures are then means. With one side,"
                " every seed is a side");
    add_flag_of(command, "--feature-gates", words_.feature_gates, "GATES",
                "A=true,B=false, for sides that do not say their own", check_gates);
    add_flag_of(command, "-f,--file", words_.files, "FILE",
                "The input: manifests, as for simulate; - reads standard input");
    add_flag_of(
        command, "--cluster", words_.cluster, "FILE",
        "The input: a cluster as an API server returns it; its workloads make no pods, which"
        " are in it");
    add_flag_of(command, "--trace", words_.traces, "FILE",
                "The input: what happened to a real cluster, as for simulate (docs/trace.md)");
    add_flag_of(
        command, "--gpu-share", gpu_share_, "HOW",
        "What parts of openb's GPUs become: devices, or extended-resource (default devices)",
        check_gpu_share);
    add_flag_of(command, "--scenario", words_.scenario, "FILE",
                "What happens over time (docs/scenario.md)");
    add_flag_of(command, "--input", words_.inputs, "KEY=VALUE,…",
                "One of several inputs: name=, file= and trace= (also twice), cluster=, scenario=");
    add_flag_of(command, "--until", until_, "DURATION",
                "End each run at this virtual time (default 24h; of a trace a day more than twice "
                "its length)",
                check_duration);
    add_flag_of(
        command, "--explain", explain_, "N",
        "Say of so many pods of each side why they went elsewhere (default 5; 0 in a sweep of"
        " more than 16 runs)",
        check_count);
    add_flag_of(command, "--fit-limit", fit_limit_, "N",
                "Follow a shape until so many more of its pods fit (default 1000)", check_count);
    add_flag_of(command, "--jobs", jobs_, "N",
                "How many runs at a time (default: as many as cores)", check_count);
    add_flag_of(
        command, "--shard", words_.shard, "I/N",
        "Only the runs of this shard, I from 0 to N-1; what is written is a part to --merge,"
        " to the file that -o names or standard output");
    command
        .add_option("--merge", options_.merge, "Put the parts of a sweep together; no run is made")
        ->type_name("PART")
        ->expected(1, 1'000'000);
    command.add_flag("--series", options_.keep_series,
                     "Say in JSON what the figures were over time, for plots");
    add_strict_flag(command, options_.strict);
    add_flag_of(command, "-o,--output", output_, "FORMAT",
                "table, json, yaml or html, a page for a browser (default table); with --shard the "
                "part's file");
    command.footer("docs/compare.md says what each figure is.");
  }

  std::string misuse() const override {
    if (!words_.shard.empty()) {
      if (output_ == "table" || output_ == "yaml" || output_ == "html")
        return "a part is JSON: with --shard, -o names the file that it is written to";
    } else if (!output_.empty()) {
      if (const std::string wrong = check_page_format(output_); !wrong.empty())
        return "--output: " + wrong;
    }
    return check_words(words_, !options_.merge.empty());
  }

  Result<int> run(std::ostream& out, std::ostream& err) override {
    options_.words = words_;
    options_.trace.gpu_share = gpu_share_of(gpu_share_);
    if (!until_.empty()) options_.until = *parse_go_duration(until_);
    if (!explain_.empty()) options_.explained = static_cast<std::size_t>(count_of(explain_));
    if (!fit_limit_.empty()) options_.fit_limit = count_of(fit_limit_);
    if (!jobs_.empty()) options_.threads = static_cast<std::size_t>(count_of(jobs_));
    if (words_.shard.empty())
      options_.output = output_format_of(output_);
    else if (output_ != "json")
      options_.part_file = output_;
    const Result<void> done = compare(options_, out, err);
    if (!done) return fail(done.error());
    return kSuccess;
  }

 private:
  CompareOptions options_;
  CompareWords words_;
  std::string until_, explain_, fit_limit_, jobs_, output_, gpu_share_;
};

}  // namespace

std::unique_ptr<CliCommand> add_compare(CLI::App& program) {
  return std::make_unique<CompareCommand>(*program.add_subcommand(
      "compare",
      "Run the same input under several configurations or seeds: what differs, and which plugin"
      " made the difference"));
}

std::unique_ptr<CliCommand> add_capacity(CLI::App& program) {
  return std::make_unique<CapacityCommand>(*program.add_subcommand(
      "capacity", "Say how many more pods of given shapes fit, on which nodes, and what ends it"));
}

}  // namespace berth::app
