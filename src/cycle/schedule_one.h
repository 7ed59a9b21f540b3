// ScheduleOne: takes pods from the queue, one at a time, and finds each a node (core.md §7).
//
//   pop ► search (PreFilter … select) ► assume ► Reserve ► Permit ► binding cycle, on its own
//
// The scheduling cycle is a coroutine, at most one open at a time; most pods never suspend in it.
// While one is suspended the gate is closed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/lifetime.h"
#include "berth/task.h"
#include "cycle/batching_counts.h"
#include "cycle/binding_cycle.h"
#include "cycle/failure_handler.h"
#include "framework/framework.h"
#include "queue/scheduling_queue.h"
#include "search/node_search.h"

namespace berth {

// A profile as the scheduling cycle sees it.
struct ScheduleProfile {
  const Framework* framework = nullptr;
  Symbol scheduler_name;
  std::int32_t percentage_of_nodes_to_score = 0;
  // With the gate OpportunisticBatching; `signs` if pods of this profile may have signatures.
  std::shared_ptr<BatchingCounts> batching = nullptr;
  bool signs = false;
};

class ScheduleOne {
 public:
  ScheduleOne(const CycleCollaborators& with, BindingCycle& bindings,
              std::vector<ScheduleProfile> profiles, NodeSearch& search);
  ScheduleOne(const ScheduleOne&) = delete;
  ScheduleOne& operator=(const ScheduleOne&) = delete;

  // From now on pods are scheduled whenever the queue has any.
  void start();
  // No new attempts; open attempts and bindings go on.
  void stop();

  // Schedules one pod, if there is one and no cycle is open. Returns whether it did.
  bool run_one();
  bool cycle_open() const { return open_; }

 private:
  // After so many pods, or so long, timers and posted work get their turn. In virtual time only the
  // number of pods counts.
  static constexpr int kPodsPerTurn = 16;
  static constexpr Duration kLongestTurn = std::chrono::milliseconds(10);

  void wake();
  void take_turn();
  const ScheduleProfile* profile_of(const Pod& pod) const;
  bool skip_pod_schedule(const Pod& pod, const ScheduleProfile& profile);
  Task<void> attempt(std::unique_ptr<Attempt> attempt, const ScheduleProfile& profile);
  void report_slow_search(const Pod& pod, const SearchResult& result, TimePoint begun,
                          Duration took);
  void measure_search(Attempt& attempt, const ScheduleProfile& profile, const SearchResult& result);
  Outcome prepare_for_binding(Attempt& attempt, NodeRow row);
  Outcome unreserve_and_forget(Attempt& attempt, Outcome outcome);

  CycleCollaborators with_;
  BindingCycle& bindings_;
  std::vector<ScheduleProfile> profiles_;
  NodeSearch& search_;
  bool running_ = false;
  bool turn_posted_ = false;
  bool open_ = false;
  std::uint64_t cycles_ = 0;  // popped pods
  Lifetime lifetime_;
};

}  // namespace berth
