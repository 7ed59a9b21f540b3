#include "api/requests.h"

#include <chrono>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "api/envelope.h"
#include "api/fields.h"
#include "api/proto_json.h"
#include "base/check.h"
#include "wire/proto_reader.h"

namespace berth {
namespace {

using protozero::pbf_writer;

// Values that are not behind a pointer in upstream's structs are written even when they are empty:
// the bytes are those that its own clients send.

void add_text(pbf_writer& out, std::uint32_t field, std::string_view text) {
  out.add_string(field, text.data(), text.size());
}

void add_optional_text(pbf_writer& out, std::uint32_t field,
                       const std::optional<std::string>& text) {
  if (text) add_text(out, field, *text);
}

void add_empty(pbf_writer& out, std::uint32_t field) { out.add_bytes(field, "", 0); }

void add_micro_time(pbf_writer& out, std::uint32_t field, WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time.since_epoch);
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time.since_epoch - seconds);
  pbf_writer moment(out, field);
  moment.add_int64(1, seconds.count());
  moment.add_int64(2, std::chrono::nanoseconds(micros).count());
}

// metav1.Time has whole seconds.
void add_time(pbf_writer& out, std::uint32_t field, WallTime time) {
  pbf_writer moment(out, field);
  moment.add_int64(1, std::chrono::floor<std::chrono::seconds>(time.since_epoch).count());
  moment.add_int64(2, 0);
}

std::string metadata_of(std::string_view namespace_name, std::string_view name,
                        std::string_view uid) {
  std::string bytes;
  pbf_writer meta(bytes);
  add_text(meta, 1, name);
  add_text(meta, 2, "");
  add_text(meta, 3, namespace_name);
  add_text(meta, 4, "");
  add_text(meta, 5, uid);
  add_text(meta, 6, "");
  meta.add_int64(7, 0);
  add_empty(meta, 8);
  return bytes;
}

void add_reference(pbf_writer& out, std::uint32_t field, const ObjectReference& reference) {
  pbf_writer message(out, field);
  add_text(message, 1, reference.kind);
  add_text(message, 2, reference.namespace_name);
  add_text(message, 3, reference.name);
  add_text(message, 4, reference.uid);
  add_text(message, 5, reference.api_version);
  add_text(message, 6, reference.resource_version);
  add_text(message, 7, reference.field_path);
}

std::string body(std::string_view api_version, std::string_view kind, std::string_view message,
                 BodyFormat format) {
  if (format == BodyFormat::kProtobuf) return seal_envelope(api_version, kind, message);
  Result<std::string> json = proto_to_json(api_version, kind, message);
  BERTH_CHECK(json.has_value());  // we wrote the message, and the table has these kinds
  return *std::move(json);
}

// Its metadata is sent back as it is.
constexpr auto keep_metadata = [](ProtoReader& proto, SymbolHold& symbols, Lease& lease) {
  lease.metadata = proto.text();
  FieldList<"apimachinery.pkg.apis.meta.v1.ObjectMeta",
            Field<"resourceVersion", &Lease::resource_version>>::read(proto, symbols, lease);
};

using LeaseFields = FieldList<
    "api.coordination.v1.Lease", Custom<"metadata", keep_metadata>,
    Inside<"spec", Field<"holderIdentity", &Lease::holder_identity>,
           Field<"leaseDurationSeconds", &Lease::duration_seconds>,
           Field<"acquireTime", &Lease::acquire_time>, Field<"renewTime", &Lease::renew_time>,
           Field<"leaseTransitions", &Lease::transitions>, Field<"strategy", &Lease::strategy>,
           Field<"preferredHolder", &Lease::preferred_holder>>>;

}  // namespace

std::string body_of(const BindingRequest& binding, BodyFormat format) {
  std::string bytes;
  pbf_writer message(bytes);
  message.add_message(1, metadata_of(binding.namespace_name, binding.name, binding.uid));
  ObjectReference target;
  target.kind = "Node";
  target.name = binding.node;
  add_reference(message, 2, target);
  return body("v1", "Binding", bytes, format);
}

std::string body_of(const DeleteRequest& options, BodyFormat format) {
  std::string bytes;
  pbf_writer message(bytes);
  if (options.grace_period_seconds) message.add_int64(1, *options.grace_period_seconds);
  if (options.uid || options.resource_version) {
    pbf_writer preconditions(message, 2);
    add_optional_text(preconditions, 1, options.uid);
    add_optional_text(preconditions, 2, options.resource_version);
  }
  if (!options.propagation_policy.empty()) add_text(message, 4, options.propagation_policy);
  return body("v1", "DeleteOptions", bytes, format);
}

std::string body_of(const EventRequest& event, BodyFormat format) {
  std::string bytes;
  pbf_writer message(bytes);
  message.add_message(1, metadata_of(event.namespace_name, event.name, ""));
  add_micro_time(message, 2, event.event_time);
  if (event.series) {
    pbf_writer series(message, 3);
    series.add_int64(1, event.series->count);
    add_micro_time(series, 2, event.series->last_observed);
  }
  add_text(message, 4, event.reporting_controller);
  add_text(message, 5, event.reporting_instance);
  add_text(message, 6, event.action);
  add_text(message, 7, event.reason);
  add_reference(message, 8, event.regarding);
  if (event.related) add_reference(message, 9, *event.related);
  add_text(message, 10, event.note);
  add_text(message, 11, event.type);
  {
    pbf_writer deprecated_source(message, 12);
    add_text(deprecated_source, 1, "");
    add_text(deprecated_source, 2, "");
  }
  add_empty(message, 13);
  add_empty(message, 14);
  message.add_int64(15, 0);
  return body("events.k8s.io/v1", "Event", bytes, format);
}

std::string body_of(const CoreEventRequest& event, BodyFormat format) {
  std::string bytes;
  pbf_writer message(bytes);
  message.add_message(1, metadata_of(event.namespace_name, event.name, ""));
  add_reference(message, 2, event.involved_object);
  add_text(message, 3, event.reason);
  add_text(message, 4, event.message);
  {
    pbf_writer source(message, 5);
    add_text(source, 1, event.component);
    add_text(source, 2, "");
  }
  add_time(message, 6, event.first_timestamp);
  add_time(message, 7, event.last_timestamp);
  message.add_int64(8, event.count);
  add_text(message, 9, event.type);
  add_empty(message, 10);
  add_text(message, 12, "");
  add_text(message, 14, event.reporting_controller);
  add_text(message, 15, event.reporting_instance);
  return body("v1", "Event", bytes, format);
}

std::string body_of(const Lease& lease, BodyFormat format) {
  std::string bytes;
  pbf_writer message(bytes);
  message.add_message(1, lease.metadata);
  std::string spec_bytes;
  pbf_writer spec(spec_bytes);
  add_optional_text(spec, 1, lease.holder_identity);
  if (lease.duration_seconds) spec.add_int64(2, *lease.duration_seconds);
  if (lease.acquire_time) add_micro_time(spec, 3, *lease.acquire_time);
  if (lease.renew_time) add_micro_time(spec, 4, *lease.renew_time);
  if (lease.transitions) spec.add_int64(5, *lease.transitions);
  add_optional_text(spec, 6, lease.strategy);
  add_optional_text(spec, 7, lease.preferred_holder);
  message.add_message(2, spec_bytes);
  return body("coordination.k8s.io/v1", "Lease", bytes, format);
}

Lease new_lease(std::string_view namespace_name, std::string_view name) {
  Lease lease;
  lease.metadata = metadata_of(namespace_name, name, "");
  return lease;
}

Result<Lease> read_lease(std::string_view json) {
  const Result<std::string> message = json_to_proto("coordination.k8s.io/v1", "Lease", json);
  if (!message) return fail(message.error());
  return read_lease_proto(*message);
}

Result<Lease> read_lease_proto(std::string_view message) {
  // Its metadata is sent back as it is: it has to be sound as a whole.
  if (const auto sound = proto_to_json("coordination.k8s.io/v1", "Lease", message); !sound)
    return fail(sound.error());
  Lease lease;
  ProtoReader proto(message);
  SymbolHold no_symbols;
  LeaseFields::read(proto, no_symbols, lease);
  if (proto.error()) return fail(*proto.error());
  return lease;
}

}  // namespace berth
