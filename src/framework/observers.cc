#include "framework/observers.h"

#include <algorithm>

namespace berth {

void Observers::queued(const Pod& pod, QueueName queue, std::string_view event) {
  for (Observer* observer : observers_) observer->queued(pod, queue, event);
}
void Observers::attempt_started(const Pod& pod, std::int32_t attempt) {
  for (Observer* observer : observers_) observer->attempt_started(pod, attempt);
}
void Observers::decided(const Decision& decision) {
  for (Observer* observer : observers_) observer->decided(decision);
}
void Observers::searched_slowly(const Pod& pod, const SlowSearch& search) {
  for (Observer* observer : observers_) observer->searched_slowly(pod, search);
}
bool Observers::wants_trace(const Pod& pod) const {
  return std::ranges::any_of(observers_,
                             [&](const Observer* observer) { return observer->wants_trace(pod); });
}
void Observers::traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) {
  for (Observer* observer : observers_)
    if (observer->wants_trace(pod)) observer->traced(pod, nodes, trace);
}
void Observers::reserved(const Pod& pod, std::string_view plugin) {
  for (Observer* observer : observers_) observer->reserved(pod, plugin);
}
void Observers::unreserved(const Pod& pod, std::string_view plugin) {
  for (Observer* observer : observers_) observer->unreserved(pod, plugin);
}
void Observers::wait_started(const Pod& pod, std::span<const PermitHold> holds) {
  for (Observer* observer : observers_) observer->wait_started(pod, holds);
}
void Observers::wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) {
  for (Observer* observer : observers_) observer->wait_ended(pod, outcome, waited);
}
void Observers::bound(const Pod& pod, std::string_view node, std::int32_t attempts) {
  for (Observer* observer : observers_) observer->bound(pod, node, attempts);
}
void Observers::failed(const Pod& pod, const Outcome& outcome) {
  for (Observer* observer : observers_) observer->failed(pod, outcome);
}
void Observers::status_decided(const Pod& pod, const PodStatusPatch& patch) {
  for (Observer* observer : observers_) observer->status_decided(pod, patch);
}
void Observers::preempted(const Pod& victim, const Pod& preemptor, std::string_view node) {
  for (Observer* observer : observers_) observer->preempted(victim, preemptor, node);
}
void Observers::group_decided(const PodGroup& group, const Outcome& outcome) {
  for (Observer* observer : observers_) observer->group_decided(group, outcome);
}

void Observers::event(const PodEvent& event) {
  for (Observer* observer : observers_) observer->event(event);
}
void Observers::internal_error(std::string_view message) {
  for (Observer* observer : observers_) observer->internal_error(message);
}

Observer* Observers::measuring() {
  for (Observer* observer : observers_)
    if (Observer* measuring = observer->measuring()) return measuring;
  return nullptr;
}

}  // namespace berth
