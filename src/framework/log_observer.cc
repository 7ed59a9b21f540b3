#include "framework/log_observer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/time_text.h"
#include "berth/search_trace.h"
#include "berth/status.h"
#include "berth/views.h"

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

// "02-Jan-2006 15:04:05.000", in UTC.
std::string trace_time(WallTime time) {
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_time<Duration> moment(time.since_epoch);
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(moment - day));
  return fmt::format("{:02}-{}-{:04} {:02}:{:02}:{:02}.{:03}", unsigned(date.day()),
                     kMonths[unsigned(date.month()) - 1], int(date.year()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}
constexpr std::size_t kDateLength = 12;  // with the space after it

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
  // Only a plugin of Reserve or Permit gives its name to the whole outcome.
  if (decision.outcome.rejected() && decision.outcome.fit_error &&
      !decision.outcome.plugin.empty() && log_.enabled(4)) {
    std::vector<std::string> reasons;
    for (const auto& [reason, count] : decision.outcome.fit_error->reasons)
      reasons.push_back(reason);
    log_.info(4, "Pod rejected by plugin",
              {{"pod", shown(*decision.pod)},
               {"plugin", decision.outcome.plugin},
               {"status", fmt::format("{}", fmt::join(reasons, ", "))}});
  }
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
  log_.info(4, "Pod waiting on permit", {{"pod", shown(pod)}});
}

void LogObserver::wait_ended(const Pod& pod, const Outcome& outcome, Duration /*waited*/) {
  if (outcome.ok()) return;
  if (!outcome.rejected())
    log_.error(outcome.message(), "Failed waiting on permit for pod", {{"pod", shown(pod)}});
  else if (log_.enabled(4))
    log_.info(4, "Pod rejected while waiting on permit",
              {{"pod", shown(pod)}, {"status", outcome.message()}});
}

// The rejections of each node; every score of every feasible node, and their sums.
void LogObserver::traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) {
  for (const SearchTrace::Rejected& rejected : trace.rejected)
    log_.info(10, "Plugin rejected node for pod",
              {{"pod", shown(pod)},
               {"plugin", rejected.by.plugin},
               {"node", nodes.name_text(rejected.row)},
               {"status", rejected.by.message()}});
  for (const SearchTrace::Scores& scores : trace.scores) {
    const bool plugin = scores.scorer == SearchTrace::Scorer::kPlugin;
    trace.feasible.for_each([&](NodeRow row) {
      const SearchTrace::Points& points = scores.by_row[row];
      log_.info(10, plugin ? "Plugin scored node for pod" : "Extender scored node for pod",
                {{"pod", shown(pod)},
                 {plugin ? "plugin" : "extender", scores.name},
                 {"node", nodes.name_text(row)},
                 {"score", plugin ? points.weighted : points.raw}});
    });
  }
  if (trace.totals.empty()) return;
  trace.feasible.for_each([&](NodeRow row) {
    log_.info(10, "Calculated node's final score for pod",
              {{"pod", shown(pod)}, {"node", nodes.name_text(row)}, {"score", trace.totals[row]}});
  });
}

// In the form of upstream's traces: a line for the whole, one for each step that took its share of
// the time or more, and one for the end.
void LogObserver::searched_slowly(const Pod& pod, const SlowSearch& search) {
  struct Done {
    std::string_view what;
    Duration at;
  };
  std::vector<Done> steps;
  if (search.filtered) steps.push_back({"Computing predicates done", *search.filtered});
  if (search.scored) steps.push_back({"Prioritizing done", *search.scored});
  const Duration share = kSlowSearch / (steps.size() + 1);
  const std::string head = fmt::format("Trace[{}]: ", ++traces_);
  const auto milliseconds = [](Duration time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  };
  std::string text = fmt::format(
      "{}\"Scheduling\" namespace:{},name:{} ({}) (total time: {}ms):", head, pod.namespace_name(),
      pod.name(), trace_time(search.begun), milliseconds(search.total));
  Duration last{0};
  for (const Done& step : steps) {
    if (step.at - last >= share || log_.enabled(4))
      text += fmt::format("\n{}---\"{}\" {}ms ({})", head, step.what, milliseconds(step.at - last),
                          trace_time(search.begun + step.at).substr(kDateLength));
    last = step.at;
  }
  text += fmt::format("\n{}[{}] [{}] END\n", head, go_duration(search.total),
                      go_duration(search.total - last));
  log_.plain(telemetry::Severity::kInfo, text);
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

void LogObserver::internal_error(std::string_view message) { log_.error(std::nullopt, message); }

}  // namespace berth
