#include "control_plane/resource_quotas.h"

#include <algorithm>

namespace berth::control_plane {
namespace {

// Parity: whatever has been missed is noticed then.
constexpr Duration kResync = std::chrono::minutes(5);
constexpr Duration kPerPod = std::chrono::microseconds(200);

const Resource& quota_resource() { return resource_of("resourcequotas"); }

bool is_quota_of(std::string_view key, std::string_view namespace_name) {
  return key.size() > namespace_name.size() && key.starts_with(namespace_name) &&
         key[namespace_name.size()] == '/';
}

// A pod that has ended no longer takes what it asked for; claims and Services may shrink.
bool frees_something(const Resource& resource, const Change& change) {
  if (change.type == ChangeType::kDeleted) return true;
  if (change.type == ChangeType::kAdded || !resource.group.empty() || !change.previous)
    return false;
  const JsonValue before = change.previous->tree();
  const JsonValue after = change.object->tree();
  if (resource.plural == "pods") {
    const auto ended = [](const JsonValue& pod) {
      const std::string_view phase = text_at(pod, "status.phase");
      return phase == "Succeeded" || phase == "Failed";
    };
    return ended(after) && !ended(before);
  }
  return (resource.plural == "services" || resource.plural == "persistentvolumeclaims") &&
         !equal(at(before, "spec"), at(after, "spec"));
}

}  // namespace

ResourceQuotas::ResourceQuotas(LocalClient& api)
    : Controller(api), custom_(api, [this](const Resource& resource, const Change& change) {
        object_changed(resource, change);
      }) {
  follow(quota_resource(), [this](const Change& change) { quota_changed(change); });
  for (const Resource& resource : resources()) {
    // Events and leases are many, and nobody limits them.
    if (!resource.namespaced || resource.verbs != Verbs::kAll || !resource.stored_as.empty() ||
        resource.plural == "events" || resource.plural == "leases")
      continue;
    follow(resource, [this, &resource](const Change& change) { object_changed(resource, change); });
  }
}

void ResourceQuotas::quota_changed(const Change& change) {
  const std::string key = key_of(*change.object);
  if (change.type == ChangeType::kDeleted) {
    counted_.erase(key);
    return;
  }
  const JsonValue quota = change.object->tree();
  counted_.try_emplace(key);
  if (!is_object(at(quota, "status.used")) ||
      !equal(at(quota, "spec.hard"), at(quota, "status.hard")))
    enqueue(key);
}

void ResourceQuotas::object_changed(const Resource& resource, const Change& change) {
  const std::string& space = change.object->namespace_name;
  auto quota = counted_.lower_bound(space + "/");
  if (quota == counted_.end() || !is_quota_of(quota->first, space) ||
      !frees_something(resource, change))
    return;
  const Duration least = interval();
  for (; quota != counted_.end() && is_quota_of(quota->first, space); ++quota) {
    const std::optional<TimePoint>& last = quota->second;
    const Duration left = last ? *last + least - loop_.now() : Duration::zero();
    if (left > Duration::zero()) {
      enqueue_after(left, quota->first);
    } else {
      enqueue(quota->first);
    }
  }
}

Duration ResourceQuotas::interval() const {
  return kPerPod * static_cast<std::int64_t>(api_.count(resource_of("pods")));
}

void ResourceQuotas::sync(const std::string& key) {
  const auto found = counted_.find(key);
  if (found == counted_.end()) return;
  found->second = loop_.now();
  const ObjectName name = name_of(key);
  api_.recount_quota(name.namespace_name, name.name);
  enqueue_after(kResync, key, TimerKind::kHousekeeping);
}

}  // namespace berth::control_plane
