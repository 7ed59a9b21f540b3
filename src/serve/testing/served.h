// For tests of this room: a SchedulerServer on loopback, asked over real sockets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "net/http_client.h"
#include "net/testing/loopback.h"
#include "serve/server.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace berth::serve::testing {

// A log whose text can be read.
struct TestLog {
  std::string text;
  telemetry::Log log{std::make_shared<telemetry::LogOutput>(
      telemetry::LogOptions{}, [] { return WallTime{}; },
      std::make_unique<telemetry::StringSink>(text))};
};

// Doors that know the tokens and users of the captures: "admintoken" is in system:masters,
// "plaintoken" belongs to "plain", "montoken" to "mon", who may get /metrics.
AuthenticationOptions known_tokens();
AuthorizationOptions known_rights();

class Served {
 public:
  Served();
  ~Served();
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  VirtualLoop loop{net::testing::real_now()};
  telemetry::Registry registry;
  TestLog log;
  ServerOptions options;  // to be changed before start()
  std::unique_ptr<SchedulerServer> server;

  // With certificates of elliptic curves, unless the options name others: making one as the server
  // itself does takes seconds.
  void start();

  struct Ask {
    std::string path;
    std::string method = "GET";
    std::string token = {};
    net::HttpHeaders headers = {};
    std::string body = {};
    net::TlsClientSettings tls = {};  // a client certificate
  };
  // Waits for the answer; it is empty if there is none.
  net::HttpResponse ask(Ask ask);
  // Does not wait. Called back from another thread.
  void ask(Ask ask, std::function<void(net::HttpResponse)> answered);
  net::HttpResponse get(std::string path, std::string token = "admintoken") {
    return ask({.path = std::move(path), .token = std::move(token)});
  }
  std::string url(std::string_view path) const;

  // The value of a series in the server's metrics, as text; empty: there is none.
  std::string metric(std::string_view series) const;

 private:
  std::string folder_;
  std::vector<std::unique_ptr<net::HttpClient>> clients_;
};

// "200 Cache-Control: no-cache, private; Content-Type: …" without what changes with time.
std::string head_of(const net::HttpResponse& response);

}  // namespace berth::serve::testing
