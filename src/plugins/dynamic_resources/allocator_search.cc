#include "plugins/dynamic_resources/allocator_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "plugins/dynamic_resources/allocator_capacity.h"

namespace berth::plugins {

using Verdict = NodeAllocation::Verdict;

void DeviceSearch::begin(NodePools& node, std::span<PreparedClaim* const> claims) {
  node_ = &node;
  states_.assign(node.candidates.size(), {});
  selectable_.clear();
  chosen_.clear();
  sharing_.clear();
  counters_.clear();
  stopped_ = {};
  claims_.resize(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) claims_[i].prepared = claims[i];

  steps_ = 0;
  max_steps_ = std::numeric_limits<std::uint64_t>::max();
  deadline_.reset();
  if (context_.budget.timeout <= Duration(0)) return;
  const double seconds = std::chrono::duration<double>(context_.budget.timeout).count();
  max_steps_ = static_cast<std::uint64_t>(
      std::min(seconds * static_cast<double>(SearchBudget::kStepsPerSecond), 1e18));
}

NodeAllocation DeviceSearch::run(NodePools& node, std::span<PreparedClaim* const> claims) {
  begin(node, claims);
  if (node.error) {
    stop(Verdict::kError, node.error->message);
    return std::move(stopped_);
  }
  NodeAllocation out;
  const Step step = prepare() ? search({}, false, 0) : Step::kStopped;
  context_.steps += steps_;
  if (step == Step::kStopped) return std::move(stopped_);
  if (step == Step::kDone) {
    out.verdict = Verdict::kAllocated;
    collect(out);
  } else if (node.any_invalid) {
    out.verdict = Verdict::kNodeFailure;
    out.message = "invalid resource pools were encountered";
  }
  return out;
}

DeviceSearch::Step DeviceSearch::stop(Verdict verdict, std::string message) {
  stopped_.verdict = verdict;
  stopped_.message = std::move(message);
  return Step::kStopped;
}

bool DeviceSearch::spend() {
  static constexpr std::uint64_t kStepsBetweenLooks = 4096;  // at the clock
  if (++steps_ <= max_steps_ && steps_ % kStepsBetweenLooks != 0) return true;
  if (steps_ <= max_steps_) {
    // Most searches are over before they need to know the time.
    if (!context_.budget.loop || max_steps_ == std::numeric_limits<std::uint64_t>::max())
      return true;
    const TimePoint now = context_.budget.loop->now();
    if (!deadline_) deadline_ = now + context_.budget.timeout;
    if (now < *deadline_) return true;
  }
  stop(Verdict::kTimedOut, "");
  return false;
}

// ---- before -----------------------------------------------------------------------------------

bool DeviceSearch::prepare() {
  for (WantedClaim& claim : claims_)
    if (!prepare(claim)) return false;
  return true;
}

bool DeviceSearch::prepare(WantedClaim& claim) {
  PreparedClaim& prepared = *claim.prepared;
  claim.devices = 0;
  claim.requests.resize(prepared.requests.size());
  std::int64_t least = 0;
  for (std::size_t i = 0; i < prepared.requests.size(); ++i) {
    const RequestAlternatives& written = prepared.requests[i];
    if (!written.error.empty()) {
      stop(Verdict::kError, written.error);
      return false;
    }
    WantedRequest& request = claim.requests[i];
    request.prioritized = written.prioritized;
    request.chosen = -1;
    request.alternatives.resize(written.alternatives.size());
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t j = 0; j < written.alternatives.size(); ++j) {
      if (!prepare(prepared, written.alternatives[j], request.alternatives[j])) return false;
      fewest = std::min(fewest, request.alternatives[j].devices);
    }
    if (__builtin_add_overflow(least, fewest, &least))
      least = std::numeric_limits<std::int64_t>::max();
  }
  if (least > kAllocationResultsMaxSize) {
    stop(Verdict::kError,
         fmt::format("claim {}: number of requested devices {} exceeds the claim limit of {}",
                     prepared.full_name, least, kAllocationResultsMaxSize));
    return false;
  }
  if (!prepared.constraint_error.empty()) {
    stop(Verdict::kError, prepared.constraint_error);
    return false;
  }
  for (AttributeConstraint& constraint : prepared.constraints) constraint.clear();
  return true;
}

bool DeviceSearch::prepare(const PreparedClaim& claim, const PreparedRequest& alternative,
                           Wanted& wanted) {
  if (!alternative.error.empty()) {
    stop(Verdict::kError, alternative.error);
    return false;
  }
  wanted.prepared = &alternative;
  wanted.devices = alternative.count;
  wanted.all.clear();
  wanted.answers = static_cast<std::uint32_t>(selectable_.size());
  selectable_.resize(selectable_.size() + node_->candidates.size(), Selectable::kUnknown);
  return !alternative.all || list_all_devices(claim, wanted);
}

bool DeviceSearch::list_all_devices(const PreparedClaim& claim, Wanted& wanted) {
  const Symbols& symbols = *context_.pools.symbols;
  for (const NodePool& pool : node_->pools) {
    if (pool.incomplete || pool.invalid) {
      stop(Verdict::kError,
           fmt::format("claim {}, request {}: asks for all devices, but resource pool {}/{} is "
                       "currently {}",
                       claim.full_name, symbols.text(wanted.prepared->name),
                       symbols.text(pool.entry->driver), symbols.text(pool.entry->pool),
                       pool.incomplete ? "being updated" : "invalid"));
      return false;
    }
    for (std::uint32_t i = pool.first_candidate; i < pool.end_candidate; ++i) {
      const std::optional<bool> selected = selectable(claim, wanted, i);
      if (!selected) return false;
      if (*selected && capacity_left(*wanted.prepared, i)) wanted.all.push_back(i);
    }
  }
  wanted.devices = static_cast<std::int64_t>(wanted.all.size());
  return true;
}

// ---- the search -------------------------------------------------------------------------------

DeviceSearch::Step DeviceSearch::search(Position at, bool alternative_chosen,
                                        std::uint32_t first_candidate) {
  if (!spend()) return Step::kStopped;
  if (at.claim == claims_.size()) return Step::kDone;
  WantedClaim& claim = claims_[at.claim];
  if (at.request == claim.requests.size()) {
    // Too many devices in a later claim: with other devices here it may find a subrequest that
    // needs fewer.
    const Step step = search({.claim = at.claim + 1}, false, 0);
    return step == Step::kLimit ? Step::kFailed : step;
  }
  WantedRequest& request = claim.requests[at.request];
  if (!alternative_chosen && request.prioritized) return try_alternatives(at);

  const Wanted& wanted = request.alternatives[at.alternative];
  const bool all = wanted.prepared->all;
  if (all && wanted.all.empty()) return Step::kFailed;
  if (at.device >= wanted.devices)
    return search({.claim = at.claim, .request = at.request + 1}, false, 0);
  if (claim.devices + wanted.devices - at.device > kAllocationResultsMaxSize) return Step::kLimit;
  return all ? take_all(at, wanted, alternative_chosen)
             : take_some(at, wanted, alternative_chosen, first_candidate);
}

DeviceSearch::Step DeviceSearch::try_alternatives(Position at) {
  WantedRequest& request = claims_[at.claim].requests[at.request];
  bool only_too_many = true;
  for (std::uint32_t i = 0; i < request.alternatives.size(); ++i) {
    at.alternative = i;
    const Step step = search(at, true, 0);
    if (step == Step::kLimit) continue;
    only_too_many = false;
    if (step == Step::kFailed) continue;
    if (step == Step::kDone) request.chosen = static_cast<std::int16_t>(i);
    return step;
  }
  return only_too_many ? Step::kLimit : Step::kFailed;
}

DeviceSearch::Step DeviceSearch::take_all(Position at, const Wanted& wanted,
                                          bool alternative_chosen) {
  const std::uint32_t candidate = wanted.all[static_cast<std::size_t>(at.device)];
  const std::optional<bool> chosen = choose(at, wanted, candidate, /*must=*/true);
  if (!chosen) return Step::kStopped;
  if (!*chosen) return Step::kFailed;
  ++at.device;
  const Step step = search(at, alternative_chosen, 0);
  if (step != Step::kDone) give_back();
  return step;
}

DeviceSearch::Step DeviceSearch::take_some(Position at, const Wanted& wanted,
                                           bool alternative_chosen, std::uint32_t first_candidate) {
  const WantedClaim& claim = claims_[at.claim];
  const PreparedRequest& request = *wanted.prepared;
  const auto count = static_cast<std::uint32_t>(node_->candidates.size());
  Position next = at;
  ++next.device;
  for (std::uint32_t i = first_candidate; i < count; ++i) {
    if (!spend()) return Step::kStopped;
    if (in_use(request, i, at.claim)) continue;
    const std::optional<bool> selected = selectable(*claim.prepared, wanted, i);
    if (!selected) return Step::kStopped;
    if (!*selected || !capacity_left(request, i)) continue;
    const std::optional<bool> chosen = choose(at, wanted, i, /*must=*/false);
    if (!chosen) return Step::kStopped;
    if (!*chosen) continue;
    // Devices of one request are taken in their order: any set of them is tried once.
    const Step step = search(next, alternative_chosen, i + 1);
    if (step == Step::kDone) return step;
    give_back();
    if (step != Step::kFailed) return step;
  }
  return Step::kFailed;
}

// ---- one device -------------------------------------------------------------------------------

DeviceSearch::CandidateState& DeviceSearch::state_of(std::uint32_t candidate) {
  CandidateState& state = states_[candidate];
  if (!state.known) {
    state.known = true;
    state.exclusive = context_.allocated.exclusive(node_->candidates[candidate].id);
    if (context_.pools.features.consumable_capacity)
      state.consumed = context_.allocated.consumed(node_->candidates[candidate].id);
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
  DevicePools::State& pools = context_.pools;
  if (!pools.features.device_binding && !candidate.device->binding_conditions.empty()) return false;
  OfferedSlice& offered = *candidate.offered;
  for (const PreparedSelector& selector : request.selectors) {
    const Result<bool> matches =
        pools.selectors.matches(selector.id, *offered.slice, candidate.index, offered.answers);
    if (!matches) {
      const std::string whose =
          selector.of_class ? "class " + request.device_class->name : "claim " + claim.full_name;
      stop(Verdict::kError,
           fmt::format("{}: selector #{}: {}", whose, selector.index, matches.error().message));
      return std::nullopt;
    }
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

bool DeviceSearch::capacity_left(const PreparedRequest& request, std::uint32_t candidate) {
  if (!context_.pools.features.consumable_capacity) return true;
  const Candidate& of = node_->candidates[candidate];
  const ResourceList* requested = request.written->capacity ? &*request.written->capacity : nullptr;
  const ResourceList* allocated = state_of(candidate).consumed;
  const Sharing* own = of.shared ? sharing(candidate) : nullptr;
  if (!requested && !allocated && !own && of.plain_capacity) return true;
  return capacity_fits(*of.device, requested, allocated, own ? &own->consumed : nullptr);
}

bool DeviceSearch::satisfy_constraints(const Wanted& wanted, WantedClaim& claim,
                                       const Candidate& candidate) {
  const PreparedRequest& request = *wanted.prepared;
  std::vector<AttributeConstraint>& constraints = claim.prepared->constraints;
  for (std::size_t i = 0; i < request.constraints.size(); ++i) {
    AttributeConstraint& constraint = constraints[request.constraints[i]];
    if (constraint.add(request.request, *candidate.device, candidate.id.driver)) continue;
    while (i-- > 0) constraints[request.constraints[i]].remove(request.request);
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
  // Whoever had the first share of a device has taken its counters.
  const bool partly_used = of.shared && (state_of(candidate).consumed || sharing(candidate));
  if (!partly_used && !of.device->consumes_counters.empty()) {
    if (!counters_.take(*node_, of, context_.allocated, context_.balances)) return false;
    chosen.counters = true;
  }
  const auto refuse = [&] {
    if (chosen.counters) counters_.give_back(*node_, of);
    return false;
  };
  if (features.device_taints &&
      taint_prevents(*of.device, *request.written, *context_.pools.symbols))
    return refuse();
  if (!satisfy_constraints(wanted, claim, of)) {
    refuse();
    if (!must) return false;
    const Symbols& symbols = *context_.pools.symbols;
    stop(Verdict::kError,
         fmt::format("claim {}, request {}: cannot add device {}/{}/{} because a claim constraint "
                     "would not be satisfied",
                     claim.prepared->full_name, symbols.text(request.name),
                     symbols.text(of.id.driver), symbols.text(of.id.pool),
                     symbols.text(of.id.device)));
    return std::nullopt;
  }
  // Earlier shares may have left less than there was when all devices were listed.
  if (must && !capacity_left(request, candidate)) {
    for (const std::uint32_t i : request.constraints)
      claim.prepared->constraints[i].remove(request.request);
    return refuse();
  }

  if (!of.shared) {
    chosen.marked = true;
    ++states_[candidate].marks;
  } else {
    const ResourceList* requested =
        request.written->capacity ? &*request.written->capacity : nullptr;
    chosen.consumed = consumed_capacity(*of.device, requested);
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
    claim.prepared->constraints[*i].remove(request.request);
  if (chosen.counters) counters_.give_back(*node_, of);
  chosen_.pop_back();
}

// ---- after ------------------------------------------------------------------------------------

void DeviceSearch::collect(NodeAllocation& out) const {
  out.claims.resize(claims_.size());
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    out.claims[i].devices.reserve(
        static_cast<std::size_t>(std::max<std::int64_t>(claims_[i].devices, 0)));
    for (const WantedRequest& request : claims_[i].requests)
      out.claims[i].subrequests.push_back(request.chosen);
  }
  for (const Chosen& chosen : chosen_) {
    const Candidate& of = node_->candidates[chosen.candidate];
    DeviceChoice& choice = out.claims[chosen.claim].devices.emplace_back();
    choice.slice = of.offered->slice;
    choice.device = of.index;
    choice.request = static_cast<std::uint16_t>(chosen.request);
    choice.subrequest = claims_[chosen.claim]
                            .requests[chosen.request]
                            .alternatives[chosen.alternative]
                            .prepared->subrequest;
    choice.shared = of.shared;
    choice.consumed_capacity = chosen.consumed;
  }
}

}  // namespace berth::plugins
