#include "framework/log_observer.h"

#include <string>
#include <vector>

#include "framework/diagnosis.h"

namespace berth {
namespace {

using telemetry::LogValue;

LogValue shown(const Pod& pod) { return LogValue::object(pod.namespace_name(), pod.name()); }

// As upstream calls its queues in the log.
std::string_view queue_text(QueueName queue) {
  switch (queue) {
    case QueueName::kActive: return "Active";
    case QueueName::kBackoff: return "Backoff";
    case QueueName::kUnschedulable:
    case QueueName::kGated: return "Unschedulable";
  }
  return "";
}

}  // namespace

void LogObserver::queued(const Pod& pod, QueueName queue, std::string_view event) {
  if (!log_.enabled(5)) return;
  log_.info(5, "Pod moved to an internal scheduling queue",
            {{"pod", shown(pod)}, {"event", event}, {"queue", queue_text(queue)}});
}

void LogObserver::attempt_started(const Pod& pod, std::int32_t /*attempt*/) {
  if (log_.enabled(3)) log_.info(3, "Attempting to schedule pod", {{"pod", shown(pod)}});
}

void LogObserver::decided(const Decision& decision) {
  if (!decision.outcome.ok() && decision.outcome.code != Code::kWait) return;
  if (log_.enabled(2))
    looked_[decision.pod->uid()] = {decision.evaluated_nodes, decision.feasible_nodes};
}

void LogObserver::wait_started(const Pod& pod, std::span<const PermitHold> holds) {
  if (!log_.enabled(4)) return;
  std::vector<std::string> plugins;
  for (const PermitHold& hold : holds) plugins.push_back(hold.plugin);
  log_.info(4, "One or more plugins asked to wait and no plugin rejected pod",
            {{"pod", shown(pod)}, {"plugins", plugins}});
}

void LogObserver::bound(const Pod& pod, std::string_view node, std::int32_t /*attempts*/) {
  const auto found = looked_.find(pod.uid());
  if (log_.enabled(2)) {
    const Looked looked = found == looked_.end() ? Looked() : found->second;
    log_.info(2, "Successfully bound pod to node",
              {{"pod", shown(pod)},
               {"node", node},
               {"evaluatedNodes", looked.evaluated},
               {"feasibleNodes", looked.feasible}});
  }
  if (found != looked_.end()) looked_.erase(found);
}

void LogObserver::failed(const Pod& pod, const Outcome& outcome) {
  looked_.erase(pod.uid());
  if (!outcome.rejected()) {
    log_.error(outcome.message(), "Error scheduling pod; retrying", {{"pod", shown(pod)}});
    return;
  }
  if (!log_.enabled(2)) return;
  if (outcome.error == kNoNodesAvailable)
    log_.info(2, "Unable to schedule pod; no nodes are registered to the cluster; waiting",
              {{"pod", shown(pod)}});
  else
    log_.info(2, "Unable to schedule pod; no fit; waiting",
              {{"pod", shown(pod)}, {"err", outcome.message()}});
}

void LogObserver::preempted(const Pod& victim, const Pod& preemptor, std::string_view node) {
  if (log_.enabled(2))
    log_.info(2, "Preemptor Pod preempted victim Pod",
              {{"preemptor", shown(preemptor)}, {"victim", shown(victim)}, {"node", node}});
}

void LogObserver::trouble(std::string_view message) { log_.error(std::nullopt, message); }

}  // namespace berth
