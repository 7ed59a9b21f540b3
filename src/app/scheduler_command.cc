#include "app/scheduler_command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <expected>
#include <iostream>
#include <utility>

#include "api/interner.h"
#include "api/json_text.h"
#include "app/early_log.h"
#include "base/file.h"
#include "base/loop.h"
#include "config/flags/command.h"
#include "config/write.h"
#include "explain/evaluator.h"
#include "kube/client_config.h"
#include "plugins/table.h"

namespace berth::app {
namespace {

using Severity = config::EarlyRecord::Severity;

// The terminal's width, if help goes to one.
std::size_t columns_of(const std::ostream& out) {
  if (&out != &std::cout || !::isatty(STDOUT_FILENO)) return 0;
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

config::CommandFailure failure(const Error& error) { return {error.message, {}}; }

Result<kube::ClientConfig> find_cluster(const config::SchedulerOptions& options,
                                        const config::ClientConnection& connection, EarlyLog& log) {
  std::vector<std::string> warnings;
  Result<kube::ClientConfig> client = kube::load_client_config(
      options.master, connection.kubeconfig, kube::pod_environment(), warnings);
  for (std::string& warning : warnings) {
    config::EarlyRecord record;
    record.severity = Severity::kWarning;
    record.caller = "clientcmd/client_config.go:689";
    record.message = std::move(warning);
    record.quoted = false;
    log.write(record);
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
                                 const config::Configuration& configuration, EarlyLog& log) {
  if (Result<void> written = write_file(path, config::to_yaml(configuration)); !written) {
    return written;
  }
  config::EarlyRecord record;
  record.caller = "options/configfile.go:106";
  record.message = "Wrote configuration";
  record.fields = {{"file", go_quoted(path)}};
  log.write(record);
  return {};
}

// Everything between a command line that reads well and a scheduler that runs.
std::expected<void, config::CommandFailure> prepare(const config::SchedulerCommand& command,
                                                    EarlyLog& log) {
  const config::SchedulerOptions& options = command.options;
  std::vector<config::EarlyRecord> records;
  const std::expected<void, config::CommandFailure> checked =
      config::check_options(command, records);
  for (const config::EarlyRecord& record : records) log.write(record);
  if (!checked) return checked;

  Interner interner;
  Result<config::Configuration> configuration = config::make_configuration(command, interner);
  if (!configuration) return std::unexpected(failure(configuration.error()));
  const Result<kube::ClientConfig> client =
      find_cluster(options, configuration->client_connection, log);
  if (!client) return std::unexpected(failure(client.error()));
  if (Result<void> valid = config::check_client(configuration->client_connection); !valid) {
    return std::unexpected(failure(valid.error()));
  }
  const bool only_write = !options.write_config_to.empty();
  // Upstream looks at all of it only after everything else is built; a bad value is better known
  // early.
  if (Result<void> valid = config::check_election(configuration->leader_election, only_write);
      !valid) {
    return std::unexpected(failure(valid.error()));
  }
  if (Result<void> valid = check_profiles(*configuration, options.gates, interner); !valid) {
    return std::unexpected(failure(valid.error()));
  }
  if (only_write) {
    if (Result<void> written = write_configuration(options.write_config_to, *configuration, log);
        !written) {
      return std::unexpected(failure(written.error()));
    }
    return {};
  }
  return std::unexpected(config::CommandFailure{
      fmt::format("running against the API server at {} is not implemented yet; --help, --version "
                  "and --write-config-to are",
                  client->server),
      {}});
}

}  // namespace

int run_scheduler(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const RealLoop clock;
  EarlyLog log(err, clock);
  std::vector<config::EarlyRecord> records;
  const std::expected<config::SchedulerCommand, config::CommandEnd> command =
      config::parse_scheduler_command(args, columns_of(out), records);
  for (const config::EarlyRecord& record : records) log.write(record);
  if (!command) {
    const config::CommandEnd& end = command.error();
    out << end.out << std::flush;
    err << end.err;
    for (const config::CommandFailure& why : end.failure) log.write_failure(why);
    return end.exit_code;
  }
  const config::LoggingOptions& logging = command->options.logging;
  log.use_format(logging.format);
  if (logging.verbosity >= 1) {
    for (const config::EarlyRecord& record : config::flag_echo(*command)) log.write(record, 1);
  }
  if (const auto prepared = prepare(*command, log); !prepared) {
    log.write_failure(prepared.error());
    return 1;
  }
  return 0;
}

}  // namespace berth::app
