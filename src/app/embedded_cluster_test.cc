#include "app/embedded_cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "config/load.h"
#include "control_plane/controllers.h"
#include "framework/testing/fake_plugins.h"
#include "memapi/api_server.h"
#include "memapi/json_edit.h"
#include "plugins/table.h"

namespace berth::app {
namespace {

using namespace std::chrono_literals;
using berth::testing::run_task;
using memapi::resource_of;
using memapi::text_at;

// An API server, controllers and a scheduler on one loop in virtual time.
struct Whole {
  explicit Whole(const std::string& gates = {}) {
    const std::vector<std::string> everything{"*"};
    controllers = std::make_unique<control_plane::Controllers>(
        api.local(), control_plane::choose_controllers(everything).value(),
        control_plane::NodeAgentOptions{.lease_interval = Duration::zero()});
    EngineOptions options;
    EXPECT_TRUE(options.gates.set(gates));
    options.configuration = config::default_configuration(options.gates);
    engine = Engine::make(loop, interner, plugins, cluster, observer, std::move(options)).value();
    cluster.serve(*engine);
    engine->start();
  }
  ~Whole() { engine.reset(); }

  void create(const memapi::Resource& resource, const std::string& json) {
    const auto created = api.local().create(resource, parse_json(json).value());
    ASSERT_TRUE(created) << created.error().message;
  }
  void add_node(const std::string& name) {
    create(resource_of("nodes"),
           fmt::format(R"({{"metadata":{{"name":"{}"}},"status":{{"capacity":{{"cpu":"4",)"
                       R"("memory":"8Gi","pods":"10"}}}}}})",
                       name));
  }
  void add_pod(const std::string& name, const std::string& cpu, const std::string& more = "",
               const std::string& annotations = "") {
    create(
        resource_of("pods"),
        fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default",)"
                    R"("annotations":{{{}}}}},"spec":{{"containers":[{{"name":"c","image":"i:1",)"
                    R"("resources":{{"requests":{{"cpu":"{}"}}}}}}]{}}}}})",
                    name, annotations, cpu, more));
  }
  void pass(Duration time) { loop.run_until(loop.now() + time); }
  JsonValue pod(const std::string& name) {
    const memapi::ObjectRef found = api.local().get(resource_of("pods"), "default", name);
    return found ? found->tree() : JsonValue::object();
  }
  std::string node_of(const std::string& name) {
    return std::string(text_at(pod(name), "spec.nodeName"));
  }
  // "Scheduled x2: note" of all events about a pod.
  std::vector<std::string> events(const std::string& name) {
    std::vector<std::string> all;
    for (const memapi::ObjectRef& event : api.local().list(resource_of("events"), "default")) {
      const JsonValue tree = event->tree();
      if (text_at(tree, "involvedObject.name") != name) continue;
      all.push_back(fmt::format("{} {} x{}: {}", text_at(tree, "type"), text_at(tree, "reason"),
                                memapi::int_at(tree, "series.count").value_or(1),
                                text_at(tree, "message")));
    }
    return all;
  }

  void add_group(const std::string& name, int min_count) {
    create(resource_of("podgroups", "scheduling.k8s.io"),
           fmt::format(R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{)"
                       R"("schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}}})",
                       name, min_count));
  }
  // "True Scheduled: " of the group's conditions.
  std::vector<std::string> conditions_of_group(const std::string& name) {
    const memapi::ObjectRef group =
        api.local().get(resource_of("podgroups", "scheduling.k8s.io"), "default", name);
    const JsonValue tree = group->tree();
    std::vector<std::string> all;
    for (const JsonValue& condition : memapi::items_at(tree, "status.conditions"))
      all.push_back(fmt::format("{} {} {}: {}", text_at(condition, "type"),
                                text_at(condition, "status"), text_at(condition, "reason"),
                                text_at(condition, "message")));
    return all;
  }

  // Makes a pod's status one that is not a pod's, or one again.
  void set_odd(const std::string& name, bool odd) {
    const auto updated = api.local().update_status(
        resource_of("pods"), "default", name, [&](JsonValue& pod) -> memapi::Answer<void> {
          JsonValue& status = memapi::object_at(pod, "status");
          memapi::erase(status, "nominatedNodeName");
          if (odd) memapi::set(status, "nominatedNodeName", JsonValue::of_int(7));
          return {};
        });
    ASSERT_TRUE(updated) << updated.error().message;
  }

  VirtualLoop loop;
  memapi::ApiServer api{loop, Random(7)};
  Interner interner;
  PluginTable plugins = plugins::make_plugin_table();
  Observer observer;
  EmbeddedCluster cluster{api.local(), interner};
  std::unique_ptr<control_plane::Controllers> controllers;
  std::unique_ptr<Engine> engine;
};

TEST(EmbeddedCluster, APodIsBoundRunsAndSaysWhere) {
  Whole whole;
  whole.add_node("n1");
  whole.pass(1s);
  whole.add_pod("p", "1");
  whole.pass(1s);
  EXPECT_EQ(whole.node_of("p"), "n1");
  EXPECT_EQ(text_at(whole.pod("p"), "status.phase"), "Running");
  EXPECT_EQ(
      whole.events("p"),
      (std::vector<std::string>{"Normal Scheduled x1: Successfully assigned default/p to n1"}));
}

TEST(EmbeddedCluster, APodThatFitsNowhereSaysWhyAndIsTakenWhenThereIsRoom) {
  Whole whole;
  whole.add_node("n1");
  whole.pass(1s);
  whole.add_pod("first", "3", "", R"("berth/run-for":"60s")");
  whole.add_pod("second", "3");
  whole.pass(10s);
  EXPECT_EQ(whole.node_of("second"), "");
  const JsonValue pod = whole.pod("second");
  const auto& conditions = memapi::items_at(pod, "status.conditions");
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(text_at(conditions[0], "reason"), "Unschedulable");
  EXPECT_TRUE(text_at(conditions[0], "message")
                  .starts_with("0/1 nodes are available: 1 Insufficient cpu."));
  // Its end frees the node, although the pod is still there to be looked at.
  whole.pass(60s);
  EXPECT_EQ(text_at(whole.pod("first"), "status.phase"), "Succeeded");
  EXPECT_EQ(whole.node_of("second"), "n1");
}

TEST(EmbeddedCluster, APlacedPodThatCannotBeReadAnyMoreKeepsItsPlaceUntilItGoes) {
  for (const bool mended : {false, true}) {
    Whole whole;
    whole.add_node("n1");
    whole.pass(1s);
    whole.add_pod("first", "3");
    whole.pass(1s);
    EXPECT_EQ(whole.node_of("first"), "n1");
    whole.set_odd("first", true);
    whole.add_pod("second", "3");
    whole.pass(10s);
    EXPECT_EQ(whole.node_of("second"), "");
    if (mended) whole.set_odd("first", false);
    whole.pass(10s);
    EXPECT_EQ(whole.node_of("second"), "");
    ASSERT_TRUE(whole.api.local().remove(resource_of("pods"), "default", "first", {}));
    whole.pass(60s);
    EXPECT_EQ(whole.node_of("second"), "n1");
  }
}

TEST(EmbeddedCluster, APodThatCouldNotBeReadFromTheStartIsScheduledOnceItCan) {
  Whole whole;
  whole.add_node("n1");
  whole.pass(1s);
  whole.create(resource_of("pods"),
               R"({"metadata":{"name":"odd","namespace":"default","labels":{"a":7}},)"
               R"("spec":{"containers":[{"name":"c","image":"i:1"}]}})");
  whole.pass(10s);
  EXPECT_EQ(whole.node_of("odd"), "");
  const auto updated = whole.api.local().update(
      resource_of("pods"), "default", "odd", [&](JsonValue& pod) -> memapi::Answer<void> {
        memapi::erase(memapi::object_at(pod, "metadata"), "labels");
        return {};
      });
  ASSERT_TRUE(updated) << updated.error().message;
  whole.pass(10s);
  EXPECT_EQ(whole.node_of("odd"), "n1");
}

TEST(EmbeddedCluster, AnEventThatRepeatsIsCounted) {
  Whole whole;
  whole.add_node("n1");
  whole.pass(1s);
  whole.add_pod("big", "100");
  whole.pass(1s);
  ASSERT_EQ(whole.events("big").size(), 1U);
  whole.pass(std::chrono::minutes(12));  // unschedulable pods are tried again, unasked
  const std::vector<std::string> events = whole.events("big");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(events[0].starts_with("Warning FailedScheduling x")) << events[0];
  EXPECT_FALSE(events[0].starts_with("Warning FailedScheduling x1:")) << events[0];
}

TEST(EmbeddedCluster, AMoreImportantPodTakesTheRoomOfOthers) {
  Whole whole;
  whole.add_node("n1");
  whole.create(resource_of("priorityclasses", "scheduling.k8s.io"),
               R"({"metadata":{"name":"high"},"value":1000})");
  whole.pass(1s);
  whole.add_pod("low", "3");
  whole.pass(1s);
  whole.add_pod("high", "3", R"(,"priorityClassName":"high")");
  whole.pass(5s);
  EXPECT_EQ(whole.node_of("high"), "n1");
  EXPECT_EQ(whole.node_of("low"), "");  // it is gone
  EXPECT_TRUE(std::ranges::any_of(whole.events("low"), [](const std::string& event) {
    return event.starts_with("Normal Preempted");
  }));
}

TEST(EmbeddedCluster, WhatIsNoLongerThereCannotBeBound) {
  Whole whole;
  whole.add_node("n1");
  whole.add_pod("p", "1", R"(,"schedulerName":"other")");
  whole.pass(1s);
  const Ref<const Pod> decoded = whole.engine->cluster().seen_pod("default", "p");
  ASSERT_TRUE(decoded);
  ASSERT_TRUE(whole.api.local().remove(resource_of("pods"), "default", "p"));
  const Result<void> answer = run_task(whole.loop, whole.cluster.bind(decoded, "n1"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kNotFound);
}

TEST(EmbeddedCluster, KnowsWhetherSomebodyElseHasBoundAPod) {
  Whole whole;
  whole.add_node("n1");
  whole.add_pod("p", "1", R"(,"schedulerName":"other")");
  whole.pass(1s);
  const Ref<const Pod> decoded = whole.engine->cluster().seen_pod("default", "p");
  ASSERT_TRUE(decoded);
  const auto is_on = [&](const std::string& node) {
    return run_task(whole.loop, whole.cluster.is_bound(decoded, node, false)).value();
  };
  EXPECT_FALSE(is_on("n1"));
  ASSERT_TRUE(whole.api.local().bind("default", "p", decoded->uid_text(), "n1"));
  EXPECT_TRUE(is_on("n1"));
  EXPECT_FALSE(is_on("n2"));
}

// ---- volumes and devices

const char kLazyClass[] = R"({"metadata":{"name":"lazy"},"provisioner":"disk.example.com",)"
                          R"("volumeBindingMode":"WaitForFirstConsumer"})";
const char kClaim[] =
    R"({"metadata":{"name":"data","namespace":"default"},"spec":{"storageClassName":"lazy",)"
    R"("accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})";
const char kWithData[] =
    R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}])";

TEST(EmbeddedCluster, APodWhoseVolumeWaitsForItRuns) {
  Whole whole;
  whole.add_node("n1");
  whole.create(resource_of("storageclasses", "storage.k8s.io"), kLazyClass);
  whole.create(resource_of("persistentvolumeclaims"), kClaim);
  whole.add_pod("p", "1", kWithData);
  whole.pass(5s);
  EXPECT_EQ(whole.node_of("p"), "n1");
  EXPECT_EQ(text_at(whole.pod("p"), "status.phase"), "Running");
  const memapi::ObjectRef claim =
      whole.api.local().get(resource_of("persistentvolumeclaims"), "default", "data");
  EXPECT_EQ(text_at(claim->tree(), "status.phase"), "Bound");
}

TEST(EmbeddedCluster, AnEphemeralVolumeIsMadeForItsPod) {
  Whole whole;
  whole.add_node("n1");
  whole.create(resource_of("storageclasses", "storage.k8s.io"), kLazyClass);
  whole.add_pod("p", "1",
                R"(,"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":)"
                R"({"storageClassName":"lazy","accessModes":["ReadWriteOnce"],"resources":)"
                R"({"requests":{"storage":"1Gi"}}}}}}])");
  whole.pass(10s);
  EXPECT_EQ(whole.node_of("p"), "n1");
}

TEST(EmbeddedCluster, DevicesGoFromPodToPod) {
  Whole whole;
  whole.add_node("n1");
  const std::string_view group = "resource.k8s.io";
  whole.create(resource_of("deviceclasses", group), R"({"metadata":{"name":"gpu"},"spec":{}})");
  whole.create(resource_of("resourceslices", group),
               R"({"metadata":{"name":"s"},"spec":{"driver":"gpu.example.com","nodeName":"n1",)"
               R"("pool":{"name":"n1","generation":1,"resourceSliceCount":1},)"
               R"("devices":[{"name":"dev-0"}]}})");
  whole.create(resource_of("resourceclaimtemplates", group),
               R"({"metadata":{"name":"one","namespace":"default"},"spec":{"spec":{"devices":)"
               R"({"requests":[{"name":"r","exactly":{"deviceClassName":"gpu",)"
               R"("allocationMode":"ExactCount","count":1}}]}}}})");
  const std::string with_device =
      R"(,"resourceClaims":[{"name":"dev","resourceClaimTemplateName":"one"}])";
  whole.add_pod("a", "1", with_device, R"("berth/run-for":"10s")");
  whole.pass(1s);
  ASSERT_EQ(whole.node_of("a"), "n1");
  whole.add_pod("b", "1", with_device);
  whole.pass(5s);
  EXPECT_EQ(whole.node_of("b"), "") << "the only device is taken";
  whole.pass(60s);
  EXPECT_EQ(whole.node_of("b"), "n1") << "the first pod has finished";
}

TEST(EmbeddedCluster, AGangIsPlacedTogetherAndItsPodGroupSaysSo) {
  Whole whole("GenericWorkload=true");
  whole.add_node("n1");
  whole.add_group("g", 2);
  whole.pass(1s);
  const std::string member = R"(,"schedulingGroup":{"podGroupName":"g"})";
  whole.add_pod("a", "3", member);
  whole.pass(5s);
  EXPECT_EQ(whole.conditions_of_group("g"), std::vector<std::string>{}) << "it waits for the rest";
  whole.add_pod("b", "3", member);
  whole.pass(1s);
  EXPECT_EQ(whole.conditions_of_group("g"),
            std::vector<std::string>{
                "PodGroupInitiallyScheduled False Unschedulable: minCount (2) cannot be satisfied: "
                "1 scheduled, 0 remaining, pod group preemption: No preemption victims found for "
                "incoming preemptor"});
  EXPECT_EQ(whole.node_of("a"), "") << "not half of it";
  whole.add_node("n2");
  whole.pass(20s);
  EXPECT_NE(whole.node_of("a"), "");
  EXPECT_NE(whole.node_of("b"), "");
  const std::vector<std::string> scheduled{"PodGroupInitiallyScheduled True Scheduled: "};
  EXPECT_EQ(whole.conditions_of_group("g"), scheduled);
  whole.add_pod("late", "3", member);
  whole.pass(20s);
  EXPECT_EQ(whole.node_of("late"), "");
  EXPECT_EQ(whole.conditions_of_group("g"), scheduled) << "what is left over does not change it";
}

TEST(EmbeddedCluster, WithoutTheGateAPodGroupIsOnlyStored) {
  Whole whole;
  whole.add_node("n1");
  whole.add_group("g", 2);
  whole.add_pod("a", "3", R"(,"schedulingGroup":{"podGroupName":"g"})");
  whole.pass(5s);
  EXPECT_EQ(whole.node_of("a"), "n1");
  EXPECT_EQ(whole.conditions_of_group("g"), std::vector<std::string>{});
  EXPECT_TRUE(whole.engine->cluster().list(ObjectKind::kPodGroup).empty());
}

}  // namespace
}  // namespace berth::app
