// GroupStates: which pods each PodGroup has, and how far they are. Only with the gate
// GenericWorkload; one for all profiles (Handle::shared).
//
//   unscheduled ── the group's cycle commits ──► assumed ── the watch confirms ──► assigned
//        ▲                                          │
//        └───────────── its binding failed ─────────┘
//
// Pending pods count if they are of one of our profiles, pods on nodes whoever put them there. A
// pod that a cycle only tries on a node is unscheduled here. World thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "api/pod_group.h"
#include "berth/pod.h"
#include "berth/symbols.h"

namespace berth {

struct GroupKey {
  Symbol namespace_name;
  Symbol name;

  friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
};

inline bool in_group(const Pod& pod) { return !pod.spec().scheduling_group.empty(); }
inline GroupKey pod_group_of(const Pod& pod) {
  return {pod.meta().namespace_name, pod.spec().scheduling_group};
}
inline GroupKey group_key(const PodGroup& group) { return {group.namespace_name, group.symbol}; }

struct GroupState {
  enum class Stage : std::uint8_t { kUnscheduled, kAssumed, kAssigned };
  struct Member {
    Ref<const Pod> pod;
    Stage stage;
  };

  std::size_t all() const { return members.size(); }
  std::size_t scheduled() const { return counts[1] + counts[2]; }

  std::map<Uid, Member> members;
  std::array<std::size_t, 3> counts{};  // by stage
  std::vector<Uid> held;                // at Permit, until the group is complete
};

class GroupStates {
 public:
  // ---- of pods in groups, from ingest and the cycles
  // The watch shows the pod. A pod that is assumed stays so until it has a node.
  void see(const Ref<const Pod>& pod);
  void remove(const Pod& pod);
  // The pod has taken its place, or has given it up again.
  void assume(const Pod& pod) { move(pod, GroupState::Stage::kAssumed); }
  void forget(const Pod& pod) { move(pod, GroupState::Stage::kUnscheduled); }

  // The pod waits at Permit for others of its group. take_held() gives all that do, once.
  void hold(const Pod& pod);
  std::vector<Uid> take_held(GroupKey key);

  // Null when no pod names the group.
  const GroupState* find(GroupKey key) const;
  std::size_t groups() const { return states_.size(); }

 private:
  void move(const Pod& pod, GroupState::Stage stage);

  std::map<GroupKey, GroupState> states_;
};

}  // namespace berth
