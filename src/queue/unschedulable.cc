#include "queue/unschedulable.h"

#include <algorithm>
#include <utility>

#include "base/hash_pointers.h"

namespace berth {

void UnschedulablePods::put(Slot slot) {
  QueueEntry& entry = entries_[slot];
  const std::uint32_t group = group_for(entry.queued);
  const std::uint32_t number = class_for(group, entry.pod());
  if (entry.place == QueuePlace::kUnschedulable) {
    if (entry.pod_class == number) return;
    leave_class(slot);
  } else {
    entry.moves_before = moves_;
  }
  Class& alike = classes_[number];
  entry.place = QueuePlace::kUnschedulable;
  entry.pod_class = number;
  entry.position = static_cast<std::uint32_t>(alike.members.size());
  alike.members.push_back(slot);
  ++size_;
  if (groups_[group].gated()) ++gated_;
}

void UnschedulablePods::remove(Slot slot) {
  leave_class(slot);
  entries_[slot].place = QueuePlace::kNowhere;
  if (size_ > 0) return;
  classes_.clear();
  free_classes_.clear();
}

void UnschedulablePods::leave_class(Slot slot) {
  const QueueEntry& entry = entries_[slot];
  Class& alike = classes_[entry.pod_class];
  const Slot last = alike.members.back();
  alike.members[entry.position] = last;
  entries_[last].position = entry.position;
  alike.members.pop_back();
  --size_;
  if (groups_[alike.group].gated()) --gated_;
  if (!alike.members.empty()) return;
  class_numbers_.erase(hash_of(alike), entry.pod_class);
  leave_group(entry.pod_class);
  alike = Class{};
  free_classes_.push_back(entry.pod_class);
}

// A class without members is none of its group's any more.
void UnschedulablePods::leave_group(std::uint32_t number) {
  const Class& alike = classes_[number];
  Group& group = groups_[alike.group];
  const std::uint32_t last = group.classes.back();
  group.classes[alike.position] = last;
  classes_[last].position = alike.position;
  group.classes.pop_back();
  if (!group.classes.empty()) return;
  group_numbers_.erase(key_of(group));
  free_groups_.push_back(alike.group);
  group = Group{};
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

std::uint32_t UnschedulablePods::hash_of(const Class& alike) {
  const std::size_t pods = hash_pointers({alike.spec.get(), alike.meta.get(), alike.only});
  return static_cast<std::uint32_t>(pods) ^ alike.group * 0x9e3779b9U;
}

std::uint32_t UnschedulablePods::class_for(std::uint32_t group, const Pod& pod) {
  Class alike;
  alike.group = group;
  alike.spec = Ref<const PodSpec>(&pod.spec());
  alike.meta = Ref<const PodMeta>(&pod.meta());
  if (pod.extra() && pod.extra()->has_resources()) alike.only = &pod;
  const std::uint32_t hash = hash_of(alike);
  const std::uint32_t found = class_numbers_.find(hash, [&](std::uint32_t number) {
    const Class& known = classes_[number];
    return known.group == group && known.spec == alike.spec && known.meta == alike.meta &&
           known.only == alike.only;
  });
  if (found != HashIndex::kNone) return found;
  alike.position = static_cast<std::uint32_t>(groups_[group].classes.size());
  std::uint32_t number = static_cast<std::uint32_t>(classes_.size());
  if (free_classes_.empty()) {
    classes_.push_back(std::move(alike));
  } else {
    number = free_classes_.back();
    free_classes_.pop_back();
    classes_[number] = std::move(alike);
  }
  groups_[group].classes.push_back(number);
  class_numbers_.insert(hash, number);
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
