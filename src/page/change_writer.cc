#include "page/change_writer.h"

#include <fmt/format.h>

#include <utility>

#include "berth/status.h"
#include "wire/json_text.h"

namespace berth::page {

std::string milliseconds(Duration duration) {
  return go_float(std::chrono::duration<double, std::milli>(duration).count());
}

JsonLine ChangeWriter::change(std::string_view what) const {
  JsonLine line;
  line.raw("at", milliseconds(loop_.now().since_start));
  return line.text("what", what);
}

JsonLine ChangeWriter::change(std::string_view what, const Pod& pod) {
  JsonLine line = change(what);
  add_pod(line, "pod", pod);
  return line;
}

void ChangeWriter::pod_changed(DeltaType type, const Pod& pod, PodStage& known) {
  if (type == DeltaType::kDeleted) return add(change("deleted", pod));
  if (type == DeltaType::kAdded) {
    JsonLine line = change("created", pod);
    describe(line, pod);
    add(line);
  }
  if (!pod.node().empty() && !std::exchange(known.bound, true)) {
    JsonLine line = change("bound", pod);
    add_node(line, "node", pod.node_name());
    add(line);
  }
  if (pod.finished() && !std::exchange(known.finished, true))
    add(change("finished", pod).flag("failed", pod.phase() == PodPhase::kFailed));
  if (pod.terminating() && !std::exchange(known.terminating, true)) add(change("terminating", pod));
}

void ChangeWriter::note(std::string_view what, std::string_view about, std::string_view detail) {
  if (!wanted()) return;
  JsonLine line = change(what);
  add_text(line, "text",
           detail.empty() ? std::string(about) : fmt::format("{}: {}", about, detail));
  add(line);
}

void ChangeWriter::queued(const Pod& pod, QueueName queue, std::string_view event) {
  if (!wanted()) return;
  JsonLine line = change("queued", pod);
  line.text("queue", to_string(queue));
  add_text(line, "event", event);
  add(line);
}

void ChangeWriter::attempt_started(const Pod& pod, std::int32_t attempt) {
  if (!wanted()) return;
  add(change("attempt", pod).number("attempt", attempt));
}

void ChangeWriter::decided(const Decision& decision) {
  if (!wanted()) return;
  JsonLine line = change("decided", *decision.pod);
  line.text("outcome", to_string(decision.outcome.code));
  if (!decision.node.empty()) add_node(line, "node", decision.node);
  line.number("evaluated", decision.evaluated_nodes).number("feasible", decision.feasible_nodes);
  if (decision.outcome.ok()) line.number("score", decision.score);
  if (const FitError* error = decision.outcome.fit_error.get())
    line.texts("plugins",
               {error->unschedulable_plugins.begin(), error->unschedulable_plugins.end()});
  add(line);
}

void ChangeWriter::wait_started(const Pod& pod, std::span<const PermitHold> holds) {
  if (!wanted()) return;
  JsonLine timeouts;
  for (const PermitHold& hold : holds) timeouts.raw(hold.plugin, milliseconds(hold.timeout));
  add(change("waiting", pod).raw("holds", timeouts.done()));
}

void ChangeWriter::wait_ended(const Pod& pod, const Outcome& outcome, Duration /*waited*/) {
  if (!wanted()) return;
  JsonLine line = change("settled", pod);
  line.text("outcome", to_string(outcome.code)).text_if("plugin", outcome.plugin);
  if (const std::string message = outcome.message(); !message.empty())
    add_text(line, "message", message);
  add(line);
}

void ChangeWriter::failed(const Pod& pod, const Outcome& outcome) {
  if (!wanted()) return;
  JsonLine line = change("failed", pod);
  line.text("outcome", to_string(outcome.code)).text_if("plugin", outcome.plugin);
  add_text(line, "message", outcome.message());
  add(line);
}

void ChangeWriter::preempted(const Pod& victim, const Pod& preemptor, std::string_view node) {
  if (!wanted()) return;
  JsonLine line = change("preempted", victim);
  add_pod(line, "by", preemptor);
  add_node(line, "node", node);
  add(line);
}

}  // namespace berth::page
