#include "control_plane/node_agent.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "control_plane/testing/small_cluster.h"

namespace berth::control_plane::testing {
namespace {

const std::string kPod = std::string(kPods) + "/p";

TEST(NodeAgent, APodThatIsBoundRunsWithTheStatusOfAKubelet) {
  SmallCluster cluster({"node-agent"}, {.start_time = 2s});
  cluster.add_node("n1");
  cluster.post(std::string(kPods), pod_json("p"));
  JsonValue pod = cluster.get(kPod);
  EXPECT_EQ(text_at(pod, "spec.nodeName"), "n1");
  EXPECT_EQ(text_at(pod, "status.phase"), "Pending");

  cluster.pass(2s);
  pod = cluster.get(kPod);
  EXPECT_EQ(text_at(pod, "status.phase"), "Running");
  EXPECT_EQ(text_at(pod, "status.podIP"), "10.0.0.1");
  EXPECT_EQ(text_at(pod, "status.hostIP"), "172.16.0.1");
  EXPECT_EQ(text_at(pod, "status.startTime"), "2026-01-01T00:00:02Z");
  const auto& containers = items_at(pod, "status.containerStatuses");
  ASSERT_EQ(containers.size(), 1U);
  EXPECT_TRUE(true_at(containers[0], "ready"));
  EXPECT_EQ(text_at(containers[0], "state.running.startedAt"), "2026-01-01T00:00:02Z");
  std::string conditions;
  for (const JsonValue& condition : items_at(pod, "status.conditions"))
    conditions += std::string(text_at(condition, "type")) + "=" +
                  std::string(text_at(condition, "status")) + " ";
  EXPECT_EQ(conditions,
            "PodScheduled=True PodReadyToStartContainers=True Initialized=True Ready=True "
            "ContainersReady=True ");
}

TEST(NodeAgent, AContainerIsReadyWhenItsProbeHasWaited) {
  SmallCluster cluster({"node-agent"});
  cluster.add_node("n1");
  cluster.post(
      std::string(kPods),
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"plain","image":"i"},)"
      R"({"name":"slow","image":"i","readinessProbe":{"httpGet":{"port":80},"initialDelaySeconds":20}},)"
      R"({"name":"slower","image":"i","readinessProbe":{"httpGet":{"port":80},"initialDelaySeconds":30}}]}})");
  const auto state = [&] {
    const JsonValue pod = cluster.get(kPod);
    std::string text(text_at(pod, "status.phase"));
    for (const JsonValue& container : items_at(pod, "status.containerStatuses"))
      text += true_at(container, "ready") ? " yes" : " no";
    for (const JsonValue& condition : items_at(pod, "status.conditions"))
      if (text_at(condition, "type") == "Ready")
        text += " " + std::string(text_at(condition, "status")) +
                std::string(text_at(condition, "message"));
    return text;
  };
  EXPECT_EQ(state(), "Running yes no no Falsecontainers with unready status: [slow slower]");
  cluster.pass(19s);
  EXPECT_EQ(state(), "Running yes no no Falsecontainers with unready status: [slow slower]");
  cluster.pass(1s);
  EXPECT_EQ(state(), "Running yes yes no Falsecontainers with unready status: [slower]");
  cluster.pass(10s);
  EXPECT_EQ(state(), "Running yes yes yes True");
}

TEST(NodeAgent, APodOfANodeThatIsNotThereWaitsForTheNode) {
  SmallCluster cluster({"node-agent"});
  cluster.ask("POST", std::string(kPods), pod_json("p", R"(,"nodeName":"n1")"));
  cluster.settle();
  EXPECT_EQ(cluster.phases()["Pending"], 1);
  cluster.add_node("n1");
  EXPECT_EQ(cluster.phases()["Running"], 1);
}

TEST(NodeAgent, ADeletedPodEndsAndGoesBeforeItsGracePeriodIsOver) {
  SmallCluster cluster({"node-agent"}, {.stop_time = 3s});
  cluster.add_node("n1");
  cluster.post(std::string(kPods), pod_json("p"));
  cluster.remove(kPod);
  EXPECT_NE(at(cluster.get(kPod), "metadata.deletionTimestamp"), nullptr);
  cluster.pass(2s);
  EXPECT_EQ(cluster.pods().size(), 1U);
  cluster.pass(1s);
  EXPECT_EQ(cluster.pods().size(), 0U);
}

TEST(NodeAgent, AnAnnotationEndsAPod) {
  for (const auto& [annotation, phase] :
       {std::pair{"berth/run-for", "Succeeded"}, std::pair{"berth/fail-after", "Failed"}}) {
    SmallCluster cluster({"node-agent"});
    cluster.add_node("n1");
    cluster.post(std::string(kPods), pod_json("p"));
    cluster.merge(kPod,
                  fmt::format(R"({{"metadata":{{"annotations":{{"{}":"5s"}}}}}})", annotation));
    cluster.pass(4s);
    EXPECT_EQ(cluster.phases()["Running"], 1);
    cluster.pass(1s);
    EXPECT_EQ(cluster.phases()[phase], 1);
    const JsonValue pod = cluster.get(kPod);
    const bool success = std::string_view(phase) == "Succeeded";
    EXPECT_EQ(int_at(items_at(pod, "status.containerStatuses")[0], "state.terminated.exitCode"),
              success ? 0 : 1);
  }
}

TEST(NodeAgent, ANodeBecomesReadyAndLosesTheTaintOfNewNodes) {
  SmallCluster bare(std::vector<std::string>{});
  bare.add_node("n1");
  EXPECT_EQ(items_at(bare.get("/api/v1/nodes/n1"), "spec.taints").size(), 1U);

  SmallCluster cluster({"node-agent"});
  cluster.add_node("n1");
  const JsonValue node = cluster.get("/api/v1/nodes/n1");
  EXPECT_EQ(at(node, "spec.taints"), nullptr);
  EXPECT_EQ(text_at(node, "status.allocatable.cpu"), "4");
  EXPECT_EQ(text_at(items_at(node, "status.conditions").back(), "type"), "Ready");
  EXPECT_EQ(text_at(items_at(node, "status.conditions").back(), "status"), "True");
}

TEST(NodeAgent, WhatANodeSaysOfItselfStays) {
  SmallCluster cluster({"node-agent"});
  cluster.add_node("n1", R"(,"status":{"capacity":{"cpu":"64"},"conditions":[{"type":"Ready",)"
                         R"("status":"False"}]})");
  const JsonValue node = cluster.get("/api/v1/nodes/n1");
  EXPECT_EQ(text_at(node, "status.allocatable.cpu"), "64");
  EXPECT_EQ(text_at(items_at(node, "status.conditions").back(), "status"), "False");
  EXPECT_EQ(text_at(items_at(node, "spec.taints")[0], "key"), "node.kubernetes.io/not-ready");
}

TEST(NodeAgent, AnExtendedResourceOfTheCapacityCanBeHad) {
  SmallCluster cluster({"node-agent"});
  cluster.add_node("n1", R"(,"status":{"allocatable":{"cpu":"8","example.com/own":"5"}})");
  const auto amount = [&](const char* resource) {
    const JsonValue node = cluster.get("/api/v1/nodes/n1");
    const JsonValue* found = at(node, "status.allocatable")->find(resource);
    return found != nullptr ? found->text : "none";
  };
  const auto offer = [&](const char* gpus) {
    cluster.merge(
        "/api/v1/nodes/n1/status",
        fmt::format(R"({{"status":{{"capacity":{{"cpu":"9","example.com/gpu":{}}}}}}})", gpus));
    return amount("example.com/gpu");
  };
  EXPECT_EQ(offer("\"2\""), "2");
  EXPECT_EQ(offer("\"3\""), "3");
  EXPECT_EQ(offer("null"), "none");
  EXPECT_EQ(amount("cpu"), "8");
  EXPECT_EQ(amount("example.com/own"), "5");
}

TEST(NodeAgent, ACordonedNodeHasATaintUntilItIsUncordoned) {
  SmallCluster cluster({"node-agent"});
  cluster.add_node("n1");
  cluster.merge("/api/v1/nodes/n1", R"({"spec":{"unschedulable":true}})");
  const JsonValue node = cluster.get("/api/v1/nodes/n1");
  ASSERT_EQ(items_at(node, "spec.taints").size(), 1U);
  EXPECT_EQ(text_at(items_at(node, "spec.taints")[0], "key"), "node.kubernetes.io/unschedulable");
  cluster.merge("/api/v1/nodes/n1", R"({"spec":{"unschedulable":null}})");
  EXPECT_EQ(at(cluster.get("/api/v1/nodes/n1"), "spec.taints"), nullptr);
}

TEST(NodeAgent, PodsOfANodeThatIsGoneGoAfterAWhile) {
  SmallCluster cluster({"node-agent"});
  cluster.add_node("n1");
  cluster.post(std::string(kPods), pod_json("p"));
  cluster.remove("/api/v1/nodes/n1");
  cluster.pass(39s);
  EXPECT_EQ(cluster.pods().size(), 1U);
  cluster.pass(1s);
  EXPECT_EQ(cluster.pods().size(), 0U);
}

TEST(NodeAgent, APodWithAFinalizerEndsAndStays) {
  SmallCluster cluster({"node-agent"});
  cluster.add_node("n1");
  cluster.post(std::string(kPods), pod_json("p"));
  cluster.merge(kPod, R"({"metadata":{"finalizers":["example.com/hold"]}})");
  cluster.remove(kPod);
  EXPECT_EQ(cluster.phases()["Succeeded"], 1);
  cluster.merge(kPod, R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(cluster.pods().size(), 0U);
}

}  // namespace
}  // namespace berth::control_plane::testing
