// InformerMetrics: what client-go counts of an informer, of one Reflector (shell.md §3.4).
//
// World thread, except for `queued`.
#pragma once

#include <optional>
#include <string_view>

#include "berth/loop.h"
#include "kube/watched_kinds.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::kube {

class InformerMetrics {
 public:
  InformerMetrics(telemetry::WatchMetrics& families, const WatchedKind& kind);

  // Events that the world has not taken yet. Any thread.
  telemetry::Gauge& queued() { return queued_; }
  // Events that came together were applied; they end at `version`.
  void processed(Duration took, std::string_view version);

 private:
  telemetry::Gauge& queued_;
  telemetry::Gauge& version_;
  telemetry::Histogram& latency_;
};

// The last 15 digits of a resource version, which a double holds exactly; nullopt if these are no
// number.
std::optional<double> version_for_metrics(std::string_view version);

}  // namespace berth::kube
