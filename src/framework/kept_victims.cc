#include "framework/kept_victims.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace berth {
namespace {

constexpr std::uint32_t kNotYet = ~std::uint32_t{0};

}  // namespace

bool KeptVictims::can_keep(const Cycle& cycle, const Framework& framework,
                           const NominationLog* log) {
  // A pod's own nomination does not count for it, but for all others like it.
  if (!log || log->is_nominated(cycle.pod().uid())) return false;
  // Resources in a pod's status are its own.
  if (const PodExtra* extra = cycle.pod().extra(); extra && extra->has_resources()) return false;
  return std::ranges::all_of(framework.plugins().filter, [&](const Placed<FilterPlugin>& placed) {
    return cycle.skip_filter.test(placed.index) || placed->dependence() == Dependence::kRow;
  });
}

std::size_t KeptVictims::hash_of(const Framework& framework, const Pod& pod) {
  const std::hash<const void*> hash;
  return (hash(&framework) * 31 + hash(&pod.spec())) * 0x9e3779b97f4a7c15ULL + hash(&pod.meta());
}

void KeptVictims::catch_up(const Cycle& cycle, const NominationLog& log) {
  const bool followed = follow(cycle, log);
  rows_position_ = cycle.nodes().log_end();
  nominations_position_ = log.nomination_log_end();
  const std::uint64_t budgets = cycle.cluster().generation(ObjectKind::kPodDisruptionBudget);
  const std::uint64_t classes = cycle.cluster().generation(ObjectKind::kDeviceClass);
  if (!followed || budgets != std::exchange(budgets_, budgets) ||
      classes != std::exchange(device_classes_, classes) || skipped_ != cycle.skip_filter) {
    known_.clear();
    listed_.clear();
  }
  skipped_ = cycle.skip_filter;
  const std::size_t rows = cycle.nodes().rows();
  known_.reserve_rows(rows);
  by_row_.resize(rows);
  list_of_row_.resize(rows);
  for (Listed& listed : listed_) listed.in_cycle = kNotYet;
}

// False: everything may have changed.
bool KeptVictims::follow(const Cycle& cycle, const NominationLog& log) {
  const NodeTable& nodes = cycle.nodes();
  const auto changes = nodes.changes_since(rows_position_);
  const auto nominations = log.nominations_since(nominations_position_);
  if (by_row_.empty() || !changes || !nominations) return false;
  for (const ChangedRow& change : *changes) {
    // How many nodes there are may matter to all of them.
    if ((change.changes & static_cast<std::uint8_t>(RowChange::kMembership)) != 0) return false;
    known_.erase(change.row);
  }
  for (const Symbol node : *nominations)
    if (const NodeRow row = nodes.find(node); row != kNoRow) known_.erase(row);
  return true;
}

const TriedRow* KeptVictims::find(const Cycle& cycle, NodeRow row) {
  if (!known_.contains(row)) return nullptr;
  TriedRow& tried = by_row_[row];
  if (!tried.status.ok() && tried.status.reason == Status::kListed) {
    Listed& listed = listed_[list_of_row_[row]];
    if (listed.in_cycle == kNotYet) listed.in_cycle = cycle.list_reasons(listed.reasons);
    tried.status.argument = listed.in_cycle;
  }
  return &tried;
}

const TriedRow& KeptVictims::keep(const Cycle& cycle, NodeRow row, TriedRow tried) {
  if (!tried.status.ok() && tried.status.reason == Status::kListed) {
    const std::vector<std::string>& reasons =
        cycle.scratch()->listed_reasons[tried.status.argument];
    const auto known = std::ranges::find(listed_, reasons, &Listed::reasons);
    list_of_row_[row] = static_cast<std::uint32_t>(known - listed_.begin());
    if (known == listed_.end()) listed_.push_back({reasons, tried.status.argument});
  }
  known_.insert(row);
  return by_row_[row] = std::move(tried);
}

std::size_t KeptVictims::bytes() const {
  std::size_t total = sizeof(*this) + known_.capacity() / 8 +
                      by_row_.capacity() * sizeof(TriedRow) +
                      list_of_row_.capacity() * sizeof(std::uint32_t);
  known_.for_each(
      [&](NodeRow row) { total += by_row_[row].victims.pods.capacity() * sizeof(Ref<const Pod>); });
  return total;
}

}  // namespace berth
