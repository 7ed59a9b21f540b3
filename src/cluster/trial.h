// Trial: "what if these pods were (not) here?" Edits the real columns and puts everything back, in
// reverse, when it goes out of scope. The change log, generations, and the lists of placed and
// assumed pods do not change. Trials nest like scopes do; the cluster itself does not change while
// one has edits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/views.h"

namespace berth {

class Trial {
 public:
  explicit Trial(Cluster& cluster) : cluster_(cluster) {}
  ~Trial() { undo_to(0); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  void add(Ref<const Pod> pod, NodeRow row);
  void remove(Ref<const Pod> pod, NodeRow row);  // of a pod that is on the row

  // How many edits there are, and back to an earlier count.
  std::size_t edits() const { return edits_.size(); }
  void undo_to(std::size_t edits);

 private:
  struct Edit {
    bool added;
    Ref<const Pod> pod;
    NodeRow row;
    std::uint32_t position;       // of the pod on the row
    std::vector<HostPort> ports;  // in use on the row before, if the pod has any
    std::uint64_t depth;          // how many edits there were, of all trials, with this one
  };
  // Whether there are ports on the row that the pod changes.
  static bool has_ports(const Pod& pod, NodeRow row);

  Cluster& cluster_;
  std::vector<Edit> edits_;
};

}  // namespace berth
