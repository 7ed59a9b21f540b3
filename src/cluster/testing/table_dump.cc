#include "cluster/testing/table_dump.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::testing {
namespace {

using Column = std::span<const std::int64_t>;

std::vector<std::pair<std::string_view, Column>> amounts(const NodeTable& table) {
  return {{"allocatable cpu", table.allocatable_milli_cpu()},
          {"allocatable memory", table.allocatable_memory()},
          {"allocatable storage", table.allocatable_ephemeral_storage()},
          {"allocatable pods", table.allocatable_pods()},
          {"cpu", table.requested_milli_cpu()},
          {"memory", table.requested_memory()},
          {"storage", table.requested_ephemeral_storage()},
          {"nonzero cpu", table.nonzero_requested_milli_cpu()},
          {"nonzero memory", table.nonzero_requested_memory()},
          {"pods", table.pod_counts()}};
}

std::vector<std::pair<std::string_view, const NodeSet*>> sets(const NodeTable& table) {
  return {{"nodes", &table.nodes()},
          {"cordoned", &table.cordoned()},
          {"tainted", &table.tainted()},
          {"affinity", &table.with_affinity_pods()},
          {"required anti-affinity", &table.with_required_anti_affinity_pods()}};
}

std::string scalars(const NodeTable& table, NodeRow row) {
  std::string text;
  for (const Ref<const Pod>& pod : table.pods(row))
    for (const ScalarAmount& scalar : pod->usage().requests.scalars)
      text += fmt::format(" {}={}", pod->text(scalar.name),
                          table.scalar_columns(scalar.name).requested[row]);
  return text;
}

}  // namespace

std::string dump(const NodeTable& table) {
  std::string text = fmt::format("log {}\norder", table.log_end());
  for (const NodeRow row : table.order()) text += fmt::format(" {}", row);
  text += '\n';
  for (NodeRow row = 0; row < table.rows(); ++row) {
    text +=
        fmt::format("row {} {} generation {}\n", row, table.name_text(row), table.generation(row));
    for (const auto& [name, column] : amounts(table))
      text += fmt::format("  {} {}", name, column[row]);
    text += scalars(table, row) + "\n  on it:";
    for (const Ref<const Pod>& pod : table.pods(row))
      text += fmt::format(" {}@{}", pod->full_name(), fmt::ptr(pod.get()));
    for (const HostPort& port : table.host_ports(row))
      text += fmt::format(" port {}/{}/{}", port.ip.id, port.protocol.id, port.port);
    for (const ImageState& image : table.images(row))
      text += fmt::format(" image {}/{}/{}", image.name.id, image.size_bytes, image.node_count);
    text += "\n  in:";
    for (const auto& [name, set] : sets(table))
      if (set->contains(row)) text += fmt::format(" {},", name);
    text += '\n';
  }
  return text;
}

std::string inconsistencies(const Cluster& cluster) {
  const NodeTable& table = cluster.nodes();
  std::string wrong;
  const auto expect = [&wrong](NodeRow row, std::string_view what, std::int64_t is,
                               std::int64_t should_be) {
    if (is != should_be)
      wrong += fmt::format("row {}: {} is {}, should be {}\n", row, what, is, should_be);
  };
  std::size_t placed = 0;
  for (NodeRow row = 0; row < table.rows(); ++row) {
    Resources requests;
    std::int64_t cpu = 0, memory = 0;
    for (const Ref<const Pod>& pod : table.pods(row)) {
      requests.milli_cpu += pod->usage().requests.milli_cpu;
      requests.memory += pod->usage().requests.memory;
      requests.ephemeral_storage += pod->usage().requests.ephemeral_storage;
      cpu += pod->usage().nonzero_milli_cpu;
      memory += pod->usage().nonzero_memory;
      if (cluster.placed(pod->uid()) != pod || cluster.row_of(pod->uid()) != row)
        wrong += fmt::format("row {}: {} is not where it is\n", row, pod->full_name());
    }
    placed += table.pods(row).size();
    expect(row, "cpu", table.requested_milli_cpu()[row], requests.milli_cpu);
    expect(row, "memory", table.requested_memory()[row], requests.memory);
    expect(row, "storage", table.requested_ephemeral_storage()[row], requests.ephemeral_storage);
    expect(row, "nonzero cpu", table.nonzero_requested_milli_cpu()[row], cpu);
    expect(row, "nonzero memory", table.nonzero_requested_memory()[row], memory);
    expect(row, "pods", table.pod_counts()[row], static_cast<std::int64_t>(table.pods(row).size()));
    const Resources nothing;
    const Resources& has = table.has_node(row) ? table.node(row).allocatable_resources : nothing;
    expect(row, "allocatable cpu", table.allocatable_milli_cpu()[row], has.milli_cpu);
    expect(row, "allocatable memory", table.allocatable_memory()[row], has.memory);
    expect(row, "allocatable storage", table.allocatable_ephemeral_storage()[row],
           has.ephemeral_storage);
    expect(row, "allocatable pods", table.allocatable_pods()[row], has.pods);
    if (!table.name(row).empty()) expect(row, "its name's row", table.find(table.name(row)), row);
  }
  for (const NodeRow ghost : table.ghosts()) {
    if (table.pods(ghost).empty()) wrong += fmt::format("ghost {} has no pods\n", ghost);
    for (const Ref<const Pod>& pod : table.pods(ghost))
      if (cluster.placed(pod->uid()) != pod || cluster.row_of(pod->uid()) != ghost)
        wrong += fmt::format("ghost {}: {} is not where it is\n", ghost, pod->full_name());
    if (table.find_ghost(table.name(ghost)) != ghost)
      wrong += fmt::format("ghost {} is not under its name\n", ghost);
    placed += table.pods(ghost).size();
  }
  if (placed != cluster.placed_count())
    wrong += fmt::format("{} pods on rows, {} placed\n", placed, cluster.placed_count());
  if (table.nodes().count() != table.node_count()) wrong += "node_count is wrong\n";
  return wrong;
}

}  // namespace berth::testing
