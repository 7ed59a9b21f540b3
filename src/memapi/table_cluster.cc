// Nodes, namespaces, events, policies, claims of devices.
#include <fmt/format.h>

#include <algorithm>

#include "memapi/table_cells.h"

namespace berth::memapi {
namespace {

using namespace cell;

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
  const bool gang = at(group, "spec.schedulingPolicy.gang") != nullptr;
  std::string_view status = "Pending";
  std::string_view disrupted;
  for (const JsonValue& condition : items_at(group, "status.conditions")) {
    const std::string_view type = text_at(condition, "type");
    if (type == "PodGroupInitiallyScheduled")
      status = text_at(condition, "status") == "True" ? "Scheduled" : "Unschedulable";
    if (type == "DisruptionTarget") disrupted = text_at(condition, "reason");
  }
  cells = {name(group), text(gang ? "Gang" : "Basic"),
           text_or(text_at(group, "spec.workloadRef.workloadName"), "<none>"),
           text_or(disrupted, status), age(group, now)};
}

constexpr Column kDeviceTaintRules[] = {{"Name"},   {"Key"},       {"Value"},
                                        {"Effect"}, {"TimeAdded"}, {"Age"}};
void device_taint_rule_cells(const JsonValue& rule, WallTime now, Cells& cells) {
  const std::string_view added = text_at(rule, "spec.taint.timeAdded");
  cells = {name(rule),
           text(text_at(rule, "spec.taint.key")),
           text(text_at(rule, "spec.taint.value")),
           text(text_at(rule, "spec.taint.effect")),
           text(added.empty() ? "" : age_text(added, now)),
           age(rule, now)};
}

constexpr Column kConfigMaps[] = {{"Name"}, {"Data", "integer"}, {"Age"}};
void config_map_cells(const JsonValue& object, WallTime now, Cells& cells) {
  std::size_t count = 0;
  for (const std::string_view part : {"data", "binaryData"})
    if (const JsonValue* data = at(object, part); is_object(data)) count += data->members.size();
  cells = {name(object), JsonValue::of_int(static_cast<std::int64_t>(count)), age(object, now)};
}

constexpr Column kQuotas[] = {{"Name"}, {"Request"}, {"Limit"}, {"Age"}};
void quota_cells(const JsonValue& quota, WallTime now, Cells& cells) {
  std::string requests, limits;
  const JsonValue* hard = at(quota, "status.hard");
  const JsonValue* used = at(quota, "status.used");
  if (is_object(hard)) {
    for (const JsonMember& limit : hard->members) {
      const JsonValue* so_far = is_object(used) ? used->find(limit.name) : nullptr;
      std::string& column = limit.name.starts_with("limits.") ? limits : requests;
      column += fmt::format("{}{}: {}/{}", column.empty() ? "" : ", ", limit.name,
                            so_far != nullptr ? so_far->text : "0", limit.value.text);
    }
  }
  cells = {name(quota), text(requests), text(limits), age(quota, now)};
}

constexpr Column kRoles[] = {{"Name"}, {"Created At", "date"}};
void role_cells(const JsonValue& role, WallTime, Cells& cells) {
  cells = {name(role), text(text_at(role, "metadata.creationTimestamp"))};
}

constexpr Column kRoleBindings[] = {{"Name"},
                                    {"Role"},
                                    {"Age"},
                                    {"Users", "string", 1},
                                    {"Groups", "string", 1},
                                    {"ServiceAccounts", "string", 1}};
void role_binding_cells(const JsonValue& binding, WallTime now, Cells& cells) {
  const auto subjects = [&](std::string_view kind) {
    std::string all;
    for (const JsonValue& subject : items_at(binding, "subjects")) {
      if (text_at(subject, "kind") != kind) continue;
      const std::string_view space = text_at(subject, "namespace");
      all += fmt::format("{}{}{}{}", all.empty() ? "" : ", ", space, space.empty() ? "" : "/",
                         text_at(subject, "name"));
    }
    return text(all);
  };
  cells = {name(binding),
           text(fmt::format("{}/{}", text_at(binding, "roleRef.kind"),
                            text_at(binding, "roleRef.name"))),
           age(binding, now),
           subjects("User"),
           subjects("Group"),
           subjects("ServiceAccount")};
}

constexpr Table kClusterTables[] = {
    {"nodes", kNodes, node_cells},
    {"namespaces", kNamespaces, namespace_cells},
    {"events", kEvents, event_cells},
    {"poddisruptionbudgets", kBudgets, budget_cells},
    {"priorityclasses", kPriorityClasses, priority_class_cells},
    {"leases", kLeases, lease_cells},
    {"resourceclaims", kResourceClaims, resource_claim_cells},
    {"podgroups", kPodGroups, pod_group_cells},
    {"devicetaintrules", kDeviceTaintRules, device_taint_rule_cells},
    {"configmaps", kConfigMaps, config_map_cells},
    {"resourcequotas", kQuotas, quota_cells},
    {"roles", kRoles, role_cells},
    {"clusterroles", kRoles, role_cells},
    {"rolebindings", kRoleBindings, role_binding_cells},
    {"clusterrolebindings", kRoleBindings, role_binding_cells},
};

}  // namespace

std::span<const Table> cluster_tables() { return kClusterTables; }

}  // namespace berth::memapi
