#include "plugins/dynamic_resources/claim_tracker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/feature_gates.h"
#include "plugins/dynamic_resources/extended_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace berth::plugins {
namespace {

const ResourceClaim* claim_in(const Ref<const Object>& object) {
  return static_cast<const ResourceClaim*>(object.get());
}

std::string_view namespace_of(const ResourceClaim& claim) {
  return claim.symbols.text(claim.namespace_name);
}

}  // namespace

ClaimTracker::ClaimTracker(AssumeCache& claims, bool consumable_capacity)
    : claims_(claims),
      consumable_capacity_(consumable_capacity),
      allocated_(consumable_capacity),
      subscription_(
          claims.add_handler([this](const Ref<const Object>& before,
                                    const Ref<const Object>& after) { changed(before, after); })) {}

std::shared_ptr<ClaimTracker> ClaimTracker::of(const Handle& handle) {
  return handle.shared->get<ClaimTracker>([&handle] {
    return std::make_shared<ClaimTracker>(handle.cluster.assumed_claims(),
                                          handle.gates.enabled("DRAConsumableCapacity"));
  });
}

// ---- claims

Result<Ref<const ResourceClaim>> ClaimTracker::find(std::string_view namespace_name,
                                                    std::string_view name) const {
  Result<Ref<const Object>> found = claims_.get(namespace_name, name);
  if (!found) return fail(std::move(found.error()));
  return Ref<const ResourceClaim>(claim_in(*found));
}

Ref<const ResourceClaim> ClaimTracker::extended_resource_claim_of(const Pod& pod) const {
  if (extended_.empty()) return nullptr;
  const auto found = extended_.find(pod.uid_text());
  if (found == extended_.end()) return nullptr;
  const ResourceClaim& claim = *found->second;
  return claim.symbols.text(claim.controller.name) == pod.name() ? found->second : nullptr;
}

Result<void> ClaimTracker::assume(Ref<const ResourceClaim> claim) {
  if (!claims_.stored(namespace_of(*claim), claim->name))
    return fail(ErrorKind::kNotFound, "the watch has not shown it yet");
  return claims_.assume(std::move(claim));
}

void ClaimTracker::restore(const ResourceClaim& claim) {
  claims_.restore(namespace_of(claim), claim.name);
}

void ClaimTracker::changed(const Ref<const Object>& before, const Ref<const Object>& after) {
  const ResourceClaim* then = claim_in(before);
  const ResourceClaim* now = claim_in(after);
  if (then) index_owner(*then, false);
  if (now) index_owner(*now, true);
  if (!taken_back_.empty()) look_for_taken_back(then, now);
  // First the new, then the old: what both have stays taken.
  if (now && now->allocated()) take(*now->status.allocation);
  if (then && then->allocated()) give_back(*then->status.allocation);
}

void ClaimTracker::index_owner(const ResourceClaim& claim, bool there) {
  if (!is_extended_resource_claim(claim)) return;
  if (there)
    extended_[claim.controller_uid] = Ref<const ResourceClaim>(&claim);
  else
    extended_.erase(claim.controller_uid);
}

// ---- reservations

bool ClaimTracker::is_reserved(const ResourceClaim& claim, const std::string& pod_uid) const {
  return is_reserved_for(claim, pod_uid) && !taken_back_.contains({claim.uid, pod_uid});
}

void ClaimTracker::take_back(const ResourceClaim& claim, const std::string& pod_uid) {
  taken_back_.emplace(claim.uid, pod_uid);
}

void ClaimTracker::reserved(const ResourceClaim& claim, const std::string& pod_uid) {
  taken_back_.erase({claim.uid, pod_uid});
}

// The write has succeeded, or does not matter because the claim is gone.
void ClaimTracker::look_for_taken_back(const ResourceClaim* before, const ResourceClaim* after) {
  const ResourceClaim& claim = after ? *after : *before;
  std::erase_if(taken_back_, [&](const auto& taken_back) {
    return taken_back.first == claim.uid && (!after || !is_reserved_for(*after, taken_back.second));
  });
}

// ---- in flight

Result<void> ClaimTracker::begin_pending(Ref<const ResourceClaim> claim) {
  // The claim for extended resources is the pod's own, and nobody else could have allocated it.
  if (!pending_.contains(claim->uid) && !is_in_memory(*claim)) {
    const Result<Ref<const ResourceClaim>> now = find(namespace_of(*claim), claim->name);
    if (!now)
      return fail(now.error().kind,
                  fmt::format("look up assumed claim {}, UID={}: {}", full_name(*claim), claim->uid,
                              now.error().message));
    if ((*now)->uid == claim->uid && (*now)->allocated()) return {};
  }
  hold_pending(std::move(claim));
  return {};
}

void ClaimTracker::hold_pending(Ref<const ResourceClaim> claim) {
  const auto [found, is_new] = pending_.try_emplace(claim->uid);
  if (!is_new) {
    ++found->second.sharers;
    return;
  }
  if (claim->allocated()) take(*claim->status.allocation);
  found->second.claim = std::move(claim);
}

const AllocationResult* ClaimTracker::pending(const std::string& uid) const {
  if (pending_.empty()) return nullptr;
  const auto found = pending_.find(uid);
  return found == pending_.end() ? nullptr : &*found->second.claim->status.allocation;
}

Ref<const ResourceClaim> ClaimTracker::pending_claim(const std::string& uid) const {
  const auto found = pending_.find(uid);
  return found == pending_.end() ? nullptr : found->second.claim;
}

bool ClaimTracker::end_pending(const std::string& uid, bool force) {
  const auto found = pending_.find(uid);
  if (found == pending_.end()) return false;
  if (!force && --found->second.sharers > 0) return false;
  const Ref<const ResourceClaim> claim = std::move(found->second.claim);
  pending_.erase(found);
  if (claim->allocated()) give_back(*claim->status.allocation);
  return true;
}

std::vector<Ref<const ResourceClaim>> ClaimTracker::all_pending() const {
  std::vector<Ref<const ResourceClaim>> all;
  for (const auto& [uid, pending] : pending_) all.push_back(pending.claim);
  return all;
}

void ClaimTracker::remember_as(const ClaimTracker& other) {
  // First the new, then the old: what both have stays taken.
  std::unordered_map<std::string, Pending, TextHash> before = std::move(pending_);
  pending_ = other.pending_;
  for (const auto& [uid, pending] : pending_)
    if (pending.claim->allocated()) take(*pending.claim->status.allocation);
  for (const auto& [uid, pending] : before)
    if (pending.claim->allocated()) give_back(*pending.claim->status.allocation);
  taken_back_ = other.taken_back_;
}

// ---- what is taken

// Those of the results for which it makes a difference.
template <typename Changes>
AllocationResult ClaimTracker::that_change(const AllocationResult& allocation, Changes changes) {
  AllocationResult some;
  for (const DeviceRequestAllocationResult& result : allocation.results)
    if (!result.admin_access &&
        changes(Taken{result.id(), consumable_capacity_ ? result.share_id : std::string()}))
      some.results.push_back(result);
  return some;
}

void ClaimTracker::take(const AllocationResult& allocation) {
  const AllocationResult taken =
      that_change(allocation, [this](Taken one) { return ++holders_[std::move(one)] == 1; });
  if (!taken.results.empty()) allocated_.add(taken);
}

void ClaimTracker::give_back(const AllocationResult& allocation) {
  const AllocationResult free = that_change(allocation, [this](const Taken& one) {
    const auto found = holders_.find(one);
    if (found == holders_.end() || --found->second > 0) return false;
    holders_.erase(found);
    return true;
  });
  if (!free.results.empty()) allocated_.remove(free);
}

}  // namespace berth::plugins
