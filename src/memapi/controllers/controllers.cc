#include "memapi/controllers/controllers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "memapi/controllers/daemon_set.h"
#include "memapi/controllers/deployment.h"
#include "memapi/controllers/disruption.h"
#include "memapi/controllers/ephemeral_volume.h"
#include "memapi/controllers/garbage_collector.h"
#include "memapi/controllers/job.h"
#include "memapi/controllers/persistent_volume.h"
#include "memapi/controllers/replica_set.h"
#include "memapi/controllers/resource_claim.h"
#include "memapi/controllers/stateful_set.h"

namespace berth::memapi {
namespace {

using Maker = std::unique_ptr<Controller> (*)(LocalClient&, PodIndex&, const NodeAgentOptions&);

template <typename C>
std::unique_ptr<Controller> with_pods(LocalClient& api, PodIndex& pods, const NodeAgentOptions&) {
  return std::make_unique<C>(api, pods);
}

struct Entry {
  std::string_view name;
  Maker make;
};
constexpr Entry kControllers[] = {
    {"daemonset-controller", with_pods<DaemonSetController>},
    {"deployment-controller", with_pods<DeploymentController>},
    {"disruption-controller", with_pods<DisruptionController>},
    {"ephemeral-volume-controller", with_pods<EphemeralVolumeController>},
    {"garbage-collector-controller",
     [](LocalClient& api, PodIndex&, const NodeAgentOptions&) -> std::unique_ptr<Controller> {
       return std::make_unique<GarbageCollector>(api);
     }},
    {"job-controller", with_pods<JobController>},
    {"node-agent",
     [](LocalClient& api, PodIndex& pods,
        const NodeAgentOptions& options) -> std::unique_ptr<Controller> {
       return std::make_unique<NodeAgent>(api, pods, options);
     }},
    {"persistentvolume-binder-controller",
     [](LocalClient& api, PodIndex&, const NodeAgentOptions&) -> std::unique_ptr<Controller> {
       return std::make_unique<PersistentVolumeController>(api);
     }},
    {"replicaset-controller",
     [](LocalClient& api, PodIndex& pods, const NodeAgentOptions&) -> std::unique_ptr<Controller> {
       return std::make_unique<ReplicaSetController>(api, pods, resource_of("replicasets", "apps"));
     }},
    {"replicationcontroller-controller",
     [](LocalClient& api, PodIndex& pods, const NodeAgentOptions&) -> std::unique_ptr<Controller> {
       return std::make_unique<ReplicaSetController>(api, pods,
                                                     resource_of("replicationcontrollers"));
     }},
    {"resourceclaim-controller", with_pods<ResourceClaimController>},
    {"statefulset-controller", with_pods<StatefulSetController>},
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
                         NodeAgentOptions node_agent)
    : pods_(std::make_unique<PodIndex>(api)) {
  for (const Entry& entry : kControllers) {
    if (std::ranges::find(names, entry.name) != names.end())
      running_.push_back(entry.make(api, *pods_, node_agent));
  }
}

}  // namespace berth::memapi
