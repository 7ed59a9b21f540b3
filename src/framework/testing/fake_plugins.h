// Plugins for tests, scripted by functions, and a profile made of them.
//
//   FakeWorld world;
//   world.cluster.add_node(world.node("n1"));
//   FakeProfile profile(world);
//   profile.filter("Picky", [](const Cycle&, NodeRow row) { return Outcome::unschedulable("no");
//   }); Framework& framework = profile.framework();
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/testing/builders.h"
#include "berth/loop.h"
#include "berth/plugin_table.h"
#include "berth/random.h"
#include "berth/waiting_pods.h"
#include "config/feature_gates.h"
#include "framework/framework.h"
#include "framework/pods_in_pre_bind.h"
#include "framework/testing/recording_api.h"

namespace berth::testing {

class FakePlugin : public virtual Plugin {
 public:
  explicit FakePlugin(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::optional<std::vector<EventRegistration>> events_to_register() const override {
    return events;
  }
  std::optional<std::vector<EventRegistration>> events;
  Dependence dependence() const override { return declared; }
  Dependence declared = Dependence::kAnything;

 private:
  std::string name_;
};

class FakePreEnqueue final : public FakePlugin, public PreEnqueuePlugin {
 public:
  using FakePlugin::FakePlugin;
  std::function<Outcome(const Pod&)> script;
  Outcome pre_enqueue(const Pod& pod) const override { return script(pod); }
};

// The entry of a plugin without arguments that `make` makes from its handle.
inline PluginEntry entry_of(std::string name,
                            std::function<Result<std::unique_ptr<Plugin>>(const Handle&)> make) {
  PluginEntry entry;
  entry.name = std::move(name);
  entry.create = [make = std::move(make)](const config::PluginArgs&, const Handle& handle) {
    return make(handle);
  };
  return entry;
}

// By priority, then by arrival.
class FakeQueueSort final : public FakePlugin, public QueueSortPlugin {
 public:
  FakeQueueSort() : FakePlugin("Sort") {}
  bool less(const QueuedPod& a, const QueuedPod& b) const override {
    if (a.pod->priority() != b.pod->priority()) return a.pod->priority() > b.pod->priority();
    return a.timestamp < b.timestamp;
  }
};

class FakePreFilter final : public FakePlugin, public PreFilterPlugin {
 public:
  using FakePlugin::FakePlugin;
  std::function<PreFilterResult(Cycle&)> script;
  std::function<Outcome(const Pod&, NodeRow)> on_add, on_remove;
  bool extensions = true;
  bool has_extensions() const override { return extensions; }
  PreFilterResult pre_filter(Cycle& cycle) const override { return script(cycle); }
  Outcome add_pod(Cycle&, const Pod& pod, NodeRow row) const override {
    return on_add ? on_add(pod, row) : Outcome();
  }
  Outcome remove_pod(Cycle&, const Pod& pod, NodeRow row) const override {
    return on_remove ? on_remove(pod, row) : Outcome();
  }
};

class FakeFilter final : public FakePlugin, public PerNodeFilter {
 public:
  using FakePlugin::FakePlugin;
  std::function<Outcome(const Cycle&, NodeRow)> script;
  Outcome filter_node(const Cycle& cycle, NodeRow row) const override { return script(cycle, row); }
};

// Decides about one more row in every turn, and puts the others off.
class FakeSlowFilter final : public FakePlugin, public FilterPlugin {
 public:
  using FakePlugin::FakePlugin;
  std::function<Outcome(const Cycle&, NodeRow)> script;
  mutable std::set<NodeRow> decided;
  void filter(const Cycle& cycle, FilterPass& pass) const override {
    if (cycle.turn != turn_) ready_ = true;
    turn_ = cycle.turn;
    const NodeSet asked = pass.feasible();
    asked.for_each([&](NodeRow row) {
      if (!decided.contains(row) && !std::exchange(ready_, false)) return pass.defer(row);
      decided.insert(row);
      if (const Outcome outcome = script ? script(cycle, row) : Outcome(); !outcome.ok())
        pass.reject(row, outcome.code, outcome.reasons);
    });
  }

 private:
  mutable std::uint32_t turn_ = 0;
  mutable bool ready_ = true;
};

class FakePostFilter final : public FakePlugin, public PostFilterPlugin {
 public:
  using FakePlugin::FakePlugin;
  std::function<PostFilterResult(Cycle&, const Diagnosis&)> script;
  Task<PostFilterResult> post_filter(Cycle& cycle, const Diagnosis& diagnosis) const override {
    PostFilterResult result = script(cycle, diagnosis);
    co_return result;
  }
};

class FakePreScore final : public FakePlugin, public PreScorePlugin, public PerNodeScore {
 public:
  using FakePlugin::FakePlugin;
  std::function<Outcome(Cycle&)> pre;
  std::function<Score(const Cycle&, NodeRow)> script;
  Outcome pre_score(Cycle& cycle, const NodeSet&) const override {
    return pre ? pre(cycle) : Outcome();
  }
  Score score_node(const Cycle& cycle, NodeRow row) const override { return script(cycle, row); }
};

class FakeReserve final : public FakePlugin, public ReservePlugin {
 public:
  using FakePlugin::FakePlugin;
  std::function<Outcome(Cycle&)> script;
  std::function<void(Cycle&)> undo;
  Outcome reserve(Cycle& cycle, std::string_view) override {
    return script ? script(cycle) : Outcome();
  }
  void unreserve(Cycle& cycle, std::string_view) override {
    if (undo) undo(cycle);
  }
};

class FakePermit final : public FakePlugin, public PermitPlugin {
 public:
  using FakePlugin::FakePlugin;
  std::function<PermitResult(Cycle&)> script;
  PermitResult permit(Cycle& cycle, std::string_view) override { return script(cycle); }
};

class FakePreBind final : public FakePlugin, public PreBindPlugin {
 public:
  using FakePlugin::FakePlugin;
  std::function<PreBindPreFlight()> flight;
  std::function<Task<Outcome>(Cycle&, CancelToken)> script;
  PreBindPreFlight pre_bind_pre_flight(Cycle&, std::string_view) const override {
    return flight ? flight() : PreBindPreFlight{};
  }
  Task<Outcome> pre_bind(Cycle& cycle, std::string_view, CancelToken cancel) override {
    return script(cycle, cancel);
  }
};

class FakeBind final : public FakePlugin, public BindPlugin {
 public:
  using FakePlugin::FakePlugin;
  std::function<Outcome(Cycle&, std::string_view)> script;
  Task<Outcome> bind(Cycle& cycle, std::string_view node) const override {
    Outcome outcome = script ? script(cycle, node) : Outcome();
    co_return outcome;
  }
};

class FakePostBind final : public FakePlugin, public PostBindPlugin {
 public:
  using FakePlugin::FakePlugin;
  std::function<void(Cycle&)> script;
  void post_bind(Cycle& cycle, std::string_view) override { script(cycle); }
};

// Nominations by hand.
class FakeNominator final : public Nominator, public Activator {
 public:
  void nominate(Ref<const Pod> pod, Symbol node) {
    pods_.emplace_back(node, std::move(pod));
    if (std::ranges::find(nodes_, node) == nodes_.end()) nodes_.push_back(node);
  }
  std::vector<Ref<const Pod>> nominated_pods(Symbol node) const override {
    std::vector<Ref<const Pod>> found;
    for (const auto& [where, pod] : pods_)
      if (where == node) found.push_back(pod);
    return found;
  }
  const std::vector<Symbol>& nominated_nodes() const override { return nodes_; }
  void activate(std::span<const Ref<const Pod>> pods) override {
    activated.insert(activated.end(), pods.begin(), pods.end());
  }
  std::vector<Ref<const Pod>> activated;

 private:
  std::vector<std::pair<Symbol, Ref<const Pod>>> pods_;
  std::vector<Symbol> nodes_;
};

// What a framework needs around it.
struct FakeWorld : World {
  VirtualLoop loop;
  Random random{1};
  Cluster cluster{interner.symbols()};
  WaitingPods waiting_pods{loop};
  PodsInPreBind pods_in_pre_bind;
  FakeNominator nominator;
  RecordingApi api;
  config::FeatureGates gates;
  Observer observer;

  Handle handle(std::string profile = "default-scheduler") {
    return {std::move(profile), loop, random, cluster,  waiting_pods, pods_in_pre_bind, nominator,
            nominator,          api,  gates,  &cluster, nullptr,      &observer};
  }
  NodeRow row(std::string_view node) { return cluster.nodes().find(symbol(node)); }
};

// Builds a profile plugin by plugin, in the order in which they are to run.
class FakeProfile {
 public:
  explicit FakeProfile(FakeWorld& world) : world_(world) {}

  // Adds a plugin at its point and gives it back for scripting.
  template <typename T, typename Point>
  T& add(std::unique_ptr<T> plugin, std::vector<Placed<Point>>& list, std::int64_t weight = 1) {
    T& added = *plugin;
    const auto index = static_cast<std::uint16_t>(plugins.all.size());
    list.push_back({&added, index, weight});
    plugins.all.push_back(std::move(plugin));
    return added;
  }
  FakePreFilter& pre_filter(std::string name, std::function<PreFilterResult(Cycle&)> script) {
    auto& plugin = add(std::make_unique<FakePreFilter>(std::move(name)), plugins.pre_filter);
    plugin.script = std::move(script);
    return plugin;
  }
  FakeFilter& filter(std::string name, std::function<Outcome(const Cycle&, NodeRow)> script) {
    auto& plugin = add(std::make_unique<FakeFilter>(std::move(name)), plugins.filter);
    plugin.script = std::move(script);
    return plugin;
  }
  FakeSlowFilter& slow_filter(std::string name,
                              std::function<Outcome(const Cycle&, NodeRow)> script = {}) {
    auto& plugin = add(std::make_unique<FakeSlowFilter>(std::move(name)), plugins.filter);
    plugin.script = std::move(script);
    return plugin;
  }
  FakePostFilter& post_filter(std::string name,
                              std::function<PostFilterResult(Cycle&, const Diagnosis&)> script) {
    auto& plugin = add(std::make_unique<FakePostFilter>(std::move(name)), plugins.post_filter);
    plugin.script = std::move(script);
    return plugin;
  }
  FakePreScore& score(std::string name, std::function<Score(const Cycle&, NodeRow)> script,
                      std::int64_t weight = 1) {
    auto& plugin = add(std::make_unique<FakePreScore>(std::move(name)), plugins.score, weight);
    plugins.pre_score.push_back({&plugin, plugins.score.back().index, 0});
    plugin.script = std::move(script);
    return plugin;
  }
  FakeReserve& reserve(std::string name, std::function<Outcome(Cycle&)> script = {}) {
    auto& plugin = add(std::make_unique<FakeReserve>(std::move(name)), plugins.reserve);
    plugin.script = std::move(script);
    return plugin;
  }
  FakePermit& permit(std::string name, std::function<PermitResult(Cycle&)> script) {
    auto& plugin = add(std::make_unique<FakePermit>(std::move(name)), plugins.permit);
    plugin.script = std::move(script);
    return plugin;
  }
  FakePreBind& pre_bind(std::string name,
                        std::function<Task<Outcome>(Cycle&, CancelToken)> script) {
    auto& plugin = add(std::make_unique<FakePreBind>(std::move(name)), plugins.pre_bind);
    plugin.script = std::move(script);
    return plugin;
  }
  FakeBind& bind(std::string name, std::function<Outcome(Cycle&, std::string_view)> script = {}) {
    auto& plugin = add(std::make_unique<FakeBind>(std::move(name)), plugins.bind);
    plugin.script = std::move(script);
    return plugin;
  }

  // The profile is complete; made once.
  Framework& framework() {
    if (!framework_)
      framework_ = std::make_unique<Framework>("default-scheduler", std::move(plugins),
                                               world_.handle(), world_.observer);
    return *framework_;
  }

  ProfilePlugins plugins;

 private:
  FakeWorld& world_;
  std::unique_ptr<Framework> framework_;
};

// Runs a task to its end, which must not wait for anything but the loop.
template <typename T>
Task<void> keep_result(Task<T> task, std::optional<T>& result) {
  T value = co_await task;
  result = std::move(value);
}
template <typename T>
T run_task(VirtualLoop& loop, Task<T> task) {
  std::optional<T> result;
  TaskSet tasks;
  tasks.spawn(keep_result(std::move(task), result));
  while (!result && loop.step()) {
  }
  return std::move(*result);
}

}  // namespace berth::testing
