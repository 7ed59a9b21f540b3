#include "memapi/table_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "api/quantity.h"
#include "base/time_text.h"
#include "memapi/json_edit.h"
#include "memapi/resources.h"
#include "memapi/table_pods.h"

namespace berth::memapi {
namespace {

using Cells = std::vector<JsonValue>;
using MakeCells = void (*)(const JsonValue&, WallTime, Cells&);

JsonValue text(std::string_view value) { return JsonValue::of_text(value); }
JsonValue text_or(std::string_view value, std::string_view otherwise) {
  return text(value.empty() ? otherwise : value);
}
JsonValue number(const JsonValue& object, std::string_view path) {
  return JsonValue::of_int(int_at(object, path).value_or(0));
}
JsonValue age(const JsonValue& object, WallTime now) {
  return text(age_text(text_at(object, "metadata.creationTimestamp"), now));
}
JsonValue name(const JsonValue& object) { return text(text_at(object, "metadata.name")); }

// "a,b" of the items' members.
std::string joined(const std::vector<JsonValue>& items, std::string_view member) {
  std::string all;
  for (const JsonValue& item : items) {
    if (!all.empty()) all += ',';
    all += member.empty() ? std::string_view(item.text) : text_at(item, member);
  }
  return all;
}

std::string selector_text(const JsonValue* labels) {
  if (!is_object(labels) || labels->members.empty()) return "<none>";
  std::string all;
  for (const JsonMember& label : labels->members) {
    if (!all.empty()) all += ',';
    all += fmt::format("{}={}", label.name, label.value.text);
  }
  return all;
}

std::string access_modes(const JsonValue& object, std::string_view path) {
  std::string all;
  for (const JsonValue& mode : items_at(object, path)) {
    std::string_view shown = mode.text;
    if (shown == "ReadWriteOnce") shown = "RWO";
    if (shown == "ReadOnlyMany") shown = "ROX";
    if (shown == "ReadWriteMany") shown = "RWX";
    if (shown == "ReadWriteOncePod") shown = "RWOP";
    if (!all.empty()) all += ',';
    all += shown;
  }
  return all;
}

void add_template(const JsonValue& object, Cells& cells) {
  const auto& containers = items_at(object, "spec.template.spec.containers");
  cells.push_back(text(joined(containers, "name")));
  cells.push_back(text(joined(containers, "image")));
}

// ---- nodes and namespaces -----------------------------------------------------------------------

constexpr Column kNodes[] = {{"Name"},
                             {"Status"},
                             {"Roles"},
                             {"Age"},
                             {"Version"},
                             {"Internal-IP", "string", 1},
                             {"External-IP", "string", 1},
                             {"OS-Image", "string", 1},
                             {"Kernel-Version", "string", 1},
                             {"Container-Runtime", "string", 1}};

std::string node_address(const JsonValue& node, std::string_view type) {
  for (const JsonValue& address : items_at(node, "status.addresses"))
    if (text_at(address, "type") == type) return std::string(text_at(address, "address"));
  return "<none>";
}

void node_cells(const JsonValue& node, WallTime now, Cells& cells) {
  std::string status = "Unknown";
  for (const JsonValue& condition : items_at(node, "status.conditions")) {
    if (text_at(condition, "type") != "Ready") continue;
    status = text_at(condition, "status") == "True" ? "Ready" : "NotReady";
  }
  if (true_at(node, "spec.unschedulable")) status += ",SchedulingDisabled";
  std::vector<std::string> roles;
  if (const JsonValue* labels = at(node, "metadata.labels"); is_object(labels)) {
    static constexpr std::string_view kRole = "node-role.kubernetes.io/";
    for (const JsonMember& label : labels->members) {
      if (label.name.starts_with(kRole) && label.name.size() > kRole.size()) {
        roles.push_back(label.name.substr(kRole.size()));
      } else if (label.name == "kubernetes.io/role" && !label.value.text.empty()) {
        roles.push_back(label.value.text);
      }
    }
  }
  std::ranges::sort(roles);
  cells.push_back(name(node));
  cells.push_back(text(status));
  cells.push_back(text_or(fmt::format("{}", fmt::join(roles, ",")), "<none>"));
  cells.push_back(age(node, now));
  cells.push_back(text(text_at(node, "status.nodeInfo.kubeletVersion")));
  cells.push_back(text(node_address(node, "InternalIP")));
  cells.push_back(text(node_address(node, "ExternalIP")));
  for (const std::string_view path : {"status.nodeInfo.osImage", "status.nodeInfo.kernelVersion",
                                      "status.nodeInfo.containerRuntimeVersion"})
    cells.push_back(text_or(text_at(node, path), "<unknown>"));
}

constexpr Column kNamespaces[] = {{"Name"}, {"Status"}, {"Age"}};
void namespace_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object), text(text_at(object, "status.phase")), age(object, now)};
}

// ---- events -------------------------------------------------------------------------------------

constexpr Column kEvents[] = {{"Last Seen"},
                              {"Type"},
                              {"Reason"},
                              {"Object"},
                              {"Subobject", "string", 1},
                              {"Source", "string", 1},
                              {"Message"},
                              {"First Seen", "string", 1},
                              {"Count", "string", 1},
                              {"Name", "string", 1}};

void event_cells(const JsonValue& event, WallTime now, Cells& cells) {
  const auto first_of = [&](std::initializer_list<std::string_view> paths) {
    for (const std::string_view path : paths)
      if (const std::string_view found = text_at(event, path); !found.empty()) return found;
    return std::string_view();
  };
  std::string kind(text_at(event, "involvedObject.kind"));
  std::ranges::transform(kind, kind.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  const std::string_view component = first_of({"source.component", "reportingComponent"});
  const std::string_view host = text_at(event, "source.host");
  std::int64_t count = int_at(event, "count").value_or(0);
  if (count == 0) count = int_at(event, "series.count").value_or(1);
  cells = {
      text(age_text(first_of({"series.lastObservedTime", "lastTimestamp", "eventTime",
                              "metadata.creationTimestamp"}),
                    now)),
      text(text_at(event, "type")),
      text(text_at(event, "reason")),
      text(fmt::format("{}/{}", kind, text_at(event, "involvedObject.name"))),
      text(text_at(event, "involvedObject.fieldPath")),
      text(host.empty() ? std::string(component) : fmt::format("{}, {}", component, host)),
      text(text_at(event, "message")),
      text(age_text(first_of({"firstTimestamp", "eventTime", "metadata.creationTimestamp"}), now)),
      text(fmt::format("{}", count)),
      name(event)};
}

// ---- volumes ------------------------------------------------------------------------------------

constexpr Column kVolumes[] = {
    {"Name"},   {"Capacity"}, {"Access Modes"},           {"Reclaim Policy"},
    {"Status"}, {"Claim"},    {"StorageClass"},           {"VolumeAttributesClass"},
    {"Reason"}, {"Age"},      {"VolumeMode", "string", 1}};
void volume_cells(const JsonValue& volume, WallTime now, Cells& cells) {
  const std::string_view claim = text_at(volume, "spec.claimRef.name");
  const bool going = at(volume, "metadata.deletionTimestamp") != nullptr;
  cells = {
      name(volume),
      text(text_at(volume, "spec.capacity.storage")),
      text(access_modes(volume, "spec.accessModes")),
      text(text_at(volume, "spec.persistentVolumeReclaimPolicy")),
      text(going ? "Terminating" : text_at(volume, "status.phase")),
      text(claim.empty() ? std::string()
                         : fmt::format("{}/{}", text_at(volume, "spec.claimRef.namespace"), claim)),
      text(text_at(volume, "spec.storageClassName")),
      text_or(text_at(volume, "spec.volumeAttributesClassName"), "<unset>"),
      text(text_at(volume, "status.reason")),
      age(volume, now),
      text_or(text_at(volume, "spec.volumeMode"), "<unset>")};
}

constexpr Column kClaims[] = {{"Name"},
                              {"Status"},
                              {"Volume"},
                              {"Capacity"},
                              {"Access Modes"},
                              {"StorageClass"},
                              {"VolumeAttributesClass"},
                              {"Age"},
                              {"VolumeMode", "string", 1}};
void claim_cells(const JsonValue& claim, WallTime now, Cells& cells) {
  const bool bound = !text_at(claim, "spec.volumeName").empty();
  const bool going = at(claim, "metadata.deletionTimestamp") != nullptr;
  cells = {name(claim),
           text(going ? "Terminating" : text_at(claim, "status.phase")),
           text(text_at(claim, "spec.volumeName")),
           text(bound ? text_at(claim, "status.capacity.storage") : std::string_view()),
           text(bound ? access_modes(claim, "status.accessModes") : std::string()),
           text(text_at(claim, "spec.storageClassName")),
           text_or(text_at(claim, "spec.volumeAttributesClassName"), "<unset>"),
           age(claim, now),
           text_or(text_at(claim, "spec.volumeMode"), "<unset>")};
}

constexpr Column kStorageClasses[] = {{"Name"},
                                      {"Provisioner"},
                                      {"ReclaimPolicy"},
                                      {"VolumeBindingMode"},
                                      {"AllowVolumeExpansion", "boolean"},
                                      {"Age"}};
void storage_class_cells(const JsonValue& object, WallTime now, Cells& cells) {
  std::string shown(text_at(object, "metadata.name"));
  const JsonValue* annotations = at(object, "metadata.annotations");
  if (is_object(annotations)) {
    const JsonValue* is_default = annotations->find("storageclass.kubernetes.io/is-default-class");
    if (is_default != nullptr && is_default->text == "true") shown += " (default)";
  }
  cells = {text(shown),
           text(text_at(object, "provisioner")),
           text(text_at(object, "reclaimPolicy")),
           text(text_at(object, "volumeBindingMode")),
           JsonValue::of_bool(true_at(object, "allowVolumeExpansion")),
           age(object, now)};
}

constexpr Column kCsiNodes[] = {{"Name"}, {"Drivers", "integer"}, {"Age"}};
void csi_node_cells(const JsonValue& object, WallTime now, Cells& cells) {
  const auto drivers = static_cast<std::int64_t>(items_at(object, "spec.drivers").size());
  cells = {name(object), JsonValue::of_int(drivers), age(object, now)};
}

constexpr Column kCsiDrivers[] = {{"Name"},
                                  {"AttachRequired", "boolean"},
                                  {"PodInfoOnMount", "boolean"},
                                  {"StorageCapacity", "boolean"},
                                  {"TokenRequests"},
                                  {"RequiresRepublish", "boolean"},
                                  {"Modes"},
                                  {"Age"}};
void csi_driver_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object),
           JsonValue::of_bool(true_at(object, "spec.attachRequired")),
           JsonValue::of_bool(true_at(object, "spec.podInfoOnMount")),
           JsonValue::of_bool(true_at(object, "spec.storageCapacity")),
           text_or(joined(items_at(object, "spec.tokenRequests"), "audience"), "<unset>"),
           JsonValue::of_bool(true_at(object, "spec.requiresRepublish")),
           text_or(joined(items_at(object, "spec.volumeLifecycleModes"), ""), "<none>"),
           age(object, now)};
}

constexpr Column kCapacities[] = {{"Name"}, {"StorageClassName"}, {"Capacity"}};
void capacity_cells(const JsonValue& object, WallTime, Cells& cells) {
  cells = {name(object), text(text_at(object, "storageClassName")),
           text_or(text_at(object, "capacity"), "<unset>")};
}

constexpr Column kAttachments[] = {
    {"Name"}, {"Attacher"}, {"PV"}, {"Node"}, {"Attached", "boolean"}, {"Age"}};
void attachment_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object),
           text(text_at(object, "spec.attacher")),
           text(text_at(object, "spec.source.persistentVolumeName")),
           text(text_at(object, "spec.nodeName")),
           JsonValue::of_bool(true_at(object, "status.attached")),
           age(object, now)};
}

// ---- workloads ----------------------------------------------------------------------------------

constexpr Column kReplicaSets[] = {
    {"Name"}, {"Desired", "integer"},      {"Current", "integer"},  {"Ready", "integer"},
    {"Age"},  {"Containers", "string", 1}, {"Images", "string", 1}, {"Selector", "string", 1}};
void replica_set_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object), number(object, "spec.replicas"), number(object, "status.replicas"),
           number(object, "status.readyReplicas"), age(object, now)};
  add_template(object, cells);
  const JsonValue* labels = at(object, "spec.selector.matchLabels");
  cells.push_back(text(selector_text(labels != nullptr ? labels : at(object, "spec.selector"))));
}

constexpr Column kDeployments[] = {{"Name"},
                                   {"Ready"},
                                   {"Up-to-date", "integer"},
                                   {"Available", "integer"},
                                   {"Age"},
                                   {"Containers", "string", 1},
                                   {"Images", "string", 1},
                                   {"Selector", "string", 1}};
std::string ready_of(const JsonValue& object) {
  return fmt::format("{}/{}", int_at(object, "status.readyReplicas").value_or(0),
                     int_at(object, "spec.replicas").value_or(0));
}
void deployment_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object), text(ready_of(object)), number(object, "status.updatedReplicas"),
           number(object, "status.availableReplicas"), age(object, now)};
  add_template(object, cells);
  cells.push_back(text(selector_text(at(object, "spec.selector.matchLabels"))));
}

constexpr Column kStatefulSets[] = {
    {"Name"}, {"Ready"}, {"Age"}, {"Containers", "string", 1}, {"Images", "string", 1}};
void stateful_set_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object), text(ready_of(object)), age(object, now)};
  add_template(object, cells);
}

constexpr Column kDaemonSets[] = {{"Name"},
                                  {"Desired", "integer"},
                                  {"Current", "integer"},
                                  {"Ready", "integer"},
                                  {"Up-to-date", "integer"},
                                  {"Available", "integer"},
                                  {"Node Selector"},
                                  {"Age"},
                                  {"Containers", "string", 1},
                                  {"Images", "string", 1},
                                  {"Selector", "string", 1}};
void daemon_set_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells.push_back(name(object));
  for (const std::string_view path :
       {"status.desiredNumberScheduled", "status.currentNumberScheduled", "status.numberReady",
        "status.updatedNumberScheduled", "status.numberAvailable"})
    cells.push_back(number(object, path));
  cells.push_back(text(selector_text(at(object, "spec.template.spec.nodeSelector"))));
  cells.push_back(age(object, now));
  add_template(object, cells);
  cells.push_back(text(selector_text(at(object, "spec.selector.matchLabels"))));
}

constexpr Column kJobs[] = {{"Name"},
                            {"Status"},
                            {"Completions"},
                            {"Duration"},
                            {"Age"},
                            {"Containers", "string", 1},
                            {"Images", "string", 1},
                            {"Selector", "string", 1}};
void job_cells(const JsonValue& job, WallTime now, Cells& cells) {
  std::string status = at(job, "metadata.deletionTimestamp") != nullptr ? "Terminating" : "Running";
  for (const JsonValue& condition : items_at(job, "status.conditions")) {
    const std::string_view type = text_at(condition, "type");
    if (text_at(condition, "status") == "True" &&
        (type == "Complete" || type == "Failed" || type == "Suspended"))
      status = type;
  }
  std::string duration;
  const Result<WallTime> begin = parse_rfc3339(text_at(job, "status.startTime"));
  if (begin) {
    const Result<WallTime> end = parse_rfc3339(text_at(job, "status.completionTime"));
    duration = human_duration((end ? *end : now) - *begin);
  }
  cells = {name(job), text(status),
           text(fmt::format("{}/{}", int_at(job, "status.succeeded").value_or(0),
                            int_at(job, "spec.completions").value_or(1))),
           text(duration), age(job, now)};
  add_template(job, cells);
  cells.push_back(text(selector_text(at(job, "spec.selector.matchLabels"))));
}

constexpr Column kServices[] = {{"Name"},    {"Type"}, {"Cluster-IP"},           {"External-IP"},
                                {"Port(s)"}, {"Age"},  {"Selector", "string", 1}};
void service_cells(const JsonValue& service, WallTime now, Cells& cells) {
  std::string ports;
  for (const JsonValue& port : items_at(service, "spec.ports")) {
    if (!ports.empty()) ports += ',';
    ports += fmt::format("{}", int_at(port, "port").value_or(0));
    if (const auto node_port = int_at(port, "nodePort")) ports += fmt::format(":{}", *node_port);
    ports += fmt::format("/{}", text_at(port, "protocol"));
  }
  cells = {name(service),
           text(text_at(service, "spec.type")),
           text_or(text_at(service, "spec.clusterIP"), "<none>"),
           text_or(joined(items_at(service, "spec.externalIPs"), ""), "<none>"),
           text_or(ports, "<none>"),
           age(service, now),
           text(selector_text(at(service, "spec.selector")))};
}

// ---- the rest -----------------------------------------------------------------------------------

constexpr Column kBudgets[] = {
    {"Name"}, {"Min Available"}, {"Max Unavailable"}, {"Allowed Disruptions", "integer"}, {"Age"}};
void budget_cells(const JsonValue& budget, WallTime now, Cells& cells) {
  const auto limit = [&](std::string_view path) {
    const JsonValue* value = at(budget, path);
    return text(value != nullptr ? std::string_view(value->text) : "N/A");
  };
  cells = {name(budget), limit("spec.minAvailable"), limit("spec.maxUnavailable"),
           number(budget, "status.disruptionsAllowed"), age(budget, now)};
}

constexpr Column kPriorityClasses[] = {
    {"Name"}, {"Value", "integer"}, {"Global-Default", "boolean"}, {"Age"}, {"PreemptionPolicy"}};
void priority_class_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object), number(object, "value"),
           JsonValue::of_bool(true_at(object, "globalDefault")), age(object, now),
           text(text_at(object, "preemptionPolicy"))};
}

constexpr Column kLeases[] = {{"Name"}, {"Holder"}, {"Age"}};
void lease_cells(const JsonValue& lease, WallTime now, Cells& cells) {
  cells = {name(lease), text(text_at(lease, "spec.holderIdentity")), age(lease, now)};
}

constexpr Column kResourceClaims[] = {{"Name"}, {"State"}, {"Age"}};
void resource_claim_cells(const JsonValue& claim, WallTime now, Cells& cells) {
  std::string state;
  if (at(claim, "metadata.deletionTimestamp") != nullptr) state = "deleted";
  if (is_object(at(claim, "status.allocation"))) {
    state += state.empty() ? "allocated" : ",allocated";
    if (!items_at(claim, "status.reservedFor").empty()) state += ",reserved";
  }
  cells = {name(claim), text_or(state, "pending"), age(claim, now)};
}

constexpr Column kPodGroups[] = {{"Name"}, {"Policy"}, {"Workload"}, {"Status"}, {"Age"}};
void pod_group_cells(const JsonValue& group, WallTime now, Cells& cells) {
  const JsonValue* policy = at(group, "spec.schedulingPolicy");
  std::string shown = "<none>";
  if (is_object(policy)) {
    if (policy->find("gang") != nullptr) shown = "Gang";
    if (policy->find("basic") != nullptr) shown = "Basic";
  }
  std::string status = "Pending";
  for (const JsonValue& condition : items_at(group, "status.conditions"))
    if (text_at(condition, "status") == "True") status = text_at(condition, "type");
  cells = {name(group), text(shown),
           text_or(text_at(group, "spec.podGroupTemplateRef.workload.workloadName"), "<none>"),
           text(status), age(group, now)};
}

constexpr Column kConfigMaps[] = {{"Name"}, {"Data", "integer"}, {"Age"}};
void config_map_cells(const JsonValue& object, WallTime now, Cells& cells) {
  std::size_t count = 0;
  for (const std::string_view part : {"data", "binaryData"})
    if (const JsonValue* data = at(object, part); is_object(data)) count += data->members.size();
  cells = {name(object), JsonValue::of_int(static_cast<std::int64_t>(count)), age(object, now)};
}

constexpr Column kUsual[] = {{"Name"}, {"Age"}};
void usual_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {name(object), age(object, now)};
}

struct Table {
  std::string_view plural;
  std::span<const Column> columns;
  MakeCells cells;
};

constexpr Table kTables[] = {
    {"nodes", kNodes, node_cells},
    {"namespaces", kNamespaces, namespace_cells},
    {"events", kEvents, event_cells},
    {"persistentvolumes", kVolumes, volume_cells},
    {"persistentvolumeclaims", kClaims, claim_cells},
    {"storageclasses", kStorageClasses, storage_class_cells},
    {"csinodes", kCsiNodes, csi_node_cells},
    {"csidrivers", kCsiDrivers, csi_driver_cells},
    {"csistoragecapacities", kCapacities, capacity_cells},
    {"volumeattachments", kAttachments, attachment_cells},
    {"replicasets", kReplicaSets, replica_set_cells},
    {"replicationcontrollers", kReplicaSets, replica_set_cells},
    {"deployments", kDeployments, deployment_cells},
    {"statefulsets", kStatefulSets, stateful_set_cells},
    {"daemonsets", kDaemonSets, daemon_set_cells},
    {"jobs", kJobs, job_cells},
    {"services", kServices, service_cells},
    {"poddisruptionbudgets", kBudgets, budget_cells},
    {"priorityclasses", kPriorityClasses, priority_class_cells},
    {"leases", kLeases, lease_cells},
    {"resourceclaims", kResourceClaims, resource_claim_cells},
    {"podgroups", kPodGroups, pod_group_cells},
    {"configmaps", kConfigMaps, config_map_cells},
};
constexpr Table kUsualTable{"", kUsual, usual_cells};

const Table& table_of(const Resource& resource) {
  const auto* found = std::ranges::find(kTables, resource.plural, &Table::plural);
  return found == std::end(kTables) ? kUsualTable : *found;
}

}  // namespace

std::span<const Column> table_columns(const Resource& resource) {
  return resource.plural == "pods" ? pod_columns() : table_of(resource).columns;
}

std::vector<JsonValue> table_cells(const Resource& resource, const JsonValue& object,
                                   WallTime now) {
  Cells cells;
  if (resource.plural == "pods") return pod_cells(object, now);
  table_of(resource).cells(object, now, cells);
  return cells;
}

std::string human_duration(Duration duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  const std::int64_t minutes = seconds / 60;
  const auto pair = [](std::int64_t high, char high_unit, std::int64_t low, char low_unit) {
    return low == 0 ? fmt::format("{}{}", high, high_unit)
                    : fmt::format("{}{}{}{}", high, high_unit, low, low_unit);
  };
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  const std::int64_t days = hours / 24;
  if (days < 8) return pair(days, 'd', hours % 24, 'h');
  if (days < 365L * 2) return fmt::format("{}d", days);
  if (days < 365L * 8) return pair(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

std::string age_text(std::string_view timestamp, WallTime now) {
  const Result<WallTime> then = parse_rfc3339(timestamp);
  return then ? human_duration(now - *then) : "<unknown>";
}

}  // namespace berth::memapi
