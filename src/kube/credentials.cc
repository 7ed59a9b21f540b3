#include "kube/credentials.h"

#include <fmt/format.h>

#include <string_view>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/go_quote.h"
#include "base/time_text.h"
#include "wire/json_text.h"
#include "wire/json_tree.h"

namespace berth::kube {
namespace {

// A token file is good for a minute, but not for the last ten seconds of it.
constexpr Duration kTokenFilePeriod = std::chrono::seconds(50);

std::string text_at(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value && value->kind == JsonValue::Kind::kString ? value->text : std::string();
}

// The input of the program: KUBERNETES_EXEC_INFO.
Result<std::string> exec_info(const ClientConfig& config) {
  JsonValue spec = JsonValue::object();
  if (config.exec->provide_cluster_info) {
    JsonValue cluster = JsonValue::object();
    cluster.add("server", JsonValue::of_text(config.server));
    if (!config.tls_server_name.empty()) {
      cluster.add("tls-server-name", JsonValue::of_text(config.tls_server_name));
    }
    if (config.insecure_skip_tls_verify) {
      cluster.add("insecure-skip-tls-verify", JsonValue::of_bool(true));
    }
    std::string ca = config.ca_data;
    if (ca.empty() && !config.ca_file.empty()) {
      Result<std::string> read = read_file(config.ca_file);
      if (!read) return fail(std::move(read.error()));
      ca = std::move(*read);
    }
    if (!ca.empty()) cluster.add("certificate-authority-data", JsonValue::of_text(base64(ca)));
    if (!config.proxy_url.empty()) cluster.add("proxy-url", JsonValue::of_text(config.proxy_url));
    cluster.add("config", JsonValue());
    spec.add("cluster", std::move(cluster));
  }
  spec.add("interactive", JsonValue::of_bool(false));
  JsonValue info = JsonValue::object();
  info.add("kind", JsonValue::of_text("ExecCredential"));
  info.add("apiVersion", JsonValue::of_text(config.exec->api_version));
  info.add("spec", std::move(spec));
  return to_json(info);
}

struct PluginAnswer {
  Credential credential;
  std::optional<WallTime> expires;
};

Result<PluginAnswer> read_answer(std::string_view out, const ExecPlugin& exec) {
  const auto invalid = [](std::string message) {
    return fail(ErrorKind::kInvalid, "exec plugin: " + std::move(message));
  };
  const Result<JsonValue> answer = parse_json(out);
  if (!answer) return fail(ErrorKind::kInvalid, "decoding stdout: " + answer.error().message);
  if (answer->kind != JsonValue::Kind::kObject || text_at(*answer, "kind") != "ExecCredential") {
    return invalid("no ExecCredential was printed");
  }
  if (const std::string version = text_at(*answer, "apiVersion"); version != exec.api_version) {
    return invalid(fmt::format("plugin returned version {}, expected {}", go_quoted(version),
                               exec.api_version));
  }
  const JsonValue* status = answer->find("status");
  if (!status || status->kind != JsonValue::Kind::kObject) {
    return invalid("didn't return a status field");
  }
  PluginAnswer result;
  result.credential.bearer_token = text_at(*status, "token");
  result.credential.cert_data = text_at(*status, "clientCertificateData");
  result.credential.key_data = text_at(*status, "clientKeyData");
  const Credential& got = result.credential;
  if (got.bearer_token.empty() && got.cert_data.empty() && got.key_data.empty()) {
    return invalid("didn't return a token or cert/key pair");
  }
  if (got.cert_data.empty() != got.key_data.empty()) {
    return invalid("returned only certificate or key, not both");
  }
  if (const std::string expiry = text_at(*status, "expirationTimestamp"); !expiry.empty()) {
    const Result<WallTime> time = parse_rfc3339(expiry);
    if (!time) return fail(ErrorKind::kInvalid, "decoding stdout: " + time.error().message);
    result.expires = *time;
  }
  return result;
}

}  // namespace

Credentials::Credentials(const ClientConfig& config, const Loop& loop, RunProcess run)
    : config_(config), loop_(loop), run_(std::move(run)) {}

Result<Credential> Credentials::current() {
  const MutexLock lock(mutex_);
  if (!config_.uses_tls()) return Credential();
  // A token that was given is not replaced by a program's.
  if (!config_.token_file.empty()) return from_file();
  if (!config_.token.empty()) return Credential{config_.token, {}, {}};
  if (config_.exec) return from_plugin();
  return Credential();
}

void Credentials::refuse(const Credential& refused) {
  const MutexLock lock(mutex_);
  if (kept_ != refused) return;
  look_again_ = TimePoint();
  if (config_.exec && config_.token_file.empty()) kept_.reset();
}

Result<Credential> Credentials::from_file() {
  const TimePoint now = loop_.now();
  if (kept_ && now < look_again_) return *kept_;
  const Result<std::string> text = read_file(config_.token_file);
  std::string problem;
  if (!text) {
    problem = fmt::format("failed to read token file {}: {}", go_quoted(config_.token_file),
                          text.error().message);
  } else if (const std::string_view token = trimmed(*text); token.empty()) {
    problem = fmt::format("read empty token from file {}", go_quoted(config_.token_file));
  } else {
    kept_ = Credential{std::string(token), {}, {}};
    look_again_ = now + kTokenFilePeriod;
    return *kept_;
  }
  // While a file is being replaced, its last content is used.
  if (kept_) return *kept_;
  if (!config_.token.empty()) return Credential{std::string(trimmed(config_.token)), {}, {}};
  return fail(ErrorKind::kInvalid, std::move(problem));
}

Result<Credential> Credentials::from_plugin() {
  if (kept_ && (!expires_ || loop_.wall_now() < *expires_)) return *kept_;
  const ExecPlugin& exec = *config_.exec;
  const auto failed = [](std::string_view message) {
    return fail(ErrorKind::kUnavailable, fmt::format("getting credentials: {}", message));
  };
  if (exec.api_version != "client.authentication.k8s.io/v1" &&
      exec.api_version != "client.authentication.k8s.io/v1beta1") {
    return fail(ErrorKind::kInvalid,
                fmt::format("exec plugin: invalid apiVersion {}", go_quoted(exec.api_version)));
  }
  if (exec.needs_terminal) {
    return failed("exec plugin cannot support interactive mode: standard input is not a terminal");
  }
  const Result<std::string> info = exec_info(config_);
  if (!info) return failed(info.error().message);
  std::vector<std::pair<std::string, std::string>> environment = exec.env;
  environment.emplace_back("KUBERNETES_EXEC_INFO", *info);
  const Result<ProcessResult> ran = run_(exec.command, exec.args, environment);
  if (!ran) {
    std::string message = fmt::format("exec: {}", ran.error().message);
    if (ran.error().kind == ErrorKind::kNotFound)
      message = fmt::format("exec: executable {} not found", exec.command);
    if (ran.error().kind == ErrorKind::kTimeout)
      message = fmt::format("exec: executable {} did not end within {} and was killed",
                            exec.command, go_duration(exec.timeout));
    if (!exec.install_hint.empty()) message += ". " + exec.install_hint;
    return failed(message);
  }
  if (ran->exit_code != 0) {
    return failed(
        fmt::format("exec: executable {} failed with exit code {}", exec.command, ran->exit_code));
  }
  Result<PluginAnswer> answer = read_answer(ran->out, exec);
  if (!answer) return failed(answer.error().message);
  kept_ = std::move(answer->credential);
  expires_ = answer->expires;
  return *kept_;
}

}  // namespace berth::kube
