// EphemeralVolumeController: the claims of generic ephemeral volumes, "<pod>-<volume>", owned by
// the pod and gone with it. World thread only.
#pragma once

#include "control_plane/controller.h"
#include "control_plane/pod_feed.h"

namespace berth::control_plane {

class EphemeralVolumeController final : public Controller {
 public:
  EphemeralVolumeController(LocalClient& api, PodIndex& pods);

 private:
  void sync(const std::string& key) override;

  PodIndex& pods_;
};

}  // namespace berth::control_plane
