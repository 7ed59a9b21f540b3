// GroupQueue: the pods of PodGroups in the queue. With the gate GenericWorkload a group is queued,
// popped and put back as a whole; it stands among single pods by its priority and its time.
//
//     its PodGroup is not known          the group's cycle is open
//     incomplete ──────────────┐     ┌────────────── pending ◄── members that failed or arrived
//                              ▼     ▼
//     gated ◄── PreEnqueue ── entity ──► active ──► popped, all members in flight
//                              ▲  backoff ┘                       │ attempted()
//                              └──────────────────────────────────┘
//
// An entity is an entry of the SchedulingQueue whose pod stands for the group ("podgroup/NAME",
// with the group's priority); its members are here. One member that a PreEnqueue plugin refuses
// gates the whole entity. A gated entity remembers the member that was refused and asks about that
// one first, so that the arrival of a thousand members costs a thousand questions, not a million.
//
// Part of SchedulingQueue, which calls it within its operations. World thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/pod_group.h"
#include "berth/events.h"
#include "berth/measurements.h"
#include "berth/object.h"
#include "berth/queued_pod.h"
#include "berth/result.h"
#include "cluster/group_states.h"
#include "queue/entries.h"
#include "queue/hints.h"

namespace berth {

class SchedulingQueue;

// A group that was popped; its members are in flight.
struct QueuedGroup {
  Ref<const PodGroup> group;
  QueuedPod entity;                // the group's own attempts; its pod stands for the group
  std::vector<QueuedPod> members;  // in the order in which they are tried
};

// How the attempt of a group ended.
enum class GroupEnd : std::uint8_t { kSuccess, kRejected, kError };

struct GroupSizes {
  std::size_t incomplete = 0;  // pods, here and in the next line
  std::size_t pending = 0;
  std::size_t gated_groups = 0;
  std::size_t gated = 0;           // members of these
  std::size_t active_groups = 0;   // in the active queue
  std::size_t active = 0;          // members of these
  std::size_t backoff_groups = 0;  // in the backoff queue
  std::size_t backoff = 0;         // members of these

  friend bool operator==(const GroupSizes&, const GroupSizes&) = default;
};

class GroupQueue {
 public:
  explicit GroupQueue(SchedulingQueue& queue) : queue_(queue) {}
  GroupQueue(const GroupQueue&) = delete;
  GroupQueue& operator=(const GroupQueue&) = delete;

  // ---- PodGroups, as the watch shows them
  void put_group(Ref<const PodGroup> group);  // new, or a new version
  void remove_group(const PodGroup& group);

  // ---- their pods
  void add(Ref<const Pod> pod);
  void update(const Ref<const Pod>& before, Ref<const Pod> after);
  void remove(const Pod& pod);
  void activate(const Ref<const Pod>& pod);
  // An event that may open a gate. `before` and `after` are what it is about.
  void event(const ClusterEvent& event, const AnyObject& before, const AnyObject& after);

  // ---- the entry of a group
  bool is_group(Slot slot) const { return by_slot_.contains(slot); }
  // Its backoff is over.
  void move_to_active(Slot slot, std::string_view label, bool ask_plugins);
  // Its entity, now in flight; nullopt if none of its members can be.
  std::optional<QueuedPod> pop(Slot slot);
  // What pop() popped, once.
  std::optional<QueuedGroup> take_popped();

  // ---- from the group's cycle
  Result<void> return_failed(QueuedPod member);
  // The cycle of the popped group has ended; those that it left over are queued again.
  void attempted(QueuedPod entity, const std::set<Uid>& members, GroupEnd end);

  // ---- looking
  const QueuedPod* find(const Pod& pod) const;  // null: not queued
  QueuePlace place(const Pod& pod) const;
  std::optional<WallTime> waits_until(const Pod& pod) const;
  void for_each(const std::function<void(const QueuedPod&, QueuePlace)>& visit) const;
  const GroupSizes& sizes() const { return sizes_; }
  // Counts the members of groups, and the groups, where only entities were counted.
  void add_to(PendingPods& pending) const;

 private:
  using Members = std::map<Uid, QueuedPod>;
  // Who keeps an entity out of the queue.
  struct Refusal {
    Uid member;
    std::string plugin;
  };
  struct Group {
    Ref<const PodGroup> object;  // null: not known
    Members waiting;             // incomplete, or pending while the group's cycle is open
    Slot slot = kNoSlot;         // of the entity; none: there is no entity
    Members members;             // of the entity
    std::optional<Refusal> gate;
  };
  using Groups = std::map<GroupKey, Group>;
  using At = Groups::iterator;

  void insert(GroupKey key, QueuedPod member, std::string_view label);
  void join(At at, QueuedPod member, std::string_view label);
  void make_entity(At at, QueuedPod entity);
  void drop_entity(At at);
  void erase_if_empty(At at);
  QueuedPod take_waiting(At at, Members::iterator member);
  void keep_waiting(At at, QueuedPod member);
  // Moves the entity to where the plugins say; it is in no queue, or gated.
  void to_active(At at, std::string_view label, bool ask_plugins = true,
                 std::optional<Requeue> strategy = std::nullopt);
  void to_backoff(At at, std::string_view label, std::optional<Requeue> strategy);
  void to_gated(At at, std::string_view label, std::optional<Requeue> strategy);
  // Takes the entity out of the queue it is in.
  void leave(At at);
  void open_gate(At at);
  // Asks again where the entity is: after its members or its PodGroup changed.
  void ask_again(At at, std::string_view label);
  // Asks the plugins about all members, or about one. Who was refused is in refusal_.
  bool refused(At at);
  bool refused(At at, QueuedPod& member);
  bool backing_off(At at);
  void report(const Group& group, QueueName queue, std::string_view label,
              std::optional<Requeue> strategy) const;
  void report_member(const QueuedPod& member, QueueName queue, std::string_view label) const;
  QueuePlace place_of(const Group& group) const;
  QueuedPod stand_in(const PodGroup& group) const;
  QueuedPod& entity(At at) const;

  SchedulingQueue& queue_;
  Groups groups_;
  std::unordered_map<Slot, GroupKey> by_slot_;
  std::map<std::string, std::set<GroupKey>, std::less<>> gated_by_;  // by plugin
  Refusal refusal_;
  std::optional<GroupKey> in_cycle_;  // popped last
  std::optional<QueuedGroup> popped_;
  GroupSizes sizes_;
};

}  // namespace berth
