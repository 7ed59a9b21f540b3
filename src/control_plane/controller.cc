#include "control_plane/controller.h"

#include <fmt/format.h>

#include <utility>

#include "base/time_text.h"

namespace berth::control_plane {
namespace {

// The same text about the same object is the same event, which is how repetitions are found.
std::string event_name(const StoredObject& object, std::string_view reason,
                       std::string_view message) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::string_view text : {std::string_view(object.uid), reason, message}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    hash = (hash ^ 0xff) * 1099511628211ULL;
  }
  return fmt::format("{}.{:016x}", object.name.substr(0, 230), hash);
}

}  // namespace

Following& ApiFollower::follow(const Resource& resource, Following::Handler handler) {
  followings_.push_back(api_.follow(resource, std::move(handler)));
  return *followings_.back();
}

void record_event(LocalClient& api, const Resource& resource, const StoredObject& object,
                  std::string_view type, std::string_view reason, std::string_view message,
                  std::string_view component) {
  const Resource& events = resource_of("events");
  const std::string space = object.namespace_name.empty() ? "default" : object.namespace_name;
  const std::string name = event_name(object, reason, message);
  const std::string now = rfc3339(api.loop().wall_now());
  if (api.get(events, space, name)) {
    const auto counted = [&](JsonValue& event) -> Answer<void> {
      set(event, "count", JsonValue::of_int(int_at(event, "count").value_or(0) + 1));
      set_text(event, "lastTimestamp", now);
      return {};
    };
    if (api.update(events, space, name, counted)) return;
  }
  JsonValue event = JsonValue::object();
  set_text(object_at(event, "metadata"), "name", name);
  set_text(object_at(event, "metadata"), "namespace", space);
  JsonValue& involved = object_at(event, "involvedObject");
  set_text(involved, "kind", resource.kind);
  set_text(involved, "apiVersion", resource.group_version());
  if (!object.namespace_name.empty()) set_text(involved, "namespace", object.namespace_name);
  set_text(involved, "name", object.name);
  set_text(involved, "uid", object.uid);
  set_text(involved, "resourceVersion", fmt::format("{}", object.version));
  set_text(event, "type", type);
  set_text(event, "reason", reason);
  set_text(event, "message", message);
  set_text(object_at(event, "source"), "component", component);
  set_text(event, "reportingComponent", component);
  set_text(event, "firstTimestamp", now);
  set_text(event, "lastTimestamp", now);
  set(event, "count", JsonValue::of_int(1));
  // A namespace that is going takes no events; nobody misses them.
  static_cast<void>(api.create(events, std::move(event)));
}

std::string key_of(const StoredObject& object) {
  return object_key(object.namespace_name, object.name);
}

const JsonValue* controller_of(const JsonValue& object) {
  for (const JsonValue& owner : items_at(object, "metadata.ownerReferences"))
    if (true_at(owner, "controller")) return &owner;
  return nullptr;
}

JsonValue controller_reference(const Resource& resource, const StoredObject& owner) {
  JsonValue reference = JsonValue::object();
  set_text(reference, "apiVersion", resource.group_version());
  set_text(reference, "kind", resource.kind);
  set_text(reference, "name", owner.name);
  set_text(reference, "uid", owner.uid);
  set(reference, "controller", JsonValue::of_bool(true));
  set(reference, "blockOwnerDeletion", JsonValue::of_bool(true));
  return reference;
}

bool is_terminating(const JsonValue& object) {
  return at(object, "metadata.deletionTimestamp") != nullptr;
}

}  // namespace berth::control_plane
