// ClusterStore: the objects of a cluster in memory, as an API server keeps them: every write is a
// new version, pods have grace periods, claims have finalizers, and a watch shows every change
// after a while. For the simulator and for tests; everything happens on one loop, so the same calls
// give the same objects, versions and UIDs.
//
// Two kinds of writers. People and controllers use create_object, update_object and remove_object;
// the scheduler writes through a StoreApi (room storeapi), which checks its preconditions and then
// uses the ObjectBackend.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/defaulting.h"
#include "base/hash_index.h"
#include "base/lifetime.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "store/delayed_watch.h"
#include "store/object_backend.h"
#include "store/object_set.h"

namespace berth {

class ClusterStore : public ObjectBackend {
 public:
  // `watch_delay`: until the watch shows a change.
  ClusterStore(Loop& loop, Duration watch_delay);
  ~ClusterStore() override;
  ClusterStore(const ClusterStore&) = delete;
  ClusterStore& operator=(const ClusterStore&) = delete;

  // Adds a watcher, which sees the changes after a while, in order.
  void on_delta(DeltaSink watcher) { watch_.add(std::move(watcher)); }
  // Adds a controller, which sees changes at once. It must not write from within the call: others
  // would see its change before this one.
  void on_change(DeltaSink controller) { controllers_.push_back(std::move(controller)); }
  // How much later than usual the watch shows things from now on.
  void set_watch_lag(Duration lag) { watch_.set_lag(lag); }

  // ---- what people and controllers do
  Result<void> create_object(AnyObject object);
  Result<void> update_object(AnyObject object);  // replaces; a new version
  // Pods on a node get their grace period, claims with finalizers wait until those are gone;
  // everything else goes at once.
  Result<void> remove_object(ObjectKind kind, std::string_view namespace_name,
                             std::string_view name);
  Result<void> remove_at_once(ObjectKind kind, std::string_view namespace_name,
                              std::string_view name);

  Ref<const Pod> pod(std::string_view namespace_name, std::string_view name) const;
  Ref<const Object> object(ObjectKind kind, std::string_view namespace_name,
                           std::string_view name) const;
  bool has(ObjectKind kind, std::string_view namespace_name, std::string_view name) const {
    return table(kind).contains(namespace_name, name);
  }
  std::vector<Ref<const Pod>> pods() const;  // by namespace and name
  std::vector<Ref<const Object>> objects(ObjectKind kind) const;

  // All there is, for a watcher that begins anew; what was still to be shown is part of it.
  std::vector<AnyObject> relist();

  // What admission knows when an object is created now.
  Admission admission() const;

  // Counts changes that were not the scheduler's own and may matter to pods that did not fit: a
  // pending pod that failed after the last of them has nothing new to hope for.
  std::uint64_t changes() const { return changes_; }
  // Bindings that took effect, by pod UID, for tests: more than one for a pod would be a disaster.
  void count_bindings() { counts_bindings_ = true; }
  const std::unordered_map<Uid, int>& bindings() const { return bindings_; }

  // ---- ObjectBackend: what a StoreApi does
  Ref<const Pod> stored_pod(const Pod& named_alike) const override;
  Ref<const Object> stored_object(ObjectKind kind, std::string_view namespace_name,
                                  std::string_view name) const override;
  std::string next_version(std::string_view than) override;
  void replace_pod(const Ref<const Pod>& before, Ref<const Pod> after) override;
  void replace_object(const Ref<const Object>& before, Ref<const Object> after) override;
  void delete_pod(const Ref<const Pod>& stored) override;
  void delete_object(const Ref<const Object>& stored) override;
  Result<Ref<const Object>> create_claim(const ResourceClaim& claim) override;

 private:
  ObjectSet& table(ObjectKind kind) { return tables_[static_cast<std::size_t>(kind)]; }
  const ObjectSet& table(ObjectKind kind) const { return tables_[static_cast<std::size_t>(kind)]; }
  void commit(ObjectKind kind, DeltaType type, AnyObject object);
  Ref<const Pod> store(PodDraft draft, DeltaType type);
  void store(const Ref<const Object>& object, DeltaType type);
  // Whether no pod has had this UID before; one has from now on.
  bool is_new(const Uid& uid);
  // With a version of its own, if the kind is one that is written.
  Ref<const Object> versioned(const Ref<const Object>& object);

  Loop& loop_;
  DelayedWatch watch_;
  std::vector<DeltaSink> controllers_;
  std::array<ObjectSet, static_cast<std::size_t>(ObjectKind::kOther) + 1> tables_;
  std::uint64_t version_ = 0;
  std::uint64_t changes_ = 0;
  bool counts_bindings_ = false;
  std::unordered_map<Uid, int> bindings_;
  // UIDs of all pods that there ever were. A long run has a million.
  std::vector<Uid> pods_ever_;
  HashIndex pods_ever_index_;
  std::set<std::string> objects_ever_;  // UIDs
  Lifetime lifetime_;
};

}  // namespace berth
