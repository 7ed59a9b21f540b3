#include "sim/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "api/defaulting.h"
#include "api/kinds.h"
#include "api/node.h"
#include "sim/workload.h"

namespace berth::sim {
namespace {

// How long the pod garbage collector waits before it takes pods of a node that is gone.
constexpr Duration kOrphanQuarantine = std::chrono::seconds(40);

// What a DaemonSet's pods tolerate without being asked, so that they are there before all others.
void add_daemon_tolerations(PodSpec& spec) {
  const auto tolerate = [&](std::string_view key, TaintEffect effect) {
    Toleration toleration;
    toleration.key = spec.symbols.intern(key);
    toleration.op = TolerationOperator::kExists;
    toleration.effect = effect;
    spec.tolerations.push_back(toleration);
  };
  tolerate("node.kubernetes.io/not-ready", TaintEffect::kNoExecute);
  tolerate("node.kubernetes.io/unreachable", TaintEffect::kNoExecute);
  for (const char* pressure : {"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"})
    tolerate(fmt::format("node.kubernetes.io/{}", pressure), TaintEffect::kNoSchedule);
  if (spec.host_network)
    tolerate("node.kubernetes.io/network-unavailable", TaintEffect::kNoSchedule);
}

// A daemon's pod may run on one node only, and says so in every term of its node affinity.
void pin_to_node(PodSpec& spec, std::string_view node) {
  SelectorRequirement here;
  here.key = spec.symbols.intern("metadata.name");
  here.op = SelectorOperator::kIn;
  here.operator_text = spec.symbols.intern("In");
  here.values = {spec.symbols.intern(node)};
  auto affinity = std::make_shared<Affinity>(spec.affinity ? *spec.affinity : Affinity());
  if (!affinity->node) affinity->node.emplace();
  auto& required = affinity->node->required;
  if (!required || required->empty()) required.emplace(1);
  for (NodeSelectorTerm& term : *required) term.match_fields = {here};
  spec.affinity = std::move(affinity);
}

}  // namespace

struct Workloads::State {
  Loop& loop;
  SimCluster& cluster;
  Interner& interner;
  std::function<void(std::string_view)> trouble;

  using Key = std::pair<ObjectKind, std::string>;  // "namespace/name" of the pods' controller
  std::map<Key, Workload> workloads{};
  std::map<Key, Key> controllers{};  // of Deployments: their ReplicaSet
  std::uint64_t made = 0;
  std::shared_ptr<int> alive = std::make_shared<int>(0);

  static Key key(ObjectKind kind, std::string_view namespace_name, std::string_view name) {
    return {kind, fmt::format("{}/{}", namespace_name, name)};
  }

  void reconcile(Workload& workload);
  void reconcile_daemons(Workload& workload);
  void scale_down_set(Workload& workload);
  bool create_pod(Workload& workload, const std::string& name, std::string_view node = {},
                  std::optional<std::int64_t> index = {});
  void create_replica_set(const Workload& workload);
  bool daemon_belongs(const Workload& workload, const Node& node) const;

  void on_change(const Delta& delta);
  void pod_changed(DeltaType type, const Pod& pod);
  void collect_orphans_of(std::string node);
};

Workloads::Workloads(Loop& loop, SimCluster& cluster, Interner& interner,
                     std::function<void(std::string_view)> trouble)
    : state_(new State{loop, cluster, interner, std::move(trouble)}) {
  cluster.on_change([state = state_.get()](const Delta& delta) { state->on_change(delta); });
}

Workloads::~Workloads() = default;

bool Workloads::is_workload(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kDeployment:
    case ObjectKind::kReplicaSet:
    case ObjectKind::kStatefulSet:
    case ObjectKind::kDaemonSet:
    case ObjectKind::kJob: return true;
    default: return false;
  }
}

Result<void> Workloads::apply(const ManifestObject& manifest) {
  Result<Workload> read = read_workload(manifest, state_->interner);
  if (!read) return fail(read.error());
  const State::Key key = State::key(read->kind, read->namespace_name, read->name);
  const State::Key written = State::key(manifest.kind, manifest.namespace_name, manifest.name);
  if (const auto before = state_->controllers.find(written);
      before != state_->controllers.end() && before->second != key) {
    // A Deployment with a new template: the old ReplicaSet is scaled down.
    Workload& old = state_->workloads.at(before->second);
    old.replicas = 0;
    state_->reconcile(old);
  }
  state_->controllers[written] = key;
  const auto [found, is_new] = state_->workloads.try_emplace(key, std::move(*read));
  if (!is_new) {
    found->second.replicas = read->replicas;
    found->second.completions = read->completions;
  } else if (manifest.kind == ObjectKind::kDeployment) {
    state_->create_replica_set(found->second);
  } else if (!std::holds_alternative<std::monostate>(manifest.object)) {
    if (Result<void> created = state_->cluster.create_object(manifest.object); !created)
      return created;
  }
  state_->reconcile(found->second);
  return {};
}

Result<void> Workloads::remove(ObjectKind kind, std::string_view namespace_name,
                               std::string_view name) {
  const State::Key written = State::key(kind, namespace_name, name);
  const auto controller = state_->controllers.find(written);
  if (controller == state_->controllers.end())
    return fail(ErrorKind::kNotFound, fmt::format("{} \"{}\" not found", to_string(kind), name));
  const auto found = state_->workloads.find(controller->second);
  Workload gone = std::move(found->second);
  state_->workloads.erase(found);
  state_->controllers.erase(controller);
  for (const std::string& pod : gone.pods)
    static_cast<void>(state_->cluster.remove_object(ObjectKind::kPod, gone.namespace_name, pod));
  if (state_->cluster.object(gone.kind, gone.namespace_name, gone.name))
    static_cast<void>(state_->cluster.remove_at_once(gone.kind, gone.namespace_name, gone.name));
  return {};
}

// ---- making pods

void Workloads::State::create_replica_set(const Workload& workload) {
  auto set = make_ref<ReplicaSet>(interner.hold());
  set->namespace_name = set->symbols.intern(workload.namespace_name);
  set->name = workload.name;
  set->uid = deterministic_uid("ReplicaSet", workload.namespace_name, workload.name);
  set->selector = workload.selector;
  set->symbols = workload.selector_symbols;
  set->namespace_name = set->symbols.intern(workload.namespace_name);
  if (set->selector)
    set->selector->match_labels.push_back(
        {set->symbols.intern("pod-template-hash"), set->symbols.intern(workload.template_hash)});
  if (const Result<void> created = cluster.create_object(Ref<const Object>(set)); !created)
    trouble(created.error().message);
}

bool Workloads::State::create_pod(Workload& workload, const std::string& name,
                                  std::string_view node, std::optional<std::int64_t> index) {
  WrittenPod pod(workload.pod_template);
  SymbolHold& symbols = pod.meta.symbols;
  pod.meta.namespace_name = symbols.intern(workload.namespace_name);
  pod.meta.controller = {symbols.intern(workload.api_version),
                         symbols.intern(to_string(workload.kind)), symbols.intern(workload.name)};
  std::vector<Label> labels(pod.meta.labels.begin(), pod.meta.labels.end());
  const auto label = [&](std::string_view key, std::string_view value) {
    labels.push_back({symbols.intern(key), symbols.intern(value)});
  };
  if (!workload.template_hash.empty()) label("pod-template-hash", workload.template_hash);
  if (workload.kind == ObjectKind::kStatefulSet) {
    label("statefulset.kubernetes.io/pod-name", name);
    label("apps.kubernetes.io/pod-index", std::to_string(index.value_or(0)));
  }
  if (workload.kind == ObjectKind::kJob) {
    label("job-name", workload.name);
    label("batch.kubernetes.io/job-name", workload.name);
    if (index) label("batch.kubernetes.io/job-completion-index", std::to_string(*index));
  }
  pod.meta.labels = LabelSet(std::move(labels));
  if (workload.kind == ObjectKind::kDaemonSet) {
    add_daemon_tolerations(pod.spec);
    pin_to_node(pod.spec, node);
  }
  pod.own.name = name;
  if (const Result<void> admitted = admit(pod, cluster.admission()); !admitted) {
    trouble(fmt::format("{} {}/{}: {}", to_string(workload.kind), workload.namespace_name,
                        workload.name, admitted.error().message));
    return false;
  }
  // Before it is created: the cluster tells of the new pod while it creates it.
  workload.pods.insert(name);
  if (const Result<void> created = cluster.create_object(freeze(std::move(pod), interner));
      !created) {
    workload.pods.erase(name);
    trouble(created.error().message);
    return false;
  }
  return true;
}

void Workloads::State::reconcile(Workload& workload) {
  switch (workload.kind) {
    case ObjectKind::kDaemonSet: reconcile_daemons(workload); return;
    case ObjectKind::kStatefulSet:
      for (std::int64_t i = 0; i < workload.replicas; ++i) {
        const std::string name = fmt::format("{}-{}", workload.name, i);
        if (!workload.pods.contains(name) && !create_pod(workload, name, {}, i)) return;
        // One after the other: the next one when this one has a node.
        const Ref<const Pod> pod = cluster.pod(workload.namespace_name, name);
        if (workload.ordered && (!pod || pod->node().empty())) return;
      }
      scale_down_set(workload);
      return;
    default: break;
  }
  std::int64_t wanted = workload.replicas;
  if (workload.kind == ObjectKind::kJob)
    wanted = std::min(wanted, workload.completions - workload.finished);
  while (static_cast<std::int64_t>(workload.pods.size()) < wanted) {
    std::optional<std::int64_t> index;
    std::string prefix = workload.name;
    if (workload.indexed) {
      index = workload.next_index();
      prefix += fmt::format("-{}", *index);
    }
    if (!create_pod(workload, fmt::format("{}-{}", prefix, name_suffix(prefix, made++)), {}, index))
      return;
  }
  while (static_cast<std::int64_t>(workload.pods.size()) > std::max<std::int64_t>(wanted, 0)) {
    const std::string name = *workload.pods.rbegin();
    workload.pods.erase(name);
    static_cast<void>(cluster.remove_object(ObjectKind::kPod, workload.namespace_name, name));
  }
}

// From the end, as long as there are more than wanted.
void Workloads::State::scale_down_set(Workload& workload) {
  const std::set<std::string> present = workload.pods;
  for (const std::string& name : present)
    if (workload.index_of(name) >= workload.replicas)
      static_cast<void>(cluster.remove_object(ObjectKind::kPod, workload.namespace_name, name));
}

bool Workloads::State::daemon_belongs(const Workload& workload, const Node& node) const {
  PodSpec spec(workload.pod_template.spec);
  add_daemon_tolerations(spec);
  const Symbols& symbols = *interner.symbols();
  if (find_untolerated(node.taints, spec.tolerations, {symbols, false})) return false;
  if (!Selector::of_set(spec.node_selector).matches(node.labels, symbols)) return false;
  if (spec.affinity && spec.affinity->node && spec.affinity->node->required)
    return NodeSelector::compile(*spec.affinity->node->required, symbols).matches(node, symbols);
  return true;
}

void Workloads::State::reconcile_daemons(Workload& workload) {
  for (const Ref<const Object>& object : cluster.objects(ObjectKind::kNode)) {
    const Node& node = static_cast<const Node&>(*object);
    // One pod per node, named after it: upstream's suffix says nothing.
    const std::string name = fmt::format("{}-{}", workload.name, name_suffix(node.name, 0));
    if (!workload.pods.contains(name) && daemon_belongs(workload, node))
      create_pod(workload, name, node.name);
  }
}

// ---- reacting

void Workloads::State::on_change(const Delta& delta) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object)) {
    pod_changed(delta.type, **pod);
    return;
  }
  const auto* object = std::get_if<Ref<const Object>>(&delta.object);
  if (!object || (*object)->kind != ObjectKind::kNode) return;
  if (delta.type == DeltaType::kDeleted) {
    collect_orphans_of((*object)->name);
    return;
  }
  for (auto& [key, workload] : workloads)
    if (workload.kind == ObjectKind::kDaemonSet) reconcile_daemons(workload);
}

void Workloads::State::pod_changed(DeltaType type, const Pod& pod) {
  if (type != DeltaType::kDeleted && !pod.node().empty() &&
      !cluster.object(ObjectKind::kNode, "", pod.node_name()))
    collect_orphans_of(std::string(pod.node_name()));
  const ControllerRef& controller = pod.meta().controller;
  if (controller.empty()) return;
  for (auto& [key, workload] : workloads) {
    if (to_string(workload.kind) != pod.text(controller.kind) ||
        workload.name != pod.text(controller.name) ||
        workload.namespace_name != pod.namespace_name())
      continue;
    const std::string name(pod.name());
    const bool gone = type == DeltaType::kDeleted;
    // Pods with an identity come back only when the old one is really gone.
    const bool keeps_name =
        workload.kind == ObjectKind::kStatefulSet || workload.kind == ObjectKind::kDaemonSet;
    const bool leaving = gone || pod.finished() || (pod.terminating() && !keeps_name);
    if (leaving && workload.pods.erase(name) > 0 && workload.kind == ObjectKind::kJob &&
        pod.phase() == PodPhase::kSucceeded) {
      ++workload.finished;
      workload.finished_indexes.insert(workload.index_of(name));
    }
    // Deferred, so that whoever changed the pod is done with it first.
    loop.post([this, where = key, still = std::weak_ptr<int>(alive)] {
      if (still.expired()) return;
      if (const auto found = workloads.find(where); found != workloads.end())
        reconcile(found->second);
    });
    return;
  }
}

// The pod garbage collector: pods of a node that is gone, if it has not come back meanwhile.
void Workloads::State::collect_orphans_of(std::string node) {
  loop.after(kOrphanQuarantine, [this, name = std::move(node), still = std::weak_ptr<int>(alive)] {
    if (still.expired() || cluster.object(ObjectKind::kNode, "", name)) return;
    for (const Ref<const Pod>& pod : cluster.pods())
      if (pod->node_name() == name)
        static_cast<void>(
            cluster.remove_at_once(ObjectKind::kPod, pod->namespace_name(), pod->name()));
  });
}

}  // namespace berth::sim
