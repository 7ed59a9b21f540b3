#include "app/embedded_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/claim_json.h"
#include "api/decode.h"
#include "api/devices.h"
#include "base/time_text.h"
#include "berth/pod.h"
#include "framework/pod_status.h"
#include "kube/watched_kinds.h"
#include "memapi/json_edit.h"

namespace berth::app {
namespace {

using memapi::Answer;
using memapi::object_at;
using memapi::set_text;

constexpr std::size_t kMostSeries = 10'000;

const memapi::Resource& pods() { return memapi::resource_of("pods"); }

// Of kinds that the scheduler writes.
const memapi::Resource& resource_of(ObjectKind kind) {
  if (kind == ObjectKind::kPersistentVolume) return memapi::resource_of("persistentvolumes");
  if (kind == ObjectKind::kPersistentVolumeClaim)
    return memapi::resource_of("persistentvolumeclaims");
  if (kind == ObjectKind::kPodGroup) return memapi::resource_of("podgroups", "scheduling.k8s.io");
  return memapi::resource_of("resourceclaims", "resource.k8s.io");
}

ErrorKind kind_of(int code) {
  switch (code) {
    case 403: return ErrorKind::kForbidden;
    case 404: return ErrorKind::kNotFound;
    case 409: return ErrorKind::kConflict;
    case 410: return ErrorKind::kGone;
    case 429:
    case 503: return ErrorKind::kUnavailable;
    case 504: return ErrorKind::kTimeout;
    default: return code >= 500 ? ErrorKind::kInternal : ErrorKind::kInvalid;
  }
}

template <typename T>
Result<void> result_of(const Answer<T>& answer) {
  if (answer) return {};
  return fail(kind_of(answer.error().code), answer.error().message);
}

// The store as informers of a scheduler see it: pods that have ended are gone.
const memapi::Selection& not_ended() {
  static const memapi::Selection kSelection =
      memapi::Selection::parse(pods(), "", "status.phase!=Succeeded,status.phase!=Failed").value();
  return kSelection;
}

std::string key_of(const memapi::Resource& resource, const memapi::StoredObject& object) {
  return fmt::format("{}/{}/{}", resource.plural, object.namespace_name, object.name);
}

void write_condition(JsonValue& status, const PodCondition& condition) {
  JsonValue written = JsonValue::object();
  set_text(written, "type", condition.type);
  set_text(written, "status", condition.status);
  if (!condition.reason.empty()) set_text(written, "reason", condition.reason);
  if (!condition.message.empty()) set_text(written, "message", condition.message);
  if (condition.last_probe_time)
    set_text(written, "lastProbeTime", rfc3339(*condition.last_probe_time));
  if (condition.last_transition_time)
    set_text(written, "lastTransitionTime", rfc3339(*condition.last_transition_time));
  if (condition.observed_generation != 0)
    written.add("observedGeneration", JsonValue::of_int(condition.observed_generation));
  for (JsonValue& one : memapi::array_at(status, "conditions").items) {
    if (memapi::text_at(one, "type") != condition.type) continue;
    one = std::move(written);
    return;
  }
  memapi::array_at(status, "conditions").items.push_back(std::move(written));
}

void write_extended_claim(JsonValue& status, const PodExtendedResourceClaimStatus& claim) {
  JsonValue& written = object_at(status, "extendedResourceClaimStatus");
  written = JsonValue::object();
  for (const ContainerExtendedResourceRequest& mapping : claim.request_mappings) {
    JsonValue one = JsonValue::object();
    set_text(one, "containerName", mapping.container_name);
    set_text(one, "resourceName", mapping.resource_name);
    set_text(one, "requestName", mapping.request_name);
    memapi::array_at(written, "requestMappings").items.push_back(std::move(one));
  }
  set_text(written, "resourceClaimName", claim.claim_name);
}

}  // namespace

EmbeddedCluster::EmbeddedCluster(memapi::LocalClient& api, Interner& interner,
                                 std::optional<telemetry::Log> log)
    : api_(api), interner_(interner), log_(std::move(log)) {}

EmbeddedCluster::~EmbeddedCluster() = default;

void EmbeddedCluster::serve(Engine& engine, extender::KeptObjects* kept, ui::LiveFeed* feed) {
  engine_ = &engine;
  kept_ = kept;
  feed_ = feed;
  for (const memapi::Resource& resource : memapi::resources()) {
    if (resource.verbs == memapi::Verbs::kCreate || !resource.stored_as.empty()) continue;
    const ObjectKind kind = object_kind(resource.group_version(), resource.kind);
    if (kind == ObjectKind::kOther) continue;
    followings_.push_back(
        api_.follow(resource, [this, &resource, kind](const memapi::Change& change) {
          changed(kind, resource, change);
        }));
  }
  if (!engine.other_resources().empty())
    followings_.push_back(
        api_.follow(memapi::resource_of("customresourcedefinitions", "apiextensions.k8s.io"),
                    [this](const memapi::Change&) { follow_others(); }));
  for (const auto& following : followings_) following->catch_up();
}

// Definitions have changed: follows what there is now of the resources that plugins read.
void EmbeddedCluster::follow_others() {
  const memapi::CustomKindsRef kinds = api_.custom_kinds();
  for (const auto& [name, plugins] : engine_->other_resources()) {
    const kube::WatchedKind kind = kube::other_kind(name, plugins);
    const std::string_view version = kind.api_version;
    const std::size_t slash = std::min(version.find('/'), version.size());
    const memapi::Resource* const resource =
        slash == version.size()
            ? nullptr
            : kinds->find(version.substr(0, slash), version.substr(slash + 1), kind.resource);
    const auto known = others_.find(name);
    if (known != others_.end()) {
      const bool is_same = resource != nullptr && resource->slot == known->second.slot &&
                           resource->custom->definition == known->second.definition;
      if (is_same) continue;
      known->second.following->catch_up();  // the end of its objects
      others_.erase(known);
    }
    if (resource == nullptr) continue;
    OtherFollowing& following = others_[name];
    following = {resource->custom->definition, resource->slot, kinds,
                 api_.follow(*resource, [this, other = name](const memapi::Change& change) {
                   other_changed(other, change);
                 })};
    following.following->catch_up();
  }
}

void EmbeddedCluster::other_changed(const std::string& other, const memapi::Change& change) {
  Result<AnyObject> object = decode_other_object(other, change.object->json, interner_);
  if (object) {
    const DeltaType type = change.type == memapi::ChangeType::kDeleted ? DeltaType::kDeleted
                           : change.previous                           ? DeltaType::kUpdated
                                                                       : DeltaType::kAdded;
    return show({type, *std::move(object)}, change);
  }
  if (log_)
    log_->error(object.error().message, "An object cannot be read and is passed over",
                {{"resource", other},
                 {"object", telemetry::LogValue::object(change.object->namespace_name,
                                                        change.object->name)}});
}

void EmbeddedCluster::changed(ObjectKind kind, const memapi::Resource& resource,
                              const memapi::Change& change) {
  const bool is_pod = &resource == &pods();
  const auto shown = [&](const memapi::ObjectRef& object) {
    return object && (!is_pod || not_ended().matches(object->selectable()));
  };
  bool before = shown(change.previous);
  const bool after = change.type != memapi::ChangeType::kDeleted && shown(change.object);
  if (!before && !after) return;
  const Result<AnyObject> object = decode_object(kind, change.object->json, interner_, nullptr);
  if (!object) return undecodable(kind, resource, change, before, after, object.error());
  if (std::holds_alternative<std::monostate>(*object)) return;
  if (!undecodable_.empty()) {
    const auto node = undecodable_.extract(key_of(resource, *change.object));
    if (!node.empty()) before = !std::holds_alternative<std::monostate>(node.mapped());
    if (!before && !after) return;
  }
  const DeltaType type = !after   ? DeltaType::kDeleted
                         : before ? DeltaType::kUpdated
                                  : DeltaType::kAdded;
  show({type, *object}, change);
}

void EmbeddedCluster::undecodable(ObjectKind kind, const memapi::Resource& resource,
                                  const memapi::Change& change, bool before, bool after,
                                  const Error& error) {
  const std::string key = key_of(resource, *change.object);
  auto known = undecodable_.find(key);
  if (known == undecodable_.end()) {
    AnyObject last;
    if (before)
      if (Result<AnyObject> decoded =
              decode_object(kind, change.previous->json, interner_, nullptr))
        last = *std::move(decoded);
    known = undecodable_.emplace(key, std::move(last)).first;
    if (log_)
      log_->error(error.message, "An object cannot be read and is passed over",
                  {{"resource", resource.plural},
                   {"object", telemetry::LogValue::object(change.object->namespace_name,
                                                          change.object->name)}});
  }
  if (after) return;
  const AnyObject last = std::move(undecodable_.extract(known).mapped());
  if (!std::holds_alternative<std::monostate>(last)) show({DeltaType::kDeleted, last}, change);
}

void EmbeddedCluster::show(const Delta& delta, const memapi::Change& change) {
  if (kept_)
    engine_->in_turn([kept = kept_, delta, whole = change.object] {
      kept->apply(delta, extender::ObjectText(whole, &whole->json));
    });
  if (feed_) feed_->changed(delta);
  engine_->apply(delta);
}

Task<Result<void>> EmbeddedCluster::bind(Ref<const Pod> pod, std::string node_name) {
  co_return result_of(api_.bind(pod->namespace_name(), pod->name(), pod->uid_text(), node_name));
}

Task<Result<bool>> EmbeddedCluster::is_bound(Ref<const Pod> pod, std::string node_name, bool) {
  const memapi::ObjectRef present = api_.get(pods(), pod->namespace_name(), pod->name());
  if (!present) co_return false;
  co_return is_bound_to(decode_object(ObjectKind::kPod, present->json, interner_, nullptr), *pod,
                        node_name);
}

Task<Result<std::string>> EmbeddedCluster::patch_status(Ref<const Pod> pod, PodStatusPatch patch) {
  const std::string uid = pod->uid_text();
  const auto edit = [&](JsonValue& object) -> Answer<void> {
    if (memapi::text_at(object, "metadata.uid") != uid)
      return memapi::refuse(memapi::ApiError::not_found(pods(), pod->name()));
    if (!patch.version.empty() &&
        memapi::text_at(object, "metadata.resourceVersion") != patch.version)
      return memapi::refuse(memapi::ApiError::modified(pods(), pod->name()));
    JsonValue& status = object_at(object, "status");
    if (patch.condition) write_condition(status, *patch.condition);
    if (patch.nominated_node_name) {
      if (patch.nominated_node_name->empty()) {
        memapi::erase(status, "nominatedNodeName");
      } else {
        set_text(status, "nominatedNodeName", *patch.nominated_node_name);
      }
    }
    if (patch.extended_resource_claim) write_extended_claim(status, *patch.extended_resource_claim);
    return {};
  };
  const Answer<memapi::ObjectRef> patched =
      api_.update_status(pods(), pod->namespace_name(), pod->name(), edit);
  if (!patched) co_return fail(kind_of(patched.error().code), patched.error().message);
  co_return fmt::format("{}", (*patched)->version);
}

Task<Result<void>> EmbeddedCluster::evict(Ref<const Pod> pod) {
  memapi::DeleteOptions options;
  options.uid = pod->uid_text();
  co_return result_of(api_.remove(pods(), pod->namespace_name(), pod->name(), options));
}

// ---- volumes and claims

Result<AnyObject> EmbeddedCluster::decoded(ObjectKind kind,
                                           const Answer<memapi::ObjectRef>& answer) {
  if (!answer) return fail(kind_of(answer.error().code), answer.error().message);
  return decode_object(kind, (*answer)->json, interner_, nullptr);
}

Result<AnyObject> EmbeddedCluster::write(const AnyObject& any, WrittenPart part) {
  const auto* wanted = std::get_if<Ref<const Object>>(&any);
  if (wanted == nullptr || !is_written((*wanted)->kind, part))
    return fail(ErrorKind::kInvalid, "only volumes and claims are written");
  const Object& object = **wanted;
  const memapi::Resource& resource = resource_of(object.kind);
  const auto edit = [&](JsonValue& stored) -> Answer<void> {
    if (memapi::text_at(stored, "metadata.resourceVersion") != object.resource_version)
      return memapi::refuse(memapi::ApiError::modified(resource, object.name));
    Result<JsonValue> laid = lay_over(stored, object, part, interner_);
    if (!laid) return memapi::refuse(memapi::ApiError::bad_request(laid.error().message));
    stored = *std::move(laid);
    return {};
  };
  const std::string_view where = object.symbols.text(object.namespace_name);
  return decoded(object.kind, part == WrittenPart::kStatus
                                  ? api_.update_status(resource, where, object.name, edit)
                                  : api_.update(resource, where, object.name, edit));
}

Task<Result<AnyObject>> EmbeddedCluster::update(AnyObject object) {
  co_return write(object, WrittenPart::kObject);
}
Task<Result<AnyObject>> EmbeddedCluster::update_status(AnyObject object) {
  co_return write(object, WrittenPart::kStatus);
}

Task<Result<AnyObject>> EmbeddedCluster::create(AnyObject object) {
  const auto* wanted = std::get_if<Ref<const Object>>(&object);
  if (wanted == nullptr || (*wanted)->kind != ObjectKind::kResourceClaim)
    co_return fail(ErrorKind::kInvalid, "only claims are created");
  const auto& claim = static_cast<const ResourceClaim&>(**wanted);
  co_return decoded(claim.kind, api_.create(resource_of(claim.kind), claim_json(claim)));
}

Task<Result<void>> EmbeddedCluster::remove(AnyObject object) {
  const auto* wanted = std::get_if<Ref<const Object>>(&object);
  if (wanted == nullptr || (*wanted)->kind != ObjectKind::kResourceClaim)
    co_return fail(ErrorKind::kInvalid, "only claims are removed");
  const Object& claim = **wanted;
  memapi::DeleteOptions options;
  options.uid = claim.uid;
  co_return result_of(api_.remove(resource_of(claim.kind), claim.symbols.text(claim.namespace_name),
                                  claim.name, options));
}

Task<Result<AnyObject>> EmbeddedCluster::get(ObjectKind kind, std::string namespace_name,
                                             std::string name) {
  if (!is_written(kind, WrittenPart::kObject))
    co_return fail(ErrorKind::kInvalid, "only volumes and claims are read");
  const memapi::ObjectRef present = api_.get(resource_of(kind), namespace_name, name);
  if (!present) co_return fail(no_such_object(kind, name));
  co_return decode_object(kind, present->json, interner_, nullptr);
}

Task<Result<void>> EmbeddedCluster::unreserve_claim(Ref<const Object> claim,
                                                    std::string consumer_uid) {
  const memapi::Resource& resource = resource_of(claim->kind);
  const auto edit = [&](JsonValue& stored) -> Answer<void> {
    if (memapi::text_at(stored, "metadata.uid") != claim->uid)
      return memapi::refuse(memapi::ApiError::not_found(resource, claim->name));
    std::erase_if(memapi::array_at(object_at(stored, "status"), "reservedFor").items,
                  [&](const JsonValue& consumer) {
                    return memapi::text_at(consumer, "uid") == consumer_uid;
                  });
    return {};
  };
  co_return result_of(
      api_.update_status(resource, claim->symbols.text(claim->namespace_name), claim->name, edit));
}

void EmbeddedCluster::record(PodEvent event) {
  const memapi::Resource& events = memapi::resource_of("events");
  const std::string space(event.pod->namespace_name());
  const std::string now = rfc3339_micro(api_.loop().wall_now());
  const std::string said = fmt::format("{}/{}/{}/{}", event.pod->uid_text(), event.reason,
                                       event.reporting_controller, event.note);
  if (const auto first = series_.find(said); first != series_.end()) {
    const auto joined = [&](JsonValue& object) -> Answer<void> {
      JsonValue& series = object_at(object, "series");
      const std::int64_t count = memapi::int_at(series, "count").value_or(1) + 1;
      memapi::set(series, "count", JsonValue::of_int(count));
      set_text(series, "lastObservedTime", now);
      return {};
    };
    if (api_.update(events, space, first->second, joined)) return;
  }
  const std::string name = fmt::format(
      "{}.{:x}", event.pod->name(),
      static_cast<std::uint64_t>(api_.loop().wall_now().since_epoch.count()) + events_++);
  JsonValue object = JsonValue::object();
  set_text(object_at(object, "metadata"), "name", name);
  set_text(object_at(object, "metadata"), "namespace", space);
  JsonValue& involved = object_at(object, "involvedObject");
  set_text(involved, "kind", "Pod");
  set_text(involved, "apiVersion", "v1");
  set_text(involved, "namespace", space);
  set_text(involved, "name", event.pod->name());
  set_text(involved, "uid", event.pod->uid_text());
  set_text(involved, "resourceVersion", event.pod->resource_version());
  set_text(object, "type", event.type == EventType::kNormal ? "Normal" : "Warning");
  set_text(object, "reason", event.reason);
  set_text(object, "action", event.action);
  set_text(object, "message", event.note);
  set_text(object, "eventTime", now);
  set_text(object, "reportingComponent", event.reporting_controller);
  set_text(object, "reportingInstance", event.reporting_controller + "-embedded");
  if (!api_.create(events, std::move(object))) return;  // its namespace is going
  if (series_.size() >= kMostSeries) series_.clear();
  series_[said] = name;
}

}  // namespace berth::app
