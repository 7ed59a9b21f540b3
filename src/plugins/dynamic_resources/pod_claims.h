// A pod's ResourceClaims: which they are, whether they are reserved for it, and whether their
// devices are ready to be used (volumes-dra-gang.md §8, §10.8).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "berth/loop.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "plugins/dynamic_resources/claim_tracker.h"

namespace berth::plugins {

// What keeps a claim from being deleted while its devices are allocated.
inline constexpr std::string_view kClaimFinalizer = "resource.kubernetes.io/delete-protection";

// "namespace/name"
std::string full_name(const ResourceClaim& claim);
ObjectName object_name(const ResourceClaim& claim);
bool has_finalizer(const ResourceClaim& claim);

// The claim of one entry of the pod's spec; null: none is needed. The error says that it has
// not been created yet (kNotFound), does not exist (kInternal, as of ClaimTracker::find), is being
// deleted (kGone), or belongs to another pod.
Result<Ref<const ResourceClaim>> claim_of_entry(const Pod& pod, const PodResourceClaim& entry,
                                                const ClaimTracker& tracker);
// The claims that the pod's spec names, in its order; entries for which none is needed are left
// out. The error names the one that does not exist, is being deleted, or belongs to another pod.
Result<std::vector<Ref<const ResourceClaim>>> claims_of(const Pod& pod,
                                                        const ClaimTracker& tracker);

// Whether reservedFor lists a consumer with this UID.
bool is_reserved_for(const ResourceClaim& claim, std::string_view uid);

// Whether any allocated device has binding conditions.
bool has_binding_conditions(const ResourceClaim& claim);
// Whether all binding conditions are met. The error: one of the failure conditions is.
Result<bool> is_ready_for_binding(const ResourceClaim& claim);
// When waiting for binding conditions ends; nullopt: never, there is nothing to wait for.
std::optional<WallTime> binding_deadline(const ResourceClaim& claim, Duration timeout);

}  // namespace berth::plugins
