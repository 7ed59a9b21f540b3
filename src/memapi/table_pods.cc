#include "memapi/table_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/time_text.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr Column kPods[] = {{"Name"},
                            {"Ready"},
                            {"Status"},
                            {"Restarts"},
                            {"Age"},
                            {"IP", "string", 1},
                            {"Node", "string", 1},
                            {"Nominated Node", "string", 1},
                            {"Readiness Gates", "string", 1}};

struct PodStory {
  std::string status;
  std::int64_t restarts = 0;
  std::optional<WallTime> last_restart;
  std::size_t ready = 0;
  std::size_t total = 0;
};

bool is_sidecar(const JsonValue& pod, std::string_view name) {
  return std::ranges::any_of(items_at(pod, "spec.initContainers"), [&](const JsonValue& container) {
    return text_at(container, "name") == name && text_at(container, "restartPolicy") == "Always";
  });
}

void count_restart(const JsonValue& container, PodStory& story) {
  story.restarts += int_at(container, "restartCount").value_or(0);
  const Result<WallTime> ended =
      parse_rfc3339(text_at(container, "lastState.terminated.finishedAt"));
  if (ended && (!story.last_restart || *ended > *story.last_restart)) story.last_restart = *ended;
}

std::string ended_text(const JsonValue& terminated) {
  if (const std::string_view reason = text_at(terminated, "reason"); !reason.empty())
    return std::string(reason);
  if (const auto signal = int_at(terminated, "signal").value_or(0); signal != 0)
    return fmt::format("Signal:{}", signal);
  return fmt::format("ExitCode:{}", int_at(terminated, "exitCode").value_or(0));
}

// True while init containers are at work: then they are the status.
bool tell_init(const JsonValue& pod, PodStory& story) {
  const auto& statuses = items_at(pod, "status.initContainerStatuses");
  const std::size_t total = items_at(pod, "spec.initContainers").size();
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const JsonValue& container = statuses[i];
    const bool sidecar = is_sidecar(pod, text_at(container, "name"));
    count_restart(container, story);
    const JsonValue* terminated = at(container, "state.terminated");
    if (is_object(terminated) && int_at(*terminated, "exitCode").value_or(0) == 0) continue;
    if (sidecar && true_at(container, "started")) {
      if (true_at(container, "ready")) ++story.ready;
      continue;
    }
    const std::string_view waiting = text_at(container, "state.waiting.reason");
    if (is_object(terminated)) {
      story.status = "Init:" + ended_text(*terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      story.status = fmt::format("Init:{}", waiting);
    } else {
      story.status = fmt::format("Init:{}/{}", i, total);
    }
    return true;
  }
  return false;
}

void tell_containers(const JsonValue& pod, PodStory& story) {
  bool running = false;
  const auto& statuses = items_at(pod, "status.containerStatuses");
  for (auto container = statuses.rbegin(); container != statuses.rend(); ++container) {
    count_restart(*container, story);
    const JsonValue* terminated = at(*container, "state.terminated");
    if (const std::string_view waiting = text_at(*container, "state.waiting.reason");
        !waiting.empty()) {
      story.status = waiting;
    } else if (is_object(terminated)) {
      story.status = ended_text(*terminated);
    } else if (true_at(*container, "ready") && at(*container, "state.running") != nullptr) {
      running = true;
      ++story.ready;
    }
  }
  if (story.status != "Completed" || !running) return;
  const bool ready =
      std::ranges::any_of(items_at(pod, "status.conditions"), [](const JsonValue& condition) {
        return text_at(condition, "type") == "Ready" && text_at(condition, "status") == "True";
      });
  story.status = ready ? "Running" : "NotReady";
}

PodStory tell(const JsonValue& pod) {
  PodStory story;
  story.total = items_at(pod, "spec.containers").size();
  for (const JsonValue& container : items_at(pod, "spec.initContainers"))
    if (text_at(container, "restartPolicy") == "Always") ++story.total;
  story.status = text_at(pod, "status.phase");
  const std::string_view reason = text_at(pod, "status.reason");
  if (!reason.empty()) story.status = reason;
  for (const JsonValue& condition : items_at(pod, "status.conditions")) {
    if (text_at(condition, "type") == "PodScheduled" &&
        text_at(condition, "reason") == "SchedulingGated")
      story.status = "SchedulingGated";
  }
  if (!tell_init(pod, story)) tell_containers(pod, story);
  if (at(pod, "metadata.deletionTimestamp") != nullptr) {
    if (reason == "NodeLost") {
      story.status = "Unknown";
    } else if (const std::string_view phase = text_at(pod, "status.phase");
               phase != "Failed" && phase != "Succeeded") {
      story.status = "Terminating";
    }
  }
  return story;
}

std::string gates_text(const JsonValue& pod) {
  const auto& gates = items_at(pod, "spec.readinessGates");
  if (gates.empty()) return "<none>";
  std::size_t met = 0;
  for (const JsonValue& gate : gates) {
    const std::string_view type = text_at(gate, "conditionType");
    met += std::ranges::any_of(items_at(pod, "status.conditions"), [&](const JsonValue& one) {
      return text_at(one, "type") == type && text_at(one, "status") == "True";
    });
  }
  return fmt::format("{}/{}", met, gates.size());
}

JsonValue text_or_none(std::string_view value) {
  return JsonValue::of_text(value.empty() ? "<none>" : value);
}

}  // namespace

std::span<const Column> pod_columns() { return kPods; }

std::vector<JsonValue> pod_cells(const JsonValue& pod, WallTime now) {
  const PodStory story = tell(pod);
  std::string restarts = fmt::format("{}", story.restarts);
  if (story.restarts > 0 && story.last_restart)
    restarts += fmt::format(" ({} ago)", human_duration(now - *story.last_restart));
  return {JsonValue::of_text(text_at(pod, "metadata.name")),
          JsonValue::of_text(fmt::format("{}/{}", story.ready, story.total)),
          JsonValue::of_text(story.status),
          JsonValue::of_text(restarts),
          JsonValue::of_text(age_text(text_at(pod, "metadata.creationTimestamp"), now)),
          text_or_none(text_at(pod, "status.podIP")),
          text_or_none(text_at(pod, "spec.nodeName")),
          text_or_none(text_at(pod, "status.nominatedNodeName")),
          JsonValue::of_text(gates_text(pod))};
}

}  // namespace berth::memapi
