// UnschedulablePods: pods that wait for something to happen, gated ones included.
//
// They are kept in groups of equal profile, rejectors and gate: whether anybody in a group cares
// for an event is asked once per group, so that most events cost nothing however many pods wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "framework/queued_pod.h"
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
    std::vector<Slot> members;

    bool gated() const { return !gating_plugin.empty(); }
  };

  UnschedulablePods(Entries& entries, const Hints& hints) : entries_(entries), hints_(hints) {}

  // The entry is in no other queue. One that is here already finds its group again, after its
  // rejectors, its gate or its pod changed.
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
      if (!group.members.empty()) visit(group);
  }

 private:
  // Lists of names are shared (share_names), so they are compared by identity here.
  using Key = std::tuple<std::uint32_t, const std::string*, const std::string*, std::string>;
  static Key key_of(const Group& group) {
    return {group.profile, group.unschedulable_plugins.begin(), group.pending_plugins.begin(),
            group.gating_plugin};
  }
  std::uint32_t group_for(QueuedPod& queued);
  void leave_group(Slot slot);
  void share_names(PluginNames& names);

  Entries& entries_;
  const Hints& hints_;
  std::size_t size_ = 0;
  std::size_t gated_ = 0;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_groups_;
  std::map<Key, std::uint32_t> group_numbers_;
  std::set<PluginNames> names_;  // one of each
  std::size_t prune_names_at_ = 64;
};

}  // namespace berth
