// WhatIf: pods put on and taken off nodes for the sake of a question, in the cluster's columns and
// in what the plugins remember of their PreFilter. Everything is put back, in reverse, when it goes
// out of scope. Nominated pods, preemption and groups ask their questions this way.
#pragma once

#include <cstddef>
#include <vector>

#include "cluster/cluster.h"
#include "framework/framework.h"

namespace berth {

class WhatIf {
 public:
  WhatIf(const Framework& framework, Cycle& cycle, Cluster& cluster)
      : framework_(framework), cycle_(cycle), trial_(cluster) {}
  ~WhatIf() { undo_to(0); }
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // The edit stands even when a plugin's extension fails; the caller gives up then.
  Outcome add(Ref<const Pod> pod, NodeRow row);
  Outcome remove(Ref<const Pod> pod, NodeRow row);

  std::size_t edits() const { return edits_.size(); }
  void undo_to(std::size_t edits);

 private:
  struct Edit {
    bool added;
    Ref<const Pod> pod;
    NodeRow row;
  };
  const Framework& framework_;
  Cycle& cycle_;
  Trial trial_;
  std::vector<Edit> edits_;
};

}  // namespace berth
