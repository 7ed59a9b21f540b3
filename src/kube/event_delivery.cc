#include "kube/event_delivery.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

namespace berth::kube {
namespace {

constexpr int kDeliveryTries = 12;
constexpr Duration kDeliveryPause = std::chrono::seconds(10);
constexpr double kDeliveryPauseJitter = 0.25;

telemetry::LogValue named(const EventLetter& letter) {
  return telemetry::LogValue::object(letter.namespace_name, letter.name);
}

}  // namespace

Duration jittered(Duration duration, double most, Random& random) {
  const double range = static_cast<double>(duration.count()) * most;
  return duration + Duration(random.below(static_cast<std::uint64_t>(range) + 1));
}

Task<void> EventDelivery::deliver(EventLetter letter) {
  for (int tries = 1;; ++tries) {
    Task<Verdict> attempting = attempt(letter);
    const Verdict verdict = co_await attempting;
    if (verdict == Verdict::kDone) co_return;
    if (tries == kDeliveryTries) {
      log_.error(std::nullopt, "Unable to write event (retry limit exceeded!)",
                 {{"event", named(letter)}});
      co_return;
    }
    SleepUntil paused(loop_, loop_.now() + jittered(kDeliveryPause, kDeliveryPauseJitter, random_));
    co_await paused;
  }
}

Task<EventDelivery::Verdict> EventDelivery::attempt(const EventLetter& letter) {
  if (!letter.patch.empty()) {
    Task<ApiResult> patching = client_.call(patch_of(letter));
    const ApiResult patched = co_await patching;
    if (patched) co_return Verdict::kDone;
    const bool gone = patched.error().status.code == 404;
    if (!gone) co_return verdict_on(letter, patched.error());
  }
  Task<ApiResult> posting = client_.call(post_of(letter));
  const ApiResult posted = co_await posting;
  co_return posted ? Verdict::kDone : verdict_on(letter, posted.error());
}

// A refusal is final; a server that did not answer may be back in a while.
EventDelivery::Verdict EventDelivery::verdict_on(const EventLetter& letter,
                                                 const ApiFailure& failure) const {
  const std::string& error = failure.error.message;
  if (failure.status.code == 0) {
    if (failure.error.kind == ErrorKind::kCancelled) return Verdict::kDone;
    log_.error(error, "Unable to write event (may retry after sleeping)");
    return Verdict::kTryAgain;
  }
  if (failure.status.reason != "AlreadyExists") {
    log_.error(error, "Server rejected event (will not retry!)", {{"event", named(letter)}});
    return Verdict::kDone;
  }
  // The second of a series overtook the first, which has come by now.
  if (!letter.patch.empty() && letter.api == kEventsApi) return Verdict::kTryAgain;
  log_.info(5, "Server rejected event (will not retry!)",
            {{"event", named(letter)}, {"err", error}});
  return Verdict::kDone;
}

ApiCall EventDelivery::patch_of(const EventLetter& letter) const {
  ApiCall call;
  call.method = "PATCH";
  call.path =
      fmt::format("{}/namespaces/{}/events/{}", letter.api, letter.namespace_name, letter.name);
  call.body = letter.patch;
  call.content_type = "application/strategic-merge-patch+json";
  call.urgency = Urgency::kLow;
  return call;
}

ApiCall EventDelivery::post_of(const EventLetter& letter) const {
  ApiCall call;
  call.method = "POST";
  call.path = fmt::format("{}/namespaces/{}/events", letter.api, letter.namespace_name);
  call.body = letter.event;
  call.content_type = content_type_of(client_.format());
  call.urgency = Urgency::kLow;
  return call;
}

}  // namespace berth::kube
