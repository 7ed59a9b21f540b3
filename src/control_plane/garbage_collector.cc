#include "control_plane/garbage_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace berth::control_plane {
namespace {

std::string collector_key(const Resource& resource, const StoredObject& object) {
  return fmt::format("{} {}", resource_index(resource), key_of(object));
}

bool has_finalizer(const JsonValue& tree, std::string_view name) {
  return std::ranges::any_of(items_at(tree, "metadata.finalizers"),
                             [&](const JsonValue& one) { return one.text == name; });
}

Answer<void> drop_finalizer(JsonValue& tree, std::string_view name) {
  JsonValue& finalizers = array_at(tree, "metadata.finalizers");
  std::erase_if(finalizers.items, [&](const JsonValue& one) { return one.text == name; });
  if (finalizers.items.empty()) erase(object_at(tree, "metadata"), "finalizers");
  return {};
}

// Owners whose UID `drop` names are no longer.
void drop_owners(LocalClient& api, const Resource& resource, const StoredObject& object,
                 const std::set<std::string, std::less<>>& drop) {
  static_cast<void>(api.update(
      resource, object.namespace_name, object.name, [&](JsonValue& tree) -> Answer<void> {
        JsonValue& owners = array_at(tree, "metadata.ownerReferences");
        std::erase_if(owners.items,
                      [&](const JsonValue& owner) { return drop.contains(text_at(owner, "uid")); });
        if (owners.items.empty()) erase(object_at(tree, "metadata"), "ownerReferences");
        return {};
      }));
}

// Its owners do not wait for it any longer: nobody in a circle would be the first to go.
void stop_blocking(LocalClient& api, const Resource& resource, const StoredObject& object) {
  static_cast<void>(
      api.update(resource, object.namespace_name, object.name, [](JsonValue& tree) -> Answer<void> {
        for (JsonValue& owner : array_at(tree, "metadata.ownerReferences").items)
          set(owner, "blockOwnerDeletion", JsonValue::of_bool(false));
        return {};
      }));
}

}  // namespace

GarbageCollector::Located GarbageCollector::located(std::string_view key) const {
  std::size_t index = 0;
  const std::size_t space = key.find(' ');
  std::from_chars(key.data(), key.data() + space, index);
  Located place{nullptr, name_of(key.substr(space + 1))};
  if (index < resources().size()) {
    place.resource = &resources()[index];
  } else {
    place.resource = custom_.at_slot(index);
  }
  return place;
}

const Resource* GarbageCollector::resource_named(std::string_view api_version,
                                                 std::string_view kind) const {
  for (const Resource& resource : resources()) {
    if (resource.kind == kind && resource.group_version() == api_version &&
        resource.verbs != Verbs::kCreate && resource.stored_as.empty())
      return &resource;
  }
  return custom_.of_kind(api_version, kind);
}

GarbageCollector::GarbageCollector(LocalClient& api)
    : Controller(api), custom_(api, [this](const Resource& resource, const Change& change) {
        changed(resource, change);
      }) {
  for (const Resource& resource : resources()) {
    if (resource.verbs == Verbs::kCreate || !resource.stored_as.empty()) continue;
    if (resource.plural == "events") continue;  // nobody owns them, and they are many
    followings_.push_back(
        &follow(resource, [this, &resource](const Change& change) { changed(resource, change); }));
  }
}

void GarbageCollector::catch_up() {
  for (Following* following : followings_) following->catch_up();
  custom_.catch_up();
}

void GarbageCollector::changed(const Resource& resource, const Change& change) {
  const StoredObject& object = *change.object;
  const std::string key = collector_key(resource, object);
  if (const auto found = owners_.find(key); found != owners_.end()) {
    for (const std::string& uid : found->second) {
      const auto dependents = dependents_.find(uid);
      if (dependents == dependents_.end()) continue;
      dependents->second.erase(key);
      if (dependents->second.empty()) dependents_.erase(dependents);
    }
    // Owners that wait for it may have waited for this.
    if (change.type == ChangeType::kDeleted || change.previous) {
      const JsonValue before = (change.previous ? change.previous : change.object)->tree();
      for (const JsonValue& owner : items_at(before, "metadata.ownerReferences")) {
        const Resource* of = resource_named(text_at(owner, "apiVersion"), text_at(owner, "kind"));
        if (of == nullptr) continue;
        enqueue(fmt::format(
            "{} {}", resource_index(*of),
            object_key(of->namespaced ? object.namespace_name : "", text_at(owner, "name"))));
      }
    }
    owners_.erase(found);
  }
  if (change.type == ChangeType::kDeleted) {
    if (const auto dependents = dependents_.find(object.uid); dependents != dependents_.end())
      for (const std::string& dependent : dependents->second) enqueue(dependent);
    return;
  }
  // Reading the object would cost more than all else that happens here.
  const bool owned = object.json.contains("\"ownerReferences\"");
  const bool going = object.json.contains("\"deletionTimestamp\"");
  if (owned) {
    std::vector<std::string>& uids = owners_[key];
    const JsonValue tree = object.tree();
    for (const JsonValue& owner : items_at(tree, "metadata.ownerReferences")) {
      uids.emplace_back(text_at(owner, "uid"));
      dependents_[uids.back()].insert(key);
    }
  }
  const bool news =
      !change.previous || change.previous->json.contains("\"ownerReferences\"") != owned;
  if ((owned && news) || going) enqueue(key);
}

void GarbageCollector::sync(const std::string& key) {
  catch_up();
  const Located place = located(key);
  if (place.resource == nullptr) return;
  const ObjectRef object = api_.get(*place.resource, place.name.namespace_name, place.name.name);
  if (!object) return;
  const JsonValue tree = object->tree();
  if (is_terminating(tree)) {
    settle_owner(*place.resource, *object, tree);
  } else {
    settle_dependent(*place.resource, *object, tree);
  }
}

void GarbageCollector::settle_dependent(const Resource& resource, const StoredObject& object,
                                        const JsonValue& tree) {
  std::set<std::string, std::less<>> gone;  // or going, and waiting for their dependents
  bool kept = false;
  bool waited_for = false;
  for (const JsonValue& owner : items_at(tree, "metadata.ownerReferences")) {
    const Resource* of = resource_named(text_at(owner, "apiVersion"), text_at(owner, "kind"));
    if (of == nullptr) {
      kept = true;
      continue;
    }
    const ObjectRef found =
        api_.get(*of, of->namespaced ? object.namespace_name : "", text_at(owner, "name"));
    if (!found || found->uid != text_at(owner, "uid")) {
      gone.emplace(text_at(owner, "uid"));
      continue;
    }
    const JsonValue owner_tree = found->tree();
    if (is_terminating(owner_tree) && has_finalizer(owner_tree, kForegroundFinalizer)) {
      waited_for = true;
      gone.emplace(found->uid);
    } else {
      kept = true;
    }
  }
  if (gone.empty()) return;
  if (kept) {
    drop_owners(api_, resource, object, gone);
    return;
  }
  const bool has_dependents = dependents_.contains(object.uid);
  if (waited_for && in_a_circle(object.uid)) stop_blocking(api_, resource, object);
  const Propagation propagation =
      waited_for && has_dependents ? Propagation::kForeground : Propagation::kBackground;
  static_cast<void>(api_.remove(resource, object.namespace_name, object.name,
                                {.uid = object.uid, .propagation = propagation}));
}

bool GarbageCollector::in_a_circle(const std::string& uid) const {
  const auto dependents = dependents_.find(uid);
  if (dependents == dependents_.end()) return false;
  return std::ranges::any_of(dependents->second, [&](const std::string& key) {
    const Located place = located(key);
    const ObjectRef object = api_.get(*place.resource, place.name.namespace_name, place.name.name);
    if (!object) return false;
    const JsonValue tree = object->tree();
    return is_terminating(tree) && has_finalizer(tree, kForegroundFinalizer);
  });
}

void GarbageCollector::settle_owner(const Resource& resource, const StoredObject& object,
                                    const JsonValue& tree) {
  std::vector<std::string> dependents;
  if (const auto found = dependents_.find(object.uid); found != dependents_.end())
    dependents.assign(found->second.begin(), found->second.end());
  if (has_finalizer(tree, kOrphanFinalizer)) {
    for (const std::string& key : dependents) {
      const Located place = located(key);
      if (place.resource == nullptr) continue;
      const ObjectRef dependent =
          api_.get(*place.resource, place.name.namespace_name, place.name.name);
      if (dependent) drop_owners(api_, *place.resource, *dependent, {object.uid});
    }
    static_cast<void>(
        api_.update(resource, object.namespace_name, object.name,
                    [](JsonValue& changed) { return drop_finalizer(changed, kOrphanFinalizer); }));
    return;
  }
  if (!has_finalizer(tree, kForegroundFinalizer)) return;
  bool blocked = false;
  for (const std::string& key : dependents) {
    const Located place = located(key);
    if (place.resource == nullptr) continue;
    const ObjectRef dependent =
        api_.get(*place.resource, place.name.namespace_name, place.name.name);
    if (!dependent) continue;
    const JsonValue dependent_tree = dependent->tree();
    for (const JsonValue& owner : items_at(dependent_tree, "metadata.ownerReferences"))
      blocked =
          blocked || (text_at(owner, "uid") == object.uid && true_at(owner, "blockOwnerDeletion"));
    if (!is_terminating(dependent_tree)) enqueue(key);
  }
  if (blocked) return;
  static_cast<void>(api_.update(
      resource, object.namespace_name, object.name,
      [](JsonValue& changed) { return drop_finalizer(changed, kForegroundFinalizer); }));
}

}  // namespace berth::control_plane
