// Status changes of scheduling decisions: merged, written, retried, dropped.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "framework/api_dispatcher.h"
#include "framework/api_dispatcher_calls.h"
#include "framework/pod_status.h"

namespace berth {
namespace {

using std::chrono::seconds;

constexpr Duration kFirstRetry = seconds(1);
constexpr Duration kLongestRetry = seconds(60);
// After "forbidden": credentials and rules may change, but seldom do.
constexpr Duration kForbiddenRetry = seconds(300);
// A conflict usually means that the watch is behind: it is reported only after so many in a row.
constexpr int kConflictsUntold = 4;

// The members of `newer`; those that it does not set are taken from `older`.
PodStatusPatch merged_patch(PodStatusPatch newer, PodStatusPatch older) {
  if (!newer.condition) newer.condition = std::move(older.condition);
  if (!newer.nominated_node_name) newer.nominated_node_name = std::move(older.nominated_node_name);
  return newer;
}

bool has_version(const std::vector<std::string>& versions, std::string_view version) {
  return std::ranges::find(versions, version) != versions.end();
}

// Whether the same write may succeed later.
bool worth_a_retry(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kConflict:
    case ErrorKind::kTimeout:
    case ErrorKind::kUnavailable:
    case ErrorKind::kForbidden:
    case ErrorKind::kInternal: return true;
    default: return false;
  }
}

Duration retry_pause(ErrorKind kind, int failures) {
  if (kind == ErrorKind::kForbidden) return kForbiddenRetry;
  Duration pause = kFirstRetry;
  for (int i = 1; i < failures && pause < kLongestRetry; ++i) pause *= 2;
  return std::min(pause, kLongestRetry);
}

}  // namespace

Task<Result<std::string>> ApiDispatcher::write_decision(Ref<const Pod> pod, PodStatusPatch patch) {
  if (stop_.cancelled()) co_return writes_stopped();
  observer_.status_decided(*pod, patch);
  PodCalls& calls = pods_[pod->uid()];
  if (!calls.status) calls.status = std::make_unique<StatusWrites>(pod);
  want(*calls.status, std::move(patch));
  // Held by both sides: either may end first.
  const auto answer = std::make_shared<Eventual<Result<std::string>>>();
  calls.status->answers.push_back(answer);
  proceed(pod->uid());
  Result<std::string> written = co_await *answer;
  co_return written;
}

void ApiDispatcher::want(StatusWrites& status, PodStatusPatch patch) {
  if (is_empty_patch(status.wanted)) count_pending(ApiCallType::kPodStatusPatch, +1);
  status.wanted = merged_patch(std::move(patch), std::move(status.wanted));
  // A new decision does not wait for the failures of those before it.
  if (status.retry) loop_.cancel(*status.retry);
  status.retry.reset();
}

PodStatusPatch ApiDispatcher::take_wanted(StatusWrites& status) {
  if (!is_empty_patch(status.wanted)) count_pending(ApiCallType::kPodStatusPatch, -1);
  return std::exchange(status.wanted, {});
}

// The pod as it is stored, as far as we know; null when it is gone or on a node.
Ref<const Pod> ApiDispatcher::newest(const StatusWrites& status) const {
  Ref<const Pod> seen = cluster_.seen_pod(*status.pod);
  if (!seen || seen->uid() != status.pod->uid() || !seen->node().empty()) return nullptr;
  if (!status.written || !has_version(status.written->older, seen->resource_version())) return seen;
  return with_status(*seen, status.written->patch, status.written->version);
}

void ApiDispatcher::start_status_write(PodCalls& calls) {
  StatusWrites& status = *calls.status;
  const Ref<const Pod> base = newest(status);
  PodStatusPatch sent = take_wanted(status);
  std::vector<Answer> answers = std::exchange(status.answers, {});
  std::optional<PodStatusPatch> needed;
  if (base) needed = status_patch(*base, sent);
  if (!needed) {
    const Uid uid = status.pod->uid();
    erase_if_idle(uid);
    answer_writers(answers, std::string());
    return;
  }
  needed->version = base->resource_version();
  calls.busy = true;
  tasks_.spawn(write_status(status, base, std::move(*needed), std::move(sent), std::move(answers)));
}

Task<void> ApiDispatcher::write_status(StatusWrites& status, Ref<const Pod> base,
                                       PodStatusPatch needed, PodStatusPatch sent,
                                       std::vector<Answer> answers) {
  const TimePoint start = start_time();
  Call<std::string> call(*this, api_.patch_status(base, needed));
  status.call = &call;
  Result<std::string> written = co_await call;
  const bool dropped = std::exchange(status.call, nullptr) == nullptr;
  const Uid uid = status.pod->uid();
  if (dropped) {
    // For a binding or an eviction: what comes of it no longer matters.
    release(uid);
    answer_writers(answers, std::string());
    co_return;
  }
  count_call(ApiCallType::kPodStatusPatch, written.has_value(), start);
  if (!written) {
    status_failed(status, *base, std::move(sent), std::move(answers), written.error());
    co_return;
  }
  status.failures = 0;
  note_written(status, *base, std::move(needed), std::move(*written));
  release(uid);
  answer_writers(answers, std::string());
}

// The precondition held, so the pod is now what it was before and our change.
void ApiDispatcher::note_written(StatusWrites& status, const Pod& base, PodStatusPatch patch,
                                 std::string version) {
  const Ref<const Pod> seen = cluster_.seen_pod(base);
  const bool shown = !seen || seen->resource_version() != base.resource_version();
  if (version.empty() || version == base.resource_version()) return;
  if (status.written && status.written->version == base.resource_version()) {
    Written& written = *status.written;
    written.older.push_back(std::exchange(written.version, std::move(version)));
    written.patch = merged_patch(std::move(patch), std::move(written.patch));
  } else if (!shown) {
    status.written.emplace(std::vector{std::string(base.resource_version())}, std::move(version),
                           std::move(patch));
  }
}

void ApiDispatcher::status_failed(StatusWrites& status, const Pod& base, PodStatusPatch sent,
                                  std::vector<Answer> answers, const Error& error) {
  const Uid uid = status.pod->uid();
  if (!worth_a_retry(error.kind)) {
    release(uid);
    answer_writers(answers, fail(error));
    return;
  }
  ++status.failures;
  const bool newer = !is_empty_patch(status.wanted);
  if (!newer) count_pending(ApiCallType::kPodStatusPatch, +1);
  status.wanted = merged_patch(std::move(status.wanted), std::move(sent));
  const bool untold = error.kind == ErrorKind::kConflict && status.failures < kConflictsUntold;
  if (untold) std::ranges::move(std::exchange(answers, {}), std::back_inserter(status.answers));
  const Ref<const Pod> now = newest(status);
  const bool changed = !now || now->resource_version() != base.resource_version();
  if (!newer && !changed)
    status.retry = loop_.after(
        retry_pause(error.kind, status.failures),
        [this, uid] {
          pods_.at(uid).status->retry.reset();
          proceed(uid);
        },
        TimerKind::kHousekeeping);
  release(uid);
  answer_writers(answers, fail(error));
}

void ApiDispatcher::forget_status(StatusWrites& status, std::vector<Answer>& answers) {
  take_wanted(status);
  if (status.retry) loop_.cancel(*status.retry);
  status.retry.reset();
  status.failures = 0;
  std::ranges::move(std::exchange(status.answers, {}), std::back_inserter(answers));
}

// A binding or an eviction comes: nothing that was decided before is worth writing.
void ApiDispatcher::drop_status(const Uid& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || !found->second.status) return;
  StatusWrites& status = *found->second.status;
  std::vector<Answer> answers;
  forget_status(status, answers);
  if (Call<std::string>* call = std::exchange(status.call, nullptr)) call->cancel();
  erase_if_idle(uid);
  answer_writers(answers, std::string());
}

void ApiDispatcher::sync(const Pod& pod) {
  const auto found = pods_.find(pod.uid());
  if (found == pods_.end() || !found->second.status) return;
  StatusWrites& status = *found->second.status;
  const Ref<const Pod> seen = cluster_.seen_pod(pod);
  const bool pending = seen && seen->uid() == pod.uid() && seen->node().empty();
  if (status.written && (!pending || !has_version(status.written->older, seen->resource_version())))
    status.written.reset();
  std::vector<Answer> answers;
  if (!pending) forget_status(status, answers);
  if (status.retry) loop_.cancel(*status.retry);
  status.retry.reset();
  if (!found->second.busy && !is_empty_patch(status.wanted)) proceed_later(pod.uid());
  erase_if_idle(pod.uid());
  answer_writers(answers, std::string());
}

}  // namespace berth
