#include "api/api_status.h"

#include <utility>

#include "api/json_reader.h"
#include "api/proto_reader.h"

namespace berth {
namespace {

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

ApiStatus::Cause read_cause(JsonReader& json) {
  ApiStatus::Cause cause;
  json.fields([&](std::string_view name) {
    if (name == "reason") {
      cause.reason = json.text();
    } else if (name == "message") {
      cause.message = json.text();
    } else if (name == "field") {
      cause.field = json.text();
    }
  });
  return cause;
}

void read_details(JsonReader& json, ApiStatus& status) {
  json.fields([&](std::string_view name) {
    if (name == "name") {
      status.name = json.text();
    } else if (name == "group") {
      status.group = json.text();
    } else if (name == "kind") {
      status.kind = json.text();
    } else if (name == "uid") {
      status.uid = json.text();
    } else if (name == "causes") {
      json.items([&] { status.causes.push_back(read_cause(json)); });
    } else if (name == "retryAfterSeconds") {
      status.retry_after_seconds = json.int32();
    }
  });
}

ApiStatus::Cause read_cause(ProtoReader& proto) {
  ApiStatus::Cause cause;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: cause.reason = proto.text(); break;
      case 2: cause.message = proto.text(); break;
      case 3: cause.field = proto.text(); break;
      default: break;
    }
  });
  return cause;
}

void read_details(ProtoReader& proto, ApiStatus& status) {
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: status.name = proto.text(); break;
      case 2: status.group = proto.text(); break;
      case 3: status.kind = proto.text(); break;
      case 4: status.causes.push_back(read_cause(proto)); break;
      case 5: status.retry_after_seconds = proto.int32(); break;
      case 6: status.uid = proto.text(); break;
      default: break;
    }
  });
}

void read_header(JsonReader& json, ObjectHeader& header) {
  json.fields([&](std::string_view name) {
    if (name == "name") {
      header.name = json.text();
    } else if (name == "namespace") {
      header.namespace_name = json.text();
    } else if (name == "uid") {
      header.uid = json.text();
    } else if (name == "resourceVersion") {
      header.resource_version = json.text();
    } else if (name == "annotations") {
      json.entries([&](std::string_view key) {
        if (key == kInitialEventsEnd) header.initial_events_end = json.text() == "true";
      });
    }
  });
}

void read_header(ProtoReader& proto, ObjectHeader& header) {
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: header.name = proto.text(); break;
      case 3: header.namespace_name = proto.text(); break;
      case 5: header.uid = proto.text(); break;
      case 6: header.resource_version = proto.text(); break;
      case 12:
        proto.entry([&](std::string_view key) {
          if (key == kInitialEventsEnd) header.initial_events_end = proto.text() == "true";
        });
        break;
      default: break;
    }
  });
}

}  // namespace

Result<ApiStatus> read_api_status(std::string_view text) {
  JsonReader json(text);
  ApiStatus status;
  json.fields([&](std::string_view name) {
    if (name == "status") {
      status.status = json.text();
    } else if (name == "message") {
      status.message = json.text();
    } else if (name == "reason") {
      status.reason = json.text();
    } else if (name == "code") {
      status.code = json.int32();
    } else if (name == "details") {
      read_details(json, status);
    }
  });
  if (json.error()) return fail(*json.error());
  return status;
}

Result<ApiStatus> read_api_status_proto(std::string_view message) {
  ProtoReader proto(message);
  ApiStatus status;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 2: status.status = proto.text(); break;
      case 3: status.message = proto.text(); break;
      case 4: status.reason = proto.text(); break;
      case 5: read_details(proto, status); break;
      case 6: status.code = proto.int32(); break;
      default: break;
    }
  });
  if (proto.error()) return fail(*proto.error());
  return status;
}

Result<ObjectHeader> read_object_header(std::string_view text) {
  JsonReader json(text);
  ObjectHeader header;
  json.fields([&](std::string_view name) {
    if (name == "metadata") read_header(json, header);
  });
  if (json.error()) return fail(*json.error());
  return header;
}

Result<ObjectHeader> read_object_header_proto(std::string_view message) {
  ProtoReader proto(message);
  ObjectHeader header;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) read_header(proto, header);
  });
  if (proto.error()) return fail(*proto.error());
  return header;
}

}  // namespace berth
