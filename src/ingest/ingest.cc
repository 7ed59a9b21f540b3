#include "ingest/ingest.h"

#include <optional>
#include <utility>

#include "api/coscheduling.h"
#include "api/devices.h"
#include "berth/observer.h"

namespace berth {
namespace {

// The resource under which plugins register for a kind; nullopt for kinds whose changes move no
// pod.
std::optional<EventResource> resource_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kCoschedulingPodGroup:
    case ObjectKind::kOther: return EventResource::kOther;
    case ObjectKind::kPersistentVolume: return EventResource::kPersistentVolume;
    case ObjectKind::kPersistentVolumeClaim: return EventResource::kPersistentVolumeClaim;
    case ObjectKind::kStorageClass: return EventResource::kStorageClass;
    case ObjectKind::kCSINode: return EventResource::kCSINode;
    case ObjectKind::kCSIDriver: return EventResource::kCSIDriver;
    case ObjectKind::kCSIStorageCapacity: return EventResource::kCSIStorageCapacity;
    case ObjectKind::kVolumeAttachment: return EventResource::kVolumeAttachment;
    case ObjectKind::kResourceClaim: return EventResource::kResourceClaim;
    case ObjectKind::kResourceSlice: return EventResource::kResourceSlice;
    case ObjectKind::kDeviceClass: return EventResource::kDeviceClass;
    case ObjectKind::kPodGroup: return EventResource::kPodGroup;
    default: return std::nullopt;
  }
}

}  // namespace

Ingest::Ingest(Cluster& cluster, SchedulingQueue& queue, WaitingPods& waiting_pods,
               ChangeGate& gate, std::set<Symbol> schedulers, Observer& observer,
               ApiDispatcher* writes, bool device_taint_rules, GroupStates* groups)
    : cluster_(cluster),
      queue_(queue),
      waiting_pods_(waiting_pods),
      gate_(gate),
      schedulers_(std::move(schedulers)),
      observer_(observer),
      writes_(writes),
      device_taint_rules_(device_taint_rules),
      groups_(groups),
      measured_(observer.measuring()),
      claims_(cluster.assumed_claims().add_handler(
          [this](const Ref<const Object>& before, const Ref<const Object>& after) {
            gate_.pass([this, before, after] { claim_changed(before, after); });
          })) {}

void Ingest::report_failure(const Result<void>& result) {
  if (!result) observer_.internal_error(result.error().message);
}

void Ingest::apply(Delta delta) {
  gate_.pass([this, delta = std::move(delta)] { apply_now(delta); });
}

void Ingest::apply_now(const Delta& delta) {
  const TimePoint start = measured_ ? measured_->tick() : TimePoint{};
  if (const auto* changed = std::get_if<Ref<const Pod>>(&delta.object)) {
    const Ref<const Pod> before = cluster_.seen_pod(**changed);
    apply_pod(delta.type, before, *changed);
    if (writes_) {
      if (before && before->uid() != (*changed)->uid()) writes_->sync(*before);
      writes_->sync(**changed);
    }
    if (measured_) measure_pod(delta.type, before.get(), **changed, start);
  } else if (const auto* held = std::get_if<Ref<const Object>>(&delta.object)) {
    if ((*held)->kind == ObjectKind::kPodGroup && !groups_) return;
    const Ref<const Object> before = measured_ ? stored_object(**held) : nullptr;
    if ((*held)->kind == ObjectKind::kNode)
      apply_node(delta.type, *held);
    else
      apply_object(delta.type, *held);
    if (measured_) measure_object(delta.type, before.get(), **held, start);
  }
}

// ---- metrics, by upstream's events

void Ingest::measure_cluster() {
  measured_->cluster_size(cluster_.nodes().node_count(), cluster_.placed_count(),
                          cluster_.assumed_count());
}

void Ingest::measure_pod(DeltaType type, const Pod* before, const Pod& pod, TimePoint start) {
  measure_cluster();
  const Duration took = measured_->tick() - start;
  const bool was_assigned = before && !before->node().empty();
  const bool goes = type == DeltaType::kDeleted || pod.finished();
  if (goes && !before) return;
  const bool assigned = goes ? was_assigned || !pod.node().empty() : !pod.node().empty();
  if (!assigned && !responsible_for_pod(pod)) return;
  const EventResource resource =
      assigned ? EventResource::kAssignedPod : EventResource::kUnscheduledPod;
  const bool updated = !goes && before && was_assigned == assigned;
  if (updated && !assigned && before->resource_version() == pod.resource_version()) return;
  const auto handled = [&](EventResource of, std::uint32_t actions) {
    measured_->event_handled({of, actions, {}}, took);
  };
  handled(resource, goes ? action::kDelete : updated ? action::kUpdate : action::kAdd);
  if (updated) {
    for (const ClusterEvent& event : pod_update_events(*before, pod))
      // Parity: of an assigned pod a change without a name of its own counts twice.
      if (assigned || event.actions != action::kUpdate) measured_->event_handled(event, took);
  } else if (!goes && assigned && before && responsible_for_pod(*before)) {
    handled(EventResource::kUnscheduledPod, action::kDelete);  // it was bound
  }
}

// What ClusterEvent::other is for an object. The text outlives the object: events are kept.
std::string_view Ingest::other_resource(const Object& object) {
  if (object.kind == ObjectKind::kCoschedulingPodGroup) return CoschedulingPodGroup::kResource;
  if (object.kind != ObjectKind::kOther) return {};
  return *other_resources_.insert(static_cast<const OtherObject&>(object).resource).first;
}

// The object before a delta; null if there was none.
Ref<const Object> Ingest::stored_object(const Object& object) const {
  if (object.kind != ObjectKind::kNode) return cluster_.find(object);
  const NodeRow row = cluster_.nodes().find(static_cast<const Node&>(object).symbol);
  if (row == kNoRow || !cluster_.nodes().has_node(row)) return nullptr;
  return cluster_.nodes().node_ref(row);
}

void Ingest::measure_object(DeltaType type, const Object* before, const Object& object,
                            TimePoint start) {
  measure_cluster();
  const Duration took = measured_->tick() - start;
  const bool deleted = type == DeltaType::kDeleted;
  if (object.kind == ObjectKind::kNode && !deleted && before) {
    for (const ClusterEvent& event :
         node_update_events(static_cast<const Node&>(*before), static_cast<const Node&>(object)))
      measured_->event_handled(event, took);
    return;
  }
  const std::optional<EventResource> resource =
      object.kind == ObjectKind::kNode ? EventResource::kNode : resource_of(object.kind);
  if (!resource) return;
  measured_->event_handled({*resource,
                            deleted  ? action::kDelete
                            : before ? action::kUpdate
                                     : action::kAdd,
                            {},
                            other_resource(object)},
                           took);
}

// ---- pods

void Ingest::apply_pod(DeltaType type, const Ref<const Pod>& before, const Ref<const Pod>& pod) {
  // A finished pod takes no resources: it is handled as deleted.
  if (type == DeltaType::kDeleted || pod->finished()) {
    if (!before) return;
    cluster_.remove_seen_pod(*before);
    // The last known state is used, unless it belongs to another pod of the same name, or is from
    // before the pod was bound (the watch missed the binding).
    const bool stale = before->uid() != pod->uid() || type != DeltaType::kDeleted ||
                       (pod->node().empty() && !before->node().empty());
    pod_deleted(stale ? before : pod);
    return;
  }
  if (before && before->uid() != pod->uid()) {  // deleted and created again between two deltas
    cluster_.remove_seen_pod(*before);
    pod_deleted(before);
  }
  cluster_.see_pod(pod);
  if (before && before->uid() == pod->uid())
    pod_updated(before, pod);
  else
    pod_added(pod);
}

void Ingest::pod_added(const Ref<const Pod>& pod) {
  if (!pod->node().empty()) {
    see_in_group(pod);
    report_failure(cluster_.add_pod(pod));
    queue_.move_all(events::kAssignedPodAdd, {}, pod);
  } else if (responsible_for_pod(*pod)) {
    see_in_group(pod);
    queue_.add(pod);
    if (groups_) queue_.move_all(events::kUnscheduledPodAdd, {}, pod);
  }
}

void Ingest::pod_updated(const Ref<const Pod>& before, const Ref<const Pod>& after) {
  if (!after->node().empty() || responsible_for_pod(*after)) see_in_group(after);
  if (!before->node().empty() && before->node() != after->node()) {
    // Only happens when the server's store was restored from a backup.
    observer_.internal_error(std::string("pod ")
                                 .append(after->full_name())
                                 .append(" was on node ")
                                 .append(before->node_name())
                                 .append(", the watch shows it on node ")
                                 .append(after->node().empty() ? "<none>" : after->node_name()));
    pod_deleted(before);
    pod_added(after);
  } else if (!before->node().empty()) {
    report_failure(cluster_.update_pod(after));
    for (const ClusterEvent& event : pod_update_events(*before, *after))
      queue_.move_all(event, before, after);
  } else if (!after->node().empty()) {
    report_failure(cluster_.add_pod(after));
    queue_.move_all(events::kAssignedPodAdd, {}, after);
    if (responsible_for_pod(*before)) queue_.remove(*before);
  } else if (responsible_for_pod(*before)) {
    unassigned_pod_updated(before, after);
  }
}

void Ingest::unassigned_pod_updated(const Ref<const Pod>& before, const Ref<const Pod>& after) {
  if (before->resource_version() == after->resource_version()) return;
  if (cluster_.is_assumed(after->uid())) {
    if (after->terminating() && !before->terminating()) assumed_pod_deleted(*after);
    return;
  }
  queue_.update(*before, after);
  if (!before->nominated_node().empty() && before->nominated_node() != after->nominated_node())
    nomination_gone(before);
}

void Ingest::pod_deleted(const Ref<const Pod>& pod) {
  if (groups_ && in_group(*pod)) groups_->remove(*pod);  // before the queue counts again
  if (!pod->node().empty()) {
    report_failure(cluster_.remove_pod(*pod));
    queue_.move_all(events::kAssignedPodDelete, pod, {});
    // The delete may be the first delta that shows the binding; the queue must not keep the pod.
    if (responsible_for_pod(*pod)) queue_.remove(*pod);
    return;
  }
  if (!responsible_for_pod(*pod)) return;
  queue_.remove(*pod);
  if (cluster_.is_assumed(pod->uid()))
    assumed_pod_deleted(*pod);
  else if (!pod->nominated_node().empty())
    nomination_gone(pod);
}

// The pod was deleted while it waits or binds. A waiting pod is rejected, and its binding cycle
// cleans up; a binding pod only gives its place back, and its binding fails by itself.
void Ingest::assumed_pod_deleted(const Pod& pod) {
  const Ref<const Pod> assumed = cluster_.placed(pod.uid());
  if (!assumed) return;
  const Ref<const Pod> on_its_node =
      with_node(*assumed, cluster_.nodes().name_text(cluster_.row_of(pod.uid())));
  if (!waiting_pods_.reject(pod.uid(), "", "removed")) {
    report_failure(cluster_.forget(*assumed));
    if (groups_ && in_group(*assumed)) groups_->forget(*assumed);
  }
  queue_.move_all(events::kAssignedPodDelete, on_its_node, {});
}

// The place that the pod was nominated to is free again for pods of the same or lower priority.
void Ingest::nomination_gone(const Ref<const Pod>& pod) {
  const std::int32_t priority = pod->priority();
  queue_.move_all(events::kAssignedPodDelete, pod, {},
                  [priority](const Pod& other) { return other.priority() <= priority; });
}

// ---- nodes and the rest

void Ingest::apply_node(DeltaType type, const Ref<const Object>& object) {
  const Ref<const Node> node(static_cast<const Node*>(object.get()));
  const NodeRow row = cluster_.nodes().find(node->symbol);
  const bool known = row != kNoRow && cluster_.nodes().has_node(row);
  if (type == DeltaType::kDeleted) {
    queue_.move_all(events::kNodeDelete, object, {});
    report_failure(cluster_.remove_node(node->symbol));
  } else if (known) {
    const Ref<const Node> before = cluster_.nodes().node_ref(row);
    cluster_.update_node(node);
    for (const ClusterEvent& event : node_update_events(*before, *node))
      queue_.move_all(event, Ref<const Object>(before), object);
  } else {
    cluster_.add_node(node);
    queue_.move_all(events::kNodeAdd, {}, object);
  }
}

void Ingest::apply_object(DeltaType type, const Ref<const Object>& object) {
  const Ref<const Object> before = cluster_.find(*object);
  const std::optional<EventResource> resource = resource_of(object->kind);
  const auto happened = [&](std::uint32_t actions, const AnyObject& old_object,
                            const AnyObject& new_object) {
    // For claims the queue is notified by the assume cache.
    if (resource && resource != EventResource::kResourceClaim)
      queue_.move_all({*resource, actions, {}, other_resource(*object)}, old_object, new_object);
  };
  const bool taint_rule = object->kind == ObjectKind::kDeviceTaintRule && device_taint_rules_;
  if (type == DeltaType::kDeleted) {
    cluster_.remove(*object);
    if (object->kind == ObjectKind::kPodGroup) group_changed(type, object);
    if (taint_rule) taint_rule_changed(before.get(), nullptr);
    happened(action::kDelete, object, {});
    return;
  }
  cluster_.put(object);
  if (object->kind == ObjectKind::kPodGroup) group_changed(type, object);
  if (taint_rule) taint_rule_changed(before.get(), object.get());
  if (before)
    happened(action::kUpdate, before, object);
  else
    happened(action::kAdd, {}, object);
}

void Ingest::group_changed(DeltaType type, const Ref<const Object>& object) {
  const Ref<const PodGroup> group(static_cast<const PodGroup*>(object.get()));
  if (type == DeltaType::kDeleted)
    queue_.remove_group(*group);
  else
    queue_.put_group(group);
}

void Ingest::taint_rule_changed(const Object* before, const Object* after) {
  constexpr ClusterEvent kSliceUpdate{EventResource::kResourceSlice, action::kUpdate, {}};
  for (const Ref<const Object>& slice : cluster_.list(ObjectKind::kResourceSlice)) {
    if (!changes_taints(static_cast<const DeviceTaintRule*>(before),
                        static_cast<const DeviceTaintRule*>(after),
                        static_cast<const ResourceSlice&>(*slice)))
      continue;
    const TimePoint start = measured_ ? measured_->tick() : TimePoint{};
    queue_.move_all(kSliceUpdate, slice, slice);
    if (measured_) measured_->event_handled(kSliceUpdate, measured_->tick() - start);
  }
}

void Ingest::claim_changed(const Ref<const Object>& before, const Ref<const Object>& after) {
  const auto any = [](const Ref<const Object>& object) {
    return object ? AnyObject(object) : AnyObject();
  };
  const std::uint32_t actions = !before ? action::kAdd : !after ? action::kDelete : action::kUpdate;
  queue_.move_all({EventResource::kResourceClaim, actions, {}}, any(before), any(after));
}

}  // namespace berth
