// The command line of kube-scheduler and what it comes to, in upstream's order of work (shell.md
// §1.4): parse, set feature gates, `--version`, check the logging options; then check the others
// and make the configuration. Nothing here prints: texts are returned.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/interner.h"
#include "berth/result.h"
#include "config/configuration.h"
#include "config/flags/flag_set.h"
#include "config/flags/scheduler_options.h"

namespace berth::config {

// A log record from before the log is set up.
struct EarlyRecord {
  enum class Severity : std::uint8_t { kInfo, kWarning, kError };
  Severity severity = Severity::kInfo;
  std::string caller;  // "featuregate/feature_gate.go:362"; text logs leave the folder out
  std::string message;
  bool quoted = true;  // a structured record: the text log shows the message in quotes
  std::vector<std::pair<std::string, std::string>> fields;  // values as the text log shows them
};

// Why a command cannot go on.
struct CommandFailure {
  std::string message;
  std::vector<std::string> causes;  // if it was put together from several
};

struct SchedulerCommand {
  SchedulerOptions options;
  std::vector<FlagEcho> flags;          // all of them, by name
  std::vector<std::string> complaints;  // about versions; part of check_options

  bool given(std::string_view flag) const;
  std::vector<std::string> given_flags;
};

// The end of a command that does not run a scheduler.
struct CommandEnd {
  int exit_code = 0;
  std::string out;
  std::string err;
  // In place of words on `err`: to be logged as "command failed".
  std::vector<CommandFailure> failure;
};

// `args` without the program's name. `columns` is the width of the terminal for help, 0: unknown.
// `log` takes what was noticed, also if the command ends here.
std::expected<SchedulerCommand, CommandEnd> parse_scheduler_command(
    const std::vector<std::string>& args, std::size_t columns, std::vector<EarlyRecord>& log);

// "FLAG: --name=\"value\"" of every flag: to be logged with verbosity 1.
std::vector<EarlyRecord> flag_echo(const SchedulerCommand& command);

// Every complaint about options that can be judged without looking at anything else.
std::expected<void, CommandFailure> check_options(const SchedulerCommand& command,
                                                  std::vector<EarlyRecord>& log);

// The file of --allow-metric-labels-manifest: "metric,label" to "v1,v2".
Result<std::map<std::string, std::string>> read_allowed_labels(const std::string& path);

// The file of --config with the leader election flags applied and checked. Without one the defaults
// with the deprecated flags as well, which upstream does not check again (see check_election).
Result<Configuration> make_configuration(const SchedulerCommand& command, Interner& interner);

// What upstream's client logs about limits that came from flags.
Result<void> check_client(const ClientConnection& connection);

// What upstream's resource lock and elector log about leader election that came from flags. Parity:
// with --write-config-to only the lock is looked at.
Result<void> check_election(const LeaderElection& election, bool only_lock);

}  // namespace berth::config
