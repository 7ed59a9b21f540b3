#include "cluster/object_changes.h"

#include <algorithm>
#include <utility>

namespace berth {

Subscription ObjectChanges::listen(ObjectKind kind, Listener listener) {
  return listeners_[index(kind)].add(std::move(listener));
}

std::string ObjectChanges::key(ObjectKind kind, std::string_view namespace_name,
                               std::string_view name) {
  std::string text;
  text.reserve(namespace_name.size() + name.size() + 2);
  text.push_back(static_cast<char>(kind));
  text.append(namespace_name).push_back('/');
  return text.append(name);
}

void ObjectChanges::watch(const std::vector<ObjectName>& objects, Watcher& watcher) {
  for (const ObjectName& object : objects) {
    watchers_[key(object.kind, object.namespace_name, object.name)].push_back(&watcher);
    ++watchers_of_[index(object.kind)];
  }
}

void ObjectChanges::unwatch(const std::vector<ObjectName>& objects, Watcher& watcher) {
  for (const ObjectName& object : objects) {
    const auto found = watchers_.find(key(object.kind, object.namespace_name, object.name));
    if (found == watchers_.end()) continue;
    std::vector<Watcher*>& present = found->second;
    const auto one = std::ranges::find(present, &watcher);
    if (one == present.end()) continue;
    present.erase(one);
    --watchers_of_[index(object.kind)];
    if (present.empty()) watchers_.erase(found);
  }
}

void ObjectChanges::notify(ObjectKind kind, const Ref<const Object>& before,
                           const Ref<const Object>& after) {
  listeners_[index(kind)].notify(before, after);
  const Object& object = after ? *after : *before;
  if (watchers_of_[index(kind)] != 0)
    notify_watchers(
        kind,
        object.symbols.table() ? object.symbols.text(object.namespace_name) : std::string_view(),
        object.name);
}

void ObjectChanges::notify(const Ref<const Pod>& before, const Ref<const Pod>& after) {
  pod_listeners_.notify(before, after);
  const Pod& pod = after ? *after : *before;
  notify(ObjectKind::kPod, pod.namespace_name(), pod.name());
}

void ObjectChanges::notify_watchers(ObjectKind kind, std::string_view namespace_name,
                                    std::string_view name) {
  const auto found = watchers_.find(key(kind, namespace_name, name));
  if (found == watchers_.end()) return;
  for (Watcher* watcher : found->second) watcher->changed();
}

}  // namespace berth
