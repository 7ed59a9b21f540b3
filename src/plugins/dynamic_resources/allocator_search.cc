#include "plugins/dynamic_resources/allocator_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace berth::plugins {

void DeviceSearch::begin(NodePools& node, std::span<PreparedClaim* const> claims) {
  begun_ = context_.clock.used();
  node_ = &node;
  states_.assign(node.candidates.size(), {});
  selectable_.clear();
  chosen_.clear();
  sharing_.clear();
  counters_.clear();
  preparing_ = {};
  frames_.clear();
  next_ = {};
  step_ = Step::kEnter;
  steps_ = counted_steps_ = 0;
  claims_.resize(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    claims_[i].prepared = claims[i];
    claims_[i].devices = 0;
    claims_[i].requests.resize(claims[i]->requests.size());
  }
}

void DeviceSearch::run(NodeAllocation& out) {
  if (node_->error) stop(Verdict::kError, node_->error->message);
  // However short the turn is, the search takes one step.
  next_look_ = steps_ + 1 + context_.clock.steps_between_looks();
  const Step step = !node_->error && prepare() ? walk() : halt_;
  context_.clock.spend(steps_ - std::exchange(counted_steps_, steps_));
  out.message.clear();
  if (step == Step::kStopped) {
    out.verdict = stopped_verdict_;
    out.message = std::move(stopped_message_);
  } else if (step == Step::kPaused) {
    out.verdict = Verdict::kUnfinished;
  } else if (step == Step::kDone) {
    out.verdict = Verdict::kAllocated;
    collect(out);
  } else if (node_->any_invalid) {
    out.verdict = Verdict::kNodeFailure;
    out.message = "invalid resource pools were encountered";
  } else {
    out.verdict = Verdict::kImpossible;
  }
  out.steps = steps_;
}

void DeviceSearch::stop(Verdict verdict, std::string message) {
  stopped_verdict_ = verdict;
  stopped_message_ = std::move(message);
  halt_ = Step::kStopped;
}

bool DeviceSearch::look_at_clock() {
  context_.clock.spend(steps_ - std::exchange(counted_steps_, steps_));
  next_look_ = steps_ + context_.clock.steps_between_looks();
  if (context_.clock.timed_out_since(begun_)) {
    stop(Verdict::kTimedOut, "");
    return false;
  }
  halt_ = Step::kPaused;
  return !context_.clock.turn_is_over();
}

// ---- before -----------------------------------------------------------------------------------

bool DeviceSearch::prepare() {
  for (; preparing_.claim < claims_.size(); preparing_ = {.claim = preparing_.claim + 1})
    if (!prepare(claims_[preparing_.claim])) return false;
  return true;
}

bool DeviceSearch::prepare(WantedClaim& claim) {
  PreparedClaim& prepared = *claim.prepared;
  const auto refuse = [this](const std::string& why) {
    if (!why.empty()) stop(Verdict::kError, why);
    return !why.empty();
  };
  for (; preparing_.request < prepared.requests.size(); ++preparing_.request) {
    const RequestAlternatives& written = prepared.requests[preparing_.request];
    if (refuse(written.error)) return false;
    WantedRequest& request = claim.requests[preparing_.request];
    request.prioritized = written.prioritized;
    request.chosen = -1;
    request.alternatives.resize(written.alternatives.size());
    for (; preparing_.alternative < written.alternatives.size(); ++preparing_.alternative) {
      const PreparedRequest& alternative = written.alternatives[preparing_.alternative];
      if (refuse(alternative.error)) return false;
      Wanted& wanted = request.alternatives[preparing_.alternative];
      if (preparing_.pool == 0 && preparing_.candidate == 0) {
        wanted.prepared = &alternative;
        wanted.devices = alternative.count;
        wanted.all.clear();
        wanted.answers = static_cast<std::uint32_t>(selectable_.size());
        selectable_.resize(selectable_.size() + node_->candidates.size(), Selectable::kUnknown);
      }
      if (alternative.all && !list_all_devices(prepared, wanted)) return false;
      preparing_.pool = preparing_.candidate = 0;
    }
    preparing_.alternative = 0;
    if (!count_devices(prepared, request)) return false;
  }
  if (refuse(prepared.constraint_error)) return false;
  for (AttributeConstraint& constraint : prepared.constraints) constraint.clear();
  return true;
}

// Adds the fewest devices that the request needs, as long as one claim may have as many.
bool DeviceSearch::count_devices(const PreparedClaim& claim, const WantedRequest& request) {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const Wanted& wanted : request.alternatives) fewest = std::min(fewest, wanted.devices);
  if (fewest > kAllocationResultsMaxSize - preparing_.devices) {
    const Symbol name = request.alternatives.front().prepared->request;
    stop(Verdict::kError,
         fmt::format("claim {}, request {}: adding {} devices exceeds the claim limit of {}, with "
                     "{} already accounted for",
                     claim.full_name, context_.pools.symbols->text(name), fewest,
                     kAllocationResultsMaxSize, preparing_.devices));
    return false;
  }
  preparing_.devices += fewest;
  return true;
}

bool DeviceSearch::list_all_devices(const PreparedClaim& claim, Wanted& wanted) {
  const Symbols& symbols = *context_.pools.symbols;
  for (; preparing_.pool < node_->pools.size(); ++preparing_.pool) {
    const NodePool& pool = node_->pools[preparing_.pool];
    if (pool.incomplete || pool.invalid) {
      stop(Verdict::kError,
           fmt::format("claim {}, request {}: asks for all devices, but resource pool {}/{} is "
                       "currently {}",
                       claim.full_name, symbols.text(wanted.prepared->name),
                       symbols.text(pool.entry->driver), symbols.text(pool.entry->pool),
                       pool.incomplete ? "being updated" : "invalid"));
      return false;
    }
    std::uint32_t& i = preparing_.candidate;
    for (i = std::max(i, pool.first_candidate); i < pool.end_candidate; ++i) {
      if (!spend()) return false;
      const std::optional<bool> selected = selectable(claim, wanted, i);
      if (!selected) return false;
      if (!*selected) continue;
      const std::optional<bool> enough = has_capacity(claim, *wanted.prepared, i);
      if (!enough) return false;
      if (*enough) wanted.all.push_back(i);
    }
  }
  wanted.devices = static_cast<std::int64_t>(wanted.all.size());
  return true;
}

// ---- the search -------------------------------------------------------------------------------

DeviceSearch::Step DeviceSearch::walk() {
  for (;;) {
    Step step = Step::kStopped;
    switch (step_) {
      case Step::kEnter: step = enter(); break;
      case Step::kTryNext: step = try_next(); break;
      default:
        if (step_ == Step::kStopped || frames_.empty()) return step_;
        step = leave();
    }
    if (step == Step::kPaused) return step;  // step_ is where it goes on
    step_ = step;
  }
}

DeviceSearch::Step DeviceSearch::enter() {
  if (!spend()) return halt_;
  const Position at = next_;
  if (at.claim == claims_.size()) return Step::kDone;
  const WantedClaim& claim = claims_[at.claim];
  if (at.request == claim.requests.size()) {
    frames_.push_back({.kind = Frame::Kind::kNextClaim, .at = at});
    next_ = {.claim = at.claim + 1};
    return Step::kEnter;
  }
  const WantedRequest& request = claim.requests[at.request];
  if (!at.alternative_chosen && request.prioritized) {
    if (request.alternatives.empty()) return Step::kLimit;
    next_.alternative_chosen = true;
    frames_.push_back({.kind = Frame::Kind::kAlternatives, .at = next_});
    return Step::kEnter;
  }

  const Wanted& wanted = request.alternatives[at.alternative];
  const bool all = wanted.prepared->all;
  if (all && wanted.all.empty()) return Step::kFailed;
  if (at.device >= wanted.devices) {
    next_ = {.claim = at.claim, .request = at.request + 1};
    return Step::kEnter;
  }
  if (wanted.devices - at.device > kAllocationResultsMaxSize - claim.devices) return Step::kLimit;
  if (all) return enter_all(at, wanted);
  frames_.push_back({.kind = Frame::Kind::kSomeDevice, .candidate = at.first_candidate, .at = at});
  return Step::kTryNext;
}

DeviceSearch::Step DeviceSearch::enter_all(const Position& at, const Wanted& wanted) {
  const std::uint32_t candidate = wanted.all[static_cast<std::size_t>(at.device)];
  const std::optional<bool> chosen = choose(at, wanted, candidate, /*must=*/true);
  if (!chosen) return halt_;
  if (!*chosen) return Step::kFailed;
  frames_.push_back({.kind = Frame::Kind::kAllDevices, .at = at});
  ++next_.device;
  return Step::kEnter;
}

// The first device that can be had, from the last frame's on.
DeviceSearch::Step DeviceSearch::try_next() {
  Frame& frame = frames_.back();
  const Position& at = frame.at;
  const WantedClaim& claim = claims_[at.claim];
  const Wanted& wanted = claim.requests[at.request].alternatives[at.alternative];
  const PreparedRequest& request = *wanted.prepared;
  const auto count = static_cast<std::uint32_t>(node_->candidates.size());
  for (std::uint32_t& i = frame.candidate; i < count; ++i) {
    if (!spend()) return halt_;
    if (in_use(request, i, at.claim)) continue;
    const std::optional<bool> selected = selectable(*claim.prepared, wanted, i);
    if (!selected) return halt_;
    if (!*selected) continue;
    const std::optional<bool> left = capacity_left(*claim.prepared, request, i, "checking");
    if (!left) return halt_;
    if (!*left) continue;
    const std::optional<bool> chosen = choose(at, wanted, i, /*must=*/false);
    if (!chosen) return halt_;
    if (!*chosen) continue;
    // Devices of one request are taken in their order: any set of them is tried once.
    next_ = at;
    ++next_.device;
    next_.first_candidate = i + 1;
    return Step::kEnter;
  }
  frames_.pop_back();
  return Step::kFailed;
}

// What step_ means for the last decision.
DeviceSearch::Step DeviceSearch::leave() {
  Frame& frame = frames_.back();
  Step step = step_;
  switch (frame.kind) {
    case Frame::Kind::kAlternatives: return leave_alternative(frame);
    case Frame::Kind::kNextClaim:
      // Too many devices in a later claim: with other devices here it may find a subrequest that
      // needs fewer.
      if (step == Step::kLimit) step = Step::kFailed;
      break;
    case Frame::Kind::kAllDevices:
      if (step != Step::kDone) give_back();
      break;
    case Frame::Kind::kSomeDevice:
      if (step == Step::kDone) break;
      give_back();
      if (step == Step::kLimit) break;
      ++frame.candidate;
      return Step::kTryNext;
  }
  frames_.pop_back();
  return step;
}

DeviceSearch::Step DeviceSearch::leave_alternative(Frame& frame) {
  WantedRequest& request = claims_[frame.at.claim].requests[frame.at.request];
  Step step = step_;
  if (step == Step::kDone) {
    request.chosen = static_cast<std::int16_t>(frame.at.alternative);
  } else {
    frame.only_too_many &= step == Step::kLimit;
    if (++frame.at.alternative < request.alternatives.size()) {
      next_ = frame.at;
      return Step::kEnter;
    }
    step = frame.only_too_many ? Step::kLimit : Step::kFailed;
  }
  frames_.pop_back();
  return step;
}

// ---- after ------------------------------------------------------------------------------------

void DeviceSearch::collect(NodeAllocation& out) const {
  out.claims.resize(claims_.size());
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    out.claims[i].devices.clear();
    out.claims[i].devices.reserve(
        static_cast<std::size_t>(std::max<std::int64_t>(claims_[i].devices, 0)));
    out.claims[i].subrequests.clear();
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
