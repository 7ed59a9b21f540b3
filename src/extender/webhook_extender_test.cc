#include "extender/webhook_extender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/task.h"
#include "extender/testing/scripted_transport.h"

namespace berth::extender::testing {
namespace {

class WebhookExtenderTest : public ::testing::Test {
 protected:
  WebhookExtenderTest() {
    config.url_prefix = "http://gpu.example:8888/scheduler//";
    config.filter_verb = "filter";
    config.prioritize_verb = "prioritize";
    config.preempt_verb = "preempt";
    config.bind_verb = "bind";
    config.weight = 3;
    keep(pod, R"({"metadata":{"name":"web"}})");
    for (const char* name : {"n1", "n2"})
      kept.apply({DeltaType::kAdded, Ref<const Object>(Ref<const Node>(world.node(name)))},
                 std::make_shared<const std::string>(std::string(R"({"metadata":{"name":")") +
                                                     name + "\"}}"));
  }

  void keep(const Ref<const Pod>& some, const std::string& json) {
    kept.apply({DeltaType::kAdded, some}, std::make_shared<const std::string>(json));
  }
  void answers(std::string body, int status = 200) {
    net::HttpResponse response;
    response.status = status;
    response.body = std::move(body);
    next = std::move(response);
  }

  WebhookExtender& extender() {
    if (!made) {
      auto scripted = std::make_unique<ScriptedTransport>(loop);
      transport = scripted.get();
      made.emplace(config, loop, kept, std::move(scripted), may_bind);
    }
    transport->next = next;
    transport->takes = takes;
    return *made;
  }

  template <typename T>
  Result<T> run(Task<Result<T>> task) {
    std::optional<Result<T>> out;
    TaskSet tasks;
    tasks.spawn(collect(std::move(task), out));
    while (!out && loop.step()) {
    }
    return out ? std::move(*out) : Result<T>(fail(ErrorKind::kInternal, "it never ended"));
  }
  template <typename T>
  static Task<void> collect(Task<Result<T>> task, std::optional<Result<T>>& out) {
    Result<T> result = co_await task;
    out.emplace(std::move(result));
  }

  VirtualLoop loop;
  World world;
  KeptObjects kept{{true, ObjectNeeds::Pods::kAll}};
  config::ExtenderConfig config;
  const Ref<const Pod> pod = world.pod("web").uid("u-web");
  ScriptedTransport* transport = nullptr;
  std::function<bool()> may_bind;  // before the first extender()
  std::optional<WebhookExtender> made;
  Result<net::HttpResponse> next = net::HttpResponse{};
  std::optional<Duration> takes = Duration::zero();
};

TEST_F(WebhookExtenderTest, FiltersNodesInFull) {
  answers(R"({"Nodes":{"items":[{"metadata":{"name":"n2"}}]},"FailedNodes":{"n1":"full"}})");
  const auto verdicts = run(extender().filter(pod, {"n1", "n2"}));
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  EXPECT_THAT(verdicts->nodes, ElementsAre("n2"));
  EXPECT_THAT(verdicts->failed, ElementsAre(Pair("n1", "full")));
  EXPECT_THAT(transport->urls, ElementsAre("http://gpu.example:8888/scheduler/filter"));
  EXPECT_THAT(transport->bodies,
              ElementsAre(R"({"Pod":{"metadata":{"name":"web"}},"Nodes":{"metadata":{},"items":[)"
                          R"({"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]},)"
                          R"("NodeNames":null})"));
}

TEST_F(WebhookExtenderTest, FiltersAndScoresByName) {
  config.node_cache_capable = true;
  answers(R"({"NodeNames":["n1"]})");
  EXPECT_THAT(run(extender().filter(pod, {"n1", "n9"}))->nodes, ElementsAre("n1"));
  answers(R"([{"Host":"n1","Score":7}])");
  const auto scores = run(extender().prioritize(pod, {"n1"}));
  ASSERT_TRUE(scores) << scores.error().message;
  EXPECT_EQ(scores->at(0).node, "n1");
  EXPECT_EQ(scores->at(0).score, 7);
  EXPECT_EQ(extender().weight(), 3);
  EXPECT_THAT(transport->urls, ElementsAre("http://gpu.example:8888/scheduler/filter",
                                           "http://gpu.example:8888/scheduler/prioritize"));
  EXPECT_THAT(transport->bodies, ElementsAre(R"({"Pod":{"metadata":{"name":"web"}},"Nodes":null,)"
                                             R"("NodeNames":["n1","n9"]})",
                                             R"({"Pod":{"metadata":{"name":"web"}},"Nodes":null,)"
                                             R"("NodeNames":["n1"]})"));
}

TEST_F(WebhookExtenderTest, Binds) {
  answers("{}");
  EXPECT_TRUE(run(extender().bind(pod, "n1")));
  EXPECT_THAT(transport->bodies,
              ElementsAre(R"({"PodName":"web","PodNamespace":"default","PodUID":"u-web",)"
                          R"("Node":"n1"})"));
  answers(R"({"Error":"somebody else was quicker"})");
  EXPECT_EQ(run(extender().bind(pod, "n1")).error().message, "somebody else was quicker");
}

TEST_F(WebhookExtenderTest, ABindingWithoutAnAnswerMayBeUnderWay) {
  next = fail(ErrorKind::kUnavailable, "Post \"http://gpu.example\": unexpected EOF");
  EXPECT_EQ(run(extender().bind(pod, "n1")).error().kind, ErrorKind::kTimeout);
  next = fail(ErrorKind::kUnavailable, "dial tcp: connect: connection refused");
  EXPECT_EQ(run(extender().bind(pod, "n1")).error().kind, ErrorKind::kUnavailable);
}

TEST_F(WebhookExtenderTest, ABindingIsSentOnlyWhileItMay) {
  may_bind = [] { return false; };
  answers("{}");
  EXPECT_EQ(run(extender().bind(pod, "n1")).error().kind, ErrorKind::kCancelled);
  EXPECT_THAT(transport->bodies, ElementsAre());
  answers("[]");
  EXPECT_TRUE(run(extender().prioritize(pod, {}))) << "questions are free";
}

TEST_F(WebhookExtenderTest, VictimsInFullOrByUid) {
  const Ref<const Pod> victim = world.pod("old").uid("u-old");
  keep(victim, R"({"spec":{"a":1}})");
  const VictimsByNode victims = {{"n1", {{with_node(*victim, "n1")}, 1}}};
  answers(R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u-old"}],"NumPDBViolations":1}}})");
  const auto chosen = run(extender().preempt(pod, victims));
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_THAT(chosen->at("n1").pod_uids, ElementsAre("u-old"));
  EXPECT_EQ(chosen->at("n1").pdb_violations, 1);
  EXPECT_EQ(transport->bodies.back(),
            R"({"Pod":{"metadata":{"name":"web"}},"NodeNameToVictims":{"n1":{"Pods":[)"
            R"({"spec":{"a":1,"nodeName":"n1"}}],"NumPDBViolations":1}},)"
            R"("NodeNameToMetaVictims":null})");

  made.reset();
  config.node_cache_capable = true;
  EXPECT_TRUE(run(extender().preempt(pod, victims)));
  EXPECT_EQ(transport->bodies.back(),
            R"({"Pod":{"metadata":{"name":"web"}},"NodeNameToVictims":null,)"
            R"("NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"u-old"}],"NumPDBViolations":1}}})");
}

TEST_F(WebhookExtenderTest, OnlyACodeOf200IsAnAnswer) {
  config.url_prefix = "http://gpu.example";
  for (const int code : {201, 204, 301, 404, 500}) {
    answers("{}", code);
    EXPECT_EQ(run(extender().filter(pod, {"n1"})).error().message,
              "failed filter with extender at URL http://gpu.example/filter, code " +
                  std::to_string(code));
  }
}

TEST_F(WebhookExtenderTest, NoAnswerIsTheErrorThatItIs) {
  next = fail(ErrorKind::kUnavailable, "Post \"http://x/filter\": connection refused");
  EXPECT_EQ(run(extender().filter(pod, {"n1"})).error().message,
            "Post \"http://x/filter\": connection refused");
}

TEST_F(WebhookExtenderTest, SilenceCostsTheTimeOutAndNoMore) {
  takes.reset();
  const auto never = run(extender().filter(pod, {"n1"}));
  EXPECT_EQ(never.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(never.error().message,
            "Post \"http://gpu.example:8888/scheduler/filter\": context deadline exceeded "
            "(Client.Timeout exceeded while awaiting headers)");
  EXPECT_EQ(loop.now().since_start, seconds(5));  // unless something else is configured

  made.reset();
  config.http_timeout = milliseconds(300);
  EXPECT_FALSE(run(extender().prioritize(pod, {"n1"})));
  EXPECT_EQ(loop.now().since_start, seconds(5) + milliseconds(300));
}

TEST_F(WebhookExtenderTest, OthersGoOnWhileOneIsAsked) {
  config.http_timeout = seconds(30);
  takes = seconds(20);
  answers(R"({"Nodes":{"items":[]}})");
  int ticks = 0;
  std::function<void()> tick = [&] {
    if (++ticks < 100) loop.after(seconds(1), [&] { tick(); });
  };
  tick();
  EXPECT_TRUE(run(extender().filter(pod, {"n1"})));
  EXPECT_EQ(loop.now().since_start, seconds(20));
  EXPECT_GE(ticks, 20);
  EXPECT_LE(ticks, 21);
}

TEST_F(WebhookExtenderTest, AQuestionThatIsDroppedLeavesNothingBehind) {
  takes.reset();
  {
    std::optional<Result<ExtenderVerdicts>> out;
    TaskSet tasks;
    tasks.spawn(collect(extender().filter(pod, {"n1"}), out));
  }
  EXPECT_FALSE(loop.work_pending());
}

TEST_F(WebhookExtenderTest, WhatIsNotKnownInFullIsAnErrorAndNotHalfAnObject) {
  EXPECT_EQ(run(extender().filter(pod, {"n9"})).error().message,
            "node \"n9\" is not known in full");
  const Ref<const Pod> stranger = world.pod("stranger");
  EXPECT_EQ(run(extender().filter(stranger, {"n1"})).error().message,
            "pod default/stranger is not known in full");
  EXPECT_THAT(transport->bodies, ElementsAre());
}

TEST_F(WebhookExtenderTest, IsInterestedInPodsWithItsResources) {
  const Ref<const Pod> plain = world.pod("plain").cpu("1");
  EXPECT_TRUE(extender().interested_in(*plain));
  made.reset();
  config.managed_resources = {{"example.com/gpu", true}, {"example.com/npu", false}};
  EXPECT_FALSE(extender().interested_in(*plain));
  const auto wants = [&](const Ref<const Pod>& some) { return extender().interested_in(*some); };
  EXPECT_TRUE(wants(world.pod("a").request("example.com/gpu", "1")));
  EXPECT_TRUE(wants(world.pod("b").request("example.com/npu", "0")));
  EXPECT_TRUE(
      wants(world.pod("c").container({{"cpu", "1"}}).init_container({{"example.com/gpu", "1"}})));
  EXPECT_FALSE(wants(world.pod("d").request("example.com/fpga", "1")));
  auto limited = world.pod("e");
  limited.cpu("1");
  limited.spec().containers.resize(1);
  limited.spec().containers[0].limits.set(limited.symbol("example.com/npu"), Quantity());
  EXPECT_TRUE(wants(limited));
}

TEST_F(WebhookExtenderTest, DoesWhatItHasVerbsFor) {
  EXPECT_TRUE(extender().filters() && extender().prioritizes() && extender().binds() &&
              extender().preempts());
  EXPECT_FALSE(extender().ignorable());
  EXPECT_EQ(extender().name(), "http://gpu.example:8888/scheduler//");
  made.reset();
  config = {};
  config.ignorable = true;
  EXPECT_FALSE(extender().filters() || extender().prioritizes() || extender().binds() ||
               extender().preempts());
  EXPECT_TRUE(extender().ignorable());
}

}  // namespace
}  // namespace berth::extender::testing
