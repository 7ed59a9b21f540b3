// /metrics/resources: what every pod asks for and is limited to (shell.md §3.5).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/pod.h"
#include "telemetry/metrics.h"

namespace berth::serve {

using PodList = std::vector<Ref<const Pod>>;

// Asks the world for its pods. Called from any thread; calls back once: at once, or later on the
// world thread. nullopt: this scheduler does not lead.
using ListPods = std::function<void(std::function<void(std::optional<PodList>)> done)>;

// The page for Prometheus. Any thread.
std::string pod_resource_page(std::span<const Ref<const Pod>> pods,
                              telemetry::MetricsFormat format);

}  // namespace berth::serve
