#include "queue/unschedulable.h"

#include <algorithm>
#include <utility>

namespace berth {

void UnschedulablePods::put(Slot slot) {
  QueueEntry& entry = entries_[slot];
  const std::uint32_t number = group_for(entry.queued);
  if (entry.place == QueuePlace::kUnschedulable) {
    if (entry.group == number) return;
    leave_group(slot);
  }
  Group& group = groups_[number];
  entry.place = QueuePlace::kUnschedulable;
  entry.group = number;
  entry.position = static_cast<std::uint32_t>(group.members.size());
  group.members.push_back(slot);
  ++size_;
  if (group.gated()) ++gated_;
}

void UnschedulablePods::remove(Slot slot) {
  leave_group(slot);
  entries_[slot].place = QueuePlace::kNowhere;
}

void UnschedulablePods::leave_group(Slot slot) {
  const QueueEntry& entry = entries_[slot];
  Group& group = groups_[entry.group];
  const Slot last = group.members.back();
  group.members[entry.position] = last;
  entries_[last].position = entry.position;
  group.members.pop_back();
  --size_;
  if (group.gated()) --gated_;
  if (!group.members.empty()) return;
  group_numbers_.erase(key_of(group));
  group = Group{};
  free_groups_.push_back(entry.group);
}

std::uint32_t UnschedulablePods::group_for(QueuedPod& queued) {
  share_names(queued.unschedulable_plugins);
  share_names(queued.pending_plugins);
  Group group{hints_.profile_of(*queued.pod),
              queued.unschedulable_plugins,
              queued.pending_plugins,
              queued.gating_plugin,
              {}};
  Key key = key_of(group);
  if (const auto found = group_numbers_.find(key); found != group_numbers_.end())
    return found->second;
  std::uint32_t number = static_cast<std::uint32_t>(groups_.size());
  if (free_groups_.empty()) {
    groups_.push_back(std::move(group));
  } else {
    number = free_groups_.back();
    free_groups_.pop_back();
    groups_[number] = std::move(group);
  }
  group_numbers_.emplace(std::move(key), number);
  return number;
}

void UnschedulablePods::share_names(PluginNames& names) {
  if (names.empty()) return;
  names = *names_.insert(names).first;
  if (names_.size() < prune_names_at_) return;
  // Sets that no pod has any more go, or they would pile up over the weeks.
  std::erase_if(names_, [](const PluginNames& kept) { return kept.shared_by() == 1; });
  prune_names_at_ = std::max<std::size_t>(64, 2 * names_.size());
}

}  // namespace berth
