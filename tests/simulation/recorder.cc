#include "recorder.h"

#include <fmt/format.h>

#include <cstdio>

namespace berth::simulation {

void Recorder::queued(const Pod& pod, QueueName queue, std::string_view event) {
  ++happened_[fmt::format("queued {}", to_string(queue))];
  timeline_.queued(pod, queue, event);
  told();
}
void Recorder::attempt_started(const Pod& pod, std::int32_t attempt) {
  timeline_.attempt_started(pod, attempt);
  told();
}
void Recorder::decided(const Decision& decision) {
  timeline_.decided(decision);
  told();
}
void Recorder::wait_started(const Pod& pod, std::span<const PermitHold> holds) {
  ++history_.waits[key_of(pod)].started;
  ++happened_[fmt::format("held by {}", holds.size())];
  timeline_.wait_started(pod, holds);
  told();
}
void Recorder::wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) {
  ++history_.waits[key_of(pod)].ended;
  ++happened_[fmt::format("wait ended: {}", to_string(outcome.code))];
  timeline_.wait_ended(pod, outcome, waited);
  told();
}
void Recorder::bound(const Pod& pod, std::string_view node, std::int32_t attempts) {
  history_.reserve_steps.push_back({ReserveStep::Kind::kBound, "", key_of(pod)});
  ++happened_["bound"];
  timeline_.bound(pod, node, attempts);
  told();
}
void Recorder::failed(const Pod& pod, const Outcome& outcome) {
  ++happened_[fmt::format("failed: {}", to_string(outcome.code))];
  timeline_.failed(pod, outcome);
  told();
}
void Recorder::status_decided(const Pod& pod, const PodStatusPatch& patch) {
  DecidedStatus& decided = history_.decided[key_of(pod)];
  if (patch.condition) decided.condition.emplace(patch.condition->reason, patch.condition->message);
  if (!patch.nominated_node_name) return;
  decided.nominated = *patch.nominated_node_name;
  ++happened_[decided.nominated.empty() ? "nomination cleared" : "nominated"];
}
void Recorder::event(const PodEvent& event) {
  timeline_.event(event);
  told();
}
void Recorder::internal_error(std::string_view message) {
  timeline_.internal_error(message);
  told();
}

void Recorder::note(std::string_view what, std::string_view about) {
  ++happened_[std::string(what)];
  timeline_.note("mischief", what, about);
  told();
}

void Recorder::told() {
  for (; prints_ && printed_ < timeline().size(); ++printed_) {
    fmt::print("{}{}{}\n", who_, who_.empty() ? "" : " ", timeline()[printed_]);
    std::fflush(stdout);
  }
}

}  // namespace berth::simulation
