#include "history.h"

#include <fmt/format.h>

#include "cluster/scalar_columns.h"

namespace berth::simulation {
namespace {

Amounts amounts_of(const Resources& resources, const Symbols& symbols, std::int64_t pods) {
  Amounts amounts{{"cpu", resources.milli_cpu},
                  {"memory", resources.memory},
                  {"ephemeral-storage", resources.ephemeral_storage},
                  {"pods", pods}};
  for (const auto& [name, amount] : resources.scalars)
    if (amount != 0) amounts[std::string(symbols.text(name))] = amount;
  return amounts;
}

Amounts requests_of(const Pod& pod) { return amounts_of(pod.usage().requests, pod.symbols(), 1); }

std::string_view to_string(QueuePlace place) {
  switch (place) {
    case QueuePlace::kActive: return "active";
    case QueuePlace::kBackoff:
    case QueuePlace::kErrorBackoff: return "backoff";
    case QueuePlace::kUnschedulable: return "unschedulable";
    case QueuePlace::kNowhere: break;
  }
  return "nowhere";
}

// A row as its columns have it; `scalars` are the names anybody has heard of.
State::Row row_of(const NodeTable& nodes, NodeRow row, const std::set<Symbol>& scalars,
                  const Symbols& symbols) {
  State::Row read;
  read.has_node = nodes.has_node(row);
  read.allocatable = {{"cpu", nodes.allocatable_milli_cpu()[row]},
                      {"memory", nodes.allocatable_memory()[row]},
                      {"ephemeral-storage", nodes.allocatable_ephemeral_storage()[row]},
                      {"pods", nodes.allocatable_pods()[row]}};
  read.requested = {{"cpu", nodes.requested_milli_cpu()[row]},
                    {"memory", nodes.requested_memory()[row]},
                    {"ephemeral-storage", nodes.requested_ephemeral_storage()[row]},
                    {"pods", nodes.pod_counts()[row]}};
  const auto add = [&](Amounts& amounts, Symbol name, std::span<const std::int64_t> column) {
    if (row < column.size() && column[row] != 0)
      amounts[std::string(symbols.text(name))] = column[row];
  };
  for (const Symbol name : scalars) {
    const ScalarColumns::View scalar = nodes.scalar_columns(name);
    add(read.allocatable, name, scalar.allocatable);
    add(read.requested, name, scalar.requested);
  }
  return read;
}

void look_at_cluster(const Cluster& cluster, State& state) {
  const NodeTable& nodes = cluster.nodes();
  std::set<NodeRow> rows;
  std::set<Symbol> scalars;
  nodes.nodes().for_each([&](NodeRow row) {
    rows.insert(row);
    for (const auto& [name, amount] : nodes.node(row).allocatable_resources.scalars)
      scalars.insert(name);
  });
  cluster.for_each_placed([&](const Pod& pod, NodeRow row, bool assumed) {
    // Pods on a node that is unknown or gone have no columns: their sum is what they say.
    if (!rows.contains(row)) {
      State::Row& unknown = state.rows[std::string(nodes.name_text(row))];
      unknown.has_node = false;
      for (const auto& [resource, amount] : requests_of(pod)) unknown.requested[resource] += amount;
    }
    for (const auto& [name, amount] : pod.usage().requests.scalars) scalars.insert(name);
    state.placed[key_of(pod)] = {std::string(nodes.name_text(row)), requests_of(pod), assumed};
  });
  for (const NodeRow row : rows)
    state.rows[std::string(nodes.name_text(row))] = row_of(nodes, row, scalars, cluster.symbols());
}

}  // namespace

PodKey key_of(const Pod& pod) {
  return fmt::format("{} ({})", pod.full_name(), pod.uid_text().substr(0, 8));
}

void add_stored(const Pod& pod, State& state) {
  State::StoredPod& stored = state.stored[key_of(pod)];
  stored = {std::string(pod.node_name()), std::string(pod.resource_version()), requests_of(pod),
            pod.finished()};
  stored.nominated = pod.nominated_node_name();
  if (pod.scheduled_condition()) stored.scheduled = "True";
  if (const PodCondition* condition = pod.condition("PodScheduled")) {
    stored.scheduled = condition->status;
    stored.reason = condition->reason;
    stored.message = condition->message;
  }
}

void add_stored(const Node& node, State& state) {
  state.nodes[node.name] = amounts_of(node.allocatable_resources, *node.symbols.table(),
                                      node.allocatable_resources.pods);
}

State look(const sim::SimCluster& cluster, Engine& engine) {
  State state;
  for (const Ref<const Pod>& pod : cluster.pods()) add_stored(*pod, state);
  for (const Ref<const Object>& node : cluster.objects(ObjectKind::kNode))
    add_stored(static_cast<const Node&>(*node), state);
  look_at_engine(engine, state);
  return state;
}

void look_at_engine(Engine& engine, State& state) {
  look_at_cluster(engine.cluster(), state);
  engine.cluster().for_each_seen([&](const Ref<const Pod>& pod) {
    state.seen[key_of(*pod)] = {std::string(pod->node_name()), std::string(pod->resource_version()),
                                pod->text(pod->scheduler_name()) == "default-scheduler",
                                pod->terminating()};
    if (engine.queue().in_flight(pod->uid())) state.in_flight.insert(key_of(*pod));
  });
  engine.queue().for_each([&](const QueuedPod& queued, QueuePlace place) {
    state.queued[key_of(*queued.pod)].emplace_back(to_string(place));
  });
  const QueueSizes sizes = engine.queue().sizes();
  state.queue_sizes = {{"active", sizes.active},
                       {"backoff", sizes.backoff},
                       {"unschedulable", sizes.unschedulable + sizes.gated}};
  state.in_flight_count = sizes.in_flight;
  for (const WaitingPod& waiting : engine.waiting_pods().list())
    state.waiting.insert(key_of(*waiting.pod));
  state.tasks = engine.tasks() + engine.pods_being_written();
}

}  // namespace berth::simulation
