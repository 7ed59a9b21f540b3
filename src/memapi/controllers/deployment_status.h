// The status of a Deployment, as `kubectl rollout status` and `kubectl wait` read it.
#pragma once

#include <cstdint>
#include <string>

#include "api/json_tree.h"
#include "base/loop.h"

namespace berth::memapi {

// How a rollout stands.
struct RolloutState {
  std::int64_t generation = 0;
  std::int64_t wanted = 0;
  std::int64_t replicas = 0;
  std::int64_t updated = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t unavailable = 0;
  std::int64_t max_unavailable = 0;
  Duration progress_deadline{0};
  std::string newest_set;   // empty: there is none yet
  bool progressed = false;  // sets were made or scaled just now
};

// Writes counts and conditions. True: it waits for progress and wants to be looked at again when
// the deadline for that is over.
bool write_rollout_status(JsonValue& status, const RolloutState& rollout, WallTime now);

}  // namespace berth::memapi
