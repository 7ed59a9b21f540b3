// What an incoming pod asks for, as NodeResourcesFit weighs it against nodes.
#pragma once

#include "berth/plugin.h"
#include "berth/pod.h"
#include "berth/resources.h"
#include "plugins/device_class_resources.h"

namespace berth::config {
class FeatureGates;
}

namespace berth::plugins {

// The feature gates that say how a pod's requests count.
struct RequestGates {
  bool pod_level_resources = true;
  bool pod_level_status = true;  // InPlacePodLevelResourcesVerticalScaling
  bool in_place_scaling = true;  // InPlacePodVerticalScaling

  static RequestGates of(const config::FeatureGates& gates);
};

// The pod's requests with negative amounts as zero. The status does not count: the pod is on no
// node yet. `pod_level`: spec.resources counts (PodLevelResources).
Resources incoming_request(const Pod& pod, bool pod_level);

// Pods that ask for the same are the same to NodeResourcesFit and NodeResourcesBalancedAllocation,
// unless they ask for devices: what is left of those is not known here. `classes` may be null.
Outcome sign_request(const Pod& pod, bool pod_level, DeviceClassResources* classes,
                     std::vector<SignatureFragment>& fragments);

// The scalars that are asked for at all (amount above zero), in the order of their names' text, so
// that reasons come in the same order in every run.
std::vector<ScalarAmount> scalars_by_text(const Resources& request, const Symbols& symbols);

}  // namespace berth::plugins
