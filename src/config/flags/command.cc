#include "config/flags/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/go_quote.h"
#include "base/time_text.h"
#include "berth/labels.h"
#include "config/flags/scheduler_flags.h"
#include "config/flags/versions.h"
#include "config/load.h"
#include "wire/json_text.h"

namespace berth::config {
namespace {

constexpr std::string_view kName = "kube-scheduler";

constexpr std::string_view kDescription =
    R"(The Kubernetes scheduler is a control plane process which assigns
Pods to Nodes. The scheduler determines which Nodes are valid placements for
each Pod in the scheduling queue according to constraints and available
resources. The scheduler then ranks each valid Node and binds the Pod to a
suitable Node. Multiple different schedulers may be used within a cluster;
kube-scheduler is the reference implementation.
See [scheduling](https://kubernetes.io/docs/concepts/scheduling-eviction/)
for more information about scheduling and the kube-scheduler component.)";

std::string usage(const FlagSet& flags, std::size_t columns) {
  return fmt::format("Usage:\n  {} [flags]\n{}", kName, flags.usage(columns));
}

std::unexpected<CommandEnd> end_with(std::string err) {
  return std::unexpected(
      CommandEnd{.exit_code = 1, .out = {}, .err = std::move(err), .failure = {}});
}
std::unexpected<CommandEnd> end_with(CommandFailure failure) {
  return std::unexpected(
      CommandEnd{.exit_code = 1, .out = {}, .err = {}, .failure = {std::move(failure)}});
}
std::unexpected<CommandEnd> end_quietly(std::string out) {
  return std::unexpected(
      CommandEnd{.exit_code = 0, .out = std::move(out), .err = {}, .failure = {}});
}

Result<void> set_gates(SchedulerCommand& command, std::vector<EarlyRecord>& log) {
  SchedulerOptions& options = command.options;
  Result<EffectiveVersions> versions = effective_versions(options.versions);
  if (!versions) return fail(std::move(versions.error()));
  options.emulated = versions->emulated;
  options.min_compatible = versions->min_compatible;
  command.complaints = std::move(versions->complaints);
  options.gates.emulate({versions->emulated, versions->emulated_minor},
                        {versions->min_compatible, versions->min_compatible_minor});
  Result<void> set =
      options.gates.set(fmt::format("{}", fmt::join(options.versions.feature_gates, ",")));
  if (!set) return set;
  for (const auto& [name, on] : options.gates.settings()) {
    const Gate gate = *options.gates.find(name);
    const bool stable = gate.stage == Gate::Stage::kStable;
    if (!stable && gate.stage != Gate::Stage::kDeprecated) continue;
    EarlyRecord record;
    record.caller = "featuregate/feature_gate.go:362";
    record.message =
        fmt::format("Warning: setting {} feature gate. It will be removed in a future release.",
                    stable ? "GA" : "deprecated");
    record.fields = {{"featureGate", go_quoted(name)}, {"value", on ? "true" : "false"}};
    log.push_back(std::move(record));
  }
  return options.gates.validate();
}

// What --version=raw prints: a struct of Go's.
std::string version_info(std::string_view reported) {
  return fmt::format(
      "version.Info{{Major:\"1\", Minor:\"{}\", EmulationMajor:\"\", EmulationMinor:\"\", "
      "MinCompatibilityMajor:\"\", MinCompatibilityMinor:\"\", GitVersion:{}, "
      "GitCommit:\"\", GitTreeState:\"\", BuildDate:\"1970-01-01T00:00:00Z\", GoVersion:\"\", "
      "Compiler:\"\", Platform:\"linux/amd64\"}}\n",
      kKubernetesMinor, go_quoted(reported));
}

std::vector<std::string> logging_complaints(const LoggingOptions& logging,
                                            const FeatureGates& gates) {
  std::vector<std::string> complaints;
  if (logging.flush_frequency <= Duration::zero()) {
    complaints.push_back(fmt::format("flushFrequency: Invalid value: {}: Must be greater than zero",
                                     go_quoted(go_duration(logging.flush_frequency))));
  }
  if (logging.format != "text" && logging.format != "json") {
    complaints.push_back(fmt::format("format: Invalid value: {}: Unsupported log format",
                                     go_quoted(logging.format)));
  }
  if (logging.format == "json" && !gates.enabled("LoggingBetaOptions")) {
    complaints.emplace_back(
        "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature");
  }
  if (!logging.vmodule.empty() && !logging.format.empty() && logging.format != "text") {
    complaints.emplace_back("vmodule: Forbidden: Only supported for text log format");
  }
  if (gates.enabled("LoggingAlphaOptions")) return complaints;
  const auto forbid = [&](std::string_view option, bool used) {
    if (!used) return;
    complaints.push_back(
        fmt::format("options.{}: Forbidden: Feature LoggingAlphaOptions is disabled", option));
  };
  forbid("text.splitStream", logging.text_split_stream);
  forbid("text.infoBufferSize", logging.text_info_buffer_size.value() != 0);
  forbid("json.splitStream", logging.json_split_stream);
  forbid("json.infoBufferSize", logging.json_info_buffer_size.value() != 0);
  return complaints;
}

}  // namespace

bool SchedulerCommand::given(std::string_view flag) const {
  return std::ranges::find(given_flags, flag) != given_flags.end();
}

std::expected<SchedulerCommand, CommandEnd> parse_scheduler_command(
    const std::vector<std::string>& args, std::size_t columns, std::vector<EarlyRecord>& log) {
  SchedulerCommand command;
  SchedulerOptions& options = command.options;
  FlagSet flags = scheduler_flags(options);
  const Result<std::vector<std::string>> positional = flags.parse(args);
  if (!positional) {
    return end_with(
        fmt::format("{}\nError: {}\n", usage(flags, columns), positional.error().message));
  }
  if (options.help)
    return end_quietly(fmt::format("{}\n\n{}", kDescription, usage(flags, columns)));
  if (!std::ranges::all_of(*positional, &std::string::empty)) {
    std::vector<std::string> shown;
    for (const std::string& word : *positional) shown.push_back(go_quoted(word));
    return end_with(fmt::format("Error: \"{}\" does not take any arguments, got [{}]\n", kName,
                                fmt::join(shown, " ")));
  }
  command.flags = flags.echo();
  for (const FlagEcho& flag : command.flags) {
    if (flags.changed(flag.name)) command.given_flags.push_back(flag.name);
  }

  if (Result<void> set = set_gates(command, log); !set) {
    return end_with(CommandFailure{set.error().message, {}});
  }
  if (options.versions.version == "raw")
    return end_quietly(version_info(options.versions.reported));
  if (options.versions.version == "true") {
    return end_quietly(fmt::format("Kubernetes {}\n", options.versions.reported));
  }
  if (const std::vector<std::string> complaints =
          logging_complaints(options.logging, options.gates);
      !complaints.empty()) {
    return end_with(aggregate(complaints).message + "\n");
  }
  return command;
}

std::vector<EarlyRecord> flag_echo(const SchedulerCommand& command) {
  std::vector<EarlyRecord> records;
  for (const FlagEcho& flag : command.flags) {
    EarlyRecord record;
    record.caller = "flag/flags.go:64";
    record.message = fmt::format("FLAG: --{}={}", flag.name, go_quoted(flag.value));
    record.quoted = false;
    records.push_back(std::move(record));
  }
  return records;
}

Result<Configuration> make_configuration(const SchedulerCommand& command, Interner& interner) {
  const SchedulerOptions& options = command.options;
  const Amendment election_flags = [&command](Configuration& configuration) {
    const LeaderElection& given = command.options.leader_election;
    LeaderElection& election = configuration.leader_election;
    if (command.given("leader-elect")) election.leader_elect = given.leader_elect;
    if (command.given("leader-elect-lease-duration"))
      election.lease_duration = given.lease_duration;
    if (command.given("leader-elect-renew-deadline"))
      election.renew_deadline = given.renew_deadline;
    if (command.given("leader-elect-retry-period")) election.retry_period = given.retry_period;
    if (command.given("leader-elect-resource-lock")) election.resource_lock = given.resource_lock;
    if (command.given("leader-elect-resource-name")) election.resource_name = given.resource_name;
    if (command.given("leader-elect-resource-namespace")) {
      election.resource_namespace = given.resource_namespace;
    }
  };
  if (!options.config_file.empty()) {
    return load_configuration(options.config_file, options.gates, interner, election_flags);
  }
  Configuration configuration = default_configuration(options.gates);
  const DeprecatedOptions& deprecated = options.deprecated;
  ClientConnection& client = configuration.client_connection;
  if (command.given("profiling")) configuration.enable_profiling = deprecated.profiling;
  if (command.given("contention-profiling")) {
    configuration.enable_contention_profiling = deprecated.contention_profiling;
  }
  if (command.given("kubeconfig")) client.kubeconfig = deprecated.kubeconfig;
  if (command.given("kube-api-content-type")) client.content_type = deprecated.content_type;
  if (command.given("kube-api-qps")) client.qps = deprecated.qps;
  if (command.given("kube-api-burst")) client.burst = deprecated.burst;
  election_flags(configuration);
  return configuration;
}

}  // namespace berth::config
