// What the scheduler holds in memory, as text for people (SIGUSR2, shell.md §8), and whether that
// agrees with what the watch has shown. World thread.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"

namespace berth {

// Each node with what is requested, what it has, and its pods.
std::string dump_nodes(Engine& engine);

struct QueueDump {
  std::string summary;  // "activeQ:0; backoffQ:0; unschedulableEntities:0"
  std::string pods;     // one line each
};
QueueDump dump_queue(Engine& engine);

// Pods that the watch has shown and that are neither on a node nor in the queue, and pods on nodes
// that it has not; by UID.
struct CacheMismatch {
  std::vector<std::string> missed_pods;
  std::vector<std::string> redundant_pods;

  bool empty() const { return missed_pods.empty() && redundant_pods.empty(); }
};
// `ours` are the scheduler names of the profiles: pods of others wait for others.
CacheMismatch compare_cache(Engine& engine, const std::vector<std::string>& ours);

}  // namespace berth
