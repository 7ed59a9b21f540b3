#include "api/testing/builders.h"

#include <algorithm>

#include "base/check.h"

namespace berth::testing {
namespace {

Quantity quantity(const std::string& text) {
  Result<Quantity> parsed = Quantity::parse(text);
  BERTH_CHECK(parsed.has_value());
  return *parsed;
}

TaintEffect effect_of(const std::string& text) {
  if (text.empty()) return TaintEffect::kAny;
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  BERTH_CHECK(text == "NoExecute");
  return TaintEffect::kNoExecute;
}

std::string numbered(const char* prefix, std::size_t number) {
  return std::string(prefix).append(std::to_string(number));
}

}  // namespace

PodBuilder::PodBuilder(Interner& interner, std::string name)
    : interner_(interner), spec_(interner.hold()), name_(std::move(name)) {
  spec_.scheduler_name = symbol("default-scheduler");
}

PodBuilder& PodBuilder::in(std::string namespace_name) {
  namespace_ = std::move(namespace_name);
  return *this;
}
PodBuilder& PodBuilder::uid(std::string uid) {
  uid_ = std::move(uid);
  return *this;
}
PodBuilder& PodBuilder::label(std::string key, std::string value) {
  labels_.emplace_back(std::move(key), std::move(value));
  return *this;
}
PodBuilder& PodBuilder::controlled_by(std::string api_version, std::string kind, std::string name) {
  controller_ = {std::move(api_version), std::move(kind), std::move(name)};
  return *this;
}

ResourceList PodBuilder::amounts(const Amounts& amounts) {
  ResourceList list;
  for (const auto& [name, amount] : amounts) list.set(symbol(name), quantity(amount));
  return list;
}

void PodBuilder::ensure_container(PodSpec& spec) {
  if (!spec.containers.empty()) return;
  Container container;
  container.name = spec.symbols.intern("main");
  container.image = spec.symbols.intern("app");
  spec.containers.push_back(std::move(container));
}

PodBuilder& PodBuilder::request(std::string resource, std::string amount) {
  ensure_container(spec_);
  spec_.containers.front().requests.set(symbol(resource), quantity(amount));
  return *this;
}
PodBuilder& PodBuilder::image(std::string image) {
  ensure_container(spec_);
  spec_.containers.back().image = symbol(image);
  return *this;
}
PodBuilder& PodBuilder::container(const Amounts& requests) {
  Container container;
  container.name = symbol(numbered("c", spec_.containers.size()));
  container.requests = amounts(requests);
  spec_.containers.push_back(std::move(container));
  return *this;
}
PodBuilder& PodBuilder::init_container(const Amounts& requests) {
  Container container;
  container.name = symbol(numbered("i", spec_.init_containers.size()));
  container.requests = amounts(requests);
  spec_.init_containers.push_back(std::move(container));
  return *this;
}
PodBuilder& PodBuilder::sidecar(const Amounts& requests) {
  init_container(requests);
  spec_.init_containers.back().restart_always = true;
  return *this;
}
PodBuilder& PodBuilder::pod_level(const Amounts& requests) {
  spec_.pod_requests = amounts(requests);
  return *this;
}
PodBuilder& PodBuilder::overhead(const Amounts& overhead) {
  spec_.overhead = amounts(overhead);
  return *this;
}
PodBuilder& PodBuilder::host_port(std::int32_t port, std::string protocol, std::string ip) {
  ensure_container(spec_);
  spec_.containers.front().ports.push_back({port, port, symbol(protocol), symbol(ip)});
  return *this;
}
PodBuilder& PodBuilder::priority(std::int32_t priority) {
  spec_.priority = priority;
  return *this;
}
PodBuilder& PodBuilder::never_preempts() {
  spec_.preemption_policy = PreemptionPolicy::kNever;
  return *this;
}
PodBuilder& PodBuilder::gate(std::string name) {
  spec_.scheduling_gates.push_back(symbol(name));
  return *this;
}
PodBuilder& PodBuilder::tolerates(std::string key, std::string effect, std::string value) {
  Toleration toleration;
  toleration.key = symbol(key);
  toleration.value = symbol(value);
  toleration.op = value.empty() ? TolerationOperator::kExists : TolerationOperator::kEqual;
  toleration.effect = effect_of(effect);
  return this->toleration(toleration);
}
PodBuilder& PodBuilder::toleration(Toleration toleration) {
  spec_.tolerations.push_back(toleration);
  return *this;
}
PodBuilder& PodBuilder::node_selector(std::string key, std::string value) {
  spec_.node_selector.push_back({symbol(key), symbol(value)});
  return *this;
}
PodBuilder& PodBuilder::scheduler(std::string name) {
  spec_.scheduler_name = symbol(name);
  return *this;
}
PodBuilder& PodBuilder::group(std::string pod_group) {
  spec_.scheduling_group = symbol(pod_group);
  return *this;
}
PodBuilder& PodBuilder::on(std::string node) {
  node_ = std::move(node);
  return *this;
}
PodBuilder& PodBuilder::nominated(std::string node) {
  nominated_ = std::move(node);
  return *this;
}
PodBuilder& PodBuilder::phase(PodPhase phase) {
  phase_ = phase;
  return *this;
}
PodBuilder& PodBuilder::version(std::string resource_version) {
  version_ = std::move(resource_version);
  return *this;
}
PodBuilder& PodBuilder::generation(std::int64_t generation) {
  generation_ = generation;
  return *this;
}
PodBuilder& PodBuilder::created(WallTime time) {
  created_ = time;
  return *this;
}
PodBuilder& PodBuilder::started(WallTime time) {
  started_ = time;
  return *this;
}
PodBuilder& PodBuilder::deleted(WallTime time) {
  deleted_ = time;
  return *this;
}
PodBuilder& PodBuilder::condition(PodCondition condition) {
  conditions_.push_back(std::move(condition));
  return *this;
}

Ref<const Pod> PodBuilder::build() const {
  PodMeta meta(interner_.hold());
  meta.namespace_name = meta.symbols.intern(namespace_);
  std::vector<Label> labels;
  for (const auto& [key, value] : labels_)
    labels.push_back({meta.symbols.intern(key), meta.symbols.intern(value)});
  meta.labels = LabelSet(std::move(labels));
  if (!controller_.empty())
    meta.controller = {meta.symbols.intern(controller_[0]), meta.symbols.intern(controller_[1]),
                       meta.symbols.intern(controller_[2])};
  PodSpec spec(spec_);
  ensure_container(spec);
  std::ranges::sort(spec.node_selector);

  PodDraft draft;
  draft.name = name_;
  draft.uid = uid_.empty() ? "uid-" + namespace_ + "-" + name_ : uid_;
  draft.meta = interner_.share(std::move(meta));
  draft.spec = interner_.share(std::move(spec));
  draft.node_name = node_;
  draft.nominated_node_name = nominated_;
  draft.resource_version = version_;
  draft.generation = generation_;
  draft.phase = phase_;
  draft.creation_time = created_;
  draft.start_time = started_;
  draft.deletion_time = deleted_;
  if (!conditions_.empty()) {
    draft.extra = std::make_unique<PodExtra>(interner_.hold());
    draft.extra->conditions = conditions_;
  }
  return make_pod(std::move(draft));
}

NodeBuilder::NodeBuilder(Interner& interner, std::string name) : node_(interner.hold()) {
  node_.symbol = node_.symbols.intern(name);
  node_.uid = "uid-" + name;
  node_.resource_version = std::string("1");
  node_.name = std::move(name);
  label("kubernetes.io/hostname", node_.name);
  allocatable({{"cpu", "4"}, {"memory", "16Gi"}, {"pods", "110"}});
}

NodeBuilder& NodeBuilder::allocatable(const Amounts& amounts) {
  for (const auto& [name, amount] : amounts)
    node_.allocatable.set(node_.symbols.intern(name), quantity(amount));
  return *this;
}
NodeBuilder& NodeBuilder::label(std::string key, std::string value) {
  labels_.push_back({node_.symbols.intern(key), node_.symbols.intern(value)});
  return *this;
}
NodeBuilder& NodeBuilder::zone(std::string zone) {
  return label("topology.kubernetes.io/zone", std::move(zone));
}
NodeBuilder& NodeBuilder::region(std::string region) {
  return label("topology.kubernetes.io/region", std::move(region));
}
NodeBuilder& NodeBuilder::taint(std::string key, std::string effect, std::string value) {
  node_.taints.push_back(
      {node_.symbols.intern(key), node_.symbols.intern(value), effect_of(effect)});
  return *this;
}
NodeBuilder& NodeBuilder::cordoned(bool cordoned) {
  node_.unschedulable = cordoned;
  return *this;
}
NodeBuilder& NodeBuilder::image(std::string name, std::int64_t size_bytes) {
  node_.images.push_back({{node_.symbols.intern(name)}, size_bytes});
  return *this;
}
NodeBuilder& NodeBuilder::feature(std::string declared) {
  node_.declared_features.push_back(node_.symbols.intern(declared));
  return *this;
}
NodeBuilder& NodeBuilder::condition(std::string type, std::string status) {
  node_.conditions.push_back({node_.symbols.intern(type), node_.symbols.intern(status)});
  return *this;
}
NodeBuilder& NodeBuilder::annotation(std::string key, std::string value) {
  annotations_.push_back({node_.symbols.intern(key), node_.symbols.intern(value)});
  return *this;
}
NodeBuilder& NodeBuilder::version(std::string resource_version) {
  node_.resource_version = std::move(resource_version);
  return *this;
}

Ref<const Node> NodeBuilder::build() const {
  auto node = make_ref<Node>(node_);
  node->labels = LabelSet(labels_);
  node->annotations = LabelSet(annotations_);
  node->allocatable_resources = to_resources(node->allocatable, *node->symbols.table());
  return node;
}

}  // namespace berth::testing
