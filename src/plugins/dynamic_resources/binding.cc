// DynamicResources: PreBind, which makes allocations and reservations durable and waits until
// devices that have to be prepared are ready (volumes-dra-gang.md §10.8, §13.3).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "berth/observer.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace berth::plugins {
namespace {

// Upstream looks this often whether devices are ready, and notices only then that it took too long.
constexpr Duration kLookAgain = std::chrono::seconds(5);

constexpr std::string_view kTimedOut = "device binding timeout";
constexpr std::string_view kFailed = "device binding failed";

std::string_view wait_status(const Outcome& outcome) {
  if (outcome.ok()) return "success";
  const std::string message = outcome.message();
  if (message.starts_with(kTimedOut)) return "timeout";
  return message.starts_with(kFailed) ? "failure" : "error";
}

}  // namespace

PreBindPreFlight DynamicResources::pre_bind_pre_flight(Cycle& cycle, std::string_view) const {
  const Seen* seen = cycle.find<Seen>(*this);
  const bool has_devices = seen && seen->devices;
  return {.outcome = has_devices ? Outcome::success() : Outcome::skip(), .allow_parallel = true};
}

Task<Outcome> DynamicResources::pre_bind(Cycle& cycle, std::string_view node_name,
                                         CancelToken cancel) {
  const Seen* seen = cycle.find<Seen>(*this);
  if (!seen) co_return Outcome::failure("not found");
  if (!seen->devices) co_return Outcome::success();
  PodDevices& devices = *seen->devices;
  const std::string pod_uid = cycle.pod().uid_text();
  // What an earlier attempt still takes back would be taken from this one.
  Task<void> undone = writes_->undone(cycle.pod().uid());
  co_await undone;
  for (std::size_t i = 0; i < devices.claims.size(); ++i) {
    if (is_still_reserved(devices.claims[i], pod_uid)) continue;
    const bool own = i < devices.own_claims();
    Task<Result<void>> binding = own ? bind_claim(cycle.pod_ref(), devices.claims[i], cancel)
                                     : bind_extended_claim(cycle.pod_ref(), devices, cancel);
    const Result<void> bound = co_await binding;
    if (!bound) co_return Outcome::failure(bound.error().message);
  }
  if (binding_conditions_ && std::ranges::any_of(devices.claims, [](const PodClaim& claim) {
        return has_binding_conditions(*claim.claim);
      })) {
    Task<Outcome> waiting = wait_for_devices(cycle, devices, node_name, cancel);
    Outcome outcome = co_await waiting;
    if (!outcome.ok()) co_return outcome;
  }
  // Where any of this fails, Unreserve ends what is in flight.
  for (PodClaim& claim : devices.claims) {
    if (!claim.reserved) continue;
    Task<void> ending = writes_->end_pending(claim.reserved->uid);
    co_await ending;
    claim.reserved = nullptr;
  }
  co_return Outcome::success();
}

// The claim may have been reserved when the attempt began, and have been taken back since.
bool DynamicResources::is_still_reserved(PodClaim& claim, const std::string& pod_uid) const {
  if (!is_reserved_for(*claim.claim, pod_uid)) return false;
  const Result<Ref<const ResourceClaim>> now =
      tracker_->find(claim.claim->symbols.text(claim.claim->namespace_name), claim.claim->name);
  if (now && (*now)->uid == claim.claim->uid) claim.claim = *now;
  return tracker_->is_reserved(*claim.claim, pod_uid);
}

Task<Result<void>> DynamicResources::bind_claim(Ref<const Pod> pod, PodClaim& claim,
                                                CancelToken cancel) const {
  Task<ClaimWrites::Written> binding = writes_->bind(pod, claim.claim, claim.reserved, cancel);
  ClaimWrites::Written bound = co_await binding;
  if (!bound) co_return fail(std::move(bound.error()));
  claim.claim = std::move(*bound);  // so that Unreserve knows what there is to undo
  co_return Result<void>();
}

// The claim for extended resources is created first, and the pod's status tells about it.
Task<Result<void>> DynamicResources::bind_extended_claim(Ref<const Pod> pod, PodDevices& devices,
                                                         CancelToken cancel) const {
  PodClaim& claim = devices.claims.back();
  if (!claim.reserved && claim.claim->spec.requests.empty())
    co_return Result<void>();  // a device plugin serves it
  const ExtendedClaimVariant* variant = devices.extended->chosen;
  if (is_in_memory(*claim.claim)) {
    if (cancel.cancelled()) co_return fail(ErrorKind::kCancelled, std::string(kContextCanceled));
    Task<ClaimWrites::Written> creating = writes_->create(variant->claim);
    ClaimWrites::Written created = co_await creating;
    if (measurements_) measurements_->claim_created(created.has_value());
    if (!created) co_return fail(std::move(created.error()));
    claim.claim = std::move(*created);
  }
  Task<Result<void>> binding = bind_claim(pod, claim, cancel);
  Result<void> bound = co_await binding;
  if (!bound) co_return bound;

  const std::string about = fmt::format("pod {} ExtendedResourceClaimStatus", pod->full_name());
  // Parity: a pod that has claims of its own gets this far also where a device plugin serves all
  // its extended resources, and fails here.
  if (!variant || variant->mappings.empty())
    co_return fail(ErrorKind::kInvalid, "nil or empty request mappings, no update of " + about);
  if (cancel.cancelled()) co_return fail(ErrorKind::kCancelled, std::string(kContextCanceled));
  PodStatusPatch patch;
  patch.extended_resource_claim =
      PodExtendedResourceClaimStatus{variant->mappings, claim.claim->name};
  Task<Result<std::string>> patching = handle_.api.patch_status(pod, std::move(patch));
  const Result<std::string> patched = co_await patching;
  if (!patched)
    co_return fail(patched.error().kind,
                   fmt::format("update {}: {}", about, patched.error().message));
  co_return Result<void>();
}

// ---- binding conditions

Task<Outcome> DynamicResources::wait_for_devices(Cycle& cycle, PodDevices& devices,
                                                 std::string_view node_name,
                                                 CancelToken cancel) const {
  handle_.api.record(
      {.pod = cycle.pod_ref(),
       .type = EventType::kNormal,
       .reason = "BindingConditionsPending",
       .action = "Scheduling",
       .note = fmt::format("waiting for binding conditions for device on node {}", node_name),
       .reporting_controller = handle_.profile_name,
       .related = {}});
  const TimePoint start = handle_.loop.now();
  const TimePoint deadline = start + binding_timeout_;
  Outcome outcome;
  for (;;) {
    const Result<bool> ready = look_again(devices);
    if (!ready) outcome = Outcome::failure(ready.error().message);
    if (!ready || *ready) break;
    std::vector<ObjectName> claims;
    for (const PodClaim& claim : devices.claims) claims.push_back(object_name(*claim.claim));
    NextChange change = waits_.next_change(
        std::move(claims), std::min(deadline, look_again_at(devices, start)), cancel);
    const WaitEnd end = co_await change;
    if (end == WaitEnd::kCancelled) {
      outcome = Outcome::failure(std::string(kContextCanceled));
      break;
    }
    if (end == WaitEnd::kDeadline && handle_.loop.now() >= deadline) {
      outcome = Outcome::failure(fmt::format("{}: context deadline exceeded", kTimedOut));
      break;
    }
  }
  if (measurements_) measure_wait(devices, wait_status(outcome), handle_.loop.now() - start);
  co_return outcome;
}

// Whether all claims, as they are now, are ready.
Result<bool> DynamicResources::look_again(PodDevices& devices) const {
  for (PodClaim& claim : devices.claims) {
    Result<Ref<const ResourceClaim>> now =
        tracker_->find(claim.claim->symbols.text(claim.claim->namespace_name), claim.claim->name);
    if (!now) return fail(std::move(now.error()));
    claim.claim = std::move(*now);
    Result<bool> ready = is_ready_for_binding(*claim.claim);
    if (ready && *ready) continue;
    const std::optional<WallTime> until = binding_deadline(*claim.claim, binding_timeout_);
    if (ready && until && *until < handle_.loop.wall_now())
      return fail(ErrorKind::kTimeout, fmt::format("{}: claim={}", kTimedOut, claim.claim->name));
    return ready;
  }
  return true;
}

// When upstream would next notice that a claim has waited for too long, if nothing else happens.
TimePoint DynamicResources::look_again_at(const PodDevices& devices, TimePoint start) const {
  TimePoint next = start + Duration::max();
  for (const PodClaim& claim : devices.claims) {
    const std::optional<WallTime> until = binding_deadline(*claim.claim, binding_timeout_);
    if (!until) continue;
    const Duration from_start =
        std::max(Duration{0}, (*until - handle_.loop.wall_now()) + (handle_.loop.now() - start));
    next = std::min(next, start + kLookAgain * (from_start / kLookAgain + 1));
  }
  return next;
}

void DynamicResources::measure_wait(const PodDevices& devices, std::string_view status,
                                    Duration took) const {
  for (const PodClaim& claim : devices.claims) {
    if (!claim.claim->allocated()) continue;
    for (const DeviceRequestAllocationResult& result : claim.claim->status.allocation->results)
      measurements_->binding_conditions_waited(handle_.profile_name,
                                               claim.claim->symbols.text(result.driver), status,
                                               took, !result.binding_conditions.empty());
  }
}

}  // namespace berth::plugins
