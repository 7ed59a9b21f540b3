#include "kube/lease_lock.h"

#include <fmt/format.h>

#include <utility>

#include "api/envelope.h"
#include "base/time_text.h"
#include "net/http_message.h"

namespace berth::kube {
namespace {

// The object of an answer, in whichever encoding the server chose.
Result<Lease> read_answer(const ApiAnswer& answer) {
  if (!answer.content_type.starts_with(kProtoContentType)) return read_lease(answer.body);
  const Result<Envelope> envelope = open_envelope(answer.body);
  if (!envelope) return fail(envelope.error());
  return read_lease_proto(envelope->object);
}

LeaseRecord record_of(const Lease& lease) {
  return {.holder = lease.holder_identity.value_or(""),
          .duration_seconds = lease.duration_seconds.value_or(0),
          .acquire_time = lease.acquire_time,
          .renew_time = lease.renew_time,
          .transitions = lease.transitions.value_or(0),
          .strategy = lease.strategy.value_or(""),
          .preferred_holder = lease.preferred_holder.value_or("")};
}

// Parity: what is empty of the last two is taken off the lease, not left as it was.
void write_record(Lease& lease, const LeaseRecord& record) {
  const auto unless_empty = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  };
  lease.holder_identity = record.holder;
  lease.duration_seconds = record.duration_seconds;
  lease.acquire_time = record.acquire_time;
  lease.renew_time = record.renew_time;
  lease.transitions = record.transitions;
  lease.strategy = unless_empty(record.strategy);
  lease.preferred_holder = unless_empty(record.preferred_holder);
}

}  // namespace

LeaseLock::LeaseLock(ApiClient& client, std::string namespace_name, std::string name,
                     Duration request_timeout)
    : client_(client),
      namespace_name_(std::move(namespace_name)),
      name_(std::move(name)),
      description_(fmt::format("{}/{}", namespace_name_, name_)),
      request_timeout_(request_timeout) {}

Task<std::expected<LeaseRecord, ApiFailure>> LeaseLock::get(CancelToken cancel) {
  Task<ApiResult> asking = client_.call(request("GET", name_), cancel);
  const ApiResult answer = co_await asking;
  if (std::expected<void, ApiFailure> kept = keep(answer); !kept)
    co_return std::unexpected(std::move(kept.error()));
  co_return record_of(*lease_);
}

Task<std::expected<void, ApiFailure>> LeaseLock::create(LeaseRecord record, CancelToken cancel) {
  Lease lease = new_lease(namespace_name_, name_);
  write_record(lease, record);
  ApiCall call = request("POST", "");
  call.body = body_of(lease, client_.format());
  call.content_type = content_type_of(client_.format());
  Task<ApiResult> creating = client_.call(std::move(call), cancel);
  const ApiResult answer = co_await creating;
  co_return keep(answer);
}

Task<std::expected<void, ApiFailure>> LeaseLock::update(LeaseRecord record, CancelToken cancel) {
  if (!lease_) {
    co_return std::unexpected(
        ApiFailure{{ErrorKind::kInternal, "lease not initialized, call get or create first"}, {}});
  }
  Lease lease = *lease_;
  write_record(lease, record);
  ApiCall call = request("PUT", name_);
  call.body = body_of(lease, client_.format());
  call.content_type = content_type_of(client_.format());
  Task<ApiResult> updating = client_.call(std::move(call), cancel);
  const ApiResult answer = co_await updating;
  co_return keep(answer);
}

ObjectReference LeaseLock::reference() const {
  ObjectReference reference{.kind = "Lease",
                            .namespace_name = namespace_name_,
                            .name = name_,
                            .uid = {},
                            .api_version = "coordination.k8s.io/v1",
                            .resource_version = {},
                            .field_path = {}};
  if (!lease_) return reference;
  const std::string body = body_of(*lease_, BodyFormat::kProtobuf);
  const Result<Envelope> envelope = open_envelope(body);
  if (!envelope) return reference;
  if (const Result<ObjectHeader> header = read_object_header_proto(envelope->object)) {
    reference.uid = header->uid;
    reference.resource_version = header->resource_version;
  }
  return reference;
}

ApiCall LeaseLock::request(std::string method, std::string name) const {
  ApiCall call;
  call.method = std::move(method);
  call.path = fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases{}{}?timeout={}",
                          net::escape(namespace_name_), name.empty() ? "" : "/", net::escape(name),
                          go_duration(request_timeout_));
  call.urgency = Urgency::kHigh;
  call.timeout = request_timeout_;
  return call;
}

std::expected<void, ApiFailure> LeaseLock::keep(const ApiResult& answer) {
  if (!answer) return std::unexpected(answer.error());
  Result<Lease> lease = read_answer(*answer);
  if (!lease) return std::unexpected(ApiFailure{std::move(lease.error()), {}});
  lease_ = std::move(*lease);
  return {};
}

}  // namespace berth::kube
