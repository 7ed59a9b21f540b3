// VolumeBinding finds volumes for the pod's claims: it rejects nodes from which the bound ones
// cannot be used, and nodes where nothing can be bound or provisioned for the others. A pod whose
// claims should be bound by now, or are not there, waits.
//
//   PreFilter  sorts the claims and looks for what could be bound to them (volume_search.h)
//   Filter     which node has it all
//   Reserve    assumes the volumes and claims as they are to be; Unreserve takes that back
//   PreBind    writes them and waits until somebody has bound them (bindTimeoutSeconds)
//
// Reads claims, volumes, classes, CSINodes, CSIDrivers, CSIStorageCapacities and the nodes' labels.
// Changes its mind when one of these comes or changes. With StorageCapacityScoring, nodes are also
// scored by how much of their free storage the pod would take.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "berth/plugin_table.h"
#include "config/configuration.h"
#include "framework/object_waits.h"
#include "framework/remembering_plugin.h"
#include "plugins/normalize.h"
#include "plugins/signature.h"
#include "plugins/volume_binding/volume_search.h"

namespace berth::plugins {

class VolumeBinding final : public PreFilterPlugin,
                            public FilterPlugin,
                            public ObstaclePlugin,
                            public PreScorePlugin,
                            public ScorePlugin,
                            public ReservePlugin,
                            public PreBindPlugin,
                            public RememberingPlugin,
                            public SignVolumesPlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);
  VolumeBinding(const config::VolumeBindingArgs& arguments, bool scores_capacity,
                const Handle& handle);

  std::string_view name() const override { return "VolumeBinding"; }
  std::span<const std::string_view> reasons() const override;
  // What is assumed counts as well, and no object's generation tells of it.
  Dependence dependence() const override { return Dependence::kAnything; }

  PreFilterResult pre_filter(Cycle& cycle) const override;
  bool has_extensions() const override { return false; }
  void filter(const Cycle& cycle, FilterPass& pass) const override;
  std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const override;
  bool score_keys(Cycle& cycle, RowKeys& keys) const override;
  Outcome pre_score(Cycle& cycle, const NodeSet& feasible) const override;
  Outcome score(const Cycle& cycle, const NodeSet& feasible,
                std::span<Score> by_row) const override;
  Outcome reserve(Cycle& cycle, std::string_view node_name) override;
  void unreserve(Cycle& cycle, std::string_view node_name) override;
  PreBindPreFlight pre_bind_pre_flight(Cycle& cycle, std::string_view node_name) const override;
  Task<Outcome> pre_bind(Cycle& cycle, std::string_view node_name, CancelToken cancel) override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

  void remember_as(const Plugin& other) override;
  Callback forget(const Pod& pod) override;

  // How many volumes and claims are assumed and not yet seen as written.
  std::size_t assumed_count() const;

 private:
  // What PreFilter leaves for the steps up to Reserve.
  struct Search {
    std::unique_ptr<VolumeSearch> volumes;
  };
  // What Reserve decided, for the steps after it.
  struct Reservation {
    std::vector<StaticBinding> bindings;  // with the volumes as assumed; once written, as written
    std::vector<Ref<const PersistentVolumeClaim>> provisions;  // as assumed
  };
  // What PreBind has written and waits for.
  struct Written {
    const Reservation& reservation;
    std::vector<Ref<const PersistentVolumeClaim>> provisions;
  };

  // ---- PreFilter
  Result<bool> check_claims(const Pod& pod) const;
  Result<void> check_claim(const Pod& pod, const Volume& volume) const;
  Result<bool> sort_claims(const Pod& pod, PodClaims& claims) const;
  // Null: the pod has no claims. An error also where one should be bound by now, and is not.
  Result<std::unique_ptr<VolumeSearch>> search_for(const Pod& pod) const;
  std::unique_ptr<VolumeSearch> make_search(const PodClaims& claims) const;

  // ---- obstacles (obstacles.cc)
  std::vector<Obstacle> obstacles_of_pod(const Pod& pod) const;

  // ---- Score
  Score score_of(const NodeVolumes& volumes) const;

  // ---- Reserve
  Result<Reservation> assume(const NodeVolumes& volumes, std::string_view node_name) const;
  void restore(const Reservation& reservation) const;

  // ---- PreBind
  Task<Result<void>> write(Reservation& reservation, Written& written, CancelToken cancel) const;
  Task<Result<void>> wait_until_bound(const Pod& pod, std::string_view node_name,
                                      const Written& written, CancelToken cancel) const;
  // Whether everything is bound; an error: it will not be.
  Result<bool> check(const Pod& pod, std::string_view node_name, const Written& written) const;
  Result<bool> check_binding(const StaticBinding& binding, const Node& node) const;
  Result<bool> check_provision(const PersistentVolumeClaim& claim, const Node& node) const;
  Result<void> check_affinity(const PersistentVolume& volume, const Node& node) const;
  std::vector<ObjectName> waited_for(const Pod& pod, std::string_view node_name,
                                     const Written& written) const;

  // For the metric; the operations are "predicate", "assume" and "bind".
  void count_failure(std::string_view operation) const;

  const Cluster& cluster_;
  Loop& loop_;
  ClusterApi& api_;
  Observer* observer_;
  ObjectWaits waits_;
  Duration bind_timeout_;
  std::optional<BrokenLinear> shape_;  // of the score; absent: nodes are not scored

  // What is remembered beside the cluster.
  struct Memory;
  const std::unique_ptr<Memory> memory_;

 public:
  ~VolumeBinding() override;
};

}  // namespace berth::plugins
