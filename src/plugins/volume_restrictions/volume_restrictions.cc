#include "plugins/volume_restrictions/volume_restrictions.h"

#include <algorithm>
#include <array>

#include "api/storage.h"
#include "plugins/event_objects.h"
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

Result<QueueingHint> after_volume_pod_delete(const Pod& pod, const AnyObject& before,
                                             const AnyObject& after) {
  const auto change = change_in<Pod>(before, after);
  if (!change)
    return fail(
        change.error().kind,
        "unexpected objects in isSchedulableAfterAssignedPodDeleted: " + change.error().message);
  const Pod* gone = change->before;
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
