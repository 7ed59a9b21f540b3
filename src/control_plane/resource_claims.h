// ResourceClaims: claims for devices in the embedded API server, as the ResourceClaimController
// sees them. World thread only.
#pragma once

#include <string>
#include <string_view>

#include "berth/interner.h"
#include "control_plane/controller.h"
#include "control_plane/pod_feed.h"
#include "controllers/resource_claims.h"

namespace berth::control_plane {

class ResourceClaims final : public ApiFollower, private controllers::ResourceClaimWorld {
 public:
  ResourceClaims(LocalClient& api, PodIndex& pods);

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

  mutable Interner interner_;
  controllers::ResourceClaimController controller_;
};

}  // namespace berth::control_plane
