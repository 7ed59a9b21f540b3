// For tests of this room: certificates made once, a client that waits for its answer, and a bare
// socket that says what no client would.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/tls.h"

struct ssl_st;  // OpenSSL's own name for SSL

namespace berth::net::testing {

// Far more than anything here takes; a test that waits this long has failed.
inline constexpr std::chrono::seconds kPatience{60};

// Made at first use, by elliptic curves, which are quick.
struct Certificates {
  KeyPair authority;
  KeyPair server;           // for localhost and 127.0.0.1
  KeyPair renewed_server;   // the same, another key
  KeyPair other_authority;  // signed none of these
  KeyPair client;           // of "jane", in "system:masters" and "staff"
  KeyPair other_client;     // by other_authority
};
const Certificates& certificates();
// For these tests it is that time; certificates are valid around the real one.
WallTime real_now();

TlsServerSettings server_tls();
TlsClientSettings client_tls();

// Waits for what the client calls back with.
Result<HttpResponse> send(HttpClient& client, HttpCall call);
HttpCall get(const std::string& url);
HttpClientOptions plain_options();

std::unique_ptr<HttpServer> start(HttpServerOptions options, HttpHandler handler);
// "http://127.0.0.1:1234/path"
std::string url(const HttpServer& server, std::string_view path, std::string_view scheme = "http");

// What a stream called back with, by any thread.
class StreamLog {
 public:
  HttpStreamCallbacks callbacks();

  // Each waits until it is so, or gives up with an empty answer.
  int status();
  bool wait_for(std::string_view text);
  bool wait_for_bytes(std::size_t size);
  Result<void> ended();
  std::string text();
  HttpHeaders headers();

 private:
  template <typename Ready>
  bool wait_until(Ready ready);

  Mutex mutex_;
  Condition changed_;
  int status_ GUARDED_BY(mutex_) = 0;
  HttpHeaders headers_ GUARDED_BY(mutex_);
  std::string text_ GUARDED_BY(mutex_);
  std::optional<Result<void>> ended_ GUARDED_BY(mutex_);
};

class RawSocket {
 public:
  explicit RawSocket(std::uint16_t port, int receive_buffer = 0);
  // Of a connection that was accepted.
  static std::unique_ptr<RawSocket> of(int socket);
  // What was not received by then makes the system reset the connection.
  ~RawSocket();
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  // Speaks TLS from now on, believing anybody, and offers these protocols ("h2"). Says which was
  // chosen; empty: none, or no TLS at all.
  std::string start_tls(const std::vector<std::string>& protocols = {});

  bool send(std::string_view bytes);
  void finish_sending();
  // All up to this text, or up to the end of the connection.
  std::string receive_until(std::string_view end);
  std::string receive_all();
  // Says something and reads what is answered until the connection is closed.
  std::string ask(std::string_view bytes) {
    send(bytes);
    return receive_all();
  }

 private:
  struct FreeTls {
    void operator()(ssl_st* tls) const;
  };

  RawSocket() = default;
  bool receive_more();
  int socket_ = -1;
  std::unique_ptr<ssl_st, FreeTls> tls_;
  std::string received_;
};

// The other end: a server that answers what a test wants it to.
class RawListener {
 public:
  RawListener();
  ~RawListener();
  RawListener(const RawListener&) = delete;
  RawListener& operator=(const RawListener&) = delete;

  std::string url() const;
  std::unique_ptr<RawSocket> accept();

 private:
  int listener_;
};

}  // namespace berth::net::testing
