#include "app/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <ostream>
#include <utility>

#include "api/release.h"
#include "app/apiserver_command.h"
#include "app/bench_command.h"
#include "app/evaluate.h"
#include "app/explain_command.h"
#include "app/permit_command.h"
#include "app/plugin_list.h"
#include "app/run_command.h"
#include "app/scheduler_command.h"
#include "app/simulate.h"
#include "app/version.h"
#include "base/time_text.h"
#include "config/feature_gates.h"
#include "plugins/table.h"

namespace berth::app {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kWithoutNode = 3;  // of `berth explain`: some pod has no node

// Checks the text of a flag; what is wrong with it is told after the flag's name.
CLI::Validator checked(std::function<std::string(const std::string&)> complaint) {
  return CLI::Validator(
      [complaint = std::move(complaint)](std::string& text) { return complaint(text); }, "");
}

std::string check_duration(const std::string& text) {
  const Result<Duration> parsed = parse_go_duration(text);
  if (!parsed) return parsed.error().message;
  return *parsed < Duration::zero() ? fmt::format("\"{}\" is negative", text) : std::string();
}

std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return fmt::format("\"{}\" is not a whole number from 0 to 18446744073709551615", text);
}

std::string check_format(const std::string& text) {
  if (text == "table" || text == "json" || text == "yaml" || text == "html") return {};
  return fmt::format("\"{}\" is none of table, json, yaml, html", text);
}

std::string check_evaluation_format(const std::string& text) {
  if (text == "json" || text == "table") return {};
  return fmt::format("\"{}\" is none of json, table", text);
}

std::string check_gates(const std::string& text) {
  config::FeatureGates gates;
  Result<void> set = gates.set(text);
  if (set) set = gates.validate();
  return set ? std::string() : set.error().message;
}

constexpr const char* kVerifyIncrements =
    "Make every decision from scratch too, and stop at the first difference";

constexpr const char* kStrict =
    "Refuse objects with fields that their kind does not have; otherwise they are named on standard"
    " error";

// The words of `berth simulate` as they were written; valid once CLI11 has let them pass.
struct SimulateFlags {
  std::vector<std::string> files, trace_pods;
  std::string scenario, config, gates, seed, until, output = "table";
  bool verify_increments = false;
  bool strict = false;

  SimulateOptions options() const {
    SimulateOptions result;
    result.files = files;
    result.trace_pods = trace_pods;
    result.scenario = scenario;
    result.config = config;
    result.feature_gates = gates;
    result.verify_increments = verify_increments;
    result.strict = strict;
    if (!seed.empty()) std::from_chars(seed.data(), seed.data() + seed.size(), result.seed);
    if (!until.empty()) result.until = *parse_go_duration(until);
    if (output == "json") result.output = OutputFormat::kJson;
    if (output == "yaml") result.output = OutputFormat::kYaml;
    if (output == "html") result.output = OutputFormat::kHtml;
    return result;
  }
};

void add_simulate(CLI::App& program, SimulateFlags& flags) {
  CLI::App* command = program.add_subcommand(
      "simulate",
      "Schedule the pods of manifests in virtual time and say who went where, and why not");
  command
      ->add_option("-f,--file", flags.files,
                   "Manifests: YAML or JSON, several documents, Lists; - reads standard input")
      ->required()
      ->type_name("FILE");
  // Of a flag that is given twice the last one counts.
  const auto option = [command](const char* name, std::string& value, const char* type,
                                const char* description) {
    return command->add_option(name, value, description)->type_name(type)->take_last();
  };
  option("--scenario", flags.scenario, "FILE", "What happens over time (docs/scenario.md)");
  option("--config", flags.config, "FILE", "A KubeSchedulerConfiguration");
  option("--feature-gates", flags.gates, "GATES", "A=true,B=false")->check(checked(check_gates));
  option("--seed", flags.seed, "N", "Of the draw among equally good nodes (default 0)")
      ->check(checked(check_seed));
  option("--until", flags.until, "DURATION",
         "Stop at this virtual time, whatever is left to do (default 24h)")
      ->check(checked(check_duration));
  option("-o,--output", flags.output, "FORMAT",
         "table, json, yaml or html, a page for a browser (default table)")
      ->check(checked(check_format));
  command
      ->add_option(
          "--trace-pod", flags.trace_pods,
          "Say of every attempt of this pod what was found out about each node, as evaluate"
          " does: NAME or NAMESPACE/NAME, with * for any text; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_flag("--verify-increments", flags.verify_increments, kVerifyIncrements);
  command->add_flag("--strict", flags.strict, kStrict);
}

struct BenchFlags {
  BenchOptions options;
  std::string seed;

  BenchOptions read() const {
    BenchOptions result = options;
    if (!seed.empty()) std::from_chars(seed.data(), seed.data() + seed.size(), result.seed);
    return result;
  }
};

void add_bench(CLI::App& program, BenchFlags& flags) {
  CLI::App* command = program.add_subcommand(
      "bench", "Run scheduler_perf workloads in process and say how fast they go");
  command
      ->add_option("file", flags.options.files,
                   "Test cases in the form of performance-config.yaml (default: berth's own)")
      ->type_name("FILE");
  command
      ->add_option("--filter", flags.options.filter,
                   "Only workloads whose TestCase/Workload this matches")
      ->type_name("REGEX")
      ->take_last();
  command
      ->add_option("--label", flags.options.labels,
                   "Only workloads with this label; given twice, with both")
      ->type_name("LABEL")
      ->allow_extra_args(false);
  command->add_option("--seed", flags.seed, "Of the draw among equally good nodes (default 0)")
      ->type_name("N")
      ->take_last()
      ->check(checked(check_seed));
  command->add_flag("--list", flags.options.list, "Print the workloads' names and run none");
  command->add_flag("--json", flags.options.json, "Print results as JSON");
  command->add_flag("--in-process", flags.options.in_process,
                    "All in one process; peak memory is then that of all so far");
  command->add_flag("--verify-increments", flags.options.verify_increments, kVerifyIncrements);
}

struct EvaluateFlags {
  EvaluateOptions options;
  std::string output = "json";
};

void add_evaluate(CLI::App& program, EvaluateFlags& flags) {
  CLI::App* command = program.add_subcommand(
      "evaluate",
      "Judge each pending pod of a cluster, offline: every node's verdict, every plugin's score");
  const auto option = [command](const char* name, std::string& value, const char* type,
                                const char* description) {
    return command->add_option(name, value, description)->type_name(type)->take_last();
  };
  EvaluateOptions& options = flags.options;
  option("--cluster", options.cluster, "FILE",
         "The cluster's objects as an API server returns them: a List, YAML or JSON; - reads"
         " standard input")
      ->required();
  option("--config", options.config, "FILE", "A KubeSchedulerConfiguration");
  option("--profile", options.profile, "NAME",
         "Scheduler name of the profile that judges all pods (default: the first)");
  option("--feature-gates", options.feature_gates, "GATES", "A=true,B=false")
      ->check(checked(check_gates));
  command->add_flag("--sequence", options.sequence,
                    "A pod that finds a node stays there before the next is judged");
  command->add_flag("--preempt", options.preempt,
                    "Say what preemption would do for pods that fit nowhere");
  command->add_flag("--all-rejections", options.all_rejections,
                    "Name every plugin that rejects a node, not only the first");
  command->add_flag("--verify-increments", options.verify_increments, kVerifyIncrements);
  command->add_flag("--strict", options.strict, kStrict);
  option("-o,--output", flags.output, "FORMAT", "json or table (default json)")
      ->check(checked(check_evaluation_format));
}

// The words of `berth explain` as they were written.
struct ExplainFlags {
  ExplainOptions options;
  std::string output = "table";

  ExplainOptions read() const {
    ExplainOptions result = options;
    if (output == "json") result.output = ExplainOptions::Format::kJson;
    if (output == "yaml") result.output = ExplainOptions::Format::kYaml;
    if (output == "html") result.output = ExplainOptions::Format::kHtml;
    return result;
  }
};

void add_explain(CLI::App& program, ExplainFlags& flags) {
  CLI::App* command = program.add_subcommand(
      "explain", "Say why a pod has no node and what would help it, or why it has the node it has");
  ExplainOptions& options = flags.options;
  command->add_option("pod", options.pods, "NAME or NAMESPACE/NAME of pods of the cluster")
      ->type_name("");
  const auto option = [command](const char* name, std::string& value, const char* type,
                                const char* description) {
    return command->add_option(name, value, description)->type_name(type)->take_last();
  };
  command->add_flag("--all-pending", options.all_pending, "Explain every pod without a node");
  command
      ->add_option("-f,--file", options.files,
                   "Manifests of pods that are not in the cluster: would they fit? With what they"
                   " need beside them; - reads standard input")
      ->type_name("FILE")
      ->allow_extra_args(false);
  option("--cluster", options.cluster, "FILE",
         "The cluster's objects as an API server returns them: a List, YAML or JSON; - reads"
         " standard input. Without it they are read from an API server, and nothing is written");
  option("--kubeconfig", options.kubeconfig, "FILE",
         "Where that is, and as whom to read (default: as kubectl finds it)");
  option("--context", options.context, "NAME", "Of the kubeconfig (default: the current one)");
  option("-n,--namespace", options.namespace_name, "NAMESPACE",
         "Of pods that are named without one (default: the context's, else default)");
  command
      ->add_option("--node", options.nodes, "Show the scores of this node, too; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  option("--config", options.config, "FILE", "A KubeSchedulerConfiguration");
  option("--profile", options.profile, "NAME",
         "Scheduler name of the profile that judges all pods (default: that of each pod)");
  option("--feature-gates", options.feature_gates, "GATES", "A=true,B=false")
      ->check(checked(check_gates));
  command->add_flag("--strict", options.strict, kStrict);
  option("-o,--output", flags.output, "FORMAT", "table, json, yaml or html (default table)")
      ->check(checked(check_format));
}

// The words of `berth permit` as they were written.
struct PermitFlags {
  PermitOptions options;
  std::string action, output = "table";

  PermitOptions read() const {
    PermitOptions result = options;
    if (action == "allow") result.action = PermitOptions::Action::kAllow;
    if (action == "reject") result.action = PermitOptions::Action::kReject;
    if (output == "json") result.output = PermitOptions::Format::kJson;
    return result;
  }
};

void add_permit(CLI::App& program, PermitFlags& flags) {
  CLI::App* command = program.add_subcommand(
      "permit",
      "See which pods a running scheduler holds before binding; let them go or turn them away");
  PermitOptions& options = flags.options;
  command->add_option("action", flags.action, "list, allow or reject")
      ->required()
      ->type_name("")
      ->check(checked([](const std::string& text) {
        return text == "list" || text == "allow" || text == "reject"
                   ? std::string()
                   : fmt::format("\"{}\" is none of list, allow, reject", text);
      }));
  command->add_option("pod", options.pod, "NAME or NAMESPACE/NAME of the pod to allow or reject")
      ->type_name("");
  const auto option = [command](const char* name, std::string& value, const char* type,
                                const char* description) {
    return command->add_option(name, value, description)->type_name(type)->take_last();
  };
  option("-n,--namespace", options.namespace_name, "NAMESPACE",
         "Of the pod (default: default); of list: only this one (default: all)");
  option("--plugin", options.plugin, "NAME",
         "Speak for this plugin only (default: for all that hold the pod)");
  option("--message", options.message, "TEXT", "Why the pod is rejected");
  option("--server", options.server, "URL", "Of the scheduler (default https://127.0.0.1:10259)");
  option("--kubeconfig", options.kubeconfig, "FILE", "Whose credentials to show the scheduler");
  option("--token-file", options.token_file, "FILE", "A bearer token to show the scheduler");
  option("--certificate-authority", options.certificate_authority, "FILE",
         "Whom to trust to know the scheduler");
  command->add_flag("--insecure-skip-tls-verify", options.insecure_skip_tls_verify,
                    "Trust whoever answers");
  option("-o,--output", flags.output, "FORMAT", "table or json (default table)")
      ->check(checked(check_evaluation_format));
}

// What `berth run` and `berth apiserver` have in common.
void add_server_flags(CLI::App& command, EmbeddedServerOptions& options) {
  const auto option = [&command](const char* name, std::string& value, const char* type,
                                 const char* description) {
    return command.add_option(name, value, description)->type_name(type)->take_last();
  };
  option("--listen", options.listen, "ADDR:PORT",
         "Where the API server listens; beyond this machine it needs a token and speaks TLS "
         "(default 127.0.0.1:8001)");
  option("--write-kubeconfig", options.kubeconfig, "FILE", "Write a kubeconfig for it");
  option("--data", options.data, "FILE",
         "Keep all objects here: read at the start if it is there, written at the end");
  option("--token-file", options.token_file, "FILE",
         "What clients must present (default: on an address beyond this machine one is made)");
  command
      .add_option_function<std::string>(
          "--event-ttl",
          [&options](const std::string& text) { options.event_ttl = *parse_go_duration(text); },
          "How long events are kept; 0: until there are 64 MiB of them (default 1h)")
      ->type_name("DURATION")
      ->check(checked(check_duration))
      ->take_last();
  command
      .add_option("--controllers", options.controllers,
                  "Which controllers run: * for all, NAME, -NAME")
      ->type_name("NAMES")
      ->delimiter(',')
      ->take_all();
}

void add_apiserver(CLI::App& program, EmbeddedServerOptions& options) {
  CLI::App* command = program.add_subcommand(
      "apiserver", "Be an API server in memory that kubectl and schedulers can use");
  options.controllers = {"garbage-collector-controller"};
  add_server_flags(*command, options);
}

void add_run(CLI::App& program, RunOptions& options) {
  CLI::App* command = program.add_subcommand(
      "run", "Be a whole cluster: API server, scheduler, and nodes on which pods seem to run");
  options.server.controllers = {"*"};
  add_server_flags(*command, options.server);
  const auto option = [command](const char* name, std::string& value, const char* type,
                                const char* description) {
    return command->add_option(name, value, description)->type_name(type)->take_last();
  };
  option("--config", options.config, "FILE", "A KubeSchedulerConfiguration");
  option("--feature-gates", options.feature_gates, "GATES", "A=true,B=false")
      ->check(checked(check_gates));
  command->add_flag("--demo", options.demo, "Begin with a sample cluster and a stream of pods");
  command->add_flag("--exit-when-idle", options.exit_when_idle,
                    "End when no pod can be scheduled any more, with a summary");
  command->add_option("-v,--v", options.verbosity, "How much the scheduler logs")
      ->type_name("LEVEL")
      ->take_last();
}

// Messages of libraries and of aggregated errors may have several lines; a complaint has one.
int complain(std::ostream& err, std::string what, int code) {
  std::ranges::replace(what, '\n', ' ');
  err << "berth: " << what << '\n';
  return code;
}

// What CLI11 did not like, in a sentence.
std::string complaint_of(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<std::string> strangers = program.remaining(/*recurse=*/true);
  if (!strangers.empty()) {
    const std::string& first = strangers.front();
    if (first.starts_with('-')) return fmt::format("unknown flag {}", first);
    if (program.get_subcommands().empty()) return fmt::format("unknown command \"{}\"", first);
    return fmt::format("unexpected argument \"{}\"", first);
  }
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return fmt::format("{} needs a value", what.substr(0, what.find(':')));
  return what;
}

int wrong_usage(std::ostream& err, const CLI::App& program, const std::string& what) {
  const auto commands = program.get_subcommands();
  const std::string command = commands.empty() ? "" : commands.front()->get_name() + " ";
  return complain(err, fmt::format("{} (see `berth {}--help`)", what, command), kWrongUsage);
}

int print_help(const CLI::App& program, const std::string& command, std::ostream& out,
               std::ostream& err) {
  const auto found = program.get_subcommands(
      [&command](const CLI::App* candidate) { return candidate->get_name() == command; });
  if (!command.empty() && found.empty())
    return complain(err, fmt::format("unknown command \"{}\" (see `berth --help`)", command),
                    kWrongUsage);
  const CLI::App* asked = command.empty() ? &program : found.front();
  // Not asked->help(): that of the program would be the help of the command that was read.
  const std::string name = asked == &program ? "berth" : "berth " + command;
  out << asked->get_formatter()->make_help(asked, name, CLI::AppFormatMode::Normal);
  return 0;
}

// "berth 0.1.0 (commit 0123456789ab), as Kubernetes v1.37.1"
std::string version_line() {
  const std::string_view commit = kCommit;
  return fmt::format("berth {}{}, as Kubernetes {}", kVersion,
                     commit.empty() ? "" : fmt::format(" (commit {})", commit), kKubernetesVersion);
}

}  // namespace

int run(const std::string& name, const std::vector<std::string>& args, std::ostream& out,
        std::ostream& err) {
  const std::string called = name.substr(name.find_last_of('/') + 1);
  return called == "kube-scheduler" ? run_scheduler(args, out, err) : run(args, out, err);
}

int run(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  // Its words are pflag's; everything after the command is for it.
  if (!args.empty() && args.front() == "scheduler") {
    return run_scheduler({args.begin() + 1, args.end()}, out, err);
  }
  CLI::App program("berth: a Kubernetes scheduler, and a simulator of its decisions", "berth");
  program.set_version_flag("--version", version_line());
  program.require_subcommand(1);
  program.fallthrough(false);
  SimulateFlags simulation;
  add_simulate(program, simulation);
  EvaluateFlags evaluation;
  add_evaluate(program, evaluation);
  ExplainFlags explanation;
  add_explain(program, explanation);
  BenchFlags benchmark;
  add_bench(program, benchmark);
  PermitFlags permission;
  add_permit(program, permission);
  EmbeddedServerOptions server;
  add_apiserver(program, server);
  RunOptions cluster;
  add_run(program, cluster);
  program.add_subcommand(
      "scheduler", "Take kube-scheduler's flags and its place (see `berth scheduler --help`)");
  program.add_subcommand("plugins",
                         "List the plugins: name, extension points, weight, what they do");
  std::string topic;
  program.add_subcommand("help", "Say more about a command")
      ->add_option("command", topic, "The command")
      ->type_name("");
  try {
    program.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // CLI11 wants it reversed
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << '\n';
    return 0;
  } catch (const CLI::CallForHelp&) {
    const auto commands = program.get_subcommands();
    return print_help(program, commands.empty() ? "" : commands.front()->get_name(), out, err);
  } catch (const CLI::ParseError& error) {
    if (!args.empty()) return wrong_usage(err, program, complaint_of(program, error));
    err << program.help();  // nothing was asked for: what can be?
    return kWrongUsage;
  }

  if (program.got_subcommand("help") && topic == "scheduler") {
    return run_scheduler({"--help"}, out, err);
  }
  if (program.got_subcommand("help")) return print_help(program, topic, out, err);
  Result<void> done;
  if (program.got_subcommand("plugins")) {
    out << plugin_list(plugins::make_plugin_table());
  } else if (program.got_subcommand("apiserver")) {
    done = run_apiserver(server, out);
  } else if (program.got_subcommand("bench")) {
    done = bench(benchmark.read(), out, err);
  } else if (program.got_subcommand("run")) {
    done = run_cluster(cluster, out, err);
  } else if (program.got_subcommand("evaluate")) {
    if (evaluation.output == "table") evaluation.options.output = EvaluateOptions::Format::kTable;
    done = evaluate(evaluation.options, out, err);
  } else if (program.got_subcommand("explain")) {
    const ExplainOptions options = explanation.read();
    if (const std::string wrong = check_explain(options); !wrong.empty())
      return wrong_usage(err, program, wrong);
    const Result<bool> all_have_nodes = explain(options, out, err);
    if (!all_have_nodes)
      done = fail(all_have_nodes.error());
    else if (!*all_have_nodes && out.flush())
      return kWithoutNode;
  } else if (program.got_subcommand("permit")) {
    const PermitOptions options = permission.read();
    if (const std::string wrong = check_permit(options); !wrong.empty())
      return wrong_usage(err, program, wrong);
    done = permit(options, out, err);
  } else {
    done = simulate(simulation.options(), out, err);
  }
  if (!done) return complain(err, done.error().message, kFailed);
  if (!out.flush()) return complain(err, "cannot write the output", kFailed);
  return 0;
}

}  // namespace berth::app
