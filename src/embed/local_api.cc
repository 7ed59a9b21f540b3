#include "embed/local_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/defaulting.h"
#include "api/devices.h"

namespace berth {
namespace {

// The pod as it is now; null when it is gone.
Ref<const Pod> newest_of(Engine& engine, const Pod& pod) {
  Ref<const Pod> seen = engine.cluster().seen_pod(pod);
  return seen && seen->uid() == pod.uid() ? seen : nullptr;
}

std::string_view namespace_of(const Object& object) {
  return object.symbols.text(object.namespace_name);
}

Result<void> not_found(const Pod& pod) {
  return fail(ErrorKind::kNotFound, fmt::format("pods \"{}\" not found", pod.name()));
}

}  // namespace

void LocalApi::serve(Engine& engine) { *engine_ = &engine; }

std::string LocalApi::next_version(std::string_view than) {
  std::uint64_t number = 0;
  std::from_chars(than.data(), than.data() + than.size(), number);
  version_ = std::max(version_, number) + 1;
  return std::to_string(version_);
}

void LocalApi::show(Showing showing) {
  loop_.post([engine = std::weak_ptr(engine_), showing = std::move(showing)] {
    if (const auto present = engine.lock()) showing(**present);
  });
}

Task<Result<void>> LocalApi::bind(Ref<const Pod> pod, std::string node_name) {
  const Ref<const Pod> now = newest_of(**engine_, *pod);
  if (!now) co_return not_found(*pod);
  if (!now->node().empty())
    co_return fail(ErrorKind::kConflict, fmt::format("pod {} is already assigned to node \"{}\"",
                                                     pod->name(), now->node_name()));
  show([this, pod, node_name = std::move(node_name)](Engine& engine) {
    // What has changed meanwhile stays changed, and who was removed stays away.
    const Ref<const Pod> latest = newest_of(engine, *pod);
    if (!latest) return;
    PodDraft draft = draft_of(*latest);
    draft.node_name = node_name;
    draft.nominated_node_name.clear();
    draft.scheduled_condition = true;
    if (draft.extra) draft.extra->conditions.clear();
    draft.resource_version = next_version(latest->resource_version());
    engine.apply({DeltaType::kUpdated, make_pod(std::move(draft))});
  });
  co_return Result<void>();
}

// Conditions and nominations have nobody to read them here.
Task<Result<std::string>> LocalApi::patch_status(Ref<const Pod>, PodStatusPatch) {
  co_return std::string();
}

Task<Result<void>> LocalApi::evict(Ref<const Pod> pod) {
  if (!newest_of(**engine_, *pod)) co_return not_found(*pod);
  show([pod](Engine& engine) {
    if (const Ref<const Pod> latest = newest_of(engine, *pod))
      engine.apply({DeltaType::kDeleted, latest});
  });
  co_return Result<void>();
}

// ---- volumes and claims

Ref<const Object> LocalApi::newest(ObjectKind kind, std::string_view namespace_name,
                                   std::string_view name) const {
  const auto written = written_.find(Key(kind, std::string(namespace_name), std::string(name)));
  if (written != written_.end()) return written->second;
  return (*engine_)->cluster().find(kind, namespace_name, name);
}

void LocalApi::keep_and_show(DeltaType type, const Ref<const Object>& object) {
  const Key key(object->kind, std::string(namespace_of(*object)), object->name);
  written_[key] = type == DeltaType::kDeleted ? nullptr : object;
  show([this, type, object, key](Engine& engine) {
    const auto written = written_.find(key);
    const bool newest_now = written != written_.end() &&
                            written->second == (type == DeltaType::kDeleted ? nullptr : object);
    engine.apply({type, object});
    if (newest_now) written_.erase(key);
  });
}

Result<AnyObject> LocalApi::write(const AnyObject& any, WrittenPart part) {
  const auto* wanted = std::get_if<Ref<const Object>>(&any);
  if (wanted == nullptr || !is_written((*wanted)->kind, part))
    return fail(ErrorKind::kInvalid, "only volumes and claims are written");
  const Object& object = **wanted;
  const Ref<const Object> present = newest(object.kind, namespace_of(object), object.name);
  if (!present) return fail(no_such_object(object.kind, object.name));
  if (present->resource_version != object.resource_version || present->uid != object.uid)
    return fail(modified_meanwhile(object.kind, object.name));
  const Ref<const Object> written =
      lay_over(*present, object, part, next_version(present->resource_version));
  keep_and_show(DeltaType::kUpdated, written);
  return AnyObject(written);
}

Task<Result<AnyObject>> LocalApi::update(AnyObject object) {
  co_return write(object, WrittenPart::kObject);
}
Task<Result<AnyObject>> LocalApi::update_status(AnyObject object) {
  co_return write(object, WrittenPart::kStatus);
}

Task<Result<AnyObject>> LocalApi::create(AnyObject object) {
  const auto* wanted = std::get_if<Ref<const Object>>(&object);
  if (wanted == nullptr || (*wanted)->kind != ObjectKind::kResourceClaim)
    co_return fail(ErrorKind::kInvalid, "only claims are created");
  auto made = make_ref<ResourceClaim>(static_cast<const ResourceClaim&>(**wanted));
  made->resource_version = next_version();
  if (made->name.empty()) made->name = made->generate_name + made->resource_version;
  if (newest(made->kind, namespace_of(*made), made->name))
    co_return fail(ErrorKind::kConflict, fmt::format("{} \"{}\" already exists",
                                                     written_resource(made->kind), made->name));
  made->uid = deterministic_uid("ResourceClaim", namespace_of(*made),
                                fmt::format("{}#{}", made->name, made->resource_version));
  made->creation_time = loop_.wall_now();
  made->status = {};
  keep_and_show(DeltaType::kAdded, made);
  co_return AnyObject(Ref<const Object>(made));
}

// There is no controller that would take finalizers away: what is removed goes at once.
Task<Result<void>> LocalApi::remove(AnyObject object) {
  const auto* wanted = std::get_if<Ref<const Object>>(&object);
  if (wanted == nullptr || (*wanted)->kind != ObjectKind::kResourceClaim)
    co_return fail(ErrorKind::kInvalid, "only claims are removed");
  const Ref<const Object> present =
      newest((*wanted)->kind, namespace_of(**wanted), (*wanted)->name);
  if (!present || (!(*wanted)->uid.empty() && present->uid != (*wanted)->uid))
    co_return fail(no_such_object((*wanted)->kind, (*wanted)->name));
  keep_and_show(DeltaType::kDeleted, present);
  co_return Result<void>();
}

Task<Result<AnyObject>> LocalApi::get(ObjectKind kind, std::string namespace_name,
                                      std::string name) {
  const Ref<const Object> present = newest(kind, namespace_name, name);
  if (!present) co_return fail(no_such_object(kind, name));
  co_return AnyObject(present);
}

Task<Result<void>> LocalApi::unreserve_claim(Ref<const Object> claim, std::string consumer_uid) {
  const Ref<const Object> present = newest(claim->kind, namespace_of(*claim), claim->name);
  if (!present || present->uid != claim->uid)
    co_return fail(no_such_object(claim->kind, claim->name));
  auto written = make_ref<ResourceClaim>(static_cast<const ResourceClaim&>(*present));
  std::erase_if(written->status.reserved_for, [&](const ResourceClaimConsumerReference& consumer) {
    return consumer.uid == consumer_uid;
  });
  written->resource_version = next_version(present->resource_version);
  keep_and_show(DeltaType::kUpdated, written);
  co_return Result<void>();
}

}  // namespace berth
