#include "api/kinds_proto.h"

#include <algorithm>
#include <utility>

#include "api/devices_proto.h"
#include "api/kinds.h"
#include "api/object_proto.h"
#include "api/words.h"

namespace berth {
namespace {

// Reads metadata, which is field 1 of every kind, and hands every other field to `on_field`.
template <typename OnField>
Result<WrittenMeta> read_object(ProtoReader& proto, SymbolHold& symbols, OnField on_field) {
  WrittenMeta meta;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      read_metadata(proto, symbols, meta);
    } else {
      on_field(field);
    }
  });
  if (proto.error()) return fail(*proto.error());
  return meta;
}

Result<Ref<Object>> decode_namespace(ProtoReader& proto, Interner& interner) {
  auto object = make_ref<Namespace>(interner.hold());
  Result<WrittenMeta> meta = read_object(proto, object->symbols, [](std::uint32_t) {});
  if (!meta) return fail(std::move(meta).error());
  object->labels = LabelSet(std::move(meta->labels));
  set_object(*object, *std::move(meta), /*namespaced=*/false);
  return Ref<Object>(std::move(object));
}

Result<Ref<Object>> decode_service(ProtoReader& proto, Interner& interner) {
  auto object = make_ref<Service>(interner.hold());
  Result<WrittenMeta> meta = read_object(proto, object->symbols, [&](std::uint32_t part) {
    if (part != 2) return;
    proto.fields([&](std::uint32_t field) {
      if (field != 2) return;
      if (!object->selector) object->selector.emplace();
      append_label(proto, object->symbols, *object->selector);
    });
  });
  if (!meta) return fail(std::move(meta).error());
  set_object(*object, *std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

Result<Ref<Object>> decode_replication_controller(ProtoReader& proto, Interner& interner) {
  auto object = make_ref<ReplicationController>(interner.hold());
  WrittenMeta pod;
  Result<WrittenMeta> meta = read_object(proto, object->symbols, [&](std::uint32_t part) {
    if (part != 2) return;
    proto.fields([&](std::uint32_t field) {
      if (field == 2) {
        append_label(proto, object->symbols, object->selector);
      } else if (field == 3) {
        proto.fields([&](std::uint32_t of_template) {
          if (of_template == 1) read_metadata(proto, object->symbols, pod);
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

// ReplicaSet and StatefulSet: what scheduling reads of them is the same, at the same numbers.
template <typename Kind>
Result<Ref<Object>> decode_with_selector(ProtoReader& proto, Interner& interner) {
  auto object = make_ref<Kind>(interner.hold());
  Result<WrittenMeta> meta = read_object(proto, object->symbols, [&](std::uint32_t part) {
    if (part != 2) return;
    proto.fields([&](std::uint32_t field) {
      if (field == 2) object->selector = read_label_selector(proto, object->symbols);
    });
  });
  if (!meta) return fail(std::move(meta).error());
  set_object(*object, *std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

bool read_preempt_never(ProtoReader& proto) {
  const std::string_view text = proto.text();
  const std::optional<PreemptionPolicy> policy = preemption_policy(text);
  if (!policy) proto.fail(unsupported_preemption_policy(text));
  return policy == PreemptionPolicy::kNever;
}

Result<Ref<Object>> decode_priority_class(ProtoReader& proto, Interner& interner) {
  auto object = make_ref<PriorityClass>(interner.hold());
  Result<WrittenMeta> meta = read_object(proto, object->symbols, [&](std::uint32_t field) {
    switch (field) {
      case 2: object->value = proto.int32(); break;
      case 3: object->global_default = proto.boolean(); break;
      case 5: object->preempt_never = read_preempt_never(proto); break;
      default: break;
    }
  });
  if (!meta) return fail(std::move(meta).error());
  set_object(*object, *std::move(meta), /*namespaced=*/false);
  return Ref<Object>(std::move(object));
}

Result<Ref<Object>> decode_disruption_budget(ProtoReader& proto, Interner& interner) {
  auto object = make_ref<PodDisruptionBudget>(interner.hold());
  const auto read_spec = [&](std::uint32_t field) {
    if (field == 2) object->selector = read_label_selector(proto, object->symbols);
  };
  const auto read_status = [&](std::uint32_t field) {
    if (field == 3) {
      object->disruptions_allowed = proto.int32();
    } else if (field == 2) {
      proto.entry([&](std::string_view pod) { object->disrupted_pods.emplace_back(pod); });
    }
  };
  Result<WrittenMeta> meta = read_object(proto, object->symbols, [&](std::uint32_t part) {
    if (part == 2) proto.fields(read_spec);
    if (part == 3) proto.fields(read_status);
  });
  if (!meta) return fail(std::move(meta).error());
  std::ranges::sort(object->disrupted_pods);
  set_object(*object, *std::move(meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

using DecodeKindsProto = Result<Ref<Object>> (*)(ProtoReader&, Interner&);

DecodeKindsProto kinds_proto_decoder_of(ObjectKind kind) {
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

bool is_small_kind_proto(ObjectKind kind) { return kinds_proto_decoder_of(kind) != nullptr; }

Result<Ref<Object>> decode_small_kind_proto(ObjectKind kind, std::string_view message,
                                            Interner& interner) {
  const DecodeKindsProto decode = kinds_proto_decoder_of(kind);
  if (decode == nullptr) return Ref<Object>();
  ProtoReader proto(message);
  return decode(proto, interner);
}

}  // namespace berth
