// One client's connection: handshake, then what its protocol sends and reads, with deadlines for
// both. All on the thread that runs its io_context. For http_worker.cc.
#pragma once

#include <functional>
#include <memory>

#include "net/http_server_state.h"

namespace boost::asio {
class io_context;
}

namespace berth::net {

class HttpConnection {
 public:
  // Called when it is over; the connection is not called after that.
  using Closed = std::function<void()>;

  virtual ~HttpConnection() = default;

  virtual void start() = 0;
  // No more requests; an answer under way may be completed.
  virtual void drain() = 0;
  virtual void close() = 0;
};

// Owns the socket. The context and the state outlive it. `slot` is its place in state.slots. Null:
// it is not a socket that can be used, and stays the caller's.
std::shared_ptr<HttpConnection> make_connection(boost::asio::io_context& context, int socket,
                                                ConnectionSlots::Id slot, HttpServerState& state,
                                                HttpConnection::Closed closed);

}  // namespace berth::net
