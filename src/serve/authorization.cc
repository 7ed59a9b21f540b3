#include "serve/authorization.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/json_text.h"
#include "base/thread.h"
#include "serve/expiring_cache.h"

namespace berth::serve {
namespace {

constexpr std::size_t kMaxAnswers = 8192;
// Longer ones are strangers' doing, and not worth the room.
constexpr std::size_t kMaxKeptBytes = 10000;

std::string_view without_slash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

bool always_allowed(const std::vector<std::string>& allowed, std::string_view path) {
  const std::string_view wanted = without_slash(path);
  return std::ranges::any_of(allowed, [&](const std::string& entry) {
    std::string_view pattern = without_slash(entry);
    if (!pattern.ends_with('*')) return pattern == wanted;
    pattern.remove_suffix(1);
    return wanted.starts_with(pattern);
  });
}

// Different attributes have different keys, whatever is in the names.
std::string cache_key(const AccessAttributes& attributes) {
  std::string key;
  const auto add = [&](std::string_view part) { key += fmt::format("{}:{}", part.size(), part); };
  add(attributes.verb);
  add(attributes.path);
  add(attributes.user.name);
  add(attributes.user.uid);
  for (const std::string& group : attributes.user.groups) add(group);
  for (const auto& [name, values] : attributes.user.extra) {
    key += fmt::format("+{}", values.size());
    add(name);
    for (const std::string& value : values) add(value);
  }
  return key;
}

}  // namespace

struct Authorizer::State {
  State(const Loop& given_loop, AuthorizationOptions given_options,
        telemetry::ServingMetrics& given_metrics, telemetry::Log given_log)
      : loop(given_loop),
        options(std::move(given_options)),
        metrics(given_metrics),
        log(std::move(given_log)) {}

  using Done = std::function<void(Result<AccessReview>)>;

  void finish(Result<AccessReview> review, TimePoint started, const Done& done);

  const Loop& loop;
  const AuthorizationOptions options;
  telemetry::ServingMetrics& metrics;
  const telemetry::Log log;

  Mutex mutex;
  bool closed GUARDED_BY(mutex) = false;
  ExpiringCache<AccessReview> known GUARDED_BY(mutex){kMaxAnswers};
};

Authorizer::Authorizer(const Loop& loop, AuthorizationOptions options,
                       telemetry::ServingMetrics& metrics, telemetry::Log log)
    : state_(std::make_shared<State>(loop, std::move(options), metrics, std::move(log))) {}

Authorizer::~Authorizer() {
  MutexLock lock(state_->mutex);
  state_->closed = true;
}

void Authorizer::authorize(AccessAttributes attributes, State::Done done) {
  const TimePoint started = state_->loop.now();
  if (attributes.user.in_group("system:masters") ||
      always_allowed(state_->options.always_allow_paths, attributes.path))
    return state_->finish(AccessReview{AccessDecision::kAllowed, {}}, started, done);
  if (!state_->options.review_access) return state_->finish(AccessReview{}, started, done);

  const bool keep = attributes.path.size() + attributes.verb.size() < kMaxKeptBytes;
  std::string key = cache_key(attributes);
  std::optional<AccessReview> known;
  {
    MutexLock lock(state_->mutex);
    if (const AccessReview* review = state_->known.find(key, started)) known = *review;
  }
  if (known) return state_->finish(std::move(*known), started, done);
  state_->options.review_access(
      std::move(attributes), [state = state_, key = std::move(key), keep, started,
                              done = std::move(done)](Result<AccessReview> review) {
        {
          MutexLock lock(state->mutex);
          if (state->closed) return;
          if (review && keep)
            state->known.put(key, *review, state->loop.now(),
                             review->decision == AccessDecision::kAllowed
                                 ? state->options.allow_cache_ttl
                                 : state->options.deny_cache_ttl);
        }
        if (!review) state->log.error(review.error().message, "Unable to authorize the request");
        state->finish(std::move(review), started, done);
      });
}

void Authorizer::State::finish(Result<AccessReview> review, TimePoint started, const Done& done) {
  std::string_view result = "error";
  if (review) {
    switch (review->decision) {
      case AccessDecision::kAllowed: result = "allowed"; break;
      case AccessDecision::kDenied: result = "denied"; break;
      case AccessDecision::kNoOpinion: result = "no-opinion"; break;
    }
  }
  metrics.authorization_attempts.counter({result}).add();
  metrics.authorization_duration.histogram({result}).observe(
      std::chrono::duration<double>(loop.now() - started).count());
  done(std::move(review));
}

Result<void> check_always_allow_paths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const std::string_view name = without_slash(path);
    if (!name.empty() && name.substr(0, name.size() - 1).find('*') != std::string_view::npos)
      return fail(ErrorKind::kInvalid,
                  fmt::format("only trailing * allowed in {}", go_quoted(name)));
  }
  return {};
}

}  // namespace berth::serve
