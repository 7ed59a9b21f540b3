#include "compare/run_meter.h"

#include <variant>

namespace berth::compare {
namespace {

constexpr std::size_t kMostCounts = 4096;

}  // namespace

std::uint32_t RunMeter::number_of(const Pod& pod) {
  const auto [entry, is_new] = numbers_.try_emplace(pod.uid(), 0);
  if (is_new) entry->second = log_.pod_number(pod.full_name());
  return entry->second;
}

// Daemons go where their nodes are: more of them is no question.
void RunMeter::add_shape(const Ref<const Pod>& pod) {
  const ControllerRef& owner = pod->meta().controller;
  if (!owner.empty() && pod->text(owner.kind) == "DaemonSet") return;
  const auto [entry, is_new] =
      shape_numbers_.try_emplace({&pod->spec(), &pod->meta()}, shapes_.size());
  if (is_new) shapes_.push_back({pod, 0});  // which keeps both addresses taken
  ++shapes_[entry->second].pods;
}

void RunMeter::changed(const Delta& delta) {
  const Duration now = loop_->now().since_start;
  resources_.changed(delta, now);
  const auto* found = std::get_if<Ref<const Pod>>(&delta.object);
  if (!found) return;
  const Pod& pod = **found;
  if (delta.type == DeltaType::kAdded) {
    ++created_;
    add_shape(*found);
  }
  const bool pending = delta.type != DeltaType::kDeleted && pod.node().empty() && !pod.finished() &&
                       pod.spec().scheduling_gates.empty();
  if (!keep_samples_) return;
  if (!pending && !pod.node().empty() && pending_.contains(pod.uid())) ++assigned_;
  const bool changes = pending ? pending_.insert(pod.uid()).second : pending_.erase(pod.uid()) > 0;
  if (!changes) return;
  if (counts_.empty() || counts_.back().at != now) counts_.push_back({.at = now});
  counts_.back().pending = pending_.size();
  counts_.back().bound = assigned_;
  if (counts_.size() < kMostCounts) return;
  for (std::size_t i = 1; 2 * i < counts_.size(); ++i) counts_[i] = counts_[2 * i];
  counts_.resize(kMostCounts / 2);
}

void RunMeter::queued(const Pod& pod, QueueName queue, std::string_view /*event*/) {
  if (queue != QueueName::kGated) waiting_since_.try_emplace(pod.uid(), loop_->now().since_start);
}

void RunMeter::decided(const Decision& decision) {
  const std::uint32_t number = number_of(*decision.pod);
  DecisionLog::PodEntry& pod = log_.pods[number];
  DecisionLog::Decided& decided = log_.decisions.emplace_back();
  decided.at = loop_->now().since_start;
  decided.pod = number;
  decided.ordinal = ++pod.decisions;
  if (!decision.outcome.ok() || decision.node.empty()) return;
  decided.node = log_.node_number(decision.node);
  pod.last_chosen = decided.ordinal;
  pod.chosen_place = log_.decisions.size() - 1;
}

void RunMeter::bound(const Pod& pod, std::string_view node, std::int32_t /*attempts*/) {
  const Duration now = loop_->now().since_start;
  DecisionLog::PodEntry& entry = log_.pods[number_of(pod)];
  entry.node = log_.node_number(node);
  entry.bound_at = now;
  entry.bound_by = entry.last_chosen;
  if (const auto since = waiting_since_.find(pod.uid()); since != waiting_since_.end()) {
    times_.push_back(now - since->second);
    waiting_since_.erase(since);
  }
}

void RunMeter::finish(Duration duration) { resources_.finish(duration); }

}  // namespace berth::compare
