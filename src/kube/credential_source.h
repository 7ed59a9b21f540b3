// CredentialSource: Credentials without blocking the caller's thread. A program that prints
// credentials may take its time: it runs on a thread of its own, and is killed after
// ExecPlugin::timeout. All others are available at once.
//
// Any thread. For http_api_client.cc.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/thread.h"
#include "kube/credentials.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::kube {

class CredentialSource {
 public:
  using Done = std::function<void(Result<Credential>)>;

  // All of these outlive it. Without `run` programs are run as they are, and stopped in the end.
  CredentialSource(const ClientConfig& config, const Loop& loop, telemetry::ClientMetrics& metrics,
                   Credentials::RunProcess run);
  ~CredentialSource() { close(); }
  CredentialSource(const CredentialSource&) = delete;
  CredentialSource& operator=(const CredentialSource&) = delete;

  // nullopt: only ask() can get it. An error only where there is something that can go wrong; then
  // ask() does not answer before it returns.
  std::optional<Result<Credential>> at_hand();
  // `done` is called once, on the source's thread if there is one; it must not block, nor end the
  // source.
  void ask(Done done) EXCLUDES(mutex_);
  // The server answered 401 to it.
  void refuse(Credential refused) EXCLUDES(mutex_);

  // No more calls of ask(). Open ones end with kCancelled; a program that runs is killed.
  void close() EXCLUDES(mutex_);

 private:
  struct Inbox {
    std::vector<Credential> refused;
    std::vector<Done> asking;
  };
  Credentials::RunProcess with_limits(const ClientConfig& config);
  void run() EXCLUDES(mutex_);
  Result<Credential> find() EXCLUDES(mutex_);
  void remember(const Credential& credential);

  const bool reads_file_;
  const bool runs_program_;
  const Loop& loop_;
  telemetry::ClientMetrics& metrics_;
  ProcessStop stop_;
  Credentials credentials_;
  Credential noted_;  // the source's thread only

  Mutex mutex_;
  Condition changed_;
  Inbox inbox_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
  Thread thread_;  // only for files and programs; last: it uses all of the above
};

}  // namespace berth::kube
