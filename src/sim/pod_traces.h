// PodTraces: why the pods that somebody named went where they went: what the search found out in
// each of their attempts, as `berth evaluate` tells it. An Observer of the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/loop.h"
#include "berth/observer.h"
#include "explain/pod_decision.h"

namespace berth::sim {

struct PodTrace {
  TimePoint at;
  std::int32_t attempt = 0;
  explain::PodDecision decision;
};

class PodTraces final : public Observer {
 public:
  // Names or full names of pods, with * for any text.
  PodTraces(Loop& loop, std::vector<std::string> names) : loop_(loop), names_(std::move(names)) {}

  const std::vector<PodTrace>& traces() const { return traces_; }
  // The names that no traced pod has.
  std::vector<std::string> unused_names() const;

  void attempt_started(const Pod&, std::int32_t attempt) override { attempt_ = attempt; }
  bool wants_trace(const Pod& pod) const override;
  void traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) override;
  void preempted(const Pod& victim, const Pod& preemptor, std::string_view node) override;

 private:
  Loop& loop_;
  const std::vector<std::string> names_;
  std::int32_t attempt_ = 0;  // of the search under way
  std::vector<PodTrace> traces_;
};

}  // namespace berth::sim
