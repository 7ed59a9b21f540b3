#include "explain/cluster_copy.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "cluster/assumed_objects.h"
#include "explain/evaluator_parts.h"
#include "framework/remembering_plugin.h"

namespace berth::explain {
namespace {

// So many rows and objects are copied at once at last. A busy scheduler changes fewer in the time
// between two slices; after some rounds the rest is copied at once, however much it is.
constexpr std::size_t kAtOnce = 256;
constexpr int kMostRounds = 20;

}  // namespace

ClusterCopy::ClusterCopy(const Cluster& original, const Nominator& nominator,
                         const Framework* framework, Evaluator& copy)
    : original_(original), nominator_(nominator), framework_(framework), copy_(*copy.parts_) {}

bool ClusterCopy::catch_up(WallTime now, const std::function<bool()>& time_left) {
  for (bool last = false; !last;) {
    if (next_row_ == rows_.size() && next_object_ == objects_.size()) {
      rows_ = changed_rows();
      objects_ = changed_objects();
      next_row_ = next_object_ = 0;
      last = rows_.size() + objects_.size() <= kAtOnce || ++round_ > kMostRounds;
    }
    for (; next_object_ < objects_.size(); ++next_object_) {
      if (!last && !time_left()) return false;
      copy_object(objects_[next_object_]);
    }
    for (; next_row_ < rows_.size(); ++next_row_) {
      if (!last && !time_left()) return false;
      copy_row(rows_[next_row_]);
    }
  }
  round_ = 0;
  objects_.clear();
  next_object_ = 0;
  std::erase_if(bound_, [this](const auto& one) { return !original_.is_assumed(one.first); });
  copy_nominations();
  copy_memory();
  copy_.loop.jump_wall_clock(now - copy_.loop.wall_now());
  copy_.cluster.begin_cycle();
  return true;
}

// Those that may differ from the copy, each once.
std::vector<NodeRow> ClusterCopy::changed_rows() {
  const NodeTable& nodes = original_.nodes();
  std::vector<NodeRow> rows;
  const auto changes = log_position_ ? nodes.changes_since(*log_position_)
                                     : std::optional<std::span<const ChangedRow>>();
  if (changes) {
    for (const ChangedRow& change : *changes) rows.push_back(change.row);
    std::ranges::sort(rows);
    const auto repeated = std::ranges::unique(rows);
    rows.erase(repeated.begin(), repeated.end());
  } else {
    for (NodeRow row = 0; row < std::max(nodes.rows(), names_.size()); ++row) rows.push_back(row);
  }
  log_position_ = nodes.log_end();
  return rows;
}

// ---- nodes, and the pods on them

void ClusterCopy::copy_row(NodeRow row) {
  const NodeTable& nodes = original_.nodes();
  if (row >= names_.size()) names_.resize(row + 1);
  const bool present = row < nodes.rows() && nodes.has_node(row);
  const Symbol before = std::exchange(names_[row], present ? nodes.name(row) : Symbol());
  if (!before.empty() && before != names_[row]) {
    // Unless it has another row now.
    const NodeRow now = nodes.find(before);
    if (now == kNoRow || !nodes.has_node(now)) remove_node(before);
  }
  if (!present) return;
  const Ref<const Node>& node = nodes.node_ref(row);
  const NodeTable& copied = copy_.cluster.nodes();
  const NodeRow known = copied.find(node->symbol);
  if (known == kNoRow || !copied.has_node(known))
    copy_.cluster.add_node(node);
  else if (copied.node_ref(known) != node)
    copy_.cluster.update_node(node);
  copy_pods(row);
}

void ClusterCopy::copy_pods(NodeRow row) {
  Cluster& copy = copy_.cluster;
  const auto by_address = [](const Ref<const Pod>& pod) { return pod.get(); };
  const auto sorted = [&](std::vector<Ref<const Pod>> pods) {
    std::ranges::sort(pods, {}, by_address);
    return pods;
  };
  std::vector<Ref<const Pod>> placed;
  for (const Ref<const Pod>& pod : original_.nodes().pods(row))
    placed.push_back(as_bound(pod, row));
  const std::vector<Ref<const Pod>> wanted = sorted(std::move(placed));
  const auto now = copy.nodes().pods(copy.nodes().find(original_.nodes().name(row)));
  const std::vector<Ref<const Pod>> there = sorted({now.begin(), now.end()});
  std::vector<Ref<const Pod>> gone, added;
  std::ranges::set_difference(there, wanted, std::back_inserter(gone), {}, by_address, by_address);
  std::ranges::set_difference(wanted, there, std::back_inserter(added), {}, by_address, by_address);
  for (const Ref<const Pod>& pod : gone) BERTH_CHECK(copy.remove_pod(*pod).has_value());
  for (const Ref<const Pod>& pod : added) {
    // It may still be on another node, whose row comes later.
    if (const Ref<const Pod> elsewhere = copy.placed(pod->uid()))
      BERTH_CHECK(copy.remove_pod(*elsewhere).has_value());
    BERTH_CHECK(copy.add_pod(pod).has_value());
  }
}

// A pod that is assumed on a node does not say so itself.
Ref<const Pod> ClusterCopy::as_bound(const Ref<const Pod>& pod, NodeRow row) {
  const Symbol node = original_.nodes().name(row);
  if (pod->node() == node) return pod;
  Bound& bound = bound_[pod->uid()];
  if (bound.assumed != pod || bound.pod->node() != node) {
    PodDraft draft = draft_of(*pod);
    draft.node_name = original_.symbols().text(node);
    bound = {pod, make_pod(std::move(draft))};
  }
  return bound.pod;
}

void ClusterCopy::remove_node(Symbol name) {
  const NodeTable& copied = copy_.cluster.nodes();
  const std::span<const Ref<const Pod>> there = copied.pods(copied.find(name));
  for (const Ref<const Pod>& pod : std::vector<Ref<const Pod>>(there.begin(), there.end()))
    BERTH_CHECK(copy_.cluster.remove_pod(*pod).has_value());
  BERTH_CHECK(copy_.cluster.remove_node(name).has_value());
}

// ---- everything else

std::vector<ClusterCopy::ChangedObject> ClusterCopy::changed_objects() {
  std::vector<ChangedObject> changed;
  for (std::size_t i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<ObjectKind>(i);
    if (kind == ObjectKind::kPod || kind == ObjectKind::kNode) continue;
    const bool claims = kind == ObjectKind::kResourceClaim;
    const bool ahead = claims && original_.assumed_claims().assumed_count() > 0;
    const std::uint64_t generation = original_.generation(kind);
    if (generations_[i] == generation && !ahead && !(claims && claims_assumed_)) continue;
    generations_[i] = generation;
    // Claims as they will be: what is assumed of them is stored in the copy.
    compare(kind, claims ? original_.assumed_claims().list() : original_.list(kind), changed);
    if (claims) claims_assumed_ = ahead;
  }
  return changed;
}

void ClusterCopy::compare(ObjectKind kind, const std::vector<Ref<const Object>>& objects,
                          std::vector<ChangedObject>& changed) const {
  const std::vector<Ref<const Object>> before = copy_.cluster.list(kind);
  std::unordered_set<const Object*> there, wanted;
  for (const Ref<const Object>& object : before) there.insert(object.get());
  for (const Ref<const Object>& object : objects) wanted.insert(object.get());
  for (const Ref<const Object>& object : before)
    if (!wanted.contains(object.get())) changed.push_back({object, true});
  for (const Ref<const Object>& object : objects)
    if (!there.contains(object.get())) changed.push_back({object, false});
}

void ClusterCopy::copy_object(const ChangedObject& changed) {
  if (!changed.gone) return copy_.cluster.put(changed.object);
  const Object& object = *changed.object;
  // A newer version takes its place by itself.
  const std::string_view namespace_name = object.symbols.text(object.namespace_name);
  if (!original_.find(object.kind, namespace_name, object.name))
    copy_.cluster.remove(object.kind, namespace_name, object.name);
}

void ClusterCopy::copy_nominations() {
  copy_.nominations.clear();
  copy_.pending.clear();
  for (const Symbol node : nominator_.nominated_nodes())
    for (Ref<const Pod> pod : nominator_.nominated_pods(node)) {
      if (pod->nominated_node() != node) {  // not written yet
        PodDraft draft = draft_of(*pod);
        draft.nominated_node_name = original_.symbols().text(node);
        pod = make_pod(std::move(draft));
      }
      copy_.nominations.add(pod);
      copy_.pending.push_back(std::move(pod));
    }
}

void ClusterCopy::copy_memory() {
  if (!framework_) return;
  for (const std::unique_ptr<Plugin>& plugin : copy_.framework->plugins().all)
    if (auto* const remembering = dynamic_cast<RememberingPlugin*>(plugin.get()))
      for (const std::unique_ptr<Plugin>& other : framework_->plugins().all)
        if (other->name() == plugin->name()) remembering->remember_as(*other);
}

}  // namespace berth::explain
