#include "kube/lease_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/envelope.h"
#include "base/time_text.h"
#include "kube/cancellable_sleep.h"
#include "net/http_message.h"

namespace berth::kube {
namespace {

constexpr Duration kRefresh = std::chrono::minutes(5);
// After a failure, doubled each time.
constexpr Duration kFirstRetryDelay = std::chrono::milliseconds(5);
constexpr Duration kLongestRetryDelay = std::chrono::seconds(1000);
constexpr std::string_view kApiVersion = "coordination.k8s.io/v1beta1";

std::optional<WallTime> time_at(const JsonValue& spec, std::string_view name) {
  const JsonValue* value = spec.find(name);
  if (!value || value->kind != JsonValue::Kind::kString) return std::nullopt;
  const Result<WallTime> time = parse_rfc3339(value->text);
  return time ? std::optional(*time) : std::nullopt;
}

// When the server asked whether we are alive, unless we have answered since.
std::optional<WallTime> ping_of(const JsonValue& candidate) {
  const JsonValue* spec = candidate.find("spec");
  if (!spec) return std::nullopt;
  const std::optional<WallTime> ping = time_at(*spec, "pingTime");
  const std::optional<WallTime> renewed = time_at(*spec, "renewTime");
  return ping && (!renewed || *ping > *renewed) ? ping : std::nullopt;
}

JsonValue& member(JsonValue& object, std::string_view name) {
  for (JsonMember& present : object.members)
    if (present.name == name) return present.value;
  object.members.push_back({std::string(name), JsonValue::object()});
  return object.members.back().value;
}

}  // namespace

LeaseCandidate::LeaseCandidate(Loop& loop, ApiClient& client, Random random,
                               LeaseCandidateOptions options, telemetry::Log log)
    : loop_(loop),
      client_(client),
      random_(random),
      options_(std::move(options)),
      collection_(fmt::format("/apis/{}/namespaces/{}/leasecandidates", kApiVersion,
                              net::escape(options_.namespace_name))),
      log_(log.named("leasecandidate")),
      watch_(
          loop, client, random_.fork(), collection_, options_.name,
          [this](const JsonValue* candidate) { seen(candidate); }, log_) {}

Task<void> LeaseCandidate::run(CancelToken cancel) {
  waiting_ = nullptr;
  TaskSet tasks;
  tasks.spawn(keep_fresh(cancel));
  Task<void> watching = watch_.run(cancel);
  co_await watching;
}

void LeaseCandidate::seen(const JsonValue* candidate) {
  const bool first = !std::exchange(looked_, true);
  const bool deleted = candidate_ && !candidate;
  candidate_ = candidate ? std::optional(*candidate) : std::nullopt;
  if (first || deleted || (candidate_ && ping_of(*candidate_).has_value())) wake();
}

void LeaseCandidate::wake() {
  asked_ = true;
  if (waiting_) std::exchange(waiting_, nullptr)->set(true);
}

Task<void> LeaseCandidate::keep_fresh(CancelToken cancel) {
  Duration delay = kFirstRetryDelay;
  Duration pause = kRefresh;
  while (!cancel.cancelled()) {
    if (!asked_) {
      Eventual<bool> woken;
      waiting_ = &woken;
      const ScopedTimer timer(loop_, loop_.now() + pause, [this] { wake(); });
      const CancelToken::Registration stop = cancel.on_cancel([this] { wake(); });
      co_await woken;
      if (cancel.cancelled()) co_return;
    }
    asked_ = false;
    if (!looked_) continue;  // until it has been listed nothing is known
    Task<Result<void>> writing = write(cancel);
    const Result<void> written = co_await writing;
    if (cancel.cancelled()) co_return;
    if (written) {
      delay = kFirstRetryDelay;
      pause = kRefresh;
      continue;
    }
    log_.error(written.error().message, "Ensuring lease failed");
    pause = delay;
    delay = std::min(2 * delay, kLongestRetryDelay);
    // A failure is followed by a pause, whatever has been seen meanwhile.
    asked_ = false;
  }
}

Task<Result<void>> LeaseCandidate::write(CancelToken cancel) {
  JsonValue candidate = candidate_.value_or(JsonValue::object());
  const bool exists = candidate_.has_value();
  // Later than the question, whatever our clock shows: the server compares the two.
  WallTime renewed = loop_.wall_now();
  if (const std::optional<WallTime> ping = candidate_ ? ping_of(*candidate_) : std::nullopt)
    renewed = std::max(renewed, *ping + std::chrono::microseconds(1));
  const JsonValue now = JsonValue::of_text(rfc3339_micro(renewed));
  ApiCall call;
  if (exists) {
    log_.info(2, "Lease candidate exists. Renewing.");
    member(member(candidate, "spec"), "renewTime") = now;
    // A member of a list has no kind of its own.
    member(candidate, "kind") = JsonValue::of_text("LeaseCandidate");
    member(candidate, "apiVersion") = JsonValue::of_text(kApiVersion);
    call.method = "PUT";
    call.path = fmt::format("{}/{}", collection_, net::escape(options_.name));
  } else {
    log_.info(2, "Creating lease candidate");
    candidate.add("kind", JsonValue::of_text("LeaseCandidate"));
    candidate.add("apiVersion", JsonValue::of_text(kApiVersion));
    JsonValue metadata = JsonValue::object();
    metadata.add("name", JsonValue::of_text(options_.name));
    metadata.add("namespace", JsonValue::of_text(options_.namespace_name));
    candidate.add("metadata", std::move(metadata));
    JsonValue spec = JsonValue::object();
    spec.add("leaseName", JsonValue::of_text(options_.lease_name));
    spec.add("renewTime", now);
    spec.add("binaryVersion", JsonValue::of_text(options_.binary_version));
    spec.add("emulationVersion", JsonValue::of_text(options_.emulation_version));
    spec.add("strategy", JsonValue::of_text(options_.strategy));
    candidate.add("spec", std::move(spec));
    call.method = "POST";
    call.path = collection_;
  }
  call.body = to_json(candidate);
  call.content_type = kJsonContentType;
  call.accept = kJsonContentType;
  Task<ApiResult> writing = client_.call(std::move(call), cancel);
  const ApiResult answer = co_await writing;
  if (!answer) co_return fail(answer.error().error);
  if (!exists) log_.info(2, "Created lease candidate");
  co_return Result<void>();
}

}  // namespace berth::kube
