// Pods: which member takes which field, and what is made of them once they are read.

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "api/names.h"
#include "api/object_fields.h"
#include "api/pod_spec_fields.h"
#include "api/written_pod.h"

namespace berth {

// ---- status -------------------------------------------------------------------------------------

template <>
struct Fields<PodCondition>
    : FieldList<"api.core.v1.PodCondition",  //
                Field<"type", &PodCondition::type>, Field<"status", &PodCondition::status>,
                Field<"lastProbeTime", &PodCondition::last_probe_time>,
                Field<"lastTransitionTime", &PodCondition::last_transition_time>,
                Field<"reason", &PodCondition::reason>, Field<"message", &PodCondition::message>,
                Field<"observedGeneration", &PodCondition::observed_generation>> {};

// resources and allocatedResources, of a container's status or of the pod's own.
using StatusRequestsField = Field<"requests", &StatusResources::requests>;
using AllocatedResourcesField = Field<"allocatedResources", &StatusResources::allocated>;

template <>
struct Fields<StatusResources>
    : FieldList<"api.core.v1.ContainerStatus", Field<"name", &StatusResources::container>,
                AllocatedResourcesField, Inside<"resources", StatusRequestsField>> {};

template <>
struct Fields<PodResourceClaimStatus>
    : FieldList<"api.core.v1.PodResourceClaimStatus", Field<"name", &PodResourceClaimStatus::name>,
                Field<"resourceClaimName", &PodResourceClaimStatus::claim_name>> {};

template <>
struct Fields<ContainerExtendedResourceRequest>
    : FieldList<"api.core.v1.ContainerExtendedResourceRequest",
                Field<"containerName", &ContainerExtendedResourceRequest::container_name>,
                Field<"resourceName", &ContainerExtendedResourceRequest::resource_name>,
                Field<"requestName", &ContainerExtendedResourceRequest::request_name>> {};

template <>
struct Fields<PodExtendedResourceClaimStatus>
    : FieldList<"api.core.v1.PodExtendedResourceClaimStatus",
                Field<"requestMappings", &PodExtendedResourceClaimStatus::request_mappings>,
                Field<"resourceClaimName", &PodExtendedResourceClaimStatus::claim_name>> {};

// A status on its way into a pod.
struct StatusTarget {
  operator PodDraft&() { return own; }           // NOLINT: its fields go into these
  operator PodExtra&() { return extra; }         // NOLINT
  operator StatusResources&() { return whole; }  // NOLINT

  PodDraft& own;
  PodExtra& extra;
  StatusResources whole;              // of the pod as a whole
  std::vector<StatusResources> init;  // of init containers, which come after the others
  bool has_resources = false;         // of the pod as a whole
};

inline constexpr auto read_conditions = [](auto& reader, SymbolHold& symbols,
                                           StatusTarget& target) {
  each_item(reader, [&] {
    PodCondition condition;
    Fields<PodCondition>::read(reader, symbols, condition);
    if (condition.type == "PodScheduled" && condition.status == "True") {
      target.own.scheduled_condition = true;
    } else if (scheduling_looks_at(condition.type)) {
      target.extra.conditions.push_back(std::move(condition));
    }
  });
};

inline constexpr auto read_statuses = [](auto& reader, SymbolHold& symbols,
                                         std::vector<StatusResources>& statuses) {
  each_item(reader, [&] {
    StatusResources status;
    Fields<StatusResources>::read(reader, symbols, status);
    if (status.requests || status.allocated) statuses.push_back(std::move(status));
  });
};
inline constexpr auto read_container_statuses = [](auto& reader, SymbolHold& symbols,
                                                   StatusTarget& target) {
  read_statuses(reader, symbols, target.extra.container_resources);
};
inline constexpr auto read_init_statuses = [](auto& reader, SymbolHold& symbols,
                                              StatusTarget& target) {
  read_statuses(reader, symbols, target.init);
};

inline constexpr auto note_pod_resources = [](SymbolHold&, StatusTarget& target) {
  target.has_resources = true;
};
inline constexpr auto take_resources = [](SymbolHold&, StatusTarget& target) {
  std::ranges::move(target.init, std::back_inserter(target.extra.container_resources));
  if (target.has_resources) target.extra.pod_resources = std::move(target.whole);
};

using PodStatusFields =
    FieldList<"api.core.v1.PodStatus", Field<"phase", &PodDraft::phase, pod_phase>,
              Custom<"conditions", read_conditions>, Field<"startTime", &PodDraft::start_time>,
              Custom<"containerStatuses", read_container_statuses>,
              Custom<"initContainerStatuses", read_init_statuses>,
              Field<"nominatedNodeName", &PodDraft::nominated_node_name>,
              Field<"resourceClaimStatuses", &PodExtra::resource_claim_statuses>,
              Field<"extendedResourceClaimStatus", &PodExtra::extended_resource_claim_status>,
              AllocatedResourcesField,
              Inside<"resources", Before<note_pod_resources>, StatusRequestsField>,
              After<take_resources>>;

// ---- the pod ------------------------------------------------------------------------------------

// A pod or a template that is being read.
template <typename T>
struct PodTarget : WrittenObject<T> {
  PodTarget(T& pod, std::string& node, PodExtra& rest)
      : WrittenObject<T>(pod, pod.meta.symbols), node_name(node), extra(rest) {}

  std::string& node_name;
  PodExtra& extra;
};

inline constexpr auto read_spec = [](auto& reader, SymbolHold&, auto& target) {
  read_pod_spec(reader, target.object, target.node_name);
};
inline constexpr auto read_status = [](auto& reader, SymbolHold&, PodTarget<WrittenPod>& target) {
  StatusTarget status{target.object.own, target.extra, {}, {}};
  PodStatusFields::read(reader, target.extra.symbols, status);
};

using PodFields = FieldList<"api.core.v1.Pod", Metadata, Custom<"spec", read_spec>,
                            Custom<"status", read_status>>;
using PodTemplateFields =
    FieldList<"api.core.v1.PodTemplateSpec", Metadata, Custom<"spec", read_spec>>;

namespace {

// Whether `status` asks for nothing beyond `spec`, so that the larger of the two is the spec.
bool within(const std::optional<ResourceList>& status, const ResourceList& spec) {
  return !status || std::ranges::all_of(*status, [&](const ResourceAmount& amount) {
    const Quantity* written = spec.find(amount.name);
    return written != nullptr && amount.amount <= *written;
  });
}

// For cpu and memory that a container does not name, scoring counts a default, which may be more
// than the spec has: the names must be there, too.
bool container_within(const std::optional<ResourceList>& status, const ResourceList& spec) {
  const auto named = [&](Symbol name) { return !spec.find(name) || status->find(name); };
  return !status || (within(status, spec) && named(names::kCpu) && named(names::kMemory));
}

bool pod_resources_matter(const StatusResources& status, const PodSpec& spec) {
  if (spec.pod_requests && !(within(status.requests, *spec.pod_requests) &&
                             within(status.allocated, *spec.pod_requests)))
    return true;
  if (!status.requests || !status.allocated) return false;
  const ResourceList total = pod_requests(spec, {.pod_level = false, .overhead = false});
  return !within(status.requests, total) || !within(status.allocated, total);
}

// Every running pod has resources in its status, and nearly always they say what the spec says.
// They only count, and are only kept, while a resize is under way.
bool resources_matter(const PodExtra& extra, const PodSpec& spec) {
  if (std::ranges::any_of(extra.conditions, [](const PodCondition& condition) {
        return condition.type == "PodResizePending";
      }))
    return true;
  const auto matters = [&](const StatusResources& status) {
    for (const auto* containers : {&spec.containers, &spec.init_containers})
      for (const Container& container : *containers)
        if (container.name == status.container &&
            !(container_within(status.requests, container.requests) &&
              container_within(status.allocated, container.requests)))
          return true;
    return false;
  };
  if (std::ranges::any_of(extra.container_resources, matters)) return true;
  return extra.pod_resources && pod_resources_matter(*extra.pod_resources, spec);
}

void take_pod_metadata(WrittenMeta&& meta, WrittenPod& pod) {
  pod.meta.namespace_name = meta.namespace_name.empty()
                                ? names::kDefaultNamespace
                                : pod.meta.symbols.intern(meta.namespace_name);
  pod.meta.labels = LabelSet(std::move(meta.labels));
  pod.meta.controller = meta.controller;
  pod.generate_name = std::move(meta.generate_name);
  pod.own.name = std::move(meta.name);
  pod.own.uid = std::move(meta.uid);
  pod.own.resource_version = std::move(meta.resource_version);
  pod.own.generation = meta.generation;
  pod.own.creation_time = meta.creation_time;
  pod.own.deletion_time = meta.deletion_time;
}

// After the spec is there: of the status only that is kept which says something new.
void take_extra(std::unique_ptr<PodExtra> extra, WrittenPod& pod) {
  if (!resources_matter(*extra, pod.spec)) {
    extra->container_resources.clear();
    extra->pod_resources.reset();
  }
  if (extra->has_resources() || !extra->conditions.empty() ||
      !extra->resource_claim_statuses.empty() || extra->extended_resource_claim_status)
    pod.own.extra = std::move(extra);
}

template <typename Reader>
Result<WrittenPod> read_written_pod(Reader& reader, Interner& interner) {
  WrittenPod pod(interner);
  auto extra = std::make_unique<PodExtra>(interner.hold());
  PodTarget<WrittenPod> target(pod, pod.own.node_name, *extra);
  PodFields::read(reader, pod.meta.symbols, target);
  if (reader.error()) return fail(*reader.error());
  take_pod_metadata(std::move(target.meta), pod);
  take_extra(std::move(extra), pod);
  return pod;
}

Result<Ref<const Pod>> frozen(Result<WrittenPod> pod, Interner& interner) {
  if (!pod) return fail(std::move(pod).error());
  return freeze(*std::move(pod), interner);
}

}  // namespace

Result<WrittenPod> decode_written_pod(std::string_view json, Interner& interner) {
  JsonReader reader(json);
  return read_written_pod(reader, interner);
}

Result<WrittenPod> decode_written_pod(JsonReader& json, Interner& interner) {
  return read_written_pod(json, interner);
}

Result<WrittenPod> decode_written_pod_proto(std::string_view message, Interner& interner) {
  ProtoReader reader(message);
  return read_written_pod(reader, interner);
}

Result<Ref<const Pod>> decode_pod(std::string_view json, Interner& interner) {
  return frozen(decode_written_pod(json, interner), interner);
}

Result<Ref<const Pod>> decode_pod_proto(std::string_view message, Interner& interner) {
  return frozen(decode_written_pod_proto(message, interner), interner);
}

Result<PodTemplate> decode_pod_template(std::string_view text, Interner& interner) {
  JsonReader json(text);
  PodTemplate pod(interner);
  std::string node_name;
  PodExtra no_status(interner.hold());
  PodTarget<PodTemplate> target(pod, node_name, no_status);
  PodTemplateFields::read(json, pod.meta.symbols, target);
  if (json.error()) return fail(*json.error());
  pod.meta.labels = LabelSet(std::move(target.meta.labels));
  return pod;
}

Ref<const Pod> freeze(WrittenPod pod, Interner& interner) {
  pod.own.meta = interner.share(std::move(pod.meta));
  pod.own.spec = interner.share(std::move(pod.spec));
  return make_pod(std::move(pod.own));
}

}  // namespace berth
