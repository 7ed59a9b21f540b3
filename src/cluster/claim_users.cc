#include "cluster/claim_users.h"

#include <algorithm>

namespace berth {
namespace {

bool is_claim(const Volume& volume) {
  return volume.source == VolumeSource::kPersistentVolumeClaim;
}

}  // namespace

void ClaimUsers::add(const Pod& pod, NodeRow row) {
  for (const Volume& volume : pod.spec().volumes) {
    if (!is_claim(volume)) continue;
    std::vector<Use>& uses = uses_[{pod.meta().namespace_name, volume.source_name}];
    const auto use =
        std::find_if(uses.begin(), uses.end(), [row](const Use& u) { return u.row == row; });
    if (use == uses.end())
      uses.push_back({row, 1});
    else
      ++use->count;
  }
}

void ClaimUsers::remove(const Pod& pod, NodeRow row) {
  for (const Volume& volume : pod.spec().volumes) {
    if (!is_claim(volume)) continue;
    const auto found = uses_.find({pod.meta().namespace_name, volume.source_name});
    std::vector<Use>& uses = found->second;
    const auto use =
        std::find_if(uses.begin(), uses.end(), [row](const Use& u) { return u.row == row; });
    if (--use->count == 0) uses.erase(use);
    if (uses.empty()) uses_.erase(found);
  }
}

std::int32_t ClaimUsers::count(NodeRow row, Symbol namespace_name, Symbol claim) const {
  const auto found = uses_.find({namespace_name, claim});
  if (found == uses_.end()) return 0;
  for (const Use& use : found->second)
    if (use.row == row) return use.count;
  return 0;
}

bool ClaimUsers::any(const NodeSet& rows, Symbol namespace_name, Symbol claim) const {
  const auto found = uses_.find({namespace_name, claim});
  return found != uses_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&rows](const Use& use) { return rows.contains(use.row); });
}

}  // namespace berth
