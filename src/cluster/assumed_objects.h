// Objects as they will be: what Reserve decided about volumes and claims, before the API server
// knows (volumes-dra-gang.md §2). Two caches, because upstream's two behave differently:
//
//   PassiveAssumeCache<T>   PersistentVolumes and PersistentVolumeClaims. An assumed object is a
//                           changed copy with the stored one's version, and counts for as long as
//                           the store has that version. Tells nobody. One pair per profile: the
//                           plugin owns it.
//   AssumeCache             ResourceClaims. An assumed object is what a write has returned, ahead
//                           of the watch. Tells its handlers at once; the queue is one of them, so
//                           our own writes wake pods. One per cluster: Cluster::assumed_claims().
//
// World thread.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "berth/object.h"
#include "berth/result.h"
#include "cluster/object_changes.h"

namespace berth {

class Cluster;

// "namespace/name", or the name alone for cluster-wide kinds.
std::string key_of(const Object& object);

// What PassiveAssumeCache<T> does, whatever T is.
class PassiveAssumeStore {
 public:
  using IndexOf = std::function<std::string(const Object&)>;
  // `resource` is the plural of the texts ("persistentvolumeclaims"). With `index_of` the stored
  // objects are indexed by its result.
  PassiveAssumeStore(const Cluster& cluster, ObjectKind kind, std::string resource,
                     IndexOf index_of);
  ~PassiveAssumeStore();
  PassiveAssumeStore(const PassiveAssumeStore&) = delete;
  PassiveAssumeStore& operator=(const PassiveAssumeStore&) = delete;

  Result<Ref<const Object>> get(std::string_view namespace_name, std::string_view name) const;
  Result<Ref<const Object>> stored(std::string_view namespace_name, std::string_view name) const;
  void for_each(std::string_view index,
                const std::function<void(const Ref<const Object>&)>& visit) const;
  Result<void> assume(Ref<const Object> object);
  void restore(const Object& object);
  void assume_as(const PassiveAssumeStore& other);
  std::vector<Ref<const Object>> assumed() const;
  std::size_t assumed_count() const { return assumed_.size(); }

 private:
  struct ByName {
    bool operator()(const Ref<const Object>& a, const Ref<const Object>& b) const;
  };
  using Assumed = std::unordered_map<std::string, Ref<const Object>, TextHash>;
  Ref<const Object> assumed_or(const Ref<const Object>& stored) const;
  void changed(const Ref<const Object>& before, const Ref<const Object>& after);
  void drop(Assumed::iterator assumed);

  const Cluster& cluster_;
  ObjectKind kind_;
  std::string resource_;
  IndexOf index_of_;
  Assumed assumed_;  // by key
  std::map<std::string, std::set<Ref<const Object>, ByName>, std::less<>> indexed_;
  Subscription subscription_;
};

template <typename T>
class PassiveAssumeCache {
 public:
  // Without an index.
  PassiveAssumeCache(const Cluster& cluster, ObjectKind kind, std::string resource)
      : objects_(cluster, kind, std::move(resource), {}) {}
  // With one, e.g. by storage class.
  template <typename IndexOf>
  PassiveAssumeCache(const Cluster& cluster, ObjectKind kind, std::string resource,
                     IndexOf index_of)
      : objects_(cluster, kind, std::move(resource), [index_of](const Object& object) {
          return std::string(index_of(static_cast<const T&>(object)));
        }) {}

  // As assumed, or as stored if nothing is assumed about the stored version. kNotFound when the
  // store has none: `persistentvolumeclaims "ns/x" not found`.
  Result<Ref<const T>> get(std::string_view namespace_name, std::string_view name) const {
    return typed(objects_.get(namespace_name, name));
  }
  // As stored.
  Result<Ref<const T>> stored(std::string_view namespace_name, std::string_view name) const {
    return typed(objects_.stored(namespace_name, name));
  }
  // All with this index, each as `get` shows it, in the order of namespace and name. `visit`
  // assumes nothing.
  template <typename Visit>
  void for_each(std::string_view index, Visit visit) const {
    objects_.for_each(index, [&visit](const Ref<const Object>& object) {
      visit(Ref<const T>(static_cast<const T*>(object.get())));
    });
  }

  // kNotFound, or kConflict when the stored version is another:
  // `"ns/x" is out of sync (stored: A, assume: B)`.
  Result<void> assume(Ref<const T> object) { return objects_.assume(std::move(object)); }
  // Drops what is assumed about the object's version; nothing else.
  void restore(const T& object) { objects_.restore(object); }
  // Assumes what the cache of another cluster does, of objects that both have in the same version, and
  // nothing else.
  void assume_as(const PassiveAssumeCache& other) { objects_.assume_as(other.objects_); }
  // In no particular order.
  std::vector<Ref<const T>> assumed() const {
    std::vector<Ref<const T>> all;
    for (const Ref<const Object>& object : objects_.assumed())
      all.emplace_back(static_cast<const T*>(object.get()));
    return all;
  }
  std::size_t assumed_count() const { return objects_.assumed_count(); }

 private:
  static Result<Ref<const T>> typed(Result<Ref<const Object>> object) {
    if (!object) return fail(std::move(object.error()));
    return Ref<const T>(static_cast<const T*>(object->get()));
  }

  PassiveAssumeStore objects_;
};

class AssumeCache {
 public:
  // `description` is the kind in texts: "ResourceClaim".
  explicit AssumeCache(std::string description) : description_(std::move(description)) {}
  AssumeCache(const AssumeCache&) = delete;
  AssumeCache& operator=(const AssumeCache&) = delete;

  // Before is null for a new object, after for one that is gone. A new handler is called for all
  // existing objects, as new. Handlers are called in the order of changes, one change at a time,
  // before the call that made the change returns; a change made by a handler comes after the one
  // that it handles.
  using Handler =
      std::function<void(const Ref<const Object>& before, const Ref<const Object>& after)>;
  [[nodiscard]] Subscription add_handler(Handler handler);

  // The newest: assumed or stored. `could not find ResourceClaim "ns/x"`, which is of kind
  // kInternal because upstream's is no NotFound of the API.
  Result<Ref<const Object>> get(std::string_view namespace_name, std::string_view name) const;
  // As stored.
  Result<Ref<const Object>> stored(std::string_view namespace_name, std::string_view name) const;
  // The newest of all, in the order of namespace and name.
  std::vector<Ref<const Object>> list() const;

  // The object must be known and not older: `ResourceClaim "ns/x" is out of sync (stored: A,
  // assume: B)`.
  Result<void> assume(Ref<const Object> object);
  // Back to what is stored; does nothing for unknown objects.
  void restore(std::string_view namespace_name, std::string_view name);
  // How many are assumed and not yet confirmed by the watch.
  std::size_t assumed_count() const;

  // ---- what the watch shows; for Cluster
  void put(const Ref<const Object>& object);
  void remove(std::string_view namespace_name, std::string_view name);

 private:
  struct Entry {
    Ref<const Object> latest;
    Ref<const Object> stored;
  };
  struct Change {
    Ref<const Object> before, after;
  };
  using Key = std::pair<std::string, std::string>;  // namespace, name
  struct ByName {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const {
      const int order = std::string_view(a.first).compare(b.first);
      return order != 0 ? order < 0 : std::string_view(a.second) < std::string_view(b.second);
    }
  };
  const Entry* find(std::string_view namespace_name, std::string_view name) const;
  std::string not_found(std::string_view namespace_name, std::string_view name) const;
  void notify(Change change);

  std::string description_;
  std::map<Key, Entry, ByName> entries_;
  Listeners<const Ref<const Object>&, const Ref<const Object>&> handlers_;
  std::deque<Change> to_tell_;
  bool telling_ = false;
};

}  // namespace berth
