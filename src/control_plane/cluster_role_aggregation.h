// ClusterRoleAggregation: gives ClusterRoles that aggregate others the rules of those that their
// selectors choose. World thread only.
#pragma once

#include <string>

#include "control_plane/controller.h"

namespace berth::control_plane {

class ClusterRoleAggregation final : public Controller {
 public:
  explicit ClusterRoleAggregation(LocalClient& api);

 private:
  void sync(const std::string& key) override;
};

}  // namespace berth::control_plane
