// ApiServer: an API server in memory that kubectl, client-go and schedulers take for a real one.
//
// It answers HTTP requests; somebody else listens. handle() may be called from any thread; timers
// (ends of watches and events, bookmarks) run on the Loop that it is given. Objects live as long as
// the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "memapi/admission.h"
#include "memapi/codec.h"
#include "memapi/local_client.h"
#include "memapi/store.h"
#include "net/http_message.h"

namespace berth::memapi {

// Answers requests for paths that are not the API's, from clients that are let in; false: it does not
// know the path. Any thread.
using AnswerElsewhere = std::function<bool(const net::HttpRequest& request,
                                           const std::shared_ptr<net::HttpResponder>& responder)>;

// As --authorization-mode: everybody who is let in may do everything, or what roles and bindings
// say.
enum class Authorization : std::uint8_t { kAlwaysAllow, kRbac };

struct ApiServerOptions {
  // What a client must present ("Authorization: Bearer …") to be the administrator; empty: nothing.
  std::string token;
  Authorization authorization = Authorization::kAlwaysAllow;
  // Signs the tokens of service accounts, with which their clients may come as well.
  std::string token_key;
  AdmissionPlugins admission;
  StoreLimits limits;
  AnswerElsewhere elsewhere;  // empty: nobody
  // For bodies that are not JSON; null: they are refused. Must outlive the server.
  const ProtobufCodec* protobuf = nullptr;
};

class ApiServer {
 public:
  // The loop must outlive the server, or never run again.
  ApiServer(Loop& loop, Random random, ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // Any thread.
  void handle(net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder);

  // World thread, once: the timers that repeat (bookmarks once a minute, the end of old events).
  void start();

  // Everything there is, as JSON: a List of objects with kind and apiVersion. Any thread.
  std::string save() const;
  // What save() gave; into a server that has nothing of its own but what it began with.
  Result<void> load(std::string_view saved);

  // For code in the same process. Lives as long as the server.
  LocalClient& local();

  // Ends every watch, cleanly. Any thread.
  void end_watches();

  std::uint64_t version() const;
  std::size_t watchers() const;

 private:
  class State;
  // Timers and callbacks of clients hold it weakly.
  std::shared_ptr<State> state_;
};

}  // namespace berth::memapi
