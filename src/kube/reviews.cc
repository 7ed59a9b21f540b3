#include "kube/reviews.h"

#include <fmt/format.h>

#include <utility>

#include "base/time_text.h"
#include "kube/cancellable_sleep.h"
#include "wire/json_tree.h"

namespace berth::kube {
namespace {

constexpr double kGrowth = 1.5;
constexpr double kReviewJitter = 0.2;

Duration scaled(Duration duration, double factor) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(duration.count()) * factor));
}

// Whether the same question may well be answered a moment later.
bool review_worth_another_try(const ApiFailure& failure) {
  const ApiStatus& status = failure.status;
  if (status.code == 0) {
    for (const std::string_view broken : {"connection reset", "http2: client connection lost"})
      if (failure.error.message.find(broken) != std::string::npos) return true;
    return false;
  }
  return status.reason == "InternalError" || status.reason == "Timeout" ||
         status.reason == "ServerTimeout" || status.reason == "TooManyRequests" ||
         status.code == 429 || status.retry_after_seconds > 0;
}

// ---- reading ------------------------------------------------------------------------------------

std::string review_text_at(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value && value->kind == JsonValue::Kind::kString ? value->text : "";
}

bool bool_at(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value && value->kind == JsonValue::Kind::kBool && value->boolean;
}

std::vector<std::string> texts_of(const JsonValue& list) {
  std::vector<std::string> texts;
  for (const JsonValue& item : list.items)
    if (item.kind == JsonValue::Kind::kString) texts.push_back(item.text);
  return texts;
}

UserInfo read_user(const JsonValue& object) {
  UserInfo user;
  user.name = review_text_at(object, "username");
  user.uid = review_text_at(object, "uid");
  if (const JsonValue* groups = object.find("groups")) user.groups = texts_of(*groups);
  if (const JsonValue* extra = object.find("extra"))
    for (const JsonMember& member : extra->members)
      user.extra[member.name] = texts_of(member.value);
  return user;
}

// The status of a review, which is all of the answer that counts.
Result<JsonValue> read_status(const ApiAnswer& answer) {
  Result<JsonValue> review = parse_json(answer.body);
  if (!review) return fail(review.error());
  const JsonValue* status = review->find("status");
  if (!status || status->kind != JsonValue::Kind::kObject)
    return fail(ErrorKind::kInvalid, "the server answered a review without a status");
  return *status;
}

// ---- writing ------------------------------------------------------------------------------------

JsonValue array_of(const std::vector<std::string>& texts) {
  JsonValue array = JsonValue::array();
  for (const std::string& text : texts) array.items.push_back(JsonValue::of_text(text));
  return array;
}

std::string review_body(std::string_view api_version, std::string_view kind, JsonValue spec) {
  JsonValue review = JsonValue::object();
  review.add("kind", JsonValue::of_text(kind));
  review.add("apiVersion", JsonValue::of_text(api_version));
  review.add("spec", std::move(spec));
  return to_json(review);
}

JsonValue access_spec(const AccessAttributes& attributes) {
  JsonValue what = JsonValue::object();
  what.add("path", JsonValue::of_text(attributes.path));
  what.add("verb", JsonValue::of_text(attributes.verb));
  JsonValue spec = JsonValue::object();
  spec.add("nonResourceAttributes", std::move(what));
  const UserInfo& user = attributes.user;
  if (!user.name.empty()) spec.add("user", JsonValue::of_text(user.name));
  if (!user.groups.empty()) spec.add("groups", array_of(user.groups));
  if (!user.extra.empty()) {
    JsonValue extra = JsonValue::object();
    for (const auto& [key, values] : user.extra) extra.add(key, array_of(values));
    spec.add("extra", std::move(extra));
  }
  if (!user.uid.empty()) spec.add("uid", JsonValue::of_text(user.uid));
  return spec;
}

}  // namespace

Reviews::Reviews(Loop& loop, ApiClient& authentication, ApiClient& authorization, Random random,
                 Options options, telemetry::Log log)
    : loop_(loop),
      authentication_(authentication),
      authorization_(authorization),
      random_(random),
      options_(std::move(options)),
      log_(std::move(log)) {}

Task<Result<TokenReview>> Reviews::review_token(std::string token, CancelToken cancel) {
  CancelSource stop;
  const ScopedTimer timer(loop_, loop_.now() + options_.timeout,
                          [&stop] { stop.cancel("context deadline exceeded"); });
  const CancelToken::Registration forwarded =
      cancel.on_cancel([&stop, cancel] { stop.cancel(cancel.cause()); });

  JsonValue spec = JsonValue::object();
  spec.add("token", JsonValue::of_text(token));
  ApiCall call = json_call("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                           review_body("authentication.k8s.io/v1", "TokenReview", std::move(spec)));
  call.timeout = options_.timeout;
  Task<ApiResult> asking =
      ask(authentication_, std::move(call), options_.observe_token, stop.token());
  const ApiResult answer = co_await asking;
  if (!answer) {
    if (!cancel.cancelled())
      log_.plain(telemetry::Severity::kError,
                 fmt::format("Failed to make webhook authenticator request: {}",
                             answer.error().error.message));
    co_return fail(answer.error().error);
  }
  const Result<JsonValue> status = read_status(*answer);
  if (!status) co_return fail(status.error());
  TokenReview review;
  review.authenticated = bool_at(*status, "authenticated");
  review.error = review_text_at(*status, "error");
  if (const JsonValue* user = status->find("user"); user && review.authenticated)
    review.user = read_user(*user);
  co_return review;
}

Task<Result<AccessReview>> Reviews::review_access(AccessAttributes attributes, CancelToken cancel) {
  ApiCall call = json_call(
      "POST",
      fmt::format("/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout={}",
                  go_duration(options_.timeout)),
      review_body("authorization.k8s.io/v1", "SubjectAccessReview", access_spec(attributes)));
  call.timeout = options_.timeout;
  Task<ApiResult> asking = ask(authorization_, std::move(call), options_.observe_access, cancel);
  const ApiResult answer = co_await asking;
  if (!answer) {
    if (!cancel.cancelled())
      log_.plain(telemetry::Severity::kError,
                 fmt::format("Failed to make webhook authorizer request: {}",
                             answer.error().error.message));
    co_return fail(answer.error().error);
  }
  const Result<JsonValue> status = read_status(*answer);
  if (!status) co_return fail(status.error());
  const bool allowed = bool_at(*status, "allowed");
  const bool denied = bool_at(*status, "denied");
  if (allowed && denied) {
    co_return fail(ErrorKind::kInvalid,
                   "webhook subject access review returned both allow and deny response");
  }
  AccessReview review;
  review.reason = review_text_at(*status, "reason");
  if (allowed) review.decision = AccessDecision::kAllowed;
  if (denied) review.decision = AccessDecision::kDenied;
  co_return review;
}

// Asks until there is an answer, or no hope. Of several failures the last one counts.
Task<ApiResult> Reviews::ask(ApiClient& client, ApiCall call, const Observe& observe,
                             CancelToken cancel) {
  Duration delay = options_.first_delay;
  for (int left = options_.tries;; --left) {
    const TimePoint began = loop_.now();
    Task<ApiResult> asking = client.call(call, cancel);
    ApiResult answer = co_await asking;
    if (observe) {
      const int code = answer ? answer->code : answer.error().status.code;
      observe(code == 0 ? "<error>" : fmt::to_string(code), loop_.now() - began);
    }
    if (answer || left <= 1 || cancel.cancelled() || !review_worth_another_try(answer.error()))
      co_return answer;
    const Duration pause_for = scaled(delay, 1 + kReviewJitter * random_.fraction());
    delay = scaled(delay, kGrowth);
    Task<void> pause = sleep_until(loop_, loop_.now() + pause_for, cancel);
    co_await pause;
    if (cancel.cancelled()) co_return answer;
  }
}

}  // namespace berth::kube
