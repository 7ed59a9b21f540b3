#include "queue/gating.h"

#include <fmt/format.h>

#include <exception>
#include <string>

#include "framework/step_timers.h"

namespace berth {

Gating::Gating(const Hints& hints, Observer& observer)
    : hints_(hints), observer_(observer), measured_(observer.measuring()) {}

void Gating::measure_profiles() {
  if (!measured_) return;
  for (std::uint32_t i = 0; i < hints_.profiles(); ++i)
    profiles_.push_back(measured_->profile(hints_.profile(i).scheduler_name, {}));
}

void Gating::run_pre_enqueue_plugins(QueuedPod& queued) const {
  const std::uint32_t profile = hints_.profile_of(*queued.pod);
  const PreEnqueuePlugin* refused_by = nullptr;
  if (profile != Hints::kUnknownProfile) {
    const PointTimer timer(measured_ ? profiles_[profile] : nullptr, Point::kPreEnqueue);
    refused_by = find_refusing_plugin(queued, profile);
    timer.ended(Code::kSuccess);  // Parity: whatever they said
  }
  if (refused_by) {
    const std::size_t rejectors = queued.unschedulable_plugins.size();
    const bool pending = queued.pending_plugins.contains(refused_by->name());
    queued.gating_plugin = refused_by->name();
    queued.unschedulable_plugins.insert(refused_by->name());
    if (measured_ && queued.unschedulable_plugins.size() > rejectors && !pending)
      measured_->rejector_changed(queued.pod->text(queued.pod->scheduler_name()),
                                  refused_by->name(), +1);
  } else {
    queued.gating_plugin.clear();  // Parity: it stays among the rejectors
  }
}

// Null when all plugins admit the pod.
const PreEnqueuePlugin* Gating::find_refusing_plugin(const QueuedPod& queued,
                                                     std::uint32_t profile) const {
  for (const bool gating_now : {true, false}) {
    if (gating_now && !queued.gated()) continue;
    for (const PreEnqueuePlugin* plugin : hints_.profile(profile).pre_enqueue) {
      if ((plugin->name() == queued.gating_plugin) != gating_now) continue;
      if (!run_pre_enqueue_plugin(*plugin, *queued.pod)) return plugin;
    }
  }
  return nullptr;
}

bool Gating::run_pre_enqueue_plugin(const PreEnqueuePlugin& plugin, const Pod& pod) const {
  std::string error;
  try {
    const Outcome outcome = plugin.pre_enqueue(pod);
    if (outcome.code != Code::kError) return outcome.ok();
    error = outcome.message();
  } catch (const std::exception& thrown) {
    error = thrown.what();
  } catch (...) {
    error = "unknown exception";
  }
  observer_.internal_error(
      fmt::format("Unexpected error running PreEnqueue plugin {} for pod {}: {}", plugin.name(),
                  pod.full_name(), error));
  return false;
}

}  // namespace berth
