// EmbeddedServer: the API server in memory as a program has it: listening on an address, with
// controllers at work, its objects kept in a file between two runs, and a kubeconfig for those who
// want to talk to it. What `berth apiserver` and `berth run` have in common.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"
#include "control_plane/controllers.h"
#include "memapi/api_server.h"
#include "net/http_server.h"

namespace berth::app {

struct EmbeddedServerOptions {
  std::string listen = "127.0.0.1:8001";
  std::string kubeconfig;  // where to write one; empty: nowhere
  std::string data;        // where objects are kept; empty: nowhere
  std::string token_file;  // with what clients must present; empty: see below
  std::string authorization_mode = "AlwaysAllow";  // or "RBAC": then clients need a token, too
  std::string client_ca_file;  // signs certificates of clients, which then are users; empty: none
  Duration event_ttl = std::chrono::hours(1);  // zero: events stay
  std::vector<std::string> controllers;        // words as choose_controllers() takes them
  control_plane::NodeAgentOptions node_agent;
  memapi::AnswerElsewhere elsewhere;  // what there is beside the API
};

class EmbeddedServer {
 public:
  // World thread, before the loop runs. Errors are sentences for whoever typed the options. On an
  // address that other machines can reach clients need a token (one is made if none is given), and
  // TLS is on, for nobody sends a token without it.
  static Result<std::unique_ptr<EmbeddedServer>> start(Loop& loop, EmbeddedServerOptions options);
  ~EmbeddedServer();
  EmbeddedServer(const EmbeddedServer&) = delete;
  EmbeddedServer& operator=(const EmbeddedServer&) = delete;

  // Ends watches and connections and keeps the objects. World thread, once.
  Result<void> stop();

  memapi::LocalClient& local() { return server_->local(); }
  std::string url() const { return url_; }

  // Where it is, how to reach it, what to type.
  void introduce(std::ostream& out) const;

 private:
  explicit EmbeddedServer(EmbeddedServerOptions options) : options_(std::move(options)) {}
  Result<void> listen(Loop& loop);
  Result<void> load_data();
  std::string kubeconfig() const;

  EmbeddedServerOptions options_;
  std::string address_;
  std::uint16_t port_ = 0;
  std::string token_;
  std::string authority_;  // PEM; empty: no TLS
  std::string url_;
  std::unique_ptr<memapi::ProtobufCodec> codec_;
  std::unique_ptr<memapi::ApiServer> server_;
  std::unique_ptr<control_plane::Controllers> controllers_;
  std::unique_ptr<net::HttpServer> http_;
};

// "ADDR:PORT", "[::1]:8001", ":8001" (all addresses).
struct ListenAddress {
  std::string address;
  std::uint16_t port = 0;
};
Result<ListenAddress> parse_listen_address(const std::string& text);
// Whether only this machine can reach it.
bool is_loopback(const std::string& address);

}  // namespace berth::app
