#include "live/live_explainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "api/testing/builders.h"
#include "api/testing/storage_builders.h"
#include "base/testing/names.h"
#include "base/thread.h"
#include "config/load.h"
#include "framework/testing/fake_plugins.h"
#include "plugins/table.h"
#include "store/cluster_store.h"
#include "storeapi/store_api.h"

namespace berth::live {
namespace {

struct TestObjects final : ObjectSource {
  std::map<std::string, std::string> by_name;
  std::vector<std::string> asked;
  Task<std::optional<std::string>> get(std::string kind, std::string, std::string name) override {
    asked.push_back(kind + " " + name);
    const auto found = by_name.find(kind + " " + name);
    if (found == by_name.end()) co_return std::nullopt;
    co_return found->second;
  }
};

struct LiveExplainerTest : ::testing::Test {
  World world;
  VirtualLoop loop;
  ClusterStore store{loop, 0s};
  StoreApi api{loop, store, {.keeps_statuses = false}};
  Observer observer;
  PluginTable plugins = plugins::make_plugin_table();
  TestObjects objects;
  EngineOptions options;
  LiveExplainerOptions explaining;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<LiveExplainer> explainer;

  LiveExplainerTest() {
    options.configuration = config::default_configuration(options.gates);
    store.on_change([this](const Delta& delta) { engine->apply(delta); });
  }
  ~LiveExplainerTest() override {
    explainer.reset();
    engine.reset();
  }

  void start() {
    explaining.configuration = options.configuration;
    explaining.gates = options.gates;
    auto made = Engine::make(loop, world.interner, plugins, api, observer, options);
    ASSERT_TRUE(made) << made.error().message;
    engine = *std::move(made);
    explainer = std::make_unique<LiveExplainer>(loop, *engine, world.interner, plugins, objects,
                                                explaining);
    engine->start();
  }
  void create(AnyObject object) { ASSERT_TRUE(store.create_object(std::move(object))); }
  void settle() { loop.run_until(loop.now() + 100ms); }

  // Until the worker has posted its answer; virtual time stands still.
  template <typename Over>
  void work_until(Over over) {
    while (!over()) {
      if (loop.has_posted() || loop.next_deadline() == loop.now())
        loop.step();
      else
        std::this_thread::yield();
    }
  }
  explain::Answer ask(explain::Question question) {
    std::optional<explain::Answer> answer;
    EXPECT_TRUE(explainer->ask(std::move(question),
                               [&](explain::Answer given) { answer = std::move(given); }));
    work_until([&] { return answer.has_value(); });
    return *std::move(answer);
  }
  explain::Explanation about(const std::string& pod) {
    explain::Answer answer = ask({.pods = {pod}});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer && answer->size() == 1 ? answer->front() : explain::Explanation();
  }
  // A plugin that is on for all profiles.
  void plugin(const std::string& name,
              std::function<std::unique_ptr<Plugin>(const Handle&)> create) {
    ASSERT_TRUE(plugins.add(testing::entry_of(name, std::move(create))));
    options.configuration.profiles.front()
        .plugins.at(config::ExtensionPoint::kMultiPoint)
        .enabled.push_back({name, 0});
  }
};

constexpr char kLarge[] =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"large","namespace":"default"},)"
    R"("spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"6"}}}]}})";

TEST_F(LiveExplainerTest, APodThatFitsNowhereIsToldWhyWhatHelpsAndWhereItWaits) {
  objects.by_name["Pod large"] = kLarge;
  start();
  create(Ref<const Object>(world.node("n1").cpu("4").build()));
  create(world.pod("large").cpu("6").build());
  settle();
  const explain::Explanation explanation = about("default/large");
  EXPECT_EQ(explanation.verdict, "Unschedulable");
  EXPECT_THAT(explanation.message, StartsWith("0/1 nodes are available: 1 Insufficient cpu"));
  ASSERT_EQ(explanation.rejections.size(), 1U);
  EXPECT_EQ(explanation.rejections[0].obstacles[0].obstacle.code, "InsufficientResource");
  ASSERT_FALSE(explanation.suggestions.empty());
  EXPECT_EQ(explanation.suggestions[0].code, "ReduceRequest");
  EXPECT_EQ(explanation.suggestions[0].nodes, std::vector<std::string>{"n1"});
  ASSERT_TRUE(explanation.queue);
  EXPECT_EQ(explanation.queue->place, "unschedulable");
  EXPECT_EQ(explanation.queue->attempts, 1);
  EXPECT_THAT(explanation.queue->rejected_by, ElementsAre("NodeResourcesFit"));
  EXPECT_EQ(*explanation.queue->until - *explanation.queue->since, 5min);
  EXPECT_TRUE(explanation.wakes.contains("NodeResourcesFit"));
  EXPECT_EQ(engine->queue().sizes().unschedulable, 1U) << "and it waits as before";
  EXPECT_EQ(engine->cluster().nodes().node_count(), 1U);
}

TEST_F(LiveExplainerTest, TheNextAnswerIsFromTheClusterAsItIsThen) {
  start();
  create(Ref<const Object>(world.node("n1").cpu("4").build()));
  create(world.pod("large").cpu("6").build());
  settle();
  EXPECT_EQ(about("default/large").all_nodes, 1U);
  create(world.pod("small").cpu("1").build());
  create(Ref<const Object>(world.node("n2").cpu("2").build()));
  settle();
  const explain::Explanation small = about("default/small");
  EXPECT_EQ(small.verdict, "Scheduled");
  EXPECT_FALSE(small.queue) << "it has left the queue";
  EXPECT_EQ(about("default/large").all_nodes, 2U);
}

TEST_F(LiveExplainerTest, AllPendingPodsThatAreAlikeAndInTheSamePlaceAreOne) {
  start();
  create(Ref<const Object>(world.node("n1").cpu("4").build()));
  for (const char* name : {"b", "a", "c"})
    create(world.pod(name).cpu("6").uid(std::string("uid-") + name).build());
  create(world.pod("other").cpu("7").build());
  create(world.pod("elsewhere").scheduler("another").build());
  settle();
  const explain::Answer answer = ask({.all_pending = true, .suggestions = false});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->size(), 2U);
  EXPECT_EQ((*answer)[0].pod, "default/a");
  EXPECT_THAT((*answer)[0].alike, ElementsAre("default/b", "default/c"));
  EXPECT_THAT((*answer)[0].suggestions, IsEmpty());
  EXPECT_EQ((*answer)[1].pod, "default/other");
}

TEST_F(LiveExplainerTest, APodThatIsNotThereIsJudgedAndForgotten) {
  start();
  create(Ref<const Object>(world.node("n1").cpu("8").build()));
  settle();
  const explain::Answer answer = ask({.new_pod = kLarge});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->at(0).pod, "default/large");
  EXPECT_EQ(answer->at(0).verdict, "Schedulable");
  EXPECT_EQ(answer->at(0).chosen, "n1");
  EXPECT_EQ(engine->cluster().seen_pod("default", "large"), nullptr);
  EXPECT_EQ(engine->queue().sizes(), QueueSizes());

  create(world.pod("large").cpu("1").build());
  settle();
  const explain::Answer taken = ask({.new_pod = kLarge});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::kConflict);
}

TEST_F(LiveExplainerTest, ThePriorityOfANewPodIsThatOfItsClass) {
  objects.by_name["PriorityClass high"] =
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":9})";
  start();
  create(Ref<const Object>(world.node("n1").cpu("4").build()));
  create(world.pod("victim").cpu("3").build());
  settle();
  const auto pod = [](const std::string& name) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"new"},"spec":{"priorityClassName":")" +
           name + R"(","containers":[{"name":"c","resources":{"requests":{"cpu":"4"}}}]}})";
  };
  const explain::Answer answer = ask({.new_pod = pod("high")});
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_TRUE(answer->at(0).preemption);
  EXPECT_EQ(answer->at(0).preemption->node, "n1");
  EXPECT_THAT(answer->at(0).preemption->victims, ElementsAre("default/victim"));
  EXPECT_EQ(store.pod("default", "victim")->node_name(), "n1") << "nobody was evicted";
  EXPECT_EQ(ask({.new_pod = pod("none")}).error().kind, ErrorKind::kInvalid);
}

TEST_F(LiveExplainerTest, WhatCannotBeAnsweredIsSaid) {
  start();
  EXPECT_EQ(ask({.pods = {"default/nobody"}}).error(),
            (Error{ErrorKind::kNotFound, "pod \"default/nobody\" not found"}));
  EXPECT_EQ(ask({.pods = {"nobody"}}).error().kind, ErrorKind::kInvalid);
  for (const char* wrong : {"{", "[]", R"({"kind":"Node","apiVersion":"v1"})",
                            R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":7}})"})
    EXPECT_EQ(ask({.new_pod = wrong}).error().kind, ErrorKind::kInvalid) << wrong;
}

TEST_F(LiveExplainerTest, AHeldPodIsToldByWhomSinceWhenAndUntilWhen) {
  plugin("Hold", [](const Handle&) {
    auto hold = std::make_unique<FakePermit>("Hold");
    hold->script = [](Cycle&) { return PermitResult::wait(1min); };
    return hold;
  });
  start();
  create(Ref<const Object>(world.node("n1").cpu("4").build()));
  create(world.pod("held").cpu("1").build());
  settle();
  const explain::Explanation explanation = about("default/held");
  EXPECT_EQ(explanation.verdict, "WaitingOnPermit");
  EXPECT_EQ(explanation.chosen, "n1");
  ASSERT_TRUE(explanation.permit);
  EXPECT_EQ(explanation.permit->node, "n1");
  ASSERT_EQ(explanation.permit->holders.size(), 1U);
  EXPECT_EQ(explanation.permit->holders[0].plugin, "Hold");
  EXPECT_EQ(explanation.permit->holders[0].until - explanation.permit->since, 1min);
  EXPECT_EQ(explanation.queue->place, "waitingOnPermit");
  EXPECT_EQ(engine->waiting_pods().size(), 1U) << "it waits as before";

  create(Ref<const Object>(world.node("n2").build()));
  EXPECT_THAT(about("default/held").queue->missed, ElementsAre("NodeAdd"));
}

TEST_F(LiveExplainerTest, WhatIsReservedForOthersAndNotWrittenYetIsTaken) {
  plugin("Hold", [](const Handle&) {
    auto hold = std::make_unique<FakePermit>("Hold");
    hold->script = [](Cycle&) { return PermitResult::wait(1min); };
    return hold;
  });
  start();
  create(Ref<const Object>(world.node("n1").build()));
  create(Ref<const Object>(world.node("n2").build()));
  create(Ref<const Object>(StorageClassBuilder(world, "local").static_only().build()));
  create(Ref<const Object>(VolumeBuilder(world, "only").of("local").build()));
  for (const char* name : {"first", "second"}) {
    create(Ref<const Object>(ClaimBuilder(world, name).of("local").build()));
    PodBuilder pod = world.pod(name);
    create(Ref<const Pod>(with_claim(pod, name)));
    settle();
  }
  ASSERT_EQ(engine->waiting_pods().size(), 1U) << "the first has the volume";
  const explain::Explanation second = about("default/second");
  EXPECT_EQ(second.verdict, "Unschedulable");
  ASSERT_FALSE(second.rejections.empty());
  EXPECT_EQ(second.rejections[0].obstacles[0].obstacle.code, "NoVolumeToBind");
  // What is reserved for a pod itself does not keep it from other nodes.
  const explain::Explanation first = about("default/first");
  EXPECT_EQ(first.verdict, "WaitingOnPermit");
  EXPECT_THAT(first.rejections, IsEmpty());
  EXPECT_EQ(about("default/second").verdict, "Unschedulable") << "and it is remembered again";
}

TEST_F(LiveExplainerTest, BackoffAndGatesAreTold) {
  ASSERT_TRUE(options.gates.set("SchedulerPopFromBackoffQ=false"));
  start();
  create(Ref<const Object>(world.node("n1").cpu("4").build()));
  create(world.pod("large").cpu("6").build());
  create(world.pod("gated").gate("wait").build());
  settle();
  const explain::Explanation gated = about("default/gated");
  EXPECT_EQ(gated.verdict, "Gated");
  EXPECT_EQ(gated.queue->place, "gated");
  EXPECT_FALSE(gated.queue->until);
  EXPECT_THAT(gated.queue->rejected_by, ElementsAre("SchedulingGates"));

  create(Ref<const Object>(world.node("n2").cpu("8").build()));  // an event that may help
  const explain::Explanation large = about("default/large");
  EXPECT_EQ(large.verdict, "Schedulable");
  EXPECT_EQ(large.queue->place, "backoff");
  ASSERT_TRUE(large.queue->until);
  EXPECT_EQ(*large.queue->until - *large.queue->since, 1s);
}

TEST_F(LiveExplainerTest, OnlySoManyWaitAndWhoHasGoneIsNotAnswered) {
  explaining.most_waiting = 2;
  start();
  create(world.pod("p").build());
  int answered = 0;
  const auto ask_one = [&] {
    return explainer->ask({.pods = {"default/p"}}, [&](explain::Answer) { ++answered; });
  };
  const auto first = ask_one(), second = ask_one();
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(ask_one());
  explainer->give_up(*first);
  const auto third = ask_one();
  ASSERT_TRUE(third);
  work_until([&] { return answered == 2; });
  explainer->give_up(*third);  // too late, and nothing happens

  // One that is worked on, and waits for an object.
  const auto fourth = ask_one();
  loop.step();
  explainer->give_up(*fourth);
  ask_one();
  work_until([&] { return answered == 3; });
  EXPECT_EQ(answered, 3);
}

TEST_F(LiveExplainerTest, QuestionsThatAreOpenAtTheEndAreDropped) {
  start();
  create(world.pod("p").cpu("1").build());
  bool answered = false;
  for (int i = 0; i < 3; ++i)
    explainer->ask({.pods = {"default/p"}}, [&](explain::Answer) { answered = true; });
  loop.step();
  explainer.reset();
  loop.step();
  EXPECT_FALSE(answered);
}

TEST_F(LiveExplainerTest, AnyThreadMayAskAtTheDoor) {
  start();
  create(world.pod("p").build());
  bool is_ready = false;
  const LiveExplainer::Door door = explainer->door([&]() -> Result<void> {
    if (is_ready) return {};
    return fail(ErrorKind::kUnavailable, "not yet");
  });
  std::optional<explain::Answer> answer;
  const auto take = [&](std::optional<explain::Answer> given) { answer = std::move(given); };
  Thread("asker", [&] { door({.pods = {"default/p"}}, take); }).join();
  work_until([&] { return answer.has_value(); });
  EXPECT_EQ(answer->error().message, "not yet");
  is_ready = true;
  answer.reset();
  Thread("asker", [&] { door({.pods = {"default/p"}}, take); }).join();
  work_until([&] { return answer.has_value(); });
  EXPECT_EQ((*answer)->size(), 1U);
}

}  // namespace
}  // namespace berth::live
