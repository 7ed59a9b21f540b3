#include "queue/group_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "queue/scheduling_queue.h"

namespace berth {
namespace {

// The plugin whose gate opens by the number of a group's pods alone.
constexpr std::string_view kGangScheduling = "GangScheduling";

// Upstream's order of the members of a group.
bool is_tried_before(const QueuedPod& a, const QueuedPod& b) {
  return std::make_tuple(-std::int64_t{a.pod->priority()}, -a.attempts, a.timestamp.since_epoch,
                         a.pod->name()) < std::make_tuple(-std::int64_t{b.pod->priority()},
                                                          -b.attempts, b.timestamp.since_epoch,
                                                          b.pod->name());
}

std::optional<GroupKey> group_in(const AnyObject& object) {
  const auto* pod = std::get_if<Ref<const Pod>>(&object);
  if (!pod || !*pod || !in_group(**pod)) return std::nullopt;
  return pod_group_of(**pod);
}

}  // namespace

// ---- PodGroups ----------------------------------------------------------------------------------

void GroupQueue::put_group(Ref<const PodGroup> group) {
  const At at = groups_.try_emplace(group_key(*group)).first;
  const bool known = static_cast<bool>(at->second.object);
  at->second.object = std::move(group);
  if (known) return ask_again(at, "scheduling.k8s.io/PodGroupUpdate");
  // All at once: one that is tried with the first of its pods alone would fail for nothing.
  Members arrived = std::exchange(at->second.waiting, {});
  sizes_.incomplete -= arrived.size();
  if (arrived.empty()) return;
  QueuedPod first = stand_in(*at->second.object);
  const auto earliest = std::ranges::min_element(arrived, {}, [](const auto& member) {
    return std::make_pair(member.second.timestamp.since_epoch, member.second.sequence);
  });
  first.timestamp = earliest->second.timestamp;
  first.initial_attempt = earliest->second.initial_attempt;
  at->second.members = std::move(arrived);
  make_entity(at, std::move(first));
  to_active(at, queue_.add_label_);
}

void GroupQueue::remove_group(const PodGroup& group) {
  const At at = groups_.find(group_key(group));
  if (at == groups_.end() || !at->second.object) return;
  if (at->second.slot != kNoSlot) {
    leave(at);
    drop_entity(at);
  }
  Members members = std::exchange(at->second.members, {});
  // Those that are pending are incomplete now, too.
  sizes_.pending -= at->second.waiting.size();
  sizes_.incomplete += at->second.waiting.size();
  at->second.object = nullptr;
  for (auto& [uid, member] : members) keep_waiting(at, std::move(member));
  erase_if_empty(at);
}

// ---- their pods ---------------------------------------------------------------------------------

void GroupQueue::add(Ref<const Pod> pod) {
  queue_.nominations_.add(*pod, std::nullopt);
  remove(*pod);  // another version that nobody had removed
  QueuedPod queued;
  queued.timestamp = queue_.now();
  queued.sequence = ++queue_.last_sequence_;
  queued.pod = std::move(pod);
  const Uid uid = queued.pod->uid();
  const GroupKey key = pod_group_of(*queued.pod);
  insert(key, std::move(queued), queue_.add_label_);
  queue_.nominations_.moved(uid);
}

void GroupQueue::insert(GroupKey key, QueuedPod member, std::string_view label) {
  const At at = groups_.try_emplace(key).first;
  Group& group = at->second;
  if (!group.object || in_cycle_ == key) return keep_waiting(at, std::move(member));
  if (group.slot != kNoSlot) return join(at, std::move(member), label);
  QueuedPod first = stand_in(*group.object);
  first.timestamp = member.timestamp;
  first.initial_attempt = member.initial_attempt;
  // Upstream tries a pod whose binding failed at once, however often that happens.
  first.unschedulable_count = member.unschedulable_count;
  first.consecutive_errors = member.consecutive_errors;
  const Uid uid = member.pod->uid();
  group.members.emplace(uid, std::move(member));
  make_entity(at, std::move(first));
  if (backing_off(at))
    to_backoff(at, label, std::nullopt);
  else
    to_active(at, label);
}

// The member joins an entity that is queued. The others have been asked about when that entered its
// queue.
void GroupQueue::join(At at, QueuedPod member, std::string_view label) {
  Group& group = at->second;
  QueuedPod& joined = group.members.emplace(member.pod->uid(), std::move(member)).first->second;
  if (group.gate) {
    ++sizes_.gated;
    report_member(joined, QueueName::kGated, label);
    return ask_again(at, label);
  }
  const bool active = queue_.entries_[group.slot].place == QueuePlace::kActive;
  ++(active ? sizes_.active : sizes_.backoff);
  report_member(joined, active ? QueueName::kActive : QueueName::kBackoff, label);
  if (refused(at, joined)) {
    leave(at);
    to_gated(at, label, std::nullopt);
  } else if (active && !joined.initial_attempt) {
    joined.initial_attempt = queue_.now();
  }
}

void GroupQueue::update(const Ref<const Pod>& before, Ref<const Pod> after) {
  const At at = groups_.find(pod_group_of(*after));
  if (at == groups_.end()) return add(std::move(after));
  for (Members* members : {&at->second.waiting, &at->second.members}) {
    const auto member = members->find(after->uid());
    if (member == members->end()) continue;
    queue_.nominations_.update(*before, *after);
    member->second.pod = std::move(after);
    if (members == &at->second.members && at->second.gate)
      ask_again(at, events::kUnscheduledPodAdd.label());
    return;
  }
  add(std::move(after));
}

void GroupQueue::remove(const Pod& pod) {
  const At at = groups_.find(pod_group_of(pod));
  if (at == groups_.end()) return;
  Group& group = at->second;
  if (const auto waiting = group.waiting.find(pod.uid()); waiting != group.waiting.end()) {
    queue_.count_rejectors(take_waiting(at, waiting), -1);
  } else if (const auto member = group.members.find(pod.uid()); member != group.members.end()) {
    queue_.count_rejectors(member->second, -1);
    const bool was_gated = group.gate.has_value();
    if (was_gated)
      --sizes_.gated;
    else
      --(queue_.entries_[group.slot].place == QueuePlace::kActive ? sizes_.active : sizes_.backoff);
    group.members.erase(member);
    if (group.members.empty()) {
      leave(at);
      drop_entity(at);
    } else {
      ask_again(at, queue_.add_label_);
    }
  }
  erase_if_empty(at);
}

void GroupQueue::activate(const Ref<const Pod>& pod) {
  const At at = groups_.find(pod_group_of(*pod));
  if (at == groups_.end() || !at->second.object) return;
  const std::string_view label = events::kForceActivate.custom_label;
  if (at->second.gate) {
    if (!refused(at)) to_active(at, label, /*ask_plugins=*/false);
  } else if (at->second.slot != kNoSlot &&
             queue_.entries_[at->second.slot].place != QueuePlace::kActive) {
    leave(at);
    to_active(at, label, !queue_.options_.pop_from_backoff);
  } else if (queue_.in_flight_.contains(pod->uid())) {
    queue_.in_flight_.record(events::kForceActivate, {}, pod);
  }
}

void GroupQueue::event(const ClusterEvent& event, const AnyObject& before, const AnyObject& after) {
  if (gated_by_.empty()) return;
  std::set<GroupKey> concerned;
  for (const auto& [plugin, keys] : gated_by_) {
    if (!queue_.hints_.concerns_gate(plugin, event)) continue;
    if (plugin != kGangScheduling || event.is_wildcard()) {
      concerned.insert(keys.begin(), keys.end());
      continue;
    }
    // Its gate depends on the group's own pods only.
    for (const AnyObject* object : {&before, &after})
      if (const std::optional<GroupKey> key = group_in(*object); key && keys.contains(*key))
        concerned.insert(*key);
  }
  const std::string label = event.label();
  for (const GroupKey& key : concerned)
    if (const At at = groups_.find(key); at != groups_.end()) ask_again(at, label);
}

// ---- to the group's cycle and back ------------------------------------------------------------

std::optional<QueuedPod> GroupQueue::pop(Slot slot) {
  const At at = groups_.find(by_slot_.at(slot));
  Group& group = at->second;
  leave(at);
  by_slot_.erase(slot);
  QueuedGroup popped;
  popped.entity = queue_.entries_.take(std::exchange(group.slot, kNoSlot));
  popped.group = group.object;
  ++popped.entity.attempts;
  for (auto& [uid, member] : std::exchange(group.members, {})) {
    queue_.nominations_.moved(uid);
    queue_.count_rejectors(member, -1);
    ++member.attempts;
    if (queue_.in_flight_.begin(uid))
      popped.members.push_back(std::move(member));
    else
      queue_.observer_.internal_error(
          fmt::format("Discarding the popped pod group member: the same pod is tracked in multiple "
                      "places in the scheduler: {}",
                      member.pod->full_name()));
  }
  if (popped.members.empty()) {
    queue_.observer_.internal_error(
        fmt::format("all pods from the pod group are tracked in multiple places in the scheduler: "
                    "{}",
                    popped.group->name));
    return std::nullopt;
  }
  std::ranges::sort(popped.members, is_tried_before);
  in_cycle_ = at->first;
  QueuedPod entity = popped.entity;
  popped_ = std::move(popped);
  return entity;
}

std::optional<QueuedGroup> GroupQueue::take_popped() {
  return std::exchange(popped_, std::nullopt);
}

Result<void> GroupQueue::return_failed(QueuedPod member) {
  if (find(*member.pod)) {
    queue_.in_flight_.end(member.pod->uid());
    return fail(ErrorKind::kConflict,
                fmt::format("Pod {} is already present in the queue", member.pod->full_name()));
  }
  if (member.has_rejectors()) {
    ++member.unschedulable_count;
    member.consecutive_errors = 0;
  } else {
    ++member.consecutive_errors;
  }
  const Uid uid = member.pod->uid();
  queue_.in_flight_.end(uid);
  member.timestamp = queue_.now();
  member.sequence = ++queue_.last_sequence_;
  member.backoff_expiration.reset();
  member.flushed.reset();
  member.tried_after_flush = false;
  queue_.count_rejectors(member, +1);
  const GroupKey key = pod_group_of(*member.pod);
  insert(key, std::move(member), queue_.add_label_);
  queue_.nominations_.moved(uid);
  return {};
}

void GroupQueue::attempted(QueuedPod entity, const std::set<Uid>& members, GroupEnd end) {
  const std::optional<GroupKey> key = std::exchange(in_cycle_, std::nullopt);
  const At at = key ? groups_.find(*key) : groups_.end();
  if (at == groups_.end()) return;
  Group& group = at->second;
  if (!group.object || group.waiting.empty()) return erase_if_empty(at);
  group.members = std::exchange(group.waiting, {});
  sizes_.pending -= group.members.size();
  entity.backoff_expiration.reset();
  if (end == GroupEnd::kSuccess) {
    entity.unschedulable_count = 0;
    entity.consecutive_errors = 0;
    const bool left_over = std::ranges::any_of(
        group.members, [&](const auto& member) { return members.contains(member.first); });
    if (!left_over) entity.timestamp = queue_.now();
  } else {
    if (end == GroupEnd::kRejected) {
      ++entity.unschedulable_count;
      entity.consecutive_errors = 0;
    } else {
      ++entity.consecutive_errors;
    }
    entity.timestamp = queue_.now();
  }
  make_entity(at, std::move(entity));
  const std::string_view label = SchedulingQueue::kScheduleAttemptFailure;
  if (end != GroupEnd::kSuccess && backing_off(at))
    to_backoff(at, label, Requeue::kAfterBackoff);
  else
    to_active(at, label, /*ask_plugins=*/true, Requeue::kAfterBackoff);
}

// ---- looking ------------------------------------------------------------------------------------

QueuePlace GroupQueue::place_of(const Group& group) const {
  return group.slot == kNoSlot || group.gate ? QueuePlace::kUnschedulable
                                             : queue_.entries_[group.slot].place;
}

const QueuedPod* GroupQueue::find(const Pod& pod) const {
  const auto at = groups_.find(pod_group_of(pod));
  if (at == groups_.end()) return nullptr;
  for (const Members* members : {&at->second.members, &at->second.waiting})
    if (const auto member = members->find(pod.uid()); member != members->end())
      return &member->second;
  return nullptr;
}

QueuePlace GroupQueue::place(const Pod& pod) const {
  if (!find(pod)) return QueuePlace::kNowhere;
  const Group& group = groups_.at(pod_group_of(pod));
  return group.members.contains(pod.uid()) ? place_of(group) : QueuePlace::kUnschedulable;
}

std::optional<WallTime> GroupQueue::waits_until(const Pod& pod) const {
  const QueuePlace place = this->place(pod);
  if (place != QueuePlace::kBackoff && place != QueuePlace::kErrorBackoff) return std::nullopt;
  return queue_.entries_[groups_.at(pod_group_of(pod)).slot].queued.backoff_expiration;
}

void GroupQueue::for_each(const std::function<void(const QueuedPod&, QueuePlace)>& visit) const {
  for (const auto& [key, group] : groups_) {
    for (const auto& [uid, member] : group.members) visit(member, place_of(group));
    for (const auto& [uid, member] : group.waiting) visit(member, QueuePlace::kUnschedulable);
  }
}

void GroupQueue::add_to(PendingPods& pending) const {
  pending.active += sizes_.active - sizes_.active_groups;
  pending.backoff += sizes_.backoff - sizes_.backoff_groups;
  pending.gated += sizes_.gated;
  pending.incomplete = sizes_.incomplete;
  pending.pending = sizes_.pending;
  pending.active_groups = {sizes_.active_groups, sizes_.active};
  pending.backoff_groups = {sizes_.backoff_groups, sizes_.backoff};
  pending.gated_groups = {sizes_.gated_groups, sizes_.gated};
}

}  // namespace berth
