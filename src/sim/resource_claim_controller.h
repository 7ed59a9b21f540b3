// ResourceClaimController: what kube-controller-manager does about ResourceClaims, in the
// simulator.
//
//   a pod that names a template     gets a claim of its own, and is told its name in its status
//   a pod that goes or has finished is taken out of the reservedFor of claims; a claim that nobody
//                                   uses any more loses its allocation and the finalizer
//   a claim that was made for a pod goes with it
//
// World thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "api/interner.h"
#include "base/loop.h"
#include "sim/sim_cluster.h"

namespace berth::sim {

class ResourceClaimController {
 public:
  // What is passed by reference outlives it; nothing is done any more once it is gone.
  ResourceClaimController(Loop& loop, SimCluster& cluster, Interner& interner);
  ResourceClaimController(const ResourceClaimController&) = delete;
  ResourceClaimController& operator=(const ResourceClaimController&) = delete;

 private:
  using ClaimKey = std::pair<std::string, std::string>;  // namespace, name

  void changed(const Delta& delta);
  void claim_changed(DeltaType type, const ResourceClaim& claim);
  // In a turn of their own: whoever changed something is in the middle of it.
  void look_at_pod(const Pod& pod);
  void look_at_claims_of(const std::string& pod_uid);
  void look_at_claim(ClaimKey key);
  void make_claims(const Pod& pod);
  std::string make_claim(const Pod& pod, const PodResourceClaim& entry,
                         const ResourceClaimTemplate& made_from);
  void sync(const ResourceClaim& claim);

  Loop& loop_;
  SimCluster& cluster_;
  Interner& interner_;
  std::set<ClaimKey> to_look_at_;
  std::map<std::string, std::set<ClaimKey>> claims_of_;  // by the UID of a pod
  std::map<ClaimKey, std::vector<std::string>> users_;   // those UIDs, by claim
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::sim
