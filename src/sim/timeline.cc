#include "sim/timeline.h"

#include <algorithm>

#include "base/time_text.h"
#include "berth/status.h"

namespace berth::sim {

PodRecord& Timeline::record(const Pod& pod) {
  PodRecord& found = pods_[pod.full_name()];
  if (found.name.empty()) {
    found.namespace_name = pod.namespace_name();
    found.name = pod.name();
  }
  return found;
}

const PodRecord* Timeline::find(const std::string& full_name) const {
  const auto found = pods_.find(full_name);
  return found == pods_.end() ? nullptr : &found->second;
}

JsonLine Timeline::entry(std::string_view what, const Pod& pod) const {
  JsonLine line;
  line.text("time", go_duration(loop_.now().since_start)).text("what", what);
  line.text("pod", pod.full_name());
  return line;
}

void Timeline::note(std::string_view what, std::string_view about, std::string_view detail) {
  JsonLine line;
  line.text("time", go_duration(loop_.now().since_start)).text("what", what).text("about", about);
  keep(line.text_if("detail", detail));
}

void Timeline::assigned(const Pod& pod) {
  PodRecord& of_pod = record(pod);
  if (of_pod.bound || !of_pod.node.empty()) return;
  of_pod.node = pod.node_name();
  of_pod.bound = loop_.now();
}

void Timeline::queued(const Pod& pod, QueueName queue, std::string_view event) {
  record(pod);
  keep(entry("queued", pod).text("queue", to_string(queue)).text("event", event));
}

void Timeline::attempt_started(const Pod& pod, std::int32_t attempt) {
  record(pod).attempts = attempt;
  changes_at_start_[pod.full_name()] = changes_ ? changes_() : 0;
  keep(entry("attempt", pod).number("attempt", attempt));
}

void Timeline::decided(const Decision& decision) {
  JsonLine line = entry("decided", *decision.pod);
  line.text("outcome", to_string(decision.outcome.code))
      .text_if("node", decision.node)
      .number("evaluatedNodes", decision.evaluated_nodes)
      .number("feasibleNodes", decision.feasible_nodes);
  if (decision.outcome.ok()) line.number("score", decision.score);
  if (const FitError* error = decision.outcome.fit_error.get()) {
    JsonLine verdicts;
    for (const auto& [reason, count] : error->reasons) verdicts.number(reason, count);
    line.raw("verdicts", verdicts.done());
    line.texts("plugins",
               {error->unschedulable_plugins.begin(), error->unschedulable_plugins.end()});
  }
  keep(line);
}

void Timeline::wait_started(const Pod& pod, std::span<const PermitHold> holds) {
  std::vector<std::string> plugins;
  JsonLine timeouts;
  for (const PermitHold& hold : holds) {
    plugins.push_back(hold.plugin);
    timeouts.text(hold.plugin, go_duration(hold.timeout));
  }
  record(pod).waiting_for = plugins;
  keep(entry("waiting", pod).raw("holds", timeouts.done()));
}

void Timeline::wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) {
  record(pod).waiting_for.clear();
  keep(entry("settled", pod)
           .text("outcome", to_string(outcome.code))
           .text_if("plugin", outcome.plugin)
           .text_if("message", outcome.message())
           .text("waited", go_duration(waited)));
}

void Timeline::bound(const Pod& pod, std::string_view node, std::int32_t attempts) {
  PodRecord& of_pod = record(pod);
  of_pod.node = node;
  of_pod.bound = loop_.now();
  of_pod.message.clear();
  of_pod.preempted_by.clear();  // it was turned away before it had a place, and has found another
  keep(entry("bound", pod).text("node", node).number("attempts", attempts));
}

void Timeline::failed(const Pod& pod, const Outcome& outcome) {
  PodRecord& of_pod = record(pod);
  std::string message = outcome.message();
  const bool again = of_pod.last_failed && message == of_pod.message;
  of_pod.alike = again ? of_pod.alike + 1 : 1;
  of_pod.message = std::move(message);
  of_pod.last_was_error = !outcome.rejected();
  const std::uint64_t changes = changes_at_start_[pod.full_name()];
  const bool in_vain = of_pod.last_failed && changes == of_pod.failed_after_change;
  of_pod.in_vain = in_vain ? of_pod.in_vain + 1 : 1;
  most_in_vain_ = std::max(most_in_vain_, of_pod.in_vain);
  of_pod.last_failed = loop_.now();
  of_pod.failed_after_change = changes;
  keep(entry("failed", pod)
           .text("outcome", to_string(outcome.code))
           .text_if("plugin", outcome.plugin)
           .text("message", of_pod.message));
}

void Timeline::preempted(const Pod& victim, const Pod& preemptor, std::string_view node) {
  PodRecord& of_victim = record(victim);
  of_victim.preempted_by = preemptor.full_name();
  of_victim.preempted_on = node;
  keep(entry("preempted", victim).text("by", of_victim.preempted_by).text("node", node));
}

void Timeline::event(const PodEvent& event) {
  keep(entry("event", *event.pod)
           .text("type", event.type == EventType::kNormal ? "Normal" : "Warning")
           .text("reason", event.reason)
           .text("note", event.note));
}

void Timeline::internal_error(std::string_view message) { note("trouble", "scheduler", message); }

}  // namespace berth::sim
