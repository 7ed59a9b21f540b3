// For tests of the client: a server that speaks HTTP/2 over TLS and does what a test tells it to,
// also what no good server would. One thread per connection, which calls the handler when a request
// is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread.h"
#include "net/http_message.h"
#include "net/tls.h"

namespace berth::net::testing {

struct Http2Request {
  int connection = 0;  // counted from 1
  std::int32_t stream = 0;
  std::string method, path, authority, body;
  HttpHeaders headers;
  HttpPeer peer;  // by the client authorities of the server's TLS settings
};

// One connection, as the handler sees it. The streams may be those of earlier requests.
class Http2Peer {
 public:
  virtual ~Http2Peer() = default;
  virtual void respond(std::int32_t stream, int status, const std::string& body) = 0;
  // Without an end.
  virtual void begin(std::int32_t stream, const std::string& piece) = 0;
  virtual void write(std::int32_t stream, const std::string& piece, bool last) = 0;
  virtual void inform(std::int32_t stream, int status) = 0;  // 1xx
  virtual void reset(std::int32_t stream, std::uint32_t code) = 0;
  virtual void goodbye(std::int32_t last_stream, std::uint32_t code) = 0;
  virtual void say(const std::string& bytes) = 0;  // whatever they mean
  virtual void close() = 0;                        // without a word
};

class Http2Server {
 public:
  using Handler = std::function<void(Http2Peer&, const Http2Request&)>;
  explicit Http2Server(Handler handler, std::uint32_t most_streams = 100);
  ~Http2Server();
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;

  // Of new connections; server_tls() at first.
  void set_tls(TlsServerSettings settings) EXCLUDES(mutex_);

  std::string url(const std::string& path) const;
  int connections() const EXCLUDES(mutex_);

 private:
  class Connection;
  void accept_all();

  const Handler handler_;
  const std::uint32_t most_streams_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable Mutex mutex_;
  TlsServerSettings tls_ GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Connection>> connections_ GUARDED_BY(mutex_);
  Thread acceptor_;
};

}  // namespace berth::net::testing
