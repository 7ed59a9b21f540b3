#include "plugins/dynamic_resources/pod_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/go_quote.h"

namespace berth::plugins {
namespace {

// The name of the claim that an entry of the pod's spec stands for.
struct EntryClaim {
  std::optional<std::string_view> name;  // absent: none is needed
  bool generated = false;                // from a template, for this pod
};

Result<EntryClaim> claim_for(const Pod& pod, const PodResourceClaim& entry) {
  if (!entry.claim_name.empty()) return EntryClaim{pod.text(entry.claim_name), false};
  if (entry.template_name.empty())
    return fail(
        ErrorKind::kInvalid,
        fmt::format("pod \"{}\", spec.resourceClaim {}: none of the supported fields are set",
                    pod.full_name(), go_quoted(pod.text(entry.name))));
  if (const PodExtra* extra = pod.extra())
    for (const PodResourceClaimStatus& status : extra->resource_claim_statuses)
      if (status.name == pod.text(entry.name)) return EntryClaim{status.claim_name, true};
  return fail(ErrorKind::kNotFound,
              fmt::format("pod \"{}\": ResourceClaim not created yet", pod.full_name()));
}

const AllocatedDeviceStatus* status_of(const ResourceClaim& claim, const DeviceId& device) {
  const auto found =
      std::ranges::find(claim.status.devices, device, [](const auto& entry) { return entry.id(); });
  return found == claim.status.devices.end() ? nullptr : &*found;
}

const PodCondition* condition_of(const AllocatedDeviceStatus& status, std::string_view type) {
  const auto found = std::ranges::find(status.conditions, type, &PodCondition::type);
  return found == status.conditions.end() ? nullptr : &*found;
}

bool is_true(const PodCondition* condition) { return condition && condition->status == "True"; }

}  // namespace

std::string full_name(const ResourceClaim& claim) {
  return fmt::format("{}/{}", claim.symbols.text(claim.namespace_name), claim.name);
}

ObjectName object_name(const ResourceClaim& claim) {
  return {ObjectKind::kResourceClaim, std::string(claim.symbols.text(claim.namespace_name)),
          claim.name};
}

bool has_finalizer(const ResourceClaim& claim) {
  return std::ranges::find(claim.finalizers, kClaimFinalizer) != claim.finalizers.end();
}

Result<Ref<const ResourceClaim>> claim_of_entry(const Pod& pod, const PodResourceClaim& entry,
                                                const ClaimTracker& tracker) {
  const Result<EntryClaim> wanted = claim_for(pod, entry);
  if (!wanted) return fail(wanted.error());
  if (!wanted->name) return Ref<const ResourceClaim>();
  Result<Ref<const ResourceClaim>> found = tracker.find(pod.namespace_name(), *wanted->name);
  if (!found) return found;
  const ResourceClaim& claim = **found;
  if (claim.deleting())
    return fail(ErrorKind::kGone,
                fmt::format("resourceclaim {} is being deleted", go_quoted(claim.name)));
  if (wanted->generated && claim.controller_uid != pod.uid_text())
    return fail(ErrorKind::kInvalid,
                fmt::format("ResourceClaim {} was not created for Pod {} (Pod is not owner)",
                            full_name(claim), pod.full_name()));
  return found;
}

Result<std::vector<Ref<const ResourceClaim>>> claims_of(const Pod& pod,
                                                        const ClaimTracker& tracker) {
  std::vector<Ref<const ResourceClaim>> claims;
  for (const PodResourceClaim& entry : pod.spec().resource_claims) {
    Result<Ref<const ResourceClaim>> found = claim_of_entry(pod, entry, tracker);
    if (!found) return fail(std::move(found.error()));
    if (*found) claims.push_back(std::move(*found));
  }
  return claims;
}

bool is_reserved_for(const ResourceClaim& claim, std::string_view uid) {
  return std::ranges::find(claim.status.reserved_for, uid, &ResourceClaimConsumerReference::uid) !=
         claim.status.reserved_for.end();
}

bool has_binding_conditions(const ResourceClaim& claim) {
  return claim.allocated() &&
         std::ranges::any_of(claim.status.allocation->results,
                             [](const auto& result) { return !result.binding_conditions.empty(); });
}

Result<bool> is_ready_for_binding(const ResourceClaim& claim) {
  if (!claim.allocated()) return false;
  for (const DeviceRequestAllocationResult& result : claim.status.allocation->results) {
    if (result.binding_conditions.empty()) continue;
    const AllocatedDeviceStatus* status = status_of(claim, result.id());
    if (!status) return false;
    const auto condition = [&](Symbol type) {
      return condition_of(*status, claim.symbols.text(type));
    };
    for (const Symbol failure : result.binding_failure_conditions)
      if (const PodCondition* failed = condition(failure); is_true(failed))
        return fail(ErrorKind::kInternal,
                    fmt::format("device binding failed: claim={}, reason={}, message={}",
                                claim.name, failed->reason, go_quoted(failed->message)));
    for (const Symbol needed : result.binding_conditions)
      if (!is_true(condition(needed))) return false;
  }
  return true;
}

std::optional<WallTime> binding_deadline(const ResourceClaim& claim, Duration timeout) {
  if (!has_binding_conditions(claim) || !claim.status.allocation->allocation_timestamp)
    return std::nullopt;
  return *claim.status.allocation->allocation_timestamp + timeout;
}

}  // namespace berth::plugins
