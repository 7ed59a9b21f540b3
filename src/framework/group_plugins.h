// The extension points of groups of pods (PodGroups), which only the cycle of a group calls:
//
//   PlacementGenerate ► for each placement: PlacementFeasible, the members' own search, one after
//                       the other ► PlacementScore ► the best one
//                     └► none is feasible: PodGroupPostFilter
//
// World thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/pod_group.h"
#include "berth/handle.h"
#include "berth/plugin.h"
#include "berth/task.h"
#include "cluster/group_states.h"

namespace berth {

class Framework;

// The groups of one scheduler.
inline std::shared_ptr<GroupStates> group_states(SharedParts& shared) {
  return shared.get<GroupStates>([] { return std::make_shared<GroupStates>(); });
}

// How far the placing of a group's pods is.
struct PlacementProgress {
  std::size_t remaining = 0;  // not tried yet
  std::size_t scheduled = 0;  // on nodes, those that this cycle has placed included
};

class PlacementFeasiblePlugin : public virtual Plugin {
 public:
  // Success: enough pods are placed. Wait: not yet, but they may be. A rejection: they cannot be.
  virtual Outcome placement_feasible(const PodGroup& group, PlacementProgress progress) const = 0;
};

// A member of the group whose cycle is open.
struct GroupMember {
  Ref<const Pod> pod;
  Cycle* cycle = nullptr;
  NodeRow row = kNoRow;  // where the last run placed it
};

// A set of nodes among which all members are to be placed.
struct Placement {
  std::string name;
  NodeSet nodes;
};

class PlacementGeneratePlugin : public virtual Plugin {
 public:
  struct Generated {
    Outcome outcome;
    std::vector<Placement> placements;
  };
  // `scheduled`: the group's pods that are on nodes; may be null.
  virtual Generated generate(const PodGroup& group, const GroupState* scheduled,
                             const Cluster& cluster) const = 0;
};

// What PlacementScore plugins are asked about: a placement, and where on it the members would be.
struct TriedPlacement {
  const PodGroup& group;
  const NodeSet& nodes;
  std::size_t scheduled = 0;  // the group's pods on nodes, with those that this try would place
  std::span<const GroupMember> members;
};

class PlacementScorePlugin : public virtual Plugin {
 public:
  virtual Score score_placement(const TriedPlacement& placement, const Cluster& cluster) const = 0;
  // Brings the scores of all placements into [0, 100].
  virtual void normalize_placements(std::span<Score>) const {}
};

// A group that cannot be placed, as PodGroupPostFilter plugins see it.
class UnplacedGroup {
 public:
  virtual ~UnplacedGroup() = default;
  virtual const PodGroup& group() const = 0;
  virtual const Framework& framework() const = 0;
  virtual std::span<const GroupMember> members() const = 0;
  virtual bool has_scheduled_members() const = 0;
  // Tries again to place the group, in the cluster as it is now. What is placed is undone before it
  // returns; with Success the rows of members() say where it was, in the order of their placing.
  virtual Task<Outcome> schedule() = 0;
};

struct GroupPostFilterResult {
  Outcome outcome;
  std::map<Uid, std::string> nominations;  // with Success: the members' nodes
};

class PodGroupPostFilterPlugin : public virtual Plugin {
 public:
  virtual Task<GroupPostFilterResult> post_filter_group(UnplacedGroup& group) const = 0;
};

}  // namespace berth
