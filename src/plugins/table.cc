#include "plugins/table.h"

#include "base/check.h"
#include "plugins/coscheduling/coscheduling.h"
#include "plugins/default_binder/default_binder.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/gang_scheduling/gang_scheduling.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_group_placements/pod_group_placements.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"

namespace berth::plugins {
namespace {

// Stands where a plugin is known but not built yet.
const PluginFactory kNotBuilt;

std::vector<PluginEntry> entries() {
  return {
      {"SchedulingGates", SchedulingGates::create, "PreEnqueue", 0,
       "Keeps pods out of the queue until their scheduling gates are removed."},
      {"PrioritySort", PrioritySort::create, "QueueSort", 0,
       "Tries pods of higher priority first, among equals those that have waited longer."},
      {"NodeName", NodeName::create, "PreFilter, Filter", 0,
       "Rejects every node but the one that the pod itself names."},
      {"NodeUnschedulable", NodeUnschedulable::create, "PreFilter, Filter", 0,
       "Keeps pods off cordoned nodes."},
      {"TaintToleration", TaintToleration::create, "PreFilter, Filter, PreScore, Score", 3,
       "Keeps pods off nodes whose taints they do not tolerate and prefers nodes with fewer of "
       "them."},
      {"NodeAffinity", NodeAffinity::create, "PreFilter, Filter, PreScore, Score", 2,
       "Matches the pod's node selector and node affinity with the nodes' labels."},
      {"NodePorts", NodePorts::create, "PreFilter, Filter", 0,
       "Keeps pods off nodes where a host port that they want is taken."},
      {"NodeResourcesFit", NodeResourcesFit::create,
       "PreFilter, Filter, PreScore, Score, PlacementScore", 1,
       "Rejects nodes without room for what the pod requests and prefers nodes by how full they "
       "would be."},
      {"VolumeRestrictions", VolumeRestrictions::create, "PreFilter, Filter", 0,
       "Keeps pods off nodes where a volume is in use that cannot be shared."},
      {"NodeVolumeLimits", NodeVolumeLimits::create, "PreFilter, Filter", 0,
       "Keeps pods off nodes that cannot attach as many volumes."},
      {"VolumeBinding", VolumeBinding::create,
       "PreFilter, Filter, PreScore, Score, Reserve, PreBind", 1,
       "Finds or provisions volumes for the pod's claims and rejects nodes that cannot reach "
       "them."},
      {"VolumeZone", VolumeZone::create, "PreFilter, Filter", 0,
       "Rejects nodes outside the zones of the pod's volumes."},
      {"PodTopologySpread", PodTopologySpread::create, "PreFilter, Filter, PreScore, Score", 2,
       "Spreads pods evenly over zones, nodes or other domains."},
      {"InterPodAffinity", InterPodAffinity::create, "PreFilter, Filter, PreScore, Score", 2,
       "Puts pods near to, or away from, the pods that they or those others name."},
      {"DynamicResources", DynamicResources::create,
       "PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind, PodGroupPostFilter", 2,
       "Allocates devices for the pod's resource claims and rejects nodes without them."},
      {"DefaultPreemption", DefaultPreemption::create, "PreEnqueue, PostFilter, PodGroupPostFilter",
       0, "Makes room for a pod that fits nowhere by evicting pods of lower priority."},
      {"NodeResourcesBalancedAllocation", NodeResourcesBalancedAllocation::create,
       "PreScore, Score", 1, "Prefers nodes whose resources the pod would leave more evenly used."},
      {"ImageLocality", ImageLocality::create, "Score", 1,
       "Prefers nodes that have the pod's images already."},
      {"DefaultBinder", DefaultBinder::create, "Bind", 0,
       "Asks the API server to bind the pod to its node."},
      {"NodeDeclaredFeatures", NodeDeclaredFeatures::create, "PreFilter, Filter", 0,
       "Rejects nodes that lack a feature which the pod needs."},
      {"Coscheduling", Coscheduling::create, "QueueSort, PreFilter, PostFilter, Reserve, Permit", 0,
       "Holds the pods of a PodGroup of scheduling.x-k8s.io until enough of them have a place."},
      {"DeferredPodScheduling", kNotBuilt, "PreFilter, Filter, Permit", 0,
       "Makes room on its node for a pod whose resize has to wait."},
      {"GangScheduling", GangScheduling::create, "PreEnqueue, Permit", 0,
       "Holds the pods of a group until enough of them can be placed."},
      {"TopologyPlacementGenerator", TopologyPlacementGenerator::create, "PlacementGenerate", 0,
       "Proposes sets of nodes, one per topology domain, for a whole group of pods."},
      {"PodGroupPodsCount", PodGroupPodsCount::create, "PlacementScore", 1,
       "Prefers the set of nodes that takes the most pods of a group."},
  };
}

}  // namespace

PluginTable make_plugin_table() {
  PluginTable table;
  for (PluginEntry& entry : entries()) {
    Result<void> added = table.add(std::move(entry));
    BERTH_CHECK(added.has_value());
  }
  return table;
}

}  // namespace berth::plugins
