#include "trace/recorded_past.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "api/defaulting.h"
#include "api/devices.h"
#include "api/owned_fields.h"
#include "api/storage.h"
#include "base/stable_sort.h"
#include "berth/pod.h"

namespace berth::trace {
namespace {

constexpr std::string_view kScheduledCondition = "PodScheduled";
constexpr std::string_view kDisruptionCondition = "DisruptionTarget";
constexpr std::string_view kPreempted = "PreemptionByScheduler";

// Static pods are made on their nodes, and belong to them.
bool is_static(const Pod& pod) { return pod.text(pod.meta().controller.kind) == "Node"; }

bool is_preempted(const Pod& pod) {
  const PodCondition* const condition = pod.condition(kDisruptionCondition);
  return condition && condition->status == "True" && condition->reason == kPreempted;
}

std::unique_ptr<PodExtra> without_conditions(std::unique_ptr<PodExtra> extra) {
  if (extra) extra->conditions.clear();
  return extra;
}

// As it was before the scheduler had done anything.
Ref<const Pod> unplaced(const Pod& pod) {
  PodDraft draft = draft_of(pod);
  draft.node_name.clear();
  draft.nominated_node_name.clear();
  draft.phase = PodPhase::kPending;
  draft.scheduled_condition = false;
  draft.start_time.reset();
  draft.deletion_time.reset();
  draft.extra = without_conditions(std::move(draft.extra));
  if (draft.extra) draft.extra->extended_resource_claim_status.reset();
  return make_pod(std::move(draft));
}

// Whether anything changed that neither the scheduler nor the kubelet writes.
bool changed_from_outside(const Pod& a, const Pod& b) {
  if (a.meta_ref() != b.meta_ref() || a.spec_ref() != b.spec_ref() ||
      a.deletion_time() != b.deletion_time())
    return true;
  const PodExtra* const x = a.extra();
  const PodExtra* const y = b.extra();
  if (!x || !y) {
    const PodExtra* const one = x ? x : y;
    return one && (one->has_resources() || !one->resource_claim_statuses.empty());
  }
  return x->resource_claim_statuses != y->resource_claim_statuses ||
         x->container_resources != y->container_resources || x->pod_resources != y->pod_resources;
}

// An object that came after the beginning, as it was before it was bound to anything; nothing if it
// came because of what a scheduler did.
AnyObject unbound(const Ref<const Object>& object) {
  switch (object->kind) {
    case ObjectKind::kVolumeAttachment: return {};
    case ObjectKind::kPersistentVolume: {
      const auto& volume = static_cast<const PersistentVolume&>(*object);
      if (volume.claim_ref && !volume.claim_ref->uid.empty()) return {};
      return object;
    }
    case ObjectKind::kPersistentVolumeClaim: {
      auto claim =
          make_ref<PersistentVolumeClaim>(static_cast<const PersistentVolumeClaim&>(*object));
      // A claim that names its volume before it is bound was written so.
      if (claim->bind_completed) claim->volume_name.clear();
      claim->bind_completed = false;
      claim->selected_node.reset();
      claim->phase = PersistentVolumeClaim::Phase::kPending;
      return Ref<const Object>(claim);
    }
    case ObjectKind::kResourceClaim: {
      auto claim = make_ref<ResourceClaim>(static_cast<const ResourceClaim&>(*object));
      claim->status = {};
      claim->deletion_time.reset();
      return Ref<const Object>(claim);
    }
    default: return object;
  }
}

// Whether changes of such objects follow from where pods went.
bool follows_pods(ObjectKind kind) {
  return kind == ObjectKind::kVolumeAttachment || kind == ObjectKind::kPersistentVolume ||
         kind == ObjectKind::kPersistentVolumeClaim || kind == ObjectKind::kResourceClaim;
}

class PastBuilder {
 public:
  explicit PastBuilder(WallTime start) { trace_.start = start; }

  void take(Record record) {
    at_ = std::max(at_, record.at);
    trace_.length = at_;
    switch (record.type) {
      case RecordType::kListed:
      case RecordType::kAdded:
      case RecordType::kModified: return put(std::move(record));
      case RecordType::kDeleted: return remove(record);
      case RecordType::kBound: return bound(record);
      case RecordType::kTouched:
      case RecordType::kNominated:
      case RecordType::kEnd: return;
    }
  }

  Trace finish() {
    for (PodState& state : pods_) trace_.pods.push_back(std::move(state.past));
    // What a new list showed has happened before.
    sort_stably(trace_.steps, {}, &Step::at);
    return std::move(trace_);
  }

 private:
  struct PodState {
    PodPast past;
    Ref<const Pod> last;
    bool preempted = false;
    std::optional<Duration> ended;
  };
  struct Known {
    AnyObject object;  // as it came with a step; nothing: it came with none
    std::size_t pod = 0;
    bool listed = false;
  };

  static std::string key_of(const Record& record) {
    return fmt::format("{} {}/{}", static_cast<int>(record.kind), record.namespace_name,
                       record.name);
  }
  void step(Duration at, DeltaType type, AnyObject object) {
    trace_.steps.push_back({at, type, std::move(object), {}});
  }

  void put(Record record) {
    if (std::holds_alternative<std::monostate>(record.object)) return;  // of no use to scheduling
    const auto [found, is_new] = known_.try_emplace(key_of(record));
    Known& known = found->second;
    if (auto* const pod = std::get_if<Ref<const Pod>>(&record.object)) {
      if (record.uid.empty()) *pod = identified(**pod, is_new ? pods_.size() : known.pod);
      // Of that name, but another one: its deletion was missed.
      if (!is_new && pods_[known.pod].last->uid() != (*pod)->uid()) {
        pod_removed(pods_[known.pod]);
        known.pod = pod_added(record, *pod, at_);
      } else if (is_new) {
        known.pod = pod_added(record, *pod, arrival_of(record, **pod));
      } else {
        pod_changed(pods_[known.pod], *pod);
      }
      return;
    }
    const auto& object = std::get<Ref<const Object>>(record.object);
    if (is_new) {
      known.listed = record.type == RecordType::kListed;
      known.object = known.listed ? record.object : unbound(object);
      if (!std::holds_alternative<std::monostate>(known.object))
        step(known.listed ? Duration{0} : at_, DeltaType::kAdded, known.object);
      return;
    }
    if (follows_pods(record.kind)) return;
    known.object = record.object;
    step(at_, DeltaType::kUpdated, record.object);
  }

  // Recordings that people wrote may have no UIDs: the n-th pod gets one.
  static Ref<const Pod> identified(const Pod& pod, std::size_t n) {
    PodDraft draft = draft_of(pod);
    draft.uid = deterministic_uid("Pod", pod.namespace_name(), fmt::format("{}#{}", pod.name(), n));
    return make_pod(std::move(draft));
  }

  void remove(const Record& record) {
    const auto found = known_.find(key_of(record));
    if (found == known_.end()) return;
    if (record.kind == ObjectKind::kPod)
      pod_removed(pods_[found->second.pod]);
    else if (!std::holds_alternative<std::monostate>(found->second.object))
      step(at_, DeltaType::kDeleted, found->second.object);
    known_.erase(found);
  }

  void bound(const Record& record) {
    const auto found = known_.find(key_of(record));
    if (found == known_.end() || record.node.empty()) return;
    note_binding(pods_[found->second.pod].past, at_, record.node);
  }

  void note_binding(PodPast& past, Duration at, std::string_view node) {
    if (!past.scheduled_there || past.bound) return;
    past.bound = at;
    past.node = node;
    trace_.tells_nodes = true;
  }

  // A pod that was there when the connection was made again came when it was created.
  Duration arrival_of(const Record& record, const Pod& pod) const {
    if (record.type == RecordType::kListed) return Duration{0};
    if (!record.relisted || !pod.creation_time()) return at_;
    const WallTime created = std::clamp(*pod.creation_time(), trace_.start, trace_.start + at_);
    return created - trace_.start;
  }

  std::size_t pod_added(const Record& record, const Ref<const Pod>& pod, Duration arrival) {
    PodState& state = pods_.emplace_back();
    PodPast& past = state.past;
    past.uid = pod->uid();
    past.namespace_name = pod->namespace_name();
    past.name = pod->name();
    past.arrived = arrival;
    state.last = pod;
    // The scheduler has bound it while nobody looked, or it was made on its node.
    const bool bound_unseen = record.relisted && !is_static(*pod);
    past.scheduled_there = pod->node().empty() ? !pod->finished() : bound_unseen;
    note_message(past, *pod);
    step(past.arrived, DeltaType::kAdded, past.scheduled_there ? unplaced(*pod) : pod);
    if (past.scheduled_there && !pod->node().empty()) {
      note_binding(past, at_, pod->node_name());
      note_end(state, *pod);
    }
    return pods_.size() - 1;
  }

  void note_message(PodPast& past, const Pod& pod) {
    const PodCondition* const condition = pod.condition(kScheduledCondition);
    if (condition && condition->status == "False") past.message = condition->message;
  }

  void note_end(PodState& state, const Pod& pod) {
    if (!pod.finished() || state.ended) return;
    state.ended = at_;
    state.past.run_time = at_ - *state.past.bound;
    state.past.end = pod.phase();
  }

  void pod_changed(PodState& state, const Ref<const Pod>& pod) {
    const Ref<const Pod> before = std::exchange(state.last, pod);
    if (!pod->node().empty()) note_binding(state.past, at_, pod->node_name());
    note_message(state.past, *pod);
    if (is_preempted(*pod)) state.preempted = true;
    if (state.past.bound)
      note_end(state, *pod);
    else if (pod->finished() && !before->finished())
      return step(at_, DeltaType::kUpdated, pod);
    // From here on it would be there still.
    if (state.preempted || state.ended) return;
    if (changed_from_outside(*before, *pod)) step(at_, DeltaType::kUpdated, pod);
  }

  void pod_removed(PodState& state) {
    if (state.ended)
      state.past.removed_after_end = at_ - *state.ended;
    else if (!state.preempted)
      step(at_, DeltaType::kDeleted, state.last);
  }

  Trace trace_;
  Duration at_{0};
  std::unordered_map<std::string, Known> known_;
  std::vector<PodState> pods_;
};

}  // namespace

Result<Trace> trace_of(RecordingReader& recording) {
  PastBuilder past(recording.head().start);
  while (std::optional<Record> record = recording.next()) past.take(*std::move(record));
  if (recording.error()) return fail(*recording.error());
  return past.finish();
}

}  // namespace berth::trace
