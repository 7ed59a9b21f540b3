// How the entity of a group gets from one place of the queue to another.
#include <algorithm>
#include <cmath>
#include <utility>

#include "queue/group_queue.h"
#include "queue/scheduling_queue.h"

namespace berth {

QueuedPod GroupQueue::stand_in(const PodGroup& group) const {
  const std::shared_ptr<Symbols>& symbols = group.symbols.table();
  auto spec = make_ref<PodSpec>(SymbolHold(symbols));
  spec->priority = group.effective_priority();
  auto meta = make_ref<PodMeta>(SymbolHold(symbols));
  meta->namespace_name = meta->symbols.intern(group.symbols.text(group.namespace_name));
  PodDraft draft;
  draft.name = "podgroup/" + group.name;  // no pod can have that name
  draft.uid = group.uid;
  draft.meta = std::move(meta);
  draft.spec = std::move(spec);
  QueuedPod queued;
  queued.pod = make_pod(std::move(draft));
  return queued;
}

QueuedPod& GroupQueue::entity(At at) const { return queue_.entries_[at->second.slot].queued; }

void GroupQueue::make_entity(At at, QueuedPod entity) {
  entity.sequence = ++queue_.last_sequence_;
  at->second.slot = queue_.entries_.insert(std::move(entity));
  by_slot_.emplace(at->second.slot, at->first);
}

// It is in no queue.
void GroupQueue::drop_entity(At at) {
  by_slot_.erase(at->second.slot);
  queue_.entries_.take(std::exchange(at->second.slot, kNoSlot));
}

void GroupQueue::erase_if_empty(At at) {
  const Group& group = at->second;
  if (!group.object && group.waiting.empty() && group.members.empty()) groups_.erase(at);
}

QueuedPod GroupQueue::take_waiting(At at, Members::iterator member) {
  --(at->second.object ? sizes_.pending : sizes_.incomplete);
  QueuedPod taken = std::move(member->second);
  at->second.waiting.erase(member);
  return taken;
}

void GroupQueue::keep_waiting(At at, QueuedPod member) {
  const Uid uid = member.pod->uid();
  if (at->second.waiting.insert_or_assign(uid, std::move(member)).second)
    ++(at->second.object ? sizes_.pending : sizes_.incomplete);
}

void GroupQueue::open_gate(At at) {
  const auto gated = gated_by_.find(at->second.gate->plugin);
  gated->second.erase(at->first);
  if (gated->second.empty()) gated_by_.erase(gated);
  at->second.gate.reset();
}

void GroupQueue::leave(At at) {
  Group& group = at->second;
  const std::size_t members = group.members.size();
  if (group.gate) {
    open_gate(at);
    --sizes_.gated_groups;
    sizes_.gated -= members;
    return;
  }
  switch (queue_.entries_[group.slot].place) {
    case QueuePlace::kActive:
      --sizes_.active_groups;
      sizes_.active -= members;
      break;
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff:
      --sizes_.backoff_groups;
      sizes_.backoff -= members;
      break;
    default: break;
  }
  queue_.leave(group.slot);
}

bool GroupQueue::refused(At at, QueuedPod& member) {
  queue_.gating_.run_pre_enqueue_plugins(member);
  if (!member.gated()) return false;
  refusal_ = {member.pod->uid(), member.gating_plugin};
  if (std::optional<Refusal>& gate = at->second.gate) {
    open_gate(at);
    gate = refusal_;
    gated_by_[gate->plugin].insert(at->first);
  }
  return true;
}

bool GroupQueue::refused(At at) {
  Group& group = at->second;
  if (group.gate)
    if (const auto last = group.members.find(group.gate->member);
        last != group.members.end() && refused(at, last->second))
      return true;
  return std::ranges::any_of(group.members,
                             [&](auto& member) { return refused(at, member.second); });
}

void GroupQueue::ask_again(At at, std::string_view label) {
  Group& group = at->second;
  if (group.slot == kNoSlot) return;
  const bool refuses = refused(at);
  if (refuses == group.gate.has_value()) return;
  leave(at);
  if (refuses)
    to_gated(at, label, std::nullopt);
  else if (backing_off(at))
    to_backoff(at, label, std::nullopt);
  else
    to_active(at, label, /*ask_plugins=*/false);
}

// Parity: a group of n pods waits at most √n times as long as a pod.
bool GroupQueue::backing_off(At at) {
  const auto longest = static_cast<double>(queue_.options_.max_backoff.count()) *
                       std::sqrt(static_cast<double>(at->second.members.size()));
  return queue_.backoff_.backing_off(entity(at), queue_.now(),
                                     Duration(static_cast<Duration::rep>(longest)));
}

void GroupQueue::to_active(At at, std::string_view label, bool ask_plugins,
                           std::optional<Requeue> strategy) {
  Group& group = at->second;
  if (group.gate) leave(at);
  if (ask_plugins && refused(at)) return to_gated(at, label, strategy);
  for (auto& [uid, member] : group.members)
    if (!member.initial_attempt) member.initial_attempt = queue_.now();
  if (!entity(at).initial_attempt) entity(at).initial_attempt = queue_.now();
  queue_.active_.push(group.slot);
  queue_.entries_[group.slot].place = QueuePlace::kActive;
  queue_.woken_ = true;
  ++sizes_.active_groups;
  sizes_.active += group.members.size();
  report(group, QueueName::kActive, label, strategy);
}

void GroupQueue::to_backoff(At at, std::string_view label, std::optional<Requeue> strategy) {
  Group& group = at->second;
  if (queue_.options_.pop_from_backoff && refused(at)) return to_gated(at, label, strategy);
  queue_.backoff_.push(group.slot);
  ++sizes_.backoff_groups;
  sizes_.backoff += group.members.size();
  report(group, QueueName::kBackoff, label, strategy);
  queue_.arm_backoff_flush();
}

void GroupQueue::to_gated(At at, std::string_view label, std::optional<Requeue> strategy) {
  Group& group = at->second;
  group.gate = refusal_;
  gated_by_[group.gate->plugin].insert(at->first);
  ++sizes_.gated_groups;
  sizes_.gated += group.members.size();
  report(group, QueueName::kGated, label, strategy);
}

void GroupQueue::move_to_active(Slot slot, std::string_view label, bool ask_plugins) {
  const At at = groups_.find(by_slot_.at(slot));
  // The heap has given it up already.
  --sizes_.backoff_groups;
  sizes_.backoff -= at->second.members.size();
  to_active(at, label, ask_plugins);
}

void GroupQueue::report(const Group& group, QueueName queue, std::string_view label,
                        std::optional<Requeue> strategy) const {
  for (const auto& [uid, member] : group.members) report_member(member, queue, label);
  if (!queue_.measured_) return;
  // Parity: as for pods, an entry into the queue that the strategy names is not counted.
  if (strategy == Requeue::kAfterBackoff && queue == QueueName::kBackoff) return;
  queue_.measured_->entity_queued(QueuedEntity::kPodGroup, queue, label);
}

void GroupQueue::report_member(const QueuedPod& member, QueueName queue,
                               std::string_view label) const {
  queue_.observer_.queued(*member.pod, queue, label);
}

}  // namespace berth
