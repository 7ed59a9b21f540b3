#include "plugins/node_resources/allocation.h"

#include <algorithm>

#include "api/names.h"

namespace berth::plugins {

ScoredResources::ScoredResources(const std::vector<config::ResourceWeight>& resources,
                                 SymbolHold symbols)
    : symbols_(std::move(symbols)) {
  for (const config::ResourceWeight& resource : resources) {
    const Symbol name = symbols_.intern(resource.name);
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
    case Kind::kScalar:
      return {nodes.allocatable_scalar(resource.name), nodes.requested_scalar(resource.name)};
    case Kind::kUnknown: break;
  }
  return {};
}

std::vector<AllocationColumn> ScoredResources::columns(const NodeTable& nodes,
                                                       std::span<const std::int64_t> requests,
                                                       Used used) const {
  std::vector<AllocationColumn> columns;
  columns.reserve(resources_.size());
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    const Resource& resource = resources_[i];
    if (resource.kind == Kind::kScalar && requests[i] == 0) continue;
    AllocationColumn column = ScoredResources::column(nodes, resource, used);
    if (column.allocatable.empty()) continue;
    column.request = requests[i];
    column.weight = resource.weight;
    columns.push_back(column);
  }
  return columns;
}

}  // namespace berth::plugins
