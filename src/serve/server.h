// SchedulerServer: the scheduler's HTTPS endpoints (shell.md §4).
//
//   TLS ► Cache-Control ► who is it (authentication.h) ► may they (authorization.h) ► the endpoint
//
// All of that uses the head of a request; a body is only read for an authorized request to an
// endpoint that takes one. The requests that wait for an API server's answer are limited in number
// (429), and given up when they go.
//
// It knows nothing of a scheduler: all that it shows comes through ServerOptions, from the code
// that wires the program. Requests are answered on threads of its own; what they are given to call
// must bear that. Started, stopped and ended on the world thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/result.h"
#include "berth/waiting_pods.h"
#include "net/http_message.h"
#include "serve/authentication.h"
#include "serve/authorization.h"
#include "serve/certificates.h"
#include "serve/debug.h"
#include "serve/explanations.h"
#include "serve/health.h"
#include "serve/resource_metrics.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace berth::net {
class HttpServer;
}

namespace berth::serve {

class Pipeline;  // of requests, in server.cc

// The live page: answers a request for /ui or below, now or later, once. `path` is unescaped. Called
// on the server's threads.
using AnswerUi = std::function<void(const net::HttpRequest& request, std::string_view path,
                                    std::function<void(net::HttpResponse)> respond)>;

struct ServerOptions {
  // Where. `certificates.bind_address` is filled in from here.
  std::string bind_address = "0.0.0.0";
  std::uint16_t port = 10259;  // 0: any that is free; a scheduler without a port has no server
  bool permit_port_sharing = false;
  CertificateOptions certificates;
  bool http2 = true;
  std::uint32_t http2_max_streams = 100;  // of one connection
  // More: that which has waited for a request the longest is closed.
  std::size_t max_connections = 512;

  // Access.
  AuthenticationOptions authentication;
  // Headers of a proxy whose CA comes from a file (certificates.request_header_ca_file).
  RequestHeaders request_headers;
  AuthorizationOptions authorization;

  // What. `metrics` must be there; it and `waiting_pods` outlive the server.
  ProgramFacts program;
  HealthChecks health;
  telemetry::Registry* metrics = nullptr;
  ListPods list_pods;                             // none: no /metrics/resources
  std::function<std::string()> component_config;  // JSON, for /configz; any thread
  WaitingPods* waiting_pods = nullptr;            // none: no /debug/waiting-pods
  AnswerUi answer_ui;                             // none: no /ui/
  ExplainPods explain;                            // none: no /explain
  bool profiling = true;                          // /debug/pprof and /debug/flags
  bool flagz = true;                              // /flagz: the gate ComponentFlagz
  bool statusz = true;                            // /statusz: the gate ComponentStatusz

  Duration reload_period = std::chrono::seconds(10);  // how often certificate files are looked at
};

// The client CAs that the cluster publishes; see kube's AuthenticationConfig.
struct ClusterTrust {
  ClusterAuthorities authorities;
  RequestHeaders request_headers;
};

class SchedulerServer {
 public:
  // `loop` outlives the server. An error is upstream's text ("failed to listen on …").
  static Result<std::unique_ptr<SchedulerServer>> start(Loop& loop, ServerOptions options,
                                                        telemetry::Log log);
  ~SchedulerServer();  // stop() without grace, unless it was stopped
  SchedulerServer(const SchedulerServer&) = delete;
  SchedulerServer& operator=(const SchedulerServer&) = delete;

  std::uint16_t port() const;
  std::string address() const;  // "127.0.0.1:10259"

  // For requests from now on. Files named by flags take precedence over the cluster's.
  void set_cluster_trust(ClusterTrust trust);

  // No new requests. Those that wait for another thread or server are refused, answers on their way
  // may take `grace`; returns when all is closed.
  void stop(Duration grace = std::chrono::seconds(5));

 private:
  SchedulerServer(Loop& loop, telemetry::Log log, std::unique_ptr<ServingCertificates> certificates,
                  std::shared_ptr<Pipeline> pipeline);

  void believe();
  void look_at_files_later();
  void use_certificates();

  Loop& loop_;
  const telemetry::Log log_;
  const std::unique_ptr<ServingCertificates> certificates_;
  const std::shared_ptr<Pipeline> pipeline_;
  RequestHeaders cluster_headers_;
  std::unique_ptr<net::HttpServer> server_;
  std::optional<TimerId> timer_;
  bool stopped_ = false;
};

}  // namespace berth::serve
