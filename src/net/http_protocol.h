// HttpProtocol: what is spoken on one connection, HTTP/1.1 or HTTP/2, without the connection. Bytes
// go in, bytes come out, and requests are handed to the server's handler.
//
//   socket, TLS, deadlines (http_connection.cc)
//        │ receive(), answered(), timed_out(), …      ▲ next_output(), patience(), end()
//        ▼                                            │
//   HttpProtocol ── HttpRequest, HttpResponder ──► the handler
//
// The connection asks what is to be done after every call. One thread; no call may come from inside
// another. For http_connection.cc and tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "net/http_server_state.h"

namespace berth::net {

// What a protocol knows of its connection.
struct HttpLink {
  HttpServerState& state;  // outlives it
  // The other end of the connection, verified again with each call.
  std::function<HttpPeer()> peer;
  // Whether a handler owes an answer; if not, the client is waited for from now on. A connection
  // that waits may have to go when another needs its place.
  std::function<void(bool)> set_busy;
  // Makes the connection call answered() soon. Any thread, also when the connection has gone.
  std::function<void(std::int32_t stream)> wake;
};

class HttpProtocol {
 public:
  virtual ~HttpProtocol() = default;

  // ---- what happened
  virtual void receive(std::string_view bytes) = 0;
  virtual void client_finished() = 0;  // it sends nothing more, and may still listen
  virtual void answered(std::int32_t stream) = 0;
  virtual void timed_out() = 0;              // patience() is over
  virtual void drain() = 0;                  // the server stops: no new requests
  virtual void sent(std::size_t bytes) = 0;  // of what next_output() gave
  virtual void lost() = 0;                   // the connection is closed; the last call

  // ---- what is to be done
  virtual std::string next_output() = 0;  // to be sent; empty: nothing for now
  virtual bool wants_input() const = 0;

  enum class End : std::uint8_t {
    kOpen,
    kFinished,  // to be closed in good order when all output is sent
    kBroken,    // to be closed at once
  };
  virtual End end() const = 0;

  // How long to wait for the other side. A new turn begins a new wait; none: for ever.
  struct Patience {
    Duration limit{};
    std::uint64_t turn = 0;
    friend bool operator==(const Patience&, const Patience&) = default;
  };
  virtual std::optional<Patience> patience() const = 0;
};

std::unique_ptr<HttpProtocol> make_http1_protocol(HttpLink link);
std::unique_ptr<HttpProtocol> make_http2_protocol(HttpLink link);

}  // namespace berth::net
