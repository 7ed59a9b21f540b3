#include "sim/node_pools.h"

#include <fmt/format.h>

#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"

namespace berth::sim {
Result<std::vector<Ref<const Node>>> make_nodes(const NodePool& pool, Interner& interner,
                                                WallTime now) {
  Admission admission;
  admission.now = now;
  const Result<AnyObject> decoded =
      decode_object(ObjectKind::kNode, pool.node_json, interner, &admission, pool.name);
  if (!decoded)
    return fail(decoded.error().kind,
                fmt::format("node pool {}: node.{}", pool.name, decoded.error().message));
  const auto& prototype = static_cast<const Node&>(*std::get<Ref<const Object>>(*decoded));

  std::vector<Ref<const Node>> nodes;
  for (std::int64_t i = 0; i < pool.count; ++i) {
    auto node = make_ref<Node>(prototype);
    node->name = fmt::format("{}-{}", pool.name, i + 1);
    node->symbol = node->symbols.intern(node->name);
    node->uid = deterministic_uid("Node", "", node->name);
    std::vector<Label> labels(node->labels.begin(), node->labels.end());
    labels.push_back({node->symbols.intern("kubernetes.io/hostname"), node->symbol});
    if (!pool.zones.empty())
      labels.push_back(
          {node->symbols.intern("topology.kubernetes.io/zone"),
           node->symbols.intern(pool.zones[static_cast<std::size_t>(i) % pool.zones.size()])});
    node->labels = LabelSet(std::move(labels));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace berth::sim
