#include "sim/timeline.h"

#include <algorithm>

#include "api/pod_group.h"
#include "base/keyed_hash.h"
#include "base/time_text.h"
#include "berth/status.h"

namespace berth::sim {

std::size_t PodNameHash::operator()(const PodName& name) const {
  KeyedHash hash;
  hash.add(hash_text(name.namespace_name));
  hash.add(hash_text(name.name));
  return hash.value();
}

PodRecord& Timeline::record(const Pod& pod) {
  const PodName name = name_of(pod);
  if (last_ == nullptr || !PodNameEqual()(last_->first, name)) {
    auto found = pods_.find(name);
    if (found == pods_.end()) found = pods_.try_emplace(pod.full_name()).first;
    last_ = &*found;
  }
  return last_->second;
}

const PodRecord* Timeline::find(const PodName& name) const {
  const auto found = pods_.find(name);
  return found == pods_.end() ? nullptr : &found->second;
}

void Timeline::add(const JsonLine& line) {
  std::string entry = line.done();
  if (sink_) sink_(entry);
  if (keep_entries_) entries_.push_back(std::move(entry));
}

JsonLine Timeline::entry(std::string_view what, const Pod& pod) const {
  JsonLine line;
  line.text("time", go_duration(loop_.now().since_start)).text("what", what);
  line.text("pod", pod.full_name());
  return line;
}

void Timeline::note(std::string_view what, std::string_view about, std::string_view detail) {
  if (!wants_entries()) return;
  JsonLine line;
  line.text("time", go_duration(loop_.now().since_start)).text("what", what).text("about", about);
  add(line.text_if("detail", detail));
}

void Timeline::assigned(const Pod& pod) {
  PodRecord& of_pod = record(pod);
  if (of_pod.bound || of_pod.has_node) return;
  of_pod.has_node = true;
  of_pod.bound = loop_.now();
}

void Timeline::queued(const Pod& pod, QueueName queue, std::string_view event) {
  record(pod);
  if (!wants_entries()) return;
  add(entry("queued", pod).text("queue", to_string(queue)).text("event", event));
}

void Timeline::attempt_started(const Pod& pod, std::int32_t attempt) {
  PodRecord& of_pod = record(pod);
  of_pod.attempts = attempt;
  of_pod.changes_at_start = changes_ ? changes_() : 0;
  if (wants_entries()) add(entry("attempt", pod).number("attempt", attempt));
}

void Timeline::decided(const Decision& decision) {
  if (decision.outcome.ok()) ++scheduled_;
  if (!wants_entries()) return;
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
  add(line);
}

void Timeline::wait_started(const Pod& pod, std::span<const PermitHold> holds) {
  if (!wants_entries()) return;
  JsonLine timeouts;
  for (const PermitHold& hold : holds) timeouts.text(hold.plugin, go_duration(hold.timeout));
  add(entry("waiting", pod).raw("holds", timeouts.done()));
}

void Timeline::wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) {
  if (!wants_entries()) return;
  add(entry("settled", pod)
          .text("outcome", to_string(outcome.code))
          .text_if("plugin", outcome.plugin)
          .text_if("message", outcome.message())
          .text("waited", go_duration(waited)));
}

void Timeline::bound(const Pod& pod, std::string_view node, std::int32_t attempts) {
  PodRecord& of_pod = record(pod);
  of_pod.has_node = true;
  of_pod.bound = loop_.now();
  if (of_pod.failure) of_pod.failure->message.clear();
  of_pod.preemption.reset();  // it was turned away before it had a place, and has found another
  if (wants_entries()) add(entry("bound", pod).text("node", node).number("attempts", attempts));
}

void Timeline::failed(const Pod& pod, const Outcome& outcome) {
  PodRecord& of_pod = record(pod);
  if (!of_pod.failure) of_pod.failure = std::make_unique<PodRecord::Failure>();
  PodRecord::Failure& last = *of_pod.failure;
  std::string message = outcome.message();
  const bool again = last.at && message == last.message;
  last.alike = again ? last.alike + 1 : 1;
  last.message = std::move(message);
  last.was_error = !outcome.rejected();
  const std::uint64_t changes = of_pod.changes_at_start;
  const bool in_vain = last.at && changes == last.after_change;
  last.in_vain = in_vain ? last.in_vain + 1 : 1;
  most_in_vain_ = std::max(most_in_vain_, last.in_vain);
  last.at = loop_.now();
  last.after_change = changes;
  if (!wants_entries()) return;
  add(entry("failed", pod)
          .text("outcome", to_string(outcome.code))
          .text_if("plugin", outcome.plugin)
          .text("message", last.message));
}

void Timeline::preempted(const Pod& victim, const Pod& preemptor, std::string_view node) {
  PodRecord& of_victim = record(victim);
  of_victim.preemption = std::make_unique<PodRecord::Preemption>(
      PodRecord::Preemption{preemptor.full_name(), std::string(node)});
  if (wants_entries())
    add(entry("preempted", victim).text("by", of_victim.preemption->by).text("node", node));
}

void Timeline::group_decided(const PodGroup& group, const Outcome& outcome) {
  if (!wants_entries()) return;
  JsonLine line;
  line.text("time", go_duration(loop_.now().since_start))
      .text("what", "groupDecided")
      .text("group",
            std::string(group.symbols.text(group.namespace_name)).append("/").append(group.name))
      .text("outcome", to_string(outcome.code))
      .text_if("message", outcome.message());
  add(line);
}

void Timeline::event(const PodEvent& event) {
  if (!wants_entries()) return;
  add(entry("event", *event.pod)
          .text("type", event.type == EventType::kNormal ? "Normal" : "Warning")
          .text("reason", event.reason)
          .text("note", event.note));
}

void Timeline::internal_error(std::string_view message) { note("trouble", "scheduler", message); }

}  // namespace berth::sim
