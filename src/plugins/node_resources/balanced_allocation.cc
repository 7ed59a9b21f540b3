#include "plugins/node_resources/balanced_allocation.h"

#include <algorithm>
#include <cmath>

#include "config/feature_gates.h"
#include "plugins/arguments.h"

namespace berth::plugins {
namespace {

bool all_zero(const std::vector<std::int64_t>& amounts) {
  return std::ranges::all_of(amounts, [](std::int64_t amount) { return amount == 0; });
}

double fraction_of(std::int64_t amount, std::int64_t allocatable) {
  return std::min(static_cast<double>(amount) / static_cast<double>(allocatable), 1.0);
}

// How evenly resources are used, up to 100.
std::int64_t evenness(double deviation) {
  return truncated((1 - deviation) * static_cast<double>(kMaxScore));
}

// Parity: two numbers have a formula of their own, which rounds differently.
double deviation_of_two(double a, double b) { return std::abs((a - b) / 2); }

double deviation_of(std::span<const double> fractions, double total) {
  if (fractions.size() < 2) return 0;
  if (fractions.size() == 2) return deviation_of_two(fractions[0], fractions[1]);
  const double count = static_cast<double>(fractions.size());
  const double mean = total / count;
  double sum = 0;
  for (const double fraction : fractions) sum = sum + (fraction - mean) * (fraction - mean);
  return std::sqrt(sum / count);
}

// How evenly one row's resources are used, with the pod and without it. Every operation rounds by
// itself and in upstream's order.
class Balance {
 public:
  explicit Balance(const std::vector<AllocationColumn>& columns)
      : columns_(columns), fractions_(columns.size() == 2 ? 0 : columns.size()) {}

  std::int64_t with_pod(NodeRow row) {
    return of(row, [row](const AllocationColumn& column) { return column.requested_on(row); });
  }
  std::int64_t without_pod(NodeRow row) {
    return of(row, [row](const AllocationColumn& column) { return column.used_on(row); });
  }

 private:
  template <typename Amount>
  std::int64_t of(NodeRow row, Amount amount) {
    // Nearly always: cpu and memory, and the node has both.
    if (columns_.size() == 2) {
      const std::int64_t first = columns_[0].allocatable[row];
      const std::int64_t second = columns_[1].allocatable[row];
      if (first == 0 || second == 0) return kMaxScore;
      return evenness(deviation_of_two(fraction_of(amount(columns_[0]), first),
                                       fraction_of(amount(columns_[1]), second)));
    }
    std::size_t count = 0;
    double total = 0;
    for (const AllocationColumn& column : columns_)
      if (const std::int64_t allocatable = column.allocatable[row]; allocatable != 0) {
        fractions_[count] = fraction_of(amount(column), allocatable);
        total += fractions_[count++];
      }
    return evenness(deviation_of(std::span(fractions_).first(count), total));
  }

  const std::vector<AllocationColumn>& columns_;
  std::vector<double> fractions_;  // kept, so that rows do not allocate
};

}  // namespace

NodeResourcesBalancedAllocation::NodeResourcesBalancedAllocation(
    const config::NodeResourcesBalancedAllocationArgs& args, const Handle& handle)
    : resources_(args.resources, handle),
      gates_(RequestGates::of(handle.gates)),
      classes_(handle.gates.enabled("DRAExtendedResource") ? DeviceClassResources::of(handle)
                                                           : nullptr) {}

Result<std::unique_ptr<Plugin>> NodeResourcesBalancedAllocation::create(
    const config::PluginArgs& arguments, const Handle& handle) {
  auto args = typed_arguments<config::NodeResourcesBalancedAllocationArgs>(
      arguments, "NodeResourcesBalancedAllocationArgs");
  if (!args) return fail(args.error());
  return std::make_unique<NodeResourcesBalancedAllocation>(*args, handle);
}

ScoredAmounts NodeResourcesBalancedAllocation::scored(const Cycle& cycle) const {
  const bool as_added_up = gates_.pod_level_resources && gates_.pod_level_status &&
                           gates_.in_place_scaling && !resources_.has_unknown();
  return resources_.with_devices(
      cycle.nodes(), as_added_up
                         ? resources_.amounts(cycle.pod().usage(), Used::kRequested)
                         : resources_.amounts(pod_requests(
                               cycle.pod(), {.use_status = gates_.in_place_scaling,
                                             .pod_level = gates_.pod_level_resources,
                                             .pod_level_status = gates_.pod_level_status})));
}

Outcome NodeResourcesBalancedAllocation::pre_score(Cycle& cycle, const NodeSet&) const {
  ScoredAmounts amounts = scored(cycle);
  if (all_zero(amounts.amounts)) return Outcome::skip();
  cycle.put(*this, std::move(amounts));
  return Outcome::success();
}

Outcome NodeResourcesBalancedAllocation::score(const Cycle& cycle, const NodeSet& feasible,
                                               std::span<Score> by_row) const {
  if (resources_.empty()) return Outcome::failure("resources not found");
  const ScoredAmounts* kept = cycle.find<ScoredAmounts>(*this);
  const ScoredAmounts afresh = kept ? ScoredAmounts{} : scored(cycle);
  const ScoredAmounts& amounts = kept ? *kept : afresh;
  if (all_zero(amounts.amounts)) {
    feasible.for_each([&](NodeRow row) { by_row[row] = 0; });
    return Outcome::success();
  }
  const std::vector<AllocationColumn> columns =
      resources_.columns(cycle.nodes(), amounts, Used::kRequested);
  Balance balance(columns);
  const auto one_row = [&](NodeRow row) {
    // From 50, where the pod makes it as uneven as can be, over 75 (no change) to 100.
    const std::int64_t gain = wrapping_sub(balance.with_pod(row), balance.without_pod(row));
    return kMaxScore / 2 + wrapping_add(kMaxScore / 2, gain) / 2;
  };
  if (columns.size() != 2) {
    feasible.for_each([&](NodeRow row) { by_row[row] = one_row(row); });
    return Outcome::success();
  }
  score_rows_in_blocks(columns, feasible, by_row, one_row,
                       [&](std::span<const BlockColumn> block, std::size_t rows, Score* scores) {
                         balance_of_two(block[0], block[1], rows, scores);
                       });
  return Outcome::success();
}

bool NodeResourcesBalancedAllocation::score_keys(Cycle& cycle, RowKeys& keys) const {
  if (resources_.scores_devices(cycle.pod())) keys.add_numbers({});
  return true;
}

Outcome NodeResourcesBalancedAllocation::sign(const Pod& pod,
                                              std::vector<SignatureFragment>& fragments) const {
  return sign_request(pod, gates_.pod_level_resources, classes_.get(), fragments);
}

}  // namespace berth::plugins
