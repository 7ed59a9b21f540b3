// CommandClient: an API client with a loop of its own, for a command that asks a server and ends.
// What the client would log is not for the command's user, who gets results and errors, unless the
// command goes on for so long that he should see it. The thread that makes it is the world; from then on the process ignores broken pipes (base/signals.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/signals.h"
#include "berth/loop.h"
#include "berth/task.h"
#include "kube/client_config.h"
#include "kube/http_api_client.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::app {

class CommandClient {
 public:
  // `timeout` is of each try of a request that has none of its own. The first of `signals` is a
  // stop(), the second ends the process; no other thread may have been started before.
  // `log`: where errors are logged meanwhile; null: nowhere.
  CommandClient(kube::ClientConfig config, Duration timeout, const std::vector<int>& signals = {},
                std::unique_ptr<telemetry::LogSink> log = nullptr);

  kube::ApiClient& api() { return client_; }
  RealLoop& loop() { return loop_; }
  const telemetry::Log& log() const { return log_; }

  // Runs the loop until the task is done. Nothing: stop() came first.
  template <typename T>
  std::optional<T> wait_for(Task<T> task) {
    std::optional<T> value;
    TaskSet tasks;
    tasks.spawn(keep(std::move(task), value, loop_));
    loop_.run();
    return value;
  }
  // Runs the loop until stop().
  void run() { loop_.run(); }
  // Any thread.
  void stop() { loop_.stop(); }

 private:
  template <typename T>
  static Task<void> keep(Task<T> task, std::optional<T>& value, RealLoop& loop) {
    value = co_await task;
    loop.stop();
  }

  void on_signal(int signal);

  RealLoop loop_;
  int signals_seen_ = 0;                  // the thread of signals_ only
  std::unique_ptr<SignalWatch> signals_;  // before the client, whose threads inherit it
  telemetry::Registry registry_;
  telemetry::ClientMetrics metrics_{registry_};
  std::string unread_;  // the log
  telemetry::Log log_;
  kube::HttpApiClient client_;
};

}  // namespace berth::app
