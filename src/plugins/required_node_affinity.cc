#include "plugins/required_node_affinity.h"

namespace berth::plugins {

const ::berth::NodeAffinity* node_affinity_of(const PodSpec& spec) {
  return spec.affinity && spec.affinity->node ? &*spec.affinity->node : nullptr;
}

RequiredNodeAffinity required_node_affinity(const Pod& pod) {
  return {pod.spec().node_selector, node_affinity_of(pod.spec()), pod.symbols()};
}

NodeSet matching_rows(const RequiredNodeAffinity& required, const NodeTable& nodes,
                      const NodeSet& among) {
  NodeSet matching = among;
  if (required.empty()) return matching;
  const Symbols& symbols = *nodes.symbol_table();
  among.for_each([&](NodeRow row) {
    if (!required.matches(nodes.node(row), symbols)) matching.erase(row);
  });
  return matching;
}

}  // namespace berth::plugins
