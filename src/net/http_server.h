// HttpServer: listens on an address, reads requests, hands them to a handler and sends what that
// answers. HTTP/1.1, plain or over TLS, and HTTP/2 over TLS, on a few threads of its own.
//
//   HttpServerOptions options;
//   options.address = "127.0.0.1";
//   Result<std::unique_ptr<HttpServer>> server = HttpServer::start(options, handler);
//
// The handler runs on the server's threads: it must not block, and must not stop the server. It may
// answer there and then, or keep the responder and answer from any thread, even after the server is
// gone (then it is dropped).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "berth/loop.h"
#include "berth/result.h"
#include "net/http_message.h"
#include "net/tls.h"

namespace berth::net {

// What a client may cost us.
struct HttpLimits {
  std::size_t head_bytes = 1 << 20;               // more: 431
  std::size_t body_bytes = std::size_t{3} << 20;  // more: 413; not for bodies on demand
  // One more, and that which has waited for a request the longest is closed; if all are being
  // answered, the new one is turned away.
  std::size_t connections = 4096;
  std::size_t local_connections = 64;  // in addition, for clients on this machine
  std::uint32_t streams = 100;         // of HTTP/2, on one connection at a time
  // Of a stream, handed in and not yet taken by the client; more: the connection is cut.
  std::size_t waiting_bytes = std::size_t{16} << 20;
  // Of all streams together. One may take no more than is free, so that those whose clients do not
  // read leave room for those whose clients do.
  std::size_t all_waiting_bytes = std::size_t{256} << 20;

  Duration head_timeout = std::chrono::seconds(32);   // TLS handshake; first to last byte of a head
  Duration body_timeout = std::chrono::seconds(60);   // between two pieces of a body
  Duration write_timeout = std::chrono::seconds(60);  // between two pieces of an answer
  Duration idle_timeout = std::chrono::seconds(120);  // between two requests
  Duration close_timeout = std::chrono::seconds(2);   // for the other side to close as well
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // "0.0.0.0", "::" or "": all there are, of both families
  std::uint16_t port = 0;             // 0: any that is free
  std::optional<TlsServerSettings> tls;
  HttpLimits limits;
  std::size_t threads = 2;
  bool reuse_port = false;  // several servers may share the port
  bool http2 = false;       // offered to clients over TLS

  // When the handler is called. False: when a request is complete, if its body is within the
  // limits. True: when its head is, with an empty body; HttpResponder::read_body() gets that.
  bool body_on_demand = false;

  // The response when no handler answers (malformed, too large, dropped): a status and a sentence.
  // None: the sentence as text.
  std::function<HttpResponse(int status, std::string message)> error_response;
  // For the Date header; none: no such header.
  std::function<WallTime()> wall_clock;
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> start(HttpServerOptions options, HttpHandler handler);
  ~HttpServer();  // stop() without grace, unless it was stopped
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::string address() const;  // as a client would write it: "127.0.0.1:8001", "[::1]:8001"
  std::size_t connections() const;

  // Certificates are shown to connections from now on; the authorities of clients count for
  // requests from now on, also of connections that there are. An error changes nothing.
  Result<void> set_tls(const TlsServerSettings& settings);

  // No new connections and requests; streams end, answers under way may take `grace` to come; then
  // all is closed. Returns when it is.
  void stop(Duration grace);

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);
  void take(int socket);
  void turn_away(int socket);

  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::net
