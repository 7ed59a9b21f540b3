// Coscheduling: the pods of a group start together or not at all, as scheduler-plugins has it.
//
// A pod belongs to the PodGroup (scheduling.x-k8s.io/v1alpha1) that its label names. Members are
// scheduled one by one; at Permit each of them is held until spec.minMember have a place. One that
// finds none gives back the places of all, unless nearly enough have one, and so does one whose time
// is up.
//
//   QueueSort   by priority, then by the age of the group, or of its last failure
//   PreFilter   rejects a pod whose group has too few members, waits after a failure, or for whose
//               minResources the cluster has no room
//   PostFilter  no node for a member: rejects all that wait
//   Permit      holds a member until enough have a place; wakes the others when it is the first
//   Unreserve   a member loses its place: rejects all that wait
//
// It reads pods and PodGroups and writes nothing. Events that can help: a pod that is placed, a
// PodGroup that is new or changed.
#pragma once

#include <memory>
#include <string>

#include "base/lifetime.h"
#include "berth/plugin_table.h"
#include "plugins/coscheduling/pod_groups.h"

namespace berth::plugins {

class Coscheduling final : public QueueSortPlugin,
                           public PreFilterPlugin,
                           public PostFilterPlugin,
                           public ReservePlugin,
                           public PermitPlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);
  Coscheduling(const config::CoschedulingArgs& arguments, const Handle& handle);

  std::string_view name() const override { return "Coscheduling"; }
  Dependence dependence() const override { return Dependence::kRow; }  // it gives no such answer

  bool less(const QueuedPod& a, const QueuedPod& b) const override;
  PreFilterResult pre_filter(Cycle& cycle) const override;
  bool has_extensions() const override { return false; }
  Task<PostFilterResult> post_filter(Cycle& cycle, const Diagnosis& diagnosis) const override;
  Outcome reserve(Cycle& cycle, std::string_view node_name) override;
  PermitResult permit(Cycle& cycle, std::string_view node_name) override;
  void unreserve(Cycle& cycle, std::string_view node_name) override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

 private:
  using Group = coscheduling::Group;

  WallTime rank(const QueuedPod& queued) const;
  Outcome check_group(const Cycle& cycle) const;
  Outcome no_node_for(const Pod& pod) const;
  Duration waiting_time(const Group& group) const;
  bool allow_waiting(Group& group) const;
  bool reject_waiting(Group& group, std::string_view why) const;
  void wake_at_retry(Group& group, const Ref<const Pod>& pod) const;

  const config::CoschedulingArgs args_;
  Loop& loop_;
  WaitingPods& waiting_pods_;
  Activator& activator_;
  const std::unique_ptr<coscheduling::PodGroups> groups_;
  Lifetime lifetime_;
};

}  // namespace berth::plugins
