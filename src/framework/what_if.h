// WhatIf: adds pods to and removes them from nodes for a trial, in the cluster's columns and in the
// plugins' PreFilter state. All edits are undone, in reverse, when it goes out of scope. Used for
// nominated pods and for preemption.
#pragma once

#include <cstddef>
#include <vector>

#include "berth/views.h"
#include "cluster/trial.h"
#include "framework/framework.h"

namespace berth {

class WhatIf {
 public:
  WhatIf(const Framework& framework, Cycle& cycle, Cluster& cluster)
      : framework_(framework), cycle_(cycle), trial_(cluster) {}
  ~WhatIf() { undo_to(0); }
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // The edit is made even when a plugin's extension fails; the caller gives up then.
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
