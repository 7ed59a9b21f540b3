// Credentials: the words by which an API server knows us, as they are at the moment. Tokens in
// files are read again before they can have expired, programs that print credentials are asked
// again when theirs have expired or were refused.
//
// Any thread may ask; a program is run on the thread that asks, so not on the world's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process.h"
#include "base/thread.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "kube/client_config.h"

namespace berth::kube {

struct Credential {
  std::string bearer_token;         // empty: none
  std::string cert_data, key_data;  // PEM; empty: those of the ClientConfig

  friend bool operator==(const Credential&, const Credential&) = default;
};

class Credentials {
 public:
  using RunProcess = std::function<Result<ProcessResult>(
      const std::string& command, const std::vector<std::string>& arguments,
      const std::vector<std::pair<std::string, std::string>>& environment)>;

  // `config` and `loop` (for its clocks) outlive this.
  Credentials(const ClientConfig& config, const Loop& loop, RunProcess run = run_process);

  Result<Credential> current() EXCLUDES(mutex_);
  // The server answered 401 to `refused`: the next current() looks again, unless it has done so
  // already.
  void refuse(const Credential& refused) EXCLUDES(mutex_);

 private:
  Result<Credential> from_file() REQUIRES(mutex_);
  Result<Credential> from_plugin() REQUIRES(mutex_);

  const ClientConfig& config_;
  const Loop& loop_;
  RunProcess run_;
  Mutex mutex_;
  std::optional<Credential> kept_ GUARDED_BY(mutex_);
  TimePoint look_again_ GUARDED_BY(mutex_);             // of a token file
  std::optional<WallTime> expires_ GUARDED_BY(mutex_);  // of a plugin's credential
};

}  // namespace berth::kube
