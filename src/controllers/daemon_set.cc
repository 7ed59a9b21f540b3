#include "controllers/daemon_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "berth/node_selector.h"

namespace berth::controllers {
namespace {

// Parity: pods that a DaemonSet gets in one sync.
constexpr std::int64_t kMostAtOnce = 250;

}  // namespace

std::vector<DaemonToleration> daemon_tolerations(bool host_network) {
  std::vector<DaemonToleration> all = {
      {"node.kubernetes.io/not-ready", TaintEffect::kNoExecute},
      {"node.kubernetes.io/unreachable", TaintEffect::kNoExecute},
      {"node.kubernetes.io/disk-pressure"},
      {"node.kubernetes.io/memory-pressure"},
      {"node.kubernetes.io/pid-pressure"},
      {"node.kubernetes.io/unschedulable"},
  };
  if (host_network) all.push_back({"node.kubernetes.io/network-unavailable"});
  return all;
}

void add_daemon_tolerations(PodSpec& spec) {
  for (const DaemonToleration& tolerated : daemon_tolerations(spec.host_network)) {
    Toleration toleration;
    toleration.key = spec.symbols.intern(tolerated.key);
    toleration.op = TolerationOperator::kExists;
    toleration.effect = tolerated.effect;
    spec.tolerations.push_back(toleration);
  }
}

std::vector<std::string> daemon_nodes(PodSpec spec, std::span<const Ref<const Node>> nodes,
                                      const Symbols& symbols) {
  add_daemon_tolerations(spec);
  const NodeAffinity* affinity =
      spec.affinity && spec.affinity->node ? &*spec.affinity->node : nullptr;
  const RequiredNodeAffinity required(spec.node_selector, affinity, symbols);
  std::vector<std::string> chosen;
  for (const Ref<const Node>& node : nodes)
    if (!find_untolerated(node->taints, spec.tolerations, {symbols, false}) &&
        required.matches(*node, symbols))
      chosen.push_back(node->name);
  return chosen;
}

DaemonSetController::DaemonSetController(Loop& loop, PodIndex& pods, WorkloadWorld& world)
    : Controller(loop), pods_(pods), world_(world) {
  pods_.listen(lifetime(), [this](const PodFacts* before, const PodFacts* after) {
    const PodFacts* pod = after != nullptr ? after : before;
    if (pod->controller_kind != "DaemonSet") return;
    std::string key = object_key(pod->namespace_name, pod->controller_name);
    if (changes_only_numbers(before, after))
      enqueue_after(Duration::zero(), std::move(key));
    else
      enqueue(std::move(key));
  });
}

void DaemonSetController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  const std::optional<Workload> set =
      world_.find(ObjectKind::kDaemonSet, name.namespace_name, name.name);
  if (!set) return;
  pods_.catch_up();
  const std::vector<std::string> nodes = world_.daemon_nodes(*set);
  if (!set->terminating) {
    bring_in_line(*set, nodes);
    pods_.catch_up();
    replace_old(*set, nodes);
    pods_.catch_up();
  }
  write_status(*set, nodes);
}

DaemonSetController::ByNode DaemonSetController::by_node(const Workload& set) const {
  ByNode nodes;
  for (const PodFacts* pod : pods_.of_controller(set.uid)) nodes[pod->daemon_of].push_back(*pod);
  return nodes;
}

void DaemonSetController::stop(const Workload& set, const PodFacts& pod) {
  if (pod.terminating || !world_.delete_pod(pod)) return;
  world_.record(set, EventType::kNormal, "SuccessfulDelete",
                fmt::format("Deleted pod: {}", pod.name));
}

void DaemonSetController::bring_in_line(const Workload& set,
                                        const std::vector<std::string>& nodes) {
  const ByNode present = by_node(set);
  const std::set<std::string> wanted(nodes.begin(), nodes.end());
  for (const auto& [node, daemons] : present) {
    bool have_one = false;
    for (const PodFacts& pod : daemons) {
      if (pod.ended() || !wanted.contains(node) || (have_one && !pod.terminating))
        stop(set, pod);
      else
        have_one = true;
    }
  }
  std::int64_t created_now = 0;
  bool refused = false;
  for (const std::string& node : nodes) {
    if (present.contains(node)) continue;  // also one that is going: its place is not free yet
    if (created_now == kMostAtOnce) {
      enqueue(set.key());
      break;
    }
    PodParts parts;
    parts.prefix = set.name + "-";
    parts.node = node;
    parts.labels = {{std::string(kRevisionLabel), set.template_hash}};
    const Result<std::string> created = world_.create_pod(set, parts);
    if (!created) {  // the other nodes get their pod all the same
      if (!refused)
        world_.record(set, EventType::kWarning, "FailedCreate",
                      fmt::format("Error creating: {}", created.error().message));
      refused = true;
      continue;
    }
    ++created_now;
    world_.record(set, EventType::kNormal, "SuccessfulCreate",
                  fmt::format("Created pod: {}", *created));
  }
  if (refused) enqueue_after(kRetryAfterRefusal, set.key(), TimerKind::kHousekeeping);
}

void DaemonSetController::replace_old(const Workload& set, const std::vector<std::string>& nodes) {
  if (!set.replaces_old_pods) return;
  const auto total = static_cast<std::int64_t>(nodes.size());
  std::int64_t spare = scaled_value(set.daemons_unavailable, total, true, 1);
  spare = std::max<std::int64_t>(spare, 1);
  std::vector<PodFacts> pods;
  for (const PodFacts* pod : pods_.of_controller(set.uid)) pods.push_back(*pod);
  const std::int64_t ready =
      std::ranges::count_if(pods, [](const PodFacts& pod) { return pod.active() && pod.ready(); });
  spare -= total - ready;
  for (const PodFacts& pod : pods) {
    if (!pod.active() || pod.label(kRevisionLabel) == set.template_hash) continue;
    // Pods that are not ready do not count against maxUnavailable.
    if (pod.ready() && spare-- <= 0) continue;
    stop(set, pod);
  }
}

void DaemonSetController::write_status(const Workload& set, const std::vector<std::string>& nodes) {
  const std::set<std::string> wanted(nodes.begin(), nodes.end());
  DaemonSetStatus status;
  status.desired = static_cast<std::int64_t>(nodes.size());
  for (const auto& [node, daemons] : by_node(set)) {
    const auto alive = std::ranges::find_if(daemons, &PodFacts::active);
    if (alive == daemons.end()) continue;
    if (!wanted.contains(node)) {
      ++status.misscheduled;
      continue;
    }
    ++status.current;
    status.ready += alive->ready() ? 1 : 0;
    status.available += alive->available(set.min_ready, now()) ? 1 : 0;
    status.updated += alive->label(kRevisionLabel) == set.template_hash ? 1 : 0;
  }
  if (status.available < status.ready) enqueue_after(set.min_ready, set.key());
  world_.write_status(set, status);
}

}  // namespace berth::controllers
