#include "plugins/volume_restrictions/volume_restrictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/storage.h"
#include "plugins/event_objects.h"
#include "plugins/obstacles.h"
#include "plugins/storage_objects.h"

namespace berth::plugins {
namespace {

constexpr std::array<std::string_view, 2> kVolumeRestrictionsReasons = {
    "node(s) had no available disk",
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod",
};
enum VolumeRestrictionsReason : std::uint8_t { kDiskConflict, kClaimInUse };

constexpr std::string_view kNoState = "cannot read \"PreFilterVolumeRestrictions\" from cycleState";

// What PreFilter leaves behind. The symbols are the pod's own.
struct ClaimsForOnePod {
  std::vector<Symbol> claims;  // names of the pod's ReadWriteOncePod claims, each once
  int users = 0;               // references to them by pods on nodes
  // By claim, a pod on a node that has it; null: none has. Looked up when somebody asks.
  std::optional<std::vector<Ref<const Pod>>> user_pods;
};

bool is_claim(const Volume& volume) {
  return volume.source == VolumeSource::kPersistentVolumeClaim;
}

// Disks that one node, or one writer, must have to itself.
bool is_restricted(const Volume& volume) {
  using enum VolumeSource;
  return volume.source == kGcePersistentDisk || volume.source == kAwsElasticBlockStore ||
         volume.source == kRbd || volume.source == kIscsi;
}

bool overlap(const std::vector<Symbol>& a, const std::vector<Symbol>& b) {
  return std::ranges::any_of(a, [&b](Symbol s) { return std::ranges::find(b, s) != b.end(); });
}

bool conflict(const Volume& a, const Volume& b) {
  if (a.source != b.source || a.source_name != b.source_name) return false;
  // Parity: of EBS disks not even readers may meet.
  if (a.source == VolumeSource::kAwsElasticBlockStore) return true;
  if (a.read_only && b.read_only) return false;
  return a.source != VolumeSource::kRbd ||
         (a.detail == b.detail && overlap(a.monitors, b.monitors));
}

using Disks = std::vector<const Volume*>;  // by name

Disks restricted_disks(const Pod& pod) {
  Disks disks;
  for (const Volume& volume : pod.spec().volumes)
    if (is_restricted(volume)) disks.push_back(&volume);
  std::ranges::sort(disks, {}, [](const Volume* disk) { return disk->source_name; });
  return disks;
}

bool conflict(const Disks& disks, const Pod& other) {
  return std::ranges::any_of(other.spec().volumes, [&disks](const Volume& volume) {
    if (!is_restricted(volume)) return false;
    const auto named = std::ranges::equal_range(
        disks, volume.source_name, {}, [](const Volume* disk) { return disk->source_name; });
    return std::ranges::any_of(named,
                               [&volume](const Volume* disk) { return conflict(*disk, volume); });
  });
}

// ---- obstacles

std::string_view type_of(const Volume& disk) {
  switch (disk.source) {
    case VolumeSource::kGcePersistentDisk: return "gcePersistentDisk";
    case VolumeSource::kAwsElasticBlockStore: return "awsElasticBlockStore";
    case VolumeSource::kRbd: return "rbd";
    case VolumeSource::kIscsi: return "iscsi";
    default: return "volume";
  }
}

// One for each disk of the pod that another pod on the row keeps from it.
std::vector<Obstacle> disk_obstacles(const Disks& disks, std::span<const Ref<const Pod>> pods,
                                     const Symbols& symbols) {
  std::vector<Obstacle> all;
  for (const Volume* disk : disks) {
    if (all.size() == kMostObstacles) break;
    const auto user = std::ranges::find_if(pods, [&](const Ref<const Pod>& other) {
      return !other->spec().volumes.empty() && conflict(Disks{disk}, *other);
    });
    if (user == pods.end()) continue;
    const std::string name(symbols.text(disk->source_name)), type(type_of(*disk));
    all.push_back({.code = "DiskConflict",
                   .reason = std::string(kVolumeRestrictionsReasons[kDiskConflict]),
                   .subject = fmt::format("{} {}", type, name),
                   .text = fmt::format("{} {} is in use by {}", type, name, (*user)->full_name()),
                   .facts = {{"volume", std::string(symbols.text(disk->name))},
                             {"type", type},
                             {"disk", name},
                             {"usedBy", (*user)->full_name()}}});
  }
  return all;
}

Ref<const Pod> user_of_claim(const NodeTable& nodes, Symbol namespace_name, Symbol claim) {
  Ref<const Pod> user;
  if (!nodes.is_claim_used(namespace_name, claim)) return user;
  nodes.nodes().for_each([&](NodeRow row) {
    if (user || nodes.claim_users(row, namespace_name, claim) == 0) return;
    for (const Ref<const Pod>& pod : nodes.pods(row))
      if (pod->meta().namespace_name == namespace_name &&
          std::ranges::any_of(pod->spec().volumes, [&](const Volume& volume) {
            return is_claim(volume) && volume.source_name == claim;
          }))
        user = pod;
  });
  return user;
}

std::vector<Obstacle> claim_obstacles(const Cycle& cycle, ClaimsForOnePod& state) {
  const Pod& pod = cycle.pod();
  if (!state.user_pods) {
    state.user_pods.emplace();
    for (const Symbol claim : state.claims)
      state.user_pods->push_back(user_of_claim(cycle.nodes(), pod.meta().namespace_name, claim));
  }
  std::vector<Obstacle> all;
  for (std::size_t i = 0; i < state.claims.size(); ++i) {
    if (!cycle.nodes().is_claim_used(pod.meta().namespace_name, state.claims[i])) continue;
    const std::string claim = fmt::format("{}/{}", pod.namespace_name(), pod.text(state.claims[i]));
    Obstacle& obstacle = all.emplace_back();
    obstacle.code = "ReadWriteOncePodInUse";
    obstacle.reason = kVolumeRestrictionsReasons[kClaimInUse];
    obstacle.subject = claim;
    obstacle.text = fmt::format("claim {} is for one pod only (ReadWriteOncePod)", claim);
    obstacle.facts = {{"claim", claim}};
    if (const Pod* user = (*state.user_pods)[i].get()) {
      obstacle.text += fmt::format(", {} on node {} has it", user->full_name(), user->node_name());
      obstacle.facts["usedBy"] = user->full_name();
      obstacle.facts["usedOn"] = user->node_name();
    }
  }
  return all;
}

std::vector<Obstacle> missing_claims(const Cluster& cluster, const Pod& pod) {
  for (const Volume& volume : pod.spec().volumes) {
    if (!is_claim(volume)) continue;
    const std::string_view name = pod.text(volume.source_name);
    if (auto claim = find_claim(cluster, pod.namespace_name(), name); !claim)
      return {missing_claim(pod, name, std::move(claim.error().message))};
  }
  return {};
}

// ---- hints

Result<QueueingHint> after_volume_pod_delete(const Pod& pod, const AnyObject& before,
                                             const AnyObject& after) {
  const Result<const Pod*> deleted = deleted_assigned_pod(before, after);
  if (!deleted) return fail(deleted.error());
  const Pod* gone = *deleted;
  if (!gone || gone->meta().namespace_name != pod.meta().namespace_name) return QueueingHint::kSkip;
  if (conflict(restricted_disks(pod), *gone)) return QueueingHint::kQueue;
  // Whether the claim is for one pod only is not looked up: that pods share it is enough.
  for (const Volume& theirs : gone->spec().volumes)
    for (const Volume& ours : pod.spec().volumes)
      if (is_claim(theirs) && is_claim(ours) && theirs.source_name == ours.source_name)
        return QueueingHint::kQueue;
  return QueueingHint::kSkip;
}

}  // namespace

Result<std::unique_ptr<Plugin>> VolumeRestrictions::create(const config::PluginArgs&,
                                                           const Handle&) {
  return std::make_unique<VolumeRestrictions>();
}

std::span<const std::string_view> VolumeRestrictions::reasons() const {
  return kVolumeRestrictionsReasons;
}

PreFilterResult VolumeRestrictions::pre_filter(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  ClaimsForOnePod state;
  bool restricted = false;
  for (const Volume& volume : pod.spec().volumes) {
    restricted |= is_restricted(volume);
    if (!is_claim(volume)) continue;
    Result<Ref<const PersistentVolumeClaim>> claim =
        find_claim(cycle.cluster(), pod.namespace_name(), pod.text(volume.source_name));
    if (!claim)
      return Outcome::of(Code::kUnschedulableAndUnresolvable, std::move(claim.error().message));
    if ((*claim)->access_modes.contains(AccessModes::kReadWriteOncePod) &&
        std::ranges::find(state.claims, volume.source_name) == state.claims.end())
      state.claims.push_back(volume.source_name);
  }
  for (const Symbol claim : state.claims)
    if (cycle.nodes().is_claim_used(pod.meta().namespace_name, claim)) ++state.users;
  if (!restricted && state.users == 0) return PreFilterResult::skip();
  cycle.put(*this, std::move(state));
  return PreFilterResult::success();
}

Outcome VolumeRestrictions::count(Cycle& cycle, const Pod& pod, int times) const {
  ClaimsForOnePod* state = cycle.find<ClaimsForOnePod>(*this);
  if (!state) return Outcome::failure(std::string(kNoState));
  // Parity: namespaces are not compared, and a pod counts once for each of its volumes.
  for (const Volume& volume : pod.spec().volumes)
    if (is_claim(volume) &&
        std::ranges::find(state->claims, volume.source_name) != state->claims.end())
      state->users += times;
  return Outcome::success();
}

Outcome VolumeRestrictions::add_pod(Cycle& cycle, const Pod& pod, NodeRow) const {
  return count(cycle, pod, 1);
}

Outcome VolumeRestrictions::remove_pod(Cycle& cycle, const Pod& pod, NodeRow) const {
  return count(cycle, pod, -1);
}

void VolumeRestrictions::filter(const Cycle& cycle, FilterPass& pass) const {
  if (const Disks disks = restricted_disks(cycle.pod()); !disks.empty())
    pass.feasible().for_each([&](NodeRow row) {
      if (std::ranges::any_of(pass.nodes().pods(row), [&disks](const Ref<const Pod>& other) {
            return !other->spec().volumes.empty() && conflict(disks, *other);
          }))
        pass.reject(row, Code::kUnschedulable, kDiskConflict);
    });
  const ClaimsForOnePod* state = cycle.find<ClaimsForOnePod>(*this);
  if (!state) return pass.fail_all({std::string(kNoState)});
  if (state->users > 0)
    pass.feasible().for_each(
        [&](NodeRow row) { pass.reject(row, Code::kUnschedulable, kClaimInUse); });
}

std::vector<Obstacle> VolumeRestrictions::obstacles(const Cycle& cycle, NodeRow row) const {
  if (row == kNoRow) return missing_claims(cycle.cluster(), cycle.pod());
  std::vector<Obstacle> disks =
      disk_obstacles(restricted_disks(cycle.pod()), cycle.nodes().pods(row), cycle.symbols());
  ClaimsForOnePod* state = cycle.find<ClaimsForOnePod>(*this);
  if (!disks.empty() || !state || state->users <= 0) return disks;
  return claim_obstacles(cycle, *state);
}

std::optional<std::vector<EventRegistration>> VolumeRestrictions::events_to_register() const {
  return {{{{EventResource::kAssignedPod, action::kDelete, {}},
            after_volume_pod_delete,
            HintScope::kClass},
           {{EventResource::kNode, action::kAdd, {}}, {}},
           {{EventResource::kPersistentVolumeClaim, action::kAdd, {}},
            after_named_claim,
            HintScope::kClass}}};
}

}  // namespace berth::plugins
