// An engine with an API server that a test commands: what it does with a binding, and when it says
// so; and the deltas that the watch shows.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "cycle/testing/cycle_fixture.h"
#include "engine/engine.h"
#include "framework/testing/fake_plugins.h"
#include "framework/testing/recording_api.h"
#include "store/cluster_store.h"
#include "storeapi/store_api.h"

namespace berth::testing {

using config::ExtensionPoint;
using namespace std::chrono_literals;

// An API server with a store of pods. What it does with a binding, and when it says so, is the
// test's.
class TestApi final : public RecordingApi {
 public:
  struct Fate {
    Duration answer{0};                // after this long
    const char* error = nullptr;       // with this; null: with a yes
    std::optional<Duration> shown{0};  // by the watch, after this long; none: it never happened
  };

  explicit TestApi(VirtualLoop& loop)
      : RecordingApi(&api_), store_(loop, 0s), api_(loop, store_, {.keeps_statuses = false}) {
    store_.on_change([this](const Delta& delta) {
      if (engine) engine->apply(delta);
    });
    api_.set_fates([this](ApiCall call, const Pod& pod) {
      if (call == ApiCall::kBind) return fate_of(on_bind ? on_bind(pod) : Fate{});
      return CallFate{.answer_delay = call == ApiCall::kPatchStatus ? patch_takes : 0s};
    });
  }

  std::function<Fate(const Pod&)> on_bind;
  Duration patch_takes{0};
  Engine* engine = nullptr;  // who watches

  // Also in place of another of that name, as a watch shows it that has missed the deletion.
  void create_pod(const Ref<const Pod>& pod) {
    const bool known = store_.stored_pod(*pod) != nullptr;
    EXPECT_TRUE(known ? store_.update_object(pod) : store_.create_object(pod));
  }
  void remove_pod(const Ref<const Pod>& pod) {
    static_cast<void>(store_.remove_at_once(ObjectKind::kPod, pod->namespace_name(), pod->name()));
  }
  std::string node_of(const Ref<const Pod>& pod) const {
    const Ref<const Pod> stored = store_.stored_pod(*pod);
    return stored ? std::string(stored->node_name()) : "gone";
  }

  // "p on n1"
  std::vector<std::string> binds() const {
    std::vector<std::string> all;
    for (const auto& [name, node] : bound)
      all.push_back(name.substr(name.find('/') + 1) + " on " + node);
    return all;
  }
  // Of the conditions written: "p: message"
  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (const auto& [name, patch] : patches)
      if (patch.condition)
        all.push_back(name.substr(name.find('/') + 1) + ": " + patch.condition->message);
    return all;
  }

 private:
  // The answer and the effect do not wait for each other.
  static CallFate fate_of(const Fate& wanted) {
    CallFate fate;
    fate.has_left = true;
    if (wanted.error) fate.error = Error{ErrorKind::kUnavailable, wanted.error};
    fate.takes_effect = wanted.shown && *wanted.shown <= wanted.answer;
    fate.takes_effect_twice = wanted.shown && *wanted.shown > wanted.answer;
    fate.extra_delay = fate.takes_effect ? *wanted.shown : wanted.answer;
    fate.answer_delay = fate.takes_effect ? wanted.answer - *wanted.shown : Duration::zero();
    if (fate.takes_effect_twice) fate.second_delay = *wanted.shown - wanted.answer;
    return fate;
  }

  ClusterStore store_;
  StoreApi api_;
};

// Binds through the API, as DefaultBinder does.
class ApiBinder final : public FakePlugin, public BindPlugin {
 public:
  explicit ApiBinder(const Handle& handle) : FakePlugin("Binder"), api_(handle.api) {}
  Task<Outcome> bind(Cycle& cycle, std::string_view node) const override {
    Task<Result<void>> call = api_.bind(cycle.pod_ref(), std::string(node));
    const Result<void> bound = co_await call;
    co_return bound ? Outcome::success() : Outcome::failure(bound.error().message);
  }

 private:
  ClusterApi& api_;
};

// An extender that answers when it is told to, or at once.
class TestExtender final : public Extender {
 public:
  explicit TestExtender(std::string name) : name_(std::move(name)) {}
  bool may_be_ignored = false;
  bool late = false;
  std::vector<std::string>* asked = nullptr;
  std::function<ExtenderVerdicts(std::vector<std::string>)> verdicts;
  std::unique_ptr<Eventual<bool>> go_on;

  std::string_view name() const override { return name_; }
  bool interested_in(const Pod&) const override { return true; }
  bool ignorable() const override { return may_be_ignored; }
  bool filters() const override { return true; }
  bool prioritizes() const override { return false; }
  bool binds() const override { return false; }
  std::int64_t weight() const override { return 1; }
  Task<Result<ExtenderVerdicts>> filter(Ref<const Pod>, std::vector<std::string> nodes) override {
    if (asked) asked->push_back(name_);
    if (late) {
      go_on = std::make_unique<Eventual<bool>>();
      co_await *go_on;
    }
    ExtenderVerdicts answer;
    if (verdicts)
      answer = verdicts(std::move(nodes));
    else
      answer.nodes = std::move(nodes);
    co_return answer;
  }
  Task<Result<std::vector<ExtenderScore>>> prioritize(Ref<const Pod>,
                                                      std::vector<std::string>) override {
    co_return std::vector<ExtenderScore>();
  }
  Task<Result<void>> bind(Ref<const Pod>, std::string) override { co_return Result<void>(); }

 private:
  std::string name_;
};

inline Task<Outcome> sleep_then_succeed(Loop& loop, Duration duration) {
  SleepUntil sleep(loop, loop.now() + duration);
  co_await sleep;
  co_return Outcome::success();
}

struct EngineTest : ::testing::Test {
  World world;
  VirtualLoop loop;
  TestApi api{loop};
  RecordingObserver observer;
  PluginTable table;
  EngineOptions options;
  std::unique_ptr<Engine> engine;
  int made = 0;  // plugins
  int reserved = 0, unreserved = 0;

  EngineTest() {
    plugin("Sort", [](const Handle&) { return std::make_unique<FakeQueueSort>(); });
    plugin("Binder", [](const Handle& handle) { return std::make_unique<ApiBinder>(handle); });
    plugin("Ledger", [this](const Handle&) {
      auto made_plugin = std::make_unique<FakeReserve>("Ledger");
      made_plugin->script = [this](Cycle&) {
        ++reserved;
        return Outcome();
      };
      made_plugin->undo = [this](Cycle&) { ++unreserved; };
      return made_plugin;
    });
    // One pod a node.
    plugin("OneEach", [](const Handle&) {
      auto filter = std::make_unique<FakeFilter>("OneEach");
      filter->script = [](const Cycle& cycle, NodeRow row) {
        return cycle.nodes().pod_counts()[row] == 0 ? Outcome()
                                                    : Outcome::unschedulable("node(s) were taken");
      };
      filter->events = {{events::kAssignedPodDelete, {}}, {events::kNodeAdd, {}}};
      return filter;
    });
  }
  ~EngineTest() override { destroy(); }

  template <typename Make>
  void plugin(const std::string& name, Make make) {
    const auto counted = [this, make](const Handle& handle) {
      ++made;
      return make(handle);
    };
    ASSERT_TRUE(table.add(entry_of(name, counted)).has_value());
  }
  void permit(const std::string& name, Duration timeout) {
    plugin(name, [name, timeout](const Handle&) {
      auto holder = std::make_unique<FakePermit>(name);
      holder->script = [timeout](Cycle&) { return PermitResult::wait(timeout); };
      return holder;
    });
  }
  void pre_bind(const std::string& name, Duration takes) {
    plugin(name, [this, name, takes](const Handle&) {
      auto worker = std::make_unique<FakePreBind>(name);
      worker->script = [this, takes](Cycle&, CancelToken) {
        return sleep_then_succeed(loop, takes);
      };
      return worker;
    });
  }
  config::Profile& profile(const std::string& scheduler, std::vector<std::string> more = {}) {
    config::Profile& added = options.configuration.profiles.emplace_back();
    added.scheduler_name = scheduler;
    auto& enabled = added.plugins.at(ExtensionPoint::kMultiPoint).enabled;
    for (const char* name : {"Sort", "Binder", "Ledger"}) enabled.push_back({name, 0});
    for (std::string& name : more) enabled.push_back({std::move(name), 0});
    return added;
  }

  std::string make() {
    if (options.configuration.profiles.empty()) profile("default-scheduler", {"OneEach"});
    return make_as_configured();
  }
  std::string make_as_configured() {
    Result<std::unique_ptr<Engine>> result =
        Engine::make(loop, world.interner, table, api, observer, std::move(options));
    if (!result) return result.error().message;
    engine = std::move(*result);
    api.engine = engine.get();
    return {};
  }
  void start() {
    ASSERT_EQ(make(), "");
    engine->start();
  }
  void destroy() {
    api.engine = nullptr;
    engine.reset();
  }

  Ref<const Node> node(const std::string& name) {
    Ref<const Node> built = world.node(name);
    engine->apply({DeltaType::kAdded, Ref<const Object>(built)});
    return built;
  }
  void remove(const Ref<const Node>& gone) {
    engine->apply({DeltaType::kDeleted, Ref<const Object>(gone)});
  }
  Ref<const Pod> pod(const PodBuilder& builder) {
    Ref<const Pod> built = builder;
    api.create_pod(built);
    return built;
  }
  Ref<const Pod> pod(const std::string& name) { return pod(world.pod(name)); }
  void run_to(Duration time) { loop.run_until(TimePoint{time}); }

  // Nothing of any attempt is left; who is bound is confirmed.
  void expect_settled() {
    EXPECT_EQ(engine->tasks(), 0u);
    EXPECT_EQ(engine->cluster().assumed_count(), 0u);
    EXPECT_EQ(engine->waiting_pods().size(), 0u);
    EXPECT_EQ(engine->queue().sizes().in_flight, 0u);
    EXPECT_FALSE(engine->cycle_open());
  }
  std::size_t queued() {
    const QueueSizes sizes = engine->queue().sizes();
    return sizes.active + sizes.backoff + sizes.unschedulable + sizes.gated;
  }
};

}  // namespace berth::testing
