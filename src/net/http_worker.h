// A thread with the connections that belong to it. For http_server.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/thread.h"
#include "net/http_server_state.h"

namespace berth::net {

class HttpWorker {
 public:
  struct Parts;

  HttpWorker(std::string thread_name, HttpServerState& state);  // which outlives it
  ~HttpWorker();  // only when all its connections are closed

  // Any thread. The socket is counted in state.connections and has that slot already; it loses both
  // when it is closed.
  void adopt(int socket, ConnectionSlots::Id slot);
  // Any thread. Closes the connection of that slot, if there still is one.
  void close(ConnectionSlots::Id slot);

  // Any thread. Accepts until drain(); `accepted` owns the socket. Sets state.listening back at the
  // end.
  void listen(int socket, std::function<void(int)> accepted);

  // Any thread. See HttpServer::stop().
  void drain(Duration grace);

 private:
  std::unique_ptr<Parts> parts_;
  Thread thread_;
};

}  // namespace berth::net
