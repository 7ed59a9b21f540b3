#include "net/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/http_wire.h"
#include "net/http_worker.h"

namespace berth::net {
namespace {

struct Listening {
  int socket = -1;
  std::uint16_t port = 0;
};

std::string failure_text() { return std::system_category().message(errno); }

HttpResponse plain_error(int status, std::string message) {
  HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  response.body = std::move(message);
  response.body += '\n';
  return response;
}

std::uint16_t port_of(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size);
  if (bound.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

Result<Listening> listen_at(const addrinfo& place, bool both_families,
                            const HttpServerOptions& options) {
  const int socket = ::socket(place.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  const int v6_only = both_families ? 0 : 1;
  bool ok = socket >= 0 && ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
            (place.ai_family != AF_INET6 ||
             ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof v6_only) == 0);
  if (options.reuse_port)
    ok = ok && ::setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0;
  ok = ok && ::bind(socket, place.ai_addr, place.ai_addrlen) == 0 &&
       ::listen(socket, SOMAXCONN) == 0;
  if (ok) return Listening{socket, port_of(socket)};
  const std::string reason = failure_text();
  if (socket >= 0) ::close(socket);
  return fail(ErrorKind::kUnavailable,
              fmt::format("cannot listen on {}:{}: {}", options.address, options.port, reason));
}

Result<Listening> listen_on(const HttpServerOptions& options) {
  const bool everywhere =
      options.address.empty() || options.address == "0.0.0.0" || options.address == "::";
  const std::string port = std::to_string(options.port);
  const auto attempt = [&](const char* address) -> Result<Listening> {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* places = nullptr;
    if (const int error = ::getaddrinfo(address, port.c_str(), &hints, &places); error != 0)
      return fail(ErrorKind::kInvalid, fmt::format("cannot listen on {}:{}: {}", options.address,
                                                   options.port, ::gai_strerror(error)));
    Result<Listening> listening = listen_at(*places, everywhere, options);
    ::freeaddrinfo(places);
    return listening;
  };
  if (!everywhere) return attempt(options.address.c_str());
  Result<Listening> both = attempt("::");
  return both ? both : attempt("0.0.0.0");  // a machine without IPv6
}

// An IP address without its port; of IPv4, also when it comes as IPv6, the last four bytes count.
std::string address_bytes(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    return {reinterpret_cast<const char*>(&v4), sizeof v4};
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  const std::size_t skip = IN6_IS_ADDR_V4MAPPED(&v6) ? 12 : 0;
  return {reinterpret_cast<const char*>(&v6) + skip, sizeof v6 - skip};
}

// Whether the client has the address that it connected to, or one of the loopback: it is the
// kubelet of this node, or another program here.
bool from_this_machine(int socket) {
  sockaddr_storage ours{}, theirs{};
  socklen_t size = sizeof ours;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &size) != 0) return false;
  size = sizeof theirs;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &size) != 0) return false;
  const std::string client = address_bytes(theirs);
  return client == address_bytes(ours) || (client.size() == 4 && client[0] == 127);
}

// Calls the handler when the body has been read as well.
HttpHandler with_whole_requests(HttpHandler handler, std::size_t most_bytes) {
  return [handler = std::move(handler), most_bytes](
             HttpRequest request, const std::shared_ptr<HttpResponder>& responder) {
    responder->read_body(
        most_bytes, [&handler, request = std::move(request), responder](std::string body) mutable {
          request.body = std::move(body);  // called once: it may move what it holds
          handler(std::move(request), responder);
        });
  };
}

}  // namespace

struct HttpServer::Parts {
  Parts(HttpServerOptions options, HttpHandler handler)
      : state(std::move(options), std::move(handler)) {}

  HttpServerState state;
  std::uint16_t port = 0;
  std::vector<std::unique_ptr<HttpWorker>> workers;
  std::size_t next_worker = 0;  // used by the first worker's thread only
  bool stopped = false;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerOptions options,
                                                      HttpHandler handler) {
  if (!options.body_on_demand)
    handler = with_whole_requests(std::move(handler), options.limits.body_bytes);
  auto parts = std::make_unique<Parts>(std::move(options), std::move(handler));
  HttpServerState& state = parts->state;
  state.error_response =
      state.options.error_response ? HttpErrorResponse(state.options.error_response) : plain_error;
  if (state.options.tls) {
    Result<std::shared_ptr<const TlsServerContext>> tls =
        TlsServerContext::make(*state.options.tls, state.options.http2);
    if (!tls) return fail(tls.error());
    MutexLock lock(state.mutex);
    state.tls = std::move(*tls);
  }
  const Result<Listening> listening = listen_on(state.options);
  if (!listening) return fail(listening.error());
  parts->port = listening->port;
  const std::size_t threads = std::clamp<std::size_t>(state.options.threads, 1, 64);
  for (std::size_t i = 0; i < threads; ++i)
    parts->workers.push_back(std::make_unique<HttpWorker>(fmt::format("http-{}", i), state));
  {
    MutexLock lock(state.mutex);
    state.listening = true;
  }
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(parts)));
  server->parts_->workers.front()->listen(
      listening->socket, [self = server.get()](int socket) { self->take(socket); });
  return server;
}

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

HttpServer::~HttpServer() { stop(Duration::zero()); }

void HttpServer::take(int socket) {
  HttpServerState& state = parts_->state;
  parts_->next_worker = (parts_->next_worker + 1) % parts_->workers.size();
  const std::optional<ConnectionSlots::Entry> entry =
      state.slots.enter(from_this_machine(socket), parts_->next_worker);
  if (!entry) return turn_away(socket);
  if (entry->evicted) parts_->workers[entry->evicted->worker]->close(entry->evicted->id);
  {
    MutexLock lock(state.mutex);
    ++state.connections;
  }
  parts_->workers[parts_->next_worker]->adopt(socket, entry->id);
}

void HttpServer::turn_away(int socket) {
  HttpServerState& state = parts_->state;
  if (!state.options.tls) {
    HttpAnswerForm form;
    form.keep_alive = false;
    const std::string answer =
        response_bytes(state.error_response(503, "the server has too many connections"), form);
    // As much as fits without waiting; it is a courtesy.
    [[maybe_unused]] const auto sent =
        ::send(socket, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    ::shutdown(socket, SHUT_WR);
  }
  ::close(socket);
}

std::uint16_t HttpServer::port() const { return parts_->port; }

std::string HttpServer::address() const {
  const std::string& address = parts_->state.options.address;
  const bool v6 = address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", parts_->port);
}

std::size_t HttpServer::connections() const {
  MutexLock lock(parts_->state.mutex);
  return parts_->state.connections;
}

Result<void> HttpServer::set_tls(const TlsServerSettings& settings) {
  HttpServerState& state = parts_->state;
  if (!state.options.tls) return fail(ErrorKind::kInvalid, "the server was started without TLS");
  Result<std::shared_ptr<const TlsServerContext>> tls =
      TlsServerContext::make(settings, state.options.http2);
  if (!tls) return fail(tls.error());
  MutexLock lock(state.mutex);
  state.tls = std::move(*tls);
  return {};
}

void HttpServer::stop(Duration grace) {
  if (parts_->stopped) return;
  parts_->stopped = true;
  HttpServerState& state = parts_->state;
  state.draining = true;
  for (const auto& worker : parts_->workers) worker->drain(grace);
  {
    MutexLock lock(state.mutex);
    while (state.listening || state.connections > 0) state.changed.wait(state.mutex);
  }
  parts_->workers.clear();
}

}  // namespace berth::net
