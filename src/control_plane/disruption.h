// DisruptionController: how many pods of a PodDisruptionBudget may go at present (its status), for
// evictions and preemption.
#pragma once

#include "control_plane/controller.h"
#include "control_plane/pod_feed.h"

namespace berth::control_plane {

class DisruptionController final : public Controller {
 public:
  DisruptionController(LocalClient& api, PodIndex& pods);

 private:
  void sync(const std::string& key) override;
  // How many pods there should be, by those who control them; less than 0: it cannot be told.
  std::int64_t expected_pods(const std::vector<const PodFacts*>& pods) const;

  PodIndex& pods_;
};

}  // namespace berth::control_plane
