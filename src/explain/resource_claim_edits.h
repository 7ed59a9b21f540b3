// Edits of ResourceClaims: what a pod names and nobody has made.
#pragma once

#include <vector>

#include "explain/edits.h"

namespace berth::explain {

// For each ResourceClaim that the pod names and that is not there: the ways to make it, one device of
// a class each. Claims that come from a template are made by a controller, for a pod that exists.
std::vector<std::vector<Edits>> missing_resource_claims(const UnplacedPod& unplaced);

}  // namespace berth::explain
