// Whole journeys: what the watch shows, what the API answers and when, and what is left afterwards.
#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "cycle/testing/cycle_fixture.h"
#include "framework/testing/fake_plugins.h"

namespace berth {
namespace {

using config::ExtensionPoint;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using namespace berth::testing;
using namespace std::chrono_literals;

// An API server with a store. What it does with a binding, and when it says so, is the test's.
class TestApi final : public ClusterApi {
 public:
  struct Fate {
    Duration answer{0};                // after this long
    const char* error = nullptr;       // with this; null: with a yes
    std::optional<Duration> shown{0};  // by the watch, after this long; none: it never happened
  };

  explicit TestApi(VirtualLoop& loop) : loop_(loop) {}

  std::function<Fate(const Pod&)> on_bind;
  std::vector<std::string> binds;    // "p on n1"
  std::vector<std::string> patches;  // "p: message"
  std::vector<PodEvent> events;
  Duration patch_takes{0};
  Engine* engine = nullptr;  // who watches

  void create(Ref<const Pod> pod) {
    pods_[pod->full_name()] = pod;
    show(DeltaType::kAdded, pod);
  }
  void remove(const Ref<const Pod>& pod) {
    const auto found = pods_.find(pod->full_name());
    if (found == pods_.end()) return;
    const Ref<const Pod> last = found->second;
    pods_.erase(found);
    show(DeltaType::kDeleted, last);
  }
  std::string node_of(const Ref<const Pod>& pod) const {
    const auto found = pods_.find(pod->full_name());
    return found == pods_.end() ? "gone" : std::string(found->second->node_name());
  }

  Task<Result<void>> bind(Ref<const Pod> pod, std::string node) override {
    binds.push_back(std::string(pod->name()) + " on " + node);
    const Fate fate = on_bind ? on_bind(*pod) : Fate{};
    if (fate.shown) loop_.after(*fate.shown, [this, pod, node] { store_binding(pod, node); });
    SleepUntil answer(loop_, loop_.now() + fate.answer);
    co_await answer;
    if (fate.error) co_return fail(ErrorKind::kUnavailable, fate.error);
    co_return Result<void>();
  }
  Task<Result<void>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override {
    if (patch.condition)
      patches.push_back(std::string(pod->name()) + ": " + patch.condition->message);
    SleepUntil answer(loop_, loop_.now() + patch_takes);
    co_await answer;
    co_return Result<void>();
  }
  Task<Result<void>> evict(Ref<const Pod>) override { co_return Result<void>(); }
  Task<Result<AnyObject>> update(AnyObject object) override { co_return object; }
  void record(PodEvent event) override { events.push_back(std::move(event)); }

 private:
  void show(DeltaType type, Ref<const Pod> pod) {
    if (engine) engine->apply({type, std::move(pod)});
  }
  void store_binding(const Ref<const Pod>& pod, const std::string& node) {
    const auto found = pods_.find(pod->full_name());
    if (found == pods_.end()) return;  // deleted meanwhile
    PodDraft draft = draft_of(*found->second);
    draft.node_name = node;
    draft.resource_version = std::to_string(++version_);
    found->second = make_pod(std::move(draft));
    show(DeltaType::kUpdated, found->second);
  }

  VirtualLoop& loop_;
  int version_ = 1000;
  std::map<std::string, Ref<const Pod>> pods_;
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

Task<Outcome> sleep_then_succeed(Loop& loop, Duration duration) {
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
    PluginEntry entry;
    entry.name = name;
    entry.create = [this, make](const config::PluginArgs&,
                                const Handle& handle) -> Result<std::unique_ptr<Plugin>> {
      ++made;
      return make(handle);
    };
    ASSERT_TRUE(table.add(std::move(entry)).has_value());
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
    api.create(built);
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

// ---- the plain way

TEST_F(EngineTest, APodGoesFromTheWatchToItsNode) {
  start();
  node("n1");
  const Ref<const Pod> p = pod("p");
  run_to(1s);
  EXPECT_THAT(observer.bound_pods, ElementsAre("p on n1"));
  EXPECT_EQ(api.node_of(p), "n1");
  EXPECT_EQ(engine->cluster().placed(p->uid())->node_name(), "n1");
  EXPECT_EQ(queued(), 0u);
  expect_settled();
}

TEST_F(EngineTest, StepByStepOnlyWhatIsAskedForHappens) {
  ASSERT_EQ(make(), "");
  node("n1"), node("n2");
  pod("a"), pod("b");
  run_to(1s);
  EXPECT_THAT(api.binds, IsEmpty()) << "nobody started it";
  EXPECT_TRUE(engine->run_one());
  EXPECT_EQ(api.binds.size(), 1u);
  EXPECT_TRUE(engine->run_one());
  EXPECT_FALSE(engine->run_one());
  run_to(2s);
  EXPECT_EQ(observer.bound_pods.size(), 2u);
  expect_settled();
}

TEST_F(EngineTest, AfterStopBindingsGoOnAndNobodyElseBegins) {
  permit("Gang", 1min);
  profile("default-scheduler", {"OneEach", "Gang"});
  start();
  node("n1"), node("n2");
  const Ref<const Pod> first = pod("first");
  run_to(1s);
  engine->stop();
  pod("second");
  engine->waiting_pods().allow(first->uid(), "Gang");
  run_to(10s);
  EXPECT_THAT(observer.bound_pods, ElementsAre(HasSubstr("first on")));
  EXPECT_EQ(queued(), 1u);
  engine->start();
  run_to(11s);
  EXPECT_EQ(engine->waiting_pods().size(), 1u) << "and can be started again";
}

TEST_F(EngineTest, APodThatFitsNowhereIsHelpedByTheEndOfAnother) {
  start();
  node("n1");
  const Ref<const Pod> first = pod("first");
  run_to(1s);
  const Ref<const Pod> second = pod("second");
  run_to(2s);
  EXPECT_EQ(engine->queue().place(*second), QueuePlace::kUnschedulable);
  EXPECT_THAT(api.patches, ElementsAre("second: 0/1 nodes are available: 1 node(s) were taken."));
  api.remove(first);
  run_to(10s);
  EXPECT_EQ(api.node_of(second), "n1");
  expect_settled();
}

// ---- several profiles

TEST_F(EngineTest, EveryProfileTakesThePodsThatNameIt) {
  const auto only = [this](const std::string& node_name) {
    plugin("Only" + node_name, [this, node_name](const Handle&) {
      auto filter = std::make_unique<FakeFilter>("Only" + node_name);
      filter->script = [this, node_name](const Cycle& cycle, NodeRow row) {
        return cycle.nodes().name(row) == world.symbol(node_name) ? Outcome()
                                                                  : Outcome::unschedulable("no");
      };
      return filter;
    });
  };
  only("n1"), only("n2");
  profile("one", {"Onlyn1"});
  profile("two", {"Onlyn2"});
  start();
  node("n1"), node("n2");
  pod(world.pod("a").scheduler("one"));
  pod(world.pod("b").scheduler("two"));
  const Ref<const Pod> theirs = pod(world.pod("c").scheduler("default-scheduler"));
  run_to(1s);
  EXPECT_THAT(observer.bound_pods, UnorderedElementsAre("a on n1", "b on n2"));
  EXPECT_EQ(api.node_of(theirs), "") << "a pod of somebody else's";
  ASSERT_EQ(api.events.size(), 2u);
  for (const PodEvent& event : api.events)
    EXPECT_EQ(event.reporting_controller, event.pod->name() == "a" ? "one" : "two");
  EXPECT_EQ(made, 8) << "every profile has plugins of its own";
}

TEST_F(EngineTest, TheWaitingPodsOfAllProfilesAreOneTable) {
  // Whoever comes second lets everybody go, whichever profile they came by.
  plugin("Pair", [](const Handle& handle) {
    auto pair = std::make_unique<FakePermit>("Pair");
    pair->script = [&waiting = handle.waiting_pods](Cycle&) {
      if (waiting.size() == 0) return PermitResult::wait(1min);
      for (const WaitingPod& other : waiting.list()) waiting.allow(other.pod->uid(), "Pair");
      return PermitResult{};
    };
    return pair;
  });
  profile("one", {"OneEach", "Pair"});
  profile("two", {"OneEach", "Pair"});
  start();
  node("n1"), node("n2");
  pod(world.pod("a").scheduler("one"));
  run_to(5s);
  EXPECT_EQ(engine->waiting_pods().size(), 1u);
  EXPECT_THAT(observer.bound_pods, IsEmpty());
  pod(world.pod("b").scheduler("two"));
  run_to(6s);
  EXPECT_EQ(observer.bound_pods.size(), 2u);
  expect_settled();
}

// ---- what an engine cannot be made of

TEST_F(EngineTest, WithoutAProfileThereIsNoEngine) {
  EXPECT_EQ(make_as_configured(), "initializing profiles: at least one profile is required");
}

TEST_F(EngineTest, AProfilesMistakeNamesTheProfile) {
  profile("one");
  profile("two", {"Foo"});
  EXPECT_EQ(make_as_configured(),
            "initializing profiles: creating profile for scheduler name two: PreFilterPlugin"
            " \"Foo\" does not exist");
}

TEST_F(EngineTest, ProfilesMustGoTogether) {
  plugin("OtherSort", [](const Handle&) {
    class Other final : public FakePlugin, public QueueSortPlugin {
     public:
      Other() : FakePlugin("OtherSort") {}
      bool less(const QueuedPod&, const QueuedPod&) const override { return false; }
    };
    return std::make_unique<Other>();
  });
  struct Case {
    const char* behaviour;
    std::function<void(EngineTest&)> arrange;
    const char* message;
  };
  const Case cases[] = {
      {"a name twice",
       [](auto& t) {
         t.profile("one");
         t.profile("one");
       },
       "initializing profiles: duplicate profile with scheduler name \"one\""},
      {"no name", [](auto& t) { t.profile(""); },
       "initializing profiles: scheduler name is needed"},
      {"different orders",
       [](auto& t) {
         t.profile("one");
         t.profile("two", {"OtherSort"}).plugins.at(ExtensionPoint::kQueueSort) = {
             {{"OtherSort", 0}}, {"*"}};
       },
       "initializing profiles: different queue sort plugins for profile \"two\": \"OtherSort\","
       " first: \"Sort\""},
      {"different arguments of the order",
       [](auto& t) {
         t.profile("one");
         t.profile("two").plugin_config = {{"Sort", config::OpaqueArgs{"{\"by\":\"age\"}"}}};
       },
       "initializing profiles: different queue sort plugin args for profile \"two\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.behaviour);
    options = {};
    c.arrange(*this);
    EXPECT_EQ(make_as_configured(), c.message);
  }
}

// ---- extenders

TEST_F(EngineTest, APodThatAnExtenderTurnsAwayIsTriedAgainOnAnyEvent) {
  TestExtender extender("http://extender");
  bool open = false;
  extender.verdicts = [&open](std::vector<std::string> nodes) {
    ExtenderVerdicts answer;
    for (std::string& name : nodes)
      if (open)
        answer.nodes.push_back(std::move(name));
      else
        answer.failed[std::move(name)] = "closed";
    return answer;
  };
  options.extenders = {&extender};
  start();
  node("n1");
  const Ref<const Pod> p = pod("p");
  run_to(1s);
  EXPECT_THAT(api.patches, ElementsAre("p: 0/1 nodes are available: 1 closed."));
  EXPECT_EQ(engine->queue().place(*p), QueuePlace::kUnschedulable);
  open = true;
  run_to(20s);
  EXPECT_EQ(engine->queue().place(*p), QueuePlace::kUnschedulable) << "nothing happened";
  engine->apply(
      {DeltaType::kUpdated, Ref<const Object>(world.node("n1").annotation("a", "b").build())});
  run_to(21s);
  EXPECT_EQ(api.node_of(p), "n1");
}

TEST_F(EngineTest, ExtendersThatMayBeIgnoredAreAskedLast) {
  std::vector<std::string> asked;
  TestExtender first("first"), second("second"), third("third");
  for (TestExtender* extender : {&first, &second, &third}) extender->asked = &asked;
  first.may_be_ignored = true;
  options.extenders = {&first, &second, &third};
  start();
  node("n1"), node("n2");
  pod("p");
  run_to(1s);
  EXPECT_THAT(asked, ElementsAre("second", "third", "first"));
}

TEST_F(EngineTest, WhileAnExtenderIsAskedTheWorldStandsStillAndTimeDoesNot) {
  permit("Gang", 1min);
  TestExtender extender("slow");
  options.extenders = {&extender};
  profile("default-scheduler", {"OneEach", "Gang"});
  start();
  node("n1");
  const Ref<const Pod> waits = pod("waits");
  run_to(1s);
  ASSERT_EQ(engine->waiting_pods().size(), 1u);
  node("n2");
  extender.late = true;
  const Ref<const Pod> asks = pod("asks");
  run_to(2s);
  ASSERT_TRUE(engine->cycle_open());
  const Ref<const Node> late_node = node("n3");
  api.remove(waits);
  EXPECT_EQ(engine->cluster().nodes().node_count(), 2u) << "parked";
  EXPECT_EQ(engine->waiting_pods().size(), 1u);
  run_to(2min);  // the wait is over meanwhile
  EXPECT_EQ(engine->cluster().assumed_count(), 1u) << "but its place is kept until the cycle ends";
  extender.late = false;
  extender.go_on->set(true);
  EXPECT_FALSE(engine->cycle_open());
  EXPECT_EQ(engine->cluster().nodes().node_count(), 3u);
  engine->waiting_pods().allow(asks->uid(), "Gang");
  run_to(3min);
  EXPECT_EQ(api.node_of(asks), "n2") << "as it was when the cycle began";
  EXPECT_EQ(api.node_of(waits), "gone");
  expect_settled();
  EXPECT_EQ(queued(), 0u);
}

// ---- the answer to a binding and what the watch shows

TEST_F(EngineTest, AnswersAndTheWatchMayComeInAnyOrder) {
  struct Case {
    const char* behaviour;
    TestApi::Fate first;
    std::vector<std::string> binds;
    const char* node;
  };
  const char* timeout = "timed out";
  const Case cases[] = {
      {"answered, then shown", {0s, {}, 3s}, {"p on n1"}, "n1"},
      {"shown, then answered", {3s, {}, 1s}, {"p on n1"}, "n1"},
      {"shown at the same time", {1s, {}, 1s}, {"p on n1"}, "n1"},
      {"it failed and is tried again", {1s, timeout, std::nullopt}, {"p on n1", "p on n1"}, "n1"},
      {"shown, then the answer is a failure", {3s, timeout, 1s}, {"p on n1"}, "n1"},
      {"the answer is a failure, then it is shown after all",
       {100ms, timeout, 500ms},
       {"p on n1"},
       "n1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.behaviour);
    struct OneCase : EngineTest {
      void TestBody() override {}
    } test;
    bool is_first = true;
    test.api.on_bind = [&](const Pod&) {
      return std::exchange(is_first, false) ? c.first : TestApi::Fate{};
    };
    test.start();
    test.node("n1");
    const Ref<const Pod> p = test.pod("p");
    test.run_to(1min);
    EXPECT_EQ(test.api.binds, c.binds);
    EXPECT_EQ(test.api.node_of(p), c.node);
    EXPECT_EQ(test.engine->cluster().placed_count(), 1u);
    EXPECT_EQ(test.queued(), 0u);
    test.expect_settled();
  }
}

TEST_F(EngineTest, AFailedBindingGivesThePlaceToOthers) {
  int binds = 0;
  api.on_bind = [&](const Pod&) -> TestApi::Fate {
    if (++binds == 1) return {1s, "try later", std::nullopt};
    return {};
  };
  start();
  node("n1");
  const Ref<const Pod> unlucky = pod("unlucky");
  run_to(500ms);
  const Ref<const Pod> waiting_for_room = pod("other");
  run_to(900ms);
  EXPECT_EQ(engine->queue().place(*waiting_for_room), QueuePlace::kUnschedulable);
  run_to(1min);
  EXPECT_THAT(api.binds, ElementsAre("unlucky on n1", "other on n1"));
  EXPECT_THAT(api.patches, Contains("unlucky: running Bind plugin \"Binder\": try later"));
  EXPECT_EQ(engine->queue().place(*unlucky), QueuePlace::kUnschedulable);
  EXPECT_EQ(reserved - unreserved, 1) << "the one that is bound";
  expect_settled();
}

// ---- pods that are deleted on the way

TEST(DeletedPods, LeaveNothingBehindWhereverTheyWere) {
  struct Case {
    const char* phase;
    std::function<void(EngineTest&)> arrange;
    std::size_t queued, waiting, assumed, tasks;  // of the pod, before it is deleted
    std::size_t binds;                            // that were sent, in the end
  };
  const Case cases[] = {
      {"queued: it fits nowhere",
       [](EngineTest& t) { t.profile("default-scheduler", {"OneEach"}); }, 1, 0, 0, 0, 0},
      {"waiting",
       [](EngineTest& t) {
         t.permit("Gang", 1h);
         t.profile("default-scheduler", {"Gang"});
       },
       0, 1, 1, 1, 0},
      {"in PreBind: the place is given back at once, the binding fails later",
       [](EngineTest& t) {
         t.pre_bind("Volumes", 10s);
         t.profile("default-scheduler", {"Volumes"});
         t.api.on_bind = [](const Pod&) -> TestApi::Fate {
           return {0s, "pods \"p\" not found", std::nullopt};
         };
       },
       0, 0, 1, 1, 1},
      {"in Bind",
       [](EngineTest& t) {
         t.profile("default-scheduler");
         t.api.on_bind = [](const Pod&) -> TestApi::Fate {
           return {10s, "pods \"p\" not found", std::nullopt};
         };
       },
       0, 0, 1, 1, 1},
      {"in Bind, and the API says yes all the same",
       [](EngineTest& t) {
         t.profile("default-scheduler");
         t.api.on_bind = [](const Pod&) -> TestApi::Fate { return {10s, {}, 5s}; };
       },
       0, 0, 1, 1, 1},
  };
  for (const Case& c : cases) {
    for (const bool in_two_steps : {false, true}) {
      SCOPED_TRACE(c.phase);
      SCOPED_TRACE(in_two_steps ? "with a grace period" : "at once");
      struct OneCase : EngineTest {
        void TestBody() override {}
      } test;
      c.arrange(test);
      test.start();
      test.node("n1");
      if (c.queued > 0) test.api.create(test.world.pod("resident").on("n1"));
      const Ref<const Pod> p = test.pod("p");
      test.run_to(2s);
      EXPECT_EQ(test.queued(), c.queued);
      EXPECT_EQ(test.engine->waiting_pods().size(), c.waiting);
      EXPECT_EQ(test.engine->cluster().assumed_count(), c.assumed);
      EXPECT_EQ(test.engine->tasks(), c.tasks);
      if (in_two_steps) {
        test.engine->apply(
            {DeltaType::kUpdated,
             test.world.pod("p").version("2").deleted(test.loop.wall_now()).build()});
        test.run_to(3s);
      }
      test.api.remove(p);
      test.run_to(4s);
      EXPECT_EQ(test.engine->cluster().assumed_count(), 0u) << "the place is free at once";
      test.run_to(1min);
      EXPECT_EQ(test.api.binds.size(), c.binds);
      EXPECT_EQ(test.engine->cluster().seen_pod("default", "p"), nullptr);
      EXPECT_EQ(test.engine->cluster().placed_count(), c.queued);  // the resident
      EXPECT_EQ(test.queued(), 0u);
      test.expect_settled();
    }
  }
}

TEST_F(EngineTest, AWaitingPodThatIsDeletedTellsSo) {
  permit("Gang", 1h);
  profile("default-scheduler", {"Gang"});
  start();
  node("n1");
  const Ref<const Pod> p = pod("p");
  run_to(1s);
  api.remove(p);
  run_to(2s);
  ASSERT_EQ(observer.failures.size(), 1u);
  EXPECT_EQ(observer.failures[0].second.message(), "0/1 nodes are available: 1 removed.");
  EXPECT_EQ(reserved, unreserved);
}

TEST_F(EngineTest, APodMadeAnewWhileTheOldOneWaitsIsScheduledOnItsOwn) {
  permit("Gang", 10s);
  profile("default-scheduler", {"OneEach", "Gang"});
  start();
  node("n1");
  pod(world.pod("p").uid("first"));
  run_to(1s);
  const Ref<const Pod> second = world.pod("p").uid("second").version("2");
  api.create(second);
  run_to(5s);
  EXPECT_TRUE(engine->waiting_pods().contains(second->uid()));
  engine->waiting_pods().allow(second->uid(), "Gang");
  run_to(1min);
  EXPECT_THAT(observer.bound_pods, ElementsAre("p on n1"));
  expect_settled();
}

// ---- nodes that go

TEST_F(EngineTest, ANodeThatGoesWhilePodsAreAssumedOnIt) {
  permit("Gang", 1h);
  profile("default-scheduler", {"Gang"});
  start();
  const Ref<const Node> gone = node("n1");
  const Ref<const Pod> p = pod("p"), q = pod("q");
  run_to(1s);
  remove(gone);
  EXPECT_EQ(engine->cluster().nodes().node_count(), 0u);
  EXPECT_EQ(engine->cluster().assumed_count(), 2u) << "their binding cycles decide";
  EXPECT_TRUE(engine->waiting_pods().reject(q->uid(), "Gang", "no node"));
  EXPECT_TRUE(engine->waiting_pods().allow(p->uid(), "Gang"));
  run_to(2s);
  EXPECT_EQ(api.node_of(p), "n1") << "the API server does not mind";
  EXPECT_EQ(engine->cluster().nodes().ghost_count(), 1u);
  EXPECT_NE(engine->queue().place(*q), QueuePlace::kNowhere);
  api.remove(p);
  api.remove(q);
  run_to(3s);
  EXPECT_EQ(engine->cluster().nodes().ghost_count(), 0u);
  EXPECT_EQ(queued(), 0u);
  expect_settled();
}

TEST_F(EngineTest, WithoutNodesPodsWaitForOne) {
  start();
  const Ref<const Pod> p = pod("p");
  run_to(1s);
  EXPECT_THAT(api.patches, ElementsAre("p: no nodes available to schedule pods"));
  node("n1");
  run_to(1min);
  EXPECT_EQ(api.node_of(p), "n1");
  expect_settled();
}

// ---- the end

TEST(EngineThatEnds, InTheMiddleLeavesNothingToHappen) {
  struct Case {
    const char* phase;
    std::function<void(EngineTest&)> arrange;
    std::size_t tasks;  // that are open then
  };
  TestExtender never("never");
  never.late = true;
  const Case cases[] = {
      {"before it is started", [](EngineTest& t) { t.profile("default-scheduler"); }, 1},
      {"pods wait",
       [](EngineTest& t) {
         t.permit("Gang", 1h);
         t.profile("default-scheduler", {"Gang"});
       },
       3},
      {"pods are in PreBind, side by side",
       [](EngineTest& t) {
         t.pre_bind("Volumes", 1h);
         t.profile("default-scheduler", {"Volumes"});
       },
       3},
      {"pods are in Bind",
       [](EngineTest& t) {
         t.profile("default-scheduler");
         t.api.on_bind = [](const Pod&) -> TestApi::Fate { return {1h, {}, 1h}; };
       },
       3},
      {"an extender is asked",
       [&never](EngineTest& t) {
         t.profile("default-scheduler");
         t.options.extenders = {&never};
       },
       1},
      {"failures are being written",
       [](EngineTest& t) {
         t.api.patch_takes = 1h;
         t.plugin("No", [](const Handle&) {
           auto filter = std::make_unique<FakeFilter>("No");
           filter->script = [](const Cycle&, NodeRow) { return Outcome::unschedulable("no"); };
           return filter;
         });
         t.profile("default-scheduler", {"No"});
       },
       3},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.phase);
    struct OneCase : EngineTest {
      void TestBody() override {}
    } test;
    c.arrange(test);
    ASSERT_EQ(test.make(), "");
    test.node("n1");
    for (const char* name : {"a", "b", "c"}) test.pod(name);
    if (c.phase == std::string_view("before it is started")) {
      // Work is posted, but its turn has not come.
      test.engine->start();
    } else {
      test.engine->start();
      test.run_to(1s);
      EXPECT_EQ(test.engine->tasks(), c.tasks);
      test.node("n2");  // parked, in the case of the extender
    }
    const std::size_t binds = test.api.binds.size();
    test.destroy();
    test.run_to(3h);
    EXPECT_EQ(test.api.binds.size(), binds);
    EXPECT_THAT(test.observer.bound_pods, IsEmpty());
    EXPECT_FALSE(test.loop.work_pending());
  }
  never.go_on->set(true);  // an answer that nobody waits for
}

TEST_F(EngineTest, TwoEnginesInOneProcessDoNotKnowOfEachOther) {
  struct OneCase : EngineTest {
    void TestBody() override {}
  } other;
  start();
  other.start();
  node("here");
  other.node("there");
  const Ref<const Pod> p = pod("p");
  const Ref<const Pod> q = other.pod("p");
  run_to(1s);
  other.run_to(1s);
  EXPECT_EQ(api.node_of(p), "here");
  EXPECT_EQ(other.api.node_of(q), "there");
}

}  // namespace
}  // namespace berth
