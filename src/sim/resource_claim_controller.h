// ResourceClaimController: claims for devices in the simulator's cluster, as the controller of that
// name (controllers/resource_claims.h) sees them. World thread.
#pragma once

#include <string>
#include <string_view>

#include "api/devices.h"
#include "base/lifetime.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "controllers/resource_claims.h"
#include "sim/pod_watch.h"
#include "sim/sim_cluster.h"

namespace berth::sim {

class ResourceClaimController final : private controllers::ResourceClaimWorld {
 public:
  // What is passed by reference outlives it; nothing is done any more once it is gone.
  ResourceClaimController(Loop& loop, SimCluster& cluster, PodWatch& pods, Interner& interner);
  ResourceClaimController(const ResourceClaimController&) = delete;
  ResourceClaimController& operator=(const ResourceClaimController&) = delete;

 private:
  Ref<const Pod> pod(std::string_view namespace_name, std::string_view name) const override;
  Ref<const ResourceClaim> claim(std::string_view namespace_name,
                                 std::string_view name) const override;
  Ref<const ResourceClaimTemplate> claim_template(std::string_view namespace_name,
                                                  std::string_view name) const override;
  std::string create(const Pod& pod, const PodResourceClaim& entry,
                     const ResourceClaimTemplate& made_from) override;
  void write_names(const Pod& pod, const ClaimNames& names) override;
  bool write(const ResourceClaim& wanted) override;
  void remove(const ResourceClaim& claim) override;

  Loop& loop_;
  SimCluster& cluster_;
  Interner& interner_;
  controllers::ResourceClaimController controller_;
  Lifetime lifetime_;
};

}  // namespace berth::sim
