// ClusterApi: the interface through which the scheduler writes to the cluster. `kube` implements it
// with HTTP, `storeapi` over objects in memory; the watch shows the result of a call.
//
// Called on the world thread; its tasks resume there. Must not throw: an exception ends the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "berth/task.h"

namespace berth {

// A change of pod.status: any of these.
struct PodStatusPatch {
  std::optional<PodCondition> condition{};
  std::optional<std::string> nominated_node_name{};  // empty text clears it
  std::optional<PodExtendedResourceClaimStatus> extended_resource_claim{};
  // The precondition: a pod that is stored in another version is left alone, and the answer is
  // kConflict. Empty: whatever its version is.
  std::string version{};
};

enum class EventType : std::uint8_t { kNormal, kWarning };

// An Event as users see it in `kubectl describe pod`.
struct PodEvent {
  Ref<const Pod> pod;
  EventType type = EventType::kNormal;
  std::string reason;
  std::string action;
  std::string note;
  std::string reporting_controller;  // the profile's scheduler name
  Ref<const Pod> related;            // the other pod involved, e.g. the preemptor; may be null
};

class ClusterApi {
 public:
  virtual ~ClusterApi() = default;

  virtual Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) = 0;
  // Whether the pod is bound to that node. Called after an extender was asked to bind it and
  // reported a failure or, with `unanswered`, did not answer; the binding may then still be in
  // progress. The default returns false.
  virtual Task<Result<bool>> is_bound(Ref<const Pod> pod, std::string node_name, bool unanswered);
  // Against `pod`, the newest version known. The answer is the version that is stored now; empty
  // where statuses are not kept.
  virtual Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) = 0;
  // Deletes a pod to make room, with its grace period.
  virtual Task<Result<void>> evict(Ref<const Pod> pod) = 0;

  // ---- volumes and claims. The object's resource_version is the precondition: if the stored one
  // has another, the answer is kConflict. Only what the scheduler owns is written:
  //   PersistentVolume       annotations, spec.claimRef
  //   PersistentVolumeClaim  annotations
  //   ResourceClaim          finalizers; with update_status: allocation, reservedFor, devices
  //   PodGroup               with update_status: the condition PodGroupInitiallyScheduled
  // Everything else stays as stored. The answer is the object as stored now. The defaults return
  // kNotFound, for implementations without such objects.
  virtual Task<Result<AnyObject>> update(AnyObject object) = 0;
  virtual Task<Result<AnyObject>> update_status(AnyObject object);
  // A ResourceClaim without a name gets one from its generate_name.
  virtual Task<Result<AnyObject>> create(AnyObject object);
  // Of this uid, if the object has one.
  virtual Task<Result<void>> remove(AnyObject object);
  virtual Task<Result<AnyObject>> get(ObjectKind kind, std::string namespace_name,
                                      std::string name);
  // Takes one consumer out of the claim's reservedFor, whatever the claim's version is by now.
  virtual Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid);

  // Never waits, never fails; what cannot be delivered is dropped.
  virtual void record(PodEvent event) = 0;
};

}  // namespace berth
