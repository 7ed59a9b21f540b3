// A scheduler with an extender, on an API server in memory and in virtual time: what the extender
// is told, and what goes on while it thinks.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/embedded_cluster.h"
#include "config/load.h"
#include "engine/engine.h"
#include "extender/testing/scripted_transport.h"
#include "extender/webhook_extender.h"
#include "memapi/api_server.h"
#include "memapi/json_edit.h"
#include "plugins/table.h"
#include "wire/json_tree.h"

namespace berth::app {
namespace {

using namespace std::chrono_literals;
using extender::testing::ScriptedTransport;
using memapi::resource_of;
using memapi::text_at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ExtendedCluster : public ::testing::Test {
 protected:
  void start(config::ExtenderConfig config) {
    config.url_prefix = "http://extender";
    kept = std::make_unique<extender::KeptObjects>(
        extender::needs_of(std::span<const config::ExtenderConfig>(&config, 1)));
    auto scripted = std::make_unique<ScriptedTransport>(loop);
    transport = scripted.get();
    transport->script = [this](const std::string& url, const std::string& body) {
      return answer(url, body);
    };
    webhook = std::make_unique<extender::WebhookExtender>(config, loop, *kept, std::move(scripted));
    EngineOptions options;
    options.configuration = config::default_configuration(options.gates);
    options.extenders = {webhook.get()};
    engine = Engine::make(loop, interner, plugins, cluster, observer, std::move(options)).value();
    cluster.serve(*engine, kept.get());
    engine->start();
  }
  ~ExtendedCluster() override { engine.reset(); }

  // Everything passes, and all nodes are equal.
  Result<net::HttpResponse> answer(const std::string& url, const std::string& body) {
    const JsonValue args = parse_json(body).value();
    net::HttpResponse response;
    if (url.ends_with("/filter")) {
      JsonValue result = JsonValue::object();
      result.add("Nodes", *args.find("Nodes"));
      result.add("NodeNames", *args.find("NodeNames"));
      response.body = to_json(result);
    } else {
      response.body = "[]";
    }
    return response;
  }

  void create(const std::string& resource, const std::string& json) {
    const auto created = api.local().create(resource_of(resource), parse_json(json).value());
    ASSERT_TRUE(created) << created.error().message;
  }
  void add_node(const std::string& name, const std::string& rack) {
    create("nodes",
           fmt::format(R"({{"metadata":{{"name":"{}","annotations":{{"rack":"{}"}}}},"status":{{)"
                       R"("allocatable":{{"cpu":"4","memory":"8Gi","pods":"10"}},)"
                       R"("nodeInfo":{{"kernelVersion":"6.1"}}}}}})",
                       name, rack));
    // Nobody runs this node who would say that it is ready.
    const auto make_ready = [](JsonValue& object) -> memapi::Answer<void> {
      std::erase_if(memapi::object_at(object, "spec").members,
                    [](const JsonMember& member) { return member.name == "taints"; });
      return {};
    };
    ASSERT_TRUE(api.local().update(resource_of("nodes"), "", name, make_ready));
  }
  void add_pod(const std::string& name) {
    create("pods", fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{)"
                               R"("containers":[{{"name":"c","image":"i:1","env":[)"
                               R"({{"name":"A","value":"b"}}]}}]}}}})",
                               name));
  }
  void move_to_rack(const std::string& node, const std::string& rack) {
    const auto edit = [&](JsonValue& object) -> memapi::Answer<void> {
      memapi::set_text(memapi::object_at(memapi::object_at(object, "metadata"), "annotations"),
                       "rack", rack);
      return {};
    };
    ASSERT_TRUE(api.local().update(resource_of("nodes"), "", node, edit));
  }
  void pass(Duration time) { loop.run_until(loop.now() + time); }
  std::string node_of(const std::string& pod) {
    const memapi::ObjectRef found = api.local().get(resource_of("pods"), "default", pod);
    return found ? std::string(text_at(found->tree(), "spec.nodeName")) : "gone";
  }

  // "web: n1/rack-1 n2/rack-1" of a question with nodes in full.
  static std::string told(const std::string& body) {
    const JsonValue args = parse_json(body).value();
    std::string text = std::string(text_at(*args.find("Pod"), "metadata.name")) + ":";
    for (const JsonValue& node : args.find("Nodes")->find("items")->items)
      text += fmt::format(" {}/{}", text_at(node, "metadata.name"),
                          text_at(node, "metadata.annotations.rack"));
    return text;
  }

  VirtualLoop loop;
  memapi::ApiServer api{loop, Random(7)};
  Interner interner;
  PluginTable plugins = plugins::make_plugin_table();
  Observer observer;
  EmbeddedCluster cluster{api.local(), interner};
  std::unique_ptr<extender::KeptObjects> kept;
  ScriptedTransport* transport = nullptr;
  std::unique_ptr<extender::WebhookExtender> webhook;
  std::unique_ptr<Engine> engine;
};

config::ExtenderConfig filter_and_score() {
  config::ExtenderConfig config;
  config.filter_verb = "filter";
  config.prioritize_verb = "prioritize";
  config.weight = 1;
  config.http_timeout = 60s;
  return config;
}

TEST_F(ExtendedCluster, TheExtenderIsToldWhatTheServerHas) {
  start(filter_and_score());
  add_node("n1", "rack-1");
  pass(1s);
  add_pod("web");
  pass(1s);
  EXPECT_EQ(node_of("web"), "n1");
  ASSERT_EQ(transport->bodies.size(), 1U);  // one node: nothing to choose from
  const JsonValue args = parse_json(transport->bodies[0]).value();
  const JsonValue& node = args.find("Nodes")->find("items")->items.at(0);
  EXPECT_EQ(text_at(node, "status.nodeInfo.kernelVersion"), "6.1");
  EXPECT_EQ(node.find("kind"), nullptr);
  const JsonValue& pod = *args.find("Pod");
  EXPECT_EQ(pod.find("apiVersion"), nullptr);
  const JsonValue& container = pod.find("spec")->find("containers")->items.at(0);
  EXPECT_EQ(text_at(container.find("env")->items.at(0), "value"), "b");
  EXPECT_EQ(kept->pods(), 0U);  // it has its node
  EXPECT_EQ(kept->nodes(), 1U);
}

TEST_F(ExtendedCluster, WhatChangesMeanwhileCountsFromTheNextPodOn) {
  start(filter_and_score());
  add_node("n1", "rack-1");
  add_node("n2", "rack-1");
  pass(1s);
  transport->takes = 10s;
  add_pod("web");
  pass(5s);
  ASSERT_TRUE(engine->cycle_open());
  move_to_rack("n1", "rack-2");
  add_node("n3", "rack-3");
  add_pod("next");
  pass(100s);
  EXPECT_NE(node_of("web"), "");
  EXPECT_NE(node_of("next"), "");
  std::vector<std::string> all;
  for (const std::string& body : transport->bodies) all.push_back(told(body));
  EXPECT_THAT(all, ElementsAre("web: n1/rack-1 n2/rack-1", "web: n1/rack-1 n2/rack-1",
                               "next: n1/rack-2 n2/rack-1 n3/rack-3",
                               "next: n1/rack-2 n2/rack-1 n3/rack-3"));
}

TEST_F(ExtendedCluster, APodThatGoesWhileItIsAskedAboutIsNotMissed) {
  start(filter_and_score());
  add_node("n1", "rack-1");
  pass(1s);
  transport->takes = 10s;
  add_pod("web");
  add_pod("other");
  pass(5s);
  ASSERT_TRUE(api.local().remove(resource_of("pods"), "default", "web", {}));
  pass(100s);
  EXPECT_EQ(node_of("web"), "gone");
  EXPECT_EQ(node_of("other"), "n1");
  EXPECT_EQ(kept->pods(), 0U);
}

TEST_F(ExtendedCluster, SilenceCostsTheTimeOutAndTheNextPodIsAskedAbout) {
  config::ExtenderConfig config = filter_and_score();
  config.http_timeout = 3s;
  config.ignorable = true;
  start(config);
  add_node("n1", "rack-1");
  pass(1s);
  transport->takes.reset();
  add_pod("a");
  add_pod("b");
  pass(2s);
  EXPECT_EQ(node_of("a") + node_of("b"), "");
  pass(5s);
  EXPECT_EQ(node_of("a"), "n1");
  EXPECT_EQ(node_of("b"), "n1");
}

TEST_F(ExtendedCluster, AnEndInTheMiddleOfAQuestionLeavesNothingBehind) {
  start(filter_and_score());
  add_node("n1", "rack-1");
  pass(1s);
  transport->takes.reset();
  add_pod("a");
  pass(1s);
  ASSERT_TRUE(engine->cycle_open());
  engine.reset();
}

}  // namespace
}  // namespace berth::app
