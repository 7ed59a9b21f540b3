// What scenario events do to the cluster of a simulation.
#pragma once

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "berth/waiting_pods.h"
#include "sim/scenario.h"
#include "sim/sim_cluster.h"
#include "sim/workloads.h"

namespace berth::sim {

struct Stage {
  VirtualLoop& loop;
  Interner& interner;
  SimCluster& cluster;
  Workloads& workloads;
  WaitingPods& waiting_pods;
};

Result<void> perform(const ScenarioAction& action, const Stage& stage);

// "cordon node-3": for the timeline.
std::string describe(const ScenarioAction& action);

}  // namespace berth::sim
