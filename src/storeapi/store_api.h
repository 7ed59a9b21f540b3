// StoreApi: the ClusterApi over objects in memory. It checks what an API server checks (UIDs,
// versions, pods that are bound or being deleted), in its words, and writes to an ObjectBackend: an
// ClusterStore for the simulator and tests, a ClusterView for benchmarks and embedded schedulers.
//
// When and how a call takes effect is a matter of policy:
//   at once           the default: no timer, nothing allocated but the call's coroutine
//   after a latency   StoreApiOptions::latency
//   by a fault plan   set_fates, set_object_fates: late, lost, twice, or with a false answer
//
// World thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/owned_fields.h"
#include "base/lifetime.h"
#include "berth/cluster_api.h"
#include "berth/loop.h"
#include "store/object_backend.h"
#include "storeapi/call_fate.h"

namespace berth {

struct StoreApiOptions {
  Duration latency{0};  // until a call takes effect
  // False: conditions and nominations have nobody to read them, and are dropped.
  bool keeps_statuses = true;
  // A bound pod has started, as if its node's kubelet had it running at once.
  bool starts_pods = false;
};

class StoreApi : public ClusterApi {
 public:
  // Both outlive this.
  StoreApi(Loop& loop, ObjectBackend& objects, StoreApiOptions options = {});
  ~StoreApi() override;
  StoreApi(const StoreApi&) = delete;
  StoreApi& operator=(const StoreApi&) = delete;

  // Decide how calls go; without them all go well.
  void set_fates(FateOf fate_of) { fate_of_ = std::move(fate_of); }
  void set_object_fates(ObjectFateOf fate_of) { object_fate_of_ = std::move(fate_of); }

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

 private:
  // ---- when and how an effect takes place
  // Whether no fault plan has a say in such calls.
  bool goes_well(ApiCall call) const;
  template <typename T, typename Effect>
  Task<Result<T>> go_well(Effect effect);
  CallFate fate(ApiCall call, const Pod& pod) const;
  CallFate fate(ApiCall call, ObjectKind kind, std::string_view namespace_name,
                std::string_view name) const;
  // What the effect gives is the answer, unless the fate says otherwise.
  template <typename T>
  Task<Result<T>> carry_out(CallFate fate, std::function<Result<T>()> effect);
  template <typename T, typename Effect>
  Task<Result<T>> call(ApiCall call, const Pod& pod, Effect effect);
  template <typename T, typename Effect>
  Task<Result<T>> call(ApiCall call, const Object& object, Effect effect);
  template <typename T, typename Effect>
  Task<Result<T>> call(ApiCall kind, const AnyObject& any, Effect effect);

  // ---- the effects
  Result<void> do_bind(const Pod& wanted, std::string_view node_name);
  Result<std::string> do_patch_status(const Pod& wanted, const PodStatusPatch& patch);
  Result<void> do_evict(const Pod& wanted);
  Result<AnyObject> do_write(const AnyObject& any, WrittenPart part);
  Result<AnyObject> do_create(const AnyObject& any);
  Result<void> do_remove(const AnyObject& any);
  Result<AnyObject> do_get(ObjectKind kind, std::string_view namespace_name,
                           std::string_view name) const;
  Result<void> do_unreserve(const Object& claim, std::string_view consumer_uid);
  Ref<const Pod> bound(const Pod& stored, std::string_view node_name);

  Loop& loop_;
  ObjectBackend& objects_;
  StoreApiOptions options_;
  FateOf fate_of_;
  ObjectFateOf object_fate_of_;
  Lifetime lifetime_;
};

}  // namespace berth
