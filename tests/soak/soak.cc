#include "soak.h"

#include <fmt/format.h>

#include "api/decode.h"
#include "base/check.h"
#include "base/testing/allocations.h"
#include "berth/pod.h"
#include "config/load.h"
#include "plugins/table.h"

namespace berth::soak {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNodes = 40, kPods = 250, kOthers = 20;
// Numbers in names have as many digits on the last day as on the first.
constexpr std::uint64_t kFirstNumber = 1'000'000;
constexpr std::string_view kPlainNode = R"("status":{"allocatable":{"cpu":"4","pods":"9"}})";
constexpr const char* kPlainPod =
    R"("spec":{"schedulerName":"default-scheduler","containers":[{"name":"c"}]})";
constexpr const char* kLargePod =
    R"("spec":{"schedulerName":"default-scheduler","containers":[{"name":"c","resources":)"
    R"({"requests":{"cpu":"99"}}}]})";

std::string object(std::string_view api_version, std::string_view kind, std::string_view name,
                   std::string_view namespace_name, std::string_view rest,
                   std::string_view labels = {}) {
  return fmt::format(
      R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"{}","namespace":"{}","uid":"{}-{}",)"
      R"("resourceVersion":"1","labels":{{{}}}}},{}}})",
      api_version, kind, name, namespace_name, kind, name, labels, rest);
}

}  // namespace

Soak::Soak(std::uint64_t seed, bool new_resources)
    : seed_(seed),
      random_(seed),
      plugins_(plugins::make_plugin_table()),
      new_resources_(new_resources),
      made_(kFirstNumber) {
  EngineOptions options;
  options.seed = seed;
  options.configuration = config::default_configuration(options.gates);
  engine_ = Engine::make(loop_, interner_, plugins_, api_, *this, std::move(options)).value();
  objects_.serve(engine_->cluster(), [this](Delta delta) { engine_->apply(std::move(delta)); });
  objects_.next_version(std::to_string(kFirstNumber));
  engine_->start();
  while (nodes_.size() < kNodes) add_node();
}

Soak::~Soak() { engine_.reset(); }

void Soak::decided(const Decision& decision) {
  ++decisions_;
  if (decision.outcome.ok()) ++placed_;
}

void Soak::apply(DeltaType type, const std::string& json) {
  Result<AnyObject> decoded = decode_object(json, interner_, nullptr);
  BERTH_CHECK(decoded.has_value());
  engine_->apply({type, *std::move(decoded)});
}

void Soak::replace(std::deque<std::string>& kind, std::string json, std::size_t kept) {
  apply(DeltaType::kAdded, json);
  kind.push_back(std::move(json));
  if (kind.size() > kept) forget_oldest(kind);
}

void Soak::forget_oldest(std::deque<std::string>& kind) {
  apply(DeltaType::kDeleted, kind.front());
  kind.pop_front();
}

// A node that offers something of its own. Some of its pods are still there when it goes.
void Soak::add_node() {
  const std::uint64_t id = ++made_;
  const std::uint64_t nth = ++made_today_;
  const std::string name = fmt::format("n{}", id);
  const std::string offers =
      fmt::format(R"({{"cpu":"16","memory":"64Gi","pods":"30","example.com/r{}":"4"}})",
                  new_resources_ ? id : nth % 5);
  replace(nodes_,
          object("v1", "Node", name, "",
                 fmt::format(R"("spec":{{"taints":[{{"key":"t{}","effect":"PreferNoSchedule"}}]}},)"
                             R"("status":{{"allocatable":{},"capacity":{},)"
                             R"("images":[{{"names":["registry/i{}:1"],"sizeBytes":99999999}}]}})",
                             id, offers, offers, id),
                 fmt::format(R"("kubernetes.io/hostname":"{}","topology.kubernetes.io/zone":"z{}",)"
                             R"("rack{}":"r{}")",
                             name, nth % 5, nth % 7, id)),
          kNodes);
  replace(
      slices_,
      object("resource.k8s.io/v1", "ResourceSlice", fmt::format("slice{}", id), "",
             fmt::format(R"("spec":{{"driver":"d{}.example.com","nodeName":"{}","pool":)"
                         R"({{"name":"{}","generation":1,"resourceSliceCount":1}},)"
                         R"("devices":[{{"name":"dev{}","attributes":{{"a{}":{{"int":1}}}}}}]}})",
                         id, name, name, id, id)),
      kNodes);
}

// What pods of a workload have beside containers.
std::string Soak::draw_spec(std::uint64_t id, std::uint64_t nth) {
  const std::string selector =
      fmt::format(R"("labelSelector":{{"matchLabels":{{"app":"a{}"}}}})", id);
  std::string spec;
  std::string affinity;
  if (random_.chance(0.3))
    affinity += fmt::format(
        R"("podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{{)"
        R"("topologyKey":"{}",{}}}]}},)",
        random_.chance(0.5) ? "kubernetes.io/hostname" : fmt::format("key{}", id), selector);
  if (random_.chance(0.3))
    affinity += fmt::format(
        R"("podAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":5,)"
        R"("podAffinityTerm":{{"topologyKey":"{}",{}}}}}]}},)",
        random_.chance(0.5) ? "topology.kubernetes.io/zone" : fmt::format("key{}", id), selector);
  if (random_.chance(0.3))
    affinity += fmt::format(
        R"("nodeAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":5,)"
        R"("preference":{{"matchExpressions":[{{"key":"rack{}","operator":"NotIn",)"
        R"("values":["v{}"]}}]}}}}]}},)",
        nth % 9, id);
  if (!affinity.empty()) {
    affinity.pop_back();
    spec += fmt::format(R"(,"affinity":{{{}}})", affinity);
  }
  if (random_.chance(0.3))
    spec += fmt::format(
        R"(,"topologySpreadConstraints":[{{"maxSkew":2,"topologyKey":"{}",)"
        R"("whenUnsatisfiable":"ScheduleAnyway",{}}}])",
        random_.chance(0.5) ? "topology.kubernetes.io/zone" : fmt::format("key{}", id), selector);
  if (random_.chance(0.3))
    spec += fmt::format(R"(,"tolerations":[{{"key":"t{}","operator":"Exists"}}])", id);
  if (nth % 10 == 3) spec += fmt::format(R"(,"nodeSelector":{{"only{}":"x"}})", id);
  if (random_.chance(0.2)) spec += fmt::format(R"(,"priority":{})", random_.below(3));
  return spec;
}

void Soak::add_pod(const std::string& name, const std::string& namespace_name,
                   const std::string& labels, const std::string& rest) {
  apply(DeltaType::kAdded, object("v1", "Pod", name, namespace_name, rest, labels));
  pods_.emplace_back(namespace_name, name);
  if (pods_.size() > kPods) remove_oldest_pod();
}

void Soak::remove_oldest_pod() {
  if (Ref<const Pod> seen = engine_->cluster().seen_pod(pods_.front().first, pods_.front().second))
    engine_->apply({DeltaType::kDeleted, std::move(seen)});
  pods_.pop_front();
}

void Soak::add_workload() {
  const std::uint64_t id = ++made_;
  const std::uint64_t nth = ++made_today_;
  const std::string space = random_.chance(0.5) ? "default" : fmt::format("s{}", id);
  if (space != "default")
    replace(
        namespaces_,
        object("v1", "Namespace", space, "", R"("spec":{})", fmt::format(R"("team{}":"x")", id)),
        kOthers);
  std::string spec = draw_spec(id, nth);
  if (random_.chance(0.2)) {
    replace(
        volumes_,
        object("v1", "PersistentVolume", fmt::format("pv{}", id), "",
               fmt::format(R"("spec":{{"capacity":{{"storage":"1Gi"}},"accessModes":)"
                           R"(["ReadWriteOnce"],"storageClassName":"","csi":{{"driver":"csi{}",)"
                           R"("volumeHandle":"h{}"}},"claimRef":{{"namespace":"{}","name":)"
                           R"("claim{}","uid":"PersistentVolumeClaim-claim{}"}}}},)"
                           R"("status":{{"phase":"Bound"}})",
                           id, id, space, id, id)),
        kOthers);
    replace(claims_,
            object("v1", "PersistentVolumeClaim", fmt::format("claim{}", id), space,
                   fmt::format(R"("spec":{{"accessModes":["ReadWriteOnce"],"storageClassName":"",)"
                               R"("resources":{{"requests":{{"storage":"1Gi"}}}},"volumeName":)"
                               R"("pv{}"}},"status":{{"phase":"Bound"}})",
                               id),
                   {}),
            kOthers);
    spec += fmt::format(
        R"(,"volumes":[{{"name":"v","persistentVolumeClaim":{{"claimName":"claim{}"}}}}])", id);
  }
  if (random_.chance(0.2))
    replace(services_,
            object("v1", "Service", fmt::format("svc{}", id), space,
                   fmt::format(R"("spec":{{"selector":{{"app":"a{}"}}}})", id)),
            kOthers);
  if (random_.chance(0.2))
    replace(budgets_,
            object("policy/v1", "PodDisruptionBudget", fmt::format("pdb{}", id), space,
                   fmt::format(R"("spec":{{"selector":{{"matchLabels":{{"app":"a{}"}}}}}},)"
                               R"("status":{{"disruptionsAllowed":1}})",
                               id)),
            kOthers);
  const std::string extended =
      nth % 5 == 0 ? fmt::format(R"(,"example.com/r{}":"1")",
                                 new_resources_ ? id - random_.below(9) : random_.below(5))
                   : "";
  const std::string port =
      random_.chance(0.1)
          ? fmt::format(R"(,"ports":[{{"containerPort":1,"hostPort":{}}}])", 1 + nth)
          : "";
  const std::string cpu = fmt::format("{}m", 100 + random_.below(2000));
  const std::string node = random_.chance(0.05) ? fmt::format(R"(,"nodeName":"ghost{}")", id) : "";
  const std::uint64_t count = 1 + nth % 4;
  for (std::uint64_t i = 0; i < count; ++i)
    add_pod(
        fmt::format("p{}-{}", id, i), space,
        fmt::format(R"("app":"a{}","key{}":"value{}")", id, id, id),
        fmt::format(R"("spec":{{"schedulerName":"default-scheduler","containers":[{{"name":"c",)"
                    R"("image":"registry/i{}:1",)"
                    R"("resources":{{"requests":{{"cpu":"{}"{}}}}}{}}}]{}{}}})",
                    id, cpu, extended, port, spec, node));
}

void Soak::next_hour() {
  if (hours_++ % 24 == 0) {
    random_ = Random(seed_);
    made_today_ = 0;
  }
  add_node();
  for (int i = 0; i < 8; ++i) {
    add_workload();
    loop_.run_until(loop_.now() + 7min);
  }
  loop_.run_until(loop_.now() + 4min);
}

Held Soak::now() const {
  return {testing::live_bytes(), interner_.symbols()->size(), engine_->cluster().nodes().rows(),
          interner_.spec_count(), pods_.size()};
}

Held Soak::run(int hours) {
  Held sum;
  for (int i = 0; i < hours; ++i) {
    next_hour();
    const Held held = now();
    sum.bytes += held.bytes;
    sum.symbols += held.symbols;
    sum.rows += held.rows;
    sum.specs += held.specs;
    sum.pods += held.pods;
  }
  const auto all = static_cast<std::size_t>(hours);
  return {sum.bytes / all, sum.symbols / all, sum.rows / all, sum.specs / all, sum.pods / all};
}

Held Soak::start_over() {
  while (!pods_.empty()) remove_oldest_pod();
  for (std::deque<std::string>* kind :
       {&nodes_, &namespaces_, &claims_, &volumes_, &slices_, &services_, &budgets_})
    while (!kind->empty()) forget_oldest(*kind);
  const std::string nodes[] = {object("v1", "Node", "a", "", kPlainNode),
                               object("v1", "Node", "b", "", kPlainNode)};
  for (const std::string& node : nodes) apply(DeltaType::kAdded, node);
  const auto try_some = [this](int count, const char* spec) {
    for (int i = 0; i < count; ++i) {
      add_pod(fmt::format("plain{}", i), "default", "", spec);
      loop_.run_until(loop_.now() + 1s);
      remove_oldest_pod();
    }
  };
  try_some(17'500, kPlainPod);  // answers are kept for 16,384 cycles
  try_some(500, kLargePod);     // preemption forgets when it is asked
  try_some(2'000, kPlainPod);   // specs that nobody has go after some hundred others
  const Held held = now();
  for (const std::string& node : nodes) apply(DeltaType::kDeleted, node);
  try_some(1, kPlainPod);  // rows are given back when a cycle begins
  return held;
}

}  // namespace berth::soak
