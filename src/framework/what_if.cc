#include "framework/what_if.h"

#include <utility>

namespace berth {

Outcome WhatIf::add(Ref<const Pod> pod, NodeRow row) {
  trial_.add(pod, row);
  edits_.push_back({true, pod, row});
  return framework_.run_add_pod(cycle_, *pod, row);
}

Outcome WhatIf::remove(Ref<const Pod> pod, NodeRow row) {
  trial_.remove(pod, row);
  edits_.push_back({false, pod, row});
  return framework_.run_remove_pod(cycle_, *pod, row);
}

void WhatIf::undo_to(std::size_t edits) {
  while (edits_.size() > edits) {
    const Edit edit = std::move(edits_.back());
    edits_.pop_back();
    trial_.undo_to(edits_.size());
    // A plugin's failure was reported when the edit was made; one while undoing it is ignored.
    if (edit.added)
      framework_.run_remove_pod(cycle_, *edit.pod, edit.row);
    else
      framework_.run_add_pod(cycle_, *edit.pod, edit.row);
  }
}

}  // namespace berth
