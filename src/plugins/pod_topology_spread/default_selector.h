// The pods that a pod without constraints of its own is spread with: those of its Services and of
// the ReplicationController, ReplicaSet or StatefulSet that controls it (plugins.md §4).
#pragma once

#include <cstdint>

#include "berth/labels.h"
#include "berth/pod.h"
#include "berth/views.h"
#include "plugins/recent_answers.h"

namespace berth::plugins {

// is_empty() when there is no such object.
Selector default_selector(const Pod& pod, const Cluster& cluster);

// The same, remembered for siblings of a pod as long as none of those objects change.
class DefaultSelectors {
 public:
  explicit DefaultSelectors(const Cluster& cluster) : cluster_(cluster) {}

  // Valid until the next call.
  const Selector& of(const Pod& pod);

 private:
  struct Remembered {
    std::uint64_t generation = 0;
    Selector selector;
  };
  const Cluster& cluster_;
  RecentAnswers<PodMeta, Remembered> recent_;
};

}  // namespace berth::plugins
