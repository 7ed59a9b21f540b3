// Defaults of the kinds: what an API server fills in, whoever writes the object.

#include <fmt/format.h>

#include "base/time_text.h"
#include "berth/resources.h"
#include "memapi/admission.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

// Amounts are stored in their canonical form, as strings.
Answer<void> canonical_amounts(const Resource& resource, JsonValue& parent, std::string_view path) {
  JsonValue* amounts = at(parent, path);
  if (!is_object(amounts)) return {};
  for (JsonMember& member : amounts->members) {
    const Result<Quantity> amount = Quantity::parse(member.value.text);
    if (!amount) {
      return refuse(ApiError::bad_request(
          fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind,
                      resource.version, resource.kind, amount.error().message)));
    }
    member.value = JsonValue::of_text(amount->to_string());
  }
  return {};
}

Answer<void> canonical_pod_amounts(const Resource& resource, JsonValue& spec) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    JsonValue* containers = at(spec, list);
    if (!is_array(containers)) continue;
    for (JsonValue& container : containers->items) {
      for (const std::string_view path : {"resources.requests", "resources.limits"})
        if (auto done = canonical_amounts(resource, container, path); !done) return done;
    }
  }
  for (const std::string_view path : {"resources.requests", "resources.limits", "overhead"})
    if (auto done = canonical_amounts(resource, spec, path); !done) return done;
  return {};
}

bool pulls_always(std::string_view image) {
  if (image.contains('@')) return false;
  const std::size_t slash = image.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const std::size_t colon = last.rfind(':');
  return colon == std::string_view::npos || last.substr(colon + 1) == "latest";
}

void default_container(JsonValue& container, bool host_network) {
  if (container.kind != JsonValue::Kind::kObject) return;
  set_default(container, "resources", JsonValue::object());
  set_default(container, "terminationMessagePath", JsonValue::of_text("/dev/termination-log"));
  set_default(container, "terminationMessagePolicy", JsonValue::of_text("File"));
  set_default(
      container, "imagePullPolicy",
      JsonValue::of_text(pulls_always(text_at(container, "image")) ? "Always" : "IfNotPresent"));
  if (JsonValue* ports = at(container, "ports"); is_array(ports)) {
    for (JsonValue& port : ports->items) {
      if (port.kind != JsonValue::Kind::kObject) continue;
      set_default(port, "protocol", JsonValue::of_text("TCP"));
      const JsonValue* number = port.find("containerPort");
      if (host_network && number != nullptr && int_at(port, "hostPort").value_or(0) == 0)
        set(port, "hostPort", JsonValue(*number));
    }
  }
  const JsonValue* limits = at(container, "resources.limits");
  if (!is_object(limits) || limits->members.empty()) return;
  const JsonValue copy = *limits;  // what follows may move it
  JsonValue& requests = object_at(container, "resources.requests");
  for (const JsonMember& limit : copy.members) set_default(requests, limit.name, limit.value);
}

void default_template(JsonValue& object) {
  if (JsonValue* spec = at(object, "spec.template.spec"); is_object(spec)) default_pod_spec(*spec);
}

JsonValue rolling_update(std::initializer_list<std::pair<std::string_view, JsonValue>> members) {
  JsonValue strategy = JsonValue::object();
  strategy.add("type", JsonValue::of_text("RollingUpdate"));
  JsonValue parameters = JsonValue::object();
  for (const auto& [name, value] : members) parameters.add(name, value);
  strategy.add("rollingUpdate", std::move(parameters));
  return strategy;
}

void default_workload(std::string_view plural, JsonValue& object) {
  JsonValue& spec = object_at(object, "spec");
  default_template(object);
  if (plural == "jobs") {
    // Parity: parallelism without completions is a queue of work.
    if (spec.find("parallelism") == nullptr) set_default(spec, "completions", JsonValue::of_int(1));
    set_default(spec, "parallelism", JsonValue::of_int(1));
    set_default(spec, "backoffLimit", JsonValue::of_int(6));
    set_default(spec, "completionMode", JsonValue::of_text("NonIndexed"));
    set_default(spec, "suspend", JsonValue::of_bool(false));
    return;
  }
  if (plural != "daemonsets") set_default(spec, "replicas", JsonValue::of_int(1));
  if (plural == "replicationcontrollers" || plural == "replicasets") return;
  set_default(spec, "revisionHistoryLimit", JsonValue::of_int(10));
  if (plural == "deployments") {
    set_default(spec, "progressDeadlineSeconds", JsonValue::of_int(600));
    set_default(spec, "strategy",
                rolling_update({{"maxUnavailable", JsonValue::of_text("25%")},
                                {"maxSurge", JsonValue::of_text("25%")}}));
  } else if (plural == "statefulsets") {
    set_default(spec, "podManagementPolicy", JsonValue::of_text("OrderedReady"));
    set_default(spec, "updateStrategy", rolling_update({{"partition", JsonValue::of_int(0)}}));
  } else if (plural == "daemonsets") {
    set_default(spec, "updateStrategy",
                rolling_update({{"maxUnavailable", JsonValue::of_int(1)},
                                {"maxSurge", JsonValue::of_int(0)}}));
  }
}

void default_service(JsonValue& object) {
  JsonValue& spec = object_at(object, "spec");
  set_default(spec, "type", JsonValue::of_text("ClusterIP"));
  set_default(spec, "sessionAffinity", JsonValue::of_text("None"));
  JsonValue* ports = at(spec, "ports");
  if (!is_array(ports)) return;
  for (JsonValue& port : ports->items) {
    if (port.kind != JsonValue::Kind::kObject) continue;
    set_default(port, "protocol", JsonValue::of_text("TCP"));
    if (const JsonValue* number = port.find("port"))
      set_default(port, "targetPort", JsonValue(*number));
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

Answer<void> default_node(const Resource& resource, JsonValue& object) {
  JsonValue& status = object_at(object, "status");
  for (const std::string_view list : {"capacity", "allocatable"})
    if (auto done = canonical_amounts(resource, status, list); !done) return done;
  const JsonValue* capacity = at(status, "capacity");
  if (is_object(capacity) && !is_object(at(status, "allocatable")))
    set(status, "allocatable", JsonValue(*capacity));
  return {};
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
    JsonValue modes = JsonValue::array();
    modes.items.push_back(JsonValue::of_text("Persistent"));
    set_default(spec, "volumeLifecycleModes", std::move(modes));
  } else if (plural == "persistentvolumes") {
    JsonValue& spec = object_at(object, "spec");
    set_default(spec, "persistentVolumeReclaimPolicy", JsonValue::of_text("Retain"));
    set_default(spec, "volumeMode", JsonValue::of_text("Filesystem"));
  } else if (plural == "persistentvolumeclaims") {
    set_default(object_at(object, "spec"), "volumeMode", JsonValue::of_text("Filesystem"));
  }
}

}  // namespace

void default_pod_spec(JsonValue& spec) {
  set_default(spec, "restartPolicy", JsonValue::of_text("Always"));
  set_default(spec, "dnsPolicy", JsonValue::of_text("ClusterFirst"));
  set_default(spec, "schedulerName", JsonValue::of_text("default-scheduler"));
  set_default(spec, "terminationGracePeriodSeconds", JsonValue::of_int(30));
  set_default(spec, "securityContext", JsonValue::object());
  const bool host_network = true_at(spec, "hostNetwork");
  for (const std::string_view list : {"containers", "initContainers"}) {
    JsonValue* containers = at(spec, list);
    if (!is_array(containers)) continue;
    for (JsonValue& container : containers->items) default_container(container, host_network);
  }
}

Answer<void> apply_defaults(const Resource& resource, JsonValue& object, WallTime now) {
  const std::string_view plural = resource.plural;
  if (plural == "pods") {
    JsonValue& spec = object_at(object, "spec");
    if (auto done = canonical_pod_amounts(resource, spec); !done) return done;
    default_pod_spec(spec);
    set_default(spec, "enableServiceLinks", JsonValue::of_bool(true));
  } else if (plural == "nodes") {
    return default_node(resource, object);
  } else if (resource.group == "apps" || plural == "replicationcontrollers" || plural == "jobs") {
    if (JsonValue* spec = at(object, "spec.template.spec"); is_object(spec)) {
      if (auto done = canonical_pod_amounts(resource, *spec); !done) return done;
    }
    default_workload(plural, object);
  } else if (plural == "services") {
    default_service(object);
  } else if (plural == "resourceclaims") {
    if (JsonValue* devices = at(object, "spec.devices")) default_claim_requests(*devices);
  } else if (plural == "resourceclaimtemplates") {
    if (JsonValue* devices = at(object, "spec.spec.devices")) default_claim_requests(*devices);
  } else if (plural == "devicetaintrules") {
    default_device_taint(at(object, "spec.taint"), now);
  } else if (plural == "resourceslices") {
    default_device_taints(object, now);
  } else if (plural == "podgroups") {
    JsonValue single = JsonValue::object();
    single.add("single", JsonValue::object());
    set_default(object_at(object, "spec"), "disruptionMode", std::move(single));
  } else if (plural == "priorityclasses") {
    set_default(object, "preemptionPolicy", JsonValue::of_text("PreemptLowerPriority"));
  } else {
    default_storage(plural, object);
  }
  if (plural == "persistentvolumes") return canonical_amounts(resource, object, "spec.capacity");
  if (plural == "persistentvolumeclaims") {
    for (const std::string_view path :
         {"spec.resources.requests", "spec.resources.limits", "status.capacity"})
      if (auto done = canonical_amounts(resource, object, path); !done) return done;
  }
  return {};
}

}  // namespace berth::memapi
