#include "serve/authorization.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_quote.h"
#include "serve/reviews.h"

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

struct Authorizer::State : Reviews<AuthorizationOptions, AccessReview>,
                           std::enable_shared_from_this<State> {
  using Reviews::Reviews;

  using Done = std::function<void(Result<AccessReview>)>;
  using Reviewed = OpenReviews<AccessReview>::Done;

  CancelReview ask(AccessAttributes attributes, const std::string& key, const Reviewed& answered);
  void finish(Result<AccessReview> review, TimePoint started, const Done& done);
};

Authorizer::Authorizer(const Loop& loop, AuthorizationOptions options,
                       telemetry::ServingMetrics& metrics, telemetry::Log log)
    : state_(std::make_shared<State>(loop, std::move(options), metrics, std::move(log),
                                     kMaxAnswers)) {}

Authorizer::~Authorizer() { state_->open.close(); }

bool Authorizer::authorize(AccessAttributes attributes, State::Done done, Departure* departure) {
  const TimePoint started = state_->loop.now();
  std::optional<AccessReview> known;
  std::string key;
  if (attributes.user.in_group("system:masters") ||
      always_allowed(state_->options.always_allow_paths, attributes.path)) {
    known = AccessReview{AccessDecision::kAllowed, {}};
  } else if (!state_->options.review_access) {
    known.emplace();
  } else {
    key = cache_key(attributes);
    MutexLock lock(state_->mutex);
    if (const AccessReview* review = state_->known.find(key, started)) known = *review;
  }
  if (known) {
    state_->finish(std::move(*known), started, done);
    return true;
  }
  const auto caller = state_->open.join(
      key,
      [state = state_, started, done = std::move(done)](const Result<AccessReview>& review) {
        if (!review) state->log.error(review.error().message, "Unable to authorize the request");
        state->finish(review, started, done);
      },
      [&](const State::Reviewed& answered) {
        return state_->ask(std::move(attributes), key, answered);
      },
      departure, [state = state_] {});
  return caller.has_value();
}

CancelReview Authorizer::State::ask(AccessAttributes attributes, const std::string& key,
                                    const Reviewed& answered) {
  const bool keep = attributes.path.size() + attributes.verb.size() < kMaxKeptBytes;
  return options.review_access(
      std::move(attributes),
      [self = shared_from_this(), key, keep, answered](const Result<AccessReview>& review) {
        if (review && keep) {
          MutexLock lock(self->mutex);
          self->known.put(key, *review, self->loop.now(),
                          review->decision == AccessDecision::kAllowed
                              ? self->options.allow_cache_ttl
                              : self->options.deny_cache_ttl);
        }
        answered(review);
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
