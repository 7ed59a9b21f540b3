#include "control_plane/controllers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control_plane/cluster_role_aggregation.h"
#include "control_plane/cron_jobs.h"
#include "control_plane/disruption.h"
#include "control_plane/ephemeral_volume.h"
#include "control_plane/garbage_collector.h"
#include "control_plane/namespace_objects.h"
#include "control_plane/resource_claims.h"
#include "control_plane/resource_quotas.h"
#include "control_plane/volumes.h"

namespace berth::control_plane {
namespace {

// What controllers are made of.
struct Parts {
  LocalClient& api;
  PodIndex& pods;
  Workloads& workloads;
  const NodeAgentOptions& node_agent;
  const std::string& root_certificate;
};
using Maker = std::unique_ptr<ApiFollower> (*)(const Parts&);

template <typename C>
std::unique_ptr<ApiFollower> alone(const Parts& parts) {
  return std::make_unique<C>(parts.api);
}
template <typename C>
std::unique_ptr<ApiFollower> with_pods(const Parts& parts) {
  return std::make_unique<C>(parts.api, parts.pods);
}
template <auto run>
std::unique_ptr<ApiFollower> workload(const Parts& parts) {
  return run(parts.api, parts.pods, parts.workloads);
}
std::unique_ptr<ApiFollower> node_agent(const Parts& parts) {
  return std::make_unique<NodeAgent>(parts.api, parts.pods, parts.node_agent);
}

std::unique_ptr<ApiFollower> service_accounts(const Parts& parts) {
  return std::make_unique<NamespaceObjects>(parts.api, default_service_account());
}
std::unique_ptr<ApiFollower> root_certificates(const Parts& parts) {
  return std::make_unique<NamespaceObjects>(parts.api,
                                            root_certificate_map(parts.root_certificate));
}

struct Entry {
  std::string_view name;
  Maker make;
};
constexpr Entry kControllers[] = {
    {"clusterrole-aggregation-controller", alone<ClusterRoleAggregation>},
    {"cronjob-controller", alone<CronJobs>},
    {"daemonset-controller", workload<run_daemon_sets>},
    {"deployment-controller", workload<run_deployments>},
    {"disruption-controller", with_pods<DisruptionController>},
    {"ephemeral-volume-controller", with_pods<EphemeralVolumeController>},
    {"garbage-collector-controller", alone<GarbageCollector>},
    {"job-controller", workload<run_jobs>},
    {"node-agent", node_agent},
    {"persistentvolume-binder-controller", alone<Volumes>},
    {"replicaset-controller", workload<run_replica_sets>},
    {"replicationcontroller-controller", workload<run_replication_controllers>},
    {"resourceclaim-controller", with_pods<ResourceClaims>},
    {"resourcequota-controller", alone<ResourceQuotas>},
    {"root-ca-certificate-publisher-controller", root_certificates},
    {"serviceaccount-controller", service_accounts},
    {"statefulset-controller", workload<run_stateful_sets>},
};

}  // namespace

std::vector<std::string_view> controller_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kControllers) names.push_back(entry.name);
  return names;
}

Result<std::vector<std::string>> choose_controllers(std::span<const std::string> words) {
  std::set<std::string, std::less<>> chosen;
  const std::vector<std::string_view> known = controller_names();
  // Parity: "*" counts wherever it stands.
  if (std::ranges::find(words, "*") != words.end()) chosen.insert(known.begin(), known.end());
  for (const std::string& word : words) {
    if (word.empty() || word == "*") continue;
    const bool without = word.front() == '-';
    const std::string_view name = std::string_view(word).substr(without ? 1 : 0);
    if (std::ranges::find(known, name) == known.end())
      return fail(ErrorKind::kInvalid,
                  fmt::format("\"{}\" is not in the list of known controllers", name));
    if (without) {
      chosen.erase(std::string(name));
    } else {
      chosen.emplace(name);
    }
  }
  return std::vector<std::string>(chosen.begin(), chosen.end());
}

Controllers::Controllers(LocalClient& api, std::span<const std::string> names,
                         NodeAgentOptions node_agent, const std::string& root_certificate)
    : pods_(std::make_unique<PodFeed>(api)),
      workloads_(std::make_unique<Workloads>(api, pods_->index())) {
  const Parts parts{api, pods_->index(), *workloads_, node_agent, root_certificate};
  for (const Entry& entry : kControllers) {
    if (std::ranges::find(names, entry.name) != names.end()) running_.push_back(entry.make(parts));
  }
}

}  // namespace berth::control_plane
