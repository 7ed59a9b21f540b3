#include "perf/immediate_api.h"

#include <memory>
#include <utility>

#include "api/defaulting.h"
#include "api/devices.h"
#include "framework/pod_status.h"

namespace berth::perf {
namespace {

std::string_view namespace_of(const Object& object) {
  return object.symbols.text(object.namespace_name);
}

Error no_such(const Object& object) { return {ErrorKind::kNotFound, object.name + " not found"}; }

}  // namespace

void ImmediateApi::show(DeltaType type, PodDraft draft) {
  draft.resource_version = std::to_string(++version_);
  engine_->apply({type, make_pod(std::move(draft))});
}

Task<Result<void>> ImmediateApi::bind(Ref<const Pod> pod, std::string node_name) {
  engine_->apply({DeltaType::kUpdated, bound_to(*pod, node_name, std::to_string(++version_))});
  co_return Result<void>();
}

Task<Result<std::string>> ImmediateApi::patch_status(Ref<const Pod> pod, PodStatusPatch patch) {
  const Ref<const Pod> stored = engine_->cluster().seen_pod(*pod);
  if (!stored || stored->uid() != pod->uid())
    co_return fail(ErrorKind::kNotFound, "pods \"" + std::string(pod->name()) + "\" not found");
  std::string version = std::to_string(++version_);
  engine_->apply({DeltaType::kUpdated, with_status(*stored, patch, version)});
  co_return version;
}

Task<Result<void>> ImmediateApi::evict(Ref<const Pod> pod) {
  const Ref<const Pod> stored = engine_->cluster().seen_pod(*pod);
  if (!stored || stored->uid() != pod->uid())
    co_return fail(ErrorKind::kNotFound, "pods \"" + std::string(pod->name()) + "\" not found");
  engine_->apply({DeltaType::kDeleted, stored});
  co_return Result<void>();
}

// ---- volumes and claims: what was shown last is what is stored.

Result<AnyObject> ImmediateApi::write(const AnyObject& any, WrittenPart part) {
  const Object& wanted = *std::get<Ref<const Object>>(any);
  const Ref<const Object> stored =
      engine_->cluster().find(wanted.kind, namespace_of(wanted), wanted.name);
  if (!stored || stored->uid != wanted.uid) return fail(no_such(wanted));
  if (stored->resource_version != wanted.resource_version)
    return fail(ErrorKind::kConflict, "the object has been modified");
  const Ref<const Object> written = lay_over(*stored, wanted, part, std::to_string(++version_));
  engine_->apply({DeltaType::kUpdated, written});
  return AnyObject(written);
}

Task<Result<AnyObject>> ImmediateApi::update(AnyObject object) {
  co_return write(object, WrittenPart::kObject);
}
Task<Result<AnyObject>> ImmediateApi::update_status(AnyObject object) {
  co_return write(object, WrittenPart::kStatus);
}

Task<Result<AnyObject>> ImmediateApi::create(AnyObject object) {
  const Object& wanted = *std::get<Ref<const Object>>(object);
  if (wanted.kind != ObjectKind::kResourceClaim)
    co_return fail(ErrorKind::kInvalid, "only claims are created");
  auto made = make_ref<ResourceClaim>(static_cast<const ResourceClaim&>(wanted));
  made->resource_version = std::to_string(++version_);
  if (made->name.empty()) made->name = made->generate_name + made->resource_version;
  made->uid = deterministic_uid("ResourceClaim", namespace_of(*made), made->name);
  made->status = {};
  engine_->apply({DeltaType::kAdded, Ref<const Object>(made)});
  co_return AnyObject(Ref<const Object>(made));
}

Task<Result<void>> ImmediateApi::remove(AnyObject object) {
  const Object& wanted = *std::get<Ref<const Object>>(object);
  const Ref<const Object> stored =
      engine_->cluster().find(wanted.kind, namespace_of(wanted), wanted.name);
  if (!stored) co_return fail(no_such(wanted));
  engine_->apply({DeltaType::kDeleted, stored});
  co_return Result<void>();
}

Task<Result<AnyObject>> ImmediateApi::get(ObjectKind kind, std::string namespace_name,
                                          std::string name) {
  const Ref<const Object> stored = engine_->cluster().find(kind, namespace_name, name);
  if (!stored) co_return fail(ErrorKind::kNotFound, name + " not found");
  co_return AnyObject(stored);
}

Task<Result<void>> ImmediateApi::unreserve_claim(Ref<const Object> claim,
                                                 std::string consumer_uid) {
  const Ref<const Object> stored =
      engine_->cluster().find(claim->kind, namespace_of(*claim), claim->name);
  if (!stored || stored->uid != claim->uid) co_return fail(no_such(*claim));
  auto written = make_ref<ResourceClaim>(static_cast<const ResourceClaim&>(*stored));
  std::erase_if(written->status.reserved_for, [&](const ResourceClaimConsumerReference& consumer) {
    return consumer.uid == consumer_uid;
  });
  written->resource_version = std::to_string(++version_);
  engine_->apply({DeltaType::kUpdated, Ref<const Object>(written)});
  co_return Result<void>();
}

}  // namespace berth::perf
