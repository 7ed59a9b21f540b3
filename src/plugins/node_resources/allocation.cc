#include "plugins/node_resources/allocation.h"

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "cluster/scalar_columns.h"
#include "config/feature_gates.h"

namespace berth::plugins {

ScoredResources::ScoredResources(const std::vector<config::ResourceWeight>& resources,
                                 const Handle& handle)
    : symbols_(handle.cluster.symbol_table()),
      counts_(handle.gates.enabled("DRAExtendedResource") ? DeviceCounts::of(handle) : nullptr) {
  for (const config::ResourceWeight& resource : resources) {
    const Symbol name = symbols_.intern(resource.name);
    if (may_be_devices(resource.name)) extended_.push_back(resources_.size());
    resources_.push_back({name, kind_of(name, resource.name), resource.weight});
  }
}

ScoredResources::Kind ScoredResources::kind_of(Symbol name, std::string_view text) {
  if (name == names::kCpu) return Kind::kCpu;
  if (name == names::kMemory) return Kind::kMemory;
  if (name == names::kEphemeralStorage) return Kind::kEphemeralStorage;
  return is_scalar_resource(text) ? Kind::kScalar : Kind::kUnknown;
}

bool ScoredResources::has_unknown() const {
  return std::ranges::any_of(resources_,
                             [](const Resource& r) { return r.kind == Kind::kUnknown; });
}

std::vector<std::int64_t> ScoredResources::amounts(const ResourceList& requests) const {
  std::vector<std::int64_t> amounts;
  amounts.reserve(resources_.size());
  for (const Resource& resource : resources_) {
    const Quantity* amount = requests.find(resource.name);
    if (!amount)
      amounts.push_back(0);
    else
      amounts.push_back(resource.kind == Kind::kCpu ? amount->milli_value() : amount->value());
  }
  return amounts;
}

std::vector<std::int64_t> ScoredResources::amounts(const PodUsage& usage, Used used) const {
  const bool nonzero = used == Used::kNonzeroRequested;
  std::vector<std::int64_t> amounts;
  amounts.reserve(resources_.size());
  for (const Resource& resource : resources_) switch (resource.kind) {
      case Kind::kCpu:
        amounts.push_back(nonzero ? usage.nonzero_milli_cpu : usage.requests.milli_cpu);
        break;
      case Kind::kMemory:
        amounts.push_back(nonzero ? usage.nonzero_memory : usage.requests.memory);
        break;
      case Kind::kEphemeralStorage: amounts.push_back(usage.requests.ephemeral_storage); break;
      case Kind::kScalar: amounts.push_back(usage.requests.scalar(resource.name)); break;
      case Kind::kUnknown: amounts.push_back(0); break;
    }
  return amounts;
}

AllocationColumn ScoredResources::column(const NodeTable& nodes, const Resource& resource,
                                         Used used) {
  const bool nonzero = used == Used::kNonzeroRequested;
  switch (resource.kind) {
    case Kind::kCpu:
      return {nodes.allocatable_milli_cpu(),
              nonzero ? nodes.nonzero_requested_milli_cpu() : nodes.requested_milli_cpu()};
    case Kind::kMemory:
      return {nodes.allocatable_memory(),
              nonzero ? nodes.nonzero_requested_memory() : nodes.requested_memory()};
    case Kind::kEphemeralStorage:
      return {nodes.allocatable_ephemeral_storage(), nodes.requested_ephemeral_storage()};
    case Kind::kScalar: {
      const ScalarColumns::View columns = nodes.scalar_columns(resource.name);
      return {columns.allocatable, columns.requested};
    }
    case Kind::kUnknown: break;
  }
  return {};
}

std::vector<AllocationColumn> ScoredResources::columns(const NodeTable& nodes,
                                                       const ScoredAmounts& scored,
                                                       Used used) const {
  std::vector<AllocationColumn> columns;
  columns.reserve(resources_.size());
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    const Resource& resource = resources_[i];
    if (resource.kind == Kind::kScalar && scored.amounts[i] == 0) continue;
    AllocationColumn column = ScoredResources::column(nodes, resource, used);
    if (!scored.devices.empty() && !scored.devices[i].devices.empty())
      column = {scored.devices[i].devices, scored.devices[i].taken};
    if (column.allocatable.empty()) continue;
    column.request = scored.amounts[i];
    column.weight = resource.weight;
    columns.push_back(column);
  }
  return columns;
}

ScoredAmounts ScoredResources::with_devices(const NodeTable& nodes,
                                            std::vector<std::int64_t> amounts) const {
  ScoredAmounts scored{std::move(amounts), {}};
  if (!counts_) return scored;
  for (const std::size_t i : extended_) {
    if (scored.amounts[i] == 0) continue;
    std::optional<DeviceCounts::Columns> counted = counts_->count(resources_[i].name);
    if (!counted) continue;
    const AllocationColumn own = column(nodes, resources_[i], Used::kRequested);
    for (NodeRow row = 0; row < own.allocatable.size(); ++row)
      if (own.allocatable[row] != 0) {
        counted->devices[row] = own.allocatable[row];
        counted->taken[row] = own.used_on(row);
      }
    scored.devices.resize(resources_.size());
    scored.devices[i] = *std::move(counted);
  }
  return scored;
}

bool ScoredResources::scores_devices(const Pod& pod) const {
  return counts_ && std::ranges::any_of(extended_, [&](std::size_t i) {
           const Symbol name = resources_[i].name;
           return pod.spec().usage.requests.scalar(name) != 0 && counts_->is_devices(name);
         });
}

}  // namespace berth::plugins
