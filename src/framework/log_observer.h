// LogObserver: logs the scheduler's steps, with upstream's messages and levels (shell.md §8): 0
// that a search was slow, 2 the result of an attempt, 3 that it is tried, 4 that it waits or was
// turned away after a node was found, 5 which queue it is in, 10 who rejected each node and all
// scores.
//
// World thread, as every Observer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "berth/observer.h"
#include "telemetry/log.h"

namespace berth {

class LogObserver final : public Observer {
 public:
  explicit LogObserver(telemetry::Log log) : log_(std::move(log)) {}

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void decided(const Decision& decision) override;
  void searched_slowly(const Pod& pod, const SlowSearch& search) override;
  bool wants_trace(const Pod&) const override { return log_.enabled(10); }
  void traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) override;
  void wait_started(const Pod& pod, std::span<const PermitHold> holds) override;
  void wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) override;
  void bound(const Pod& pod, std::string_view node, std::int32_t attempts) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void preempted(const Pod& victim, const Pod& preemptor, std::string_view node) override;
  void internal_error(std::string_view message) override;

 private:
  // How many nodes were looked at for a pod that is not bound yet.
  struct Looked {
    std::size_t evaluated = 0;
    std::size_t feasible = 0;
  };

  telemetry::Log log_;
  std::map<Uid, Looked> looked_;
  std::uint32_t traces_ = 0;  // so far
};

}  // namespace berth
