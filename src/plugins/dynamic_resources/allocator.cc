#include "plugins/dynamic_resources/allocator.h"

#include <algorithm>
#include <utility>

#include "config/feature_gates.h"
#include "plugins/dynamic_resources/allocator_claims.h"
#include "plugins/dynamic_resources/allocator_pools.h"
#include "plugins/dynamic_resources/allocator_result.h"
#include "plugins/dynamic_resources/allocator_search.h"

namespace berth::plugins {

AllocatorFeatures AllocatorFeatures::of(const config::FeatureGates& gates) {
  AllocatorFeatures out;
  out.admin_access = gates.enabled("DRAAdminAccess");
  out.consumable_capacity = gates.enabled("DRAConsumableCapacity");
  out.device_binding =
      gates.enabled("DRADeviceBindingConditions") && gates.enabled("DRAResourceClaimDeviceStatus");
  out.device_taint_rules = gates.enabled("DRADeviceTaintRules");
  out.device_taints = gates.enabled("DRADeviceTaints");
  out.fractional_ranges = gates.enabled("DRAFractionalCapacityRange");
  out.list_type_attributes = gates.enabled("DRAListTypeAttributes");
  out.partitionable_devices = gates.enabled("DRAPartitionableDevices");
  out.prioritized_list = gates.enabled("DRAPrioritizedList");
  return out;
}

// ---- SearchClock

void SearchClock::start_turn() {
  last_ = tick();
  turn_end_ = used_ + budget_.turn;
}

void SearchClock::spend(std::uint64_t steps) {
  const TimePoint now = tick();
  used_ += std::max(now - last_, kStep * static_cast<Duration::rep>(steps));
  last_ = now;
}

// ---- Allocator

struct Allocator::State {
  State(DevicePools& pools, const AllocatedDevices& allocated, const Cluster& objects,
        SearchBudget budget)
      : cluster(objects), context{pools, allocated, SearchClock(budget), {}} {}

  const Cluster& cluster;
  SearchContext context;
  DeviceSearch search{context};
  std::vector<PreparedClaim*> wanted;  // of the current node
  const Node* unfinished = nullptr;    // the node whose search goes on in the next turn
  std::span<const Ref<const ResourceClaim>> unfinished_claims;
  // The claims of the pod, and variants of one of them that differ from node to node.
  std::vector<std::unique_ptr<PreparedClaim>> prepared;

  // Variants are as many as there are kinds of nodes at most; a node with one of its own forgets
  // the others.
  static constexpr std::size_t kMaxPrepared = 64;

  PreparedClaim& prepare(const Ref<const ResourceClaim>& claim) {
    const auto known =
        std::ranges::find_if(prepared, [&](const auto& entry) { return entry->claim == claim; });
    if (known != prepared.end() && (*known)->selector_epoch == context.pools.selectors.epoch())
      return **known;
    auto fresh = std::make_unique<PreparedClaim>(prepare_claim(claim, context.pools, cluster));
    if (known == prepared.end()) return *prepared.emplace_back(std::move(fresh));
    *known = std::move(fresh);
    return **known;
  }

  void begin(const Node& node, std::span<const Ref<const ResourceClaim>> claims) {
    context.clock.spend(0);  // what others did since the last search is not this node's
    if (prepared.size() > kMaxPrepared + claims.size()) prepared.clear();
    wanted.clear();
    for (const Ref<const ResourceClaim>& claim : claims) wanted.push_back(&prepare(claim));
    search.begin(context.pools.of(node), wanted);
  }
};

Allocator::Allocator(DevicePools& pools, const AllocatedDevices& allocated, const Cluster& cluster,
                     SearchBudget budget)
    : state_(std::make_unique<State>(pools, allocated, cluster, budget)) {
  pools.selectors.trim();
}
Allocator::Allocator(Allocator&&) noexcept = default;
Allocator::~Allocator() = default;

void Allocator::start_turn() { state_->context.clock.start_turn(); }

void Allocator::lift_limits() { state_->context.clock.lift_limits(); }

void Allocator::allocate(const Node& node, std::span<const Ref<const ResourceClaim>> claims,
                         NodeAllocation& out) {
  State& state = *state_;
  out.verdict = NodeAllocation::Verdict::kUnfinished;
  if (state.context.clock.turn_is_over()) return;
  const bool goes_on = state.unfinished == &node && state.unfinished_claims.data() == claims.data();
  state.unfinished = nullptr;
  if (!goes_on) {
    if (state.context.clock.attempt_timed_out()) {
      out.verdict = NodeAllocation::Verdict::kTimedOut;
      return;
    }
    state.begin(node, claims);
  }
  state.search.run(out);
  if (out.verdict == NodeAllocation::Verdict::kUnfinished) {
    state.unfinished = &node;
    state.unfinished_claims = claims;
  }
  if (!out.allocated()) return;

  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Result<void> selector = check_selector(out.claims[i], state.context.pools.features);
    if (selector) continue;
    out.verdict = NodeAllocation::Verdict::kError;
    out.message =
        "create NodeSelector for claim " + claims[i]->name + ": " + selector.error().message;
    return;
  }
}

std::vector<RequestSupply> Allocator::supply(const Node& node,
                                             std::span<const Ref<const ResourceClaim>> claims) {
  state_->unfinished = nullptr;
  state_->begin(node, claims);
  return state_->search.supply();
}

AllocationResult Allocator::result(const NodeAllocation& allocation, std::size_t index,
                                   const ResourceClaim& claim, const Node& node, SymbolHold& hold,
                                   Random& random) const {
  return make_result(allocation.claims[index], claim, node, state_->cluster,
                     state_->context.pools.features, hold, random);
}

}  // namespace berth::plugins
