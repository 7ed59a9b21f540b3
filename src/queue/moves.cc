// How unschedulable pods are moved: by an event that may help them, or after five minutes (core.md
// §5.6).
//
// Up to kAtOnce candidates are checked and moved within the event. More are listed and processed in
// slices, between which pods are scheduled, so that even a million of them cause no long pause. A
// slice calls the hints with the state of the cluster at that time. Pods that become unschedulable
// after the event are not candidates.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "queue/scheduling_queue.h"

namespace berth {
namespace {

// How many moves in slices may be pending. With more, hints are not called: all unschedulable pods
// are moved.
constexpr std::size_t kMostMoves = 8;

}  // namespace

// The class of the pod that the event is about, if it is unschedulable: for this pod a hint may
// answer differently than for others of the class.
std::optional<std::uint32_t> SchedulingQueue::class_of(const AnyObject& object) const {
  const auto* pod = std::get_if<Ref<const Pod>>(&object);
  if (!pod || !*pod) return std::nullopt;
  const Slot slot = entries_.find(**pod);
  if (slot == kNoSlot || entries_[slot].place != QueuePlace::kUnschedulable) return std::nullopt;
  return entries_[slot].pod_class;
}

Hints::Questions SchedulingQueue::questions(const UnschedulablePods::Group& group,
                                            const ClusterEvent& event) const {
  return hints_.questions(group.profile, group.unschedulable_plugins, group.pending_plugins, event);
}

// Lists the pods that may move: the members of classes for which the hints said so, and pods for
// which the hints must be called one by one.
void SchedulingQueue::find_candidates(Move& move) {
  const std::optional<std::uint32_t> was_of = class_of(move.before), is_of = class_of(move.after);
  unschedulable_.for_each_group([&](const UnschedulablePods::Group& group) {
    if (group.gated() && !hints_.concerns_gate(group.gating_plugin, move.event)) return;
    Hints::Questions asked = questions(group, move.event);
    if (asked.none()) return;
    const bool by_class = asked.same_for_class() && group.classes.size() <= kAtOnce;
    for (const std::uint32_t number : group.classes) {
      const std::vector<Slot>& members = unschedulable_.pod_class(number).members;
      std::optional<Requeue> strategy;
      if (by_class && number != was_of && number != is_of) {
        const Pod& pod = entries_[members.front()].pod();
        if (move.only && !move.only(pod)) continue;
        strategy = hints_.ask(asked, pod, move.before, move.after);
        if (options_.verify_hints) verify_hints(move, group, members, *strategy);
        if (strategy == Requeue::kSkip) continue;
      }
      for (const Slot slot : members) move.candidates.push_back({slot, strategy});
    }
    hints_.measure_answers(asked, move.label);
  });
}

void SchedulingQueue::verify_hints(const Move& move, const UnschedulablePods::Group& group,
                                   const std::vector<Slot>& members, Requeue answer) {
  Hints::Questions asked = questions(group, move.event);
  for (const Slot slot : members) {
    const Pod& pod = entries_[slot].pod();
    const bool meant = !move.only || move.only(pod);
    if (hint_difference_ || (meant && hints_.ask(asked, pod, move.before, move.after) == answer))
      continue;
    hint_difference_ =
        fmt::format("after {} pod {} is to be treated otherwise than pod {}, which is of its class",
                    move.label, pod.full_name(), entries_[members.front()].pod().full_name());
  }
}

void SchedulingQueue::move_all(Move move) {
  in_flight_.record(move.event, move.before, move.after);
  if (unschedulable_.empty()) return;
  move.label = move.event.label();
  find_candidates(move);
  begin_move(std::move(move));
}

void SchedulingQueue::begin_move(Move move) {
  if (move.candidates.size() <= kAtOnce) return move_some(move, kAtOnce);
  if (moves_.size() == kMostMoves) {
    // This move now covers every unschedulable pod, those of the dropped move included.
    moves_.pop_back();
    move.time_is_over = false;
    move.candidates.clear();
    unschedulable_.for_each(
        [&](Slot slot) { move.candidates.push_back({slot, Requeue::kAfterBackoff}); });
  }
  move.number = unschedulable_.begin_move();
  moves_.push_back(std::move(move));
  post_slice();
}

void SchedulingQueue::move_some(Move& move, std::size_t count) {
  std::optional<Hints::Questions> asked;
  std::uint32_t group = 0;
  for (; move.next < move.candidates.size() && count > 0; ++move.next, --count) {
    const auto [slot, known] = move.candidates[move.next];
    if (!unschedulable_.is_candidate_of(slot, move.number)) continue;
    if (known) {
      moving_.emplace_back(slot, *known);
      continue;
    }
    const Pod& pod = entries_[slot].pod();
    if (move.only && !move.only(pod)) continue;
    const std::uint32_t its_group = unschedulable_.pod_class(entries_[slot].pod_class).group;
    if (!asked || group != its_group) {
      if (asked) hints_.measure_answers(*asked, move.label);
      group = its_group;
      asked = questions(unschedulable_.group(group), move.event);
    }
    const Requeue strategy = hints_.ask(*asked, pod, move.before, move.after);
    if (strategy != Requeue::kSkip) moving_.emplace_back(slot, strategy);
  }
  if (asked) hints_.measure_answers(*asked, move.label);
  // All hints are called before the first pod moves, so that they see the same state.
  for (const auto& [slot, strategy] : moving_) {
    if (move.time_is_over) {
      entries_[slot].queued.flushed = now();
      entries_[slot].queued.tried_after_flush = true;
    }
    leave(slot);  // so that a pod that is gated again counts as entering again
    requeue(slot, strategy, move.label);
  }
  moving_.clear();
}

void SchedulingQueue::flush_unschedulable() {
  unschedulable_timer_.reset();
  Operation operation(*this);
  Move move{.event = events::kUnschedulableTimeout, .time_is_over = true};
  const WallTime present = now();
  unschedulable_.for_each([&](Slot slot) {
    const QueuedPod& queued = entries_[slot].queued;
    // A pod that stays gated after a flush is next looked at a whole stay later.
    const WallTime since = std::max(queued.timestamp, queued.flushed.value_or(queued.timestamp));
    if (present - since > options_.max_unschedulable)
      move.candidates.push_back({slot, Requeue::kAfterBackoff});
  });
  if (!move.candidates.empty()) {
    move.label = move.event.label();
    in_flight_.record(move.event, {}, {});
    begin_move(std::move(move));
  }
  arm_unschedulable_flush();
  operation.finish();
}

void SchedulingQueue::flush_backoff() {
  backoff_timer_.reset();
  Operation operation(*this);
  backoff_ended_ = now();
  end_backoff(kAtOnce);
  if (backoff_ended_)
    post_slice();
  else
    arm_backoff_flush();
  operation.finish();
}

void SchedulingQueue::end_backoff(std::size_t count) {
  std::vector<Slot> completed;
  backoff_.take_completed(*backoff_ended_, count, completed);
  for (const Slot slot : completed)
    move_to_active(slot, kBackoffComplete, !options_.pop_from_backoff);
  if (completed.size() < count) backoff_ended_.reset();
}

void SchedulingQueue::post_slice() {
  if (slice_posted_) return;
  slice_posted_ = true;
  loop_.post(lifetime_.guard([this] {
    slice_posted_ = false;
    do_slice();
  }));
}

void SchedulingQueue::do_slice() {
  Operation operation(*this);
  if (clock_repair_) repair_timestamps(kSlice);
  if (backoff_ended_) {
    end_backoff(kSlice);
    if (!backoff_ended_) arm_backoff_flush();
  }
  if (!moves_.empty()) {
    move_some(moves_.front(), kSlice);
    if (moves_.front().next == moves_.front().candidates.size()) moves_.pop_front();
  }
  if (clock_repair_ || backoff_ended_ || !moves_.empty()) post_slice();
  operation.finish();
}

}  // namespace berth
