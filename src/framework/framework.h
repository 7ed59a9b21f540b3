// Framework: the plugins of one profile; runs each extension point (core.md §3).
//
// The scheduling cycle and the binding cycle call these methods in order; each runs the plugins of
// one extension point and combines their results into one, with upstream's messages. An exception
// becomes an Error of the plugin that threw it.
//
// World thread only. Outlives every cycle that runs in it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cycle.h"
#include "berth/handle.h"
#include "berth/measurements.h"
#include "berth/observer.h"
#include "berth/plugin.h"
#include "berth/status.h"
#include "berth/task.h"
#include "framework/profile_plugins.h"
#include "framework/step_timers.h"

namespace berth {

// The result of PreFilter.
struct PreFilterRun {
  Outcome outcome;                           // Success, a rejection, or an Error
  std::optional<std::vector<Symbol>> nodes;  // the only nodes that can fit; nullopt: all
  std::set<std::string> restricting;         // plugins that restricted the nodes

  // Adds the plugins that restricted or rejected, and the verdict of the nodes that are left out.
  void note_in(Diagnosis& diagnosis) const;
};

// The result of Permit: Success, Wait with the plugins that hold the pod, a rejection, or an Error.
struct PermitRun {
  Outcome outcome;
  std::vector<PermitHold> holds;
};

// One plugin's scores by row, for traces: raw, normalized, and multiplied by the plugin's weight.
struct PluginScores {
  const ScorePlugin* plugin;
  std::span<const Score> raw;
  std::span<const Score> normalized;
  std::span<const Score> weighted;
};
using ScoreVisitor = std::function<void(const PluginScores&)>;

class Framework {
 public:
  Framework(std::string profile_name, ProfilePlugins plugins, const Handle& handle,
            Observer& observer);
  ~Framework();

  const std::string& profile_name() const { return profile_name_; }
  const ProfilePlugins& plugins() const { return plugins_; }
  const Plugin* plugin(std::uint16_t index) const {
    return index < plugins_.all.size() ? plugins_.all[index].get() : nullptr;
  }
  const Nominator& nominator() const { return handle_.nominator; }
  TimePoint tick() const { return handle_.loop.tick(); }
  // The measurements of this profile; null if nothing is measured.
  ProfileMeasurements* measurements() const { return measured_; }
  // The events that each rejecting plugin waits for, completed as upstream does (§2.6). The error
  // joins those of all plugins.
  struct QueueingEvents {
    std::string plugin;
    std::vector<EventRegistration> events;
  };
  Result<std::vector<QueueingEvents>> queueing_events() const;
  // The events of a plugin that does not register any: all.
  static std::vector<EventRegistration> all_events();

  // The pod's signature: equal for pods that every plugin treats alike; nullopt when some plugin
  // cannot sign it.
  std::optional<std::string> sign(const Pod& pod) const;
  // False: no pod of this profile has a signature.
  bool signs_any() const;

  // ---- scheduling cycle
  PreFilterRun run_pre_filter(Cycle& cycle) const;
  // One plugin's part of it.
  PreFilterResult ask_pre_filter(const Placed<PreFilterPlugin>& placed, Cycle& cycle) const;

  // Removes the rows that some plugin rejects from `feasible` and writes the verdicts into the
  // cycle's scratch. Rows that some plugin defers are removed, too, and listed there.
  void run_filters(const Cycle& cycle, NodeSet& feasible) const;
  // The same, with the pods of the same or higher priority that are nominated to a row (§3.4): such
  // a row must fit both with and without them.
  Outcome run_filters_with_nominated(Cycle& cycle, Cluster& cluster, NodeSet& feasible) const;
  // One plugin's part of run_filters, run_pre_score and run_scores, for callers that run some
  // plugins for some rows only. `feasible` and verdicts as there.
  void ask_filter(const Placed<FilterPlugin>& placed, const Cycle& cycle, NodeSet& feasible) const;
  Outcome ask_pre_score(const Placed<PreScorePlugin>& placed, Cycle& cycle,
                        const NodeSet& feasible) const;
  Outcome ask_score(const Placed<ScorePlugin>& placed, const Cycle& cycle, const NodeSet& feasible,
                    std::span<Score> raw) const;
  Outcome ask_normalize(const Placed<ScorePlugin>& placed, const Cycle& cycle,
                        const NodeSet& feasible, std::span<Score> raw) const;
  // The verdict of a single row; kWait if it is deferred.
  Status filter_row(const Cycle& cycle, NodeRow row) const;
  // One row with its nominated pods.
  Result<Status> filter_row_with_nominated(Cycle& cycle, Cluster& cluster, NodeRow row) const;
  // Lets timers and posted work run before the filters go on with the deferred rows.
  Task<void> give_turn(Cycle& cycle) const;
  // A verdict with its message and plugin.
  Outcome explain(const Cycle& cycle, const Status& status) const;

  Outcome run_add_pod(Cycle& cycle, const Pod& pod, NodeRow row) const;
  Outcome run_remove_pod(Cycle& cycle, const Pod& pod, NodeRow row) const;

  Task<PostFilterResult> run_post_filter(Cycle& cycle, const Diagnosis& diagnosis) const;

  Outcome run_pre_score(Cycle& cycle, const NodeSet& feasible) const;
  // Writes every feasible row's weighted sum.
  Outcome run_scores(const Cycle& cycle, const NodeSet& feasible, std::span<Score> totals,
                     const ScoreVisitor& visit = {}) const;

  Outcome run_reserve(Cycle& cycle, std::string_view node_name) const;
  void run_unreserve(Cycle& cycle, std::string_view node_name) const;  // all, in reverse
  PermitRun run_permit(Cycle& cycle, std::string_view node_name) const;

  // Drops the states that only Filter and Score needed: a pod may wait for long after the search.
  void end_search(Cycle& cycle) const;

  // ---- binding cycle
  Outcome run_pre_bind_pre_flight(Cycle& cycle, std::string_view node_name) const;
  Task<Outcome> run_pre_bind(Cycle& cycle, std::string_view node_name, CancelToken cancel) const;
  Task<Outcome> run_bind(Cycle& cycle, std::string_view node_name) const;
  void run_post_bind(Cycle& cycle, std::string_view node_name) const;

  // The error "no node fits", from the cycle's verdicts.
  std::shared_ptr<FitError> fit_error(const Cycle& cycle, const Diagnosis& diagnosis,
                                      std::size_t all_nodes) const;

 private:
  PreFilterRun ask_pre_filter(Cycle& cycle) const;
  Outcome ask_pre_scores(Cycle& cycle, const NodeSet& feasible) const;
  Outcome ask_scores(const Cycle& cycle, const NodeSet& feasible, std::span<Score> totals,
                     const ScoreVisitor& visit) const;
  Outcome score_rows(const Placed<ScorePlugin>& placed, const Cycle& cycle, const NodeSet& feasible,
                     std::span<Score> raw) const;
  Outcome invalid_score(const Cycle& cycle, const NodeSet& feasible, std::span<Score> raw) const;
  Outcome ask_reserve(Cycle& cycle, std::string_view node_name) const;
  PermitRun ask_permit(Cycle& cycle, std::string_view node_name) const;
  Task<PostFilterResult> ask_post_filter(Cycle& cycle, const Diagnosis& diagnosis) const;
  Outcome ask_pre_bind_pre_flight(Cycle& cycle, std::string_view node_name) const;
  Task<Outcome> ask_pre_bind(Cycle& cycle, std::string_view node_name, CancelToken cancel) const;
  // The outcome of an extension point that may take a while, timed.
  template <typename Answer>
  Task<Answer> timed(Point point, Task<Answer> running) const;
  PluginTimer time_plugin(const Cycle& cycle, std::uint16_t plugin, Point point) const {
    return {measured_, cycle.sampled, plugin, point};
  }
  // Parity: that nobody had anything to do is a run of the extension point, too.
  void note_idle(Point point) const {
    if (measured_) measured_->point_ran(point, Code::kSuccess, Duration(0));
  }
  void evaluated(std::uint16_t plugin, Point point, std::size_t times) const {
    if (measured_) measured_->plugin_evaluated(plugin, point, times);
  }

  using PreBinders = std::vector<Placed<PreBindPlugin>>;
  Task<Outcome> run_pre_bind_group(Cycle& cycle, std::string_view node_name, CancelToken cancel,
                                   PreBinders group) const;
  Task<Outcome> run_one_pre_bind(Cycle& cycle, std::string_view node_name, CancelToken cancel,
                                 const Placed<PreBindPlugin>& placed) const;
  Task<Outcome> run_pre_bind_beside(Cycle& cycle, std::string_view node_name,
                                    const Placed<PreBindPlugin>& placed, CancelSource& group,
                                    std::optional<Outcome>& first_failure) const;

  std::string profile_name_;
  ProfilePlugins plugins_;
  std::vector<const Plugin*> later_;  // those that have a part after the search
  Handle handle_;
  Observer& observer_;
  ProfileMeasurements* measured_ = nullptr;
  mutable std::vector<Score> raw_scores_;  // reused from pod to pod
};

template <typename Answer>
Task<Answer> Framework::timed(Point point, Task<Answer> running) const {
  const PointTimer timer(measured_, point);
  Answer answer = co_await running;
  if constexpr (std::same_as<Answer, Outcome>)
    timer.ended(answer.code);
  else
    timer.ended(answer.outcome.code);
  co_return answer;
}

// Only in a catch block: the current exception as an Error of the plugin.
Outcome thrown_by(const Plugin& plugin);

// Calls into a plugin; what it throws becomes an Error.
template <typename Call>
Outcome guarded(const Plugin& plugin, Call call) {
  try {
    return call();
  } catch (...) {
    return thrown_by(plugin);
  }
}

// An Error in the words of an extension point, `plugin` named. The code may differ only by being an
// Error: rejections are passed on as they are by the callers.
Outcome wrap_failure(std::string prefix, const Outcome& cause, std::string_view plugin);

}  // namespace berth
