#include "cluster/group_states.h"

#include <utility>

namespace berth {

void GroupStates::see(const Ref<const Pod>& pod) {
  using enum GroupState::Stage;
  GroupState& state = states_[pod_group_of(*pod)];
  const GroupState::Stage arrives = pod->node().empty() ? kUnscheduled : kAssigned;
  const auto [known, is_new] = state.members.try_emplace(pod->uid(), GroupState::Member{});
  GroupState::Member& member = known->second;
  const bool stays = !is_new && arrives == kUnscheduled;
  const GroupState::Stage stage = stays ? member.stage : arrives;
  if (!is_new) --state.counts[static_cast<std::size_t>(member.stage)];
  member = {pod, stage};
  ++state.counts[static_cast<std::size_t>(stage)];
}

void GroupStates::remove(const Pod& pod) {
  const auto state = states_.find(pod_group_of(pod));
  if (state == states_.end()) return;
  const auto member = state->second.members.find(pod.uid());
  if (member == state->second.members.end()) return;
  --state->second.counts[static_cast<std::size_t>(member->second.stage)];
  // Its pods are what holds the symbols of the key.
  if (state->second.members.size() == 1)
    states_.erase(state);
  else
    state->second.members.erase(member);
}

void GroupStates::move(const Pod& pod, GroupState::Stage stage) {
  const auto state = states_.find(pod_group_of(pod));
  if (state == states_.end()) return;
  const auto member = state->second.members.find(pod.uid());
  // A pod that the watch shows on a node is there, whatever became of our own attempt.
  if (member == state->second.members.end() || member->second.stage == GroupState::Stage::kAssigned)
    return;
  --state->second.counts[static_cast<std::size_t>(member->second.stage)];
  member->second.stage = stage;
  ++state->second.counts[static_cast<std::size_t>(stage)];
}

void GroupStates::hold(const Pod& pod) {
  if (const auto state = states_.find(pod_group_of(pod)); state != states_.end())
    state->second.held.push_back(pod.uid());
}

std::vector<Uid> GroupStates::take_held(GroupKey key) {
  const auto state = states_.find(key);
  return state == states_.end() ? std::vector<Uid>() : std::exchange(state->second.held, {});
}

const GroupState* GroupStates::find(GroupKey key) const {
  const auto state = states_.find(key);
  return state == states_.end() ? nullptr : &state->second;
}

}  // namespace berth
