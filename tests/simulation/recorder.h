// Recorder: what an engine does in a run, as a timeline and as the History that the invariants are
// about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "berth/observer.h"
#include "history.h"
#include "sim/timeline.h"

namespace berth::simulation {

class Recorder final : public Observer {
 public:
  Recorder(Loop& loop, History& history, std::map<std::string, int>& happened)
      : timeline_(loop), history_(history), happened_(happened) {}

  // Prints the timeline as it grows, each line after `who`, so that a run that does not end well
  // can be read.
  void print(std::string who = {}) {
    prints_ = true;
    who_ = std::move(who);
  }
  const std::vector<std::string>& timeline() const { return timeline_.entries(); }
  // How pods stand by what was done with them, by full name.
  const sim::PodRecords& pods() const { return timeline_.pods(); }
  void note(std::string_view what, std::string_view about);

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void decided(const Decision& decision) override;
  void wait_started(const Pod& pod, std::span<const PermitHold> holds) override;
  void wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) override;
  void bound(const Pod& pod, std::string_view node, std::int32_t attempts) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void status_decided(const Pod& pod, const PodStatusPatch& patch) override;
  void event(const PodEvent& event) override;
  void internal_error(std::string_view message) override;

 private:
  void told();

  sim::Timeline timeline_;
  History& history_;
  std::map<std::string, int>& happened_;
  bool prints_ = false;
  std::string who_;
  std::size_t printed_ = 0;
};

}  // namespace berth::simulation
