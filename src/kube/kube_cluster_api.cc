#include "kube/kube_cluster_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "api/api_status.h"
#include "api/decode.h"
#include "api/envelope.h"
#include "api/requests.h"
#include "base/ascii.h"
#include "framework/pod_status.h"
#include "kube/pod_status_patch.h"

namespace berth::kube {
namespace {

using std::chrono::milliseconds;

// Tries of a binding or a status, and the pauses between them: 10 ms, 50 ms, 250 ms, each up to a
// tenth longer.
constexpr int kTries = 4;
constexpr Duration kFirstPause = milliseconds(10);
constexpr int kPauseFactor = 5;
constexpr double kPauseJitter = 0.1;

std::string pod_path(const Pod& pod, std::string_view subresource = "") {
  return fmt::format("/api/v1/namespaces/{}/pods/{}{}", pod.namespace_name(), pod.name(),
                     subresource);
}

// Parity: the reason counts where there is one. A 500 of another kind (a hung up webhook, a failed
// precondition of the server's own) is no InternalError.
bool failed_with(const ApiFailure& failure, std::string_view reason, int code) {
  const std::string& given = failure.status.reason;
  return given.empty() || given == "Unknown" ? failure.status.code == code : given == reason;
}

// Whether the same request may well succeed in a moment.
bool is_retriable(const ApiFailure& failure) {
  if (failure.status.code == 0)
    return lower_case(failure.error.message).contains("connection refused");
  return failed_with(failure, "InternalError", 500) ||
         failed_with(failure, "ServiceUnavailable", 503);
}

bool is_retriable_with_conflict(const ApiFailure& failure) {
  return is_retriable(failure) || failed_with(failure, "Conflict", 409);
}

// How long a request may be under way after its client has given it up: as long as the defaults of
// leader election trust the network to take at most.
constexpr Duration kUnderWay = std::chrono::seconds(5);
constexpr int kLooks = 5;
constexpr Duration kLookAgainAfter = std::chrono::seconds(1);

// Whether the server may have done what it was asked for, or may still do it.
bool may_have_been_done(const ApiFailure& failure) {
  const int code = failure.status.code;
  if (code != 0) return code == 409 || code >= 500;
  return failure.error.kind == ErrorKind::kTimeout || net::lost_connection(failure.error);
}

// The version of the object that the server has sent; empty if it sent none.
std::string version_in(const ApiAnswer& answer) {
  std::string_view object = answer.body;
  if (!object.starts_with(kProtoMagic)) {
    Result<ObjectHeader> header = read_object_header(object);
    return header ? std::move(header->resource_version) : std::string();
  }
  const Result<Envelope> envelope = open_envelope(object);
  if (!envelope) return {};
  Result<ObjectHeader> header = read_object_header_proto(envelope->object);
  return header ? std::move(header->resource_version) : std::string();
}

// Pods have calls of their own.
template <typename T>
Task<Result<T>> refuse() {
  co_return fail(ErrorKind::kInvalid, "a Pod is not written as a whole");
}

}  // namespace

Task<Result<void>> KubeClusterApi::bind(Ref<const Pod> pod, std::string node_name) {
  BindingRequest binding;
  binding.namespace_name = pod->namespace_name();
  binding.name = pod->name();
  binding.uid = pod->uid_text();
  binding.node = std::move(node_name);
  ApiCall call;
  call.method = "POST";
  call.path = pod_path(*pod, "/binding");
  call.body = body_of(binding, client_.format());
  call.content_type = content_type_of(client_.format());
  call.urgency = Urgency::kHigh;
  bool maybe_done = false;
  std::optional<ApiFailure> last;
  for (int tries = 1; !last; ++tries) {
    Task<ApiResult> calling = client_.call(call);
    ApiResult answer = co_await calling;
    if (answer) co_return Result<void>();
    ApiFailure& failure = answer.error();
    maybe_done = maybe_done || may_have_been_done(failure);
    if (tries < kTries && is_retriable(failure)) {
      Task<void> pausing = pause_before_try(tries + 1);
      co_await pausing;
    } else {
      last = std::move(failure);
    }
  }
  if (maybe_done) {
    const bool unanswered = may_have_been_done(*last) && last->status.code == 0;
    Task<Result<bool>> looking = is_bound(pod, std::move(binding.node), unanswered);
    const Result<bool> bound = co_await looking;
    if (bound && *bound) co_return Result<void>();
  }
  co_return fail(std::move(last->error));
}

Task<void> KubeClusterApi::pause_before_try(int number) {
  Duration pause = kFirstPause;
  for (int i = 2; i < number; ++i) pause *= kPauseFactor;
  const auto most = static_cast<std::uint64_t>(static_cast<double>(pause.count()) * kPauseJitter);
  SleepUntil paused(loop_, loop_.now() + pause + Duration(random_.below(most + 1)));
  co_await paused;
}

Task<Result<bool>> KubeClusterApi::is_bound(Ref<const Pod> pod, std::string node_name,
                                            bool unanswered) {
  Duration after = unanswered ? kUnderWay : Duration::zero();
  for (int looks = 1;; ++looks) {
    SleepUntil waited(loop_, loop_.now() + after);
    co_await waited;
    ApiCall call = json_call("GET", pod_path(*pod));
    call.urgency = Urgency::kHigh;
    Task<ApiResult> calling = client_.call(std::move(call));
    const ApiResult answer = co_await calling;
    if (answer)
      co_return is_bound_to(decode_object(ObjectKind::kPod, answer->body, interner_, nullptr), *pod,
                            node_name);
    if (answer.error().error.kind == ErrorKind::kNotFound) co_return false;
    if (looks == kLooks) co_return fail(answer.error().error);
    after = kLookAgainAfter;
  }
}

Task<Result<std::string>> KubeClusterApi::patch_status(Ref<const Pod> pod, PodStatusPatch patch) {
  std::optional<std::string> body = pod_status_patch(*pod, patch, loop_.wall_now());
  if (!body) co_return std::string(pod->resource_version());
  ApiCall call;
  call.method = "PATCH";
  call.path = pod_path(*pod, "/status");
  call.body = *std::move(body);
  call.content_type = "application/strategic-merge-patch+json";
  for (int tries = 1;; ++tries) {
    Task<ApiResult> calling = client_.call(call);
    ApiResult answer = co_await calling;
    if (answer) co_return version_in(*answer);
    // The version will be another one then, too.
    const bool modified = !patch.version.empty() && answer.error().status.code == 409;
    if (tries == kTries || modified || !is_retriable_with_conflict(answer.error()))
      co_return fail(std::move(answer.error().error));
    Task<void> pausing = pause_before_try(tries + 1);
    co_await pausing;
  }
}

Task<Result<void>> KubeClusterApi::evict(Ref<const Pod> pod) {
  return delete_object(client_, pod_path(*pod), std::string(pod->uid_text()));
}

Task<Result<AnyObject>> KubeClusterApi::update(AnyObject object) {
  const auto* other = std::get_if<Ref<const Object>>(&object);
  return other ? writes_.update(*other, WrittenPart::kObject) : refuse<AnyObject>();
}
Task<Result<AnyObject>> KubeClusterApi::update_status(AnyObject object) {
  const auto* other = std::get_if<Ref<const Object>>(&object);
  return other ? writes_.update(*other, WrittenPart::kStatus) : refuse<AnyObject>();
}
Task<Result<AnyObject>> KubeClusterApi::create(AnyObject object) {
  const auto* other = std::get_if<Ref<const Object>>(&object);
  return other ? writes_.create(*other) : refuse<AnyObject>();
}
Task<Result<void>> KubeClusterApi::remove(AnyObject object) {
  const auto* other = std::get_if<Ref<const Object>>(&object);
  return other ? writes_.remove(*other) : refuse<void>();
}
Task<Result<AnyObject>> KubeClusterApi::get(ObjectKind kind, std::string namespace_name,
                                            std::string name) {
  return writes_.get(kind, std::move(namespace_name), std::move(name));
}
Task<Result<void>> KubeClusterApi::unreserve_claim(Ref<const Object> claim,
                                                   std::string consumer_uid) {
  return writes_.unreserve(std::move(claim), std::move(consumer_uid));
}

}  // namespace berth::kube
