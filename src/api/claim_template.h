// The claim that is made for a pod that names a ResourceClaimTemplate. Whoever plays the controller
// (the simulator, `berth bench`) calls it, stores the claim and tells the pod its name.
#pragma once

#include "api/devices.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/pod.h"
#include "berth/ref.h"

namespace berth {

// Without UID and version: those come from where it is stored.
Ref<ResourceClaim> claim_from_template(const Pod& pod, const PodResourceClaim& entry,
                                       const ResourceClaimTemplate& made_from, Interner& interner,
                                       WallTime now);

}  // namespace berth
