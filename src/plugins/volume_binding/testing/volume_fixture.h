// For the tests of VolumeBinding: a cluster with storage, a pod with claims, and an API server that
// takes writes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/testing/storage_builders.h"
#include "plugins/testing/plugin_fixture.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::testing {

inline constexpr const char* kNodeConflictReason =
    "node(s) didn't match PersistentVolume's node affinity";
inline constexpr const char* kBindConflictReason =
    "node(s) didn't find available persistent volumes to bind";
inline constexpr const char* kNoSpaceReason = "node(s) did not have enough free storage";
inline constexpr const char* kNoVolumeReason =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

struct VolumeFixture : PluginFixture {
  VolumeBuilder volume(std::string name) { return {world, std::move(name)}; }
  ClaimBuilder claim(std::string name) { return {world, std::move(name)}; }
  StorageClassBuilder storage_class(std::string name) { return {world, std::move(name)}; }
  CapacityBuilder capacity(std::string name, std::string_view of) {
    return {world, std::move(name), of};
  }
  template <typename Built>
  void put(const Built& object) {
    cluster.put(object.build());
  }
  void put(const Ref<const CSINode>& object) { cluster.put(object); }
  void put(const Ref<const CSIDriver>& object) { cluster.put(object); }

  Ref<const Pod> pod_with(const std::vector<std::string>& claims) {
    PodBuilder pod = world.pod("p");
    for (const std::string& name : claims) with_claim(pod, name);
    return pod;
  }
  // Nodes a, b, …, each in a zone of its own name.
  void add_zoned_nodes(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      add_node(world.node(name).label("zone", name).label("kubernetes.io/hostname", name));
  }

  plugins::VolumeBinding& plugin() {
    if (!plugin_) plugin_ = make<plugins::VolumeBinding>();
    return *plugin_;
  }
  Verdicts filter(Ref<const Pod> pod) { return PluginFixture::filter(plugin(), std::move(pod)); }
  Outcome pre_filter(Ref<const Pod> pod) {
    Cycle cycle(std::move(pod), cluster);
    return plugin().pre_filter(cycle).outcome;
  }

 private:
  std::unique_ptr<plugins::VolumeBinding> plugin_;
};

}  // namespace berth::testing
