// ClaimTracker: ResourceClaims as they will be, and with that, which devices are taken.
//
//   Reserve   a claim's allocation is in flight: pending ─┐
//   PreBind   written, and assumed ahead of the watch     ├─► its devices are taken
//   watch     shows the claim as it was written          ─┘
//
// An allocation that several of these know of counts once, so that there is no moment between two
// of them at which its devices look free. One for all profiles of a scheduler: of(). World thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "base/keyed_hash.h"
#include "berth/handle.h"
#include "cluster/assumed_objects.h"
#include "plugins/dynamic_resources/allocated_devices.h"

namespace berth::plugins {

class ClaimTracker {
 public:
  // `consumable_capacity`: devices may be shared (gate DRAConsumableCapacity).
  ClaimTracker(AssumeCache& claims, bool consumable_capacity);
  static std::shared_ptr<ClaimTracker> of(const Handle& handle);

  // ---- claims
  // The newest that is known: `could not find ResourceClaim "ns/x"`.
  Result<Ref<const ResourceClaim>> find(std::string_view namespace_name,
                                        std::string_view name) const;
  // The claim that an earlier attempt has made for the pod's extended resources; null: none.
  Ref<const ResourceClaim> extended_resource_claim_of(const Pod& pod) const;
  // What a write has returned. Fails when the watch has not shown the claim yet (kNotFound), or
  // knows better.
  Result<void> assume(Ref<const ResourceClaim> claim);
  // Back to what the watch has shown.
  void restore(const ResourceClaim& claim);

  // ---- allocations in flight, by the claim's UID
  // `claim` has an allocation that is not written yet. Of a claim that is in flight already it is
  // noted that one more pod shares the allocation there is; one that has been allocated since is
  // not in flight. The error: the claim is not known any more.
  Result<void> begin_pending(Ref<const ResourceClaim> claim);
  // The same for a claim that was written, but that the watch has yet to show.
  void hold_pending(Ref<const ResourceClaim> claim);
  const AllocationResult* pending(const std::string& uid) const;
  Ref<const ResourceClaim> pending_claim(const std::string& uid) const;  // null: not in flight
  // One of the pods that share it is done; with `force` all are. True when it was removed with
  // that.
  bool end_pending(const std::string& uid, bool force = false);
  std::size_t pending_count() const { return pending_.size(); }
  std::vector<Ref<const ResourceClaim>> all_pending() const;

  // ---- reservations
  // Whether the claim is reserved for the pod, as far as we have not asked for the opposite.
  bool is_reserved(const ResourceClaim& claim, const std::string& pod_uid) const;
  // The pod is about to be taken out of reservedFor: until that is seen, what the claim says about
  // it does not count.
  void take_back(const ResourceClaim& claim, const std::string& pod_uid);
  // The claim was reserved for the pod, after all.
  void reserved(const ResourceClaim& claim, const std::string& pod_uid);

  // Holds pending, and takes as taken back, what the tracker of an equal cluster does.
  void remember_as(const ClaimTracker& other);

  // ---- what is taken
  const AllocatedDevices& allocated() const { return allocated_; }

 private:
  struct Pending {
    Ref<const ResourceClaim> claim;
    std::int32_t sharers = 1;
  };
  // A device, or one share of it.
  struct Taken {
    DeviceId device;
    std::string share_id;
    friend bool operator==(const Taken&, const Taken&) = default;
  };
  struct TakenHash {
    std::size_t operator()(const Taken& taken) const noexcept {
      return std::hash<DeviceId>{}(taken.device) ^ hash_text(taken.share_id);
    }
  };

  void changed(const Ref<const Object>& before, const Ref<const Object>& after);
  void index_owner(const ResourceClaim& claim, bool there);
  void look_for_taken_back(const ResourceClaim* before, const ResourceClaim* after);
  // One more, or one less, that knows of an allocation.
  void take(const AllocationResult& allocation);
  void give_back(const AllocationResult& allocation);
  template <typename Changes>
  AllocationResult that_change(const AllocationResult& allocation, Changes changes);

  AssumeCache& claims_;
  bool consumable_capacity_;
  AllocatedDevices allocated_;
  std::unordered_map<Taken, std::int32_t, TakenHash> holders_;  // how many know of it
  std::unordered_map<std::string, Pending, TextHash> pending_;  // by UID
  // Claims made for extended resources, by the UID of their pod.
  std::unordered_map<std::string, Ref<const ResourceClaim>, TextHash> extended_;
  std::set<std::pair<std::string, std::string>> taken_back_;  // UIDs of claim and pod
  Subscription subscription_;
};

}  // namespace berth::plugins
