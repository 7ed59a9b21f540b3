#include "serve/authentication.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/ascii.h"
#include "serve/reviews.h"

namespace berth::serve {
namespace {

constexpr std::string_view kAnonymous = "system:anonymous";
constexpr std::string_view kUnauthenticated = "system:unauthenticated";
constexpr std::string_view kAuthenticated = "system:authenticated";
constexpr std::string_view kCredentialId = "authentication.kubernetes.io/credential-id";

// An attacker may send a different token each time, of any length.
constexpr std::size_t kMaxTokens = 1024;
constexpr std::size_t kMaxKeptTokenBytes = 8192;

bool has_prefix_in_any_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && same_but_for_case(text.substr(0, prefix.size()), prefix);
}

// What a way to know the caller comes to.
struct Attempt {
  std::optional<UserInfo> user;
  std::string error;  // a proof was shown that does not hold

  static Attempt known(UserInfo user) { return {std::move(user), {}}; }
  static Attempt refused(std::string error) { return {std::nullopt, std::move(error)}; }
};

UserInfo user_of_headers(const net::HttpHeaders& headers, const RequestHeaders& names,
                         std::string name) {
  UserInfo user;
  user.name = std::move(name);
  for (const std::string& header : names.uid) {
    user.uid = headers.find(header).value_or("");
    if (!user.uid.empty()) break;
  }
  for (const std::string& header : names.group)
    for (const auto& [key, value] : headers)
      if (!value.empty() && same_but_for_case(key, header)) user.groups.push_back(value);
  for (const std::string& prefix : names.extra_prefixes)
    for (const auto& [key, value] : headers) {
      if (!has_prefix_in_any_case(key, prefix)) continue;
      const std::string written = lower_case(std::string_view(key).substr(prefix.size()));
      user.extra[net::unescape(written).value_or(written)].push_back(value);
    }
  return user;
}

Attempt by_proxy(const net::HttpRequest& request, const RequestHeaders& names) {
  const net::HttpPeer& peer = request.peer;
  if (!peer.certificate_shown) return {};
  if (std::ranges::find(peer.verified_by, kRequestHeaderAuthority) == peer.verified_by.end())
    return Attempt::refused("the certificate is not that of a known proxy");
  if (!names.allowed_names.empty() &&
      std::ranges::find(names.allowed_names, peer.common_name) == names.allowed_names.end())
    return Attempt::refused(
        fmt::format("x509: subject with cn={} is not in the allowed list", peer.common_name));
  for (const std::string& header : names.username) {
    const std::string_view name = request.headers.find(header).value_or("");
    if (!name.empty())
      return Attempt::known(user_of_headers(request.headers, names, std::string(name)));
  }
  return {};
}

Attempt by_certificate(const net::HttpPeer& peer) {
  if (!peer.certificate_shown) return {};
  if (std::ranges::find(peer.verified_by, kClientAuthority) == peer.verified_by.end())
    return Attempt::refused(fmt::format(
        "verifying certificate X509SHA256={} failed: it is expired, not for clients, or "
        "not signed by the authority of clients",
        peer.certificate_sha256));
  if (peer.common_name.empty()) return {};
  UserInfo user;
  user.name = peer.common_name;
  user.groups = peer.organizations;
  user.extra[std::string(kCredentialId)] = {"X509SHA256=" + peer.certificate_sha256};
  return Attempt::known(std::move(user));
}

// The token of "Authorization: Bearer x". Parity: with two blanks there is none, and the caller is
// anonymous.
std::string_view bearer_token(const net::HttpHeaders& headers) {
  std::string_view text = headers.find("Authorization").value_or("");
  const auto trim = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && trim(text.front())) text.remove_prefix(1);
  while (!text.empty() && trim(text.back())) text.remove_suffix(1);
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos || !same_but_for_case(text.substr(0, blank), "bearer"))
    return {};
  const std::string_view token = text.substr(blank + 1);
  return token.substr(0, token.find(' '));
}

UserInfo with_authenticated_group(UserInfo user) {
  if (user.name != kAnonymous && !user.in_group(std::string(kAuthenticated)) &&
      !user.in_group(std::string(kUnauthenticated)))
    user.groups.emplace_back(kAuthenticated);
  return user;
}

UserInfo anonymous() {
  UserInfo user;
  user.name = kAnonymous;
  user.groups = {std::string(kUnauthenticated)};
  return user;
}

// There may be many user names, and they are private: the metrics name only a few.
std::string_view metric_name(std::string_view name) {
  if (name == "admin" || name == "client" || name == "kube_proxy" || name == "kubelet" ||
      name == "system:serviceaccount:kube-system:default")
    return name;
  return name.find('@') != std::string_view::npos ? "email_id" : "other";
}

}  // namespace

struct Authenticator::State : Reviews<AuthenticationOptions, TokenReview>,
                              std::enable_shared_from_this<State> {
  using Reviews::Reviews;

  using Done = std::function<void(std::optional<UserInfo>)>;
  using Reviewed = std::function<void(const Result<TokenReview>&)>;

  bool review(const std::string& token, Reviewed reviewed, Departure* departure);
  CancelReview ask(const std::string& token, const Reviewed& answered);
  void finish(std::optional<UserInfo> user, const std::string& error, TimePoint started,
              const Done& done);
  void count_request(std::string_view status, TimePoint started);

  bool client_certificates GUARDED_BY(mutex) = false;
  std::optional<RequestHeaders> proxy GUARDED_BY(mutex);
};

Authenticator::Authenticator(const Loop& loop, AuthenticationOptions options,
                             telemetry::ServingMetrics& metrics, telemetry::Log log)
    : state_(
          std::make_shared<State>(loop, std::move(options), metrics, std::move(log), kMaxTokens)) {}

Authenticator::~Authenticator() { state_->open.close(); }

void Authenticator::believe(bool client_certificates, std::optional<RequestHeaders> proxy) {
  MutexLock lock(state_->mutex);
  state_->client_certificates = client_certificates;
  state_->proxy = std::move(proxy);
}

bool Authenticator::authenticate(const net::HttpRequest& request, State::Done done,
                                 Departure* departure) {
  const TimePoint started = state_->loop.now();
  bool client_certificates = false;
  std::optional<RequestHeaders> proxy;
  {
    MutexLock lock(state_->mutex);
    client_certificates = state_->client_certificates;
    proxy = state_->proxy;
  }
  std::string error;
  if (proxy) {
    Attempt attempt = by_proxy(request, *proxy);
    if (attempt.user) {
      state_->finish(std::move(attempt.user), {}, started, done);
      return true;
    }
    error = std::move(attempt.error);
  }
  if (client_certificates) {
    if (request.peer.certificate_shown)
      state_->metrics.apiserver_client_certificate_expiration.histogram().observe(
          in_seconds(request.peer.certificate_not_after - state_->loop.wall_now()));
    Attempt attempt = by_certificate(request.peer);
    if (attempt.user) {
      state_->finish(std::move(attempt.user), {}, started, done);
      return true;
    }
    if (!attempt.error.empty())
      error = error.empty() ? attempt.error : fmt::format("[{}, {}]", error, attempt.error);
  }
  const std::string_view token = bearer_token(request.headers);
  if (token.empty() || !state_->options.review_token) {
    std::optional<UserInfo> nobody;
    if (error.empty()) nobody = anonymous();
    state_->finish(std::move(nobody), error, started, done);
    return true;
  }
  return state_->review(
      std::string(token),
      [state = state_, started, done = std::move(done)](const Result<TokenReview>& answer) {
        if (answer && answer->authenticated) return state->finish(answer->user, {}, started, done);
        std::string reason = "invalid bearer token";
        if (!answer)
          reason = answer.error().message;
        else if (!answer->error.empty())
          reason = answer->error;
        state->finish(std::nullopt, reason, started, done);
      },
      departure);
}

void Authenticator::State::finish(std::optional<UserInfo> user, const std::string& error,
                                  TimePoint started, const Done& done) {
  std::string_view result = "failure";
  if (user) {
    result = "success";
    user = with_authenticated_group(std::move(*user));
    metrics.authenticated_user_requests.counter({metric_name(user->name)}).add();
  } else if (!error.empty()) {
    result = "error";
    log.error(error, "Unable to authenticate the request");
  }
  metrics.authentication_attempts.counter({result}).add();
  metrics.authentication_duration.histogram({result}).observe(in_seconds(loop.now() - started));
  done(std::move(user));
}

void Authenticator::State::count_request(std::string_view status, TimePoint started) {
  metrics.authentication_token_cache_request.counter({status}).add();
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(loop.now() - started);
  metrics.authentication_token_cache_request_duration.histogram({status}).observe(
      static_cast<double>(spent.count()) / 1000);
}

bool Authenticator::State::review(const std::string& token, Reviewed reviewed,
                                  Departure* departure) {
  const TimePoint started = loop.now();
  std::optional<Result<TokenReview>> known_answer;
  {
    MutexLock lock(mutex);
    if (const TokenReview* answer = known.find(token, started)) known_answer = *answer;
  }
  if (known_answer) {
    count_request("hit", started);
    reviewed(*known_answer);
    return true;
  }
  telemetry::Gauge& blocked =
      metrics.authentication_token_cache_active_fetch_count.gauge({"blocked"});
  blocked.add(1);
  const auto self = shared_from_this();
  const auto caller = open.join(
      token,
      [self, started, &blocked, reviewed = std::move(reviewed)](const Result<TokenReview>& given) {
        blocked.add(-1);
        self->count_request("miss", started);
        reviewed(given);
      },
      [&](const Reviewed& answered) { return ask(token, answered); }, departure,
      [self, &blocked] { blocked.add(-1); });
  if (!caller) blocked.add(-1);
  return caller.has_value();
}

CancelReview Authenticator::State::ask(const std::string& token, const Reviewed& answered) {
  telemetry::Gauge& in_flight =
      metrics.authentication_token_cache_active_fetch_count.gauge({"in_flight"});
  in_flight.add(1);
  auto over =
      std::make_shared<std::atomic<bool>>(false);  // answered or taken back, whichever first
  CancelReview cancel =
      options.review_token(token, [self = shared_from_this(), over, token, answered,
                                   &in_flight](const Result<TokenReview>& answer) {
        if (over->exchange(true)) return;
        in_flight.add(-1);
        const bool judged = answer && answer->error.empty();
        self->metrics.authentication_token_cache_fetch.counter({judged ? "ok" : "error"}).add();
        // Parity: what came with an error is asked again, also if it was a verdict.
        if (judged && token.size() <= kMaxKeptTokenBytes) {
          MutexLock lock(self->mutex);
          self->known.put(token, *answer, self->loop.now(), self->options.token_cache_ttl);
        }
        answered(answer);
      });
  return [over, &in_flight, cancel = std::move(cancel)] {
    if (over->exchange(true)) return;
    in_flight.add(-1);
    if (cancel) cancel();
  };
}

}  // namespace berth::serve
