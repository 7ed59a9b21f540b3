// UnschedulablePods: pods that wait for an event, gated ones included.
//
// Pods with the same profile, rejectors and gating plugin are a group: whether an event concerns
// them is checked once per group, so that most events cost little however many pods wait. In a
// group, pods that share spec and metadata are a class: hints that use these alone
// (HintScope::kClass) are called once per class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/hash_index.h"
#include "berth/queued_pod.h"
#include "queue/entries.h"
#include "queue/hints.h"

namespace berth {

class UnschedulablePods {
 public:
  struct Group {
    std::uint32_t profile = Hints::kUnknownProfile;
    PluginNames unschedulable_plugins;
    PluginNames pending_plugins;
    std::string gating_plugin;
    std::vector<std::uint32_t> classes;  // by number; none of them empty

    bool gated() const { return !gating_plugin.empty(); }
  };
  struct Class {
    std::uint32_t group = 0;
    std::uint32_t position = 0;  // among its group's classes
    Ref<const PodSpec> spec;
    Ref<const PodMeta> meta;
    const Pod* only =
        nullptr;  // set for a pod with resources in its status: it shares its class with no other
    std::vector<Slot> members;
  };

  UnschedulablePods(Entries& entries, const Hints& hints) : entries_(entries), hints_(hints) {}

  // Adds an entry that is in no other queue, or moves one that is here already to its new class
  // after its rejectors, its gating plugin or its pod changed.
  void put(Slot slot);
  void remove(Slot slot);

  std::size_t size() const { return size_; }
  std::size_t gated() const { return gated_; }
  bool empty() const { return size_ == 0; }

  // Groups in the order of their numbers, which follows from the order of operations alone. Those
  // without members are skipped.
  template <typename Visit>
  void for_each_group(Visit visit) const {
    for (const Group& group : groups_)
      if (!group.classes.empty()) visit(group);
  }
  const Group& group(std::uint32_t number) const { return groups_[number]; }
  const Class& pod_class(std::uint32_t number) const { return classes_[number]; }
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Class& alike : classes_)
      for (const Slot slot : alike.members) visit(slot);
  }

  // A move in slices concerns the pods that were here at its event, not those that are put here
  // later: is_candidate_of tells which.
  static constexpr std::uint32_t kImmediateMove = ~std::uint32_t{0};
  std::uint32_t begin_move() { return ++moves_; }
  bool is_candidate_of(Slot slot, std::uint32_t move) const {
    if (!entries_.used(slot)) return false;
    const QueueEntry& entry = entries_[slot];
    return entry.place == QueuePlace::kUnschedulable && entry.moves_before < move;
  }

 private:
  // Lists of names are shared (share_names), so they are compared by identity here.
  using Key = std::tuple<std::uint32_t, const std::string*, const std::string*, std::string>;
  static Key key_of(const Group& group) {
    return {group.profile, group.unschedulable_plugins.begin(), group.pending_plugins.begin(),
            group.gating_plugin};
  }
  static std::uint32_t hash_of(const Class& alike);
  std::uint32_t group_for(QueuedPod& queued);
  std::uint32_t class_for(std::uint32_t group, const Pod& pod);
  void leave_class(Slot slot);
  void leave_group(std::uint32_t number);
  void share_names(PluginNames& names);

  Entries& entries_;
  const Hints& hints_;
  std::size_t size_ = 0;
  std::size_t gated_ = 0;
  std::uint32_t moves_ = 0;  // in slices
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_groups_;
  std::map<Key, std::uint32_t> group_numbers_;
  std::deque<Class> classes_;  // no long pause for growing to a million
  std::vector<std::uint32_t> free_classes_;
  HashIndex class_numbers_;
  std::set<PluginNames> names_;  // one of each
  std::size_t prune_names_at_ = 64;
};

}  // namespace berth
