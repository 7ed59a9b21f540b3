#include "plugins/volumes/volumes.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/feature_gates.h"
#include "plugins/arguments.h"
#include "plugins/signature.h"

namespace berth::plugins {
namespace {

constexpr std::uint32_t kAddOrUpdate = action::kAdd | action::kUpdate;

// Without hints, every such event may help.
std::vector<EventRegistration> registrations(
    std::initializer_list<std::pair<EventResource, std::uint32_t>> events) {
  std::vector<EventRegistration> list;
  for (const auto& [resource, actions] : events) list.push_back({{resource, actions, {}}, {}});
  return list;
}

}  // namespace

// ---- what the four have in common ---------------------------------------------------------------

PreFilterResult VolumePlugin::pre_filter(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  for (const Volume& volume : pod.spec().volumes)
    if (judges(volume.source))
      return Outcome::of(
          Code::kUnschedulableAndUnresolvable,
          fmt::format("volume \"{}\" cannot be judged by {} yet", pod.text(volume.name), name()));
  return Outcome::skip();
}

Outcome VolumePlugin::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  std::vector<std::string> sources;
  for (const Volume& volume : pod.spec().volumes)
    if (volume.source != VolumeSource::kConfigMap && volume.source != VolumeSource::kSecret)
      sources.push_back(fmt::format("{}{}{}", static_cast<int>(volume.source),
                                    volume.read_only ? "r" : "w",
                                    delimited(pod.text(volume.source_name))));
  std::ranges::sort(sources);
  fragments.push_back(
      {"v1.Pod.Spec.Volumes.NonSyntheticSources()", fmt::format("{}", fmt::join(sources, ","))});
  return Outcome::success();
}

// ---- VolumeRestrictions -------------------------------------------------------------------------

Result<std::unique_ptr<Plugin>> VolumeRestrictions::create(const config::PluginArgs&,
                                                           const Handle&) {
  return std::make_unique<VolumeRestrictions>();
}

// Disks that one node has to itself, and claims that may be for one pod only.
bool VolumeRestrictions::judges(VolumeSource source) const {
  using enum VolumeSource;
  return source == kPersistentVolumeClaim || source == kGcePersistentDisk ||
         source == kAwsElasticBlockStore || source == kRbd || source == kIscsi;
}

std::optional<std::vector<EventRegistration>> VolumeRestrictions::events_to_register() const {
  return registrations({{EventResource::kPod, action::kDelete},
                        {EventResource::kNode, action::kAdd},
                        {EventResource::kPersistentVolumeClaim, action::kAdd}});
}

// ---- NodeVolumeLimits ---------------------------------------------------------------------------

Result<std::unique_ptr<Plugin>> NodeVolumeLimits::create(const config::PluginArgs&, const Handle&) {
  return std::make_unique<NodeVolumeLimits>();
}

// Claims, and the disks that a CSI driver may have taken over.
bool NodeVolumeLimits::judges(VolumeSource source) const {
  using enum VolumeSource;
  switch (source) {
    case kPersistentVolumeClaim:
    case kEphemeral:
    case kGcePersistentDisk:
    case kAwsElasticBlockStore:
    case kCinder:
    case kAzureDisk:
    case kAzureFile:
    case kVsphereVolume:
    case kPortworxVolume: return true;
    default: return false;
  }
}

std::optional<std::vector<EventRegistration>> NodeVolumeLimits::events_to_register() const {
  return registrations({{EventResource::kCSINode, action::kAdd},
                        {EventResource::kCSINode, action::kUpdate},
                        {EventResource::kPod, action::kDelete},
                        {EventResource::kPersistentVolumeClaim, action::kAdd},
                        {EventResource::kVolumeAttachment, action::kDelete}});
}

// ---- VolumeBinding ------------------------------------------------------------------------------

Result<std::unique_ptr<Plugin>> VolumeBinding::create(const config::PluginArgs& arguments,
                                                      const Handle& handle) {
  const auto args = typed_arguments<config::VolumeBindingArgs>(arguments, "VolumeBindingArgs");
  if (!args) return fail(args.error());
  return std::make_unique<VolumeBinding>(handle.gates.enabled("StorageCapacityScoring"));
}

bool VolumeBinding::judges(VolumeSource source) const {
  return source == VolumeSource::kPersistentVolumeClaim || source == VolumeSource::kEphemeral;
}

Outcome VolumeBinding::pre_score(Cycle&, const NodeSet&) const {
  return scores_capacity_ ? Outcome::success() : Outcome::skip();
}

Outcome VolumeBinding::score(const Cycle&, const NodeSet& feasible, std::span<Score> by_row) const {
  feasible.for_each([&](NodeRow row) { by_row[row] = 0; });  // nothing to bind, nothing to prefer
  return Outcome::success();
}

PreBindPreFlight VolumeBinding::pre_bind_pre_flight(Cycle&, std::string_view) const {
  return {.outcome = Outcome::skip(), .allow_parallel = true};
}

Task<Outcome> VolumeBinding::pre_bind(Cycle&, std::string_view, CancelToken) const {
  co_return Outcome::success();
}

std::optional<std::vector<EventRegistration>> VolumeBinding::events_to_register() const {
  return registrations({{EventResource::kStorageClass, kAddOrUpdate},
                        {EventResource::kPersistentVolumeClaim, kAddOrUpdate},
                        {EventResource::kPersistentVolume, kAddOrUpdate},
                        {EventResource::kNode, action::kAdd | action::kUpdateNodeLabel},
                        {EventResource::kCSINode, kAddOrUpdate},
                        {EventResource::kCSIDriver, action::kUpdate},
                        {EventResource::kCSIStorageCapacity, kAddOrUpdate}});
}

// ---- VolumeZone ---------------------------------------------------------------------------------

Result<std::unique_ptr<Plugin>> VolumeZone::create(const config::PluginArgs&, const Handle&) {
  return std::make_unique<VolumeZone>();
}

bool VolumeZone::judges(VolumeSource source) const {
  return source == VolumeSource::kPersistentVolumeClaim;
}

std::optional<std::vector<EventRegistration>> VolumeZone::events_to_register() const {
  return registrations({{EventResource::kStorageClass, action::kAdd},
                        {EventResource::kNode, action::kAdd | action::kUpdateNodeLabel},
                        {EventResource::kPersistentVolumeClaim, kAddOrUpdate},
                        {EventResource::kPersistentVolume, kAddOrUpdate}});
}

}  // namespace berth::plugins
