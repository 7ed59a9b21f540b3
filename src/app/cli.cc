#include "app/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>

#include "api/release.h"
#include "app/cli_command.h"
#include "app/plugin_list.h"
#include "app/scheduler_command.h"
#include "app/version.h"
#include "base/check.h"
#include "plugins/table.h"

namespace berth::app {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

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

// The exit code of a command that has ended.
int finish(const Result<int>& code, std::ostream& out, std::ostream& err) {
  if (!code) return complain(err, code.error().message, kFailed);
  if (!out.flush()) return complain(err, "cannot write the output", kFailed);
  return *code;
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
  std::vector<std::unique_ptr<CliCommand>> commands;
  for (const auto add : {add_simulate, add_evaluate, add_explain, add_capacity, add_compare,
                         add_bench, add_permit, add_ui, add_record, add_apiserver, add_run})
    commands.push_back(add(program));
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
    const auto typed = program.get_subcommands();
    return print_help(program, typed.empty() ? "" : typed.front()->get_name(), out, err);
  } catch (const CLI::ParseError& error) {
    if (!args.empty()) return wrong_usage(err, program, complaint_of(program, error));
    err << program.help();  // nothing was asked for: what can be?
    return kWrongUsage;
  }

  if (program.got_subcommand("help") && topic == "scheduler") {
    return run_scheduler({"--help"}, out, err);
  }
  if (program.got_subcommand("help")) return print_help(program, topic, out, err);
  if (program.got_subcommand("plugins")) {
    out << plugin_list(plugins::make_plugin_table());
    return finish(0, out, err);
  }
  const auto typed = std::ranges::find_if(
      commands, [](const std::unique_ptr<CliCommand>& command) { return command->was_typed(); });
  BERTH_CHECK(typed != commands.end());  // CLI11 has seen a command that it knows
  if (const std::string wrong = (*typed)->misuse(); !wrong.empty())
    return wrong_usage(err, program, wrong);
  return finish((*typed)->run(out, err), out, err);
}

}  // namespace berth::app
