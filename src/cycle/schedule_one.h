// ScheduleOne: takes pods from the queue, one at a time, and finds each a node (core.md §7). A group
// of pods is handed to GroupCycle.
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
#include "cycle/binding_cycle.h"
#include "cycle/failure_handler.h"
#include "cycle/schedule_group.h"
#include "cycle/schedule_profile.h"
#include "framework/framework.h"
#include "queue/scheduling_queue.h"
#include "search/node_search.h"

namespace berth {

class ScheduleOne {
 public:
  ScheduleOne(const CycleCollaborators& with, BindingCycle& bindings,
              std::vector<ScheduleProfile> profiles, NodeSearch& search);
  ScheduleOne(const ScheduleOne&) = delete;
  ScheduleOne& operator=(const ScheduleOne&) = delete;

  // With the gate GenericWorkload, before start(): the pods of a PodGroup are tried together.
  void schedule_groups(std::shared_ptr<GroupStates> states, GroupCycle::Options options) {
    groups_ = std::make_unique<GroupCycle>(with_, profiles_, search_, std::move(states), options);
  }

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
  Task<void> attempt_group(QueuedGroup group);
  void open_cycle();
  void measure_cluster();
  void report_slow_search(const Pod& pod, const SearchResult& result, TimePoint begun,
                          Duration took);
  void measure_search(Attempt& attempt, const ScheduleProfile& profile, const SearchResult& result);
  Outcome prepare_for_binding(Attempt& attempt, NodeRow row);
  Outcome unreserve_and_forget(Attempt& attempt, Outcome outcome);

  CycleCollaborators with_;
  BindingCycle& bindings_;
  std::vector<ScheduleProfile> profiles_;
  NodeSearch& search_;
  std::unique_ptr<GroupCycle> groups_;  // null: pods are scheduled one by one
  bool running_ = false;
  bool turn_posted_ = false;
  bool open_ = false;
  std::uint64_t cycles_ = 0;  // popped pods
  Lifetime lifetime_;
};

}  // namespace berth
