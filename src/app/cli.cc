#include "app/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "app/plugin_list.h"
#include "app/simulate.h"
#include "app/version.h"
#include "base/time_text.h"
#include "plugins/table.h"

namespace berth::app {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

// A duration as Go writes it; CLI11 reports what parse_go_duration says.
struct DurationText : CLI::Validator {
  DurationText() {
    name_ = "DURATION";
    func_ = [](std::string& text) {
      const Result<Duration> parsed = parse_go_duration(text);
      if (!parsed) return parsed.error().message;
      return *parsed < Duration::zero() ? std::string("must not be negative") : std::string();
    };
  }
};

void add_simulate(CLI::App& program, SimulateOptions& options, std::string& until,
                  std::string& output) {
  CLI::App* command = program.add_subcommand(
      "simulate", "Schedule the pods of manifests in virtual time and say who went where, and why not");
  command
      ->add_option("-f,--file", options.files,
                   "Manifests: YAML or JSON, several documents, Lists; - reads standard input")
      ->required()
      ->type_name("FILE");
  command->add_option("--scenario", options.scenario, "What happens over time (docs/scenario.md)")
      ->type_name("FILE");
  command->add_option("--config", options.config, "A KubeSchedulerConfiguration")
      ->type_name("FILE");
  command->add_option("--feature-gates", options.feature_gates, "A=true,B=false")
      ->type_name("GATES");
  command->add_option("--seed", options.seed, "Of the draw among equally good nodes (default 0)")
      ->type_name("N");
  command->add_option("--until", until, "Stop at this virtual time, whatever is left to do (default 24h)")->check(DurationText());
  command->add_option("-o,--output", output, "table, json or yaml (default table)")
      ->check(CLI::IsMember({"table", "json", "yaml"}))
      ->type_name("FORMAT");
}

OutputFormat format_of(const std::string& text) {
  if (text == "json") return OutputFormat::kJson;
  return text == "yaml" ? OutputFormat::kYaml : OutputFormat::kTable;
}

// One line that says what is wrong and where to look.
int wrong_usage(std::ostream& err, const std::string& what) {
  std::string line = what;
  std::ranges::replace(line, '\n', ' ');
  err << "berth: " << line << " (see `berth --help`)\n";
  return kWrongUsage;
}

}  // namespace

int run(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  CLI::App program("berth: a Kubernetes scheduler, and a simulator of its decisions", "berth");
  program.set_version_flag("--version", fmt::format("berth {}", kVersion));
  program.require_subcommand(1);
  program.fallthrough(false);
  SimulateOptions simulation;
  std::string until, output = "table";
  add_simulate(program, simulation, until, output);
  program.add_subcommand("plugins", "List the plugins: name, extension points, weight, what they do");
  try {
    program.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // CLI11 wants it reversed
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << '\n';
    return 0;
  } catch (const CLI::CallForHelp&) {
    const auto subcommands = program.get_subcommands();
    out << (subcommands.empty() ? program.help() : subcommands.front()->help());
    return 0;
  } catch (const CLI::ParseError& error) {
    return wrong_usage(err, error.what());
  }

  if (program.got_subcommand("plugins")) {
    out << plugin_list(plugins::make_plugin_table());
    return 0;
  }
  if (!until.empty()) simulation.until = *parse_go_duration(until);
  simulation.output = format_of(output);
  if (const Result<void> done = simulate(simulation, out, err); !done) {
    err << "berth: " << done.error().message << '\n';
    return kFailed;
  }
  return 0;
}

}  // namespace berth::app
