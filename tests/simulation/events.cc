// What can happen in a RandomRun, apart from the scheduler's own doing.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "random_run.h"

namespace berth::simulation {
namespace {

using namespace std::chrono_literals;

}  // namespace

void RandomRun::something_happens() {
  struct Choice {
    std::uint64_t weight;
    Happening happening;
  };
  static constexpr Choice kChoices[] = {
      {6, &RandomRun::create_pod},
      {2, &RandomRun::delete_any_pod},
      {1, &RandomRun::delete_waiting_pod},
      {1, &RandomRun::delete_assumed_pod},
      {1, &RandomRun::recreate_pod},
      {1, &RandomRun::finish_pod},
      {1, &RandomRun::touch_pod},
      {1, &RandomRun::remove_gate},
      {1, &RandomRun::bind_behind_the_back},
      {1, &RandomRun::remove_node},
      {1, &RandomRun::remove_node_in_use},
      {4, &RandomRun::bring_node_back},
      {1, &RandomRun::cordon},
      {1, &RandomRun::taint},
      {1, &RandomRun::jump_wall_clock},
      {1, &RandomRun::lag_watch},
      {4, &RandomRun::allow},
      {1, &RandomRun::reject},
      {1, &RandomRun::preempt},
      {1, &RandomRun::activate},
  };
  std::uint64_t sum = 0;
  for (const Choice& choice : kChoices) sum += choice.weight;
  std::uint64_t drawn = random_.below(sum);
  for (const Choice& choice : kChoices) {
    if (drawn < choice.weight) return (this->*choice.happening)();
    drawn -= choice.weight;
  }
}

// ---- choosing

Ref<const Pod> RandomRun::some_pod(const std::function<bool(const Pod&)>& which) {
  std::vector<Ref<const Pod>> candidates;
  for (Ref<const Pod>& pod : cluster_.pods())
    if (!which || which(*pod)) candidates.push_back(std::move(pod));
  return candidates.empty() ? nullptr : candidates[random_.below(candidates.size())];
}

Ref<const Pod> RandomRun::pending_pod() {
  return some_pod([](const Pod& pod) { return pod.node().empty() && !pod.finished(); });
}

std::string RandomRun::some_node() {
  const std::vector<Ref<const Object>> nodes = cluster_.objects(ObjectKind::kNode);
  return nodes.empty() ? "" : nodes[random_.below(nodes.size())]->name;
}

// ---- pods

void RandomRun::create_pod() {
  const std::string name = fmt::format("p{}", ++made_pods_);
  berth::testing::PodBuilder pod = world_.pod(name);
  pod.cpu(fmt::format("{}m", 100 * (1 + random_.below(15))));
  pod.memory(fmt::format("{}Mi", 128 * (1 + random_.below(16))));
  if (random_.chance(0.1)) pod.request("example.com/gpu", "1");
  if (random_.chance(0.05)) pod.cpu("100");  // no node has that
  if (random_.chance(0.4)) pod.priority(static_cast<std::int32_t>(random_.below(5)) * 100);
  if (random_.chance(0.3)) pod.tolerates("keep-out");
  if (random_.chance(0.1)) pod.gate("example.com/not-yet");
  if (random_.chance(0.05)) pod.scheduler("somebody-else");
  if (random_.chance(0.4)) {
    static constexpr const char* kHolders[] = {"Warden", "Usher", "Both"};
    pod.label(std::string(kHeldLabel), kHolders[random_.below(3)]);
  }
  recorder_.note("create pod", name);
  const Result<void> created = cluster_.create_object(pod.build());
  BERTH_CHECK(created.has_value());
}

void RandomRun::delete_pod(const Ref<const Pod>& pod) {
  static_cast<void>(cluster_.remove_object(ObjectKind::kPod, pod->namespace_name(), pod->name()));
}

void RandomRun::delete_any_pod() {
  if (const Ref<const Pod> pod = some_pod()) {
    recorder_.note(pod->node().empty() ? "delete pending pod" : "delete bound pod", key_of(*pod));
    delete_pod(pod);
  }
}

void RandomRun::delete_waiting_pod() {
  const std::vector<WaitingPod> waiting = engine_->waiting_pods().list();
  if (waiting.empty()) return;
  const Ref<const Pod>& pod = waiting[random_.below(waiting.size())].pod;
  recorder_.note("delete waiting pod", key_of(*pod));
  delete_pod(pod);
}

// One that is binding: assumed, and no longer waiting.
void RandomRun::delete_assumed_pod() {
  const Ref<const Pod> pod = some_pod([this](const Pod& candidate) {
    return engine_->cluster().is_assumed(candidate.uid()) &&
           !engine_->waiting_pods().contains(candidate.uid());
  });
  if (!pod) return;
  recorder_.note("delete binding pod", key_of(*pod));
  delete_pod(pod);
}

// A new pod of the same name, before anybody has heard of the end of the old one.
void RandomRun::recreate_pod() {
  const Ref<const Pod> pod = pending_pod();
  if (!pod) return;
  recorder_.note("recreate pod", key_of(*pod));
  delete_pod(pod);
  PodDraft draft = draft_of(*pod);
  draft.nominated_node_name.clear();
  draft.extra.reset();
  const Result<void> created = cluster_.create_object(make_pod(std::move(draft)));
  BERTH_CHECK(created.has_value());
}

void RandomRun::finish_pod() {
  const Ref<const Pod> pod = some_pod([](const Pod& candidate) { return !candidate.finished(); });
  if (!pod) return;
  recorder_.note(pod->node().empty() ? "finish pending pod" : "finish bound pod", key_of(*pod));
  PodDraft draft = draft_of(*pod);
  draft.phase = random_.chance(0.5) ? PodPhase::kSucceeded : PodPhase::kFailed;
  static_cast<void>(cluster_.update_object(make_pod(std::move(draft))));
}

// A new version with nothing new in it.
void RandomRun::touch_pod() {
  const Ref<const Pod> pod = some_pod();
  if (!pod) return;
  recorder_.note("touch pod", key_of(*pod));
  static_cast<void>(cluster_.update_object(make_pod(draft_of(*pod))));
}

void RandomRun::remove_gate() {
  const Ref<const Pod> pod =
      some_pod([](const Pod& candidate) { return !candidate.spec().scheduling_gates.empty(); });
  if (!pod) return;
  recorder_.note("remove gate", key_of(*pod));
  PodSpec spec(pod->spec());
  spec.scheduling_gates.clear();
  PodDraft draft = draft_of(*pod);
  draft.spec = world_.interner.share(std::move(spec));
  ++draft.generation;
  static_cast<void>(cluster_.update_object(make_pod(std::move(draft))));
}

// Another scheduler binds a pod of ours.
void RandomRun::bind_behind_the_back() {
  const Ref<const Pod> pod = pending_pod();
  const std::string node = some_node();
  if (!pod || node.empty()) return;
  recorder_.note("bind behind the back", key_of(*pod));
  history_.placed_unasked.insert(key_of(*pod));
  static_cast<void>(cluster_.update_object(bound_to(*pod, node, pod->resource_version())));
}

// ---- nodes

void RandomRun::create_node(const std::string& name) {
  berth::testing::NodeBuilder node = world_.node(name);
  node.cpu(std::to_string(1 + random_.below(6)));
  node.memory(fmt::format("{}Gi", 1 + random_.below(8)));
  node.allocatable({{"pods", std::to_string(2 + random_.below(8))}});
  if (random_.chance(0.3)) node.allocatable({{"example.com/gpu", "2"}});
  if (random_.chance(0.25)) node.taint("keep-out", "NoSchedule");
  node.zone(random_.chance(0.5) ? "a" : "b");
  nodes_.emplace(name, node.build());
  recorder_.note("create node", name);
  const Result<void> created = cluster_.create_object(Ref<const Object>(nodes_.at(name)));
  BERTH_CHECK(created.has_value());
}

void RandomRun::remove_node() {
  const std::string node = some_node();
  if (node.empty()) return;
  recorder_.note("remove node", node);
  static_cast<void>(cluster_.remove_object(ObjectKind::kNode, "", node));
}

// One on which pods are assumed.
void RandomRun::remove_node_in_use() {
  std::set<std::string> in_use;
  const Cluster& seen = engine_->cluster();
  seen.for_each_placed([&](const Pod&, NodeRow row, bool assumed) {
    const std::string name(seen.nodes().name_text(row));
    if (assumed && cluster_.object(ObjectKind::kNode, "", name)) in_use.insert(name);
  });
  if (in_use.empty()) return;
  const std::string& node =
      *std::next(in_use.begin(), static_cast<std::ptrdiff_t>(random_.below(in_use.size())));
  recorder_.note("remove node with assumed pods", node);
  static_cast<void>(cluster_.remove_object(ObjectKind::kNode, "", node));
}

void RandomRun::bring_node_back() {
  for (const auto& [name, node] : nodes_)
    if (!cluster_.object(ObjectKind::kNode, "", name)) {
      recorder_.note("bring node back", name);
      static_cast<void>(cluster_.create_object(Ref<const Object>(node)));
      return;
    }
}

void RandomRun::cordon() {
  const std::string name = some_node();
  if (name.empty()) return;
  auto node =
      make_ref<Node>(static_cast<const Node&>(*cluster_.object(ObjectKind::kNode, "", name)));
  node->unschedulable = !node->unschedulable;
  recorder_.note(node->unschedulable ? "cordon" : "uncordon", name);
  static_cast<void>(cluster_.update_object(Ref<const Object>(std::move(node))));
}

void RandomRun::taint() {
  const std::string name = some_node();
  if (name.empty()) return;
  auto node =
      make_ref<Node>(static_cast<const Node&>(*cluster_.object(ObjectKind::kNode, "", name)));
  const bool tainted = !node->taints.empty();
  if (tainted)
    node->taints.clear();
  else
    node->taints.push_back({node->symbols.intern("keep-out"), Symbol(), TaintEffect::kNoSchedule});
  recorder_.note(tainted ? "untaint" : "taint", name);
  static_cast<void>(cluster_.update_object(Ref<const Object>(std::move(node))));
}

// ---- time

void RandomRun::jump_wall_clock() {
  const Duration by = mischief_.delay(random_.chance(0.5) ? Duration(3s) : Duration(2h));
  const bool forward = random_.chance(0.5);
  recorder_.note(forward ? "clock jumps forward" : "clock jumps back",
                 fmt::format("{}", by.count()));
  loop_.jump_wall_clock(forward ? by : -by);
}

void RandomRun::lag_watch() {
  const Duration lag = random_.chance(0.3) ? Duration(0) : mischief_.delay(10s);
  recorder_.note("watch lags", fmt::format("{}", lag.count()));
  cluster_.set_watch_lag(lag);
}

// ---- waiting and sleeping pods

void RandomRun::allow() {
  const std::vector<WaitingPod> waiting = engine_->waiting_pods().list();
  if (waiting.empty()) return;
  const WaitingPod& pod = waiting[random_.below(waiting.size())];
  if (pod.pending_plugins.empty()) return;
  recorder_.note("allow", key_of(*pod.pod));
  const std::string& plugin = pod.pending_plugins[random_.below(pod.pending_plugins.size())];
  engine_->waiting_pods().allow(pod.pod->uid(), plugin);
  // Both at once, now and then: only one of them may count.
  if (random_.chance(0.3)) engine_->waiting_pods().reject(pod.pod->uid(), plugin, "too late");
}

void RandomRun::reject() {
  const std::vector<WaitingPod> waiting = engine_->waiting_pods().list();
  if (waiting.empty()) return;
  const WaitingPod& pod = waiting[random_.below(waiting.size())];
  recorder_.note("reject", key_of(*pod.pod));
  engine_->waiting_pods().reject(pod.pod->uid(), "Warden", "rejected");
  if (random_.chance(0.3)) engine_->waiting_pods().allow(pod.pod->uid(), "Warden");
}

void RandomRun::preempt() {
  const std::vector<WaitingPod> waiting = engine_->waiting_pods().list();
  if (waiting.empty()) return;
  const WaitingPod& pod = waiting[random_.below(waiting.size())];
  recorder_.note("preempt", key_of(*pod.pod));
  engine_->waiting_pods().preempt(pod.pod->uid(), "Mischief", "preempted");
}

void RandomRun::activate() {
  const Ref<const Pod> pod = pending_pod();
  if (!pod || engine_->cycle_open()) return;  // the queue stands still while a cycle is open
  recorder_.note("activate", key_of(*pod));
  const Ref<const Pod> pods[] = {pod};
  engine_->queue().activate(pods);
}

}  // namespace berth::simulation
