// Authenticator: finds the user of a request (shell.md §4.2).
//
//   a front proxy's headers ► a client certificate ► a bearer token ► system:anonymous
//
// The first that knows the caller decides. A certificate or a token that is shown and does not hold
// is an error unless another way succeeds: such a caller is not even anonymous. Tokens are judged
// by an API server, behind a door; its answers are kept for a while. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"
#include "net/http_message.h"
#include "serve/open_reviews.h"
#include "serve/user.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::serve {

// The result of a TokenReview.
struct TokenReview {
  bool authenticated = false;
  UserInfo user;
  std::string error;  // of a token that could not be judged
};

// Asks an API server about a token. Called from any thread; calls back once: at once, or later on
// the world thread. An error: the question could not be asked. Returns how to take it back.
using ReviewToken =
    std::function<CancelReview(std::string token, std::function<void(Result<TokenReview>)> done)>;

// The headers in which a proxy in front of us names the caller.
struct RequestHeaders {
  std::vector<std::string> allowed_names;  // of its certificate; empty: any that its CA signed
  std::vector<std::string> username;
  std::vector<std::string> uid;
  std::vector<std::string> group;
  std::vector<std::string> extra_prefixes;

  friend bool operator==(const RequestHeaders&, const RequestHeaders&) = default;
};

struct AuthenticationOptions {
  ReviewToken review_token;  // none: bearer tokens are not looked at
  Duration token_cache_ttl = std::chrono::seconds(10);
  std::size_t most_waiting = 256;  // for a review of their token, at a time
};

// The names under which the server's TLS settings have the authorities (HttpPeer::verified_by).
inline constexpr std::string_view kClientAuthority = "client-ca";
inline constexpr std::string_view kRequestHeaderAuthority = "requestheader-client-ca";

class Authenticator {
 public:
  // `loop` and `metrics` outlive this.
  Authenticator(const Loop& loop, AuthenticationOptions options, telemetry::ServingMetrics& metrics,
                telemetry::Log log);
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  // Which kinds of certificates are judged from now on: by the CA of clients, and by that of a
  // proxy (none: no proxy is believed).
  void believe(bool client_certificates, std::optional<RequestHeaders> proxy);

  // Calls back once, here and now or from another thread later. Nothing: 401. A caller that goes
  // is not waited for. False: too many wait already, and this one will not be called back.
  [[nodiscard]] bool authenticate(const net::HttpRequest& request,
                                  std::function<void(std::optional<UserInfo>)> done,
                                  Departure* departure = nullptr);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with questions that are under way
};

}  // namespace berth::serve
