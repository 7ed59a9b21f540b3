#include "plugins/dynamic_resources/claim_writes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/change_gate.h"
#include "berth/observer.h"
#include "berth/plugin.h"
#include "cluster/group_states.h"
#include "plugins/dynamic_resources/extended_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace berth::plugins {
namespace {

using namespace std::chrono_literals;

// A write that met a newer version is tried so often in all.
constexpr int kAttempts = 5;
constexpr Duration kPauseAfterConflict = 10ms;
// For a claim that we have created to come in by the watch.
constexpr Duration kCreatedClaimTimeout = 120s;
// How long to read the object after a write whose answer was lost.
constexpr Duration kClaimLookAgain = 200ms;

ClaimWrites::Written claim_in(Result<AnyObject> answer) {
  if (!answer) return fail(std::move(answer.error()));
  const auto* object = std::get_if<Ref<const Object>>(&*answer);
  if (!object || (*object)->kind != ObjectKind::kResourceClaim)
    return fail(ErrorKind::kInternal, "the answer is no ResourceClaim");
  return Ref<const ResourceClaim>(static_cast<const ResourceClaim*>(object->get()));
}

AnyObject any(const Ref<const ResourceClaim>& claim) { return Ref<const Object>(claim); }

std::unexpected<Error> wrapped(std::string doing, const Error& error) {
  return fail(error.kind, std::move(doing) + ": " + error.message);
}

std::unexpected<Error> cancelled() {
  return fail(ErrorKind::kCancelled, std::string(kContextCanceled));
}

// The server may have carried out what it did not answer.
bool is_ambiguous(const Error& error) {
  return error.kind == ErrorKind::kTimeout || error.kind == ErrorKind::kUnavailable ||
         error.kind == ErrorKind::kInternal || error.kind == ErrorKind::kCancelled;
}

// Whether the claim is as we wanted to write it.
bool is_done(const ResourceClaim& claim, const ResourceClaim* reserved,
             const std::string& pod_uid) {
  if (!claim.allocated() || !is_reserved_for(claim, pod_uid)) return false;
  return !reserved || claim.status.allocation->results == reserved->status.allocation->results;
}

}  // namespace

ClaimWrites::ClaimWrites(const Handle& handle, std::shared_ptr<ClaimTracker> tracker,
                         bool timestamps)
    : handle_(handle), tracker_(std::move(tracker)), timestamps_(timestamps), waits_(handle) {}

// ---- PreBind

Task<ClaimWrites::Written> ClaimWrites::bind(Ref<const Pod> pod, Ref<const ResourceClaim> claim,
                                             Ref<const ResourceClaim> reserved,
                                             CancelToken cancel) {
  // A claim that was created for the pod is in the books under another UID.
  const bool created = reserved && reserved->uid != claim->uid;
  Task<Written> writing = write(pod, claim, reserved, cancel);
  Written written = co_await writing;
  if (!written) co_return written;
  tracker_->reserved(**written, pod->uid_text());
  Task<bool> assuming = assume(*written, created, cancel);
  const bool known = co_await assuming;
  if (!known && created) tasks_.spawn(hold_until_seen(*written));
  co_return written;
}

Task<void> ClaimWrites::end_pending(std::string uid) {
  if (handle_.gate) {  // devices are not to become free in the middle of a search for some
    ChangeGate::Passed passed(*handle_.gate);
    co_await passed;
  }
  tracker_->end_pending(uid, /*force=*/true);
}

Task<ClaimWrites::Written> ClaimWrites::write(Ref<const Pod> pod, Ref<const ResourceClaim> claim,
                                              Ref<const ResourceClaim> reserved,
                                              CancelToken cancel) {
  for (int attempt = 1;; ++attempt) {
    Task<Written> writing = write_once(pod, claim, reserved, cancel);
    Written written = co_await writing;
    if (written || written.error().kind != ErrorKind::kConflict || attempt == kAttempts)
      co_return written;
    Task<void> pause = pause_after_conflict();
    co_await pause;
    // Also when it is cancelled: a request that arrives twice meets what it has written itself.
    Task<Written> looking = look_up(claim);
    Written fresh = co_await looking;
    if (!fresh)
      co_return wrapped(fmt::format("get updated claim {} after conflict", full_name(*claim)),
                        fresh.error());
    claim = std::move(*fresh);
    if (cancel.cancelled() && !is_done(*claim, reserved.get(), pod->uid_text()))
      co_return cancelled();
  }
}

Task<ClaimWrites::Written> ClaimWrites::write_once(Ref<const Pod> pod,
                                                   Ref<const ResourceClaim> claim,
                                                   Ref<const ResourceClaim> reserved,
                                                   CancelToken cancel) {
  const std::string name = full_name(*claim);
  const std::string pod_uid = pod->uid_text();
  if (claim->deleting())
    co_return fail(ErrorKind::kGone, fmt::format("claim {} got deleted in the meantime", name));
  if (reserved && claim->allocated()) {
    if (is_done(*claim, reserved.get(), pod_uid)) co_return claim;  // the answer was lost
    // Another pod of the group may have written the allocation that both share.
    const bool shared =
        in_group(*pod) && claim->status.allocation->results == reserved->status.allocation->results;
    if (!shared)
      co_return fail(ErrorKind::kInvalid,
                     fmt::format("claim {} got allocated elsewhere in the meantime", name));
    reserved = nullptr;
  }
  if (reserved && !has_finalizer(*claim)) {
    if (cancel.cancelled()) co_return cancelled();
    Task<Written> adding = add_finalizer(claim);
    Written added = co_await adding;
    if (!added) co_return wrapped(fmt::format("add finalizer to claim {}", name), added.error());
    claim = std::move(*added);
  }

  Ref<ResourceClaim> changed = make_ref<ResourceClaim>(*claim);
  if (reserved) {
    changed->status.allocation = reserved->status.allocation;
    retain_symbols(*changed->status.allocation, changed->symbols);
  }
  if (!is_reserved_for(*changed, pod_uid))
    changed->status.reserved_for.push_back(
        {{}, changed->symbols.intern("pods"), std::string(pod->name()), pod_uid});
  if (timestamps_) {
    if (!changed->allocated())
      co_return fail(ErrorKind::kInvalid,
                     fmt::format("claim {} got deallocated elsewhere in the meantime", name));
    std::optional<WallTime>& timestamp = changed->status.allocation->allocation_timestamp;
    if (!timestamp) timestamp = handle_.loop.wall_now();
  }
  if (cancel.cancelled()) co_return cancelled();
  Task<Result<AnyObject>> updating = handle_.api.update_status(any(changed));
  Result<AnyObject> answer = co_await updating;
  Written stored = claim_in(std::move(answer));
  if (!stored && is_ambiguous(stored.error())) {
    Task<Written> looking = what_became_of(pod, reserved, stored.error(), claim);
    stored = co_await looking;
  }
  if (!stored)
    co_return wrapped(
        fmt::format("add {}reservation to claim {}", reserved ? "allocation and " : "", name),
        stored.error());
  co_return stored;
}

Task<ClaimWrites::Written> ClaimWrites::add_finalizer(Ref<const ResourceClaim> claim) {
  Ref<ResourceClaim> changed = make_ref<ResourceClaim>(*claim);
  changed->finalizers.emplace_back(kClaimFinalizer);
  Task<Result<AnyObject>> updating = handle_.api.update(any(changed));
  Result<AnyObject> answer = co_await updating;
  co_return claim_in(std::move(answer));
}

// A write whose answer was lost may have been carried out. Its devices must not look free before
// that is known, so the server is asked while the allocation is still pending.
Task<ClaimWrites::Written> ClaimWrites::what_became_of(Ref<const Pod> pod,
                                                       Ref<const ResourceClaim> reserved,
                                                       Error write_error,
                                                       Ref<const ResourceClaim> claim) {
  Task<Written> looking = look_up(claim);
  Written stored = co_await looking;
  if (stored && is_done(**stored, reserved.get(), pod->uid_text())) co_return stored;
  co_return fail(std::move(write_error));
}

// The claim as it is stored, asked for again while there is no answer.
Task<ClaimWrites::Written> ClaimWrites::look_up(Ref<const ResourceClaim> claim) {
  Duration pause = kClaimLookAgain;
  for (int attempt = 1;; ++attempt, pause *= 2) {
    Task<Written> getting = get(claim);
    Written stored = co_await getting;
    if (stored || !is_ambiguous(stored.error()) || attempt == kAttempts) co_return stored;
    SleepUntil later(handle_.loop, handle_.loop.now() + pause);
    co_await later;
  }
}

// Whether the tracker knows the claim now as it was written. One that was just created may have to
// come in by the watch first.
Task<bool> ClaimWrites::assume(Ref<const ResourceClaim> claim, bool created, CancelToken cancel) {
  const TimePoint deadline = handle_.loop.now() + kCreatedClaimTimeout;
  for (;;) {
    if (handle_.gate) {  // no cycle may see half of the change
      ChangeGate::Passed passed(*handle_.gate);
      co_await passed;
    }
    const Result<void> assumed = tracker_->assume(claim);
    if (assumed) co_return true;
    if (!created || assumed.error().kind != ErrorKind::kNotFound) co_return false;
    std::vector<ObjectName> watched{object_name(*claim)};
    NextChange change = waits_.next_change(std::move(watched), deadline, cancel);
    const WaitEnd end = co_await change;
    if (end != WaitEnd::kChanged) co_return false;
  }
}

// Nobody waits any more, but the claim is there, and so is its allocation: other pods must not find
// its devices free in the meantime.
Task<void> ClaimWrites::hold_until_seen(Ref<const ResourceClaim> claim) {
  tracker_->hold_pending(claim);
  Task<bool> assuming = assume(claim, true, {});
  co_await assuming;
  Task<void> ending = end_pending(claim->uid);
  co_await ending;
}

Task<ClaimWrites::Written> ClaimWrites::create(Ref<const ResourceClaim> claim) {
  Ref<ResourceClaim> changed = make_ref<ResourceClaim>(*claim);
  changed->name.clear();
  changed->uid.clear();
  changed->status = {};
  Task<Result<AnyObject>> creating = handle_.api.create(any(changed));
  Result<AnyObject> answer = co_await creating;
  Written created = claim_in(std::move(answer));
  if (!created)
    co_return wrapped(fmt::format("create claim for extended resources {}", full_name(*changed)),
                      created.error());
  co_return created;
}

// ---- PostFilter

Task<Result<void>> ClaimWrites::deallocate(Ref<const ResourceClaim> claim) {
  Ref<ResourceClaim> changed = make_ref<ResourceClaim>(*claim);
  changed->status = {};
  Task<Result<AnyObject>> updating = handle_.api.update_status(any(changed));
  const Result<AnyObject> answer = co_await updating;
  if (!answer) co_return fail(answer.error());
  co_return Result<void>();
}

Task<Result<void>> ClaimWrites::remove(Ref<const ResourceClaim> claim) {
  for (int attempt = 1;; ++attempt) {
    Task<Result<void>> unblocking = remove_finalizer(claim);
    const Result<void> unblocked = co_await unblocking;
    if (unblocked) break;
    if (unblocked.error().kind != ErrorKind::kConflict || attempt == kAttempts)
      co_return wrapped(fmt::format("update resourceclaim {}", full_name(*claim)),
                        unblocked.error());
    Task<void> pause = pause_after_conflict();
    co_await pause;
    Task<Written> getting = get(claim);
    Written fresh = co_await getting;
    if (!fresh)
      co_return wrapped(fmt::format("get resourceclaim {}", full_name(*claim)), fresh.error());
    claim = std::move(*fresh);
  }
  Task<Result<void>> removing = handle_.api.remove(any(claim));
  Result<void> removed = co_await removing;
  if (!removed && removed.error().kind == ErrorKind::kNotFound) co_return Result<void>();
  co_return removed;
}

// Parity: also a claim that has no finalizer is written.
Task<Result<void>> ClaimWrites::remove_finalizer(Ref<const ResourceClaim> claim) {
  Ref<ResourceClaim> changed = make_ref<ResourceClaim>(*claim);
  std::erase(changed->finalizers, kClaimFinalizer);
  Task<Result<AnyObject>> updating = handle_.api.update(any(changed));
  const Result<AnyObject> answer = co_await updating;
  if (!answer) co_return fail(answer.error());
  co_return Result<void>();
}

// ---- Unreserve

void ClaimWrites::undo(const Pod& pod, std::vector<Ref<const ResourceClaim>> reservations,
                       Ref<const ResourceClaim> created) {
  if (reservations.empty() && !created) return;
  for (const Ref<const ResourceClaim>& claim : reservations)
    tracker_->take_back(*claim, pod.uid_text());
  std::shared_ptr<Undoing>& undoing = undoing_[pod.uid()];
  if (!undoing) undoing = std::make_shared<Undoing>();
  ++undoing->running;
  tasks_.spawn(
      run_undo(pod.uid(), pod.uid_text(), undoing, std::move(reservations), std::move(created)));
}

Task<void> ClaimWrites::run_undo(Uid pod, std::string pod_uid, std::shared_ptr<Undoing> undoing,
                                 std::vector<Ref<const ResourceClaim>> reservations,
                                 Ref<const ResourceClaim> created) {
  for (const Ref<const ResourceClaim>& claim : reservations) {
    Task<Result<void>> releasing = handle_.api.unreserve_claim(claim, pod_uid);
    const Result<void> released = co_await releasing;
    if (!released && handle_.observer)
      handle_.observer->internal_error(
          fmt::format("unreserving {}: {}", full_name(*claim), released.error().message));
  }
  if (created) {
    Task<Result<void>> removing = remove(created);
    const Result<void> removed = co_await removing;
    if (!removed && handle_.observer)
      handle_.observer->internal_error(
          fmt::format("deleting {}: {}", full_name(*created), removed.error().message));
  }
  if (--undoing->running > 0) co_return;
  undoing_.erase(pod);
  undoing->done.set(true);
}

Task<void> ClaimWrites::undone(Uid pod) {
  for (;;) {
    const auto found = undoing_.find(pod);
    if (found == undoing_.end()) co_return;
    const std::shared_ptr<Undoing> undoing = found->second;
    co_await undoing->done;
  }
}

// ---- parts of it

Task<ClaimWrites::Written> ClaimWrites::get(Ref<const ResourceClaim> claim) {
  Task<Result<AnyObject>> getting =
      handle_.api.get(ObjectKind::kResourceClaim,
                      std::string(claim->symbols.text(claim->namespace_name)), claim->name);
  Result<AnyObject> answer = co_await getting;
  co_return claim_in(std::move(answer));
}

Task<void> ClaimWrites::pause_after_conflict() {
  // Up to a tenth more, so that two writers that conflict do not conflict again.
  const Duration more{
      handle_.random.below(static_cast<std::uint64_t>((kPauseAfterConflict / 10).count()))};
  SleepUntil later(handle_.loop, handle_.loop.now() + kPauseAfterConflict + more);
  co_await later;
}

}  // namespace berth::plugins
