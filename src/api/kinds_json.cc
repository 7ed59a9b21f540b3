#include "api/kinds_json.h"

#include <algorithm>
#include <concepts>
#include <utility>

#include "api/devices_json.h"
#include "api/object_json.h"
#include "api/words.h"

namespace berth {
namespace {

// Reads metadata and hands every other field at the top to `on_field`.
template <typename OnField>
Result<WrittenMeta> read_object(JsonReader& json, SymbolHold& symbols, OnField on_field) {
  WrittenMeta meta;
  json.fields([&](std::string_view name) {
    if (name == "metadata") {
      read_metadata(json, symbols, meta);
    } else {
      on_field(name);
    }
  });
  if (json.error()) return fail(*json.error());
  return meta;
}

Result<Ref<Object>> decode_namespace(JsonReader& json, Interner& interner) {
  auto object = make_ref<Namespace>(interner.hold());
  Result<WrittenMeta> meta = read_object(json, object->symbols, [](std::string_view) {});
  if (!meta) return fail(std::move(meta).error());
  object->labels = LabelSet(std::move(meta->labels));
  set_object(*object, *std::move(meta), /*namespaced=*/false);
  return Ref<Object>(std::move(object));
}

Result<Ref<Object>> decode_service(JsonReader& json, Interner& interner) {
  auto object = make_ref<Service>(interner.hold());
  Result<WrittenMeta> meta = read_object(json, object->symbols, [&](std::string_view name) {
    if (name != "spec") return;
    json.fields([&](std::string_view field) {
      if (field == "selector") object->selector = read_labels(json, object->symbols);
    });
  });
  if (!meta) return fail(std::move(meta).error());
  set_object(*object, *std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

Result<Ref<Object>> decode_replication_controller(JsonReader& json, Interner& interner) {
  auto object = make_ref<ReplicationController>(interner.hold());
  WrittenMeta pod;
  Result<WrittenMeta> meta = read_object(json, object->symbols, [&](std::string_view name) {
    if (name != "spec") return;
    json.fields([&](std::string_view field) {
      if (field == "selector") {
        object->selector = read_labels(json, object->symbols);
      } else if (field == "template") {
        json.fields([&](std::string_view part) {
          if (part == "metadata") read_metadata(json, object->symbols, pod);
        });
      }
    });
  });
  if (!meta) return fail(std::move(meta).error());
  // An API server's default, and harmless where it was at work already.
  if (object->selector.empty()) object->selector = std::move(pod.labels);
  set_object(*object, *std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

// ReplicaSet and StatefulSet: what scheduling reads of them is the same.
template <typename Kind>
Result<Ref<Object>> decode_with_selector(JsonReader& json, Interner& interner) {
  auto object = make_ref<Kind>(interner.hold());
  Result<WrittenMeta> meta = read_object(json, object->symbols, [&](std::string_view name) {
    if (name != "spec") return;
    json.fields([&](std::string_view field) {
      if (field == "selector") object->selector = read_label_selector(json, object->symbols);
    });
  });
  if (!meta) return fail(std::move(meta).error());
  set_object(*object, *std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

bool read_preempt_never(JsonReader& json) {
  const std::string_view text = json.text();
  const std::optional<PreemptionPolicy> policy = preemption_policy(text);
  if (!policy) json.fail(unsupported_preemption_policy(text));
  return policy == PreemptionPolicy::kNever;
}

Result<Ref<Object>> decode_priority_class(JsonReader& json, Interner& interner) {
  auto object = make_ref<PriorityClass>(interner.hold());
  Result<WrittenMeta> meta = read_object(json, object->symbols, [&](std::string_view name) {
    if (name == "value") {
      object->value = json.int32();
    } else if (name == "globalDefault") {
      object->global_default = json.boolean();
    } else if (name == "preemptionPolicy") {
      object->preempt_never = read_preempt_never(json);
    }
  });
  if (!meta) return fail(std::move(meta).error());
  set_object(*object, *std::move(meta), /*namespaced=*/false);
  return Ref<Object>(std::move(object));
}

Result<Ref<Object>> decode_disruption_budget(JsonReader& json, Interner& interner) {
  auto object = make_ref<PodDisruptionBudget>(interner.hold());
  Result<WrittenMeta> meta = read_object(json, object->symbols, [&](std::string_view name) {
    if (name == "spec") {
      json.fields([&](std::string_view field) {
        if (field == "selector") object->selector = read_label_selector(json, object->symbols);
      });
    } else if (name == "status") {
      json.fields([&](std::string_view field) {
        if (field == "disruptionsAllowed") {
          object->disruptions_allowed = json.int32();
        } else if (field == "disruptedPods") {
          json.entries([&](std::string_view pod) { object->disrupted_pods.emplace_back(pod); });
        }
      });
    }
  });
  if (!meta) return fail(std::move(meta).error());
  std::ranges::sort(object->disrupted_pods);
  set_object(*object, *std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

using DecodeKindsJson = Result<Ref<Object>> (*)(JsonReader&, Interner&);

DecodeKindsJson kinds_json_decoder_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kNamespace: return decode_namespace;
    case ObjectKind::kService: return decode_service;
    case ObjectKind::kReplicationController: return decode_replication_controller;
    case ObjectKind::kReplicaSet: return decode_with_selector<ReplicaSet>;
    case ObjectKind::kStatefulSet: return decode_with_selector<StatefulSet>;
    case ObjectKind::kPriorityClass: return decode_priority_class;
    case ObjectKind::kPodDisruptionBudget: return decode_disruption_budget;
    case ObjectKind::kResourceClaim: return decode_resource_claim;
    case ObjectKind::kResourceClaimTemplate: return decode_resource_claim_template;
    case ObjectKind::kResourceSlice: return decode_resource_slice;
    case ObjectKind::kDeviceClass: return decode_device_class;
    default: return nullptr;
  }
}

}  // namespace

bool is_small_kind(ObjectKind kind) { return kinds_json_decoder_of(kind) != nullptr; }

Result<Ref<Object>> decode_small_kind(ObjectKind kind, std::string_view text, Interner& interner) {
  const DecodeKindsJson decode = kinds_json_decoder_of(kind);
  if (decode == nullptr) return Ref<Object>();
  JsonReader json(text);
  return decode(json, interner);
}

}  // namespace berth
