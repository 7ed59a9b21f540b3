// PodFeed: the pods of the embedded API server, as controllers see them. World thread only.
#pragma once

#include <memory>

#include "control_plane/api_server.h"
#include "controllers/pod_index.h"

namespace berth::control_plane {

using controllers::PodFacts;
using controllers::PodIndex;

class PodFeed {
 public:
  explicit PodFeed(LocalClient& api);

  PodIndex& index() { return index_; }

 private:
  PodIndex index_;
  std::unique_ptr<Following> following_;
};

}  // namespace berth::control_plane
