// RequestReport: metrics and log records of the requests to one API server (shell.md §3.4, §6.1).
// For http_api_client.cc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "net/http_message.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::kube {

class RequestReport {
 public:
  // `server` is what URLs begin with, `host` is in it, with its port.
  RequestReport(telemetry::ClientMetrics& metrics, telemetry::Log log, std::string server,
                std::string host);
  ~RequestReport();
  RequestReport(const RequestReport&) = delete;
  RequestReport& operator=(const RequestReport&) = delete;

  // World thread. A request had its turn. `reason` is why it was tried again; empty: it was not.
  void waited(TimePoint now, Duration delay, std::string_view reason, std::string_view verb,
              std::string_view path);
  // Any thread. A try was answered, or not (no code); `took` from sending it.
  void tried(std::string_view verb, std::string_view path, std::optional<int> code, bool again,
             Duration took);
  // A request will be tried again.
  void will_try_again(Duration delay, int attempt, std::string_view path);
  void sent(std::string_view verb, std::size_t bytes);
  void received(std::string_view verb, std::size_t bytes);
  void done(std::string_view verb, Duration took);
  // The warnings that the server sent with its answer.
  void warnings(const net::HttpHeaders& headers);

 private:
  bool may_complain(TimePoint now, int& level);

  telemetry::ClientMetrics& metrics_;
  const telemetry::Log log_;
  const std::string server_;
  const std::string host_;
  std::optional<TimePoint> last_complaint_;
};

}  // namespace berth::kube
