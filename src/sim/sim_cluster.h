// SimCluster: the API server of the simulator. A store of objects with versions, a watch that shows
// every change after a while, and the door through which the scheduler changes things; calls take
// time and can be made to go wrong.
//
// Everything happens on one loop, in virtual time: the same seed gives the same run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/defaulting.h"
#include "api/interner.h"
#include "api/object.h"
#include "api/owned_fields.h"
#include "api/pod.h"
#include "base/loop.h"
#include "base/result.h"
#include "framework/cluster_api.h"

namespace berth::sim {

enum class ApiCall : std::uint8_t {
  // of pods
  kBind,
  kPatchStatus,
  kEvict,
  // of volumes and claims
  kUpdate,
  kUpdateStatus,
  kCreate,
  kDelete,
  kGet,
};
std::string_view to_string(ApiCall call);  // "bind", "patchStatus", …
// Of all, in the order above.
std::span<const ApiCall> api_calls();
constexpr bool is_about_pods(ApiCall call) { return call <= ApiCall::kEvict; }

// How one call goes. The default goes well.
struct CallFate {
  Duration extra_delay{0};  // before it takes effect
  bool takes_effect = true;
  bool takes_effect_twice = false;  // the request arrives a second time, later
  Duration second_delay{0};         // between its two effects, beside the usual time of a call
  bool has_left = false;            // it takes effect even if its task ends before
  std::optional<Error> error{};     // what the caller is told instead of the truth
  Duration answer_delay{0};         // between the effect and the answer: the watch may be faster
};
using FateOf = std::function<CallFate(ApiCall call, const Pod& pod)>;
// Objects by "namespace/name", or "name".
using ObjectFateOf =
    std::function<CallFate(ApiCall call, ObjectKind kind, const std::string& full_name)>;

struct SimTiming {
  Duration call{std::chrono::milliseconds(1)};   // until a call takes effect
  Duration watch{std::chrono::milliseconds(1)};  // until the watch shows a change
};

inline std::string_view namespace_of(const Object& object) {
  return object.symbols.text(object.namespace_name);
}

class SimCluster final : public ClusterApi {
 public:
  SimCluster(Loop& loop, Interner& interner, SimTiming timing);
  ~SimCluster() override;

  // Who is shown the changes, in order.
  void on_delta(std::function<void(const Delta&)> watcher);
  // A second watcher, for controllers; sees changes at once.
  void on_change(std::function<void(const Delta&)> controller);
  // Decides how calls go; without it all go well.
  void set_fates(FateOf fate_of) { fate_of_ = std::move(fate_of); }
  void set_object_fates(ObjectFateOf fate_of) { object_fate_of_ = std::move(fate_of); }
  // How much later than usual the watch shows things from now on.
  void set_watch_lag(Duration lag) { watch_lag_ = lag; }

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
  std::vector<Ref<const Pod>> pods() const;  // by namespace and name
  std::vector<Ref<const Object>> objects(ObjectKind kind) const;

  // All there is, for a watcher that begins anew; what was still to be shown is part of it.
  std::vector<AnyObject> relist();

  // What admission knows when an object is created now.
  Admission admission() const;

  // Counts changes that were not the scheduler's own and may matter to pods that did not fit: a
  // pending pod that failed after the last of them has nothing new to hope for.
  std::uint64_t changes() const { return changes_; }
  // Pods that are deleted and still have their grace period.
  std::size_t terminating() const;

  // ---- ClusterApi
  Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) override;
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override;
  Task<Result<void>> evict(Ref<const Pod> pod) override;
  Task<Result<AnyObject>> update(AnyObject object) override;
  Task<Result<AnyObject>> update_status(AnyObject object) override;
  Task<Result<AnyObject>> create(AnyObject object) override;
  Task<Result<void>> remove(AnyObject object) override;
  Task<Result<AnyObject>> get(ObjectKind kind, std::string namespace_name,
                              std::string name) override;
  Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid) override;
  void record(PodEvent event) override;

  // Bindings that took effect, by pod UID: more than one for a pod would be a disaster.
  const std::map<Uid, int>& bindings() const { return bindings_; }

 private:
  using Key = std::pair<ObjectKind, std::string>;  // "namespace/name"
  static Key key_of(const AnyObject& object);
  static Key key(ObjectKind kind, std::string_view namespace_name, std::string_view name);

  Task<Result<void>> call(ApiCall call, Ref<const Pod> pod, std::function<Result<void>()> effect);
  // What an effect gives is the answer, unless the fate says otherwise.
  template <typename T>
  Task<Result<T>> carry_out(CallFate fate, std::function<Result<T>()> effect);
  CallFate object_fate(ApiCall call, ObjectKind kind, std::string_view namespace_name,
                       std::string_view name) const;
  Result<void> do_bind(const Pod& pod, const std::string& node_name);
  Result<std::string> do_patch_status(const Pod& pod, const PodStatusPatch& patch);
  Ref<const Pod> store(PodDraft draft, DeltaType type);
  // ---- volumes and claims
  Result<AnyObject> do_write(const Object& object, WrittenPart part);
  Result<AnyObject> do_create(const Object& object);
  Result<void> do_remove(const Object& object);
  Result<void> do_unreserve(const Object& claim, const std::string& consumer_uid);
  // With a version of its own, if the kind is one that is written.
  Ref<const Object> versioned(const Ref<const Object>& object);
  void store(const Ref<const Object>& object, DeltaType type);
  void show(DeltaType type, AnyObject object);
  void show_due();
  std::string next_version();

  Loop& loop_;
  Interner& interner_;
  SimTiming timing_;
  Duration watch_lag_{0};
  TimePoint shown_until_;  // the watch keeps its order
  std::deque<std::pair<TimePoint, Delta>> to_show_;
  FateOf fate_of_;
  ObjectFateOf object_fate_of_;
  std::vector<std::function<void(const Delta&)>> watchers_;
  std::vector<std::function<void(const Delta&)>> controllers_;
  std::map<Key, AnyObject> objects_;
  std::uint64_t version_ = 0;
  std::uint64_t changes_ = 0;
  std::map<Uid, int> bindings_;
  std::set<Uid> pods_ever_;
  std::set<std::string> objects_ever_;                     // UIDs
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // ends what is posted with this object
};

}  // namespace berth::sim
