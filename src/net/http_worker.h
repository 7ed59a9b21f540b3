// A thread with the connections that belong to it. For http_server.cc.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/thread.h"
#include "net/http_exchange.h"
#include "net/http_message.h"
#include "net/http_server.h"
#include "net/tls_context.h"

namespace berth::net {

// What all workers of a server share. Outlives them.
struct HttpServerState {
  HttpServerState(HttpServerOptions given, HttpHandler answering)
      : options(std::move(given)), handler(std::move(answering)) {}

  const HttpServerOptions options;
  const HttpHandler handler;
  HttpErrorResponse error_response;  // set before there are workers
  std::atomic<bool> draining = false;

  Mutex mutex;
  Condition changed;
  std::shared_ptr<const TlsServerContext> tls GUARDED_BY(mutex);  // none: plain
  std::size_t connections GUARDED_BY(mutex) = 0;
  bool listening GUARDED_BY(mutex) = false;
};

class HttpWorker {
 public:
  struct Parts;

  HttpWorker(std::string thread_name, HttpServerState& state);
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
