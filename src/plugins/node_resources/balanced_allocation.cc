#include "plugins/node_resources/balanced_allocation.h"

#include <algorithm>
#include <cmath>

#include "config/feature_gates.h"
#include "plugins/arguments.h"
#include "plugins/node_resources/request.h"

namespace berth::plugins {
namespace {

// What PreScore leaves for Score: the pod's amount of each scored resource.
struct ScoredAmounts {
  std::vector<std::int64_t> amounts;
};

bool all_zero(const std::vector<std::int64_t>& amounts) {
  return std::ranges::all_of(amounts, [](std::int64_t amount) { return amount == 0; });
}

double deviation(std::span<const double> fractions, double total) {
  const double count = static_cast<double>(fractions.size());
  // Parity: two numbers have a formula of their own, which rounds differently.
  if (fractions.size() == 2) return std::abs((fractions[0] - fractions[1]) / 2);
  if (fractions.size() < 2) return 0;
  const double mean = total / count;
  double sum = 0;
  for (const double fraction : fractions) sum = sum + (fraction - mean) * (fraction - mean);
  return std::sqrt(sum / count);
}

// How evenly resources are used on one row, up to 100. Every operation rounds by itself and in
// upstream's order.
class Balance {
 public:
  explicit Balance(std::size_t resources) { fractions_.reserve(resources); }

  template <typename Amount>
  std::int64_t of(const std::vector<AllocationColumn>& columns, NodeRow row, Amount amount) {
    fractions_.clear();
    double total = 0;
    for (const AllocationColumn& column : columns) {
      const std::int64_t allocatable = column.allocatable[row];
      if (allocatable == 0) continue;
      const double fraction =
          std::min(static_cast<double>(amount(column)) / static_cast<double>(allocatable), 1.0);
      total += fraction;
      fractions_.push_back(fraction);
    }
    return truncated((1 - deviation(fractions_, total)) * static_cast<double>(kMaxScore));
  }

 private:
  std::vector<double> fractions_;  // kept, so that rows do not allocate
};

}  // namespace

Result<std::unique_ptr<Plugin>> NodeResourcesBalancedAllocation::create(
    const config::PluginArgs& arguments, const Handle& handle) {
  auto args = typed_arguments<config::NodeResourcesBalancedAllocationArgs>(
      arguments, "NodeResourcesBalancedAllocationArgs");
  if (!args) return fail(args.error());
  const Gates gates{
      .pod_level_resources = handle.gates.enabled("PodLevelResources"),
      .pod_level_status = handle.gates.enabled("InPlacePodLevelResourcesVerticalScaling"),
      .in_place_scaling = handle.gates.enabled("InPlacePodVerticalScaling"),
  };
  return std::make_unique<NodeResourcesBalancedAllocation>(
      *args, gates, SymbolHold(handle.cluster.symbol_table()));
}

std::vector<std::int64_t> NodeResourcesBalancedAllocation::scored_amounts(const Pod& pod) const {
  const bool as_added_up =
      gates_.pod_level_resources && gates_.pod_level_status && gates_.in_place_scaling;
  if (as_added_up && !resources_.has_unknown())
    return resources_.amounts(pod.usage(), Used::kRequested);
  return resources_.amounts(pod_requests(pod, {.use_status = gates_.in_place_scaling,
                                               .pod_level = gates_.pod_level_resources,
                                               .pod_level_status = gates_.pod_level_status}));
}

Outcome NodeResourcesBalancedAllocation::pre_score(Cycle& cycle, const NodeSet&) const {
  std::vector<std::int64_t> amounts = scored_amounts(cycle.pod());
  if (all_zero(amounts)) return Outcome::skip();
  cycle.put(*this, ScoredAmounts{std::move(amounts)});
  return Outcome::success();
}

Outcome NodeResourcesBalancedAllocation::score(const Cycle& cycle, const NodeSet& feasible,
                                               std::span<Score> by_row) const {
  if (resources_.empty()) return Outcome::failure("resources not found");
  const ScoredAmounts* kept = cycle.find<ScoredAmounts>(*this);
  const std::vector<std::int64_t> amounts = kept ? kept->amounts : scored_amounts(cycle.pod());
  if (all_zero(amounts)) {
    feasible.for_each([&](NodeRow row) { by_row[row] = 0; });
    return Outcome::success();
  }
  const std::vector<AllocationColumn> columns =
      resources_.columns(cycle.nodes(), amounts, Used::kRequested);
  Balance balance(columns.size());
  feasible.for_each([&](NodeRow row) {
    const std::int64_t with_pod = balance.of(
        columns, row, [&](const AllocationColumn& column) { return column.requested_on(row); });
    const std::int64_t without_pod = balance.of(
        columns, row, [&](const AllocationColumn& column) { return column.used_on(row); });
    // From 50, where the pod makes it as uneven as can be, over 75 (no change) to 100.
    const std::int64_t gain = wrapping_sub(with_pod, without_pod);
    by_row[row] = kMaxScore / 2 + wrapping_add(kMaxScore / 2, gain) / 2;
  });
  return Outcome::success();
}

Outcome NodeResourcesBalancedAllocation::sign(const Pod& pod,
                                              std::vector<SignatureFragment>& fragments) const {
  fragments.push_back(request_fragment(pod, gates_.pod_level_resources));
  return Outcome::success();
}

}  // namespace berth::plugins
