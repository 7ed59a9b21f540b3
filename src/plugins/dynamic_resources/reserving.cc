// DynamicResources: what it does when no node is left, and what is set aside on the node that was
// chosen until PreBind, or given back (volumes-dra-gang.md §10.4, §10.6, §10.7).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/feature_gates.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/extended_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace berth::plugins {
namespace {

// Nobody but the pod itself is in the way of its being allocated anew.
bool may_be_deallocated(const ResourceClaim& claim, std::string_view pod_uid) {
  const auto& consumers = claim.status.reserved_for;
  return consumers.empty() || (consumers.size() == 1 && consumers.front().uid == pod_uid);
}

// In any order: there is no better rule for which claim should go.
std::vector<std::size_t> shuffled(const std::set<std::size_t>& indices, Random& random) {
  std::vector<std::size_t> order(indices.begin(), indices.end());
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace

// ---- PostFilter

Task<PostFilterResult> DynamicResources::post_filter(Cycle& cycle, const Diagnosis&) const {
  PostFilterResult result;
  const Seen* seen = cycle.find<Seen>(*this);
  if (!seen) {
    // Parity: where another plugin's PreFilter ended the pod's attempt before this one's turn,
    // there is nothing to read, and that is an error.
    result.outcome = Outcome::failure("not found");
  } else if (!seen->devices) {
    result.outcome = Outcome::of(Code::kUnschedulable);
  } else {
    Task<Outcome> releasing = release_something(cycle.pod(), *seen->devices);
    result.outcome = co_await releasing;
  }
  co_return result;
}

// One claim is released for each member that has any. The answer is the same for a group without
// claims.
Task<GroupPostFilterResult> DynamicResources::post_filter_group(UnplacedGroup& group) const {
  GroupPostFilterResult result;
  result.outcome = Outcome::of(Code::kUnschedulable);
  if (handle_.gates.enabled("TopologyAwareWorkloadScheduling") && !group.group().topology.empty())
    co_return result;
  for (const GroupMember& member : group.members()) {
    // A member may not have come as far as this plugin's PreFilter. (Upstream then ends the group
    // with an error instead of its reason.)
    const Seen* seen = member.cycle->find<Seen>(*this);
    if (!seen || !seen->devices) continue;
    Task<Outcome> releasing = release_something(*member.pod, *seen->devices);
    Outcome released = co_await releasing;
    if (released.code != Code::kError) continue;
    result.outcome = std::move(released);
    co_return result;
  }
  result.outcome = Outcome::unschedulable("deallocation and deletion of ResourceClaims completed");
  co_return result;
}

Task<Outcome> DynamicResources::release_something(const Pod& pod, PodDevices& devices) const {
  const PodClaim* extended = devices.extended_claim();
  const bool left_over = extended && !is_in_memory(*extended->claim);
  for (const std::size_t index : shuffled(devices.unavailable, handle_.random)) {
    const PodClaim& claim = devices.claims[index];
    if (&claim == extended) {
      if (left_over) break;
      continue;
    }
    if (!may_be_deallocated(*claim.claim, pod.uid_text())) continue;
    Task<Result<void>> releasing = writes_->deallocate(claim.claim);
    const Result<void> released = co_await releasing;
    co_return released ? Outcome::unschedulable("deallocation of ResourceClaim completed")
                       : Outcome::failure(released.error().message);
  }
  if (!left_over) co_return Outcome::of(Code::kUnschedulable);

  // The attempt that made it may be removing it at this moment.
  Task<void> undone = writes_->undone(pod.uid());
  co_await undone;
  if (tracker_->find(extended->claim->symbols.text(extended->claim->namespace_name),
                     extended->claim->name)) {
    Task<Result<void>> removing = writes_->remove(extended->claim);
    const Result<void> removed = co_await removing;
    if (!removed) co_return Outcome::failure(removed.error().message);
  }
  co_return Outcome::unschedulable("deletion of ResourceClaim completed");
}

// ---- Reserve

Outcome DynamicResources::reserve(Cycle& cycle, std::string_view node_name) {
  const Seen* seen = cycle.find<Seen>(*this);
  if (!seen) return Outcome::failure("not found");
  if (!seen->devices) {
    // A member of a group may be reserved again in the same cycle.
    if (!in_group(cycle.pod()))
      cycle.drop<Seen>(*this);  // nothing is to be done for the pod, and it may wait for long
    return Outcome::success();
  }
  PodDevices& devices = *seen->devices;
  for (PodClaim& claim : devices.claims) {
    if (!claim.shared || claim.reserved) continue;
    claim.reserved = claim.shared;
    if (const Result<void> pending = tracker_->begin_pending(claim.reserved); !pending)
      return Outcome::failure(pending.error().message);
  }
  if (!devices.allocator) return Outcome::success();
  const NodeRow row = cycle.nodes().find(cycle.symbols().find(node_name));
  if (row == kNoRow || !cycle.nodes().has_node(row))
    return Outcome::failure("claim allocation not found for node");
  // Filter keeps devices only where they took long to find: thousands of nodes would have some, for
  // one that is chosen. What was found then is found again.
  const auto known = devices.judged.find(row);
  devices.allocator->lift_limits();
  NodeJudgement judgement;
  if (known == devices.judged.end())
    judge(cycle, devices, row, judgement);
  else
    judgement = std::move(known->second);
  if (judgement.code != Code::kSuccess)
    return Outcome::failure("claim allocation not found for node");
  // Without claims a device plugin serves all that was asked for.
  if (judgement.claims) {
    const Result<void> reserved = reserve_on(judgement, cycle.nodes().node(row), devices);
    if (!reserved) return Outcome::failure(reserved.error().message);
  }
  if (devices.extended) devices.extended->chosen = judgement.variant;
  devices.allocator.reset();
  devices.to_allocate.clear();
  devices.scores = {};
  devices.judged = {};
  return Outcome::success();
}

Result<void> DynamicResources::reserve_on(const NodeJudgement& judgement, const Node& node,
                                          PodDevices& devices) const {
  std::size_t next = 0;
  for (PodClaim& claim : devices.claims) {
    if (claim.decided() || next == judgement.claims->size()) continue;
    const ResourceClaim& asking = *(*judgement.claims)[next];
    Ref<ResourceClaim> reserved = make_ref<ResourceClaim>(asking);
    reserved->status.allocation = devices.allocator->result(
        judgement.allocation, next, asking, node, reserved->symbols, handle_.random);
    if (!has_finalizer(*reserved)) reserved->finalizers.emplace_back(kClaimFinalizer);
    claim.reserved = std::move(reserved);
    const Result<void> pending = tracker_->begin_pending(claim.reserved);
    if (!pending)
      return fail(pending.error().kind,
                  fmt::format("internal error, couldn't signal allocation for claim {}: {}",
                              asking.name, pending.error().message));
    ++next;
  }
  return {};
}

// ---- Unreserve

void DynamicResources::unreserve(Cycle& cycle, std::string_view) {
  const Seen* seen = cycle.find<Seen>(*this);
  if (!seen || !seen->devices || seen->devices->undone) return;
  PodDevices& devices = *seen->devices;
  devices.undone = true;
  const std::string pod_uid = cycle.pod().uid_text();
  std::vector<Ref<const ResourceClaim>> reservations;
  for (std::size_t i = 0; i < devices.own_claims(); ++i) {
    const ResourceClaim& claim = *devices.claims[i].claim;
    // What is in flight may be another pod's: this one may have seen the claim allocated before.
    const bool ours = devices.claims[i].reserved != nullptr;
    // One that was written stays as it was written, so that its devices do not look free.
    if (ours && tracker_->end_pending(claim.uid) && !claim.allocated()) tracker_->restore(claim);
    // The allocation stays with the claim; only the pod has to go.
    if (claim.allocated() && is_reserved_for(claim, pod_uid))
      reservations.push_back(devices.claims[i].claim);
  }
  Ref<const ResourceClaim> created;
  if (const PodClaim* extended = devices.extended_claim()) {
    if (tracker_->end_pending(devices.extended->in_memory_uid) && !extended->allocated())
      tracker_->restore(*extended->claim);
    if (!is_in_memory(*extended->claim)) created = extended->claim;
  }
  writes_->undo(cycle.pod(), std::move(reservations), std::move(created));
}

void DynamicResources::remember_as(const Plugin& other) {
  tracker_->remember_as(*dynamic_cast<const DynamicResources&>(other).tracker_);
}

Callback DynamicResources::forget(const Pod& pod) {
  std::vector<Ref<const ResourceClaim>> forgotten;
  for (const Ref<const ResourceClaim>& claim : tracker_->all_pending()) {
    const bool own = is_extended_resource_claim(*claim) && claim->controller_uid == pod.uid_text();
    const bool named =
        std::ranges::any_of(pod.spec().resource_claims, [&](const PodResourceClaim& entry) {
          const Result<Ref<const ResourceClaim>> found = claim_of_entry(pod, entry, *tracker_);
          return found && *found && (*found)->uid == claim->uid;
        });
    if (!own && !named) continue;
    tracker_->end_pending(claim->uid);  // another pod may share it, and still has it
    forgotten.push_back(claim);
  }
  return [this, forgotten] {
    for (const Ref<const ResourceClaim>& claim : forgotten) tracker_->hold_pending(claim);
  };
}

}  // namespace berth::plugins
