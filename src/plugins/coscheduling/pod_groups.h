// PodGroups: the groups of the plugin Coscheduling, with their members and what happened to them.
//
// A group is a name in a namespace: pods have it as a label, a PodGroup object as its name. Either
// may be there without the other. Follows the cluster; what the plugin itself remembers of a group
// stands beside. World thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "api/coscheduling.h"
#include "berth/loop.h"
#include "berth/pod.h"
#include "berth/views.h"

namespace berth::plugins::coscheduling {

struct Group {
  SymbolHold symbols;  // of namespace and name
  Symbol namespace_name;
  Symbol name;
  Ref<const CoschedulingPodGroup> object;  // null: there is no such PodGroup

  // Pods with the label, as the watch shows them, by name; how many of them have scheduling gates.
  std::map<std::string, Ref<const Pod>, std::less<>> members;
  std::size_t gated = 0;
  // Names of the members that have a node or have reached Permit.
  std::set<std::string, std::less<>> assigned;

  std::optional<WallTime> last_failed;        // until enough members are assigned
  std::optional<TimePoint> permitted_until;   // there was room for minResources
  std::optional<TimePoint> backed_off_until;  // after a rejection
  // Members that gave back their places have just failed together: not tried before this moment.
  std::optional<TimePoint> retry_at;
  Duration retry_delay{0};  // the last one
  bool retry_set = false;   // somebody is to be woken then

  // Names of the members that the plugin holds at Permit, and when their time is up.
  std::map<std::string, TimePoint, std::less<>> held;
  bool any_permitted = false;  // some member reached Permit, since all that waited were rejected

  std::string full_name() const;
};

class PodGroups {
 public:
  explicit PodGroups(const Cluster& cluster);
  PodGroups(const PodGroups&) = delete;
  PodGroups& operator=(const PodGroups&) = delete;

  // Whether the pod says that it belongs to a group.
  bool has_label(const Pod& pod) const { return !pod.labels().get(label_).empty(); }
  // The pod's group, with or without an object; null: no label, or nobody knows the group.
  Group* find(const Pod& pod);
  // The same, if there is an object.
  Group* find_with_object(const Pod& pod);
  // A name is not assigned any more. The group may end with this.
  void unassign(const Pod& pod);

  std::size_t size() const { return groups_.size(); }

 private:
  static std::uint64_t key(Symbol namespace_name, Symbol name) {
    return std::uint64_t{namespace_name.id} << 32 | name.id;
  }
  Group& make(Symbol namespace_name, Symbol name);
  void end_if_empty(const Group& group);
  void pod_changed(const Ref<const Pod>& before, const Ref<const Pod>& after);
  void add(const Ref<const Pod>& pod);
  void remove(const Pod& pod);
  void object_changed(const Ref<const Object>& before, const Ref<const Object>& after);

  SymbolHold symbols_;
  const Symbol label_;
  std::unordered_map<std::uint64_t, Group> groups_;
  Subscription pods_, objects_;
};

}  // namespace berth::plugins::coscheduling
