#include <algorithm>
#include <tuple>

#include "api/pod_group.h"
#include "cluster/group_states.h"
#include "sim/simulation.h"

namespace berth::sim {

std::vector<GroupReport> report_groups(const SimCluster& cluster) {
  std::map<GroupKey, GroupReport> groups;
  for (const Ref<const Object>& object : cluster.objects(ObjectKind::kPodGroup)) {
    const auto& group = static_cast<const PodGroup&>(*object);
    GroupReport& report = groups[group_key(group)];
    report.namespace_name = group.symbols.text(group.namespace_name);
    report.name = group.name;
    if (const PodCondition* condition = group.condition(kPodGroupInitiallyScheduled)) {
      report.status = condition->status;
      report.reason = condition->reason;
      report.message = condition->message;
    }
  }
  if (groups.empty()) return {};
  for (const Ref<const Pod>& pod : cluster.pods()) {
    if (!in_group(*pod)) continue;
    const auto group = groups.find(pod_group_of(*pod));
    if (group == groups.end()) continue;
    ++group->second.pods;
    if (!pod->node().empty()) ++group->second.bound;
  }
  std::vector<GroupReport> reports;
  for (auto& [key, report] : groups) reports.push_back(std::move(report));
  std::ranges::sort(reports, [](const GroupReport& a, const GroupReport& b) {
    return std::tie(a.namespace_name, a.name) < std::tie(b.namespace_name, b.name);
  });
  return reports;
}

}  // namespace berth::sim
