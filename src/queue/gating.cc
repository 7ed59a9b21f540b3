#include "queue/gating.h"

#include <fmt/format.h>

#include <exception>
#include <string>

namespace berth {

void Gating::judge(QueuedPod& queued) const {
  const std::uint32_t profile = hints_.profile_of(*queued.pod);
  const PreEnqueuePlugin* refused_by = nullptr;
  if (profile != Hints::kUnknownProfile) {
    const auto& plugins = hints_.profile(profile).pre_enqueue;
    for (const bool gating_now : {true, false}) {
      if (gating_now && !queued.gated()) continue;
      for (const PreEnqueuePlugin* plugin : plugins) {
        if ((plugin->name() == queued.gating_plugin) != gating_now) continue;
        if (admits(*plugin, *queued.pod)) continue;
        refused_by = plugin;
        break;
      }
      if (refused_by) break;
    }
  }
  if (refused_by) {
    queued.gating_plugin = refused_by->name();
    queued.unschedulable_plugins.insert(refused_by->name());
  } else {
    queued.gating_plugin.clear();  // Parity: it stays among the rejectors
  }
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
