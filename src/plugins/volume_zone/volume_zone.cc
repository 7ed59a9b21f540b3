#include "plugins/volume_zone/volume_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/names.h"
#include "api/storage.h"
#include "base/go_quote.h"
#include "berth/topology.h"
#include "plugins/csi_translation.h"
#include "plugins/event_objects.h"
#include "plugins/obstacles.h"
#include "plugins/storage_objects.h"

namespace berth::plugins {
namespace {

constexpr std::array<std::string_view, 1> kVolumeZoneReasons = {
    "node(s) had no available volume zone"};
enum VolumeZoneReason : std::uint8_t { kNoZone };

constexpr Symbol kTopologyLabels[] = {names::kBetaZone, names::kBetaRegion, names::kZone,
                                      names::kRegion};

Symbol current_name(Symbol label) {
  if (label == names::kBetaZone) return names::kZone;
  if (label == names::kBetaRegion) return names::kRegion;
  return label;
}

// Where a volume can be reached from: nodes whose label has one of the values.
struct Topology {
  Symbol label;
  std::vector<std::string> values;  // sorted, each once

  friend bool operator==(const Topology&, const Topology&) = default;
};
using Topologies = std::vector<Topology>;

// A label whose value has an empty piece is as if it were not there.
void add_topologies(const PersistentVolume& volume, Topologies& topologies) {
  for (const Symbol label : kTopologyLabels) {
    const Symbol* value = volume.labels.find(label);
    if (!value) continue;
    Topology topology{label, {}};
    for (const std::string_view piece : zones_in_label(volume.symbols.text(*value)))
      topology.values.emplace_back(trimmed(piece));
    std::ranges::sort(topology.values);
    const auto repeated = std::ranges::unique(topology.values);
    topology.values.erase(repeated.begin(), repeated.end());
    if (!topology.values.front().empty()) topologies.push_back(std::move(topology));
  }
}

Topologies topologies_of(const PersistentVolume& volume) {
  Topologies topologies;
  add_topologies(volume, topologies);
  return topologies;
}

// A claim that keeps the pod off all nodes.
Obstacle claim_obstacle(std::string code, const Pod& pod, const Volume& volume, std::string reason,
                        std::string_view what) {
  const std::string claim =
      fmt::format("{}/{}", pod.namespace_name(), pod.text(volume.source_name));
  return {.code = std::move(code),
          .reason = std::move(reason),
          .subject = claim,
          .text = fmt::format("claim {} {}", claim, what),
          .facts = {{"claim", claim}, {"volume", std::string(pod.text(volume.name))}}};
}

Obstacle nameless_claim(const Pod& pod, const Volume& volume) {
  const std::string name(pod.text(volume.name));
  return {.code = "ClaimNameMissing",
          .reason = "PersistentVolumeClaim had no name",
          .subject = name,
          .text = fmt::format("volume {} of the pod names no claim", name),
          .facts = {{"volume", name}}};
}

// nullopt: the claim is to be bound after scheduling, and has no zone yet.
std::optional<Obstacle> judge_unbound(const Cluster& cluster, const Pod& pod, const Volume& volume,
                                      const PersistentVolumeClaim& claim) {
  const std::string_view class_name = claim.symbols.text(claim.storage_class);
  if (class_name.empty())
    return claim_obstacle("ClaimUnbound", pod, volume,
                          "PersistentVolumeClaim had no pv name and storageClass name",
                          "is not bound, and has no storage class");
  Result<Ref<const StorageClass>> storage_class = find_storage_class(cluster, class_name);
  if (!storage_class)
    return claim_obstacle("StorageClassNotFound", pod, volume,
                          std::move(storage_class.error().message),
                          fmt::format("has storage class {}, which does not exist", class_name));
  const auto& mode = (*storage_class)->binding_mode;
  if (!mode)
    return claim_obstacle("BindingModeNotSet", pod, volume,
                          "VolumeBindingMode not set for StorageClass " + go_quoted(class_name),
                          fmt::format("has storage class {} without a binding mode", class_name));
  if (*mode == StorageClass::BindingMode::kWaitForFirstConsumer) return std::nullopt;
  return claim_obstacle("ClaimUnbound", pod, volume, "PersistentVolume had no name",
                        "is not bound, which is to happen before scheduling");
}

// Calls `visit(volume, pv)` for all volumes behind the pod's claims. What keeps the pod off all
// nodes ends it, and is returned.
template <typename Visit>
std::optional<Obstacle> for_each_bound(const Cluster& cluster, const Pod& pod, Visit visit) {
  for (const Volume& volume : pod.spec().volumes) {
    if (volume.source != VolumeSource::kPersistentVolumeClaim) continue;
    if (volume.source_name.empty()) return nameless_claim(pod, volume);
    Result<Ref<const PersistentVolumeClaim>> claim =
        find_claim(cluster, pod.namespace_name(), pod.text(volume.source_name));
    if (!claim)
      return missing_claim(pod, pod.text(volume.source_name), std::move(claim.error().message));
    if ((*claim)->volume_name.empty()) {
      if (auto unbound = judge_unbound(cluster, pod, volume, **claim)) return unbound;
      continue;
    }
    Result<Ref<const PersistentVolume>> found = find_volume(cluster, (*claim)->volume_name);
    if (!found)
      return claim_obstacle(
          "VolumeNotFound", pod, volume, std::move(found.error().message),
          fmt::format("is bound to volume {}, which does not exist", (*claim)->volume_name));
    visit(volume, **found);
  }
  return std::nullopt;
}

// Of all volumes behind the pod's claims.
Outcome collect(const Cluster& cluster, const Pod& pod, Topologies& topologies) {
  std::optional<Obstacle> obstacle = for_each_bound(
      cluster, pod,
      [&](const Volume&, const PersistentVolume& volume) { add_topologies(volume, topologies); });
  if (!obstacle) return Outcome::success();
  return Outcome::of(Code::kUnschedulableAndUnresolvable, std::move(obstacle->reason));
}

// What the volumes demand, by the domains that the nodes are in.
class Demands {
 public:
  Demands(const Topologies& topologies, const Cluster& cluster) {
    for (std::size_t i = 0; i < std::size(kTopologyLabels); ++i)
      columns_[i] = cluster.topology().column(kTopologyLabels[i]);
    for (const Topology& topology : topologies) {
      std::vector<Symbol> values;
      for (const std::string& value : topology.values)
        // A symbol that is not held is on no node.
        if (const Symbol symbol = cluster.symbols().find(value); !symbol.empty())
          values.push_back(symbol);
      demands_.push_back({allowed(column(topology.label), values),
                          allowed(column(current_name(topology.label)), values)});
    }
  }

  bool meets(NodeRow row) const {
    // In a cluster without zones the zone labels of volumes are ignored.
    if (std::ranges::all_of(columns_, [row](const TopologyColumn& column) {
          return column.domains[row] == kNoDomain;
        }))
      return true;
    return std::ranges::all_of(demands_, [row](const Demand& demand) {
      const Domain domain = demand.named.domains[row];
      return domain != kNoDomain ? demand.named.is_allowed[domain]
                                 : demand.instead.is_allowed[demand.instead.domains[row]];
    });
  }

 private:
  struct Allowed {
    RowDomains domains;
    std::vector<bool> is_allowed;  // by domain
  };
  struct Demand {
    Allowed named;
    Allowed instead;  // asked where a node does not have the label
  };

  const TopologyColumn& column(Symbol label) const {
    return columns_[static_cast<std::size_t>(std::ranges::find(kTopologyLabels, label) -
                                             std::begin(kTopologyLabels))];
  }
  static Allowed allowed(const TopologyColumn& column, const std::vector<Symbol>& values) {
    Allowed allowed{column.domains, std::vector<bool>(column.size)};
    for (Domain domain = kNoDomain + 1; domain < column.size; ++domain)
      allowed.is_allowed[domain] = std::ranges::find(values, column.values[domain]) != values.end();
    return allowed;
  }

  std::array<TopologyColumn, std::size(kTopologyLabels)> columns_;
  std::vector<Demand> demands_;
};

Obstacle zone_obstacle(const Pod& pod, const Volume& volume, const PersistentVolume& bound,
                       const Topology& topology, const Node& node, const Symbols& symbols) {
  const std::string claim =
      fmt::format("{}/{}", pod.namespace_name(), pod.text(volume.source_name));
  const std::string label(symbols.text(topology.label));
  const std::string values = fmt::format("{}", fmt::join(topology.values, ", "));
  const Symbol asked =
      node.labels.contains(topology.label) ? topology.label : current_name(topology.label);
  return {.code = "VolumeZoneConflict",
          .reason = std::string(kVolumeZoneReasons[kNoZone]),
          .subject = claim,
          .text = fmt::format("volume {} of claim {} is in {} [{}], the node has {}", bound.name,
                              claim, label, values, label_text(asked, node.labels, symbols)),
          .facts = {{"claim", claim},
                    {"persistentVolume", bound.name},
                    {"label", label},
                    {"values", values},
                    {"actual", std::string(symbols.text(node.labels.get(asked)))}}};
}

// ---- hints --------------------------------------------------------------------------------------

Result<QueueingHint> after_class_add(const Pod&, const AnyObject&, const AnyObject& after) {
  Result<const StorageClass*> added = object_in<StorageClass>(after);
  if (!added) return fail(added.error());
  return queue_if(*added &&
                  (*added)->binding_mode == StorageClass::BindingMode::kWaitForFirstConsumer);
}

Result<QueueingHint> after_volume_change(const Pod&, const AnyObject& before,
                                         const AnyObject& after) {
  const auto change = change_in<PersistentVolume>(before, after);
  if (!change) return fail(change.error());
  if (!change->before || !change->after) return QueueingHint::kQueue;
  return topologies_of(*change->before) == topologies_of(*change->after) ? QueueingHint::kSkip
                                                                         : QueueingHint::kQueue;
}

}  // namespace

Result<std::unique_ptr<Plugin>> VolumeZone::create(const config::PluginArgs&, const Handle&) {
  return std::make_unique<VolumeZone>();
}

std::span<const std::string_view> VolumeZone::reasons() const { return kVolumeZoneReasons; }

PreFilterResult VolumeZone::pre_filter(Cycle& cycle) const {
  Topologies topologies;
  if (Outcome collected = collect(cycle.cluster(), cycle.pod(), topologies); !collected.ok())
    return collected;
  if (topologies.empty()) return PreFilterResult::skip();
  cycle.put(*this, std::move(topologies));
  return PreFilterResult::success();
}

void VolumeZone::filter(const Cycle& cycle, FilterPass& pass) const {
  Topologies collected;
  const Topologies* topologies = cycle.find<Topologies>(*this);
  if (!topologies) {
    const Outcome outcome = collect(cycle.cluster(), cycle.pod(), collected);
    if (!outcome.ok()) {
      const std::uint32_t listed = cycle.list_reasons(outcome.all_reasons());
      pass.feasible().for_each([&](NodeRow row) { pass.reject_listed(row, outcome.code, listed); });
      return;
    }
    topologies = &collected;
  }
  if (topologies->empty()) return;
  const Demands demands(*topologies, cycle.cluster());
  pass.feasible().for_each([&](NodeRow row) {
    if (!demands.meets(row)) pass.reject(row, Code::kUnschedulableAndUnresolvable, kNoZone);
  });
}

std::vector<Obstacle> VolumeZone::obstacles(const Cycle& cycle, NodeRow row) const {
  const Pod& pod = cycle.pod();
  std::vector<Obstacle> all;
  std::optional<Obstacle> of_pod = for_each_bound(
      cycle.cluster(), pod, [&](const Volume& volume, const PersistentVolume& bound) {
        if (row == kNoRow) return;
        for (const Topology& topology : topologies_of(bound))
          if (all.size() < kMostObstacles && !Demands({topology}, cycle.cluster()).meets(row))
            all.push_back(zone_obstacle(pod, volume, bound, topology, cycle.nodes().node(row),
                                        cycle.symbols()));
      });
  if (of_pod) return {*std::move(of_pod)};
  return all;
}

std::optional<std::vector<EventRegistration>> VolumeZone::events_to_register() const {
  constexpr std::uint32_t kAddOrUpdate = action::kAdd | action::kUpdate;
  return {{{{EventResource::kStorageClass, action::kAdd, {}}, after_class_add, HintScope::kClass},
           {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel, {}}, {}},
           {{EventResource::kPersistentVolumeClaim, kAddOrUpdate, {}},
            after_named_claim,
            HintScope::kClass},
           {{EventResource::kPersistentVolume, kAddOrUpdate, {}},
            after_volume_change,
            HintScope::kClass}}};
}

}  // namespace berth::plugins
