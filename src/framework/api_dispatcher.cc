#include "framework/api_dispatcher.h"

#include <algorithm>
#include <utility>

#include "framework/api_dispatcher_calls.h"

namespace berth {
namespace {

// Whether the patch is part of a scheduling decision, which the next decision replaces.
bool is_of_decision(const PodStatusPatch& patch) {
  if (patch.extended_resource_claim) return false;
  return patch.nominated_node_name || (patch.condition && patch.condition->type == "PodScheduled");
}

}  // namespace

ApiDispatcher::ApiDispatcher(Loop& loop, const Cluster& cluster, ClusterApi& api,
                             Observer& observer)
    : loop_(loop),
      cluster_(cluster),
      api_(api),
      observer_(observer),
      measured_(observer.measuring()) {}

ApiDispatcher::~ApiDispatcher() {
  for (const auto& [uid, calls] : pods_)
    if (calls.status && calls.status->retry) loop_.cancel(*calls.status->retry);
}

// ---- bindings, evictions, and changes that no decision replaces

Task<Result<void>> ApiDispatcher::bind(Ref<const Pod> pod, std::string node_name) {
  drop_status(pod->uid());
  Turn turn(*this, pod, ApiCallType::kPodBinding);
  const bool come = co_await turn;
  if (!come) co_return writes_stopped();
  const TimePoint start = start_time();
  Call<void> call(*this, api_.bind(std::move(pod), std::move(node_name)));
  Result<void> bound = co_await call;
  count_call(ApiCallType::kPodBinding, bound.has_value(), start);
  co_return bound;
}

Task<Result<void>> ApiDispatcher::evict(Ref<const Pod> pod) {
  drop_status(pod->uid());
  Turn turn(*this, pod, std::nullopt);
  const bool come = co_await turn;
  if (!come) co_return writes_stopped();
  Call<void> call(*this, api_.evict(std::move(pod)));
  Result<void> evicted = co_await call;
  co_return evicted;
}

Task<Result<std::string>> ApiDispatcher::patch_in_turn(Ref<const Pod> pod, PodStatusPatch patch) {
  Turn turn(*this, pod, ApiCallType::kPodStatusPatch);
  const bool come = co_await turn;
  if (!come) co_return writes_stopped();
  const TimePoint start = start_time();
  Call<std::string> call(*this, api_.patch_status(std::move(pod), std::move(patch)));
  Result<std::string> patched = co_await call;
  count_call(ApiCallType::kPodStatusPatch, patched.has_value(), start);
  co_return patched;
}

Task<Result<std::string>> ApiDispatcher::patch_status(Ref<const Pod> pod, PodStatusPatch patch) {
  return is_of_decision(patch) ? write_decision(std::move(pod), std::move(patch))
                               : patch_in_turn(std::move(pod), std::move(patch));
}

// ---- turns

bool ApiDispatcher::PodCalls::wants_status() const {
  return status && !is_empty_patch(status->wanted);
}

bool ApiDispatcher::PodCalls::idle() const {
  return !busy && !line && !wants_status() && !(status && status->written);
}

void ApiDispatcher::proceed(const Uid& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second.busy) return;
  PodCalls& calls = found->second;
  if (calls.line)
    calls.line->take();
  else if (calls.wants_status() && !calls.status->retry)
    start_status_write(calls);
}

void ApiDispatcher::proceed_later(const Uid& uid) {
  loop_.post(lifetime_.guard([this, uid] { proceed(uid); }));
}

// Not at once: the ended call has not returned to its awaiter yet.
void ApiDispatcher::release(const Uid& uid) {
  const auto found = pods_.find(uid);
  PodCalls& calls = found->second;
  calls.busy = false;
  if (calls.line || (calls.wants_status() && !calls.status->retry))
    proceed_later(uid);
  else if (calls.idle())
    pods_.erase(found);
}

void ApiDispatcher::erase_if_idle(const Uid& uid) {
  const auto found = pods_.find(uid);
  if (found != pods_.end() && found->second.idle()) pods_.erase(found);
}

std::size_t ApiDispatcher::busy_pods() const {
  return static_cast<std::size_t>(std::ranges::count_if(pods_, [](const auto& entry) {
    const PodCalls& calls = entry.second;
    return calls.busy || calls.line || calls.wants_status();
  }));
}

// ---- the rest

template <typename T>
Task<Result<T>> ApiDispatcher::pass_on(Task<Result<T>> calling) {
  if (stop_.cancelled()) co_return writes_stopped();
  Call<T> call(*this, std::move(calling));
  Result<T> answer = co_await call;
  co_return answer;
}

Task<Result<bool>> ApiDispatcher::is_bound(Ref<const Pod> pod, std::string node_name,
                                           bool unanswered) {
  return pass_on(api_.is_bound(std::move(pod), std::move(node_name), unanswered));
}
Task<Result<AnyObject>> ApiDispatcher::update(AnyObject object) {
  return pass_on(api_.update(std::move(object)));
}
Task<Result<AnyObject>> ApiDispatcher::update_status(AnyObject object) {
  return pass_on(api_.update_status(std::move(object)));
}
Task<Result<AnyObject>> ApiDispatcher::create(AnyObject object) {
  return pass_on(api_.create(std::move(object)));
}
Task<Result<void>> ApiDispatcher::remove(AnyObject object) {
  return pass_on(api_.remove(std::move(object)));
}
Task<Result<AnyObject>> ApiDispatcher::get(ObjectKind kind, std::string namespace_name,
                                           std::string name) {
  return pass_on(api_.get(kind, std::move(namespace_name), std::move(name)));
}
Task<Result<void>> ApiDispatcher::unreserve_claim(Ref<const Object> claim,
                                                  std::string consumer_uid) {
  return pass_on(api_.unreserve_claim(std::move(claim), std::move(consumer_uid)));
}
void ApiDispatcher::record(PodEvent event) {
  if (!stop_.cancelled()) api_.record(std::move(event));
}

void ApiDispatcher::stop() {
  if (stop_.cancelled()) return;
  std::vector<Answer> answers;
  for (auto& [uid, calls] : pods_)
    if (calls.status) forget_status(*calls.status, answers);
  stop_.cancel("the scheduler no longer writes");
  answer_writers(answers, writes_stopped());
}

void ApiDispatcher::count_pending(ApiCallType type, int change) {
  std::size_t& pending = pending_[static_cast<std::size_t>(type)];
  pending += static_cast<std::size_t>(change);
  if (measured_) measured_->api_calls_pending(type, pending);
}

void ApiDispatcher::count_call(ApiCallType type, bool success, TimePoint start) {
  if (measured_) measured_->api_call_ended(type, success, measured_->tick() - start);
}

}  // namespace berth
