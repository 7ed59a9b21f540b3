// What the command line is put together from: a command, and how commands add their flags.
//
// Each cli_*.cc makes a group of commands; cli.cc parses the words, runs the command that was typed and
// says what went wrong. Only .cc files see CLI11.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "app/output_format.h"
#include "app/scheduler_client.h"
#include "berth/result.h"
#include "trace/trace.h"

namespace CLI {
class App;
}

namespace berth::app {

// A command with its flags. It keeps their words and reads them when it runs.
class CliCommand {
 public:
  // Its flags are added to `command`, which outlives it.
  explicit CliCommand(CLI::App& command) : command_(command) {}
  virtual ~CliCommand() = default;
  CliCommand(const CliCommand&) = delete;
  CliCommand& operator=(const CliCommand&) = delete;

  bool was_typed() const;
  // What is wrong with the flags taken together; empty if nothing is.
  virtual std::string misuse() const { return {}; }
  // The exit code of a command that did its work.
  virtual Result<int> run(std::ostream& out, std::ostream& err) = 0;

 private:
  const CLI::App& command_;
};

// Each adds one command to the program.
std::unique_ptr<CliCommand> add_simulate(CLI::App& program);
std::unique_ptr<CliCommand> add_bench(CLI::App& program);
std::unique_ptr<CliCommand> add_evaluate(CLI::App& program);
std::unique_ptr<CliCommand> add_explain(CLI::App& program);
std::unique_ptr<CliCommand> add_capacity(CLI::App& program);
std::unique_ptr<CliCommand> add_compare(CLI::App& program);
std::unique_ptr<CliCommand> add_permit(CLI::App& program);
std::unique_ptr<CliCommand> add_ui(CLI::App& program);
std::unique_ptr<CliCommand> add_record(CLI::App& program);
std::unique_ptr<CliCommand> add_apiserver(CLI::App& program);
std::unique_ptr<CliCommand> add_run(CLI::App& program);

// ---------------------------------------------------------------------------------------------
// Flags that several commands have.

// Says what is wrong with a flag's text, to be read after the flag's name; empty if nothing is.
using FlagCheck = std::string (*)(const std::string& text);

std::string check_duration(const std::string& text);
std::string check_seed(const std::string& text);  // a whole number of 64 bits
std::string check_gates(const std::string& text);
std::string check_page_format(const std::string& text);   // table, json, yaml or html
std::string check_gpu_share(const std::string& text);     // devices or extended-resource
std::string check_plain_format(const std::string& text);  // table or json

// Of what has passed one of these checks; empty: table.
OutputFormat output_format_of(const std::string& text);
// Of what has passed check_gpu_share; empty: devices.
trace::GpuShare gpu_share_of(const std::string& text);
// Of what has passed check_seed; `otherwise` if it is empty.
std::uint64_t seed_of(const std::string& text, std::uint64_t otherwise);

// A flag with one value. If it is given twice, the last one counts.
void add_flag_of(CLI::App& command, const char* name, std::string& value, const char* type,
                 const char* description, FlagCheck check = nullptr);
// A flag that may be given again, with one value each time.
void add_flag_of(CLI::App& command, const char* name, std::vector<std::string>& values,
                 const char* type, const char* description);

void add_config_flags(CLI::App& command, std::string& config, std::string& feature_gates);
// As whom a running scheduler is asked, and whom to trust; --server and --kubeconfig are flags of
// each command.
void add_credential_flags(CLI::App& command, SchedulerAddress& address);
void add_seed_flag(CLI::App& command, std::string& seed);
void add_strict_flag(CLI::App& command, bool& strict);
void add_verify_increments_flag(CLI::App& command, bool& verify_increments);

}  // namespace berth::app
