#include "app/embedded_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <ostream>
#include <utility>

#include "api/api_status.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/go_quote.h"
#include "berth/random.h"
#include "memapi/api_error.h"
#include "memapi/table_codec.h"
#include "net/tls.h"
#include "wire/json_text.h"

namespace berth::app {
namespace {

constexpr Duration kGrace = std::chrono::seconds(1);
// Of one connection: a client watches some twenty kinds and has as many requests beside them.
constexpr std::uint32_t kStreams = 250;

std::string random_token() {
  std::string token;
  for (int i = 0; i < 2; ++i) token += fmt::format("{:016x}", seed_from_system());
  return token;
}

// The first line of a file, without what surrounds it.
Result<std::string> read_token(const std::string& path) {
  Result<std::string> text = berth::read_file(path);
  if (!text) return text;
  std::string token = text->substr(0, text->find('\n'));
  while (!token.empty() && (token.back() == ' ' || token.back() == '\r')) token.pop_back();
  if (token.empty()) return fail(ErrorKind::kInvalid, fmt::format("{}: no token in it", path));
  return token;
}

// What clients are told before anybody has read their request: a Status, as always.
net::HttpResponse refusal(int code, std::string message) {
  memapi::ApiError error;
  error.code = code;
  error.message = std::move(message);
  error.reason = code == 413   ? "RequestEntityTooLarge"
                 : code >= 500 ? "InternalError"
                               : "BadRequest";
  net::HttpResponse response;
  response.status = code;
  response.headers.add("Content-Type", "application/json");
  response.body = to_json(error.to_status());
  return response;
}

bool is_wildcard(const std::string& address) {
  return address.empty() || address == "0.0.0.0" || address == "::";
}

// What is shown to clients, and whom a kubeconfig has to believe for that; for one run.
struct Certificates {
  std::string authority_pem;
  net::KeyPair serving;
};
Result<Certificates> make_certificates(const std::string& address, WallTime now) {
  net::CertificateOrder order;
  order.common_name = "berth";
  order.key = net::KeyKind::kEcdsaP256;
  order.not_before = now + -Duration(std::chrono::hours(1));
  order.not_after = now + std::chrono::hours(24 * 365);
  Result<net::KeyPair> authority = net::make_authority(order);
  if (!authority) return fail(authority.error());
  order.dns_names = {"localhost"};
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) order.dns_names.emplace_back(host.data());
  order.addresses = {"127.0.0.1", "::1"};
  if (!is_wildcard(address)) order.addresses.push_back(address);
  Result<net::KeyPair> serving = net::issue_certificate(*authority, order);
  if (!serving) return fail(serving.error());
  return Certificates{authority->certificate_pem, std::move(*serving)};
}

}  // namespace

Result<ListenAddress> parse_listen_address(const std::string& text) {
  const auto wrong = [&] {
    return fail(ErrorKind::kInvalid,
                fmt::format("\"{}\" is not an address to listen on (ADDR:PORT)", text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong();
  ListenAddress result;
  result.address = text.substr(0, colon);
  if (result.address.starts_with('[') && result.address.ends_with(']')) {
    result.address = result.address.substr(1, result.address.size() - 2);
  } else if (result.address.contains(':')) {
    return wrong();
  }
  if (result.address == "localhost") result.address = "127.0.0.1";
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data() + colon + 1, end, result.port);
  if (error != std::errc() || read != end) return wrong();
  return result;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

Result<std::unique_ptr<EmbeddedServer>> EmbeddedServer::start(Loop& loop,
                                                              EmbeddedServerOptions options) {
  auto made = std::unique_ptr<EmbeddedServer>(new EmbeddedServer(std::move(options)));
  EmbeddedServer& self = *made;
  const Result<ListenAddress> where = parse_listen_address(self.options_.listen);
  if (!where) return fail(where.error());
  self.address_ = where->address;
  self.port_ = where->port;
  Result<std::vector<std::string>> names =
      control_plane::choose_controllers(self.options_.controllers);
  if (!names) return fail(names.error());
  const bool rbac = self.options_.authorization_mode == "RBAC";
  if (!rbac && self.options_.authorization_mode != "AlwaysAllow") {
    return fail(ErrorKind::kInvalid,
                fmt::format("authorization-mode {} is not a valid mode (AlwaysAllow, RBAC)",
                            go_quoted(self.options_.authorization_mode)));
  }
  if (!self.options_.token_file.empty()) {
    Result<std::string> token = read_token(self.options_.token_file);
    if (!token) return fail(token.error());
    self.token_ = std::move(*token);
  } else if (!is_loopback(self.address_) || rbac || !self.options_.client_ca_file.empty()) {
    self.token_ = random_token();
  }
  self.codec_ = std::make_unique<memapi::TableCodec>();
  memapi::ApiServerOptions server;
  server.token = self.token_;
  if (rbac) server.authorization = memapi::Authorization::kRbac;
  server.token_key = random_token() + random_token();
  server.protobuf = self.codec_.get();
  server.limits.event_ttl = self.options_.event_ttl;
  server.elsewhere = self.options_.elsewhere;
  self.server_ =
      std::make_unique<memapi::ApiServer>(loop, Random(seed_from_system()), std::move(server));
  if (Result<void> loaded = self.load_data(); !loaded) return fail(loaded.error());
  self.server_->start();
  if (Result<void> listening = self.listen(loop); !listening) return fail(listening.error());
  self.controllers_ = std::make_unique<control_plane::Controllers>(
      self.server_->local(), *names, self.options_.node_agent, self.authority_);
  if (!self.options_.kubeconfig.empty()) {
    // A secret may be in it.
    const Result<void> written = write_file(self.options_.kubeconfig, self.kubeconfig(), 0600);
    if (!written) return fail(written.error());
  }
  return made;
}

EmbeddedServer::~EmbeddedServer() {
  controllers_.reset();
  if (server_) server_->end_watches();
  http_.reset();
}

Result<void> EmbeddedServer::load_data() {
  if (options_.data.empty()) return {};
  const Result<std::string> saved = berth::read_file(options_.data);
  if (!saved) {
    if (saved.error().kind == ErrorKind::kNotFound) return {};  // the first time
    return fail(saved.error());
  }
  if (Result<void> loaded = server_->load(*saved); !loaded)
    return fail(loaded.error().kind, fmt::format("{}: {}", options_.data, loaded.error().message));
  return {};
}

Result<void> EmbeddedServer::listen(Loop& loop) {
  net::HttpServerOptions options;
  options.address = address_;
  options.port = port_;
  options.error_response = refusal;
  options.wall_clock = [&loop] { return loop.wall_now(); };
  if (!token_.empty()) {
    Result<Certificates> made = make_certificates(address_, loop.wall_now());
    if (!made) return fail(made.error());
    authority_ = std::move(made->authority_pem);
    options.tls.emplace();
    options.tls->certificate = std::move(made->serving);
    if (!options_.client_ca_file.empty()) {
      Result<std::string> authority = berth::read_file(options_.client_ca_file);
      if (!authority) return fail(authority.error());
      options.tls->client_authorities.push_back({"client", std::move(*authority)});
    }
    options.http2 = true;
    options.limits.streams = kStreams;
  }
  Result<std::unique_ptr<net::HttpServer>> started = net::HttpServer::start(
      std::move(options), [server = server_.get()](net::HttpRequest request,
                                                   std::shared_ptr<net::HttpResponder> responder) {
        server->handle(std::move(request), std::move(responder));
      });
  if (!started) return fail(started.error());
  http_ = std::move(*started);
  port_ = http_->port();
  const std::string host = is_wildcard(address_)    ? "127.0.0.1"
                           : address_.contains(':') ? fmt::format("[{}]", address_)
                                                    : address_;
  url_ = fmt::format("{}://{}:{}", authority_.empty() ? "http" : "https", host, port_);
  return {};
}

std::string EmbeddedServer::kubeconfig() const {
  std::string text = fmt::format(
      "apiVersion: v1\n"
      "kind: Config\n"
      "current-context: berth\n"
      "clusters:\n"
      "- name: berth\n"
      "  cluster:\n"
      "    server: {}\n",
      url_);
  if (!authority_.empty())
    text += fmt::format("    certificate-authority-data: {}\n", base64(authority_));
  text +=
      "contexts:\n"
      "- name: berth\n"
      "  context:\n"
      "    cluster: berth\n"
      "    user: berth\n"
      "users:\n"
      "- name: berth\n"
      "  user:";
  text += token_.empty() ? " {}\n" : fmt::format("\n    token: {}\n", go_quoted(token_));
  return text;
}

void EmbeddedServer::introduce(std::ostream& out) const {
  out << fmt::format("API server: {}\n", url_);
  if (options_.elsewhere)
    out << fmt::format("Page:       {}/ui/{}\n", url_, token_.empty() ? "" : "  (with `berth ui`)");
  if (!options_.data.empty()) out << fmt::format("Data:       {}\n", options_.data);
  if (!token_.empty() && options_.token_file.empty())
    out << fmt::format("Token:      {}\n", token_);
  std::string kubectl = "kubectl";
  if (!options_.kubeconfig.empty()) {
    out << fmt::format("Kubeconfig: {}\n", options_.kubeconfig);
    kubectl += fmt::format(" --kubeconfig {}", options_.kubeconfig);
  } else if (token_.empty()) {
    kubectl += fmt::format(" --server {}", url_);
  } else {
    kubectl += fmt::format(
        " --server {} --insecure-skip-tls-verify --token {}", url_,
        options_.token_file.empty() ? token_ : fmt::format("\"$(cat {})\"", options_.token_file));
  }
  out << fmt::format(
      "\nIn another terminal:\n"
      "  {0} get nodes\n"
      "  {0} get pods -A -w\n"
      "  {0} create deployment web --image=nginx --replicas=3\n"
      "\nCtrl-C ends it.\n",
      kubectl);
  out.flush();
}

Result<void> EmbeddedServer::stop() {
  controllers_.reset();
  server_->end_watches();
  http_->stop(kGrace);
  if (options_.data.empty()) return {};
  return write_file(options_.data, server_->save(), 0600);
}

}  // namespace berth::app
