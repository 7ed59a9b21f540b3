#include "app/cli_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "base/time_text.h"
#include "config/feature_gates.h"

namespace berth::app {
namespace {

constexpr std::string_view kExtendedResource = "extended-resource";

}  // namespace

bool CliCommand::was_typed() const { return command_.parsed(); }

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

std::string check_gates(const std::string& text) {
  config::FeatureGates gates;
  Result<void> set = gates.set(text);
  if (set) set = gates.validate();
  return set ? std::string() : set.error().message;
}

std::string check_page_format(const std::string& text) {
  if (text == "table" || text == "json" || text == "yaml" || text == "html") return {};
  return fmt::format("\"{}\" is none of table, json, yaml, html", text);
}

std::string check_gpu_share(const std::string& text) {
  if (text == "devices" || text == kExtendedResource) return {};
  return fmt::format("\"{}\" is none of devices, {}", text, kExtendedResource);
}

trace::GpuShare gpu_share_of(const std::string& text) {
  return text == kExtendedResource ? trace::GpuShare::kExtendedResource : trace::GpuShare::kDevices;
}

std::string check_plain_format(const std::string& text) {
  if (text == "json" || text == "table") return {};
  return fmt::format("\"{}\" is none of json, table", text);
}

OutputFormat output_format_of(const std::string& text) {
  if (text == "json") return OutputFormat::kJson;
  if (text == "yaml") return OutputFormat::kYaml;
  if (text == "html") return OutputFormat::kHtml;
  return OutputFormat::kTable;
}

std::uint64_t seed_of(const std::string& text, std::uint64_t otherwise) {
  std::uint64_t seed = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), seed);
  return seed;
}

void add_flag_of(CLI::App& command, const char* name, std::string& value, const char* type,
                 const char* description, FlagCheck check) {
  CLI::Option* option = command.add_option(name, value, description)->type_name(type)->take_last();
  if (check) option->check(CLI::Validator([check](std::string& text) { return check(text); }, ""));
}

void add_flag_of(CLI::App& command, const char* name, std::vector<std::string>& values,
                 const char* type, const char* description) {
  command.add_option(name, values, description)->type_name(type)->allow_extra_args(false);
}

void add_config_flags(CLI::App& command, std::string& config, std::string& feature_gates) {
  add_flag_of(command, "--config", config, "FILE", "A KubeSchedulerConfiguration");
  add_flag_of(command, "--feature-gates", feature_gates, "GATES", "A=true,B=false", check_gates);
}

void add_credential_flags(CLI::App& command, SchedulerAddress& address) {
  add_flag_of(command, "--token", address.token, "TOKEN",
              "A bearer token to show the scheduler; other users of this machine can see it: better"
              " --token-file");
  add_flag_of(command, "--token-file", address.token_file, "FILE",
              "A file with a bearer token to show the scheduler");
  add_flag_of(command, "--client-certificate", address.client_certificate, "FILE",
              "A certificate to show the scheduler");
  add_flag_of(command, "--client-key", address.client_key, "FILE", "Its key");
  add_flag_of(command, "--certificate-authority", address.certificate_authority, "FILE",
              "Whom to trust to know the scheduler");
  command.add_flag("--insecure-skip-tls-verify", address.insecure_skip_tls_verify,
                   "Trust whoever answers");
}

void add_seed_flag(CLI::App& command, std::string& seed) {
  add_flag_of(command, "--seed", seed, "N", "Of the draw among equally good nodes (default 0)",
              check_seed);
}

void add_strict_flag(CLI::App& command, bool& strict) {
  command.add_flag("--strict", strict,
                   "Refuse objects with fields that their kind does not have; otherwise they are"
                   " named on standard error");
}

void add_verify_increments_flag(CLI::App& command, bool& verify_increments) {
  command.add_flag("--verify-increments", verify_increments,
                   "Make every decision from scratch too, and stop at the first difference");
}

}  // namespace berth::app
