// ClaimWrites: how DynamicResources makes its decisions about claims known to the API server, and
// takes them back (volumes-dra-gang.md §10.4, §10.7, §10.8, §13.3, §13.4).
//
//   PreBind      bind        finalizer, then allocation and reservedFor; again after a conflict
//                create      the claim for a pod's extended resources
//   PostFilter   deallocate  a claim that nobody uses
//                remove      a claim for extended resources that an earlier attempt left behind
//   Unreserve    undo        in the background: takes the pod out of reservedFor, removes the claim
//                            that was created for it
//
// World thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/devices.h"
#include "berth/handle.h"
#include "berth/task.h"
#include "framework/object_waits.h"
#include "plugins/dynamic_resources/claim_tracker.h"

namespace berth::plugins {

class ClaimWrites {
 public:
  using Written = Result<Ref<const ResourceClaim>>;

  // `timestamps`: allocations have the time at which they were made (the gates of binding
  // conditions).
  ClaimWrites(const Handle& handle, std::shared_ptr<ClaimTracker> tracker, bool timestamps);
  ClaimWrites(const ClaimWrites&) = delete;
  ClaimWrites& operator=(const ClaimWrites&) = delete;

  // Makes the claim the pod's. `reserved` has the allocation to be written; null: the claim is
  // allocated already. The answer is the claim as stored, which the tracker knows by then.
  Task<Written> bind(Ref<const Pod> pod, Ref<const ResourceClaim> claim,
                     Ref<const ResourceClaim> reserved, CancelToken cancel);
  Task<Written> create(Ref<const ResourceClaim> claim);
  // ClaimTracker::end_pending for all who share it, but not while a scheduling cycle is open.
  Task<void> end_pending(std::string uid);
  Task<Result<void>> deallocate(Ref<const ResourceClaim> claim);
  Task<Result<void>> remove(Ref<const ResourceClaim> claim);

  // `reservations`: claims that the pod is to be taken out of. `created`: a claim to be removed, or
  // null.
  void undo(const Pod& pod, std::vector<Ref<const ResourceClaim>> reservations,
            Ref<const ResourceClaim> created);
  // Until nothing is being undone for the pod.
  Task<void> undone(Uid pod);

 private:
  struct Undoing {
    std::int32_t running = 0;
    Eventual<bool> done;
  };

  Task<Written> write(Ref<const Pod> pod, Ref<const ResourceClaim> claim,
                      Ref<const ResourceClaim> reserved, CancelToken cancel);
  Task<Written> write_once(Ref<const Pod> pod, Ref<const ResourceClaim> claim,
                           Ref<const ResourceClaim> reserved, CancelToken cancel);
  Task<Written> add_finalizer(Ref<const ResourceClaim> claim);
  Task<Written> what_became_of(Ref<const Pod> pod, Ref<const ResourceClaim> reserved,
                               Error write_error, Ref<const ResourceClaim> claim);
  Task<Result<void>> remove_finalizer(Ref<const ResourceClaim> claim);
  Task<bool> assume(Ref<const ResourceClaim> claim, bool created, CancelToken cancel);
  // Holds the devices of a claim that the watch has yet to show.
  Task<void> hold_until_seen(Ref<const ResourceClaim> claim);
  Task<Written> look_up(Ref<const ResourceClaim> claim);
  Task<Written> get(Ref<const ResourceClaim> claim);
  Task<void> pause_after_conflict();
  Task<void> run_undo(Uid pod, std::string pod_uid, std::shared_ptr<Undoing> undoing,
                      std::vector<Ref<const ResourceClaim>> reservations,
                      Ref<const ResourceClaim> created);

  const Handle handle_;
  const std::shared_ptr<ClaimTracker> tracker_;
  const bool timestamps_;
  const ObjectWaits waits_;
  std::unordered_map<Uid, std::shared_ptr<Undoing>> undoing_;  // by pod
  TaskSet tasks_;                                              // last: ends first
};

}  // namespace berth::plugins
