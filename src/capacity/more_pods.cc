#include "capacity/more_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/claim_template.h"
#include "api/defaulting.h"
#include "base/stable_sort.h"
#include "berth/search_trace.h"

namespace berth::capacity {
namespace {

// A shortage of a resource, or of room for one more pod.
bool is_about_amounts(const Obstacle& obstacle) {
  return obstacle.code == "InsufficientResource" || obstacle.code == "TooManyPods";
}

// What one node lacks, each thing once.
using LackKey = std::pair<std::string, std::string>;  // plugin, subject
std::map<LackKey, bool> lacks_of(const SearchTrace::Objections& objections) {
  std::map<LackKey, bool> lacks;
  for (const SearchTrace::Objection& objection : objections.by) {
    const std::string& plugin = objection.outcome.plugin;
    for (const Obstacle& obstacle : objection.obstacles) {
      const bool about_pods = obstacle.code == "TooManyPods";
      const std::string& named = obstacle.subject.empty() ? obstacle.reason : obstacle.subject;
      lacks.emplace(LackKey(plugin, about_pods ? "pods" : named), is_about_amounts(obstacle));
    }
    if (objection.obstacles.empty())
      lacks.emplace(LackKey(plugin, objection.outcome.message()), false);
  }
  return lacks;
}

void add_objections(const SearchTrace& trace, Ending& ending) {
  std::map<LackKey, Lack> lacks;
  for (const SearchTrace::Objections& objections : trace.objections) {
    std::set<std::string> plugins;
    for (const SearchTrace::Objection& objection : objections.by)
      plugins.insert(objection.outcome.plugin);
    for (const std::string& plugin : plugins) ++ending.plugins[plugin];
    const std::map<LackKey, bool> of_node = lacks_of(objections);
    for (const auto& [key, resource] : of_node) {
      Lack& lack = lacks[key];
      lack.plugin = key.first;
      lack.subject = key.second;
      lack.resource = resource;
      ++lack.nodes;
      if (of_node.size() == 1) ++lack.alone;
    }
  }
  for (auto& [key, lack] : lacks) ending.lacks.push_back(std::move(lack));
  sort_stably(ending.lacks, [](const Lack& a, const Lack& b) {
    return std::pair(a.alone, a.nodes) > std::pair(b.alone, b.nodes);
  });
}

}  // namespace

Result<MoreFit> MorePods::place(const std::vector<Shape>& shapes,
                                std::optional<std::int64_t> most) {
  for (const Shape& shape : shapes)
    if (Result<void> checked = check(shape); !checked) return fail(checked.error());
  MoreFit fit;
  fit.nodes = evaluator_.cluster().nodes().node_count();
  for (const Shape& shape : shapes) fit.shapes.push_back({shape.name, shape.in_round, 0, {}});
  bool goes_on = !shapes.empty();
  while (goes_on) {
    for (std::size_t i = 0; i < shapes.size() && goes_on; ++i)
      for (std::int64_t n = 0; n < shapes[i].in_round && goes_on; ++n) {
        if (most && fit.pods == *most) {
          fit.ending.type = Ending::Type::kLimitReached;
          fit.ending.message = fmt::format("maximum number of pods placed: {}", *most);
          goes_on = false;
        } else if (place_one(shapes[i], fit.shapes[i], fit.ending)) {
          ++fit.pods;
        } else {
          goes_on = false;
        }
      }
    if (goes_on) ++fit.rounds;
  }
  take_back();
  return fit;
}

Result<void> MorePods::check(const Shape& shape) const {
  for (const Volume& volume : shape.pod->spec().volumes)
    if (volume.source == VolumeSource::kEphemeral)
      return fail(
          ErrorKind::kInvalid,
          fmt::format("pod {} has a generic ephemeral volume: a claim would have to be made "
                      "for every pod, which is not done here",
                      shape.name));
  for (const PodResourceClaim& entry : shape.pod->spec().resource_claims)
    if (!entry.template_name.empty() && !template_of(*shape.pod, entry))
      return fail(ErrorKind::kNotFound,
                  fmt::format("pod {} names the ResourceClaimTemplate \"{}\", which is not there",
                              shape.name, shape.pod->text(entry.template_name)));
  return {};
}

Ref<const ResourceClaimTemplate> MorePods::template_of(const Pod& pod,
                                                       const PodResourceClaim& entry) const {
  return Ref<const ResourceClaimTemplate>(static_cast<const ResourceClaimTemplate*>(
      evaluator_.cluster()
          .find(ObjectKind::kResourceClaimTemplate, pod.namespace_name(),
                pod.text(entry.template_name))
          .get()));
}

// A pod of the shape with a name and a UID of its own, and the claims that its controller would make.
MorePods::NextPod MorePods::next_pod(const Shape& shape) {
  NextPod next;
  PodDraft draft;
  draft.name = fmt::format("{}-more-{}", shape.pod->name(), ++made_);
  draft.uid = deterministic_uid("Pod", shape.pod->namespace_name(), draft.name);
  draft.meta = shape.pod->meta_ref();
  draft.spec = shape.pod->spec_ref();
  draft.resource_version = "1";
  draft.creation_time = evaluator_.now();
  if (std::ranges::none_of(draft.spec->resource_claims,
                           [](const auto& entry) { return !entry.template_name.empty(); })) {
    next.pod = make_pod(std::move(draft));
    return next;
  }
  draft.extra = std::make_unique<PodExtra>(evaluator_.interner().hold());
  for (const PodResourceClaim& entry : shape.pod->spec().resource_claims) {
    if (entry.template_name.empty()) continue;
    PodDraft named;
    named.name = draft.name;
    named.uid = draft.uid;
    named.meta = draft.meta;
    named.spec = draft.spec;
    const Ref<ResourceClaim> claim =
        claim_from_template(*make_pod(std::move(named)), entry, *template_of(*shape.pod, entry),
                            evaluator_.interner(), evaluator_.now());
    claim->uid = deterministic_uid("ResourceClaim", shape.pod->namespace_name(), claim->name);
    claim->resource_version = "1";
    draft.extra->resource_claim_statuses.push_back(
        {std::string(shape.pod->text(entry.name)), claim->name});
    next.claims.emplace_back(claim);
  }
  next.pod = make_pod(std::move(draft));
  return next;
}

void MorePods::put_claims(const NextPod& next) {
  for (const Ref<const Object>& claim : next.claims) {
    evaluator_.put(claim);
    claims_.push_back(claim);
  }
}

MorePods::PlacedPod MorePods::place_next(const Shape& shape) {
  NextPod next = next_pod(shape);
  put_claims(next);
  explain::Evaluator::Placed where = evaluator_.place(next.pod);
  return {std::move(next.pod), std::move(where)};
}

bool MorePods::place_one(const Shape& shape, ShapeCount& count, Ending& ending) {
  const PlacedPod placed = place_next(shape);
  const Outcome& outcome = placed.where.outcome;
  if (outcome.ok()) {
    ++count.pods;
    ++count.by_node[std::string(evaluator_.cluster().nodes().name_text(placed.where.row))];
    return true;
  }
  ending.shape = shape.name;
  ending.message = outcome.message();
  ending.type =
      outcome.rejected() || outcome.fit_error ? Ending::Type::kUnschedulable : Ending::Type::kError;
  if (const FitError* error = outcome.fit_error.get()) ending.reasons = error->reasons;
  find_out(placed.pod, ending);
  return false;
}

Result<std::int64_t> MorePods::count(const Shape& shape, std::int64_t most) {
  if (Result<void> checked = check(shape); !checked) return fail(checked.error());
  std::int64_t pods = 0;
  while (pods < most && place_next(shape).where.outcome.ok()) ++pods;
  take_back();
  return pods;
}

Result<NodeSet> MorePods::feasible(const Shape& shape) {
  if (Result<void> checked = check(shape); !checked) return fail(checked.error());
  const NextPod next = next_pod(shape);
  put_claims(next);
  NodeSet rows = evaluator_.feasible(next.pod);
  take_back();
  return rows;
}

// Every plugin is asked what it has against each node, not only the first that rejects it.
void MorePods::find_out(const Ref<const Pod>& pod, Ending& ending) {
  if (ending.type == Ending::Type::kError) return;
  add_objections(evaluator_.trace(pod, {.every_objection = true}).trace, ending);
}

void MorePods::take_back() {
  evaluator_.take_back();
  for (const Ref<const Object>& claim : claims_)
    evaluator_.remove(ObjectKind::kResourceClaim, claim->symbols.text(claim->namespace_name),
                      claim->name);
  claims_.clear();
}

}  // namespace berth::capacity
