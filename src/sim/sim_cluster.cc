#include "sim/sim_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/task.h"
#include "framework/pod_status.h"

namespace berth::sim {
namespace {

Result<void> not_found(const std::string& what, std::string_view name) {
  return fail(ErrorKind::kNotFound, fmt::format("{} \"{}\" not found", what, name));
}

}  // namespace

std::string_view to_string(ApiCall call) {
  switch (call) {
    case ApiCall::kBind: return "bind";
    case ApiCall::kPatchStatus: return "patchStatus";
    case ApiCall::kEvict: return "evict";
    case ApiCall::kUpdate: return "update";
    case ApiCall::kUpdateStatus: return "updateStatus";
    case ApiCall::kCreate: return "create";
    case ApiCall::kDelete: return "delete";
    case ApiCall::kGet: return "get";
  }
  return "get";
}

std::span<const ApiCall> api_calls() {
  static constexpr ApiCall kCalls[] = {ApiCall::kBind,   ApiCall::kPatchStatus,  ApiCall::kEvict,
                                       ApiCall::kUpdate, ApiCall::kUpdateStatus, ApiCall::kCreate,
                                       ApiCall::kDelete, ApiCall::kGet};
  return kCalls;
}

SimCluster::SimCluster(Loop& loop, Interner& interner, SimTiming timing)
    : loop_(loop), interner_(interner), timing_(timing) {}

SimCluster::~SimCluster() = default;

void SimCluster::on_delta(std::function<void(const Delta&)> watcher) {
  watchers_.push_back(std::move(watcher));
}

void SimCluster::on_change(std::function<void(const Delta&)> controller) {
  controllers_.push_back(std::move(controller));
}

SimCluster::Key SimCluster::key(ObjectKind kind, std::string_view namespace_name,
                                std::string_view name) {
  return {kind, fmt::format("{}/{}", namespace_name, name)};
}

SimCluster::Key SimCluster::key_of(const AnyObject& object) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object))
    return {ObjectKind::kPod, (*pod)->full_name()};
  const Object& other = *std::get<Ref<const Object>>(object);
  return key(other.kind, other.symbols.text(other.namespace_name), other.name);
}

std::string SimCluster::next_version() { return std::to_string(++version_); }

void SimCluster::show(DeltaType type, AnyObject object) {
  const Delta delta{type, std::move(object)};
  const TimePoint when = std::max(shown_until_, loop_.now() + timing_.watch + watch_lag_);
  // What becomes visible at the same moment is shown in one go, so that nothing is decided between.
  if (to_show_.empty() || when != shown_until_)
    loop_.at(when, [this, alive = std::weak_ptr<int>(alive_)] {
      if (!alive.expired()) show_due();
    });
  shown_until_ = when;
  to_show_.emplace_back(when, delta);
  for (const auto& controller : controllers_) controller(delta);
}

void SimCluster::show_due() {
  while (!to_show_.empty() && to_show_.front().first <= loop_.now()) {
    const Delta delta = std::move(to_show_.front().second);
    to_show_.pop_front();
    for (const auto& watcher : watchers_) watcher(delta);
  }
}

Ref<const Pod> SimCluster::store(PodDraft draft, DeltaType type) {
  draft.resource_version = next_version();
  Ref<const Pod> pod = make_pod(std::move(draft));
  objects_[key_of(pod)] = pod;
  show(type, pod);
  return pod;
}

// ---- what people and controllers do

Result<void> SimCluster::create_object(AnyObject object) {
  const Key where = key_of(object);
  if (objects_.contains(where))
    return fail(ErrorKind::kConflict,
                fmt::format("{} \"{}\" already exists", to_string(where.first), where.second));
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) {
    if (!(*pod)->node().empty()) ++changes_;
    PodDraft draft = draft_of(**pod);
    if (!draft.creation_time) draft.creation_time = loop_.wall_now();
    // UIDs of manifests follow from names; a pod that comes again is another pod all the same.
    if (!pods_ever_.insert((*pod)->uid()).second)
      draft.uid = deterministic_uid("Pod", (*pod)->namespace_name(),
                                    fmt::format("{}#{}", (*pod)->name(), pods_ever_.size()));
    pods_ever_.insert(store(std::move(draft), DeltaType::kAdded)->uid());
    return {};
  }
  ++changes_;
  store(versioned(std::get<Ref<const Object>>(object)), DeltaType::kAdded);
  return {};
}

Result<void> SimCluster::update_object(AnyObject object) {
  const Key where = key_of(object);
  if (!objects_.contains(where))
    return not_found(std::string(to_string(where.first)), where.second);
  ++changes_;
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) {
    store(draft_of(**pod), DeltaType::kUpdated);
    return {};
  }
  store(versioned(std::get<Ref<const Object>>(object)), DeltaType::kUpdated);
  return {};
}

Result<void> SimCluster::remove_object(ObjectKind kind, std::string_view namespace_name,
                                       std::string_view name) {
  if (kind == ObjectKind::kResourceClaim) {
    const Ref<const Object> claim = object(kind, namespace_name, name);
    return claim ? do_remove(*claim) : remove_at_once(kind, namespace_name, name);
  }
  const Ref<const Pod> present = kind == ObjectKind::kPod ? pod(namespace_name, name) : nullptr;
  const std::int32_t grace =
      present && !present->node().empty() ? present->spec().termination_grace_seconds : 0;
  if (grace <= 0) return remove_at_once(kind, namespace_name, name);
  if (present->terminating()) return {};
  ++changes_;
  PodDraft draft = draft_of(*present);
  draft.deletion_time = loop_.wall_now() + std::chrono::seconds(grace);
  const Ref<const Pod> going = store(std::move(draft), DeltaType::kUpdated);
  loop_.after(std::chrono::seconds(grace), [this, going, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    const Ref<const Pod> still = pod(going->namespace_name(), going->name());
    if (still && still->uid() == going->uid())
      static_cast<void>(remove_at_once(ObjectKind::kPod, going->namespace_name(), going->name()));
  });
  return {};
}

Result<void> SimCluster::remove_at_once(ObjectKind kind, std::string_view namespace_name,
                                        std::string_view name) {
  const Key where = key(kind, namespace_name, name);
  const auto found = objects_.find(where);
  if (found == objects_.end()) return not_found(std::string(to_string(kind)), where.second);
  ++changes_;
  ++version_;
  AnyObject last = std::move(found->second);
  objects_.erase(found);
  show(DeltaType::kDeleted, std::move(last));
  return {};
}

Ref<const Pod> SimCluster::pod(std::string_view namespace_name, std::string_view name) const {
  const auto found = objects_.find(key(ObjectKind::kPod, namespace_name, name));
  return found == objects_.end() ? nullptr : std::get<Ref<const Pod>>(found->second);
}

Ref<const Object> SimCluster::object(ObjectKind kind, std::string_view namespace_name,
                                     std::string_view name) const {
  const auto found = objects_.find(key(kind, namespace_name, name));
  return found == objects_.end() ? nullptr : std::get<Ref<const Object>>(found->second);
}

std::vector<Ref<const Pod>> SimCluster::pods() const {
  std::vector<Ref<const Pod>> all;
  for (const auto& [where, object] : objects_)
    if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) all.push_back(*pod);
  return all;
}

std::vector<Ref<const Object>> SimCluster::objects(ObjectKind kind) const {
  std::vector<Ref<const Object>> all;
  for (const auto& [where, object] : objects_)
    if (where.first == kind)
      if (const auto* other = std::get_if<Ref<const Object>>(&object)) all.push_back(*other);
  return all;
}

std::vector<AnyObject> SimCluster::relist() {
  to_show_.clear();
  std::vector<AnyObject> all;
  for (const auto& [where, object] : objects_) all.push_back(object);
  return all;
}

Admission SimCluster::admission() const {
  Admission admission;
  admission.now = loop_.wall_now();
  for (const Ref<const Object>& object : objects(ObjectKind::kPriorityClass))
    admission.priority_classes.emplace(
        object->name, Ref<const PriorityClass>(static_cast<const PriorityClass*>(object.get())));
  return admission;
}

std::size_t SimCluster::terminating() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pods(), [](const Ref<const Pod>& pod) { return pod->terminating(); }));
}

// ---- the door

Task<Result<void>> SimCluster::call(ApiCall call, Ref<const Pod> pod,
                                    std::function<Result<void>()> effect) {
  return carry_out<void>(fate_of_ ? fate_of_(call, *pod) : CallFate{}, std::move(effect));
}

Task<Result<void>> SimCluster::bind(Ref<const Pod> pod, std::string node_name) {
  return call(ApiCall::kBind, pod, [this, pod, node_name] { return do_bind(*pod, node_name); });
}

Task<Result<std::string>> SimCluster::patch_status(Ref<const Pod> pod, PodStatusPatch patch) {
  return carry_out<std::string>(
      fate_of_ ? fate_of_(ApiCall::kPatchStatus, *pod) : CallFate{},
      [this, pod, patch = std::move(patch)] { return do_patch_status(*pod, patch); });
}

Task<Result<void>> SimCluster::evict(Ref<const Pod> pod) {
  return call(ApiCall::kEvict, pod, [this, pod] {
    return remove_object(ObjectKind::kPod, pod->namespace_name(), pod->name());
  });
}

void SimCluster::record(PodEvent) {}  // the timeline hears of events from the scheduler itself

Result<void> SimCluster::do_bind(const Pod& wanted, const std::string& node_name) {
  const Ref<const Pod> present = pod(wanted.namespace_name(), wanted.name());
  if (!present) return not_found("pods", wanted.name());
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorKind::kConflict,
                fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": {}",
                            wanted.name(), why));
  };
  if (present->uid() != wanted.uid())
    return refuse(
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                    wanted.uid_text(), present->uid_text()));
  if (present->terminating())
    return refuse(
        fmt::format("pod {} is being deleted, cannot be assigned to a host", present->name()));
  if (!present->node().empty())
    return refuse(fmt::format("pod {} is already assigned to node \"{}\"", present->name(),
                              present->node_name()));
  ++bindings_[present->uid()];
  PodDraft draft = draft_of(*present);
  draft.node_name = node_name;
  draft.nominated_node_name.clear();
  // The node's kubelet has it running at once; the API keeps times in whole seconds.
  if (!draft.start_time)
    draft.start_time =
        WallTime{std::chrono::floor<std::chrono::seconds>(loop_.wall_now().since_epoch)};
  PodCondition scheduled;
  scheduled.type = "PodScheduled";
  scheduled.status = "True";
  set_condition(draft, scheduled);
  if (draft.extra && draft.extra->conditions.empty() && !draft.extra->has_resources() &&
      draft.extra->resource_claim_statuses.empty() && !draft.extra->extended_resource_claim_status)
    draft.extra.reset();
  store(std::move(draft), DeltaType::kUpdated);
  return {};
}

Result<std::string> SimCluster::do_patch_status(const Pod& wanted, const PodStatusPatch& patch) {
  const Ref<const Pod> present = pod(wanted.namespace_name(), wanted.name());
  if (!present) return fail(not_found("pods", wanted.name()).error());
  if (!patch.version.empty() && patch.version != present->resource_version())
    return fail(ErrorKind::kConflict,
                fmt::format("Operation cannot be fulfilled on pods \"{}\": the object has been "
                            "modified; please apply your changes to the latest version and try "
                            "again",
                            wanted.name()));
  return std::string(
      store(draft_of(*with_status(*present, patch, "")), DeltaType::kUpdated)->resource_version());
}

}  // namespace berth::sim
