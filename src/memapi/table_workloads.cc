// What makes pods, and services.
#include <fmt/format.h>

#include "base/time_text.h"
#include "memapi/table_cells.h"

namespace berth::memapi {
namespace {

using namespace cell;

void add_template(const JsonValue& object, Cells& cells) {
  const auto& containers = items_at(object, "spec.template.spec.containers");
  cells.push_back(text(joined(containers, "name")));
  cells.push_back(text(joined(containers, "image")));
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

constexpr Column kCronJobs[] = {{"Name"},
                                {"Schedule"},
                                {"Timezone"},
                                {"Suspend", "boolean"},
                                {"Active", "integer"},
                                {"Last Schedule"},
                                {"Age"},
                                {"Containers", "string", 1},
                                {"Images", "string", 1},
                                {"Selector", "string", 1}};
void cron_job_cells(const JsonValue& cron, WallTime now, Cells& cells) {
  const std::string_view last = text_at(cron, "status.lastScheduleTime");
  const JsonValue* job = at(cron, "spec.jobTemplate");
  const JsonValue& made_from = job != nullptr ? *job : cron;
  cells = {name(cron),
           text(text_at(cron, "spec.schedule")),
           text_or(text_at(cron, "spec.timeZone"), "<none>"),
           text(true_at(cron, "spec.suspend") ? "True" : "False"),
           JsonValue::of_int(static_cast<std::int64_t>(items_at(cron, "status.active").size())),
           text(last.empty() ? "<none>" : age_text(last, now)),
           age(cron, now)};
  add_template(made_from, cells);
  cells.push_back(text(selector_text(at(made_from, "spec.selector.matchLabels"))));
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

constexpr Table kWorkloadTables[] = {
    {"replicasets", kReplicaSets, replica_set_cells},
    {"replicationcontrollers", kReplicaSets, replica_set_cells},
    {"deployments", kDeployments, deployment_cells},
    {"statefulsets", kStatefulSets, stateful_set_cells},
    {"daemonsets", kDaemonSets, daemon_set_cells},
    {"jobs", kJobs, job_cells},
    {"cronjobs", kCronJobs, cron_job_cells},
    {"services", kServices, service_cells},
};

}  // namespace

std::span<const Table> workload_tables() { return kWorkloadTables; }

}  // namespace berth::memapi
