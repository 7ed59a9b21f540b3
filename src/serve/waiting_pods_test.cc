#include "serve/waiting_pods.h"

#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/task.h"

namespace berth::serve {
namespace {

class WaitingPodsEndpointTest : public ::testing::Test {
 protected:
  net::HttpResponse ask(std::string method, std::string target) {
    net::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    return answer_waiting_pods(request, net::unescape(request.path()).value(), {"jane", "", {}, {}},
                               pods);
  }
  void hold(std::string name, const std::vector<std::string>& plugins) {
    std::vector<PermitHold> holds;
    for (const std::string& plugin : plugins) holds.push_back({plugin, std::chrono::minutes(1)});
    pods.hold(world.pod(std::move(name)).uid("u1").build(), "n1", holds);
  }
  // How the wait ended.
  Outcome settle() {
    std::optional<Outcome> outcome;
    TaskSet tasks;
    tasks.spawn(wait(pods, outcome));
    loop.run_until(loop.now());
    return outcome.value_or(Outcome::failure("still waiting"));
  }
  static Task<void> wait(WaitingPods& pods, std::optional<Outcome>& outcome) {
    auto settled = pods.settled(Uid::of("u1"));
    outcome = co_await settled;
  }

  World world;
  VirtualLoop loop;
  WaitingPods pods{loop};
};

TEST_F(WaitingPodsEndpointTest, TheListNamesWhoHoldsWhom) {
  EXPECT_EQ(ask("GET", "/debug/waiting-pods").body, "{\"items\":[]}\n");
  hold("a", {"Gate", "Quota"});
  const net::HttpResponse response = ask("GET", "/debug/waiting-pods/");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"items":[{"namespace":"default","name":"a","uid":"u1","node":"n1",)"
                           R"("plugins":["Gate","Quota"]}]})"
                           "\n");
  EXPECT_EQ(ask("POST", "/debug/waiting-pods").status, 405);
}

TEST_F(WaitingPodsEndpointTest, OnePluginLetsGo) {
  hold("a", {"Gate", "Quota"});
  const net::HttpResponse response = ask("POST", "/debug/waiting-pods/default/a/allow?plugin=Gate");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"namespace":"default","name":"a","uid":"u1","node":"n1",)"
                           R"("plugins":["Gate","Quota"],"result":"allowed"})"
                           "\n");
  EXPECT_EQ(pods.find(Uid::of("u1"))->pending_plugins, std::vector<std::string>{"Quota"});
  const net::HttpResponse again = ask("POST", "/debug/waiting-pods/default/a/allow?plugin=Gate");
  EXPECT_EQ(again.status, 409);
  EXPECT_NE(
      again.body.find(R"(plugin \"Gate\" does not hold pod \"default/a\"; it is held by Quota)"),
      std::string::npos)
      << again.body;
}

TEST_F(WaitingPodsEndpointTest, AllPluginsLetGo) {
  hold("a", {"Gate", "Quota"});
  EXPECT_EQ(ask("POST", "/debug/waiting-pods/default/a/allow").status, 200);
  EXPECT_TRUE(settle().ok());
  const net::HttpResponse gone = ask("POST", "/debug/waiting-pods/default/a/allow");
  EXPECT_EQ(gone.status, 404);
  EXPECT_NE(gone.body.find(R"(pod \"default/a\" is not waiting)"), std::string::npos) << gone.body;
}

TEST_F(WaitingPodsEndpointTest, ARejectionSaysWhyAndByWhom) {
  hold("a", {"Gate"});
  EXPECT_EQ(ask("POST", "/debug/waiting-pods/default/a/reject?message=not%20now+please").status,
            200);
  Outcome outcome = settle();
  EXPECT_FALSE(outcome.ok());
  EXPECT_NE(outcome.message().find("not now please"), std::string::npos) << outcome.message();

  hold("a", {"Gate"});
  const net::HttpResponse response = ask("POST", "/debug/waiting-pods/default/a/reject");
  EXPECT_NE(response.body.find("\"result\":\"rejected\""), std::string::npos);
  outcome = settle();
  EXPECT_NE(outcome.message().find("rejected by jane"), std::string::npos) << outcome.message();
}

TEST_F(WaitingPodsEndpointTest, APageOfAnotherSiteChangesNothing) {
  hold("a", {"Gate"});
  for (const char* origin : {"https://evil.example.com", "https://sched:10260", "null"}) {
    net::HttpRequest request;
    request.method = "POST";
    request.target = "/debug/waiting-pods/default/a/allow";
    request.headers = {{"Host", "sched:10259"}, {"Origin", origin}};
    EXPECT_EQ(answer_waiting_pods(request, request.target, {"jane", "", {}, {}}, pods).status, 403)
        << origin;
    EXPECT_EQ(pods.list().front().pending_plugins.size(), 1u);
    request.headers.set("Origin", "https://sched:10259");
    EXPECT_FALSE(net::is_cross_origin(request));
  }
}

TEST_F(WaitingPodsEndpointTest, WhatIsNotUnderstoodChangesNothing) {
  hold("a", {"Gate"});
  EXPECT_EQ(ask("GET", "/debug/waiting-pods/default/a/allow").status, 405);
  EXPECT_EQ(ask("POST", "/debug/waiting-pods/default/a/allowed").status, 404);
  EXPECT_EQ(ask("POST", "/debug/waiting-pods/default/a").status, 404);
  EXPECT_EQ(ask("POST", "/debug/waiting-pods/default/a/allow/x").status, 404);
  EXPECT_EQ(ask("POST", "/debug/waiting-pods/other/a/allow").status, 404);
  EXPECT_EQ(ask("POST", "/debug/waiting-pods/default/a/reject?plugin=Other").status, 409);
  EXPECT_EQ(pods.size(), 1u);
}

}  // namespace
}  // namespace berth::serve
