#include "kube/watch_stream.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "api/decode.h"
#include "api/proto_json.h"
#include "berth/pod.h"
#include "kube/json_stream.h"
#include "wire/json_reader.h"

namespace berth::kube {
namespace {

using Type = WatchedEvent::Type;

std::optional<Type> type_of(std::string_view name) {
  if (name == "ADDED") return Type::kAdded;
  if (name == "MODIFIED") return Type::kModified;
  if (name == "DELETED") return Type::kDeleted;
  if (name == "BOOKMARK") return Type::kBookmark;
  if (name == "ERROR") return Type::kError;
  return std::nullopt;
}

// One object of a stream, in either format.
struct RawObject {
  WireFormat format;
  std::string_view api_version;  // from the object itself; empty: not given
  std::string_view kind;
  std::string_view bytes;  // JSON, or the message without its envelope
};

Result<ObjectHeader> header_of(const RawObject& raw) {
  return raw.format == WireFormat::kJson ? read_object_header(raw.bytes)
                                         : read_object_header_proto(raw.bytes);
}

WatchedEvent event_without_object(Type type, const RawObject& raw, std::optional<Error> why) {
  WatchedEvent event;
  event.type = type;
  event.detail = std::make_unique<WatchedEvent::Detail>();
  if (Result<ObjectHeader> header = header_of(raw)) {
    event.detail->header = *std::move(header);
  } else if (!why) {
    why = header.error();
  }
  event.detail->undecodable = std::move(why);
  return event;
}

// Makes events of the objects of one kind.
class EventMaker {
 public:
  EventMaker(StreamedKind kind, Interner& interner) : kind_(std::move(kind)), interner_(interner) {}

  const StreamedKind& kind() const { return kind_; }

  WatchedEvent make(Type type, const RawObject& raw) const {
    if (type == Type::kBookmark) return event_without_object(type, raw, std::nullopt);
    if (type == Type::kError) return error_event(raw);
    if (!raw.kind.empty() && raw.kind != kind_.kind_name && kind_.other.empty())
      return event_without_object(
          type, raw,
          Error{ErrorKind::kInvalid,
                fmt::format("expected a {}, got a {}", kind_.kind_name, raw.kind)});
    Result<AnyObject> object = decode(raw);
    if (!object) return event_without_object(type, raw, std::move(object).error());
    if (std::holds_alternative<std::monostate>(*object))
      return event_without_object(type, raw, std::nullopt);
    WatchedEvent event;
    event.type = type;
    event.object = *std::move(object);
    if (keeps_text(event.object)) event.text = text_of(raw);
    return event;
  }

 private:
  Result<AnyObject> decode(const RawObject& raw) const {
    if (raw.format == WireFormat::kProtobuf)
      return decode_object_proto(kind_.kind, raw.bytes, interner_);
    if (!kind_.other.empty()) return decode_other_object(kind_.other, raw.bytes, interner_);
    return decode_object(kind_.kind, raw.bytes, interner_, nullptr);
  }

  bool keeps_text(const AnyObject& object) const {
    if (kind_.kept_text != KeptText::kUnassigned) return kind_.kept_text == KeptText::kAll;
    const auto* pod = std::get_if<Ref<const Pod>>(&object);
    return pod && (*pod)->node().empty();
  }

  ObjectText text_of(const RawObject& raw) const {
    if (raw.format == WireFormat::kJson) return std::make_shared<const std::string>(raw.bytes);
    Result<std::string> json = proto_to_json(kind_.api_version, kind_.kind_name, raw.bytes);
    return json ? std::make_shared<const std::string>(*std::move(json)) : nullptr;
  }

  static WatchedEvent error_event(const RawObject& raw) {
    WatchedEvent event;
    event.type = Type::kError;
    event.detail = std::make_unique<WatchedEvent::Detail>();
    Result<ApiStatus> status = raw.format == WireFormat::kJson ? read_api_status(raw.bytes)
                                                               : read_api_status_proto(raw.bytes);
    if (status) {
      event.detail->status = *std::move(status);
    } else {
      event.detail->status.status = "Failure";
      event.detail->status.message = status.error().message;
    }
    return event;
  }

  const StreamedKind kind_;
  Interner& interner_;
};

// The apiVersion and kind in a JSON object.
void read_type(JsonReader& json, RawObject& raw) {
  json.fields([&](std::string_view name) {
    if (name == "apiVersion") {
      raw.api_version = json.text();
    } else if (name == "kind") {
      raw.kind = json.text();
    }
  });
}

// ---- watches

// An event as it came over the wire; points into what it was read from.
struct RawEvent {
  std::string_view type;
  RawObject object;
};
// Sees the event while there is what it points into.
using TakeEvent = std::function<void(const RawEvent&)>;

Result<void> read_proto_event(std::string_view frame, const TakeEvent& take) {
  const Result<WatchEvent> event = read_watch_event(frame);
  if (!event) return fail(event.error());
  const Result<Envelope> envelope = open_envelope(event->object);
  if (!envelope) return fail(envelope.error());
  take({event->type,
        {WireFormat::kProtobuf, envelope->api_version, envelope->kind, envelope->object}});
  return {};
}

Result<void> read_json_event(std::string_view line, const TakeEvent& take) {
  RawEvent event{{}, {WireFormat::kJson, {}, {}, {}}};
  JsonReader json(line);
  json.fields([&](std::string_view name) {
    if (name == "type") {
      event.type = json.text();
    } else if (name == "object") {
      event.object.bytes = json.raw();
    }
  });
  if (json.error()) return fail(*json.error());
  if (event.object.bytes.empty())
    return fail(ErrorKind::kInvalid, "a watch event without an object");
  JsonReader object(event.object.bytes);
  read_type(object, event.object);
  take(event);
  return {};
}

// `Frames` cuts bytes into pieces, `kRead` makes an event of one.
template <typename Frames, Result<void> (*kRead)(std::string_view, const TakeEvent&)>
class FramedWatchReader final : public WatchReader {
 public:
  FramedWatchReader(StreamedKind kind, Interner& interner, std::size_t max_frame)
      : maker_(std::move(kind), interner), frames_(max_frame) {}

  void add(std::string_view bytes, std::vector<WatchedEvent>& events) override {
    if (error_ || failed_) return;
    frames_.add(bytes);
    while (const std::optional<std::string_view> frame = frames_.next()) {
      if (!read(*frame, events)) return;
    }
    if (frames_.error()) error_ = frames_.error();
  }
  bool at_boundary() const override { return !error_ && (failed_ || frames_.at_boundary()); }
  const std::optional<Error>& error() const override { return error_; }

 private:
  // Whether to go on.
  bool read(std::string_view frame, std::vector<WatchedEvent>& events) {
    const Result<void> was_read = kRead(frame, [&](const RawEvent& event) { take(event, events); });
    if (!was_read) error_ = was_read.error();
    return !error_ && !failed_;
  }
  void take(const RawEvent& event, std::vector<WatchedEvent>& events) {
    const std::optional<Type> type = type_of(event.type);
    if (!type) {
      error_ = {ErrorKind::kInvalid, fmt::format("unknown type of watch event \"{}\"", event.type)};
      return;
    }
    events.push_back(maker_.make(*type, event.object));
    failed_ = *type == Type::kError;
  }

  EventMaker maker_;
  Frames frames_;
  bool failed_ = false;  // the server reported an error
  std::optional<Error> error_;
};

using ProtoWatchReader = FramedWatchReader<WatchFrameReader, read_proto_event>;
using JsonWatchReader = FramedWatchReader<JsonLineReader, read_json_event>;

// ---- lists

struct ListHead {
  ListMeta meta;
  std::string kind;
};

Result<ListHead> head_of(const ProtoListReader& items) {
  return ListHead{items.meta(), items.kind()};
}

Result<ListHead> head_of(const JsonListReader& items) {
  ListHead head;
  JsonReader json(items.rest());
  json.fields([&](std::string_view name) {
    if (name == "kind") {
      head.kind = json.text();
    } else if (name == "metadata") {
      json.fields([&](std::string_view field) {
        if (field == "resourceVersion") {
          head.meta.resource_version = json.text();
        } else if (field == "continue") {
          head.meta.continue_token = json.text();
        } else if (field == "remainingItemCount") {
          head.meta.remaining_items = json.int64();
        }
      });
    }
  });
  if (json.error()) return fail(*json.error());
  return head;
}

// `Items` cuts bytes into items, which are in kFormat.
template <typename Items, WireFormat kFormat>
class StreamedList final : public ListReader {
 public:
  StreamedList(StreamedKind kind, Interner& interner, std::size_t max_item)
      : maker_(std::move(kind), interner), items_(max_item) {}

  void add(std::string_view bytes, std::vector<WatchedEvent>& events) override {
    items_.add(bytes);
    while (const std::optional<std::string_view> item = items_.next())
      events.push_back(maker_.make(Type::kAdded, {kFormat, {}, {}, *item}));
  }
  Result<ListMeta> finish() override {
    if (items_.error()) return fail(*items_.error());
    if (!items_.complete()) return fail(ErrorKind::kUnavailable, "the list broke off");
    Result<ListHead> head = head_of(items_);
    if (!head) return fail(head.error());
    const std::string& wanted = maker_.kind().kind_name;
    if (head->kind != wanted + "List" && maker_.kind().other.empty())
      return fail(ErrorKind::kInvalid,
                  fmt::format("expected a {}List, got \"{}\"", wanted, head->kind));
    return std::move(head->meta);
  }
  const std::optional<Error>& error() const override { return items_.error(); }

 private:
  EventMaker maker_;
  Items items_;
};

using ProtoStreamedList = StreamedList<ProtoListReader, WireFormat::kProtobuf>;
using JsonStreamedList = StreamedList<JsonListReader, WireFormat::kJson>;

}  // namespace

std::string_view WatchedEvent::version() const {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) return (*pod)->resource_version();
  if (const auto* other = std::get_if<Ref<const Object>>(&object))
    return (*other)->resource_version;
  return detail ? std::string_view(detail->header.resource_version) : std::string_view();
}

std::optional<WireFormat> wire_format(std::string_view content_type) {
  const std::string_view media = content_type.substr(0, content_type.find_first_of("; "));
  if (media == kProtoContentType) return WireFormat::kProtobuf;
  if (media == "application/json") return WireFormat::kJson;
  return std::nullopt;
}

std::unique_ptr<WatchReader> WatchReader::make(WireFormat format, StreamedKind kind,
                                               Interner& interner, std::size_t max_frame) {
  if (format == WireFormat::kJson)
    return std::make_unique<JsonWatchReader>(std::move(kind), interner, max_frame);
  return std::make_unique<ProtoWatchReader>(std::move(kind), interner, max_frame);
}

std::unique_ptr<ListReader> ListReader::make(WireFormat format, StreamedKind kind,
                                             Interner& interner, std::size_t max_item) {
  if (format == WireFormat::kJson)
    return std::make_unique<JsonStreamedList>(std::move(kind), interner, max_item);
  return std::make_unique<ProtoStreamedList>(std::move(kind), interner, max_item);
}

}  // namespace berth::kube
