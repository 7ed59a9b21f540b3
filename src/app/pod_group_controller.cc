#include "app/pod_group_controller.h"

#include <fmt/format.h>

#include <utility>

#include "controllers/pod_group.h"
#include "wire/json_tree.h"

namespace berth::app {
namespace {

std::vector<kube::WatchedKind> followed_kinds() {
  const std::string by = std::string(PodGroupController::kName);
  kube::WatchedKind pods{ObjectKind::kPod, "v1", "Pod", "pods", "", {by}};
  pods.label_selector = CoschedulingPodGroup::kLabel;
  return {std::move(pods), kube::other_kind(CoschedulingPodGroup::kResource, {by})};
}

controllers::GroupPods counted(const auto& pods) {
  controllers::GroupPods counts;
  for (const auto& [name, pod] : pods) {
    switch (pod->phase()) {
      case PodPhase::kRunning: ++counts.running; break;
      case PodPhase::kSucceeded: ++counts.succeeded; break;
      case PodPhase::kFailed: ++counts.failed; break;
      default: ++counts.others;
    }
    const ControllerRef& owner = pod->meta().controller;
    if (counts.owner.empty() && !owner.empty())
      counts.owner = fmt::format("{}/{}", pod->namespace_name(), pod->text(owner.name));
  }
  return counts;
}

// What is empty goes.
std::string status_patch(const CoschedulingPodGroup::Status& status) {
  JsonValue fields = JsonValue::object();
  const auto text = [&](std::string_view name, const std::string& value) {
    fields.add(name, value.empty() ? JsonValue{} : JsonValue::of_text(value));
  };
  const auto number = [&](std::string_view name, std::int32_t value) {
    fields.add(name, value == 0 ? JsonValue{} : JsonValue::of_int(value));
  };
  text("phase", status.phase);
  text("occupiedBy", status.occupied_by);
  number("running", status.running);
  number("succeeded", status.succeeded);
  number("failed", status.failed);
  JsonValue patch = JsonValue::object();
  patch.add("status", std::move(fields));
  return to_json(patch);
}

}  // namespace

PodGroupController::PodGroupController(Loop& loop, kube::ApiClient& client, Interner& interner,
                                       Random random, telemetry::Log log)
    : Controller(loop),
      client_(client),
      log_(std::move(log)),
      symbols_(interner.hold()),
      label_(symbols_.intern(CoschedulingPodGroup::kLabel)),
      reflectors_(std::make_unique<kube::Reflectors>(
          loop, client, interner, random, log_, kube::ReflectorsOptions{.kinds = followed_kinds()},
          [this](const Delta& delta) { apply(delta); })) {}

void PodGroupController::start() { reflectors_->start(); }

void PodGroupController::stop() {
  reflectors_->stop();
  tasks_.clear();
}

// ---- what there is

void PodGroupController::apply(const Delta& delta) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object))
    return pod_changed(delta.type, *pod);
  const auto* object = std::get_if<Ref<const Object>>(&delta.object);
  if (object == nullptr) return;
  const Object& named = **object;
  std::string key = controllers::object_key(named.symbols.text(named.namespace_name), named.name);
  Group& group = groups_[key];
  if (delta.type == DeltaType::kDeleted) {
    group.object = nullptr;
    if (group.pods.empty()) groups_.erase(key);
    return;
  }
  group.object =
      Ref<const CoschedulingPodGroup>(static_cast<const CoschedulingPodGroup*>(object->get()));
  enqueue(std::move(key));
}

void PodGroupController::pod_changed(DeltaType type, const Ref<const Pod>& pod) {
  const std::string pod_key = controllers::object_key(pod->namespace_name(), pod->name());
  const Symbol group = pod->labels().get(label_);
  const bool gone = type == DeltaType::kDeleted || group.empty();
  std::string key =
      gone ? std::string() : controllers::object_key(pod->namespace_name(), pod->text(group));
  if (const auto before = group_of_.find(pod_key);
      before != group_of_.end() && before->second != key)
    leave(pod_key, pod->name());
  if (gone) return;
  group_of_[pod_key] = key;
  groups_[key].pods[std::string(pod->name())] = pod;
  enqueue(std::move(key));
}

void PodGroupController::leave(const std::string& pod_key, std::string_view pod_name) {
  std::string key = std::move(group_of_.extract(pod_key).mapped());
  const auto group = groups_.find(key);
  if (group == groups_.end()) return;
  if (const auto pod = group->second.pods.find(pod_name); pod != group->second.pods.end())
    group->second.pods.erase(pod);
  if (group->second.pods.empty() && !group->second.object)
    groups_.erase(group);
  else
    enqueue(std::move(key));
}

// ---- what is written

void PodGroupController::sync(const std::string& key) {
  const auto found = groups_.find(key);
  if (found == groups_.end() || !found->second.object || being_written_.contains(key)) return;
  const CoschedulingPodGroup& group = *found->second.object;
  CoschedulingPodGroup::Status status =
      controllers::next_status(group, counted(found->second.pods));
  if (status == group.status) return;
  being_written_.insert(key);
  tasks_.spawn(write(key, std::move(status)));
}

// The watch shows what was written, and leads to the next look.
Task<void> PodGroupController::write(std::string key, CoschedulingPodGroup::Status status) {
  const controllers::ObjectName name = controllers::name_of(key);
  kube::ApiCall call = kube::json_call(
      "PATCH",
      fmt::format("/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{}/podgroups/{}/status",
                  name.namespace_name, name.name),
      status_patch(status));
  call.content_type = "application/merge-patch+json";
  call.urgency = kube::Urgency::kLow;
  Task<kube::ApiResult> calling = client_.call(std::move(call));
  const kube::ApiResult answer = co_await calling;
  being_written_.erase(key);
  if (!answer && answer.error().status.code != 404) {
    log_.error(answer.error().error.message, "The status of a PodGroup could not be written",
               {{"podGroup", telemetry::LogValue::object(name.namespace_name, name.name)}});
    enqueue_after(controllers::kRetryAfterRefusal, std::move(key));
  }
}

}  // namespace berth::app
