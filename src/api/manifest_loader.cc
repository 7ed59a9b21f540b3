#include "api/manifest_loader.h"

#include <utility>

#include "api/decode.h"

namespace berth {

Result<std::vector<std::string>> ManifestLoader::read(TextSource& source,
                                                      const std::string& file_name) {
  unknown_.clear();
  if (Result<void> walked = walk(source, file_name); !walked) return fail(walked.error());
  return std::exchange(unknown_, {});
}

Result<void> ManifestLoader::decode(ManifestObject& object, std::string_view json) {
  // What was taken for an item of a list and was none.
  while (!unsettled_.empty() && unsettled_.back().object >= objects_.size()) unsettled_.pop_back();
  if (is_workload(object.kind)) object.json = json;
  if (!known_fields_.cover(object.api_version, object.kind_text, json))
    name_unknown_fields(object, json, unknown_);
  admission_.resource_version = objects_.size() + 1;
  JsonReader reader(json, memory_);
  Result<AnyObject> decoded =
      object.kind == ObjectKind::kPod
          ? decode_pod(reader, object.name)
          : decode_object(object.kind, reader, interner_, &admission_, object.name);
  if (!decoded) return fail(std::move(decoded).error());
  object.object = *std::move(decoded);
  if (object.kind == ObjectKind::kPriorityClass) {
    const auto& decoded_class = std::get<Ref<const Object>>(object.object);
    admission_.priority_classes[object.name] =
        Ref<const PriorityClass>(static_cast<const PriorityClass*>(decoded_class.get()));
    classes_until_ = objects_.size();
  }
  return {};
}

// A pod is admitted with the classes that there are so far; finish() does so again where others came
// later.
Result<AnyObject> ManifestLoader::decode_pod(JsonReader& json, std::string_view name) {
  Result<WrittenPod> pod = decode_written_pod(json, interner_);
  if (!pod) return fail(std::move(pod).error());
  if (pod->own.name.empty()) pod->own.name = name;
  Unsettled unsettled;
  unsettled.object = objects_.size();
  unsettled.class_named = !pod->spec.priority_class_name.empty();
  unsettled.priority_given = pod->priority_given;
  unsettled.policy_given = pod->preemption_policy_given;
  unsettled.refused = !admit(*pod, admission_);
  if (unsettled.class_named || !unsettled.priority_given) unsettled_.push_back(unsettled);
  return AnyObject(freeze(*std::move(pod), interner_));
}

Result<AnyObject> ManifestLoader::admit_again(const Pod& pod, const Unsettled& unsettled) {
  WrittenPod written(interner_);
  written.meta = pod.meta();
  written.spec = pod.spec();
  written.own = draft_of(pod);
  written.priority_given = unsettled.priority_given;
  written.preemption_policy_given = unsettled.policy_given;
  // As it was read.
  const PodSpec unsaid(interner_.hold());
  if (!unsettled.class_named) written.spec.priority_class_name = unsaid.priority_class_name;
  if (!unsettled.priority_given) written.spec.priority = unsaid.priority;
  if (!unsettled.policy_given) written.spec.preemption_policy = unsaid.preemption_policy;
  admission_.resource_version = unsettled.object + 1;  // if it has none yet
  if (Result<void> admitted = admit(written, admission_); !admitted) return fail(admitted.error());
  return AnyObject(freeze(std::move(written), interner_));
}

// Groups whose PriorityClass came after them.
void ManifestLoader::settle_groups() {
  for (std::size_t at = 0; at < classes_until_ && at < objects_.size(); ++at) {
    if (objects_[at].kind != ObjectKind::kPodGroup) continue;
    auto& held = std::get<Ref<const Object>>(objects_[at].object);
    auto settled = make_ref<PodGroup>(static_cast<const PodGroup&>(*held));
    resolve_priority(*settled, admission_);
    held = std::move(settled);
  }
}

Result<std::vector<ManifestObject>> ManifestLoader::finish() {
  for (const Unsettled& unsettled : unsettled_) {
    if (!unsettled.refused && unsettled.object >= classes_until_) continue;
    ManifestObject& object = objects_[unsettled.object];
    Result<AnyObject> admitted = admit_again(*std::get<Ref<const Pod>>(object.object), unsettled);
    if (!admitted) return fail_in(object, admitted.error());
    object.object = *std::move(admitted);
  }
  unsettled_.clear();
  settle_groups();
  return std::move(objects_);
}

}  // namespace berth
