#include "memapi/views.h"

#include <fmt/format.h>

#include <utility>

#include "memapi/crd_objects.h"
#include "memapi/json_edit.h"
#include "memapi/table_columns.h"
#include "wire/json_text.h"

namespace berth::memapi {
namespace {

constexpr std::pair<std::string_view, std::string_view> kEventMembers[] = {
    // stored, new
    {"count", "deprecatedCount"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"source", "deprecatedSource"},
    {"message", "note"},
    {"involvedObject", "regarding"},
    {"reportingComponent", "reportingController"},
};

// `json` is an object without kind and apiVersion.
std::string with_kind(std::string_view kind, std::string_view api_version, std::string_view json) {
  std::string text = fmt::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\"", kind, api_version);
  if (json.size() > 2) text += ',';
  text += json.substr(1);
  return text;
}

JsonValue metadata_only(const JsonValue& object) {
  JsonValue partial = JsonValue::object();
  partial.add("kind", JsonValue::of_text("PartialObjectMetadata"));
  partial.add("apiVersion", JsonValue::of_text("meta.k8s.io/v1"));
  if (const JsonValue* metadata = at(object, "metadata")) partial.add("metadata", *metadata);
  return partial;
}

JsonValue column_definitions(const Resource& resource) {
  if (resource.custom != nullptr) return custom_column_definitions(*resource.custom);
  JsonValue list = JsonValue::array();
  for (const Column& column : table_columns(resource)) {
    JsonValue definition = JsonValue::object();
    definition.add("name", JsonValue::of_text(column.name));
    definition.add("type", JsonValue::of_text(column.type));
    definition.add("format", JsonValue::of_text(column.name == "Name" ? "name" : ""));
    definition.add("description", JsonValue::of_text(""));
    definition.add("priority", JsonValue::of_int(column.priority));
    list.items.push_back(std::move(definition));
  }
  return list;
}

// `whole`: the object says so little that its metadata are shown even if nothing was asked for.
JsonValue table_row(const Resource& resource, JsonValue object, std::string_view include,
                    WallTime now, bool whole = false) {
  JsonValue row = JsonValue::object();
  JsonValue cells = JsonValue::array();
  cells.items = resource.custom != nullptr ? custom_cells(*resource.custom, object, now)
                                           : table_cells(resource, object, now);
  row.add("cells", std::move(cells));
  if (include == "Object") {
    set_text(object, "kind", resource.kind);
    set_text(object, "apiVersion", resource.group_version());
    row.add("object", std::move(object));
  } else if (include != "None" || whole) {
    row.add("object", metadata_only(object));
  }
  return row;
}

JsonValue table(std::string_view version, JsonValue columns, JsonValue rows) {
  JsonValue value = JsonValue::object();
  value.add("kind", JsonValue::of_text("Table"));
  value.add("apiVersion", JsonValue::of_text("meta.k8s.io/v1"));
  JsonValue metadata = JsonValue::object();
  metadata.add("resourceVersion", JsonValue::of_text(version));
  value.add("metadata", std::move(metadata));
  value.add("columnDefinitions", std::move(columns));
  value.add("rows", std::move(rows));
  return value;
}

void append_varint(std::string& out, std::size_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

// A field of the wire type "bytes".
void append_bytes(std::string& out, unsigned number, std::string_view bytes) {
  append_varint(out, (number << 3) | 2);
  append_varint(out, bytes.size());
  out += bytes;
}

}  // namespace

void event_to_new_view(JsonValue& event) {
  for (JsonMember& member : event.members) {
    for (const auto& [stored, now] : kEventMembers)
      if (member.name == stored) {
        member.name = now;
        break;
      }
  }
}

void event_to_stored_view(JsonValue& event) {
  for (JsonMember& member : event.members) {
    for (const auto& [stored, now] : kEventMembers)
      if (member.name == now) {
        member.name = stored;
        break;
      }
  }
}

std::string Views::item(const Resource& resource, const StoredObject& object) const {
  if (resource.stored_as.empty()) return object.json;
  JsonValue event = object.tree();
  event_to_new_view(event);
  return to_json(event);
}

std::string Views::object(const Resource& resource, const StoredObject& object, Form form,
                          std::string_view include) const {
  switch (form) {
    case Form::kObject:
      return with_kind(resource.kind, resource.group_version(), item(resource, object));
    case Form::kMetadataOnly: return to_json(metadata_only(object.tree()));
    case Form::kTable: {
      JsonValue rows = JsonValue::array();
      rows.items.push_back(table_row(resource, object.tree(), include, loop_.wall_now()));
      return to_json(
          table(fmt::format("{}", object.version), column_definitions(resource), std::move(rows)));
    }
  }
  return {};
}

std::string Views::list(const Resource& resource, const ListPage& page, Form form,
                        std::string_view include, std::string_view continue_token,
                        bool count_remaining) const {
  JsonValue metadata = JsonValue::object();
  metadata.add("resourceVersion", JsonValue::of_text(fmt::format("{}", page.version)));
  if (!continue_token.empty()) {
    metadata.add("continue", JsonValue::of_text(continue_token));
    if (count_remaining)
      metadata.add("remainingItemCount",
                   JsonValue::of_int(static_cast<std::int64_t>(page.remaining)));
  }
  if (form == Form::kTable) {
    JsonValue rows = JsonValue::array();
    for (const ObjectRef& object : page.items)
      rows.items.push_back(table_row(resource, object->tree(), include, loop_.wall_now()));
    JsonValue value = table("", column_definitions(resource), std::move(rows));
    set(value, "metadata", std::move(metadata));
    return to_json(value);
  }
  const bool partial = form == Form::kMetadataOnly;
  std::string text =
      fmt::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[",
                  partial                      ? "PartialObjectMetadataList"
                  : resource.custom != nullptr ? resource.custom->list_kind
                                               : std::string(resource.kind) + "List",
                  partial ? "meta.k8s.io/v1" : resource.group_version(), to_json(metadata));
  bool first = true;
  for (const ObjectRef& object : page.items) {
    if (!first) text += ',';
    first = false;
    if (partial) {
      text += to_json(metadata_only(object->tree()));
    } else {
      // Parity: only items of custom kinds say what they are.
      text += resource.custom != nullptr
                  ? with_kind(resource.kind, resource.group_version(), object->json)
                  : item(resource, *object);
    }
  }
  text += "]}";
  return text;
}

Answer<std::string> Views::watch_event(const Resource& resource, const AnswerForm& form,
                                       std::string_view type, const StoredObject& object,
                                       std::string_view include, bool with_columns) const {
  if (form.form != Form::kTable)
    return watch_event(form.encoding, type, this->object(resource, object, form.form, include));
  JsonValue rows = JsonValue::array();
  rows.items.push_back(table_row(resource, object.tree(), include, loop_.wall_now()));
  // Later ones say null: the client remembers.
  return watch_event(
      form.encoding, type,
      to_json(table(fmt::format("{}", object.version),
                    with_columns ? column_definitions(resource) : JsonValue(), std::move(rows))));
}

Answer<std::string> Views::watch_event(Encoding encoding, std::string_view type,
                                       std::string_view json) const {
  if (encoding == Encoding::kJson)
    return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, json);
  // A frame is its length in four bytes and a metav1.WatchEvent; the object within has its own
  // envelope.
  Answer<std::string> body = encoded(encoding, std::string(json));
  if (!body) return body;
  std::string extension;
  append_bytes(extension, 1, *body);
  std::string event;
  append_bytes(event, 1, type);
  append_bytes(event, 2, extension);
  std::string frame;
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>((event.size() >> shift) & 0xff);
  return frame + event;
}

std::string Views::bookmark(const Resource& resource, Form form, std::string_view include,
                            std::uint64_t version, bool initial_end, bool with_columns) const {
  JsonValue metadata = JsonValue::object();
  metadata.add("resourceVersion", JsonValue::of_text(fmt::format("{}", version)));
  if (initial_end) {
    JsonValue annotations = JsonValue::object();
    annotations.add("k8s.io/initial-events-end", JsonValue::of_text("true"));
    metadata.add("annotations", std::move(annotations));
  }
  JsonValue value = JsonValue::object();
  value.add("metadata", std::move(metadata));
  if (form == Form::kMetadataOnly)
    return with_kind("PartialObjectMetadata", "meta.k8s.io/v1", to_json(value));
  if (form == Form::kTable) {
    JsonValue rows = JsonValue::array();
    rows.items.push_back(
        table_row(resource, std::move(value), include, loop_.wall_now(), initial_end));
    return to_json(table(fmt::format("{}", version),
                         with_columns ? column_definitions(resource) : JsonValue(),
                         std::move(rows)));
  }
  return with_kind(resource.kind, resource.group_version(), to_json(value));
}

Answer<std::string> Views::encoded(Encoding encoding, std::string json) const {
  if (encoding == Encoding::kJson) return json;
  if (codec_ == nullptr) return refuse(ApiError::not_acceptable());
  Result<std::string> body = codec_->to_protobuf(json);
  if (!body) return refuse(ApiError::internal(body.error().message));
  return std::move(*body);
}

std::string_view Views::content_type(const AnswerForm& form, bool watch) {
  if (form.encoding == Encoding::kProtobuf) {
    return watch ? "application/vnd.kubernetes.protobuf;stream=watch"
                 : "application/vnd.kubernetes.protobuf";
  }
  if (form.aggregated_discovery)
    return "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  return "application/json";
}

}  // namespace berth::memapi
