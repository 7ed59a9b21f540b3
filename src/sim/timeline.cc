#include "sim/timeline.h"

#include "base/time_text.h"
#include "framework/diagnosis.h"

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
  if (of_pod.bound) return;
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
  keep(entry("bound", pod).text("node", node).number("attempts", attempts));
}

void Timeline::failed(const Pod& pod, const Outcome& outcome) {
  PodRecord& of_pod = record(pod);
  std::string message = outcome.message();
  const bool again = of_pod.last_failed && message == of_pod.message;
  of_pod.alike = again ? of_pod.alike + 1 : 1;
  of_pod.message = std::move(message);
  of_pod.last_was_error = !outcome.rejected();
  of_pod.last_failed = loop_.now();
  of_pod.failed_after_change = changes_at_start_[pod.full_name()];
  keep(entry("failed", pod)
           .text("outcome", to_string(outcome.code))
           .text_if("plugin", outcome.plugin)
           .text("message", of_pod.message));
}

void Timeline::event(const PodEvent& event) {
  keep(entry("event", *event.pod)
           .text("type", event.type == EventType::kNormal ? "Normal" : "Warning")
           .text("reason", event.reason)
           .text("note", event.note));
}

void Timeline::trouble(std::string_view message) { note("trouble", "scheduler", message); }

}  // namespace berth::sim
