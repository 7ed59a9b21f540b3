// PreBind: the step that makes reservations durable. Plugins that allow it run side by side; the
// first failure cancels the others (core.md §3.7).
#include <fmt/format.h>

#include <utility>

#include "framework/framework.h"

namespace berth {
namespace {

// Whether the text is "context canceled", or ends with it after what was being done.
bool is_cancellation(std::string_view error) {
  return error == kContextCanceled || error.ends_with(fmt::format(": {}", kContextCanceled));
}

PreBindPreFlight guarded_pre_flight(const PreBindPlugin& plugin, Cycle& cycle,
                                    std::string_view node_name) {
  try {
    return plugin.pre_bind_pre_flight(cycle, node_name);
  } catch (...) {
    return {.outcome = thrown_by(plugin)};
  }
}

}  // namespace

Outcome Framework::run_pre_bind_pre_flight(Cycle& cycle, std::string_view node_name) const {
  const PointTimer timer(measured_, Point::kPreBindPreFlight);
  Outcome outcome = ask_pre_bind_pre_flight(cycle, node_name);
  timer.ended(outcome.code);
  return outcome;
}

Outcome Framework::ask_pre_bind_pre_flight(Cycle& cycle, std::string_view node_name) const {
  internal::PluginMask skip, parallel;
  bool work_to_do = false;
  for (const Placed<PreBindPlugin>& placed : plugins_.pre_bind) {
    const PluginTimer timer = time_plugin(cycle, placed.index, Point::kPreBindPreFlight);
    const auto [outcome, allow_parallel] = guarded_pre_flight(*placed.plugin, cycle, node_name);
    timer.ended(outcome.code);
    if (outcome.code == Code::kError)
      return wrap_failure(fmt::format("running PreBindPreFlight \"{}\": ", placed->name()), outcome,
                          placed->name());
    if (!outcome.ok() && outcome.code != Code::kSkip)
      return Outcome::failure(
                 fmt::format("PreBindPreFlight {} returned \"{}\", which is unsupported. It is"
                             " supposed to return Success, Skip, or Error status",
                             placed->name(), to_string(outcome.code)))
          .by(placed->name());
    if (outcome.ok())
      work_to_do = true;
    else
      skip.set(placed.index);
    if (allow_parallel) parallel.set(placed.index);
  }
  cycle.skip_pre_bind = skip;
  cycle.parallel_pre_bind = parallel;
  return work_to_do ? Outcome::success() : Outcome::skip();
}

Task<Outcome> Framework::run_pre_bind(Cycle& cycle, std::string_view node_name,
                                      CancelToken cancel) const {
  if (!measured_) return ask_pre_bind(cycle, node_name, std::move(cancel));
  return timed(Point::kPreBind, ask_pre_bind(cycle, node_name, std::move(cancel)));
}

Task<Outcome> Framework::ask_pre_bind(Cycle& cycle, std::string_view node_name,
                                      CancelToken cancel) const {
  PreBinders group;
  for (const Placed<PreBindPlugin>& placed : plugins_.pre_bind) {
    const bool skipped = cycle.skip_pre_bind.test(placed.index);
    if (cycle.parallel_pre_bind.test(placed.index)) {
      if (!skipped) group.push_back(placed);
      continue;
    }
    // Parity: a plugin that must run alone ends the group before it, also when it is skipped.
    if (!group.empty()) {
      Task<Outcome> together =
          run_pre_bind_group(cycle, node_name, cancel, std::exchange(group, {}));
      Outcome outcome = co_await together;
      if (!outcome.ok()) co_return outcome;
    }
    if (skipped) continue;
    Task<Outcome> alone = run_one_pre_bind(cycle, node_name, cancel, placed);
    Outcome outcome = co_await alone;
    if (!outcome.ok()) co_return outcome;
  }
  if (group.empty()) co_return Outcome::success();
  Task<Outcome> together = run_pre_bind_group(cycle, node_name, cancel, std::move(group));
  Outcome outcome = co_await together;
  co_return outcome;
}

Task<Outcome> Framework::run_one_pre_bind(Cycle& cycle, std::string_view node_name,
                                          CancelToken cancel,
                                          const Placed<PreBindPlugin>& placed) const {
  PreBindPlugin& plugin = *placed.plugin;
  const PluginTimer timer = time_plugin(cycle, placed.index, Point::kPreBind);
  Outcome outcome;
  try {
    Task<Outcome> task = plugin.pre_bind(cycle, node_name, cancel);
    outcome = co_await task;
  } catch (...) {
    outcome = thrown_by(plugin);
  }
  timer.ended(outcome.code);
  if (outcome.ok()) co_return outcome;
  if (outcome.rejected()) {
    outcome.plugin = plugin.name();
    co_return outcome;
  }
  // A plugin that ended because of the cancellation reports the cause.
  if (cancel.cancelled() && outcome.error && is_cancellation(*outcome.error))
    outcome = Outcome::failure(cancel.cause());
  co_return wrap_failure(fmt::format("running PreBind plugin \"{}\": ", plugin.name()), outcome,
                         plugin.name());
}

Task<Outcome> Framework::run_pre_bind_beside(Cycle& cycle, std::string_view node_name,
                                             const Placed<PreBindPlugin>& placed,
                                             CancelSource& group,
                                             std::optional<Outcome>& first_failure) const {
  Task<Outcome> task = run_one_pre_bind(cycle, node_name, group.token(), placed);
  Outcome outcome = co_await task;
  if (!outcome.ok() && !first_failure) {
    first_failure = outcome;
    group.cancel("some other PreBind operation failed");
  }
  co_return outcome;
}

Task<Outcome> Framework::run_pre_bind_group(Cycle& cycle, std::string_view node_name,
                                            CancelToken cancel, PreBinders group) const {
  if (group.size() == 1) {
    Task<Outcome> alone = run_one_pre_bind(cycle, node_name, cancel, group.front());
    Outcome outcome = co_await alone;
    co_return outcome;
  }
  CancelSource stop;
  std::optional<Outcome> first_failure;
  const CancelToken::Registration from_outside =
      cancel.on_cancel([&stop, cancel] { stop.cancel(cancel.cause()); });
  std::vector<Task<Outcome>> tasks;
  tasks.reserve(group.size());
  for (const Placed<PreBindPlugin>& placed : group)
    tasks.push_back(run_pre_bind_beside(cycle, node_name, placed, stop, first_failure));
  WhenAll<Outcome> all(std::move(tasks));
  co_await all;
  co_return first_failure ? std::move(*first_failure) : Outcome::success();
}

}  // namespace berth
