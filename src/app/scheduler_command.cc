#include "app/scheduler_command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <expected>
#include <iostream>
#include <string_view>
#include <utility>

#include "app/command_log.h"
#include "app/pod_group_controller.h"
#include "app/scheduler_process.h"
#include "base/file.h"
#include "base/go_quote.h"
#include "base/signals.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "config/flags/command.h"
#include "config/write.h"
#include "explain/evaluator.h"
#include "kube/client_config.h"
#include "plugins/table.h"
#include "wire/json_text.h"

namespace berth::app {
namespace {

using telemetry::LogOutput;

// The terminal's width, if help goes to one.
std::size_t columns_of(const std::ostream& out) {
  if (&out != &std::cout || !::isatty(STDOUT_FILENO)) return 0;
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

config::CommandFailure failure(const Error& error) { return {error.message, {}}; }

Result<kube::ClientConfig> find_cluster(const config::SchedulerOptions& options,
                                        const config::ClientConnection& connection,
                                        LogOutput& log) {
  std::vector<std::string> warnings;
  Result<kube::ClientConfig> client = kube::load_client_config(
      options.master, connection.kubeconfig, kube::pod_environment(), warnings);
  for (std::string& warning : warnings) {
    config::EarlyRecord record;
    record.severity = config::EarlyRecord::Severity::kWarning;
    record.caller = "clientcmd/client_config.go:689";
    record.message = std::move(warning);
    record.quoted = false;
    log_early(log, record);
  }
  return client;
}

// Whether every profile's plugins can be built from their arguments.
Result<void> check_profiles(const config::Configuration& configuration,
                            const config::FeatureGates& gates, Interner& interner) {
  for (const config::Profile& profile : configuration.profiles) {
    const auto made = explain::Evaluator::make(
        interner, plugins::make_plugin_table(),
        {.configuration = configuration, .gates = gates, .profile = profile.scheduler_name});
    if (!made) return fail(made.error());
  }
  return {};
}

Result<void> write_configuration(const std::string& path,
                                 const config::Configuration& configuration, LogOutput& log) {
  if (Result<void> written = write_file(path, config::to_yaml(configuration)); !written) {
    return written;
  }
  config::EarlyRecord record;
  record.caller = "options/configfile.go:106";
  record.message = "Wrote configuration";
  record.fields = {{"file", go_quoted(path)}};
  log_early(log, record);
  return {};
}

// Takes berth's own flag out of kube-scheduler's: whether the one controller that there is shall run.
Result<bool> take_controllers(std::vector<std::string>& args) {
  constexpr std::string_view kFlag = "--controllers";
  bool chosen = false;
  for (std::size_t i = 0; i < args.size();) {
    const bool joined = args[i].starts_with("--controllers=");
    if (args[i] == "--") break;
    if (!joined && args[i] != kFlag) {
      ++i;
      continue;
    }
    const auto at = args.begin() + static_cast<std::ptrdiff_t>(i);
    if (!joined && at + 1 == args.end())
      return fail(ErrorKind::kInvalid, "flag needs an argument: --controllers");
    const std::string words = joined ? args[i].substr(kFlag.size() + 1) : *(at + 1);
    args.erase(at, at + (joined ? 1 : 2));
    for (std::string_view rest = words; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view word = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      const bool without = word.starts_with('-');
      const std::string_view name = word.substr(without ? 1 : 0);
      if (word.empty()) continue;
      if (word != "*" && name != PodGroupController::kName)
        return fail(ErrorKind::kInvalid,
                    fmt::format("\"{}\" is not in the list of known controllers", name));
      chosen = !without;
    }
  }
  return chosen;
}

using Prepared = std::expected<SchedulerSetup, config::CommandFailure>;

// Everything between a command line that reads well and a scheduler that can be started.
Prepared prepare(const config::SchedulerCommand& command, Interner& interner, LogOutput& log) {
  std::vector<config::EarlyRecord> records;
  const std::expected<void, config::CommandFailure> checked =
      config::check_options(command, records);
  for (const config::EarlyRecord& record : records) log_early(log, record);
  if (!checked) return std::unexpected(checked.error());

  const config::SchedulerOptions& options = command.options;
  Result<config::Configuration> configuration = config::make_configuration(command, interner);
  if (!configuration) return std::unexpected(failure(configuration.error()));
  Result<kube::ClientConfig> client = find_cluster(options, configuration->client_connection, log);
  if (!client) return std::unexpected(failure(client.error()));
  const bool only_write = !options.write_config_to.empty();
  // Upstream looks at all of it only after everything else is built; a bad value is better known
  // early.
  for (const Result<void>& valid :
       {config::check_client(configuration->client_connection),
        config::check_election(configuration->leader_election, only_write),
        check_profiles(*configuration, options.gates, interner)})
    if (!valid) return std::unexpected(failure(valid.error()));
  return SchedulerSetup{.command = command,
                        .configuration = std::move(*configuration),
                        .client = std::move(*client),
                        .plugins = plugins::make_plugin_table()};
}

// The exit code, or why the command failed.
std::expected<int, config::CommandFailure> carry_out(const config::SchedulerCommand& command,
                                                     bool runs_controller, RealLoop& loop,
                                                     const std::shared_ptr<LogOutput>& output) {
  Interner interner;
  Prepared setup = prepare(command, interner, *output);
  if (!setup) return std::unexpected(setup.error());
  setup->runs_pod_group_controller = runs_controller;
  Result<int> ended = 0;
  if (const std::string& path = command.options.write_config_to; !path.empty()) {
    if (Result<void> written = write_configuration(path, setup->configuration, *output); !written)
      ended = fail(written.error());
  } else {
    ended = run_scheduler_process(std::move(*setup), loop, interner, telemetry::Log(output));
  }
  if (!ended) return std::unexpected(failure(ended.error()));
  return *ended;
}

}  // namespace

int run_scheduler(const std::vector<std::string>& words, std::ostream& out, std::ostream& err) {
  ignore_broken_pipes();  // whoever reads our log may go before us
  RealLoop loop;
  std::shared_ptr<LogOutput> log = open_log({}, loop, out, err);
  std::vector<std::string> args = words;
  const Result<bool> runs_controller = take_controllers(args);
  if (!runs_controller) {
    log_failure(*log, failure(runs_controller.error()));
    return 1;
  }
  std::vector<config::EarlyRecord> records;
  const std::expected<config::SchedulerCommand, config::CommandEnd> command =
      config::parse_scheduler_command(args, columns_of(out), records);
  for (const config::EarlyRecord& record : records) log_early(*log, record);
  if (!command) {
    const config::CommandEnd& end = command.error();
    out << end.out << std::flush;
    err << end.err;
    for (const config::CommandFailure& why : end.failure) log_failure(*log, why);
    return end.exit_code;
  }
  const config::LoggingOptions& logging = command->options.logging;
  log = open_log(logging, loop, out, err);
  if (logging.verbosity >= 1)
    for (const config::EarlyRecord& record : config::flag_echo(*command))
      log_early(*log, record, 1);
  const auto ended = carry_out(*command, *runs_controller, loop, log);
  if (ended) return *ended;
  log_failure(*log, ended.error());
  return 1;
}

}  // namespace berth::app
