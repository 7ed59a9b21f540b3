#include "framework/framework.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth {

Outcome wrap_failure(std::string prefix, const Outcome& cause, std::string_view plugin) {
  return Outcome::failure(std::move(prefix) + cause.message()).by(plugin);
}

Outcome thrown_by(const Plugin& plugin) {
  try {
    throw;
  } catch (const std::exception& exception) {
    return Outcome::failure(
        fmt::format("{} threw an exception: {}", plugin.name(), exception.what()));
  } catch (...) {
    return Outcome::failure(fmt::format("{} threw an exception", plugin.name()));
  }
}

Framework::Framework(std::string profile_name, ProfilePlugins plugins, const Handle& handle,
                     Observer& observer)
    : profile_name_(std::move(profile_name)),
      plugins_(std::move(plugins)),
      handle_(handle),
      observer_(observer) {
  const auto note_later = [&](const auto& placed_plugins) {
    for (const auto& placed : placed_plugins)
      if (std::ranges::find(later_, placed.plugin) == later_.end()) later_.push_back(placed.plugin);
  };
  note_later(plugins_.reserve);
  note_later(plugins_.pre_bind);
  note_later(plugins_.bind);
  note_later(plugins_.post_bind);
  Observer* const measuring = observer.measuring();
  if (!measuring) return;
  std::vector<std::string> names;
  for (const std::unique_ptr<Plugin>& plugin : plugins_.all) names.emplace_back(plugin->name());
  measured_ = measuring->profile(profile_name_, names);
  // Upstream shows these from the start.
  const auto show = [&](const auto& placed_plugins, Point point) {
    for (const auto& placed : placed_plugins) evaluated(placed.index, point, 0);
  };
  show(plugins_.pre_filter, Point::kPreFilter);
  show(plugins_.filter, Point::kFilter);
  show(plugins_.pre_score, Point::kPreScore);
  show(plugins_.score, Point::kScore);
}

Framework::~Framework() = default;

// ---- the end of the search

void Framework::end_search(Cycle& cycle) const {
  cycle.lend(nullptr);
  // Plugins with a step after the search keep their states, also those whose PreFilter returned
  // Skip: Reserve may use them.
  cycle.drop_states(
      [&](const Plugin* plugin) { return std::ranges::find(later_, plugin) != later_.end(); });
}

// ---- Reserve, Permit

Outcome Framework::run_reserve(Cycle& cycle, std::string_view node_name) const {
  const PointTimer timer(measured_, Point::kReserve);
  Outcome outcome = ask_reserve(cycle, node_name);
  timer.ended(outcome.code);
  return outcome;
}

Outcome Framework::ask_reserve(Cycle& cycle, std::string_view node_name) const {
  for (const Placed<ReservePlugin>& placed : plugins_.reserve) {
    const PluginTimer timer = time_plugin(cycle, placed.index, Point::kReserve);
    Outcome outcome = guarded(*placed.plugin, [&] { return placed->reserve(cycle, node_name); });
    timer.ended(outcome.code);
    if (outcome.ok()) {
      observer_.reserved(cycle.pod(), placed->name());
      continue;
    }
    if (outcome.rejected()) return std::move(outcome).by(placed->name());
    return wrap_failure(fmt::format("running Reserve plugin \"{}\": ", placed->name()), outcome,
                        placed->name());
  }
  return {};
}

void Framework::run_unreserve(Cycle& cycle, std::string_view node_name) const {
  const PointTimer whole(measured_, Point::kUnreserve);
  for (auto placed = plugins_.reserve.rbegin(); placed != plugins_.reserve.rend(); ++placed) {
    const PluginTimer timer = time_plugin(cycle, placed->index, Point::kUnreserve);
    const Outcome ran = guarded(*placed->plugin, [&] {
      placed->plugin->unreserve(cycle, node_name);
      return Outcome();
    });
    timer.ended(ran.code);
    if (!ran.ok()) observer_.internal_error(ran.message());
    observer_.unreserved(cycle.pod(), placed->plugin->name());
  }
  whole.ended(Code::kSuccess);
}

PermitRun Framework::run_permit(Cycle& cycle, std::string_view node_name) const {
  if (plugins_.permit.empty()) {
    note_idle(Point::kPermit);
    return {};
  }
  const PointTimer timer(measured_, Point::kPermit);
  PermitRun run = ask_permit(cycle, node_name);
  timer.ended(run.outcome.code);
  return run;
}

PermitRun Framework::ask_permit(Cycle& cycle, std::string_view node_name) const {
  PermitRun run;
  for (const Placed<PermitPlugin>& placed : plugins_.permit) {
    Duration timeout{0};
    const PluginTimer timer = time_plugin(cycle, placed.index, Point::kPermit);
    Outcome outcome = guarded(*placed.plugin, [&] {
      PermitResult result = placed->permit(cycle, node_name);
      timeout = result.timeout;
      return std::move(result.outcome);
    });
    timer.ended(outcome.code);
    if (outcome.ok()) continue;
    if (outcome.code == Code::kWait) {
      run.holds.push_back({placed.name(), timeout});
      run.outcome = std::move(outcome).by(placed->name());
      continue;
    }
    run.holds.clear();
    run.outcome = outcome.rejected()
                      ? std::move(outcome).by(placed->name())
                      : wrap_failure(fmt::format("running Permit plugin \"{}\": ", placed->name()),
                                     outcome, placed->name());
    return run;
  }
  if (run.outcome.code == Code::kWait)
    run.outcome.reasons.push_back("one or more plugins asked to wait and no plugin rejected pod");
  return run;
}

// ---- Bind, PostBind

namespace {

Task<Outcome> answered(Outcome outcome) { co_return outcome; }

Task<Outcome> begin_bind(const BindPlugin& plugin, Cycle& cycle, std::string_view node_name) {
  try {
    return plugin.bind(cycle, node_name);
  } catch (...) {
    return answered(thrown_by(plugin));
  }
}

// Awaitable: the answer of a Bind plugin. One that is not a plain success is kept on the heap: as a
// local variable it would take space in the frame of every pod that is being bound.
struct BindAnswer {
  const BindPlugin& plugin;
  Task<Outcome> task;
  std::unique_ptr<Outcome> other;  // null: a plain success

  bool await_ready() const noexcept { return task.await_ready(); }
  auto await_suspend(std::coroutine_handle<> awaiter) { return task.await_suspend(awaiter); }
  void await_resume() {
    Outcome outcome = guarded(plugin, [this] { return task.await_resume(); });
    const bool plain = outcome.ok() && outcome.plugin.empty() && outcome.reasons.empty();
    if (!plain) other = std::make_unique<Outcome>(std::move(outcome));
  }

  Code code() const { return other ? other->code : Code::kSuccess; }
  Outcome take(std::string_view name) {
    if (!other) return Outcome::success();
    Outcome outcome = std::move(*other);
    if (outcome.rejected()) outcome.plugin = name;
    if (outcome.ok() || outcome.rejected()) return outcome;
    return wrap_failure(fmt::format("running Bind plugin \"{}\": ", name), outcome, name);
  }
};

}  // namespace

// Timed in here, not by `timed` around it: one more coroutine frame per pod is measurable.
Task<Outcome> Framework::run_bind(Cycle& cycle, std::string_view node_name) const {
  const PointTimer whole(measured_, Point::kBind);
  for (const Placed<BindPlugin>& placed : plugins_.bind) {
    const PluginTimer timer = time_plugin(cycle, placed.index, Point::kBind);
    BindAnswer answer{*placed.plugin, begin_bind(*placed.plugin, cycle, node_name), nullptr};
    co_await answer;
    timer.ended(answer.code());
    if (answer.code() == Code::kSkip) continue;
    whole.ended(answer.code());
    co_return answer.take(placed->name());
  }
  whole.ended(Code::kSkip);
  co_return Outcome::skip();
}

void Framework::run_post_bind(Cycle& cycle, std::string_view node_name) const {
  if (plugins_.post_bind.empty()) {
    note_idle(Point::kPostBind);
    return;
  }
  const PointTimer whole(measured_, Point::kPostBind);
  for (const Placed<PostBindPlugin>& placed : plugins_.post_bind) {
    const PluginTimer timer = time_plugin(cycle, placed.index, Point::kPostBind);
    const Outcome ran = guarded(*placed.plugin, [&] {
      placed->post_bind(cycle, node_name);
      return Outcome();
    });
    timer.ended(ran.code);
    if (!ran.ok()) observer_.internal_error(ran.message());
  }
  whole.ended(Code::kSuccess);
}

}  // namespace berth
