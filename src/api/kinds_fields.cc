// The smaller kinds: which member takes which field.

#include <algorithm>

#include "api/kind_decoders.h"
#include "api/kinds.h"

namespace berth {

template <>
struct Fields<Namespace> : FieldList<"api.core.v1.Namespace", Metadata> {};

template <>
struct Fields<Service> : FieldList<"api.core.v1.Service", Metadata,
                                   Inside<"spec", Field<"selector", &Service::selector>>> {};

// Without a selector it is that of the template's labels: an API server's default, and harmless
// where it was at work already.
struct WrittenController : WrittenObject<ReplicationController> {
  using WrittenObject::WrittenObject;
  WrittenMeta pod;
};

inline constexpr auto read_template_metadata = [](auto& reader, SymbolHold& symbols,
                                                  WrittenController& written) {
  Fields<WrittenMeta>::read(reader, symbols, written.pod);
};

template <>
struct Fields<ReplicationController>
    : FieldList<"api.core.v1.ReplicationController", Metadata,
                Inside<"spec", Field<"selector", &ReplicationController::selector>,
                       Inside<"template", Custom<"metadata", read_template_metadata>>>> {};

// ReplicaSet and StatefulSet: what scheduling reads of them is the same.
template <FieldName Message, typename Kind>
using WorkloadFields =
    FieldList<Message, Metadata, Inside<"spec", Field<"selector", &Kind::selector>>>;

template <>
struct Fields<ReplicaSet> : WorkloadFields<"api.apps.v1.ReplicaSet", ReplicaSet> {};

template <>
struct Fields<StatefulSet> : WorkloadFields<"api.apps.v1.StatefulSet", StatefulSet> {};

inline constexpr auto read_preempt_never = [](auto& reader) {
  return read_preemption_policy(reader) == PreemptionPolicy::kNever;
};

template <>
struct Fields<PriorityClass>
    : FieldList<"api.scheduling.v1.PriorityClass", Metadata, Field<"value", &PriorityClass::value>,
                Field<"globalDefault", &PriorityClass::global_default>,
                Field<"preemptionPolicy", &PriorityClass::preempt_never, read_preempt_never>> {};

inline constexpr auto read_disrupted_pods = [](auto& reader, SymbolHold&,
                                               PodDisruptionBudget& budget) {
  each_entry(reader, [&](std::string_view pod) { budget.disrupted_pods.emplace_back(pod); });
};
inline constexpr auto sort_disrupted_pods = [](SymbolHold&, PodDisruptionBudget& budget) {
  std::ranges::sort(budget.disrupted_pods);
};

template <>
struct Fields<PodDisruptionBudget>
    : FieldList<
          "api.policy.v1.PodDisruptionBudget", Metadata,
          Inside<"spec", Field<"selector", &PodDisruptionBudget::selector>>,
          Inside<"status", Field<"disruptionsAllowed", &PodDisruptionBudget::disruptions_allowed>,
                 Custom<"disruptedPods", read_disrupted_pods>>,
          After<sort_disrupted_pods>> {};

template <>
void take_metadata(WrittenObject<Namespace>& written) {
  written.object.labels = LabelSet(std::move(written.meta.labels));
  set_object(written.object, std::move(written.meta), /*namespaced=*/false);
}

namespace {

template <typename Reader>
Result<Ref<Object>> decode_replication_controller(Reader& reader, Interner& interner) {
  auto object = make_ref<ReplicationController>(interner.hold());
  WrittenController written(*object, object->symbols);
  Fields<ReplicationController>::read(reader, object->symbols, written);
  if (reader.error()) return fail(*reader.error());
  if (object->selector.empty()) object->selector = std::move(written.pod.labels);
  set_object(*object, std::move(written.meta), /*namespaced=*/true);
  return Ref<Object>(std::move(object));
}

}  // namespace

template <typename Reader>
KindDecoder<Reader> small_kind_decoder(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kNamespace: return decode_kind<Namespace, Reader>;
    case ObjectKind::kService: return decode_kind<Service, Reader>;
    case ObjectKind::kReplicationController: return decode_replication_controller<Reader>;
    case ObjectKind::kReplicaSet: return decode_kind<ReplicaSet, Reader>;
    case ObjectKind::kStatefulSet: return decode_kind<StatefulSet, Reader>;
    case ObjectKind::kPriorityClass: return decode_kind<PriorityClass, Reader>;
    case ObjectKind::kPodDisruptionBudget: return decode_kind<PodDisruptionBudget, Reader>;
    default: return nullptr;
  }
}
template KindDecoder<JsonReader> small_kind_decoder(ObjectKind kind);
template KindDecoder<ProtoReader> small_kind_decoder(ObjectKind kind);

}  // namespace berth
