#include "berth/evaluate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "api/defaulting.h"
#include "api/kinds.h"
#include "api/manifest.h"
#include "embed/frozen_cluster.h"

namespace berth {
namespace {

Rejection rejection_of(const explain::Verdict& verdict) {
  return {verdict.plugin, verdict.code, verdict.reasons};
}

// Why Filter was not asked about a node.
std::optional<Rejection> rejected_by_pre_filter(const explain::PodDecision& decision,
                                                const std::string& node) {
  if (decision.pre_filter) return rejection_of(*decision.pre_filter);
  if (!decision.narrowed || std::ranges::binary_search(decision.narrowed->to, node))
    return std::nullopt;
  return Rejection{.plugin = fmt::format("{}", fmt::join(decision.narrowed->by, ",")),
                   .code = Code::kUnschedulableAndUnresolvable,
                   .reasons = {fmt::format("node(s) didn't satisfy plugin(s) [{}]",
                                           fmt::join(decision.narrowed->by, " "))}};
}

// All nodes by name, with what the decision says about each.
std::vector<NodeVerdict> node_verdicts(const explain::PodDecision& decision,
                                       const NodeTable& nodes) {
  std::map<std::string, NodeVerdict> by_name;
  nodes.nodes().for_each([&](NodeRow row) {
    std::string name(nodes.name_text(row));
    by_name[name].node = name;
  });
  for (const auto& [name, verdict] : decision.rejected)
    by_name[name].rejections.push_back(rejection_of(verdict));
  for (const auto& [name, others] : decision.also_rejected)
    std::ranges::transform(others, std::back_inserter(by_name[name].rejections), rejection_of);
  for (const auto& [name, total] : decision.totals) {
    by_name[name].score = total;
    by_name[name].by_plugin = decision.scores.at(name);
  }
  std::vector<NodeVerdict> verdicts;
  for (auto& [name, verdict] : by_name) {
    if (std::optional<Rejection> by_pre_filter = rejected_by_pre_filter(decision, name))
      verdict.rejections.insert(verdict.rejections.begin(), *std::move(by_pre_filter));
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Verdict verdict_of(explain::PodDecision decision, const NodeTable& nodes) {
  Verdict verdict;
  verdict.pod = std::move(decision.pod);
  if (!decision.error.empty()) {
    verdict.message = std::move(decision.error);
    return verdict;
  }
  verdict.nodes = node_verdicts(decision, nodes);
  verdict.node = std::move(decision.chosen);
  verdict.message = std::move(decision.message);
  if (decision.preempt && !decision.preempt->node.empty())
    verdict.preemption = Verdict::Preemption{std::move(decision.preempt->node),
                                             std::move(decision.preempt->victims)};
  return verdict;
}

Admission admission_in(const FrozenCluster& frozen, WallTime now) {
  Admission admission;
  admission.now = now;
  for (const auto& [key, object] : frozen.objects)
    if (std::get<ObjectKind>(key) == ObjectKind::kPriorityClass)
      admission.priority_classes[std::get<2>(key)] = Ref<const PriorityClass>(
          static_cast<const PriorityClass*>(std::get<Ref<const Object>>(object).get()));
  return admission;
}

// The objects of a manifest as an API server would store them.
Result<std::vector<AnyObject>> read_objects(std::string_view manifest, const FrozenCluster& frozen,
                                            WallTime now) {
  Result<std::vector<ManifestObject>> read = read_manifest(manifest, "manifest", *frozen.interner);
  if (!read) return fail(read.error());
  Admission admission = admission_in(frozen, now);
  if (Result<void> admitted = admit_all(*read, *frozen.interner, admission); !admitted)
    return fail(admitted.error());
  std::vector<AnyObject> objects;
  for (ManifestObject& object : *read) objects.push_back(std::move(object.object));
  return objects;
}

}  // namespace

void FrozenCluster::put(AnyObject any) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&any)) {
    Key key(ObjectKind::kPod, (*pod)->namespace_name(), (*pod)->name());
    objects.insert_or_assign(std::move(key), std::move(any));
  } else if (const auto* object = std::get_if<Ref<const Object>>(&any)) {
    Key key((*object)->kind, (*object)->symbols.text((*object)->namespace_name), (*object)->name);
    objects.insert_or_assign(std::move(key), std::move(any));
  }
}

Result<Evaluator> Evaluator::Parts::make_evaluator(FrozenCluster frozen) {
  explain::EvaluatorOptions options;
  options.configuration = frozen.settings.configuration;
  options.gates = frozen.settings.gates;
  options.profile = frozen.question.profile;
  options.preempt = frozen.question.preempt;
  options.all_rejections = frozen.question.all_rejections;
  Result<std::unique_ptr<explain::Evaluator>> search =
      explain::Evaluator::make(*frozen.interner, frozen.plugins, std::move(options));
  if (!search) return fail(search.error());
  std::vector<AnyObject> objects;
  objects.reserve(frozen.objects.size());
  for (const auto& [key, object] : frozen.objects) objects.push_back(object);
  if (Result<void> loaded = (*search)->load(objects); !loaded) return fail(loaded.error());
  return Evaluator(std::make_unique<Parts>(std::move(frozen), std::move(*search)));
}

Result<Verdict> Evaluator::Parts::judge(Ref<const Pod> pod, bool stays) {
  Result<AnyObject> admitted =
      admit(std::move(pod), *cluster.interner, admission_in(cluster, search->now()));
  if (!admitted) return fail(admitted.error());
  const auto& asked = std::get<Ref<const Pod>>(*admitted);
  const Ref<const Pod> known = search->cluster().seen_pod(*asked);
  if (!asked->node().empty() || (known && search->cluster().placed(known->uid())))
    return fail(ErrorKind::kConflict, fmt::format("pod {} has a node already", asked->full_name()));
  Verdict verdict = verdict_of(search->decide(asked, stays), search->cluster().nodes());
  if (stays && verdict.fits()) cluster.put(with_node(*asked, verdict.node));
  return verdict;
}

Result<std::vector<Verdict>> Evaluator::Parts::judge(std::string_view pods, bool stays) {
  Result<std::vector<AnyObject>> objects = read_objects(pods, cluster, search->now());
  if (!objects) return fail(objects.error());
  for (const AnyObject& object : *objects)
    if (!std::holds_alternative<Ref<const Pod>>(object))
      return fail(ErrorKind::kInvalid, "only pods can be asked about");
  std::vector<Verdict> verdicts;
  for (AnyObject& object : *objects) {
    Result<Verdict> verdict = judge(std::get<Ref<const Pod>>(std::move(object)), stays);
    if (!verdict) return fail(verdict.error());
    verdicts.push_back(std::move(*verdict));
  }
  return verdicts;
}

// ---- the door

Evaluator::Evaluator(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Result<Evaluator> Evaluator::make(Options options) {
  auto interner = std::make_shared<Interner>();
  Result<Settings> settings =
      read_settings(options.configuration, options.feature_gates, *interner);
  if (!settings) return fail(settings.error());
  return Parts::make_evaluator({.interner = std::move(interner),
                                .plugins = std::move(options.plugins),
                                .settings = std::move(*settings),
                                .question = std::move(options.question)});
}

Result<Evaluator> Evaluator::with(std::string_view manifest) const {
  Result<std::vector<AnyObject>> objects =
      read_objects(manifest, parts_->cluster, parts_->search->now());
  if (!objects) return fail(objects.error());
  FrozenCluster changed = parts_->cluster;
  for (AnyObject& object : *objects) changed.put(std::move(object));
  return Parts::make_evaluator(std::move(changed));
}

Result<Evaluator> Evaluator::with(std::vector<AnyObject> objects) const {
  FrozenCluster changed = parts_->cluster;
  for (AnyObject& object : objects) {
    const Admission admission = admission_in(changed, parts_->search->now());
    Result<AnyObject> admitted = admit(std::move(object), *changed.interner, admission);
    if (!admitted) return fail(admitted.error());
    changed.put(std::move(*admitted));
  }
  return Parts::make_evaluator(std::move(changed));
}

Result<Evaluator> Evaluator::without(ObjectKind kind, std::string_view namespace_name,
                                     std::string_view name) const {
  FrozenCluster changed = parts_->cluster;
  if (changed.objects.erase({kind, std::string(namespace_name), std::string(name)}) == 0)
    return fail(ErrorKind::kNotFound, fmt::format("{} \"{}\" not found", to_string(kind), name));
  return Parts::make_evaluator(std::move(changed));
}

Result<std::vector<Verdict>> Evaluator::evaluate(std::string_view pods) {
  return parts_->judge(pods, /*stays=*/false);
}
Result<Verdict> Evaluator::evaluate(Ref<const Pod> pod) {
  return parts_->judge(std::move(pod), /*stays=*/false);
}
Result<std::vector<Verdict>> Evaluator::place(std::string_view pods) {
  return parts_->judge(pods, /*stays=*/true);
}
Result<Verdict> Evaluator::place(Ref<const Pod> pod) {
  return parts_->judge(std::move(pod), /*stays=*/true);
}

std::vector<Ref<const Pod>> Evaluator::pending() const {
  std::vector<Ref<const Pod>> pods;
  for (const auto& [key, object] : parts_->cluster.objects)
    if (const auto* pod = std::get_if<Ref<const Pod>>(&object);
        pod && (*pod)->node().empty() && !(*pod)->finished())
      pods.push_back(*pod);
  return pods;
}

Interner& Evaluator::interner() { return *parts_->cluster.interner; }

}  // namespace berth
