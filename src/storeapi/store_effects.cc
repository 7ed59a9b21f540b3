// What the calls of a StoreApi do to the objects: an API server's preconditions, and its words when
// they do not hold.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/devices.h"
#include "framework/pod_status.h"
#include "storeapi/store_api.h"

namespace berth {
namespace {

std::unexpected<Error> no_such_pod(const Pod& pod) {
  return fail(ErrorKind::kNotFound, fmt::format("pods \"{}\" not found", pod.name()));
}

std::unexpected<Error> cannot_bind(const Pod& pod, const std::string& why) {
  return fail(
      ErrorKind::kConflict,
      fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": {}", pod.name(), why));
}

// Whether nothing is left of the pod's status beside what a binding sets.
bool has_plain_status(const Pod& pod) {
  const PodExtra* extra = pod.extra();
  return !extra || (!extra->has_resources() && extra->resource_claim_statuses.empty() &&
                    !extra->extended_resource_claim_status &&
                    std::ranges::all_of(extra->conditions, [](const PodCondition& condition) {
                      return condition.type == "PodScheduled";
                    }));
}

// Null when it is a pod, or nothing.
const Object* written_object(const AnyObject& any) {
  const auto* object = std::get_if<Ref<const Object>>(&any);
  return object ? object->get() : nullptr;
}

}  // namespace

// ---- pods

// A pod with a plain status is copied without a draft: that is most of them.
Ref<const Pod> StoreApi::bound(const Pod& stored, std::string_view node_name) {
  std::string version = objects_.next_version(stored.resource_version());
  const bool starts = options_.starts_pods && !stored.start_time();
  if (has_plain_status(stored) && !starts) return bound_to(stored, node_name, version);
  PodDraft draft = draft_of(stored);
  draft.resource_version = std::move(version);
  draft.node_name = node_name;
  draft.nominated_node_name.clear();
  // The API keeps times in whole seconds.
  if (starts)
    draft.start_time =
        WallTime{std::chrono::floor<std::chrono::seconds>(loop_.wall_now().since_epoch)};
  PodCondition scheduled;
  scheduled.type = "PodScheduled";
  scheduled.status = "True";
  set_condition(draft, scheduled);
  if (draft.extra && draft.extra->conditions.empty() && !draft.extra->has_resources() &&
      draft.extra->resource_claim_statuses.empty() && !draft.extra->extended_resource_claim_status)
    draft.extra.reset();
  return make_pod(std::move(draft));
}

Result<void> StoreApi::do_bind(const Pod& wanted, std::string_view node_name) {
  const Ref<const Pod> present = objects_.stored_pod(wanted);
  if (!present) return no_such_pod(wanted);
  if (present->uid() != wanted.uid())
    return cannot_bind(
        wanted, fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                            wanted.uid_text(), present->uid_text()));
  if (present->terminating())
    return cannot_bind(wanted, fmt::format("pod {} is being deleted, cannot be assigned to a host",
                                           present->name()));
  if (!present->node().empty())
    return cannot_bind(wanted, fmt::format("pod {} is already assigned to node \"{}\"",
                                           present->name(), present->node_name()));
  objects_.replace_pod(present, bound(*present, node_name));
  return {};
}

Result<std::string> StoreApi::do_patch_status(const Pod& wanted, const PodStatusPatch& patch) {
  if (!options_.keeps_statuses) return std::string();
  const Ref<const Pod> present = objects_.stored_pod(wanted);
  if (!present || present->uid() != wanted.uid()) return no_such_pod(wanted);
  if (!patch.version.empty() && patch.version != present->resource_version())
    return fail(ErrorKind::kConflict,
                fmt::format("Operation cannot be fulfilled on pods \"{}\": the object has been "
                            "modified; please apply your changes to the latest version and try "
                            "again",
                            wanted.name()));
  std::string version = objects_.next_version(present->resource_version());
  objects_.replace_pod(present, with_status(*present, patch, version));
  return version;
}

Result<void> StoreApi::do_evict(const Pod& wanted) {
  const Ref<const Pod> present = objects_.stored_pod(wanted);
  if (!present || present->uid() != wanted.uid()) return no_such_pod(wanted);
  objects_.delete_pod(present);
  return {};
}

// ---- volumes and claims

Result<AnyObject> StoreApi::do_write(const AnyObject& any, WrittenPart part) {
  const Object* wanted = written_object(any);
  if (!wanted || !is_written(wanted->kind, part))
    return fail(ErrorKind::kInvalid, "only volumes and claims are written");
  const Ref<const Object> present =
      objects_.stored_object(wanted->kind, namespace_of(*wanted), wanted->name);
  if (!present) return fail(no_such_object(wanted->kind, wanted->name));
  if (present->resource_version != wanted->resource_version || present->uid != wanted->uid)
    return fail(modified_meanwhile(wanted->kind, wanted->name));
  Ref<const Object> written =
      lay_over(*present, *wanted, part, objects_.next_version(present->resource_version));
  objects_.replace_object(present, written);
  return AnyObject(std::move(written));
}

Result<AnyObject> StoreApi::do_create(const AnyObject& any) {
  const Object* wanted = written_object(any);
  if (!wanted || wanted->kind != ObjectKind::kResourceClaim)
    return fail(ErrorKind::kInvalid, "only claims are created");
  Result<Ref<const Object>> made =
      objects_.create_claim(static_cast<const ResourceClaim&>(*wanted));
  if (!made) return fail(made.error());
  return AnyObject(std::move(*made));
}

Result<void> StoreApi::do_remove(const AnyObject& any) {
  const Object* wanted = written_object(any);
  if (!wanted || wanted->kind != ObjectKind::kResourceClaim)
    return fail(ErrorKind::kInvalid, "only claims are removed");
  const Ref<const Object> present =
      objects_.stored_object(wanted->kind, namespace_of(*wanted), wanted->name);
  if (!present || (!wanted->uid.empty() && present->uid != wanted->uid))
    return fail(no_such_object(wanted->kind, wanted->name));
  objects_.delete_object(present);
  return {};
}

Result<AnyObject> StoreApi::do_get(ObjectKind kind, std::string_view namespace_name,
                                   std::string_view name) const {
  Ref<const Object> present = objects_.stored_object(kind, namespace_name, name);
  if (!present) return fail(no_such_object(kind, name));
  return AnyObject(std::move(present));
}

Result<void> StoreApi::do_unreserve(const Object& wanted, std::string_view consumer_uid) {
  const Ref<const Object> present =
      objects_.stored_object(wanted.kind, namespace_of(wanted), wanted.name);
  if (!present) return fail(no_such_object(wanted.kind, wanted.name));
  if (present->uid != wanted.uid) return fail(modified_meanwhile(wanted.kind, wanted.name));
  auto claim = make_ref<ResourceClaim>(static_cast<const ResourceClaim&>(*present));
  const std::size_t gone = std::erase_if(
      claim->status.reserved_for,
      [&](const ResourceClaimConsumerReference& consumer) { return consumer.uid == consumer_uid; });
  if (gone == 0) return {};
  claim->resource_version = objects_.next_version(present->resource_version);
  objects_.replace_object(present, claim);
  return {};
}

}  // namespace berth
