// Timeline: everything that happened in a run, in order, with virtual times; and for each pod how
// it stands. An Observer of the engine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/observer.h"
#include "wire/json_line.h"

namespace berth::sim {

// How one pod stands, by what the scheduler did with it.
struct PodRecord {
  std::string namespace_name;
  std::string name;
  std::int32_t attempts = 0;
  std::string node;  // bound there
  std::optional<TimePoint> bound;
  std::optional<TimePoint> last_failed;
  std::uint64_t failed_after_change =
      0;                        // how many changes the cluster had seen before that attempt
  std::string message;          // of the last failure
  std::int32_t alike = 0;       // how often in a row it failed in these words
  bool last_was_error = false;  // it was not turned away: something went wrong
  std::int32_t in_vain = 0;     // how often in a row it failed with no change in between
  std::vector<std::string> waiting_for;  // Permit plugins that hold it
  std::string preempted_by;              // full name of who needed its place
  std::string preempted_on;              // that node
};

class Timeline final : public Observer {
 public:
  explicit Timeline(Loop& loop) : loop_(loop) {}

  // Who is asked how many changes the cluster has seen.
  void count_changes_with(std::function<std::uint64_t()> changes) { changes_ = std::move(changes); }

  // Something that did not come from the scheduler: a scenario's event, a pod deleted.
  void note(std::string_view what, std::string_view about, std::string_view detail = {});

  // The pod was made with a node: nobody bound it.
  void made_on_node(const Pod& pod) { record(pod).node = pod.node_name(); }
  // The store shows the pod on a node. The scheduler may not know yet: its call may have failed
  // although it worked.
  void assigned(const Pod& pod);

  // Each a JSON object on one line.
  const std::vector<std::string>& entries() const { return entries_; }
  const std::map<std::string, PodRecord>& pods() const { return pods_; }  // by full name
  const PodRecord* find(const std::string& full_name) const;
  // The most often that a pod has failed in a row with no change in between.
  std::int32_t most_in_vain() const { return most_in_vain_; }
  // Kept only when asked for: a long run has many entries.
  void keep_entries(bool keep) { keep_entries_ = keep; }

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void decided(const Decision& decision) override;
  void wait_started(const Pod& pod, std::span<const PermitHold> holds) override;
  void wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) override;
  void bound(const Pod& pod, std::string_view node, std::int32_t attempts) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void preempted(const Pod& victim, const Pod& preemptor, std::string_view node) override;
  void event(const PodEvent& event) override;
  void internal_error(std::string_view message) override;

 private:
  PodRecord& record(const Pod& pod);
  JsonLine entry(std::string_view what, const Pod& pod) const;
  void keep(const JsonLine& line) {
    if (keep_entries_) entries_.push_back(line.done());
  }

  Loop& loop_;
  std::function<std::uint64_t()> changes_;
  bool keep_entries_ = true;
  std::int32_t most_in_vain_ = 0;
  std::vector<std::string> entries_;
  std::map<std::string, PodRecord> pods_;
  std::map<std::string, std::uint64_t> changes_at_start_;  // of the attempt at hand, by full name
};

}  // namespace berth::sim
