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
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "api/envelope.h"
#include "base/thread.h"
#include "berth/loop.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/client_config.h"
#include "kube/credential_source.h"
#include "kube/credentials.h"
#include "kube/open_streams.h"
#include "kube/request_report.h"
#include "kube/request_slots.h"
#include "kube/request_turns.h"
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
  // More than this on the wire at once makes no server faster, and costs both sides.
  static constexpr std::size_t kAtOnce = 64;

  net::HttpCall http_call(const ApiCall& call, const Credential& credential) const;
  std::string url(const ApiCall& call) const { return options_.config.server + call.path; }
  // `Get "https://…": `
  std::string prefix(const ApiCall& call) const {
    return net::error_prefix(call.method, url(call));
  }

  // Shows the certificate of this credential on new connections.
  void show(const Credential& credential) EXCLUDES(shown_mutex_);
  Task<Result<Credential>> credential(CancelToken cancel);
  ApiResult result_of(const ApiCall& call, Result<net::HttpResponse> answer,
                      const Credential& credential);
  std::string why_unauthorized(const Credential& credential) const;
  Task<std::optional<Result<net::HttpResponse>>> send(const ApiCall& call,
                                                      const Credential& credential,
                                                      CancelToken cancel);
  struct Tried;
  Task<std::unique_ptr<Tried>> try_once(const ApiCall& call, int number, CancelToken cancel);
  Task<ApiResult> call_with_retries(const ApiCall& call, CancelToken cancel);
  void begin_stream(net::HttpCallId id, ApiCall call, net::HttpStreamCallbacks callbacks,
                    Result<Credential> credential);
  net::HttpStreamCallbacks watched(net::HttpCallId id, const ApiCall& call,
                                   net::HttpStreamCallbacks callbacks,
                                   const Credential& credential);

  const HttpApiClientOptions options_;
  Loop& loop_;
  const std::string accept_;
  const std::string content_type_;
  const net::HttpHeaders identity_;
  RequestReport report_;
  RequestTurns turns_;
  RequestSlots slots_{kAtOnce};
  OpenStreams streams_;
  Mutex shown_mutex_;
  Credential shown_ GUARDED_BY(shown_mutex_);  // only its certificate counts
  CredentialSource source_;
  // Last: its thread uses all of the above.
  const std::unique_ptr<net::HttpTransport> client_;
};

}  // namespace berth::kube
