// The commands around a running scheduler or API server: run, apiserver, permit, ui.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "app/apiserver_command.h"
#include "app/cli_command.h"
#include "app/permit_command.h"
#include "app/record_command.h"
#include "app/run_command.h"
#include "app/ui_command.h"
#include "base/time_text.h"
#include "plugins/table.h"

namespace berth::app {
namespace {

std::string check_permit_action(const std::string& text) {
  if (text == "list" || text == "allow" || text == "reject") return {};
  return fmt::format("\"{}\" is none of list, allow, reject", text);
}

// Of commands that ask a running scheduler.
void add_address_flags(CLI::App& command, SchedulerAddress& address) {
  add_flag_of(command, "--server", address.server, "URL",
              "Of the scheduler (default https://127.0.0.1:10259)");
  add_flag_of(command, "--kubeconfig", address.kubeconfig, "FILE",
              "Whose credentials to show the scheduler");
  add_credential_flags(command, address);
}

class PermitCommand : public CliCommand {
 public:
  explicit PermitCommand(CLI::App& command) : CliCommand(command) {
    command.add_option("action", action_, "list, allow or reject")
        ->required()
        ->type_name("")
        ->check(CLI::Validator([](std::string& text) { return check_permit_action(text); }, ""));
    command.add_option("pod", options_.pod, "NAME or NAMESPACE/NAME of the pod to allow or reject")
        ->type_name("");
    add_flag_of(command, "-n,--namespace", options_.namespace_name, "NAMESPACE",
                "Of the pod (default: default); of list: only this one (default: all)");
    add_flag_of(command, "--plugin", options_.plugin, "NAME",
                "Speak for this plugin only (default: for all that hold the pod)");
    add_flag_of(command, "--message", options_.message, "TEXT", "Why the pod is rejected");
    add_address_flags(command, options_.address);
    add_flag_of(command, "-o,--output", output_, "FORMAT", "table or json (default table)",
                check_plain_format);
  }

  std::string misuse() const override { return check_permit(read()); }

  Result<int> run(std::ostream& out, std::ostream& err) override {
    if (const Result<void> done = permit(read(), out, err); !done) return fail(done.error());
    return 0;
  }

 private:
  PermitOptions read() const {
    PermitOptions result = options_;
    if (action_ == "allow") result.action = PermitOptions::Action::kAllow;
    if (action_ == "reject") result.action = PermitOptions::Action::kReject;
    if (output_ == "json") result.output = OutputFormat::kJson;
    return result;
  }

  PermitOptions options_;
  std::string action_, output_;
};

// What `berth run` and `berth apiserver` have in common.
void add_server_flags(CLI::App& command, EmbeddedServerOptions& options) {
  add_flag_of(command, "--listen", options.listen, "ADDR:PORT",
              "Where the API server listens; beyond this machine it needs a token and speaks TLS "
              "(default 127.0.0.1:8001)");
  add_flag_of(command, "--write-kubeconfig", options.kubeconfig, "FILE",
              "Write a kubeconfig for it");
  add_flag_of(command, "--data", options.data, "FILE",
              "Keep all objects here: read at the start if it is there, written at the end");
  add_flag_of(command, "--token-file", options.token_file, "FILE",
              "What clients must present (default: on an address beyond this machine one is made)");
  add_flag_of(command, "--authorization-mode", options.authorization_mode, "MODE",
              "AlwaysAllow, or RBAC: roles and bindings say who may do what; clients need a token "
              "or a certificate, and TLS is on (default AlwaysAllow)");
  add_flag_of(command, "--client-ca-file", options.client_ca_file, "FILE",
              "Whose client certificates are believed: the common name is the user, organizations "
              "are groups");
  command
      .add_option_function<std::string>(
          "--event-ttl",
          [&options](const std::string& text) { options.event_ttl = *parse_go_duration(text); },
          "How long events are kept; 0: until there are 64 MiB of them (default 1h)")
      ->type_name("DURATION")
      ->check(CLI::Validator([](std::string& text) { return check_duration(text); }, ""))
      ->take_last();
  command
      .add_option("--controllers", options.controllers,
                  "Which controllers run: * for all, NAME, -NAME")
      ->type_name("NAMES")
      ->delimiter(',')
      ->take_all();
}

class ApiServerCommand : public CliCommand {
 public:
  explicit ApiServerCommand(CLI::App& command) : CliCommand(command) {
    options_.controllers = {"garbage-collector-controller"};
    add_server_flags(command, options_);
  }

  Result<int> run(std::ostream& out, std::ostream& /*err*/) override {
    if (const Result<void> done = run_apiserver(options_, out); !done) return fail(done.error());
    return 0;
  }

 private:
  EmbeddedServerOptions options_;
};

class RecordCommand : public CliCommand {
 public:
  explicit RecordCommand(CLI::App& command) : CliCommand(command) {
    add_flag_of(command, "--kubeconfig", options_.kubeconfig, "FILE",
                "Which cluster, and as whom to read (default: as kubectl finds it)");
    add_flag_of(command, "--context", options_.context, "NAME",
                "Of the kubeconfig (default: the current one)");
    add_flag_of(command, "-o,--output", options_.output, "FILE",
                "Where to write: compressed if the name ends in .gz; - is standard output");
    command.add_flag("--anonymise", options_.anonymise,
                     "Write other names for names, namespaces, labels' values and images, the same"
                     " for the same");
  }

  std::string misuse() const override {
    return options_.output.empty() ? "say where to write: -o FILE" : "";
  }

  Result<int> run(std::ostream& /*out*/, std::ostream& err) override {
    if (const Result<void> done = record(options_, err); !done) return fail(done.error());
    return 0;
  }

 private:
  RecordOptions options_;
};

class RunCommand : public CliCommand {
 public:
  explicit RunCommand(CLI::App& command) : CliCommand(command) {
    options_.server.controllers = {"*"};
    add_server_flags(command, options_.server);
    add_config_flags(command, options_.config, options_.feature_gates);
    command.add_flag("--demo", options_.demo, "Begin with a sample cluster and a stream of pods");
    command.add_flag("--exit-when-idle", options_.exit_when_idle,
                     "End when no pod can be scheduled any more, with a summary");
    command.add_option("-v,--v", options_.verbosity, "How much the scheduler logs")
        ->type_name("LEVEL")
        ->take_last();
  }

  Result<int> run(std::ostream& out, std::ostream& err) override {
    if (const Result<void> done = run_cluster(options_, plugins::make_plugin_table(), out, err);
        !done)
      return fail(done.error());
    return 0;
  }

 private:
  RunOptions options_;
};

std::string check_port(const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return fmt::format("\"{}\" is not a port (0 to 65535)", text);
}

class UiCommand : public CliCommand {
 public:
  explicit UiCommand(CLI::App& command) : CliCommand(command) {
    add_address_flags(command, options_.address);
    add_flag_of(command, "--port", port_, "PORT",
                "Where to listen on this machine (default: any port that is free)", check_port);
  }

  std::string misuse() const override { return check_address(options_.address); }

  Result<int> run(std::ostream& out, std::ostream& err) override {
    UiOptions options = options_;
    std::from_chars(port_.data(), port_.data() + port_.size(), options.port);
    if (const Result<void> done = run_ui(options, out, err); !done) return fail(done.error());
    return 0;
  }

 private:
  UiOptions options_;
  std::string port_;
};

}  // namespace

std::unique_ptr<CliCommand> add_ui(CLI::App& program) {
  return std::make_unique<UiCommand>(*program.add_subcommand(
      "ui", "Show a running scheduler in a browser, with your credentials"));
}

std::unique_ptr<CliCommand> add_permit(CLI::App& program) {
  return std::make_unique<PermitCommand>(*program.add_subcommand(
      "permit",
      "See which pods a running scheduler holds before binding; let them go or turn them away"));
}

std::unique_ptr<CliCommand> add_apiserver(CLI::App& program) {
  return std::make_unique<ApiServerCommand>(*program.add_subcommand(
      "apiserver", "Be an API server in memory that kubectl and schedulers can use"));
}

std::unique_ptr<CliCommand> add_record(CLI::App& program) {
  return std::make_unique<RecordCommand>(*program.add_subcommand(
      "record",
      "Write down what happens in a cluster, for `berth simulate --trace`; reads, never writes"));
}

std::unique_ptr<CliCommand> add_run(CLI::App& program) {
  return std::make_unique<RunCommand>(*program.add_subcommand(
      "run", "Be a whole cluster: API server, scheduler, and nodes on which pods seem to run"));
}

}  // namespace berth::app
