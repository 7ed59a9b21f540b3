// /metrics/resources: what every pod asks for and is limited to (shell.md §3.5).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/pod.h"

namespace berth::serve {

using PodList = std::vector<Ref<const Pod>>;

// Asks the world for its pods. Called from any thread; calls back once: at once, or later on the
// world thread. Nothing: this scheduler does not lead, and has nothing to say.
using ListPods = std::function<void(std::function<void(std::optional<PodList>)> done)>;

// The text for Prometheus. Any thread.
std::string pod_resource_text(std::span<const Ref<const Pod>> pods);

}  // namespace berth::serve
