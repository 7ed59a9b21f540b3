// Manifests, in JSON, of the small clusters that runs with volumes and devices are about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/random.h"

namespace berth::simulation {

// StorageClasses "lazy", "local" and "fast", DeviceClass "gpu" (also the resource
// example.com/gpu), ResourceClaimTemplate "one".
std::vector<std::string> class_manifests();

// The node and its CSINode.
std::vector<std::string> node_manifests(std::string_view name, std::string_view cpu = "8");
// A volume of the class "local" on that node.
std::string disk_manifest(std::string_view node);
// `devices` devices of a node.
std::string slice_manifest(std::string_view node, std::int64_t generation, int devices);

// What pods differ in, apart from their claims.
struct PodTraits {
  std::string_view cpu = "100m";
  std::string spec = {};    // further members: `"priorityClassName":"high"`
  bool priority = false;    // one of some is drawn, as a number
  std::string labels = {};  // members: `"a":"b"`
};
struct PodManifests {
  std::string pod;                         // "default/p<number>"
  std::vector<std::string> own_claims;     // of volumes, to be made before the pod
  std::vector<std::string> shared_claims;  // names: of devices, perhaps there already
  std::string summary;
};
// A pod with volumes, devices, both or neither, as drawn.
PodManifests pod_manifests(int number, Random& random, const PodTraits& traits);
// "shared-1"
std::string shared_claim_manifest(std::string_view name);

}  // namespace berth::simulation
