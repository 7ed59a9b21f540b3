#include "api/owned_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/claim_json.h"
#include "api/decode.h"
#include "api/devices.h"
#include "api/pod_group.h"
#include "api/storage.h"
#include "base/time_text.h"

namespace berth {
namespace {

// The member of that name, made if there is none; null becomes an object.
JsonValue& object_in(JsonValue& parent, std::string_view name) {
  for (JsonMember& member : parent.members)
    if (member.name == name) {
      if (member.value.kind != JsonValue::Kind::kObject) member.value = JsonValue::object();
      return member.value;
    }
  parent.add(name, JsonValue::object());
  return parent.members.back().value;
}

void erase(JsonValue& parent, std::string_view name) {
  std::erase_if(parent.members, [&](const JsonMember& member) { return member.name == name; });
}

void set(JsonValue& parent, std::string_view name, JsonValue value) {
  for (JsonMember& member : parent.members)
    if (member.name == name) {
      member.value = std::move(value);
      return;
    }
  parent.add(name, std::move(value));
}

void set_annotation(JsonValue& stored, std::string_view name,
                    std::optional<std::string_view> value) {
  JsonValue& metadata = object_in(stored, "metadata");
  if (value) {
    set(object_in(metadata, "annotations"), name, JsonValue::of_text(*value));
    return;
  }
  const JsonValue* annotations = metadata.find("annotations");
  if (annotations && annotations->find(name)) erase(object_in(metadata, "annotations"), name);
}

JsonValue claim_reference(const ClaimReference& reference, const SymbolHold& symbols) {
  JsonValue json = JsonValue::object();
  json.add("kind", JsonValue::of_text("PersistentVolumeClaim"));
  json.add("namespace", JsonValue::of_text(symbols.text(reference.namespace_name)));
  json.add("name", JsonValue::of_text(reference.name));
  if (!reference.uid.empty()) json.add("uid", JsonValue::of_text(reference.uid));
  json.add("apiVersion", JsonValue::of_text("v1"));
  if (!reference.resource_version.empty())
    json.add("resourceVersion", JsonValue::of_text(reference.resource_version));
  return json;
}

void lay_volume(JsonValue& json, const PersistentVolume& stored, const PersistentVolume& written) {
  if (written.bound_by_controller != stored.bound_by_controller)
    set_annotation(
        json, annotations::kBoundByController,
        written.bound_by_controller ? std::optional<std::string_view>("yes") : std::nullopt);
  if (written.claim_ref == stored.claim_ref) return;
  JsonValue& spec = object_in(json, "spec");
  if (written.claim_ref)
    set(spec, "claimRef", claim_reference(*written.claim_ref, written.symbols));
  else
    erase(spec, "claimRef");
}

void lay_claim(JsonValue& json, const PersistentVolumeClaim& written) {
  set_annotation(json, annotations::kSelectedNode,
                 written.selected_node ? std::optional(written.symbols.text(*written.selected_node))
                                       : std::nullopt);
}

void lay_finalizers(JsonValue& json, const ResourceClaim& written) {
  JsonValue& metadata = object_in(json, "metadata");
  if (written.finalizers.empty()) return erase(metadata, "finalizers");
  JsonValue finalizers = JsonValue::array();
  for (const std::string& finalizer : written.finalizers)
    finalizers.items.push_back(JsonValue::of_text(finalizer));
  set(metadata, "finalizers", std::move(finalizers));
}

void lay_claim_status(JsonValue& json, const ResourceClaim& stored, const ResourceClaim& written) {
  JsonValue& status = object_in(json, "status");
  const ResourceClaimStatus& wanted = written.status;
  if (!wanted.allocation) {
    erase(status, "allocation");
  } else if (wanted.allocation != stored.status.allocation) {
    // Whose allocation stays and only gets its time keeps what we do not know of it.
    std::optional<AllocationResult> without_time = wanted.allocation;
    if (stored.status.allocation)
      without_time->allocation_timestamp = stored.status.allocation->allocation_timestamp;
    JsonValue allocation = allocation_json(*wanted.allocation, *written.symbols.table());
    const JsonValue* time = allocation.find("allocationTimestamp");
    if (without_time == stored.status.allocation && time)
      set(object_in(status, "allocation"), "allocationTimestamp", *time);
    else
      set(status, "allocation", std::move(allocation));
  }
  if (wanted.reserved_for.empty())
    erase(status, "reservedFor");
  else
    set(status, "reservedFor", reserved_for_json(wanted.reserved_for, *written.symbols.table()));
  if (wanted.devices.empty()) erase(status, "devices");
}

JsonValue condition_json(const PodCondition& condition) {
  JsonValue json = JsonValue::object();
  if (condition.last_transition_time)
    json.add("lastTransitionTime", JsonValue::of_text(rfc3339(*condition.last_transition_time)));
  json.add("message", JsonValue::of_text(condition.message));
  if (condition.observed_generation != 0)
    json.add("observedGeneration", JsonValue::of_int(condition.observed_generation));
  json.add("reason", JsonValue::of_text(condition.reason));
  json.add("status", JsonValue::of_text(condition.status));
  json.add("type", JsonValue::of_text(condition.type));
  return json;
}

void lay_group_status(JsonValue& json, const PodGroup& written) {
  const PodCondition* wanted = written.condition(kPodGroupInitiallyScheduled);
  if (!wanted) return;
  JsonValue& status = object_in(json, "status");
  const JsonValue* stored = status.find("conditions");
  JsonValue conditions = stored ? *stored : JsonValue::array();
  bool replaced = false;
  for (JsonValue& condition : conditions.items) {
    const JsonValue* type = condition.find("type");
    if (!type || type->text != wanted->type) continue;
    condition = condition_json(*wanted);
    replaced = true;
  }
  if (!replaced) conditions.items.push_back(condition_json(*wanted));
  set(status, "conditions", std::move(conditions));
}

}  // namespace

bool is_written(ObjectKind kind, WrittenPart part) {
  if (kind == ObjectKind::kPodGroup) return part == WrittenPart::kStatus;
  if (kind == ObjectKind::kResourceClaim) return true;
  return part == WrittenPart::kObject &&
         (kind == ObjectKind::kPersistentVolume || kind == ObjectKind::kPersistentVolumeClaim);
}

Result<JsonValue> lay_over(JsonValue stored, const Object& object, WrittenPart part,
                           Interner& interner) {
  const std::string text = to_json(stored);
  const Result<AnyObject> decoded = decode_object(object.kind, text, interner, nullptr);
  if (!decoded) return fail(decoded.error());
  const auto* lean = std::get_if<Ref<const Object>>(&*decoded);
  if (lean == nullptr) return stored;
  switch (object.kind) {
    case ObjectKind::kPersistentVolume:
      lay_volume(stored, static_cast<const PersistentVolume&>(**lean),
                 static_cast<const PersistentVolume&>(object));
      break;
    case ObjectKind::kPersistentVolumeClaim:
      lay_claim(stored, static_cast<const PersistentVolumeClaim&>(object));
      break;
    case ObjectKind::kResourceClaim: {
      const auto& written = static_cast<const ResourceClaim&>(object);
      if (part == WrittenPart::kObject)
        lay_finalizers(stored, written);
      else
        lay_claim_status(stored, static_cast<const ResourceClaim&>(**lean), written);
      break;
    }
    case ObjectKind::kPodGroup:
      lay_group_status(stored, static_cast<const PodGroup&>(object));
      break;
    default: break;
  }
  return stored;
}

Ref<Object> copy_of(const Object& stored) {
  switch (stored.kind) {
    case ObjectKind::kPersistentVolume:
      return make_ref<PersistentVolume>(static_cast<const PersistentVolume&>(stored));
    case ObjectKind::kPersistentVolumeClaim:
      return make_ref<PersistentVolumeClaim>(static_cast<const PersistentVolumeClaim&>(stored));
    case ObjectKind::kResourceClaim:
      return make_ref<ResourceClaim>(static_cast<const ResourceClaim&>(stored));
    case ObjectKind::kPodGroup: return make_ref<PodGroup>(static_cast<const PodGroup&>(stored));
    default: return nullptr;
  }
}

Ref<const Object> lay_over(const Object& stored, const Object& object, WrittenPart part,
                           std::string resource_version) {
  Ref<Object> copy = copy_of(stored);
  if (!copy) return Ref<const Object>(&stored);
  if (const PodCondition* condition =
          stored.kind == ObjectKind::kPodGroup
              ? static_cast<const PodGroup&>(object).condition(kPodGroupInitiallyScheduled)
              : nullptr)
    copy = with_condition(static_cast<const PodGroup&>(stored), *condition);
  copy->resource_version = std::move(resource_version);
  switch (stored.kind) {
    case ObjectKind::kPersistentVolume: {
      auto& volume = static_cast<PersistentVolume&>(*copy);
      const auto& written = static_cast<const PersistentVolume&>(object);
      volume.claim_ref = written.claim_ref;
      if (volume.claim_ref) volume.symbols.retain(volume.claim_ref->namespace_name);
      volume.bound_by_controller = written.bound_by_controller;
      break;
    }
    case ObjectKind::kPersistentVolumeClaim: {
      auto& claim = static_cast<PersistentVolumeClaim&>(*copy);
      claim.selected_node = static_cast<const PersistentVolumeClaim&>(object).selected_node;
      if (claim.selected_node) {
        claim.symbols.retain(*claim.selected_node);
        claim.has_annotations = true;
      }
      break;
    }
    case ObjectKind::kResourceClaim: {
      auto& claim = static_cast<ResourceClaim&>(*copy);
      const auto& written = static_cast<const ResourceClaim&>(object);
      if (part == WrittenPart::kObject) {
        claim.finalizers = written.finalizers;
        break;
      }
      claim.status.allocation = written.status.allocation;
      if (claim.status.allocation) retain_symbols(*claim.status.allocation, claim.symbols);
      claim.status.reserved_for = written.status.reserved_for;
      for (const ResourceClaimConsumerReference& consumer : claim.status.reserved_for)
        for (const Symbol symbol : {consumer.api_group, consumer.resource})
          claim.symbols.retain(symbol);
      if (written.status.devices.empty()) claim.status.devices.clear();
      break;
    }
    default: break;
  }
  return copy;
}

std::string_view written_resource(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kPersistentVolume: return "persistentvolumes";
    case ObjectKind::kPersistentVolumeClaim: return "persistentvolumeclaims";
    case ObjectKind::kResourceClaim: return "resourceclaims.resource.k8s.io";
    case ObjectKind::kPodGroup: return "podgroups.scheduling.k8s.io";
    default: return "";
  }
}

Error modified_meanwhile(ObjectKind kind, std::string_view name) {
  return {ErrorKind::kConflict,
          fmt::format("Operation cannot be fulfilled on {} \"{}\": the object has been modified; "
                      "please apply your changes to the latest version and try again",
                      written_resource(kind), name)};
}

Error no_such_object(ObjectKind kind, std::string_view name) {
  return {ErrorKind::kNotFound, fmt::format("{} \"{}\" not found", written_resource(kind), name)};
}

}  // namespace berth
