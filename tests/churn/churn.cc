#include "churn.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/kinds.h"
#include "config/load.h"
#include "plugins/table.h"

namespace berth::churn {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> kApps = {"web", "db", "batch"};
const std::vector<std::string> kNamespaces = {"default", "other"};
constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kHost = "kubernetes.io/hostname";

}  // namespace

Churn::Churn(std::uint64_t seed, const Adjust& adjust)
    : random_(seed), plugins_(plugins::make_plugin_table()) {
  EngineOptions options;
  options.seed = seed;
  options.verify_increments = true;
  // A second profile that likes full nodes, without some of the plugins.
  options.configuration = config::parse_configuration(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: packing
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}]}
  plugins:
    multiPoint: {disabled: [{name: ImageLocality}]}
)",
                                                      options.gates, world_.interner)
                              .value();
  if (adjust) adjust(plugins_, options);
  engine_ = Engine::make(loop_, world_.interner, plugins_, api_, *this, options).value();
  objects_.serve(engine_->cluster(), [this](Delta delta) { show(std::move(delta)); });
  for (int i = 0; i < 7; ++i) kinds_.push_back(draw_kind());
}

Churn::~Churn() = default;

// What comes of the scheduler's writes. The only pods that it deletes are those it evicts.
void Churn::show(Delta delta) {
  if (delta.type == DeltaType::kDeleted) {
    ++evicted_;
    if (evicted_go_later_) {
      going_.push_back(std::get<Ref<const Pod>>(delta.object));
      return;
    }
  }
  engine_->apply(std::move(delta));
}

void Churn::decided(const Decision& decision) {
  ++report_.decisions;
  if (decision.outcome.ok()) ++report_.placed;
}

ChurnReport Churn::run(int steps) {
  const std::uint64_t nodes = crowded_ ? 3 + random_.below(12) : 5 + random_.below(90);
  for (std::uint64_t i = 0; i < nodes; ++i) add_node();
  const std::pair<Step, int> kSteps[] = {{&Churn::create_pods, 40},
                                         {&Churn::delete_pod, 20},
                                         {&Churn::relabel_pod, 8},
                                         {&Churn::add_node, 4},
                                         {&Churn::remove_node, 3},
                                         {&Churn::change_node, 12},
                                         {&Churn::relabel_namespace, 2},
                                         {&Churn::change_service, 3},
                                         {&Churn::pass_time, 8},
                                         {&Churn::change_budget, crowded_ ? 5 : 0},
                                         {&Churn::let_evicted_go, crowded_ ? 20 : 0}};
  int all = 0;
  for (const auto& [step, weight] : kSteps) all += weight;
  for (int i = 0; i < steps && !engine_->increment_difference(); ++i) {
    int drawn = static_cast<int>(random_.below(static_cast<std::uint64_t>(all)));
    for (const auto& [step, weight] : kSteps) {
      if ((drawn -= weight) >= 0) continue;
      (this->*step)();
      break;
    }
    schedule();
  }
  report_.difference = engine_->increment_difference();
  report_.happened["pod evicted"] = evicted_;
  return std::move(report_);
}

void Churn::schedule() {
  while (engine_->run_one() && !engine_->increment_difference()) {
  }
  loop_.run_until(loop_.now() + 1ms);
}

// ---- kinds of pods ------------------------------------------------------------------------------

void Churn::draw_affinity(testing::PodBuilder& pod, const std::string& app, Random& random) {
  Affinity affinity;
  const auto term = [&] {
    PodAffinityTerm made;
    const std::string& other = random.chance(0.6) ? app : kApps[random.below(kApps.size())];
    made.label_selector = LabelSelector{{{pod.symbol("app"), pod.symbol(other)}}, {}};
    made.topology_key = pod.symbol(random.chance(0.5) ? kZone : kHost);
    if (random.chance(0.3))
      made.namespace_selector = LabelSelector{{{pod.symbol("team"), pod.symbol("a")}}, {}};
    return made;
  };
  if (random.chance(0.4)) affinity.pod = PodAffinity{{term()}, {}};
  if (random.chance(0.4)) affinity.pod_anti = PodAffinity{{term()}, {}};
  if (random.chance(0.4)) {
    if (!affinity.pod) affinity.pod.emplace();
    affinity.pod->preferred.push_back({static_cast<std::int32_t>(1 + random.below(100)), term()});
  }
  if (random.chance(0.4)) {
    if (!affinity.pod_anti) affinity.pod_anti.emplace();
    affinity.pod_anti->preferred.push_back(
        {static_cast<std::int32_t>(1 + random.below(100)), term()});
  }
  if (pod.spec().affinity) affinity.node = pod.spec().affinity->node;
  pod.spec().affinity = std::make_shared<const Affinity>(std::move(affinity));
}

void Churn::draw_spreading(testing::PodBuilder& pod, const std::string& app, Random& random) {
  const std::uint64_t count = 1 + random.below(2);
  for (std::uint64_t i = 0; i < count; ++i) {
    TopologySpreadConstraint constraint;
    constraint.max_skew = static_cast<std::int32_t>(1 + random.below(3));
    constraint.topology_key = pod.symbol(random.chance(0.6) ? kZone : kHost);
    constraint.when_unsatisfiable = random.chance(0.5) ? UnsatisfiableAction::kDoNotSchedule
                                                       : UnsatisfiableAction::kScheduleAnyway;
    constraint.label_selector = LabelSelector{{{pod.symbol("app"), pod.symbol(app)}}, {}};
    if (random.chance(0.3)) constraint.node_taints_policy = NodeInclusionPolicy::kHonor;
    if (random.chance(0.3)) constraint.node_affinity_policy = NodeInclusionPolicy::kIgnore;
    if (random.chance(0.2)) constraint.min_domains = static_cast<std::int32_t>(random.below(6));
    pod.spec().topology_spread_constraints.push_back(std::move(constraint));
  }
}

void Churn::draw_node_affinity(testing::PodBuilder& pod, Random& random) {
  if (random.chance(0.4)) pod.node_selector("pool", random.chance(0.5) ? "x" : "y");
  if (!random.chance(0.5)) return;
  Affinity affinity;
  affinity.node.emplace();
  PreferredSchedulingTerm preferred;
  preferred.weight = static_cast<std::int32_t>(1 + random.below(100));
  preferred.preference.match_expressions.push_back(
      {pod.symbol("pool"), SelectorOperator::kIn, pod.symbol("In"), {pod.symbol("x")}});
  affinity.node->preferred.push_back(std::move(preferred));
  pod.spec().affinity = std::make_shared<const Affinity>(std::move(affinity));
}

Churn::Kind Churn::draw_kind() {
  const std::uint64_t seed = random_.next();
  return [this, seed](testing::PodBuilder& pod) {
    Random random(seed);  // the same pod each time
    const std::string& app = kApps[random.below(kApps.size())];
    pod.label("app", app).in(kNamespaces[random.below(kNamespaces.size())]);
    pod.cpu(fmt::format("{}m", 50 + 50 * random.below(20)));
    if (random.chance(0.7)) pod.memory(fmt::format("{}Mi", 64 + 64 * random.below(20)));
    if (random.chance(0.2)) pod.request("example.com/gpu", "1");
    if (random.chance(0.3)) pod.image(random.chance(0.5) ? "img-a:1" : "img-b:1");
    if (random.chance(0.15)) pod.host_port(static_cast<std::int32_t>(8000 + random.below(3)));
    if (random.chance(0.3)) pod.tolerates("dedicated");
    if (random.chance(0.3)) pod.priority(static_cast<std::int32_t>(random.below(3)) * 10);
    if (random.chance(0.25)) pod.scheduler("packing");
    if (random.chance(0.4)) draw_node_affinity(pod, random);
    if (random.chance(0.4)) draw_affinity(pod, app, random);
    if (random.chance(0.4)) draw_spreading(pod, app, random);
  };
}

// Whose filters look at nodes one by one, so that verdicts and victims are kept.
Churn::Kind Churn::draw_plain_kind() {
  const std::uint64_t seed = random_.next();
  return [seed](testing::PodBuilder& pod) {
    Random random(seed);
    pod.label("app", kApps[random.below(kApps.size())]);
    pod.in(kNamespaces[random.below(kNamespaces.size())]);
    pod.cpu(fmt::format("{}m", 200 + 100 * random.below(20)));
    if (random.chance(0.7)) pod.memory(fmt::format("{}Mi", 256 + 256 * random.below(8)));
    if (random.chance(0.2)) pod.host_port(static_cast<std::int32_t>(8000 + random.below(2)));
    if (random.chance(0.3)) pod.tolerates("dedicated");
    pod.priority(static_cast<std::int32_t>(random.below(5)) * 10);
    if (random.chance(0.25)) pod.scheduler("packing");
    if (random.chance(0.2)) pod.node_selector("pool", random.chance(0.5) ? "x" : "y");
  };
}

void Churn::crowd() {
  crowded_ = true;
  evicted_go_later_ = true;
  kinds_.clear();
  for (int i = 0; i < 7; ++i) kinds_.push_back(draw_plain_kind());
}

// ---- what can happen ----------------------------------------------------------------------------

void Churn::create_pods() {
  // Mostly siblings in a row; that is what classes are for.
  const Kind& kind = one_of(kinds_);
  const std::uint64_t count = 1 + random_.below(8);
  for (std::uint64_t i = 0; i < count; ++i) {
    testing::PodBuilder pod = world_.pod(fmt::format("p{}", ++made_));
    (random_.chance(0.8) ? kind : one_of(kinds_))(pod);
    engine_->apply({DeltaType::kAdded, pod.build()});
  }
}

Ref<const Pod> Churn::some_placed_pod() {
  std::vector<Ref<const Pod>> pods;
  engine_->cluster().for_each_seen([&](const Ref<const Pod>& pod) {
    if (!pod->node().empty()) pods.push_back(pod);
  });
  if (pods.empty()) return {};
  std::sort(pods.begin(), pods.end(), [](const Ref<const Pod>& a, const Ref<const Pod>& b) {
    return a->full_name() < b->full_name();
  });
  return one_of(pods);
}

void Churn::delete_pod() {
  const std::uint64_t count = 1 + random_.below(4);
  for (std::uint64_t i = 0; i < count; ++i)
    if (const Ref<const Pod> pod = some_placed_pod()) engine_->apply({DeltaType::kDeleted, pod});
}

void Churn::relabel_pod() {
  const Ref<const Pod> pod = some_placed_pod();
  if (!pod) return;
  testing::PodBuilder other = world_.pod(std::string(pod->name()));
  one_of(kinds_)(other);
  PodDraft draft = draft_of(*pod);
  PodDraft labelled = draft_of(*other.in(std::string(pod->namespace_name())).build());
  draft.meta = labelled.meta;
  draft.resource_version = std::to_string(1'000'000 + made_++);
  engine_->apply({DeltaType::kUpdated, make_pod(std::move(draft))});
  ++report_.happened["pod relabelled"];
}

testing::NodeBuilder Churn::draw_node(const std::string& name) {
  testing::NodeBuilder node = world_.node(name);
  node.cpu(fmt::format("{}", 1 + random_.below(8)))
      .memory(fmt::format("{}Gi", 1 + random_.below(16)))
      .allocatable({{"pods", fmt::format("{}", 3 + random_.below(20))}});
  if (!random_.chance(0.05)) node.label(kHost, name);
  if (!random_.chance(0.1)) node.zone(fmt::format("z{}", random_.below(4)));
  if (random_.chance(0.6)) node.label("pool", random_.chance(0.5) ? "x" : "y");
  if (random_.chance(0.15)) node.taint("dedicated", "NoSchedule");
  if (random_.chance(0.15)) node.taint("slow", "PreferNoSchedule");
  if (random_.chance(0.1)) node.cordoned();
  if (random_.chance(0.3)) node.image("img-a:1", 50 << 20);
  if (random_.chance(0.3)) node.image("img-b:1", 700 << 20);
  if (random_.chance(0.3)) node.allocatable({{"example.com/gpu", "2"}});
  return node;
}

void Churn::add_node() {
  const std::string name = fmt::format("n{}", ++made_);
  nodes_.push_back(name);
  engine_->apply({DeltaType::kAdded, Ref<const Object>(draw_node(name).build())});
}

void Churn::remove_node() {
  if (nodes_.size() < 3) return;
  const std::size_t at = random_.below(nodes_.size());
  const NodeTable& nodes = engine_->cluster().nodes();
  const NodeRow row = nodes.find(engine_->cluster().symbols().find(nodes_[at]));
  engine_->apply({DeltaType::kDeleted, Ref<const Object>(nodes.node_ref(row))});
  nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(at));
  ++report_.happened["node removed"];
}

void Churn::change_node() {
  if (nodes_.empty()) return;
  engine_->apply({DeltaType::kUpdated, Ref<const Object>(draw_node(one_of(nodes_)).build())});
  ++report_.happened["node changed"];
}

void Churn::relabel_namespace() {
  SymbolHold hold(world_.interner.symbols());
  const Symbol team = hold.intern("team"), value = hold.intern(random_.chance(0.5) ? "a" : "b");
  const Symbol own_name = hold.intern("");
  auto made = make_ref<Namespace>(std::move(hold));
  made->namespace_name = own_name;
  made->name = one_of(kNamespaces);
  made->labels = LabelSet({{team, value}});
  engine_->apply({DeltaType::kUpdated, Ref<const Object>(made)});
  ++report_.happened["namespace relabelled"];
}

void Churn::change_service() {
  const std::string& app = one_of(kApps);
  SymbolHold hold(world_.interner.symbols());
  const Symbol in = hold.intern(one_of(kNamespaces));
  const Symbol key = hold.intern("app"), value = hold.intern(app);
  auto made = make_ref<Service>(std::move(hold));
  made->namespace_name = in;
  made->name = app;
  made->selector = std::vector<Label>{{key, value}};
  engine_->apply(
      {random_.chance(0.6) ? DeltaType::kAdded : DeltaType::kDeleted, Ref<const Object>(made)});
  ++report_.happened["service changed"];
}

void Churn::change_budget() {
  const std::string& app = one_of(kApps);
  SymbolHold hold(world_.interner.symbols());
  const Symbol in = hold.intern(one_of(kNamespaces));
  const Symbol key = hold.intern("app"), value = hold.intern(app);
  auto made = make_ref<PodDisruptionBudget>(std::move(hold));
  made->namespace_name = in;
  made->name = app;
  made->selector = LabelSelector{{{key, value}}, {}};
  made->disruptions_allowed = static_cast<std::int32_t>(random_.below(3));
  engine_->apply(
      {random_.chance(0.7) ? DeltaType::kAdded : DeltaType::kDeleted, Ref<const Object>(made)});
  ++report_.happened["budget changed"];
}

void Churn::let_evicted_go() {
  for (std::uint64_t left = 1 + random_.below(6); left > 0 && !going_.empty(); --left) {
    if (Ref<const Pod> seen = engine_->cluster().seen_pod(*going_.front()))
      engine_->apply({DeltaType::kDeleted, std::move(seen)});
    going_.pop_front();
  }
}

void Churn::pass_time() { loop_.run_until(loop_.now() + 20s); }

}  // namespace berth::churn
