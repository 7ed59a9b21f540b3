// What the scheduler sends to an API server (shell.md §5, §6.4), as values, and their bodies in
// either encoding. Patches are JSON and made where they are needed. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/result.h"

namespace berth {

enum class BodyFormat : std::uint8_t { kJson, kProtobuf };

// v1 Binding of a pod to a node. The UID is a precondition.
struct BindingRequest {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string node;
};

// v1 DeleteOptions; all empty by default, which leaves everything to the server.
struct DeleteRequest {
  std::optional<std::int64_t> grace_period_seconds;
  std::optional<std::string> uid;  // preconditions
  std::optional<std::string> resource_version;
  std::string propagation_policy;  // empty: none
};

struct ObjectReference {
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;
  std::string field_path;
};

struct EventSeries {
  std::int32_t count = 0;
  WallTime last_observed;
};

// events.k8s.io/v1 Event.
struct EventRequest {
  std::string namespace_name;
  std::string name;
  WallTime event_time;
  std::optional<EventSeries> series;
  std::string reporting_controller;
  std::string reporting_instance;
  std::string action;
  std::string reason;
  ObjectReference regarding;
  std::optional<ObjectReference> related;
  std::string note;
  std::string type;  // "Normal", "Warning"
};

// v1 Event, the form that was before events.k8s.io and that leader election still uses.
struct CoreEventRequest {
  std::string namespace_name;
  std::string name;
  ObjectReference involved_object;
  std::string reason;
  std::string message;
  std::string component;  // of the source
  WallTime first_timestamp;
  WallTime last_timestamp;
  std::int32_t count = 0;
  std::string type;  // "Normal", "Warning"
  std::string reporting_controller;
  std::string reporting_instance;
};

// coordination.k8s.io/v1 Lease: written as it was read, but for what the holder changes.
struct Lease {
  // metadata as a protobuf message; fields that are not known here survive an update. A new lease
  // gets it from new_lease().
  std::string metadata;
  std::string resource_version;  // of `metadata`; to read only

  std::optional<std::string> holder_identity;
  std::optional<std::int32_t> duration_seconds;
  std::optional<WallTime> acquire_time;
  std::optional<WallTime> renew_time;
  std::optional<std::int32_t> transitions;
  std::optional<std::string> strategy;
  std::optional<std::string> preferred_holder;
};

Lease new_lease(std::string_view namespace_name, std::string_view name);
Result<Lease> read_lease(std::string_view json);
Result<Lease> read_lease_proto(std::string_view message);  // without envelope

// The body of a request: JSON, or protobuf in its envelope.
std::string body_of(const BindingRequest& binding, BodyFormat format);
std::string body_of(const DeleteRequest& options, BodyFormat format);
std::string body_of(const EventRequest& event, BodyFormat format);
std::string body_of(const CoreEventRequest& event, BodyFormat format);
std::string body_of(const Lease& lease, BodyFormat format);

}  // namespace berth
