// spec of a pod: which member takes which field.

#include "api/pod_spec_fields.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "api/names.h"
#include "api/object_fields.h"
#include "api/volume_fields.h"

namespace berth {

// ---- affinity -----------------------------------------------------------------------------------

template <>
struct Fields<PreferredSchedulingTerm>
    : FieldList<"api.core.v1.PreferredSchedulingTerm",
                Field<"weight", &PreferredSchedulingTerm::weight>,
                Field<"preference", &PreferredSchedulingTerm::preference>> {};

template <>
struct Fields<NodeAffinity>
    : FieldList<
          "api.core.v1.NodeAffinity",
          Field<"requiredDuringSchedulingIgnoredDuringExecution", &NodeAffinity::required>,
          Field<"preferredDuringSchedulingIgnoredDuringExecution", &NodeAffinity::preferred>> {};

template <>
struct Fields<PodAffinityTerm>
    : FieldList<"api.core.v1.PodAffinityTerm",
                Field<"labelSelector", &PodAffinityTerm::label_selector>,
                Field<"namespaces", &PodAffinityTerm::namespaces>,
                Field<"topologyKey", &PodAffinityTerm::topology_key>,
                Field<"namespaceSelector", &PodAffinityTerm::namespace_selector>,
                Field<"matchLabelKeys", &PodAffinityTerm::match_label_keys>,
                Field<"mismatchLabelKeys", &PodAffinityTerm::mismatch_label_keys>> {};

template <>
struct Fields<WeightedPodAffinityTerm>
    : FieldList<"api.core.v1.WeightedPodAffinityTerm",
                Field<"weight", &WeightedPodAffinityTerm::weight>,
                Field<"podAffinityTerm", &WeightedPodAffinityTerm::term>> {};

// Affinity and anti-affinity have the same fields, in messages of their own.
template <FieldName Message>
using PodAffinityFields =
    FieldList<Message,
              Field<"requiredDuringSchedulingIgnoredDuringExecution", &PodAffinity::required>,
              Field<"preferredDuringSchedulingIgnoredDuringExecution", &PodAffinity::preferred>>;

template <>
struct Fields<PodAffinity> : PodAffinityFields<"api.core.v1.PodAffinity"> {};

using PodAntiAffinityFields = PodAffinityFields<"api.core.v1.PodAntiAffinity">;

template <>
struct Fields<Affinity>
    : FieldList<"api.core.v1.Affinity", Field<"nodeAffinity", &Affinity::node>,
                Field<"podAffinity", &Affinity::pod>,
                Field<"podAntiAffinity", &Affinity::pod_anti, By<PodAntiAffinityFields>{}>> {};

inline constexpr auto read_affinity = [](auto& reader, SymbolHold& symbols, PodSpec& spec) {
  auto affinity = std::make_shared<Affinity>();
  Fields<Affinity>::read(reader, symbols, *affinity);
  spec.affinity = std::move(affinity);
};

// ---- spreading ----------------------------------------------------------------------------------

inline constexpr auto read_inclusion_policy = [](auto& reader) {
  const std::string_view text = reader.text();
  const std::optional<NodeInclusionPolicy> policy = inclusion_policy(text);
  if (!policy) reader.fail(unsupported_inclusion_policy(text));
  return policy;
};

template <>
struct Fields<TopologySpreadConstraint>
    : FieldList<"api.core.v1.TopologySpreadConstraint",
                Field<"maxSkew", &TopologySpreadConstraint::max_skew>,
                Field<"topologyKey", &TopologySpreadConstraint::topology_key>,
                Field<"whenUnsatisfiable", &TopologySpreadConstraint::when_unsatisfiable,
                      unsatisfiable_action>,
                Field<"labelSelector", &TopologySpreadConstraint::label_selector>,
                Field<"minDomains", &TopologySpreadConstraint::min_domains>,
                Field<"nodeAffinityPolicy", &TopologySpreadConstraint::node_affinity_policy,
                      read_inclusion_policy>,
                Field<"nodeTaintsPolicy", &TopologySpreadConstraint::node_taints_policy,
                      read_inclusion_policy>,
                Field<"matchLabelKeys", &TopologySpreadConstraint::match_label_keys>> {};

// ---- containers ---------------------------------------------------------------------------------

inline constexpr auto set_default_protocol = [](SymbolHold&, ContainerPort& port) {
  port.protocol = names::kTcp;
};
inline constexpr auto read_protocol = [](auto& reader, SymbolHold& symbols, ContainerPort& port) {
  if (const std::string_view text = reader.text(); !text.empty())
    port.protocol = symbols.intern(text);
};

template <>
struct Fields<ContainerPort>
    : FieldList<"api.core.v1.ContainerPort", Before<set_default_protocol>,
                Field<"hostPort", &ContainerPort::host_port>,
                Field<"containerPort", &ContainerPort::container_port>,
                Custom<"protocol", read_protocol>, Field<"hostIP", &ContainerPort::host_ip>> {};

inline constexpr auto is_always = [](std::string_view text) { return text == "Always"; };

using RestartRuleFields =
    FieldList<"api.core.v1.ContainerRestartRule", Field<"action", std::identity{}>>;

inline constexpr auto read_restart_rules = [](auto& reader, SymbolHold& symbols,
                                              Container& container) {
  each_item(reader, [&] {
    std::string_view action;
    RestartRuleFields::read(reader, symbols, action);
    if (action == "RestartAllContainers") container.restarts_all = true;
  });
};

inline constexpr auto note_mount_options = [](auto& reader, SymbolHold&, bool& given) {
  each_item(reader, [&] { given = true; });
};
using VolumeMountFields =
    FieldList<"api.core.v1.VolumeMount", Custom<"bindMountOptions", note_mount_options>>;

inline constexpr auto read_mounts = [](auto& reader, SymbolHold& symbols, bool& options_given) {
  each_item(reader, [&] { VolumeMountFields::read(reader, symbols, options_given); });
};
inline constexpr auto read_container_mounts = [](auto& reader, SymbolHold& symbols,
                                                 Container& container) {
  read_mounts(reader, symbols, container.bind_mount_options);
};

template <>
struct Fields<Container>
    : FieldList<"api.core.v1.Container", Field<"name", &Container::name>,
                Field<"image", &Container::image>, Field<"ports", &Container::ports>,
                Inside<"resources", Field<"limits", &Container::limits>,
                       Field<"requests", &Container::requests>>,
                Field<"restartPolicy", &Container::restart_always, is_always>,
                Custom<"restartPolicyRules", read_restart_rules>,
                Custom<"volumeMounts", read_container_mounts>> {};

using EphemeralContainerFields =
    FieldList<"api.core.v1.EphemeralContainer",
              Inline<"api.core.v1.EphemeralContainerCommon", std::identity{},
                     Custom<"volumeMounts", read_mounts>>>;

// They take nothing and may come at any time; only what they ask of the node is kept.
inline constexpr auto read_ephemeral_containers = [](auto& reader, SymbolHold& symbols,
                                                     PodSpec& spec) {
  each_item(reader, [&] {
    EphemeralContainerFields::read(reader, symbols, spec.ephemeral_bind_mount_options);
  });
};

// ---- the spec -----------------------------------------------------------------------------------

template <>
struct Fields<PodResourceClaim>
    : FieldList<"api.core.v1.PodResourceClaim", Field<"name", &PodResourceClaim::name>,
                Field<"resourceClaimName", &PodResourceClaim::claim_name>,
                Field<"resourceClaimTemplateName", &PodResourceClaim::template_name>> {};

using SchedulingGateFields =
    FieldList<"api.core.v1.PodSchedulingGate", Field<"name", std::identity{}>>;

// A spec on its way into a pod or a template.
struct SpecTarget {
  operator PodSpec&() { return pod.spec; }  // NOLINT: what most of its fields go into
  operator PodTemplate&() { return pod; }   // NOLINT

  PodTemplate& pod;
  std::string& node_name;
};

inline constexpr auto node_name_of = [](SpecTarget& target) -> std::string& {
  return target.node_name;
};
inline constexpr auto note_priority = [](auto& reader, SymbolHold&, PodTemplate& pod) {
  pod.spec.priority = reader.int32();
  pod.priority_given = true;
};
inline constexpr auto note_preemption_policy = [](auto& reader, SymbolHold&, PodTemplate& pod) {
  pod.spec.preemption_policy = read_preemption_policy(reader);
  pod.preemption_policy_given = true;
};
inline constexpr auto is_own = [](auto& reader) { return !reader.boolean(); };
// What fits.
inline constexpr auto read_grace_seconds = [](auto& reader) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(reader.int64(), 0, std::numeric_limits<std::int32_t>::max()));
};
inline constexpr auto sort_node_selector = [](SymbolHold&, PodSpec& spec) {
  std::ranges::sort(spec.node_selector);
};

using PodSpecFields = FieldList<
    "api.core.v1.PodSpec", Field<"volumes", &PodSpec::volumes>,
    Field<"containers", &PodSpec::containers>,
    Field<"terminationGracePeriodSeconds", &PodSpec::termination_grace_seconds, read_grace_seconds>,
    Field<"nodeSelector", &PodSpec::node_selector>, Field<"nodeName", node_name_of>,
    Field<"hostNetwork", &PodSpec::host_network>, Custom<"affinity", read_affinity>,
    Field<"schedulerName", &PodSpec::scheduler_name>,
    Field<"initContainers", &PodSpec::init_containers>, Field<"tolerations", &PodSpec::tolerations>,
    Field<"priorityClassName", &PodSpec::priority_class_name>, Custom<"priority", note_priority>,
    Custom<"preemptionPolicy", note_preemption_policy>, Field<"overhead", &PodSpec::overhead>,
    Field<"topologySpreadConstraints", &PodSpec::topology_spread_constraints>,
    Field<"hostUsers", &PodSpec::own_users, is_own>,
    Field<"schedulingGates", &PodSpec::scheduling_gates, By<SchedulingGateFields>{}>,
    Field<"resourceClaims", &PodSpec::resource_claims>,
    Inside<"resources", Field<"limits", &PodSpec::pod_limits>,
           Field<"requests", &PodSpec::pod_requests>>,
    Inside<"schedulingGroup", Field<"podGroupName", &PodSpec::scheduling_group>>,
    Custom<"ephemeralContainers", read_ephemeral_containers>, After<sort_node_selector>>;

void read_pod_spec(JsonReader& json, PodTemplate& pod, std::string& node_name) {
  SpecTarget target{pod, node_name};
  PodSpecFields::read(json, pod.spec.symbols, target);
}

void read_pod_spec(ProtoReader& proto, PodTemplate& pod, std::string& node_name) {
  SpecTarget target{pod, node_name};
  PodSpecFields::read(proto, pod.spec.symbols, target);
}

}  // namespace berth
