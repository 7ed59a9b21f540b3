// Edits of volumes, their claims and classes: what is missing is created, what is unbound is bound.
#pragma once

#include <string>
#include <vector>

#include "api/storage.h"
#include "explain/edits.h"

namespace berth::explain {

// A claim that the pod names, and what is known of it.
struct PodClaim {
  std::string name;
  bool ephemeral = false;                  // made for a volume of the pod
  Ref<const PersistentVolumeClaim> claim;  // null: there is none
  Ref<const PersistentVolume> volume;      // that it names; null: none, or it is not there
  Ref<const StorageClass> storage_class;   // that it names; null: none, or it is not there
};
std::vector<PodClaim> claims_of(const UnplacedPod& unplaced);

// For each claim of the pod that is missing or has no volume: the ways to give it one, each an edit
// or the few that are needed together, fewest first.
std::vector<std::vector<Edits>> missing_volumes(const UnplacedPod& unplaced);

}  // namespace berth::explain
