// Authorizer: decides whether a user may access a path (shell.md §4.3).
//
// The group system:masters may do everything, and some paths are open to all users; about all else
// an API server is asked, behind a door. Its answers are kept for a while. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"
#include "serve/open_reviews.h"
#include "serve/user.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::serve {

// The access that a user asks for. The path is one of this server, not an object of the API.
struct AccessAttributes {
  UserInfo user;
  std::string path;  // "/metrics"
  std::string verb;  // the method in lower case: "get"
};

enum class AccessDecision : std::uint8_t { kAllowed, kDenied, kNoOpinion };
struct AccessReview {
  AccessDecision decision = AccessDecision::kNoOpinion;
  std::string reason;
};

// Asks an API server. Called from any thread; calls back once: at once, or later on the world
// thread. An error: the question could not be asked. Returns how to take it back.
using ReviewAccess = std::function<CancelReview(AccessAttributes attributes,
                                                std::function<void(Result<AccessReview>)> done)>;

struct AuthorizationOptions {
  ReviewAccess review_access;  // none: what is not allowed here is not allowed
  // Exact, or with a star at the end for all that begins like it.
  std::vector<std::string> always_allow_paths{"/healthz", "/readyz", "/livez"};
  Duration allow_cache_ttl = std::chrono::seconds(10);
  Duration deny_cache_ttl = std::chrono::seconds(10);
  std::size_t most_waiting = 256;  // for a review, at a time
};

class Authorizer {
 public:
  // `loop` and `metrics` outlive this.
  Authorizer(const Loop& loop, AuthorizationOptions options, telemetry::ServingMetrics& metrics,
             telemetry::Log log);
  ~Authorizer();
  Authorizer(const Authorizer&) = delete;
  Authorizer& operator=(const Authorizer&) = delete;

  // Calls back once, at once or later from another thread. An error: the access could not be
  // decided. A caller that goes is not waited for. False: too many wait already, and this one will
  // not be called back.
  [[nodiscard]] bool authorize(AccessAttributes attributes,
                               std::function<void(Result<AccessReview>)> done,
                               Departure* departure = nullptr);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with questions that are under way
};

// Upstream's complaint about paths that have a star elsewhere than at the end.
Result<void> check_always_allow_paths(const std::vector<std::string>& paths);

}  // namespace berth::serve
