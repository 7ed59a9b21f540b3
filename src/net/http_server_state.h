// What all parts of a server share. For http_server.cc, http_worker.cc, http_connection.cc and the
// protocols.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/thread.h"
#include "net/connection_slots.h"
#include "net/http_exchange.h"
#include "net/http_message.h"
#include "net/http_server.h"
#include "net/tls_context.h"

namespace berth::net {

struct HttpServerState {
  HttpServerState(HttpServerOptions given, HttpHandler answering)
      : options(std::move(given)),
        handler(std::move(answering)),
        stream_budget(std::make_shared<StreamBudget>(options.limits.all_waiting_bytes)),
        slots(options.limits.connections, options.limits.local_connections) {}

  const HttpServerOptions options;
  const HttpHandler handler;
  const std::shared_ptr<StreamBudget> stream_budget;
  HttpErrorResponse error_response;  // set before there are workers
  // Set before any worker is notified: an answer that is formed from then on is its connection's
  // last.
  std::atomic<bool> draining = false;
  ConnectionSlots slots;

  Mutex mutex;
  Condition changed;
  std::shared_ptr<const TlsServerContext> tls GUARDED_BY(mutex);  // none: plain
  std::size_t connections GUARDED_BY(mutex) = 0;
  bool listening GUARDED_BY(mutex) = false;
};

}  // namespace berth::net
