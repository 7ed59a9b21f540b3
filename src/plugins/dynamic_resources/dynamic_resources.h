// DynamicResources allocates devices for a pod's ResourceClaims and rejects nodes without them.
//
// It reads the pod's claims and extended resources, ResourceClaims, DeviceClasses and
// ResourceSlices. A claim that is allocated ties the pod to the nodes where its devices can be
// used; one that is not gets devices on every node that is looked at (allocator.h), and in Reserve
// those of the node that was chosen. PreBind writes them to the claim's status, with the pod in
// reservedFor, and waits for devices that have to be prepared. If no node is left, a claim that
// nobody else uses is released, so that it can be allocated elsewhere. Changes of claims, classes,
// slices and nodes change its mind.
//
// Files by phase: pre_filter.cc, filtering.cc (Filter, Score), obstacles.cc, reserving.cc
// (PostFilter, Reserve, Unreserve), binding.cc (PreBind), claim_writes.cc, hints.cc. A pod without claims passes it
// untouched.
#pragma once

#include <memory>
#include <string>

#include "berth/plugin_table.h"
#include "framework/group_plugins.h"
#include "framework/kept_check.h"
#include "framework/object_waits.h"
#include "framework/remembering_plugin.h"
#include "plugins/device_class_resources.h"
#include "plugins/dynamic_resources/allocator_pools.h"
#include "plugins/dynamic_resources/claim_tracker.h"
#include "plugins/dynamic_resources/claim_writes.h"
#include "plugins/dynamic_resources/kept_verdicts.h"
#include "plugins/dynamic_resources/pod_devices.h"

namespace berth {
class Observer;
}

namespace berth::plugins {

class DynamicResources final : public PreEnqueuePlugin,
                               public PreFilterPlugin,
                               public FilterPlugin,
                               public ObstaclePlugin,
                               public PostFilterPlugin,
                               public PodGroupPostFilterPlugin,
                               public ScorePlugin,
                               public ReservePlugin,
                               public PreBindPlugin,
                               public RememberingPlugin,
                               public SignPlugin {
 public:
  DynamicResources(const config::DynamicResourcesArgs& arguments, const Handle& handle);
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "DynamicResources"; }
  std::span<const std::string_view> reasons() const override;
  // Filter leaves behind what Score and Reserve go by: its answers cannot be kept without that.
  Dependence dependence() const override { return Dependence::kAnything; }

  Outcome pre_enqueue(const Pod& pod) const override;
  PreFilterResult pre_filter(Cycle& cycle) const override;
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;
  Task<PostFilterResult> post_filter(Cycle& cycle, const Diagnosis& diagnosis) const override;
  Task<GroupPostFilterResult> post_filter_group(UnplacedGroup& group) const override;
  bool score_keys(Cycle& cycle, RowKeys& keys) const override;
  Outcome score(const Cycle& cycle, const NodeSet& feasible,
                std::span<Score> by_row) const override;
  Outcome normalize(const Cycle& cycle, const NodeSet& feasible,
                    std::span<Score> by_row) const override;
  Outcome reserve(Cycle& cycle, std::string_view node_name) override;
  void unreserve(Cycle& cycle, std::string_view node_name) override;
  PreBindPreFlight pre_bind_pre_flight(Cycle& cycle, std::string_view node_name) const override;
  Task<Outcome> pre_bind(Cycle& cycle, std::string_view node_name, CancelToken cancel) override;

  void remember_as(const Plugin& other) override;
  Callback forget(const Pod& pod) override;

  std::optional<std::vector<EventRegistration>> events_to_register() const override;
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;

 private:
  // ---- PreFilter
  std::optional<ExtendedResources> extended_resources_of(const Pod& pod) const;
  // Whether the pod uses what another pod of a group is about to get.
  bool may_share(const Pod& pod) const { return shares_in_group_ && in_group(pod); }
  Outcome look_at(PodClaim& claim, bool may_share) const;
  Outcome check_requests(const ResourceClaim& claim) const;

  // ---- Filter
  void judge(const Cycle& cycle, PodDevices& devices, NodeRow row, NodeJudgement& judgement) const;
  void find_in_order(const Cycle& cycle, PodDevices& devices, const std::vector<NodeRow>& rows,
                     FilterPass& pass) const;
  void reject_from_kept(PodDevices& devices, const Cycle& cycle, FilterPass& pass,
                        NodeSet& unknown) const;
  void keep(KeptVerdicts::Shape& shape, NodeRow row, const NodeJudgement& judgement) const;
  bool is_scored(const PodDevices& devices) const;
  const ExtendedClaimVariant* variant_for(const Cycle& cycle, PodDevices& devices, NodeRow row,
                                          NodeJudgement& judgement) const;
  Score score_of(const PodDevices& devices, const NodeAllocation& allocation) const;

  // ---- obstacles
  std::vector<Obstacle> obstacles_of_pod(const Cycle& cycle) const;

  // ---- PostFilter, Reserve
  Task<Outcome> release_something(const Pod& pod, PodDevices& devices) const;
  Result<void> reserve_on(const NodeJudgement& judgement, const Node& node,
                          PodDevices& devices) const;

  // ---- PreBind
  bool is_still_reserved(PodClaim& claim, const std::string& pod_uid) const;
  Task<Result<void>> bind_claim(Ref<const Pod> pod, PodClaim& claim, CancelToken cancel) const;
  Task<Result<void>> bind_extended_claim(Ref<const Pod> pod, PodDevices& devices,
                                         CancelToken cancel) const;
  Task<Outcome> wait_for_devices(Cycle& cycle, PodDevices& devices, std::string_view node_name,
                                 CancelToken cancel) const;
  Result<bool> look_again(PodDevices& devices) const;
  TimePoint look_again_at(const PodDevices& devices, TimePoint start) const;
  void measure_wait(const PodDevices& devices, std::string_view status, Duration took) const;

  // ---- hints
  Result<QueueingHint> after_claim_change(const Pod& pod, const AnyObject& before,
                                          const AnyObject& after) const;
  Result<QueueingHint> after_own_update(const AnyObject& after) const;

  const Handle handle_;
  Observer* const measurements_;   // null: nobody counts
  const bool extended_resources_;  // DRAExtendedResource
  const bool binding_conditions_;  // DRADeviceBindingConditions, DRAResourceClaimDeviceStatus
  const bool shares_in_group_;     // GenericWorkload
  const bool prioritized_list_;    // DRAPrioritizedList
  const Duration filter_timeout_;  // for one node; 0: none
  const Duration binding_timeout_;
  const std::shared_ptr<ClaimTracker> tracker_;
  const std::shared_ptr<DeviceClassResources> classes_;
  const std::unique_ptr<DevicePools> pools_;
  const std::unique_ptr<KeptVerdicts> kept_;
  const std::shared_ptr<KeptCheck> check_;
  const std::unique_ptr<ClaimWrites> writes_;
  const ObjectWaits waits_;
};

}  // namespace berth::plugins
