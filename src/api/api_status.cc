#include "api/api_status.h"

#include "api/fields.h"

namespace berth {

template <>
struct Fields<ApiStatus::Cause>
    : FieldList<
          "apimachinery.pkg.apis.meta.v1.StatusCause", Field<"reason", &ApiStatus::Cause::reason>,
          Field<"message", &ApiStatus::Cause::message>, Field<"field", &ApiStatus::Cause::field>> {
};

template <>
struct Fields<ApiStatus>
    : FieldList<
          "apimachinery.pkg.apis.meta.v1.Status", Field<"status", &ApiStatus::status>,
          Field<"message", &ApiStatus::message>, Field<"reason", &ApiStatus::reason>,
          Inside<"details", Field<"name", &ApiStatus::name>, Field<"group", &ApiStatus::group>,
                 Field<"kind", &ApiStatus::kind>, Field<"causes", &ApiStatus::causes>,
                 Field<"retryAfterSeconds", &ApiStatus::retry_after_seconds>,
                 Field<"uid", &ApiStatus::uid>>,
          Field<"code", &ApiStatus::code>> {};

inline constexpr auto find_initial_events_end = [](auto& reader, SymbolHold&,
                                                   ObjectHeader& header) {
  each_entry(reader, [&](std::string_view key) {
    if (key == "k8s.io/initial-events-end") header.initial_events_end = reader.text() == "true";
  });
};

template <>
struct Fields<ObjectHeader>
    : FieldList<"apimachinery.pkg.apis.meta.v1.PartialObjectMetadata",
                Inside<"metadata", Field<"name", &ObjectHeader::name>,
                       Field<"namespace", &ObjectHeader::namespace_name>,
                       Field<"uid", &ObjectHeader::uid>,
                       Field<"resourceVersion", &ObjectHeader::resource_version>,
                       Custom<"annotations", find_initial_events_end>>> {};

namespace {

template <typename T, typename Reader>
Result<T> read_whole(std::string_view encoded) {
  Reader reader(encoded);
  SymbolHold no_symbols;
  T value;
  Fields<T>::read(reader, no_symbols, value);
  if (reader.error()) return fail(*reader.error());
  return value;
}

}  // namespace

Result<ApiStatus> read_api_status(std::string_view json) {
  return read_whole<ApiStatus, JsonReader>(json);
}
Result<ApiStatus> read_api_status_proto(std::string_view message) {
  return read_whole<ApiStatus, ProtoReader>(message);
}
Result<ObjectHeader> read_object_header(std::string_view json) {
  return read_whole<ObjectHeader, JsonReader>(json);
}
Result<ObjectHeader> read_object_header_proto(std::string_view message) {
  return read_whole<ObjectHeader, ProtoReader>(message);
}

}  // namespace berth
