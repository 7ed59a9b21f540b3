#include "controllers/orphaned_pods.h"

#include <vector>

namespace berth::controllers {
namespace {

// As upstream's pod garbage collector has it.
constexpr Duration kQuarantine = std::chrono::seconds(40);

}  // namespace

OrphanedPods::OrphanedPods(Loop& loop, PodIndex& pods, OrphanedPodWorld& world)
    : loop_(loop), pods_(pods), world_(world) {
  pods_.listen(lifetime_, [this](const PodFacts*, const PodFacts* after) {
    if (after != nullptr && !after->node.empty() && !world_.has_node(after->node))
      node_changed(after->node);
  });
}

void OrphanedPods::node_changed(const std::string& name) {
  if (world_.has_node(name)) {
    gone_.erase(name);
    return;
  }
  if (!gone_.try_emplace(name, loop_.now()).second) return;  // its timer runs
  loop_.after(kQuarantine, lifetime_.guard([this, name] { collect(name); }));
}

void OrphanedPods::collect(const std::string& node) {
  const auto gone = gone_.find(node);
  // The node is back, or went again later and has a newer timer.
  if (gone == gone_.end() || loop_.now() - gone->second < kQuarantine) return;
  pods_.catch_up();
  std::vector<PodFacts> orphans;  // copies: the index changes while they go
  for (const PodFacts* pod : pods_.on_node(node)) orphans.push_back(*pod);
  for (const PodFacts& pod : orphans) world_.remove_orphan(pod);
  pods_.catch_up();
  gone_.erase(node);
  if (!pods_.on_node(node).empty()) node_changed(node);  // those that are left get another timer
}

}  // namespace berth::controllers
