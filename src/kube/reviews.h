// Reviews: asks the API server which user a token belongs to, and what a user may do (shell.md
// §4.2, §4.3). The scheduler's own HTTPS server leaves both questions to it. Answers are not kept
// here; that is the asker's business. World thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "telemetry/log.h"

namespace berth::kube {

// authentication.k8s.io/v1 UserInfo.
struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  friend bool operator==(const UserInfo&, const UserInfo&) = default;
};

// The user of a token, if there is one.
struct TokenReview {
  bool authenticated = false;
  UserInfo user;
  std::string error;  // of a token that could not be judged
};

// The access that a user asks for, to a path of this server, not to an object of the API.
struct AccessAttributes {
  UserInfo user;
  std::string path;  // "/metrics"
  std::string verb;  // "get"
};

enum class AccessDecision : std::uint8_t { kAllowed, kDenied, kNoOpinion };
struct AccessReview {
  AccessDecision decision = AccessDecision::kNoOpinion;
  std::string reason;
};

class Reviews {
 public:
  // What is counted of each request: the answer's code ("<error>" when there is none), how long.
  using Observe = std::function<void(std::string_view code, Duration duration)>;
  struct Options {
    Duration timeout = std::chrono::seconds(10);            // of a token review, tries and all
    Duration first_delay = std::chrono::milliseconds(500);  // before the second try
    int tries = 5;
    Observe observe_token;
    Observe observe_access;
  };

  // The clients are those of authentication and authorisation, maybe the same; they and `loop`
  // outlive this.
  Reviews(Loop& loop, ApiClient& authentication, ApiClient& authorization, Random random,
          Options options, telemetry::Log log);

  // An error: the request failed. An unknown token is an answer.
  Task<Result<TokenReview>> review_token(std::string token, CancelToken cancel = {});
  Task<Result<AccessReview>> review_access(AccessAttributes attributes, CancelToken cancel = {});

 private:
  Task<ApiResult> ask(ApiClient& client, ApiCall call, const Observe& observe, CancelToken cancel);

  Loop& loop_;
  ApiClient& authentication_;
  ApiClient& authorization_;
  Random random_;
  const Options options_;
  const telemetry::Log log_;
};

}  // namespace berth::kube
