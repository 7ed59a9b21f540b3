#include "berth/views.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/check.h"
#include "berth/topology.h"
#include "cluster/affinity_pods.h"
#include "cluster/assumed_objects.h"
#include "cluster/columns.h"
#include "cluster/object_changes.h"
#include "cluster/object_store.h"
#include "cluster/placed_pods.h"
#include "cluster/pod_counts.h"
#include "cluster/seen_pods.h"

namespace berth {
namespace {

using Entry = PlacedPods::Entry;

constexpr std::uint8_t kPods = bits(RowChange::kPods);
constexpr std::uint32_t kPositionBits = 0x7fffffff;

// "uid(namespace/name)", as upstream's messages name a pod.
std::string describe(const Pod& pod) {
  return fmt::format("{}({})", pod.uid_text(), pod.full_name());
}

std::unexpected<Error> no_uid() {
  return fail(ErrorKind::kInvalid, "cannot get cache key for pod with empty UID");
}

}  // namespace

// The pods' side of the cluster: the columns are in NodeTable.
struct Cluster::State {
  State(const NodeTable& nodes, NodeTable::Columns& table)
      : columns(table), topology(nodes), pod_counts(nodes), affinity_pods(nodes) {}

  // Every change of the cluster comes through here: trials must have put everything back.
  NodeTable::Columns& settled() {
    BERTH_CHECK(columns.trial_edits == 0);
    return columns;
  }

  void place(Ref<const Pod> pod, NodeRow row, bool assumed);
  // All pods, when a ghost gets its node or a node with pods is removed.
  void move_pods(NodeRow from, NodeRow to);
  void remove(const Entry& entry);
  // By another version, confirmed, on the same row.
  void replace(const Entry& entry, Ref<const Pod> pod);
  // A pod was removed from the position: the pod there now was moved from the end of the list.
  void filled_hole(NodeRow row, std::uint32_t position);
  // The error for a watch that shows an impossible change.
  std::unexpected<Error> moved(const Entry& entry, const Pod& pod) const;

  NodeTable::Columns& columns;
  PlacedPods placed;
  SeenPods seen;
  ObjectStore objects;
  ObjectChanges object_changes;
  AssumeCache assumed_claims{"ResourceClaim"};
  TopologyDomains topology;
  PodCounts pod_counts;
  AffinityPods affinity_pods;
};

void Cluster::State::place(Ref<const Pod> pod, NodeRow row, bool assumed) {
  const Pod* placed_pod = pod.get();
  const std::uint32_t position = columns.push_pod(row, std::move(pod));
  placed.insert({placed_pod, row, position & kPositionBits, assumed});
  columns.changed(row, kPods);
}

void Cluster::State::move_pods(NodeRow from, NodeRow to) {
  const std::vector<Ref<const Pod>> moving = columns.pods_on(from);
  for (std::size_t i = moving.size(); i > 0; --i)
    columns.take_pod(from, static_cast<std::uint32_t>(i - 1));
  for (const Ref<const Pod>& pod : moving) {
    Entry entry = *placed.find(pod->uid());
    entry.row = to;
    entry.position = columns.push_pod(to, pod) & kPositionBits;
    placed.replace(entry);
  }
  columns.free_if_unused(from);
}

void Cluster::State::remove(const Entry& entry) {
  const Entry was = entry;  // the index's own entry goes away here
  placed.erase(was.pod->uid());
  const Ref<const Pod> taken = columns.take_pod(was.row, was.position);
  filled_hole(was.row, was.position);
  columns.changed(was.row, kPods);
  columns.free_if_unused(was.row);
}

void Cluster::State::replace(const Entry& entry, Ref<const Pod> pod) {
  const Entry was = entry;
  const Ref<const Pod> before(was.pod);  // the index reads it until it has the new one
  const Pod* after = pod.get();
  const std::uint32_t position = columns.replace_pod(was.row, was.position, std::move(pod));
  placed.replace({after, was.row, position & kPositionBits, false});
  if (was.position != position) filled_hole(was.row, was.position);
  columns.changed(was.row, kPods);
}

void Cluster::State::filled_hole(NodeRow row, std::uint32_t position) {
  const auto& pods = columns.pods_on(row);
  if (position < pods.size()) placed.moved(pods[position]->uid(), position);
}

std::unexpected<Error> Cluster::State::moved(const Entry& entry, const Pod& pod) const {
  const Symbols& symbols = *columns.symbols;
  return fail(ErrorKind::kInternal,
              fmt::format("pod {} is on node {}, but the watch shows it on node {}", describe(pod),
                          symbols.text(columns.name_of(entry.row)),
                          pod.node().empty() ? "<none>" : pod.node_name()));
}

Cluster::Cluster(std::shared_ptr<Symbols> symbols)
    : symbols_(std::move(symbols)),
      nodes_(symbols_),
      state_(std::make_unique<State>(nodes_, *nodes_.columns_)) {}
Cluster::~Cluster() = default;

void Cluster::begin_cycle() {
  state_->settled().begin_cycle();
  state_->topology.begin_cycle();
  state_->pod_counts.begin_cycle();
}

TopologyDomains& Cluster::topology() const { return state_->topology; }
PodCounts& Cluster::pod_counts() const { return state_->pod_counts; }
AffinityPods& Cluster::affinity_pods() const { return state_->affinity_pods; }

// ---- nodes --------------------------------------------------------------------------------------

void Cluster::add_node(Ref<const Node> node) {
  NodeTable::Columns& columns = state_->settled();
  const NodeRow known = columns.find(node->symbol);
  const bool has_row = known != kNoRow && !NodeTable::Columns::is_ghost(known);
  const NodeRow row = has_row ? known : columns.claim_row(node->symbol);
  if (!has_row && known != kNoRow) state_->move_pods(known, row);
  const Ref<const Node> told = node;
  columns.set_node(row, std::move(node));
  state_->object_changes.notify(ObjectKind::kNode, {}, told->name);
}

// Upstream's two differ only for orders of events that informers never deliver (core.md §6.8).
void Cluster::update_node(Ref<const Node> node) { add_node(std::move(node)); }

Result<void> Cluster::remove_node(Symbol name) {
  NodeTable::Columns& columns = state_->settled();
  const NodeRow row = nodes_.find(name);
  if (row == kNoRow || !nodes_.has_node(row))
    return fail(ErrorKind::kNotFound, fmt::format("node {} is not found", symbols_->text(name)));
  const Ref<const Node> told = nodes_.node_ref(row);
  columns.clear_node(row);
  if (columns.pods_on(row).empty())
    columns.free_if_unused(row);
  else
    state_->move_pods(row, columns.claim_ghost(name));
  state_->object_changes.notify(ObjectKind::kNode, {}, told->name);
  return {};
}

// ---- pods on nodes ------------------------------------------------------------------------------

Result<void> Cluster::assume(Ref<const Pod> pod, NodeRow row) {
  NodeTable::Columns& columns = state_->settled();
  if (pod->uid().empty()) return no_uid();
  if (state_->placed.find(pod->uid()))
    return fail(ErrorKind::kConflict,
                fmt::format("pod {} is in the cache, so can't be assumed", describe(*pod)));
  if (!columns.in_use(row))
    return fail(
        ErrorKind::kInternal,
        fmt::format("pod {} can't be assumed on row {}: no node has it", describe(*pod), row));
  state_->place(std::move(pod), row, true);
  return {};
}

Result<void> Cluster::forget(const Pod& pod) {
  state_->settled();
  if (pod.uid().empty()) return no_uid();
  const Entry* entry = state_->placed.find(pod.uid());
  if (!entry) return {};
  if (!pod.node().empty() && pod.node() != nodes_.name(entry->row))
    return fail(ErrorKind::kConflict,
                fmt::format("pod {} was assumed on {} but assigned to {}", describe(pod),
                            pod.node_name(), nodes_.name_text(entry->row)));
  if (!entry->assumed)
    return fail(
        ErrorKind::kConflict,
        fmt::format("pod {} is not assumed, so it cannot be removed or forgotten", describe(pod)));
  state_->remove(*entry);
  return {};
}

Result<void> Cluster::add_pod(Ref<const Pod> pod) {
  NodeTable::Columns& columns = state_->settled();
  if (pod->uid().empty()) return no_uid();
  if (pod->node().empty())
    return fail(ErrorKind::kInvalid,
                fmt::format("pod {} has no node, so cannot be added", describe(*pod)));
  const Entry* entry = state_->placed.find(pod->uid());
  if (entry && !entry->assumed)
    return fail(ErrorKind::kConflict,
                fmt::format("pod {} was already in added state", describe(*pod)));
  const NodeRow row = columns.claim(pod->node());
  if (entry && entry->row == row) {
    state_->replace(*entry, std::move(pod));
    return {};
  }
  if (entry) state_->remove(*entry);  // bound to another node than we thought
  state_->place(std::move(pod), row, false);
  return {};
}

Result<void> Cluster::update_pod(Ref<const Pod> pod) {
  state_->settled();
  if (pod->uid().empty()) return no_uid();
  const Entry* entry = state_->placed.find(pod->uid());
  if (!entry)
    return fail(ErrorKind::kNotFound,
                fmt::format("pod {} is not added to scheduler cache, so cannot be updated",
                            describe(*pod)));
  if (entry->assumed)
    return fail(ErrorKind::kConflict,
                fmt::format("assumed pod {} should not be updated", describe(*pod)));
  if (pod->node() != nodes_.name(entry->row)) return state_->moved(*entry, *pod);
  state_->replace(*entry, std::move(pod));
  return {};
}

Result<void> Cluster::remove_pod(const Pod& pod) {
  state_->settled();
  if (pod.uid().empty()) return no_uid();
  const Entry* entry = state_->placed.find(pod.uid());
  if (!entry)
    return fail(ErrorKind::kNotFound,
                fmt::format("pod {} is not found in scheduler cache, so cannot be removed from it",
                            describe(pod)));
  // A deletion that the watch missed may come with a last state from before the pod had a node.
  if (!pod.node().empty() && pod.node() != nodes_.name(entry->row))
    return state_->moved(*entry, pod);
  state_->remove(*entry);
  return {};
}

bool Cluster::is_assumed(const Uid& uid) const {
  const Entry* entry = state_->placed.find(uid);
  return entry && entry->assumed;
}

Ref<const Pod> Cluster::placed(const Uid& uid) const {
  const Entry* entry = state_->placed.find(uid);
  return entry ? Ref<const Pod>(entry->pod) : Ref<const Pod>();
}

NodeRow Cluster::row_of(const Uid& uid) const {
  const Entry* entry = state_->placed.find(uid);
  return entry ? entry->row : kNoRow;
}

std::size_t Cluster::placed_count() const { return state_->placed.size(); }
std::size_t Cluster::assumed_count() const { return state_->placed.assumed(); }

void Cluster::for_each_placed(
    const std::function<void(const Pod&, NodeRow, bool assumed)>& visit) const {
  state_->placed.for_each(
      [&visit](const Entry& entry) { visit(*entry.pod, entry.row, entry.assumed != 0); });
}

// ---- all pods that the watch has shown ----------------------------------------------------------

void Cluster::see_pod(Ref<const Pod> pod) {
  if (!state_->object_changes.pods_are_followed()) return state_->seen.put(std::move(pod));
  const Ref<const Pod> before = seen_pod(*pod);
  state_->seen.put(pod);
  state_->object_changes.notify(before, pod);
}
void Cluster::remove_seen_pod(const Pod& pod) {
  if (!state_->object_changes.pods_are_followed()) return state_->seen.remove(pod);
  const Ref<const Pod> before = seen_pod(pod);
  if (!before || before->uid() != pod.uid()) return;
  state_->seen.remove(pod);
  state_->object_changes.notify(before, {});
}
Ref<const Pod> Cluster::seen_pod(std::string_view namespace_name, std::string_view name) const {
  const Symbol known = symbols_->find(namespace_name);
  if (known.empty() && !namespace_name.empty()) return {};
  return state_->seen.find(known, name);
}
Ref<const Pod> Cluster::seen_pod(const Pod& named_alike) const {
  return state_->seen.find(named_alike.meta().namespace_name, named_alike.name());
}
std::size_t Cluster::seen_count() const { return state_->seen.size(); }
void Cluster::for_each_seen(const std::function<void(const Ref<const Pod>&)>& visit) const {
  state_->seen.for_each(visit);
}

// ---- other objects ------------------------------------------------------------------------------

void Cluster::put(Ref<const Object> object) {
  const ObjectKind kind = object->kind;
  if (kind != ObjectKind::kResourceClaim && !state_->object_changes.is_followed(kind)) {
    state_->objects.put(std::move(object));
    return;
  }
  const Ref<const Object> before = find(*object);
  state_->objects.put(object);
  if (kind == ObjectKind::kResourceClaim) state_->assumed_claims.put(object);
  state_->object_changes.notify(kind, before, object);
}
void Cluster::remove(ObjectKind kind, std::string_view namespace_name, std::string_view name) {
  if (const Ref<const Object> object = find(kind, namespace_name, name)) remove(*object);
}
void Cluster::remove(const Object& named_alike) {
  const Ref<const Object> before = find(named_alike);
  if (!before) return;
  if (before->kind == ObjectKind::kResourceClaim)
    state_->assumed_claims.remove(before->symbols.text(before->namespace_name), before->name);
  state_->objects.remove(*before);
  state_->object_changes.notify(before->kind, before, {});
}
Ref<const Object> Cluster::find(const Object& named_alike) const {
  return state_->objects.find(named_alike);
}
Ref<const OtherObject> Cluster::find_other(std::string_view resource,
                                           std::string_view namespace_name,
                                           std::string_view name) const {
  return state_->objects.find_other(resource, namespace_name, name);
}
std::vector<Ref<const OtherObject>> Cluster::list_others(std::string_view resource) const {
  return state_->objects.list_others(resource);
}
Subscription Cluster::on_pod_change(
    std::function<void(const Ref<const Pod>&, const Ref<const Pod>&)> listener) const {
  return state_->object_changes.listen_to_pods(std::move(listener));
}
Subscription Cluster::on_object_change(
    ObjectKind kind,
    std::function<void(const Ref<const Object>&, const Ref<const Object>&)> listener) const {
  return state_->object_changes.listen(kind, std::move(listener));
}
ObjectChanges& Cluster::object_changes() const { return state_->object_changes; }
AssumeCache& Cluster::assumed_claims() const { return state_->assumed_claims; }
Ref<const Object> Cluster::find(ObjectKind kind, std::string_view namespace_name,
                                std::string_view name) const {
  return state_->objects.find(kind, namespace_name, name);
}
std::vector<Ref<const Object>> Cluster::list(ObjectKind kind) const {
  return state_->objects.list(kind);
}
std::vector<Ref<const Object>> Cluster::list(ObjectKind kind,
                                             std::string_view namespace_name) const {
  return state_->objects.list(kind, namespace_name);
}
std::uint64_t Cluster::generation(ObjectKind kind) const {
  return state_->objects.generation(kind);
}

}  // namespace berth
