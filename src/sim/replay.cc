#include "sim/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "base/stable_sort.h"
#include "berth/pod.h"
#include "berth/search_trace.h"
#include "berth/views.h"
#include "sim/score_margin.h"

namespace berth::sim {

std::string_view to_string(Agreement agreement) {
  switch (agreement) {
    case Agreement::kSameNode: return "sameNode";
    case Agreement::kOtherNode: return "otherNode";
    case Agreement::kBound: return "bound";
    case Agreement::kOnlyThere: return "onlyThere";
    case Agreement::kOnlyHere: return "onlyHere";
    case Agreement::kNowhere: break;
  }
  return "nowhere";
}

Replay::Replay(const trace::Trace& trace, Parts parts, bool explain)
    : trace_(trace), parts_(std::move(parts)), explain_(explain), symbols_(parts_.interner.hold()) {
  for (const trace::PodPast& past : trace_.pods) {
    PodState state;
    state.past = &past;
    if (!past.node.empty()) state.recorded_node = symbols_.intern(past.node);
    pods_.emplace(past.uid, std::move(state));
  }
  parts_.cluster.on_change(lifetime_.guard([this](const Delta& delta) { changed(delta); }));
}

Replay::~Replay() = default;

// ---- what happened from outside -----------------------------------------------------------------

void Replay::start() { run_steps(); }

void Replay::run_steps() {
  const std::vector<trace::Step>& steps = trace_.steps;
  const Duration now = parts_.loop.now().since_start;
  for (; next_step_ < steps.size() && steps[next_step_].at <= now; ++next_step_)
    if (const Result<void> done = run(steps[next_step_]); !done)
      parts_.trouble("trace", done.error().message);
  if (next_step_ < steps.size())
    parts_.loop.at(TimePoint{steps[next_step_].at}, lifetime_.guard([this] { run_steps(); }));
}

Result<void> Replay::run(const trace::Step& step) {
  const bool removed = step.type == DeltaType::kDeleted;
  if (!step.manifest.empty()) return parts_.apply(step.manifest, removed);
  if (const auto* const pod = std::get_if<Ref<const Pod>>(&step.object))
    return removed ? remove_pod(**pod) : put_pod(*pod, step.type);
  const auto& object = std::get<Ref<const Object>>(step.object);
  const std::string_view namespace_name = namespace_of(*object);
  const bool is_there =
      static_cast<bool>(parts_.cluster.object(object->kind, namespace_name, object->name));
  // A controller may have been faster here.
  if (removed)
    return is_there ? parts_.cluster.remove_at_once(object->kind, namespace_name, object->name)
                    : Result<void>();
  return is_there ? parts_.cluster.update_object(step.object)
                  : parts_.cluster.create_object(step.object);
}

Result<void> Replay::put_pod(const Ref<const Pod>& pod, DeltaType type) {
  const Ref<const Pod> stored = parts_.cluster.pod(pod->namespace_name(), pod->name());
  if (stored && stored->uid() == pod->uid()) return update_pod(*stored, *pod);
  if (type == DeltaType::kUpdated) return {};  // it has gone here
  // Its predecessor of that name lives longer here than it did.
  if (stored)
    if (Result<void> gone =
            parts_.cluster.remove_at_once(ObjectKind::kPod, pod->namespace_name(), pod->name());
        !gone)
      return gone;
  if (Result<void> created = parts_.cluster.create_object(pod); !created) return created;
  const auto found = pods_.find(pod->uid());
  if (found == pods_.end()) return {};
  found->second.scheduled_here = parts_.is_scheduled_here(*pod);
  if (!found->second.scheduled_here) place_as_recorded(*pod, found->second);
  return {};
}

// What neither the scheduler nor the kubelet writes is as it was recorded, the rest as it is here.
Result<void> Replay::update_pod(const Pod& stored, const Pod& recorded) {
  PodDraft draft = draft_of(recorded);
  draft.node_name = stored.node_name();
  draft.nominated_node_name = stored.nominated_node_name();
  draft.scheduled_condition = stored.scheduled_condition();
  draft.start_time = stored.start_time();
  if (!recorded.finished()) draft.phase = stored.phase();
  if (!draft.deletion_time) draft.deletion_time = stored.deletion_time();
  if (stored.extra()) {
    if (!draft.extra) draft.extra = std::make_unique<PodExtra>(parts_.interner.hold());
    draft.extra->conditions = stored.extra()->conditions;
    draft.extra->extended_resource_claim_status = stored.extra()->extended_resource_claim_status;
  } else if (draft.extra) {
    draft.extra->conditions.clear();
    draft.extra->extended_resource_claim_status.reset();
  }
  return parts_.cluster.update_object(make_pod(std::move(draft)));
}

Result<void> Replay::remove_pod(const Pod& pod) {
  const Ref<const Pod> stored = parts_.cluster.pod(pod.namespace_name(), pod.name());
  if (!stored || stored->uid() != pod.uid()) return {};
  return parts_.cluster.remove_at_once(ObjectKind::kPod, pod.namespace_name(), pod.name());
}

void Replay::place_as_recorded(const Pod& pod, const PodState& state) {
  if (!state.past->bound || state.past->node.empty()) return;
  const auto place = [this, uid = pod.uid(), &past = *state.past] {
    const Ref<const Pod> stored = parts_.cluster.pod(past.namespace_name, past.name);
    if (!stored || stored->uid() != uid || !stored->node().empty()) return;
    PodDraft draft = draft_of(*stored);
    draft.node_name = past.node;
    draft.phase = PodPhase::kRunning;
    static_cast<void>(parts_.cluster.update_object(make_pod(std::move(draft))));
  };
  parts_.loop.at(std::max(TimePoint{*state.past->bound}, parts_.loop.now()),
                 lifetime_.guard(place));
}

// ---- what follows from what is decided here -----------------------------------------------------

void Replay::changed(const Delta& delta) {
  const auto* const pod = std::get_if<Ref<const Pod>>(&delta.object);
  if (!pod) return;
  const auto found = pods_.find((*pod)->uid());
  if (delta.type == DeltaType::kDeleted) {
    RemovedPod removed{std::string((*pod)->namespace_name()),
                       std::string((*pod)->name()),
                       std::string((*pod)->node_name()),
                       {},
                       (*pod)->finished()};
    if (found != pods_.end()) removed.bound = found->second.bound;
    removed_.push_back(std::move(removed));
    return;
  }
  if (!(*pod)->node().empty()) placed(**pod);
}

void Replay::placed(const Pod& pod) {
  auto found = pods_.find(pod.uid());
  if (found == pods_.end()) {
    if (trace_.run_times_by_owner.empty()) return;
    found = pods_.emplace(pod.uid(), PodState{}).first;
  }
  PodState& state = found->second;
  if (state.bound) return;
  state.bound = parts_.loop.now();
  state.node = pod.node_name();
  if (!state.past) {
    if (const std::optional<Duration> run_time = owner_run_time(pod))
      end_after(*run_time, pod, PodPhase::kSucceeded, {});
  } else if (state.past->run_time) {
    end_after(*state.past->run_time, pod, state.past->end, state.past->removed_after_end);
  }
}

// The next of those that are known of its owner.
std::optional<Duration> Replay::owner_run_time(const Pod& pod) {
  const std::string_view kind = pod.text(pod.meta().controller.kind);
  const std::string_view name = pod.text(pod.meta().controller.name);
  if (name.empty()) return std::nullopt;
  std::string owner = fmt::format("{} {}/{}", kind, pod.namespace_name(), name);
  // A Deployment's ReplicaSet is called after it.
  if (kind == "ReplicaSet" && !trace_.run_times_by_owner.contains(owner))
    owner = fmt::format("Deployment {}/{}", pod.namespace_name(), name.substr(0, name.rfind('-')));
  const auto found = trace_.run_times_by_owner.find(owner);
  if (found == trace_.run_times_by_owner.end()) return std::nullopt;
  const std::size_t index = made_by_owner_[owner]++;
  if (index >= found->second.size()) return std::nullopt;
  return found->second[index];
}

void Replay::end_after(Duration run_time, const Pod& pod, PodPhase phase,
                       std::optional<Duration> removed_after) {
  const Ref<const Pod> placed(&pod);
  parts_.loop.after(run_time, lifetime_.guard([this, placed, phase] { finish(*placed, phase); }));
  if (removed_after)
    parts_.loop.after(run_time + *removed_after,
                      lifetime_.guard([this, placed] { static_cast<void>(remove_pod(*placed)); }));
}

void Replay::finish(const Pod& pod, PodPhase phase) {
  const Ref<const Pod> stored = parts_.cluster.pod(pod.namespace_name(), pod.name());
  if (!stored || stored->uid() != pod.uid() || stored->finished()) return;
  PodDraft draft = draft_of(*stored);
  draft.phase = phase;
  static_cast<void>(parts_.cluster.update_object(make_pod(std::move(draft))));
}

// ---- the comparison -----------------------------------------------------------------------------

bool Replay::wants_trace(const Pod& pod) const {
  if (!explain_) return false;
  const auto found = pods_.find(pod.uid());
  return found != pods_.end() && !found->second.recorded_node.empty();
}

void Replay::traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) {
  const auto found = pods_.find(pod.uid());
  if (!explain_ || found == pods_.end() || found->second.recorded_node.empty()) return;
  PodState& state = found->second;
  state.explanation = why_not_node(state.recorded_node, state.past->node, nodes, trace);
}

Agreement Replay::agreement_of(const PodState& state) const {
  if (!state.past->bound) return state.bound ? Agreement::kOnlyHere : Agreement::kNowhere;
  if (!state.bound) return Agreement::kOnlyThere;
  if (state.past->node.empty()) return Agreement::kBound;
  return state.past->node == state.node ? Agreement::kSameNode : Agreement::kOtherNode;
}

ReplayReport Replay::report() const {
  ReplayReport report;
  for (const trace::PodPast& past : trace_.pods) {
    const PodState& state = pods_.find(past.uid)->second;
    if (!past.scheduled_there || !state.scheduled_here) continue;
    ++report.pods;
    ReplayedPod pod{past.namespace_name,
                    past.name,
                    agreement_of(state),
                    past.node,
                    past.bound,
                    state.node,
                    {},
                    {}};
    ++report.counts[pod.agreement];
    if (pod.agreement == Agreement::kSameNode || pod.agreement == Agreement::kBound ||
        pod.agreement == Agreement::kNowhere)
      continue;
    if (state.bound) pod.at = state.bound->since_start;
    pod.explanation =
        pod.agreement == Agreement::kOnlyHere && explain_ ? past.message : state.explanation;
    report.differences.push_back(std::move(pod));
  }
  sort_stably(report.differences, [](const ReplayedPod& a, const ReplayedPod& b) {
    return std::tie(a.namespace_name, a.name) < std::tie(b.namespace_name, b.name);
  });
  return report;
}

}  // namespace berth::sim
