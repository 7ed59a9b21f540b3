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

  // Any thread. The socket is counted in state.connections already, and uncounted when it is
  // closed.
  void adopt(int socket);

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
