// ScheduleProfile: a profile as the scheduling cycles see it.
#pragma once

#include <cstdint>
#include <memory>

#include "berth/symbols.h"
#include "cycle/batching_counts.h"
#include "framework/framework.h"

namespace berth {

struct ScheduleProfile {
  const Framework* framework = nullptr;
  Symbol scheduler_name;
  std::int32_t percentage_of_nodes_to_score = 0;
  // With the gate OpportunisticBatching; `signs` if pods of this profile may have signatures.
  std::shared_ptr<BatchingCounts> batching = nullptr;
  bool signs = false;
};

}  // namespace berth
