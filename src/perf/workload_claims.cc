// Claims that somebody else has allocated devices for before pods come: allocResourceClaims.
#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "perf/workload_run.h"
#include "plugins/dynamic_resources/allocator_pools.h"

namespace berth::perf {

// Every claim of the namespace gets devices of a node that has them, tried from one drawn at
// random on, as the scheduler would choose them there.
WorkloadRun::Outcome WorkloadRun::allocate_claims(const Operation& operation) {
  const Cluster& cluster = engine_->cluster();
  const auto features = plugins::AllocatorFeatures::of(gates_);
  plugins::DevicePools pools(cluster.symbol_table(), features);
  pools.refresh(cluster);
  plugins::AllocatedDevices allocated(features.consumable_capacity);
  for (const Ref<const Object>& object : cluster.list(ObjectKind::kResourceClaim))
    if (const auto& claim = static_cast<const ResourceClaim&>(*object); claim.allocated())
      allocated.add(*claim.status.allocation);
  std::vector<NodeRow> rows;
  cluster.nodes().nodes().for_each([&](NodeRow row) { rows.push_back(row); });

  Random random(options_.seed);
  std::vector<Ref<const ResourceClaim>> held;  // `allocated` relies on their symbols
  for (const Ref<const Object>& object :
       cluster.list(ObjectKind::kResourceClaim, operation.text("namespace"))) {
    const Ref<const ResourceClaim> claim(static_cast<const ResourceClaim*>(object.get()));
    if (claim->allocated()) continue;
    plugins::Allocator allocator(pools, allocated, cluster, {});
    const std::size_t first = rows.empty() ? 0 : random.below(rows.size());
    bool done = false;
    for (std::size_t i = 0; i < rows.size() && !done; ++i) {
      const Node& node = cluster.nodes().node(rows[(first + i) % rows.size()]);
      const plugins::NodeAllocation found = allocator.allocate(node, std::span(&claim, 1));
      if (!found.allocated()) continue;
      const Ref<ResourceClaim> updated = make_ref<ResourceClaim>(*claim);
      updated->status.allocation =
          allocator.result(found, 0, *claim, node, updated->symbols, random);
      updated->resource_version = std::to_string(++serial_);
      allocated.add(*updated->status.allocation);
      held.push_back(updated);
      engine_->apply({DeltaType::kUpdated, Ref<const Object>(updated)});
      done = true;
    }
    if (!done)
      return fail(ErrorKind::kInvalid, fmt::format("{}: no node has devices for claim {}",
                                                   operation.where(), claim->name));
  }
  return {};
}

}  // namespace berth::perf
