#include "sim/arriving_pods.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"

namespace berth::sim {
namespace {

// When the k-th of them comes, the first at once.
Duration arrival(const Arrivals& rule, std::int64_t k) {
  const Duration whole = rule.over / rule.count, rest = rule.over % rule.count;
  return rule.from + whole * k + rest * k / rule.count;
}

}  // namespace

ArrivingPods::ArrivingPods(Loop& loop, SimCluster& cluster, Interner& interner, std::uint64_t seed,
                           Reports reports)
    : loop_(loop),
      cluster_(cluster),
      interner_(interner),
      random_(seed),
      reports_(std::move(reports)) {}

Result<void> ArrivingPods::add(const std::vector<Arrivals>& rules) {
  for (const Arrivals& given : rules) {
    Rule rule{given, {}, 0};
    for (const std::string& json : given.pods) {
      const std::string where = fmt::format("arrivals {}: pods[{}]", given.name, rule.pods.size());
      if (const auto read = decode_object(ObjectKind::kPod, json, interner_, nullptr, given.name);
          !read)
        return fail(read.error().kind, fmt::format("{}: {}", where, read.error().message));
      rule.pods.push_back({json, where, nullptr});
    }
    rules_.push_back(std::move(rule));
  }
  return {};
}

void ArrivingPods::start() {
  if (rules_.empty()) return;
  cluster_.on_change(lifetime_.guard([this](const Delta& delta) { changed(delta); }));
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    for (Prototype& prototype : rules_[i].pods) admit(prototype);
    wait_for_next(i);
  }
}

void ArrivingPods::admit(Prototype& prototype) {
  const Admission admission = cluster_.admission();
  // Any name will do: each pod has its own.
  const Result<AnyObject> pod =
      decode_object(ObjectKind::kPod, prototype.json, interner_, &admission, "pod");
  if (pod)
    prototype.pod = std::get<Ref<const Pod>>(*pod);
  else
    reports_.trouble(fmt::format("{}: {}", prototype.where, pod.error().message));
}

void ArrivingPods::wait_for_next(std::size_t rule) {
  const Rule& next = rules_[rule];
  if (next.arrived == next.given.count) return;
  loop_.at(TimePoint{arrival(next.given, next.arrived)}, lifetime_.guard([this, rule] {
    arrive(rules_[rule]);
    wait_for_next(rule);
  }));
}

void ArrivingPods::arrive(Rule& rule) {
  const auto number = static_cast<std::size_t>(rule.arrived++);
  const Duration run = rule.given.runs.empty()
                           ? Duration(0)
                           : rule.given.runs[random_.below(rule.given.runs.size())];
  const Prototype& prototype = rule.pods[number % rule.pods.size()];
  if (!prototype.pod) return;
  PodDraft draft = draft_of(*prototype.pod);
  draft.name = fmt::format("{}-{}", rule.given.name, number + 1);
  draft.uid = deterministic_uid("Pod", prototype.pod->namespace_name(), draft.name);
  draft.creation_time = loop_.wall_now();
  const Ref<const Pod> pod = make_pod(std::move(draft));
  if (!rule.given.runs.empty()) runs_[pod->uid()] = run;
  if (const Result<void> created = cluster_.create_object(pod); !created) {
    runs_.erase(pod->uid());
    return reports_.trouble(created.error().message);
  }
  // One that comes again after it was deleted has another UID.
  if (const Uid& uid = cluster_.stored_pod(*pod)->uid(); uid != pod->uid())
    if (auto entry = runs_.extract(pod->uid())) {
      entry.key() = uid;
      runs_.insert(std::move(entry));
    }
}

void ArrivingPods::changed(const Delta& delta) {
  const auto* pod = std::get_if<Ref<const Pod>>(&delta.object);
  if (pod == nullptr || runs_.empty()) return;
  const bool gone = delta.type == DeltaType::kDeleted;
  if (!gone && (*pod)->node().empty()) return;
  const auto found = runs_.find((*pod)->uid());
  if (found == runs_.end()) return;
  const Duration run = found->second;
  runs_.erase(found);
  if (!gone) loop_.after(run, lifetime_.guard([this, bound = *pod] { finish(*bound); }));
}

void ArrivingPods::finish(const Pod& bound) {
  const Ref<const Pod> pod = cluster_.stored_pod(bound);
  if (!pod || pod->uid() != bound.uid() || pod->finished()) return;
  reports_.finished(*pod);
  PodDraft draft = draft_of(*pod);
  draft.phase = PodPhase::kSucceeded;
  static_cast<void>(cluster_.update_object(make_pod(std::move(draft))));
}

}  // namespace berth::sim
