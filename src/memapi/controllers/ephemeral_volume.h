// EphemeralVolumeController: the claims of generic ephemeral volumes, "<pod>-<volume>", owned by
// the pod and gone with it. World thread only.
#pragma once

#include "memapi/controllers/controller.h"
#include "memapi/controllers/pod_index.h"

namespace berth::memapi {

class EphemeralVolumeController final : public Controller {
 public:
  EphemeralVolumeController(LocalClient& api, PodIndex& pods);

 private:
  void sync(const std::string& key) override;

  PodIndex& pods_;
};

}  // namespace berth::memapi
