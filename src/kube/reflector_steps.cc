// Where a Reflector goes on after a list or a watch has ended, and how long it waits before.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kube/reflector.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kFirstDelay = milliseconds(800);
constexpr Duration kLongestDelay = seconds(30);
constexpr Duration kHealthy = minutes(2);
constexpr Duration kMissingAgain = seconds(5);

constexpr Duration kShort = seconds(1);
constexpr std::size_t kShortEndsInARow = 3;
constexpr std::size_t kManyEvents = 16;
constexpr Duration kInternalErrors = minutes(1);

bool is_too_large(const ApiStatus& status) {
  constexpr std::string_view kText = "Too large resource version";
  for (const ApiStatus::Cause& cause : status.causes)
    if (cause.reason == "ResourceVersionTooLarge" || cause.message == kText) return true;
  return (status.code == 504 || status.reason == "Timeout") &&
         status.message.find(kText) != std::string::npos;
}

bool is_too_many(const ApiStatus& status) {
  return status.code == 429 || status.reason == "TooManyRequests";
}

bool is_internal(const ApiStatus& status) {
  return status.code == 500 || status.reason == "InternalError";
}

}  // namespace

bool is_expired(const ApiStatus& status) {
  return status.code == 410 || status.reason == "Expired" || status.reason == "Gone";
}

// ---- ReflectorBackoff

Duration ReflectorBackoff::next(TimePoint now) {
  const bool anew = !last_ || now - *last_ > kHealthy;
  base_ = anew ? kFirstDelay : std::min(2 * base_, kLongestDelay);
  const Duration longer(
      static_cast<Duration::rep>(random_.below(static_cast<std::uint64_t>(base_.count()))));
  const Duration delay = base_ + longer;
  last_ = now + delay;  // health is what comes after it
  return delay;
}

// ---- where to go on

Reflector::Step Reflector::relist() const {
  return options_.streaming_lists ? Step::kStreamingList : Step::kPagedList;
}

Reflector::Step Reflector::after_streaming_list(const Followed& followed) {
  if (followed.listed) return after_watch(followed);
  const ApiFailure& failure = followed.end.failure;
  switch (followed.end.how) {
    case StreamEnd::How::kDone:
    case StreamEnd::How::kCut:
    case StreamEnd::How::kBehind:
      if (followed.events == 0 && followed.lasted < kShort) break;
      return after_end_of_stream(Step::kStreamingList, followed);
    case StreamEnd::How::kNoAnswer:
      report(failure, "watch");
      back_off();
      return Step::kStreamingList;
    case StreamEnd::How::kRefused:
      if (is_too_many(failure.status)) {
        back_off(&failure);
        return Step::kStreamingList;
      }
      if (note_unavailable(failure)) return Step::kStreamingList;
      break;
    case StreamEnd::How::kUnreadable: break;
  }
  log_.info(4, "No streaming list to be had, asking for a plain one",
            {{"resource", kind_.full_resource()}, {"err", failure.error.message}});
  return Step::kPagedList;
}

Reflector::Step Reflector::after_list(const Followed& followed) {
  if (followed.listed) return Step::kWatch;
  const ApiFailure& failure = followed.end.failure;
  if (followed.end.how == StreamEnd::How::kRefused && note_unavailable(failure))
    return Step::kPagedList;
  if (kind_.custom && followed.end.how == StreamEnd::How::kRefused && failure.status.code == 404) {
    resource_missing(failure);
    return relist();
  }
  report(failure, "list");
  back_off(&failure);
  return relist();
}

Reflector::Step Reflector::after_watch(const Followed& followed) {
  const ApiFailure& failure = followed.end.failure;
  if (followed.events > 0) internal_errors_since_.reset();
  switch (followed.end.how) {
    case StreamEnd::How::kDone:
    case StreamEnd::How::kCut:
      if (followed.events > 0 || followed.lasted >= kShort)
        return after_end_of_stream(Step::kWatch, followed);
      report(
          {{ErrorKind::kUnavailable, "very short watch: it ended within a second without an event"},
           {}},
          "watch");
      break;
    case StreamEnd::How::kBehind:
      log_.info(0, "A watch was cut because its events came faster than they are applied",
                {{"resource", kind_.full_resource()}, {"err", failure.error.message}});
      return Step::kWatch;
    case StreamEnd::How::kNoAnswer:
      report(failure, "watch");
      back_off();
      return Step::kWatch;
    case StreamEnd::How::kRefused: return after_refused_watch(failure);
    case StreamEnd::How::kUnreadable: report(failure, "watch"); break;
  }
  back_off();
  return relist();
}

Reflector::Step Reflector::after_refused_watch(const ApiFailure& failure) {
  const ApiStatus& status = failure.status;
  if (is_too_many(status)) {
    log_.info(2, "The server asks to wait before watching",
              {{"resource", kind_.full_resource()}, {"err", failure.error.message}});
    back_off(&failure);
    return Step::kWatch;
  }
  if (is_internal(status)) {
    if (!internal_errors_since_) internal_errors_since_ = loop_.now();
    if (loop_.now() - *internal_errors_since_ < kInternalErrors) {
      report(failure, "watch");
      back_off(&failure);
      return Step::kWatch;
    }
  }
  internal_errors_since_.reset();
  if (is_expired(status)) {
    log_.info(4, "The watch's version is too old, listing again",
              {{"resource", kind_.full_resource()}, {"err", failure.error.message}});
  } else {
    report(failure, "watch");
  }
  back_off(&failure);
  return relist();
}

// At once, but not if that is all it does. A server ends the watch of a client that does not keep
// up, soon and often while very much happens: then a pause would only make us later.
Reflector::Step Reflector::after_end_of_stream(Step again, const Followed& followed) {
  const bool in_vain = followed.lasted < kShort && followed.events < kManyEvents;
  short_ends_ = in_vain ? short_ends_ + 1 : 0;
  if (short_ends_ >= kShortEndsInARow) back_off();
  log_.info(4, "Watch close",
            {{"type", kind_.type_name()},
             {"resource", kind_.full_resource()},
             {"totalItems", followed.events}});
  return again;
}

// The API server does not have the custom resource, so there are no objects of it. It may come any
// time, and is asked for again.
void Reflector::resource_missing(const ApiFailure& failure) {
  if (!std::exchange(missing_told_, true))
    log_.info(0, "The API server does not have a resource yet that plugins read: asking again",
              {{"resource", kind_.full_resource()},
               {"neededBy", kind_.consumers},
               {"err", failure.error.message}});
  mirror_->begin_list();
  mirror_->finish_list();
  version_.clear();
  last_error_.clear();
  wait_ = kMissingAgain;
  if (!std::exchange(synced_, true)) tell_synced_();
}

// Whether another try without a version may help.
bool Reflector::note_unavailable(const ApiFailure& failure) {
  if (!is_expired(failure.status) && !is_too_large(failure.status)) return false;
  return !std::exchange(unavailable_, true);
}

void Reflector::back_off(const ApiFailure* failure) {
  wait_ = backoff_.next(loop_.now());
  if (!failure) return;
  wait_ = std::max<Duration>(wait_, seconds(failure->status.retry_after_seconds));
  last_error_ = failure->error.message;
}

void Reflector::report(const ApiFailure& failure, std::string_view doing) {
  last_error_ = failure.error.message;
  log_.error(fmt::format("failed to {} {}: {}", doing, kind_.type_name(), failure.error.message),
             "Failed to watch", {{"type", kind_.type_name()}, {"resource", kind_.full_resource()}});
  if (failure.status.code != 403 || synced_ || std::exchange(refusal_told_, true)) return;
  log_.error(failure.error.message,
             "Not allowed to list and watch a resource that scheduling needs: no pod is scheduled "
             "until that is granted",
             {{"resource", kind_.full_resource()}, {"neededBy", kind_.consumers}});
}

}  // namespace berth::kube
