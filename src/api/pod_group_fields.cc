// PodGroups: which member takes which field.
#include "api/kind_decoders.h"
#include "api/pod_group.h"

namespace berth {

// metav1.Condition: a pod's condition without the time of a probe.
using GroupConditionFields =
    FieldList<"apimachinery.pkg.apis.meta.v1.Condition",  //
              Field<"type", &PodCondition::type>, Field<"status", &PodCondition::status>,
              Field<"observedGeneration", &PodCondition::observed_generation>,
              Field<"lastTransitionTime", &PodCondition::last_transition_time>,
              Field<"reason", &PodCondition::reason>, Field<"message", &PodCondition::message>>;

template <>
struct Fields<GangPolicy> : FieldList<"api.scheduling.v1beta1.GangSchedulingPolicy",
                                      Field<"minCount", &GangPolicy::min_count>> {};

template <>
struct Fields<TopologyConstraint> : FieldList<"api.scheduling.v1beta1.TopologyConstraint",
                                              Field<"key", &TopologyConstraint::key>> {};

template <>
struct Fields<PodGroupResourceClaim>
    : FieldList<"api.scheduling.v1beta1.PodGroupResourceClaim",
                Field<"name", &PodGroupResourceClaim::name>,
                Field<"resourceClaimName", &PodGroupResourceClaim::claim_name>,
                Field<"resourceClaimTemplateName", &PodGroupResourceClaim::template_name>> {};

template <>
struct Fields<PodGroupResourceClaimStatus>
    : FieldList<"api.scheduling.v1beta1.PodGroupResourceClaimStatus",
                Field<"name", &PodGroupResourceClaimStatus::name>,
                Field<"resourceClaimName", &PodGroupResourceClaimStatus::claim_name>> {};

namespace {

// A message without fields: that it is there is all it says.
inline constexpr auto read_mode_all = [](auto& reader, SymbolHold&, PodGroup& group) {
  reader.fields([](auto) {});
  group.disruption_mode = DisruptionMode::kAll;
};

}  // namespace

template <>
struct Fields<PodGroup>
    : FieldList<
          "api.scheduling.v1beta1.PodGroup", Metadata,
          Inside<"spec", Inside<"schedulingPolicy", Field<"gang", &PodGroup::gang>>,
                 Inside<"schedulingConstraints", Field<"topology", &PodGroup::topology>>,
                 Field<"resourceClaims", &PodGroup::resource_claims>,
                 Inside<"disruptionMode", Custom<"all", read_mode_all>>,
                 Field<"priorityClassName", &PodGroup::priority_class_name>,
                 Field<"priority", &PodGroup::priority>,
                 Field<"preemptionPolicy", &PodGroup::preemption_policy, read_preemption_policy>>,
          Inside<"status", Field<"conditions", &PodGroup::conditions, By<GroupConditionFields>{}>,
                 Field<"resourceClaimStatuses", &PodGroup::claim_statuses>>> {};

template <>
void take_metadata(WrittenObject<PodGroup>& written) {
  set_object(written.object, std::move(written.meta), /*namespaced=*/true);
  written.object.symbol = written.object.symbols.intern(written.object.name);
}

template <typename Reader>
KindDecoder<Reader> group_decoder(ObjectKind kind) {
  return kind == ObjectKind::kPodGroup ? decode_kind<PodGroup, Reader> : nullptr;
}
template KindDecoder<JsonReader> group_decoder(ObjectKind kind);
template KindDecoder<ProtoReader> group_decoder(ObjectKind kind);

const PodCondition* PodGroup::condition(std::string_view type) const {
  const auto found = std::ranges::find(conditions, type, &PodCondition::type);
  return found == conditions.end() ? nullptr : &*found;
}

Ref<PodGroup> with_condition(const PodGroup& group, PodCondition condition) {
  auto changed = make_ref<PodGroup>(group);
  const auto same = std::ranges::find(changed->conditions, condition.type, &PodCondition::type);
  if (same != changed->conditions.end())
    *same = std::move(condition);
  else
    changed->conditions.push_back(std::move(condition));
  return changed;
}

}  // namespace berth
