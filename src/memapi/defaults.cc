// Defaults of the kinds: what an API server fills in, whoever writes the object.

#include "memapi/defaults.h"
#include "api/canonical_json.h"
#include "api/schema.h"
#include "base/base64.h"
#include "base/time_text.h"
#include "memapi/admission.h"
#include "memapi/admission_runtime.h"
#include "memapi/crd_definition.h"
#include "memapi/crd_objects.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

void default_session_affinity(JsonValue& spec) {
  constexpr std::int64_t kThreeHours = 10800;
  default_text(spec, "sessionAffinity", "None");
  if (text_at(spec, "sessionAffinity") == "None") erase(spec, "sessionAffinityConfig");
  if (text_at(spec, "sessionAffinity") == "ClientIP")
    set_default(object_at(spec, "sessionAffinityConfig.clientIP"), "timeoutSeconds",
                JsonValue::of_int(kThreeHours));
}

void default_service(JsonValue& object) {
  JsonValue& spec = object_at(object, "spec");
  default_session_affinity(spec);
  default_text(spec, "type", "ClusterIP");
  each_item(spec, "ports", [](JsonValue& port) {
    default_text(port, "protocol", "TCP");
    const JsonValue* target = port.find("targetPort");
    const JsonValue* number = port.find("port");
    const bool none = target == nullptr || target->text.empty() || target->text == "0";
    if (none && number != nullptr) set(port, "targetPort", JsonValue(*number));
  });
  const std::string type(text_at(spec, "type"));
  const bool external = type == "NodePort" || type == "LoadBalancer" ||
                        (type == "ClusterIP" && !items_at(spec, "externalIPs").empty());
  if (external) default_text(spec, "externalTrafficPolicy", "Cluster");
  if (type != "ExternalName")
    set_default(spec, "internalTrafficPolicy", JsonValue::of_text("Cluster"));
  if (type == "LoadBalancer") {
    set_default(spec, "allocateLoadBalancerNodePorts", JsonValue::of_bool(true));
    each_item(object, "status.loadBalancer.ingress", [](JsonValue& ingress) {
      if (!text_at(ingress, "ip").empty())
        set_default(ingress, "ipMode", JsonValue::of_text("VIP"));
    });
  }
}

void default_claim_requests(JsonValue& devices) {
  JsonValue* requests = at(devices, "requests");
  if (!is_array(requests)) return;
  const auto fill = [](JsonValue& request) {
    set_default(request, "allocationMode", JsonValue::of_text("ExactCount"));
    if (text_at(request, "allocationMode") == "ExactCount")
      set_default(request, "count", JsonValue::of_int(1));
  };
  for (JsonValue& request : requests->items) {
    if (JsonValue* exactly = at(request, "exactly"); is_object(exactly)) fill(*exactly);
    JsonValue* alternatives = at(request, "firstAvailable");
    if (!is_array(alternatives)) continue;
    for (JsonValue& alternative : alternatives->items)
      if (is_object(&alternative)) fill(alternative);
  }
}

void default_device_taint(JsonValue* taint, WallTime now) {
  if (is_object(taint)) set_default(*taint, "timeAdded", JsonValue::of_text(rfc3339(now)));
}

void default_device_taints(JsonValue& slice, WallTime now) {
  JsonValue* devices = at(slice, "spec.devices");
  if (!is_array(devices)) return;
  for (JsonValue& device : devices->items) {
    JsonValue* taints = at(device, "taints");
    if (!is_array(taints)) continue;
    for (JsonValue& taint : taints->items) default_device_taint(&taint, now);
  }
}

void default_node(JsonValue& object) {
  JsonValue& status = object_at(object, "status");
  const JsonValue* capacity = at(status, "capacity");
  if (is_object(capacity) && !is_object(at(status, "allocatable")))
    set(status, "allocatable", JsonValue(*capacity));
}

// Texts that clients give as they are join the data.
void default_secret(JsonValue& secret) {
  default_text(secret, "type", "Opaque");
  const JsonValue* texts = at(secret, "stringData");
  if (!is_object(texts)) return;
  const JsonValue copy = *texts;
  erase(secret, "stringData");
  if (copy.members.empty()) return;
  JsonValue& data = object_at(secret, "data");
  for (const JsonMember& member : copy.members)
    set(data, member.name, JsonValue::of_text(base64(member.value.text)));
}

// Of which group the role and the subjects are.
void default_role_binding(JsonValue& binding) {
  constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
  default_text(object_at(binding, "roleRef"), "apiGroup", kGroup);
  each_item(binding, "subjects", [&](JsonValue& subject) {
    const std::string_view kind = text_at(subject, "kind");
    if (kind == "User" || kind == "Group") default_text(subject, "apiGroup", kGroup);
  });
}

void default_storage(std::string_view plural, JsonValue& object) {
  if (plural == "storageclasses") {
    set_default(object, "reclaimPolicy", JsonValue::of_text("Delete"));
    set_default(object, "volumeBindingMode", JsonValue::of_text("Immediate"));
  } else if (plural == "csidrivers") {
    JsonValue& spec = object_at(object, "spec");
    set_default(spec, "attachRequired", JsonValue::of_bool(true));
    set_default(spec, "podInfoOnMount", JsonValue::of_bool(false));
    set_default(spec, "storageCapacity", JsonValue::of_bool(false));
    set_default(spec, "fsGroupPolicy", JsonValue::of_text("ReadWriteOnceWithFSType"));
    set_default(spec, "requiresRepublish", JsonValue::of_bool(false));
    set_default(spec, "seLinuxMount", JsonValue::of_bool(false));
    set_default(spec, "preventPodSchedulingIfMissing", JsonValue::of_bool(false));
    JsonValue modes = JsonValue::array();
    modes.items.push_back(JsonValue::of_text("Persistent"));
    set_default(spec, "volumeLifecycleModes", std::move(modes));
  } else if (plural == "persistentvolumes") {
    default_text(object_at(object, "status"), "phase", "Pending");
    JsonValue& spec = object_at(object, "spec");
    set_default(spec, "persistentVolumeReclaimPolicy", JsonValue::of_text("Retain"));
    set_default(spec, "volumeMode", JsonValue::of_text("Filesystem"));
    if (JsonValue* path = at(spec, "hostPath"); is_object(path))
      set_default(*path, "type", JsonValue::of_text(""));
  } else if (plural == "persistentvolumeclaims") {
    default_text(object_at(object, "status"), "phase", "Pending");
    set_default(object_at(object, "spec"), "volumeMode", JsonValue::of_text("Filesystem"));
  }
}

}  // namespace

void default_text(JsonValue& object, std::string_view name, std::string_view text) {
  if (text_at(object, name).empty()) set_text(object, name, text);
}

void default_number(JsonValue& object, std::string_view name, std::int64_t number) {
  if (int_at(object, name).value_or(0) == 0) set(object, name, JsonValue::of_int(number));
}

void apply_defaults(const Resource& resource, JsonValue& object, WallTime now) {
  if (resource.custom != nullptr) return default_custom(*resource.custom, object);
  const std::string_view plural = resource.plural;
  if (plural == "pods") {
    default_pod(object);
  } else if (plural == "nodes") {
    default_node(object);
  } else if (is_workload(plural)) {
    default_workload(plural, object);
  } else if (plural == "services") {
    default_service(object);
  } else if (plural == "secrets") {
    default_secret(object);
  } else if (plural == "endpoints") {
    each_item(object, "subsets", [](JsonValue& subset) {
      each_item(subset, "ports", [](JsonValue& port) { default_text(port, "protocol", "TCP"); });
    });
  } else if (plural == "resourceclaims") {
    if (JsonValue* devices = at(object, "spec.devices")) default_claim_requests(*devices);
  } else if (plural == "resourceclaimtemplates") {
    if (JsonValue* devices = at(object, "spec.spec.devices")) default_claim_requests(*devices);
  } else if (plural == "devicetaintrules") {
    default_device_taint(at(object, "spec.taint"), now);
  } else if (plural == "resourceslices") {
    default_device_taints(object, now);
  } else if (plural == "limitranges") {
    default_limit_range(object);
  } else if (plural == "podtemplates") {
    if (JsonValue* spec = at(object, "template.spec"); is_object(spec)) default_pod_spec(*spec);
  } else if (plural == "rolebindings" || plural == "clusterrolebindings") {
    default_role_binding(object);
  } else if (plural == "customresourcedefinitions") {
    default_definition(object);
  } else if (plural == "priorityclasses") {
    set_default(object, "preemptionPolicy", JsonValue::of_text("PreemptLowerPriority"));
  } else {
    default_storage(plural, object);
  }
  const Resource& stored = resource.stored_as.empty() ? resource : resource_of(resource.stored_as);
  const auto type = schema::find_message(stored.group_version(), stored.kind);
  if (type) canonicalize(*type, object);
}

}  // namespace berth::memapi
