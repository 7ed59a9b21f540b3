#include "explain/alike_pods.h"

#include <algorithm>
#include <map>
#include <utility>

namespace berth::explain {
namespace {

bool shares_explanation(const Pod& pod) {
  const auto is_own = [](const Volume& volume) {
    return volume.source == VolumeSource::kEphemeral;
  };
  return !pod.extra() && pod.nominated_node().empty() && pod.spec().resource_claims.empty() &&
         std::ranges::none_of(pod.spec().volumes, is_own);
}

}  // namespace

std::vector<std::vector<std::size_t>> alike_pods(std::span<const Ref<const Pod>> pods) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::pair<const PodSpec*, const PodMeta*>, std::size_t> places;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (!shares_explanation(*pods[i])) {
      groups.push_back({i});
      continue;
    }
    const auto [place, is_first] =
        places.try_emplace({&pods[i]->spec(), &pods[i]->meta()}, groups.size());
    if (is_first) groups.emplace_back();
    groups[place->second].push_back(i);
  }
  return groups;
}

}  // namespace berth::explain
