// ClusterView: the objects that a scheduler's own cluster has, to be read and written by a StoreApi.
// Nothing is kept twice: what the scheduler has been shown is what is stored, and a write is a delta
// that it is shown. For a scheduler behind which there is no API server: benchmarks, programs that
// embed it, tests of the whole.
//
// A write is shown at once, or in a turn of the loop of its own; until then what was written is kept
// here. What somebody else shows to the scheduler meanwhile stays: a pod that was removed stays
// away, and one that was changed gets its node and keeps the change. World thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/lifetime.h"
#include "berth/loop.h"
#include "berth/views.h"
#include "store/object_backend.h"

namespace berth {

class ClusterView final : public ObjectBackend {
 public:
  enum class Shows : std::uint8_t { kAtOnce, kNextTurn };

  ClusterView(Loop& loop, Shows shows) : loop_(loop), shows_(shows) {}
  ClusterView(const ClusterView&) = delete;
  ClusterView& operator=(const ClusterView&) = delete;

  // Whose cluster it is, before anything is asked; `apply` takes the deltas. Nothing is shown any
  // more once this object is gone.
  void serve(const Cluster& cluster, std::function<void(Delta)> apply);

  Ref<const Pod> stored_pod(const Pod& named_alike) const override;
  Ref<const Object> stored_object(ObjectKind kind, std::string_view namespace_name,
                                  std::string_view name) const override;
  std::string next_version(std::string_view than) override;
  void replace_pod(const Ref<const Pod>& before, Ref<const Pod> after) override;
  void replace_object(const Ref<const Object>& before, Ref<const Object> after) override;
  // There is neither a node that would wait for a pod nor a controller that would take finalizers
  // away: what is deleted goes at once.
  void delete_pod(const Ref<const Pod>& stored) override;
  void delete_object(const Ref<const Object>& stored) override;
  Result<Ref<const Object>> create_claim(const ResourceClaim& claim) override;

 private:
  using Key = std::pair<ObjectKind, std::string>;  // "namespace/name"
  static Key key_of(const AnyObject& object);

  // `before` is monostate for an object that is new.
  void write(DeltaType type, const AnyObject& before, AnyObject after);
  void show(DeltaType type, const AnyObject& before, const AnyObject& after);

  Loop& loop_;
  Shows shows_;
  const Cluster* cluster_ = nullptr;
  std::function<void(Delta)> apply_;
  std::uint64_t version_ = 0;
  std::map<Key, AnyObject> written_;  // and not yet shown; monostate: deleted
  Lifetime lifetime_;
};

}  // namespace berth
