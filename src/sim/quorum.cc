#include "sim/quorum.h"

#include <fmt/format.h>

namespace berth::sim {

Quorum::Quorum(QuorumRule rule, const Handle& handle)
    : rule_(std::move(rule)), handle_(handle), symbols_(handle.cluster.symbol_table()) {
  label_ = symbols_.intern(rule_.label);
}

Quorum::Group Quorum::group_of(const Pod& pod) const {
  return {pod.meta().namespace_name, pod.labels().get(label_)};
}

// Whoever was turned away is woken by the next of the group that arrives, not by events.
std::optional<std::vector<EventRegistration>> Quorum::events_to_register() const {
  return std::vector<EventRegistration>();
}

Outcome Quorum::reserve(Cycle& cycle, std::string_view) {
  const Group group = group_of(cycle.pod());
  if (group.second.empty()) return {};
  placed_[group].insert(cycle.pod().uid());
  turned_away_[group].erase(cycle.pod().uid());
  return {};
}

void Quorum::unreserve(Cycle& cycle, std::string_view) {
  const Pod& pod = cycle.pod();
  const Group group = group_of(pod);
  const auto found = placed_.find(group);
  if (found == placed_.end() || found->second.erase(pod.uid()) == 0) return;
  turned_away_[group].emplace(pod.uid(), cycle.pod_ref());
  const std::set<Uid> others = found->second;
  for (const Uid& uid : others)
    handle_.waiting_pods.reject(uid, name(),
                                fmt::format("pod {} of the group is not coming", pod.full_name()));
}

PermitResult Quorum::permit(Cycle& cycle, std::string_view) {
  const Pod& pod = cycle.pod();
  const Group group = group_of(pod);
  if (group.second.empty()) return {};
  std::set<Uid>& placed = placed_[group];
  // Pods that were bound and have gone since.
  std::erase_if(placed, [&](const Uid& uid) { return !handle_.cluster.placed(uid); });
  if (static_cast<std::int64_t>(placed.size()) < rule_.quorum) {
    for (const auto& [uid, sleeper] : turned_away_[group])
      cycle.pods_to_activate.push_back(sleeper);
    return PermitResult::wait(rule_.timeout, fmt::format("waiting for {} pods of group {}",
                                                         rule_.quorum, pod.text(group.second)));
  }
  for (const Uid& uid : placed) handle_.waiting_pods.allow(uid, name());
  return {};
}

}  // namespace berth::sim
