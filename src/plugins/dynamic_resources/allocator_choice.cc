// DeviceSearch: whether one device can be had for a request, and what taking it changes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/dynamic_resources/allocator_search.h"

namespace berth::plugins {

DeviceSearch::CandidateState& DeviceSearch::state_of(std::uint32_t candidate) {
  CandidateState& state = states_[candidate];
  if (!state.known) {
    state.known = true;
    state.exclusive = context_.allocated.exclusive(node_->candidates[candidate].id);
    if (context_.pools.features.consumable_capacity) {
      state.consumed = context_.allocated.consumed(node_->candidates[candidate].id);
      state.shared = context_.allocated.shared(node_->candidates[candidate].id);
    }
  }
  return state;
}

bool DeviceSearch::chosen_for(std::uint32_t candidate, std::uint32_t claim) const {
  return states_[candidate].marks > 0 && std::ranges::any_of(chosen_, [&](const Chosen& chosen) {
           return chosen.marked && chosen.candidate == candidate && chosen.claim == claim;
         });
}

bool DeviceSearch::in_use(const PreparedRequest& request, std::uint32_t candidate,
                          std::uint32_t claim) {
  if (request.admin) return chosen_for(candidate, claim);
  const CandidateState& state = state_of(candidate);
  return state.exclusive || state.marks > 0;
}

std::optional<bool> DeviceSearch::selectable(const PreparedClaim& claim, const Wanted& wanted,
                                             std::uint32_t candidate) {
  Selectable& known = selectable_[wanted.answers + candidate];
  if (known != Selectable::kUnknown) return known == Selectable::kYes;
  const std::optional<bool> verdict = judge(claim, *wanted.prepared, node_->candidates[candidate]);
  if (verdict) known = *verdict ? Selectable::kYes : Selectable::kNo;
  return verdict;
}

std::optional<bool> DeviceSearch::judge(const PreparedClaim& claim, const PreparedRequest& request,
                                        Candidate& candidate) {
  DevicePools& pools = context_.pools;
  if (!pools.features.device_binding && !candidate.device->binding_conditions.empty()) return false;
  OfferedSlice& offered = *candidate.offered;
  for (const PreparedSelector& selector : request.selectors) {
    const std::uint64_t evaluated = pools.selectors.evaluations();
    const std::optional<Result<bool>> answer =
        pools.selectors.matches(selector.id, offered.slice, candidate.index, offered.answers,
                                [this] { return look_at_clock(); });
    if (!answer) return std::nullopt;
    const Result<bool>& matches = *answer;
    if (!matches && matches.error().kind == ErrorKind::kTimeout) {
      stop(Verdict::kTimedOut, "");
      return std::nullopt;
    }
    if (!matches) {
      const std::string whose =
          selector.of_class ? "class " + request.device_class->name : "claim " + claim.full_name;
      const bool of_device = matches.error().kind == ErrorKind::kInternal;
      stop(Verdict::kError, fmt::format("{}: selector #{}{}: {}", whose, selector.index,
                                        of_device ? " on device " + text_of(candidate.id) : "",
                                        matches.error().message));
      return std::nullopt;
    }
    // One that was evaluated may have taken milliseconds. Its answer is kept: a search that pauses
    // here asks only the others when it goes on.
    if (pools.selectors.evaluations() != evaluated && !look_at_clock()) return std::nullopt;
    if (!*matches) return false;
  }
  if (!offered.per_device()) return true;
  if (!candidate.node_matches) {
    const Result<bool> matches = pools.device_matches(offered, candidate.index, *node_->node);
    if (!matches) {
      stop(Verdict::kError, matches.error().message);
      return std::nullopt;
    }
    candidate.node_matches = *matches;
  }
  return *candidate.node_matches;
}

DeviceSearch::Sharing* DeviceSearch::sharing(std::uint32_t candidate) {
  const auto found = std::ranges::find(sharing_, candidate, &Sharing::candidate);
  return found == sharing_.end() || found->shares == 0 ? nullptr : &*found;
}

std::string DeviceSearch::text_of(const DeviceId& id) const {
  const Symbols& symbols = *context_.pools.symbols;
  return fmt::format("{}/{}/{}", symbols.text(id.driver), symbols.text(id.pool),
                     symbols.text(id.device));
}

CapacityRequest DeviceSearch::capacity_of(const PreparedRequest& request) const {
  return {.amounts = request.written->capacity ? &*request.written->capacity : nullptr,
          .fractional_ranges = context_.pools.features.fractional_ranges};
}

std::optional<bool> DeviceSearch::has_capacity(const PreparedClaim& claim,
                                               const PreparedRequest& request,
                                               std::uint32_t candidate) {
  if (!context_.pools.features.consumable_capacity) return true;
  const Candidate& of = node_->candidates[candidate];
  const CapacityRequest wanted = capacity_of(request);
  if (!wanted.amounts && of.plain_capacity) return true;
  const Symbols& symbols = *context_.pools.symbols;
  const Result<bool> fits = capacity_fits(*of.device, wanted, nullptr, nullptr, symbols);
  if (fits) return *fits;
  // Parity: of the device only the name.
  stop(Verdict::kError,
       fmt::format("claim {}, request {}: checking capacity for device {}: {}", claim.full_name,
                   symbols.text(request.name), symbols.text(of.id.device), fits.error().message));
  return std::nullopt;
}

std::optional<bool> DeviceSearch::capacity_left(const PreparedClaim& claim,
                                                const PreparedRequest& request,
                                                std::uint32_t candidate, std::string_view doing) {
  if (!context_.pools.features.consumable_capacity) return true;
  const Candidate& of = node_->candidates[candidate];
  const CapacityRequest wanted = capacity_of(request);
  const ResourceList* allocated = state_of(candidate).consumed;
  const Sharing* own = of.shared ? sharing(candidate) : nullptr;
  if (!wanted.amounts && !allocated && !own && of.plain_capacity) return true;
  const Symbols& symbols = *context_.pools.symbols;
  const Result<bool> fits =
      capacity_fits(*of.device, wanted, allocated, own ? &own->consumed : nullptr, symbols);
  if (fits) return *fits;
  stop(Verdict::kError,
       fmt::format("claim {}, request {}: {} capacity for device {}: {}", claim.full_name,
                   symbols.text(request.name), doing, text_of(of.id), fits.error().message));
  return std::nullopt;
}

bool DeviceSearch::satisfy_constraints(const Wanted& wanted, WantedClaim& claim,
                                       const Candidate& candidate) {
  const PreparedRequest& request = *wanted.prepared;
  std::vector<AttributeConstraint>& constraints = claim.prepared->constraints;
  for (std::size_t i = 0; i < request.constraints.size(); ++i) {
    AttributeConstraint& constraint = constraints[request.constraints[i]];
    if (constraint.add(*candidate.device, candidate.id.driver)) continue;
    while (i-- > 0) constraints[request.constraints[i]].remove();
    return false;
  }
  return true;
}

std::optional<bool> DeviceSearch::choose(const Position& at, const Wanted& wanted,
                                         std::uint32_t candidate, bool must) {
  const AllocatorFeatures& features = context_.pools.features;
  const PreparedRequest& request = *wanted.prepared;
  const Candidate& of = node_->candidates[candidate];
  WantedClaim& claim = claims_[at.claim];
  // Parity: whoever has admin access may take another share of a device, in spite of the claim.
  if (!(request.admin && of.shared) && in_use(request, candidate, at.claim)) return false;
  if (!features.partitionable_devices && !of.device->consumes_counters.empty()) return false;

  Chosen chosen;
  chosen.candidate = candidate;
  chosen.claim = at.claim;
  chosen.request = at.request;
  chosen.alternative = at.alternative;
  // The first share of a device has taken its counters.
  const bool partly_used = of.shared && (state_of(candidate).consumed ||
                                         state_of(candidate).shared || sharing(candidate));
  if (!partly_used && !of.device->consumes_counters.empty()) {
    if (!counters_.take(*node_, of, context_.allocated, context_.balances)) return false;
    chosen.counters = true;
  }
  const auto refuse = [&] {
    if (chosen.counters) counters_.give_back(*node_, of);
    return false;
  };
  if (features.device_taints && taint_prevents(of, *request.written, context_.pools))
    return refuse();
  if (!satisfy_constraints(wanted, claim, of)) {
    refuse();
    if (!must) return false;
    const Symbols& symbols = *context_.pools.symbols;
    stop(Verdict::kError,
         fmt::format("claim {}, request {}: cannot add device {} because a claim constraint would "
                     "not be satisfied",
                     claim.prepared->full_name, symbols.text(request.name), text_of(of.id)));
    return std::nullopt;
  }
  // Whoever wants all devices has not asked yet what others have left of this one.
  if (must) {
    const std::optional<bool> left =
        capacity_left(*claim.prepared, request, candidate, "rechecking");
    if (!left) return std::nullopt;
    if (!*left) {
      for (const std::uint32_t i : request.constraints) claim.prepared->constraints[i].remove();
      return refuse();
    }
  }

  if (!of.shared) {
    chosen.marked = true;
    ++states_[candidate].marks;
  } else {
    chosen.consumed = consumed_capacity(*of.device, capacity_of(request));
    auto shared = std::ranges::find(sharing_, candidate, &Sharing::candidate);
    if (shared == sharing_.end()) shared = sharing_.insert(shared, {candidate, 0, {}});
    ++shared->shares;
    shared->consumed.add(chosen.consumed);
  }
  ++claim.devices;
  chosen_.push_back(std::move(chosen));
  return true;
}

// The last device that was chosen.
void DeviceSearch::give_back() {
  const Chosen& chosen = chosen_.back();
  WantedClaim& claim = claims_[chosen.claim];
  const Candidate& of = node_->candidates[chosen.candidate];
  const PreparedRequest& request =
      *claim.requests[chosen.request].alternatives[chosen.alternative].prepared;
  --claim.devices;
  if (chosen.marked) {
    --states_[chosen.candidate].marks;
  } else {
    Sharing& shared = *std::ranges::find(sharing_, chosen.candidate, &Sharing::candidate);
    --shared.shares;
    for (const ResourceAmount& amount : chosen.consumed) {
      Quantity rest = *shared.consumed.find(amount.name);
      rest -= amount.amount;
      shared.consumed.set(amount.name, std::move(rest));
    }
  }
  for (auto i = request.constraints.rbegin(); i != request.constraints.rend(); ++i)
    claim.prepared->constraints[*i].remove();
  if (chosen.counters) counters_.give_back(*node_, of);
  chosen_.pop_back();
}

}  // namespace berth::plugins
