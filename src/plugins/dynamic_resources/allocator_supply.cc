// DeviceSearch: what a node has for each request, by the questions that the search asks as well.
#include "plugins/dynamic_resources/allocator_search.h"

namespace berth::plugins {

std::vector<RequestSupply> DeviceSearch::supply() {
  std::vector<RequestSupply> all;
  next_look_ = steps_ + 1 + context_.clock.steps_between_looks();
  if (node_->error || !prepare()) return all;
  for (std::uint32_t c = 0; c < claims_.size(); ++c)
    for (const WantedRequest& request : claims_[c].requests)
      for (const Wanted& wanted : request.alternatives) {
        const PreparedRequest& prepared = *wanted.prepared;
        RequestSupply& supply = all.emplace_back();
        supply.claim = c;
        supply.request = prepared.full_name;
        supply.subrequest = prepared.subrequest;
        supply.device_class = prepared.written->device_class_name;
        supply.all = prepared.all;
        supply.wanted = wanted.devices;
        for (std::uint32_t i = 0; i < node_->candidates.size(); ++i)
          if (!count(*claims_[c].prepared, wanted, i, supply)) return {};
      }
  context_.clock.spend(steps_ - std::exchange(counted_steps_, steps_));
  return all;
}

bool DeviceSearch::count(const PreparedClaim& claim, const Wanted& wanted, std::uint32_t candidate,
                         RequestSupply& supply) {
  const AllocatorFeatures& features = context_.pools.features;
  const PreparedRequest& request = *wanted.prepared;
  const Candidate& of = node_->candidates[candidate];
  if (!spend()) return false;
  ++supply.devices;
  const std::optional<bool> selected = selectable(claim, wanted, candidate);
  if (!selected) return false;
  if (!*selected || (!features.partitionable_devices && !of.device->consumes_counters.empty())) {
    ++supply.not_selected;
    return true;
  }
  if (in_use(request, candidate, static_cast<std::uint32_t>(supply.claim))) {
    ++supply.in_use;
    return true;
  }
  const std::optional<bool> left = capacity_left(claim, request, candidate, "checking");
  if (!left) return false;
  if (!*left) {
    ++supply.without_capacity;
    return true;
  }
  const bool partly_used =
      of.shared && (state_of(candidate).consumed || state_of(candidate).shared);
  if (!partly_used && !of.device->consumes_counters.empty()) {
    if (!counters_.take(*node_, of, context_.allocated, context_.balances)) {
      ++supply.without_counters;
      return true;
    }
    counters_.give_back(*node_, of);
  }
  if (features.device_taints && taint_prevents(of, *request.written, context_.pools))
    ++supply.tainted;
  else
    ++supply.free;
  return true;
}

}  // namespace berth::plugins
