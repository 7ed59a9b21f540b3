#include "queue/gating.h"

#include <fmt/format.h>

#include <exception>
#include <string>

namespace berth {

Gating::Gating(const Hints& hints, Observer& observer)
    : hints_(hints), observer_(observer), measured_(observer.measurements()) {
  if (!measured_) return;
  for (std::uint32_t i = 0; i < hints.profiles(); ++i)
    profiles_.push_back(&measured_->profile(hints.profile(i).scheduler_name, {}));
}

void Gating::judge(QueuedPod& queued) const {
  const std::uint32_t profile = hints_.profile_of(*queued.pod);
  const PreEnqueuePlugin* refused_by = nullptr;
  if (profile != Hints::kUnknownProfile) {
    const PointTimer timer(measured_ ? profiles_[profile] : nullptr, Point::kPreEnqueue);
    refused_by = who_refuses(queued, profile);
    timer.ended(Code::kSuccess);  // Parity: whatever they said
  }
  if (refused_by) {
    const std::size_t rejectors = queued.unschedulable_plugins.size();
    const bool pending = queued.pending_plugins.contains(refused_by->name());
    queued.gating_plugin = refused_by->name();
    queued.unschedulable_plugins.insert(refused_by->name());
    if (measured_ && queued.unschedulable_plugins.size() > rejectors && !pending)
      measured_->rejector(queued.pod->text(queued.pod->scheduler_name()), refused_by->name(), +1);
  } else {
    queued.gating_plugin.clear();  // Parity: it stays among the rejectors
  }
}

// Null when all admit it.
const PreEnqueuePlugin* Gating::who_refuses(const QueuedPod& queued, std::uint32_t profile) const {
  for (const bool gating_now : {true, false}) {
    if (gating_now && !queued.gated()) continue;
    for (const PreEnqueuePlugin* plugin : hints_.profile(profile).pre_enqueue) {
      if ((plugin->name() == queued.gating_plugin) != gating_now) continue;
      if (!admits(*plugin, *queued.pod)) return plugin;
    }
  }
  return nullptr;
}

bool Gating::admits(const PreEnqueuePlugin& plugin, const Pod& pod) const {
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
  observer_.trouble(fmt::format("Unexpected error running PreEnqueue plugin {} for pod {}: {}",
                                plugin.name(), pod.full_name(), error));
  return false;
}

}  // namespace berth
