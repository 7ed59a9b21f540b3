#include "framework/extender.h"

namespace berth {

Task<Result<MetaVictimsByNode>> Extender::preempt(Ref<const Pod>, VictimsByNode victims) {
  MetaVictimsByNode same;
  for (const auto& [node, of_node] : victims) {
    ExtenderMetaVictims& meta = same[node];
    for (const Ref<const Pod>& pod : of_node.pods) meta.pod_uids.push_back(pod->uid_text());
    meta.pdb_violations = of_node.pdb_violations;
  }
  co_return same;
}

}  // namespace berth
