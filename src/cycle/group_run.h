// GroupRun: one attempt to place a PodGroup, from its first member's search to the verdict about the
// group. Part of GroupCycle.
//
//   decide(): for each placement (the whole cluster, or a topology domain)
//               try_members(): search, assume and Reserve, one member after the other
//               undo()
//             the best one is tried again, or was the only one, and stays
//
// World thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/task.h"
#include "cycle/attempt.h"
#include "cycle/binding_cycle.h"
#include "cycle/schedule_profile.h"
#include "framework/group_plugins.h"
#include "search/node_search.h"

namespace berth {

inline constexpr std::string_view kGroupUnschedulable = "pod group is unschedulable";

class GroupRun final : public UnplacedGroup {
 public:
  // What came of the last try of a member.
  struct Try {
    std::optional<Outcome> outcome;  // nullopt: it was not tried
    std::optional<Nominating> nominating;
    std::size_t evaluated = 0;
    std::size_t feasible = 0;
    std::int64_t score = 0;
  };
  struct Member : Try {
    explicit Member(std::unique_ptr<Attempt> popped) : attempt(std::move(popped)) {}

    std::unique_ptr<Attempt> attempt;
    NodeRow row = kNoRow;  // while it is assumed
    bool was_nominated = false;
  };

  GroupRun(const CycleCollaborators& with, NodeSearch& search, Ref<const PodGroup> group,
           const GroupState* state, const ScheduleProfile& profile, bool placements)
      : with_(with),
        search_(search),
        group_(std::move(group)),
        state_(state),
        profile_(profile),
        placements_(placements),
        feasibility_(find_feasibility()) {}

  void add(std::unique_ptr<Attempt> attempt) { members_.emplace_back(std::move(attempt)); }
  std::vector<Member>& tried() { return members_; }

  // Places the group, or says why it cannot be placed. With Success its members are assumed and
  // reserved; else nothing has changed.
  Task<Outcome> decide();
  // Gives up all that is placed, the last first.
  void undo();
  void give_up_place(Member& member);
  // What PodGroupPostFilter plugins could do about `verdict`, which gets their texts.
  Task<void> post_filter(Outcome& verdict);
  // A plugin makes room: the members are nominated to these nodes.
  bool waits_for_preemption() const { return waits_for_preemption_; }
  const std::string* nomination_of(const Pod& pod) const;

  // ---- UnplacedGroup
  const PodGroup& group() const override { return *group_; }
  const Framework& framework() const override { return *profile_.framework; }
  std::span<const GroupMember> members() const override { return views_; }
  bool has_scheduled_members() const override { return state_ && state_->scheduled() > 0; }
  Task<Outcome> schedule() override;

 private:
  const PlacementFeasiblePlugin* find_feasibility() const;
  Outcome feasible(PlacementProgress progress) const;
  Task<Outcome> decide_among_placements();
  // nullptr: among all nodes.
  Task<Outcome> try_members(const NodeSet* placement);
  Task<void> try_member(Member& member, const NodeSet* placement);
  Outcome take_place(Member& member, NodeRow row);
  void show_members();
  std::vector<Try> tries() const { return {members_.begin(), members_.end()}; }
  void restore(std::vector<Try> tries);
  std::size_t best_of(std::vector<std::vector<Score>>& raw) const;
  std::size_t scheduled_before() const { return state_ ? state_->scheduled() : 0; }

  CycleCollaborators with_;
  NodeSearch& search_;
  const Ref<const PodGroup> group_;
  const GroupState* const state_;
  const ScheduleProfile& profile_;
  const bool placements_;
  const PlacementFeasiblePlugin* const feasibility_;  // null: one placed pod is enough
  std::vector<Member> members_;
  std::vector<GroupMember> views_;
  std::map<Uid, std::string> nominations_;
  bool waits_for_preemption_ = false;
};

}  // namespace berth
