#include "kube/watched_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "api/coscheduling.h"

namespace berth::kube {
namespace {

struct Row {
  ObjectKind kind;
  std::string_view api_version;
  std::string_view kind_name;
  std::string_view resource;
  std::string_view field_selector = {};
};

// Pods that have finished are of no interest, and there may be many.
constexpr std::string_view kUnfinished = "status.phase!=Succeeded,status.phase!=Failed";

constexpr Row kRows[] = {
    {ObjectKind::kPod, "v1", "Pod", "pods", kUnfinished},
    {ObjectKind::kNode, "v1", "Node", "nodes"},
    {ObjectKind::kNamespace, "v1", "Namespace", "namespaces"},
    {ObjectKind::kService, "v1", "Service", "services"},
    {ObjectKind::kReplicationController, "v1", "ReplicationController", "replicationcontrollers"},
    {ObjectKind::kReplicaSet, "apps/v1", "ReplicaSet", "replicasets"},
    {ObjectKind::kStatefulSet, "apps/v1", "StatefulSet", "statefulsets"},
    {ObjectKind::kPodDisruptionBudget, "policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"},
    {ObjectKind::kPersistentVolume, "v1", "PersistentVolume", "persistentvolumes"},
    {ObjectKind::kPersistentVolumeClaim, "v1", "PersistentVolumeClaim", "persistentvolumeclaims"},
    {ObjectKind::kStorageClass, "storage.k8s.io/v1", "StorageClass", "storageclasses"},
    {ObjectKind::kCSINode, "storage.k8s.io/v1", "CSINode", "csinodes"},
    {ObjectKind::kCSIDriver, "storage.k8s.io/v1", "CSIDriver", "csidrivers"},
    {ObjectKind::kCSIStorageCapacity, "storage.k8s.io/v1", "CSIStorageCapacity",
     "csistoragecapacities"},
    {ObjectKind::kVolumeAttachment, "storage.k8s.io/v1", "VolumeAttachment", "volumeattachments"},
    {ObjectKind::kResourceClaim, "resource.k8s.io/v1", "ResourceClaim", "resourceclaims"},
    {ObjectKind::kResourceSlice, "resource.k8s.io/v1", "ResourceSlice", "resourceslices"},
    {ObjectKind::kDeviceClass, "resource.k8s.io/v1", "DeviceClass", "deviceclasses"},
    {ObjectKind::kDeviceTaintRule, "resource.k8s.io/v1", "DeviceTaintRule", "devicetaintrules"},
    {ObjectKind::kPodGroup, "scheduling.k8s.io/v1beta1", "PodGroup", "podgroups"},
};

// What a plugin reads; `gate` empty: always.
struct Need {
  std::string_view plugin;
  std::string_view kind_name;
  std::string_view gate = {};
};

constexpr Need kNeeds[] = {
    {"InterPodAffinity", "Namespace"},
    {"PodTopologySpread", "Service"},
    {"PodTopologySpread", "ReplicationController"},
    {"PodTopologySpread", "ReplicaSet"},
    {"PodTopologySpread", "StatefulSet"},
    {"DefaultPreemption", "PodDisruptionBudget"},
    {"DefaultPreemption", "PodGroup", "GenericWorkload"},
    {"VolumeRestrictions", "PersistentVolumeClaim"},
    {"NodeVolumeLimits", "PersistentVolume"},
    {"NodeVolumeLimits", "PersistentVolumeClaim"},
    {"NodeVolumeLimits", "StorageClass"},
    {"NodeVolumeLimits", "CSINode"},
    {"NodeVolumeLimits", "CSIDriver"},
    {"NodeVolumeLimits", "VolumeAttachment"},
    {"VolumeBinding", "PersistentVolume"},
    {"VolumeBinding", "PersistentVolumeClaim"},
    {"VolumeBinding", "StorageClass"},
    {"VolumeBinding", "CSINode"},
    {"VolumeBinding", "CSIDriver"},
    {"VolumeBinding", "CSIStorageCapacity"},
    {"VolumeZone", "PersistentVolume"},
    {"VolumeZone", "PersistentVolumeClaim"},
    {"VolumeZone", "StorageClass"},
    {"DynamicResources", "ResourceClaim", "DynamicResourceAllocation"},
    {"DynamicResources", "ResourceSlice", "DynamicResourceAllocation"},
    {"DynamicResources", "DeviceClass", "DynamicResourceAllocation"},
    {"DynamicResources", "DeviceTaintRule", "DRADeviceTaintRules"},
    {"DynamicResources", "PodGroup", "DRAWorkloadResourceClaims"},
    // Classes may stand for extended resources, which a pod may wait for.
    {"NodeResourcesFit", "DeviceClass", "DRAExtendedResource"},
    {"GangScheduling", "PodGroup", "GenericWorkload"},
    {"TopologyPlacementGenerator", "PodGroup", "GenericWorkload"},
};

// Every plugin of the profile, at whatever point it runs: they are all made.
std::set<std::string_view> plugins_of(const config::Profile& profile) {
  std::set<std::string_view> names;
  for (const config::PluginSet& set : profile.plugins.sets)
    for (const config::PluginRef& plugin : set.enabled) names.insert(plugin.name);
  return names;
}

// Services and controllers define which pods belong together, for pods without constraints of their
// own.
bool has_default_constraints(const config::Profile& profile) {
  for (const config::PluginConfig& entry : profile.plugin_config) {
    if (entry.name != "PodTopologySpread") continue;
    const auto* args = std::get_if<config::PodTopologySpreadArgs>(&entry.args);
    if (args) return args->system_defaults || !args->default_constraints.empty();
  }
  return true;
}

// Consumers by the name of the kind.
using Consumers = std::set<std::pair<std::string_view, std::string_view>>;

// An API server that does not serve what only features that are not built would read must not keep
// the scheduler from starting.
bool acts_upon(std::string_view gate, const config::FeatureGates& gates) {
  return gates.enabled(gate) && gates.find(gate)->use == config::Gate::Use::kHere;
}

void add_needs(const config::Profile& profile, const config::FeatureGates& gates,
               Consumers& consumers) {
  const std::set<std::string_view> plugins = plugins_of(profile);
  for (const Need& need : kNeeds) {
    if (!plugins.contains(need.plugin)) continue;
    if (!need.gate.empty() && !acts_upon(need.gate, gates)) continue;
    if (need.plugin == "PodTopologySpread" && !has_default_constraints(profile)) continue;
    consumers.emplace(need.kind_name, need.plugin);
  }
}

}  // namespace

std::string WatchedKind::path() const {
  const std::string_view root = api_version.find('/') == std::string::npos ? "/api" : "/apis";
  return fmt::format("{}/{}/{}", root, api_version, resource);
}

std::string WatchedKind::other_resource() const {
  const std::size_t slash = std::min(api_version.find('/'), api_version.size());
  const std::string_view text = api_version;
  if (slash == text.size()) return fmt::format("{}.{}.", resource, text);
  return fmt::format("{}.{}.{}", resource, text.substr(slash + 1), text.substr(0, slash));
}

std::string WatchedKind::full_resource() const {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string::npos) return resource;
  return fmt::format("{}.{}", resource, std::string_view(api_version).substr(0, slash));
}

std::string WatchedKind::type_name() const {
  const std::size_t slash = api_version.find('/');
  const std::string_view version = slash == std::string::npos
                                       ? std::string_view(api_version)
                                       : std::string_view(api_version).substr(slash + 1);
  // Parity: as the log of a dynamic informer has it.
  if (custom) return "*unstructured.Unstructured";
  return fmt::format("*{}.{}", version, kind_name);
}

std::vector<WatchedKind> watched_kinds(const config::Configuration& configuration,
                                       const config::FeatureGates& gates) {
  Consumers consumers{{"Pod", "core"}, {"Node", "core"}};
  if (acts_upon("GenericWorkload", gates)) consumers.emplace("PodGroup", "core");
  for (const config::Profile& profile : configuration.profiles)
    add_needs(profile, gates, consumers);

  std::vector<WatchedKind> kinds;
  for (const Row& row : kRows) {
    WatchedKind kind{row.kind,
                     std::string(row.api_version),
                     std::string(row.kind_name),
                     std::string(row.resource),
                     std::string(row.field_selector),
                     {}};
    for (auto at = consumers.lower_bound({row.kind_name, {}});
         at != consumers.end() && at->first == row.kind_name; ++at)
      kind.consumers.emplace_back(at->second);
    if (!kind.consumers.empty()) kinds.push_back(std::move(kind));
  }
  return kinds;
}

WatchedKind other_kind(std::string_view resource, const std::set<std::string>& plugins) {
  const std::size_t plural = std::min(resource.find('.'), resource.size());
  const std::size_t version = std::min(resource.find('.', plural + 1), resource.size());
  WatchedKind kind;
  kind.resource = resource.substr(0, plural);
  kind.api_version = resource.substr(plural + 1, version - plural - 1);
  if (version + 1 < resource.size())
    kind.api_version = fmt::format("{}/{}", resource.substr(version + 1), kind.api_version);
  kind.consumers.assign(plugins.begin(), plugins.end());
  kind.custom = true;
  if (resource == CoschedulingPodGroup::kResource) {
    kind.kind = ObjectKind::kCoschedulingPodGroup;
    kind.kind_name = to_string(kind.kind);
  }
  return kind;
}

}  // namespace berth::kube
