#include "cluster/columns.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"
#include "cluster/host_ports.h"
#include "cluster/wrapping.h"

namespace berth {
namespace {

void set_member(NodeSet& set, NodeRow row, bool member) {
  if (member)
    set.insert(row);
  else
    set.erase(row);
}

std::uint8_t difference(const Node& before, const Node& after) {
  std::uint8_t changes = 0;
  if (before.allocatable_resources != after.allocatable_resources ||
      before.allocatable != after.allocatable)
    changes |= bits(RowChange::kAllocatable);
  if (before.labels != after.labels) changes |= bits(RowChange::kLabels);
  if (before.taints != after.taints || before.unschedulable != after.unschedulable)
    changes |= bits(RowChange::kTaints);
  if (before.images != after.images || before.conditions != after.conditions ||
      before.annotations != after.annotations || before.capacity != after.capacity ||
      before.declared_features != after.declared_features ||
      before.pod_preemption_policy != after.pod_preemption_policy || before.uid != after.uid)
    changes |= bits(RowChange::kOther);
  return changes;
}

}  // namespace

NodeTable::Columns::Columns(std::shared_ptr<Symbols> table)
    : symbols(std::move(table)), scalars(symbols), order(symbols) {}

NodeTable::Columns::~Columns() {
  for (const Row& row : rows) symbols->release(row.name);
  for (const auto& [row, ghost] : ghosts) symbols->release(ghost.name);
}

// ---- rows ---------------------------------------------------------------------------------------

NodeRow NodeTable::Columns::claim(Symbol name) {
  const NodeRow row = find(name);
  return row != kNoRow ? row : claim_ghost(name);
}

NodeRow NodeTable::Columns::claim_ghost(Symbol name) {
  BERTH_CHECK(!name.empty());
  do {
    last_ghost = last_ghost + 1 == kNoRow ? kFirstGhost : last_ghost + 1;
  } while (ghosts.contains(last_ghost));
  symbols->retain(name);
  ghosts[last_ghost].name = name;
  by_name.insert_or_assign(name, last_ghost);
  return last_ghost;
}

NodeRow NodeTable::Columns::claim_row(Symbol name) {
  BERTH_CHECK(!name.empty());
  NodeRow row;
  if (unused.empty()) {
    row = append_row();
  } else {
    // The lowest, so that rows at the end become free.
    std::ranges::pop_heap(unused, std::greater<>());
    row = unused.back();
    unused.pop_back();
  }
  symbols->retain(name);
  rows[row].name = name;
  by_name.insert_or_assign(name, row);
  return row;
}

NodeRow NodeTable::Columns::append_row() {
  const std::size_t size = rows.size() + 1;
  rows.emplace_back();
  for (Column& column : amounts) column.resize(size);
  scalars.resize(size);
  generations.resize(size);
  for (NodeSet* set : {&nodes, &cordoned, &tainted, &with_affinity_pods,
                       &with_required_anti_affinity_pods, &is_dirty})
    set->reserve_rows(size);
  return static_cast<NodeRow>(size - 1);
}

void NodeTable::Columns::free_if_unused(NodeRow row) {
  if (!pods_on(row).empty() || (!is_ghost(row) && rows[row].node)) return;
  const Symbol name = name_of(row);
  // The name may be another row's by now.
  if (find(name) == row) by_name.erase(name);
  symbols->release(name);
  if (is_ghost(row)) {
    ghosts.erase(row);
    return;
  }
  rows[row] = Row();
  unused.push_back(row);
  std::ranges::push_heap(unused, std::greater<>());
}

// ---- nodes --------------------------------------------------------------------------------------

void NodeTable::Columns::set_node(NodeRow row, Ref<const Node> node) {
  const Resources nothing;
  Row& at = rows[row];
  const Ref<const Node> before = std::exchange(at.node, std::move(node));
  const Node& after = *at.node;

  // Parity: first out, then in, so that the only holder of an image renews its size.
  images.remove(at.image_ids);
  at.image_ids = images.add(after);
  tree.set(row, zone_key(after.labels));
  count_label_keys(row, before ? before->labels : LabelSet(), after.labels);
  set_allocatable(row, before ? before->allocatable_resources : nothing,
                  after.allocatable_resources);
  set_member(cordoned, row, after.unschedulable);
  set_member(tainted, row, !after.taints.empty());
  if (before) {
    changed(row, difference(*before, after));
    return;
  }
  ++node_count;
  nodes.insert(row);
  set_member(with_affinity_pods, row, at.affinity_pods > 0);
  set_member(with_required_anti_affinity_pods, row, at.required_anti_affinity_pods > 0);
  order.added(row, at.name);
  changed(row, kEverything);
}

void NodeTable::Columns::clear_node(NodeRow row) {
  Row& at = rows[row];
  images.remove(std::exchange(at.image_ids, {}));
  at.images.clear();
  at.images_of = nullptr;
  tree.erase(row);
  order.removed(row, at.name);
  set_allocatable(row, at.node->allocatable_resources, {});
  count_label_keys(row, at.node->labels, {});
  for (NodeSet* set :
       {&nodes, &cordoned, &tainted, &with_affinity_pods, &with_required_anti_affinity_pods})
    set->erase(row);
  --node_count;
  at.node = nullptr;
  changed(row, bits(RowChange::kMembership));
}

void NodeTable::Columns::set_allocatable(NodeRow row, const Resources& before,
                                         const Resources& after) {
  amounts[kAllocatableMilliCpu][row] = after.milli_cpu;
  amounts[kAllocatableMemory][row] = after.memory;
  amounts[kAllocatableEphemeralStorage][row] = after.ephemeral_storage;
  amounts[kAllocatablePods][row] = after.pods;
  scalars.offer(row, before.scalars, after.scalars);
}

void NodeTable::Columns::count_label_keys(NodeRow row, const LabelSet& before,
                                          const LabelSet& after) {
  if (before == after) return;
  for (const Label& label : after) {
    NodesWithKey& with_key = label_keys[label.key];
    ++with_key.nodes;
    with_key.rows ^= row;
  }
  for (const Label& label : before) {
    const auto found = label_keys.find(label.key);
    found->second.rows ^= row;
    if (--found->second.nodes == 0) label_keys.erase(found);
  }
}

// ---- pods ---------------------------------------------------------------------------------------

std::uint32_t NodeTable::Columns::push_pod(NodeRow row, Ref<const Pod> pod) {
  count(row, *pod, 1);
  return append(row, std::move(pod));
}

Ref<const Pod> NodeTable::Columns::take_pod(NodeRow row, std::uint32_t position) {
  Ref<const Pod> taken = extract(row, position);
  count(row, *taken, -1);
  return taken;
}

std::uint32_t NodeTable::Columns::replace_pod(NodeRow row, std::uint32_t position,
                                              Ref<const Pod> pod) {
  const Ref<const Pod> before = extract(row, position);
  // One usage is one spec, so everything that is counted is the same. Host ports are not counted:
  // giving them back and taking them again may be a change.
  if (&before->usage() != &pod->usage() || has_host_ports(pod->spec())) {
    count(row, *before, -1);
    count(row, *pod, 1);
  }
  return append(row, std::move(pod));
}

std::uint32_t NodeTable::Columns::append(NodeRow row, Ref<const Pod> pod) {
  std::vector<Ref<const Pod>>& pods = pods_on(row);
  // Growing by a quarter instead of doubling: at a million pods the difference is megabytes.
  if (pods.size() == pods.capacity())
    pods.reserve(pods.size() + std::max<std::size_t>(4, pods.size() / 4));
  pods.push_back(std::move(pod));
  return static_cast<std::uint32_t>(pods.size() - 1);
}

Ref<const Pod> NodeTable::Columns::extract(NodeRow row, std::uint32_t position) {
  std::vector<Ref<const Pod>>& pods = pods_on(row);
  Ref<const Pod> taken = std::move(pods[position]);
  if (position + 1 != pods.size()) pods[position] = std::move(pods.back());
  pods.pop_back();
  return taken;
}

void NodeTable::Columns::put_back_pod(NodeRow row, Ref<const Pod> pod, std::uint32_t position) {
  push_pod(row, std::move(pod));
  std::vector<Ref<const Pod>>& pods = pods_on(row);
  if (position + 1 != pods.size()) std::swap(pods[position], pods.back());
}

void NodeTable::Columns::add_to(std::size_t column, NodeRow row, std::int64_t amount) {
  amounts[column][row] = wrapping_sum(amounts[column][row], amount);
}

void NodeTable::Columns::count(NodeRow row, const Pod& pod, std::int64_t sign) {
  if (is_ghost(row)) return;  // counted when there is a node
  const PodUsage& usage = pod.usage();
  add_to(kRequestedMilliCpu, row, wrapping_product(usage.requests.milli_cpu, sign));
  add_to(kRequestedMemory, row, wrapping_product(usage.requests.memory, sign));
  add_to(kRequestedEphemeralStorage, row, wrapping_product(usage.requests.ephemeral_storage, sign));
  add_to(kNonzeroMilliCpu, row, wrapping_product(usage.nonzero_milli_cpu, sign));
  add_to(kNonzeroMemory, row, wrapping_product(usage.nonzero_memory, sign));
  add_to(kPodCount, row, sign);
  if (!usage.requests.scalars.empty()) scalars.take(row, usage.requests.scalars, sign);

  const PodSpec& spec = pod.spec();
  if (spec.affinity) count_affinity(row, spec, static_cast<std::int32_t>(sign));
  if (sign > 0)
    take_host_ports(rows[row].ports, spec);
  else
    free_host_ports(rows[row].ports, spec);
  if (spec.volumes.empty()) return;
  if (sign > 0)
    claims.add(pod, row);
  else
    claims.remove(pod, row);
}

void NodeTable::Columns::count_affinity(NodeRow row, const PodSpec& spec, std::int32_t sign) {
  const Affinity& affinity = *spec.affinity;
  Row& at = rows[row];
  // Parity: an affinity stanza counts even when it has no term.
  if (affinity.pod || affinity.pod_anti) at.affinity_pods += sign;
  if (affinity.pod_anti && !affinity.pod_anti->required.empty())
    at.required_anti_affinity_pods += sign;
  if (!at.node) return;
  set_member(with_affinity_pods, row, at.affinity_pods > 0);
  set_member(with_required_anti_affinity_pods, row, at.required_anti_affinity_pods > 0);
}

// ---- what is seen of changes --------------------------------------------------------------------

void NodeTable::Columns::changed(NodeRow row, std::uint8_t changes) {
  if (is_ghost(row)) return;
  generations[row] = ++last_generation;
  const bool has_node = nodes.contains(row);
  if (has_node && !is_dirty.contains(row)) {
    is_dirty.insert(row);
    dirty.push_back(row);
  }
  if (changes != 0 && (has_node || (changes & bits(RowChange::kMembership)) != 0))
    log.append({row, changes}, rows.size());
}

void NodeTable::Columns::begin_cycle() {
  for (const NodeRow row : dirty) {
    is_dirty.erase(row);
    Row& at = rows[row];
    if (!at.node) continue;
    // Parity: a row's image spread is renewed when the row has changed in any way, and only then;
    // rows that stood still keep what is by now wrong (plugins.md §16.2).
    if (at.images_of == at.node && at.images_generation == images.generation()) continue;
    if (images.freeze(at.image_ids, at.images))
      log.append({row, bits(RowChange::kOther)}, rows.size());
    at.images_of = at.node;
    at.images_generation = images.generation();
  }
  dirty.clear();
  order.begin_cycle(tree);
  give_back_rows();
}

// Drops the free rows at the end when they are more than half of all. Readers of the log then start
// over, which happens at most each time the cluster halves.
void NodeTable::Columns::give_back_rows() {
  if (unused.size() * 2 <= rows.size()) return;
  if (std::exchange(unused_when_checked, unused.size()) == unused.size()) return;
  std::size_t used = rows.size();
  while (used > 0 && rows[used - 1].name.empty()) --used;
  if (used * 2 >= rows.size()) return;
  rows.resize(used);
  rows.shrink_to_fit();
  const auto shorten = [used](auto& column) {
    column.resize(used);
    column.shrink_to_fit();
  };
  for (Column& column : amounts) shorten(column);
  shorten(generations);
  scalars.resize(used);
  std::erase_if(unused, [used](NodeRow row) { return row >= used; });
  std::ranges::make_heap(unused, std::greater<>());
  unused.shrink_to_fit();
  log.restart();
}

}  // namespace berth
