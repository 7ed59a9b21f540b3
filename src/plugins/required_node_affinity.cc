#include "plugins/required_node_affinity.h"

namespace berth::plugins {

const ::berth::NodeAffinity* node_affinity_of(const PodSpec& spec) {
  return spec.affinity && spec.affinity->node ? &*spec.affinity->node : nullptr;
}

RequiredNodeAffinity required_node_affinity(const Pod& pod) {
  return {pod.spec().node_selector, node_affinity_of(pod.spec()), pod.symbols()};
}

}  // namespace berth::plugins
