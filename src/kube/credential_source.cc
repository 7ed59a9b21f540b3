#include "kube/credential_source.h"

#include <string>
#include <utility>

#include "net/tls.h"

namespace berth::kube {
namespace {

// Counts the program's runs by how they end.
Credentials::RunProcess counted(Credentials::RunProcess run, telemetry::ClientMetrics& metrics) {
  return [run = std::move(run), &metrics](const std::string& command,
                                          const std::vector<std::string>& arguments,
                                          const auto& environment) {
    Result<ProcessResult> result = run(command, arguments, environment);
    std::string code = "1";
    std::string_view status = "client_internal_error";
    if (result) {
      code = std::to_string(result->exit_code);
      status = result->exit_code == 0 ? "no_error" : "plugin_execution_error";
    } else if (result.error().kind == ErrorKind::kNotFound) {
      status = "plugin_not_found_error";
    } else if (result.error().kind == ErrorKind::kTimeout) {
      status = "plugin_execution_error";
    }
    metrics.exec_plugin_call.counter({code, status}).add();
    return result;
  };
}

}  // namespace

CredentialSource::CredentialSource(const ClientConfig& config, const Loop& loop,
                                   telemetry::ClientMetrics& metrics, Credentials::RunProcess run)
    : reads_file_(config.uses_tls() && !config.token_file.empty()),
      runs_program_(config.uses_tls() && !reads_file_ && config.token.empty() && config.exec),
      loop_(loop),
      metrics_(metrics),
      credentials_(config, loop, counted(run ? std::move(run) : with_limits(config), metrics)) {
  if (reads_file_ || runs_program_) thread_ = Thread("credentials", [this] { this->run(); });
}

// Until it has ended, is closed, or takes too long.
Credentials::RunProcess CredentialSource::with_limits(const ClientConfig& config) {
  return [this, &config](const std::string& command, const std::vector<std::string>& arguments,
                         const auto& environment) {
    return run_process_until(stop_, config.exec->timeout, command, arguments, environment);
  };
}

void CredentialSource::close() {
  if (!thread_.joinable()) return;
  stop_.stop();
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

std::optional<Result<Credential>> CredentialSource::at_hand() {
  if (runs_program_) return std::nullopt;
  return credentials_.current();
}

void CredentialSource::ask(Done done) {
  if (!thread_.joinable()) return done(credentials_.current());
  const MutexLock lock(mutex_);
  inbox_.asking.push_back(std::move(done));
  changed_.notify_all();
}

void CredentialSource::refuse(Credential refused) {
  if (!runs_program_) return credentials_.refuse(refused);
  const MutexLock lock(mutex_);
  inbox_.refused.push_back(std::move(refused));
  changed_.notify_all();
}

void CredentialSource::run() {
  for (;;) {
    Inbox taken;
    {
      const MutexLock lock(mutex_);
      while (!ending_ && inbox_.refused.empty() && inbox_.asking.empty()) changed_.wait(mutex_);
      if (ending_ && inbox_.asking.empty()) return;
      std::swap(taken, inbox_);
    }
    for (const Credential& refused : taken.refused) credentials_.refuse(refused);
    if (taken.asking.empty()) continue;
    // One answer for all, so that a program that fails slowly is not run once for each of them.
    const Result<Credential> found = find();
    for (const Done& done : taken.asking) done(found);
  }
}

Result<Credential> CredentialSource::find() {
  {
    const MutexLock lock(mutex_);
    if (ending_) return fail(ErrorKind::kCancelled, "the client was closed");
  }
  Result<Credential> credential = credentials_.current();
  if (credential) remember(*credential);
  return credential;
}

// Another certificate than before: how long the old one lived, and how long the new one will.
void CredentialSource::remember(const Credential& credential) {
  if (credential.cert_data.empty() || credential.cert_data == noted_.cert_data) return;
  const WallTime now = loop_.wall_now();
  if (const auto old = net::read_certificates(noted_.cert_data); old && !old->empty())
    metrics_.exec_plugin_certificate_rotation_age.histogram().observe(
        in_seconds(now - old->front().not_before));
  if (const Result<WallTime> expires = net::expiry(credential.cert_data))
    metrics_.exec_plugin_ttl.gauge().set(in_seconds(*expires - now));
  noted_ = credential;
}

}  // namespace berth::kube
