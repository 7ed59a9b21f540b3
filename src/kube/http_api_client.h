// HttpApiClient: an API server, spoken to over HTTP as client-go does it (shell.md §6.1).
//
//   HttpApiClientOptions options;
//   options.config = …;                    // kube/client_config.h
//   options.user_agent = "kube-scheduler/v1.37.1 (linux/amd64) kubernetes/abc1234/scheduler";
//   HttpApiClient client(std::move(options), loop, log, metrics);
//
// World thread. It outlives its calls, and the loop outlives it. Streams that are open when it ends
// are ended with kCancelled, before the destructor returns.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "api/envelope.h"
#include "berth/loop.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/client_config.h"
#include "kube/credentials.h"
#include "kube/write_gate.h"
#include "net/http_client.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::kube {

inline constexpr Duration kRequestTimeout = std::chrono::seconds(65);

struct HttpApiClientOptions {
  ClientConfig config;
  std::string user_agent;

  // Requests per second, and how many may go at once. Either below 0: no limit. 0: client-go's own
  // (5 and 10).
  float qps = 0;
  int burst = 0;

  // Of bodies. Empty: protobuf, and answers in either format, as client-go does by default.
  std::string content_type{kProtoContentType};
  std::string accept_content_types;  // sent as they are; empty: made of `content_type`

  // How long a rotated CA, certificate or key may go unnoticed while a connection lives.
  Duration tls_file_interval = std::chrono::seconds(1);

  // Of each try of a call that has none of its own. API servers give up after a minute, and answer
  // so; this is for servers and connections that do not answer.
  Duration timeout = kRequestTimeout;

  // Asked about every request but GET and HEAD; null: all may be sent. Outlives the client.
  WriteGate* write_gate = nullptr;

  net::MakeHttpTransport transport;  // empty: a net::HttpClient
};

class HttpApiClient final : public ApiClient {
 public:
  // `metrics` outlives this. `run` runs the programs that print credentials; without it they run
  // until they end, take too long, or this ends.
  HttpApiClient(HttpApiClientOptions options, Loop& loop, telemetry::Log log,
                telemetry::ClientMetrics& metrics, Credentials::RunProcess run = {});
  ~HttpApiClient() override;
  HttpApiClient(const HttpApiClient&) = delete;
  HttpApiClient& operator=(const HttpApiClient&) = delete;

  Task<ApiResult> call(ApiCall call, CancelToken cancel = {}) override;
  net::HttpCallId stream(ApiCall call, net::HttpStreamCallbacks callbacks) override;
  void cancel(net::HttpCallId stream) override;
  BodyFormat format() const override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::kube
