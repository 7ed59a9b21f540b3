#include "sim/quorum.h"

#include <fmt/format.h>

namespace berth::sim {

Quorum::Quorum(QuorumRule rule, const Handle& handle)
    : rule_(std::move(rule)), handle_(handle), symbols_(handle.cluster.symbol_table()) {
  label_ = symbols_.intern(rule_.label);
}

Symbol Quorum::group_of(const Pod& pod) const { return pod.labels().get(label_); }

// A group that failed is tried again when one more of it may have come, or a place has become free.
std::optional<std::vector<EventRegistration>> Quorum::events_to_register() const {
  return std::vector<EventRegistration>{
      {{EventResource::kPod, action::kAdd | action::kDelete, {}}, {}},
      {{EventResource::kNode, action::kAdd, {}}, {}}};
}

Outcome Quorum::reserve(Cycle& cycle, std::string_view) const {
  const Pod& pod = cycle.pod();
  if (const Symbol group = group_of(pod); !group.empty())
    placed_[{pod.meta().namespace_name, group}].insert(pod.uid());
  return {};
}

void Quorum::unreserve(Cycle& cycle, std::string_view) const {
  const Pod& pod = cycle.pod();
  const auto found = placed_.find({pod.meta().namespace_name, group_of(pod)});
  if (found == placed_.end() || found->second.erase(pod.uid()) == 0) return;
  const std::set<Uid> others = found->second;
  for (const Uid& uid : others)
    handle_.waiting_pods.reject(
        uid, name(), fmt::format("pod {} of the group is not coming", pod.full_name()));
}

PermitResult Quorum::permit(Cycle& cycle, std::string_view) const {
  const Pod& pod = cycle.pod();
  const Symbol group = group_of(pod);
  if (group.empty()) return {};
  const std::set<Uid>& placed = placed_[{pod.meta().namespace_name, group}];
  if (static_cast<std::int64_t>(placed.size()) < rule_.quorum)
    return PermitResult::wait(rule_.timeout, fmt::format("waiting for {} pods of group {}",
                                                         rule_.quorum, pod.text(group)));
  for (const Uid& uid : placed) handle_.waiting_pods.allow(uid, name());
  return {};
}

}  // namespace berth::sim
