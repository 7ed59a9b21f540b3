// The commands that decide without a cluster of their own: simulate, bench, evaluate, explain.

#include <CLI/CLI.hpp>
#include <utility>

#include "app/bench_command.h"
#include "app/cli_command.h"
#include "app/evaluate.h"
#include "app/explain_command.h"
#include "app/simulate.h"
#include "base/time_text.h"

namespace berth::app {
namespace {

constexpr int kDone = 0;
constexpr int kWithoutNode = 3;  // of explain: some pod has no node

Result<int> exit_code(const Result<void>& done) {
  if (!done) return fail(done.error());
  return kDone;
}

class SimulateCommand : public CliCommand {
 public:
  explicit SimulateCommand(CLI::App& command) : CliCommand(command) {
    command
        .add_option("-f,--file", options_.files,
                    "Manifests: YAML or JSON, several documents, Lists; - reads standard input")
        ->type_name("FILE");
    command
        .add_option("--trace", options_.traces,
                    "Replay what happened to a real cluster, and compare where pods go: a recording"
                    " of berth record, openb's lists of nodes and pods, or a trace of SimKube"
                    " (docs/trace.md)")
        ->type_name("FILE");
    add_flag_of(command, "--gpu-share", gpu_share_, "HOW",
                "What parts of openb's GPUs become: devices, or extended-resource, thousandths that"
                " are counted by node (default devices)",
                check_gpu_share);
    command.add_flag("--differences", options_.differences,
                     "Say which pods went elsewhere than in the trace, and why");
    add_flag_of(command, "--scenario", options_.scenario, "FILE",
                "What happens over time (docs/scenario.md)");
    add_flag_of(command, "--timeline", options_.timeline, "FILE",
                "Write the timeline there as it happens, a JSON object a line");
    add_config_flags(command, options_.config, options_.feature_gates);
    add_seed_flag(command, seed_);
    add_flag_of(command, "--until", until_, "DURATION",
                "Stop at this virtual time, whatever is left to do (default 24h; of a trace a day"
                " more than twice its length)",
                check_duration);
    add_flag_of(command, "-o,--output", output_, "FORMAT",
                "table, json, yaml or html, a page for a browser (default table)",
                check_page_format);
    add_flag_of(command, "--trace-pod", options_.trace_pods, "NAME",
                "Say of every attempt of this pod what was found out about each node, as evaluate"
                " does: NAME or NAMESPACE/NAME, with * for any text; may be given again");
    add_verify_increments_flag(command, options_.verify_increments);
    add_strict_flag(command, options_.strict);
  }

  std::string misuse() const override { return check_simulate(options_); }

  Result<int> run(std::ostream& out, std::ostream& err) override {
    options_.seed = seed_of(seed_, options_.seed);
    options_.trace.gpu_share = gpu_share_of(gpu_share_);
    if (!until_.empty()) options_.until = *parse_go_duration(until_);
    options_.output = output_format_of(output_);
    return exit_code(simulate(options_, out, err));
  }

 private:
  SimulateOptions options_;
  std::string seed_, until_, output_, gpu_share_;
};

class BenchCommand : public CliCommand {
 public:
  explicit BenchCommand(CLI::App& command) : CliCommand(command) {
    command
        .add_option("file", options_.files,
                    "Test cases in the form of performance-config.yaml (default: berth's own)")
        ->type_name("FILE");
    add_flag_of(command, "--filter", options_.filter, "REGEX",
                "Only workloads whose TestCase/Workload this matches");
    add_flag_of(command, "--label", options_.labels, "LABEL",
                "Only workloads with this label; given twice, with both");
    add_seed_flag(command, seed_);
    command.add_flag("--list", options_.list, "Print the workloads' names and run none");
    command.add_flag("--json", options_.json, "Print results as JSON");
    command.add_flag("--in-process", options_.in_process,
                     "All in one process; peak memory is then that of all so far");
    add_verify_increments_flag(command, options_.verify_increments);
  }

  Result<int> run(std::ostream& out, std::ostream& err) override {
    options_.seed = seed_of(seed_, options_.seed);
    return exit_code(bench(options_, out, err));
  }

 private:
  BenchOptions options_;
  std::string seed_;
};

class EvaluateCommand : public CliCommand {
 public:
  explicit EvaluateCommand(CLI::App& command) : CliCommand(command) {
    command
        .add_option("--cluster", options_.cluster,
                    "The cluster's objects as an API server returns them: a List, YAML or JSON;"
                    " - reads standard input")
        ->type_name("FILE")
        ->take_last()
        ->required();
    add_flag_of(command, "--config", options_.config, "FILE", "A KubeSchedulerConfiguration");
    // Judged with all other flags: --groups turns a gate on.
    add_flag_of(command, "--feature-gates", options_.feature_gates, "GATES", "A=true,B=false");
    add_flag_of(command, "--profile", options_.profile, "NAME",
                "Scheduler name of the profile that judges all pods (default: the first)");
    command.add_flag("--sequence", options_.sequence,
                     "A pod that finds a node stays there before the next is judged");
    command.add_flag("--preempt", options_.preempt,
                     "Say what preemption would do for pods that fit nowhere");
    command.add_flag("--all-rejections", options_.all_rejections,
                     "Name every plugin that rejects a node, not only the first");
    command.add_flag("--groups", options_.groups,
                     "Let the scheduler's own queue and cycles run, one cycle for each pod or group"
                     " of pods, as with GenericWorkload=true, and say how each ended");
    add_verify_increments_flag(command, options_.verify_increments);
    add_strict_flag(command, options_.strict);
    add_flag_of(command, "-o,--output", output_, "FORMAT", "json or table (default json)",
                check_plain_format);
  }

  std::string misuse() const override { return check_evaluate(options_); }

  Result<int> run(std::ostream& out, std::ostream& err) override {
    options_.output = output_format_of(output_);
    return exit_code(evaluate(options_, out, err));
  }

 private:
  EvaluateOptions options_;
  std::string output_ = "json";
};

class ExplainCommand : public CliCommand {
 public:
  explicit ExplainCommand(CLI::App& command) : CliCommand(command) {
    command.add_option("pod", options_.pods, "NAME or NAMESPACE/NAME of pods of the cluster")
        ->type_name("");
    command.add_flag("--all-pending", options_.all_pending, "Explain every pod without a node");
    add_flag_of(command, "-f,--file", options_.files, "FILE",
                "Manifests of pods that are not in the cluster: would they fit? With what they"
                " need beside them; - reads standard input");
    add_flag_of(command, "--cluster", options_.cluster, "FILE",
                "The cluster's objects as an API server returns them: a List, YAML or JSON; - reads"
                " standard input. Without it they are read from an API server, and nothing is"
                " written");
    add_flag_of(command, "--server", options_.scheduler.server, "URL",
                "Of a running berth scheduler, which answers, with what only it knows; or of berth"
                " run");
    add_flag_of(command, "--kubeconfig", options_.kubeconfig, "FILE",
                "Where the API server is, and as whom to read (default: as kubectl finds it); with"
                " --server, whose credentials to show");
    add_credential_flags(command, options_.scheduler);
    add_flag_of(command, "--context", options_.context, "NAME",
                "Of the kubeconfig (default: the current one)");
    add_flag_of(command, "-n,--namespace", options_.namespace_name, "NAMESPACE",
                "Of pods that are named without one (default: the context's, else default)");
    add_flag_of(command, "--node", options_.nodes, "NAME",
                "Show the scores of this node, too; may be given again");
    add_config_flags(command, options_.config, options_.feature_gates);
    add_flag_of(command, "--profile", options_.profile, "NAME",
                "Scheduler name of the profile that judges all pods (default: that of each pod)");
    add_strict_flag(command, options_.strict);
    add_flag_of(command, "-o,--output", output_, "FORMAT",
                "table, json, yaml or html (default table)", check_page_format);
  }

  std::string misuse() const override { return check_explain(options_); }

  Result<int> run(std::ostream& out, std::ostream& err) override {
    options_.output = output_format_of(output_);
    const Result<bool> all_have_nodes = explain(options_, out, err);
    if (!all_have_nodes) return fail(all_have_nodes.error());
    return *all_have_nodes ? kDone : kWithoutNode;
  }

 private:
  ExplainOptions options_;
  std::string output_;
};

}  // namespace

std::unique_ptr<CliCommand> add_simulate(CLI::App& program) {
  return std::make_unique<SimulateCommand>(*program.add_subcommand(
      "simulate",
      "Schedule the pods of manifests in virtual time and say who went where, and why not"));
}

std::unique_ptr<CliCommand> add_bench(CLI::App& program) {
  return std::make_unique<BenchCommand>(*program.add_subcommand(
      "bench", "Run scheduler_perf workloads in process and say how fast they go"));
}

std::unique_ptr<CliCommand> add_evaluate(CLI::App& program) {
  return std::make_unique<EvaluateCommand>(*program.add_subcommand(
      "evaluate",
      "Judge each pending pod of a cluster, offline: every node's verdict, every plugin's score"));
}

std::unique_ptr<CliCommand> add_explain(CLI::App& program) {
  return std::make_unique<ExplainCommand>(*program.add_subcommand(
      "explain",
      "Say why a pod has no node and what would help it, or why it has the node it has"));
}

}  // namespace berth::app
