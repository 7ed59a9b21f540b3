#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/names.h"
#include "control_plane/testing/small_cluster.h"

namespace berth::control_plane::testing {
namespace {

const std::string kApps = "/apis/apps/v1/namespaces/default/";
const std::string kWeb = kApps + "deployments/web";

std::string new_image(std::string_view image) {
  return fmt::format(
      R"({{"spec":{{"template":{{"spec":{{"containers":[{{"name":"c","image":"{}"}}]}}}}}}}})",
      image);
}

// Replica counts of the sets, the oldest revision first.
std::vector<std::int64_t> sets(SmallCluster& cluster) {
  std::map<std::string, std::int64_t> by_revision;
  for (const ObjectRef& set : cluster.api().list(resource_of("replicasets", "apps"))) {
    const JsonValue tree = set->tree();
    const JsonValue* revision =
        at(tree, "metadata.annotations")->find("deployment.kubernetes.io/revision");
    by_revision[revision != nullptr ? revision->text : "?"] =
        int_at(tree, "spec.replicas").value_or(-1);
  }
  std::vector<std::int64_t> counts;
  for (const auto& [revision, count] : by_revision) counts.push_back(count);
  return counts;
}
using Counts = std::vector<std::int64_t>;

std::string condition(const JsonValue& object, std::string_view type) {
  for (const JsonValue& one : items_at(object, "status.conditions"))
    if (text_at(one, "type") == type)
      return std::string(text_at(one, "status")) + " " + std::string(text_at(one, "reason"));
  return "";
}

struct Web : SmallCluster {
  explicit Web(std::string_view spec = R"("replicas":4,)", NodeAgentOptions agent = {})
      : SmallCluster({"*"}, agent) {
    add_node("n1");
    post(kApps + "deployments", workload_json("web", spec));
  }
};

TEST(Deployment, ItsPodsRunAndItsStatusSaysSo) {
  Web web;
  EXPECT_EQ(web.phases()["Running"], 4);
  const JsonValue deployment = web.get(kWeb);
  EXPECT_EQ(int_at(deployment, "status.replicas"), 4);
  EXPECT_EQ(int_at(deployment, "status.updatedReplicas"), 4);
  EXPECT_EQ(int_at(deployment, "status.availableReplicas"), 4);
  EXPECT_EQ(at(deployment, "status.unavailableReplicas"), nullptr);
  EXPECT_EQ(int_at(deployment, "status.observedGeneration"),
            int_at(deployment, "metadata.generation"));
  EXPECT_EQ(condition(deployment, "Available"), "True MinimumReplicasAvailable");
  EXPECT_EQ(condition(deployment, "Progressing"), "True NewReplicaSetAvailable");
}

TEST(Deployment, ScalingChangesTheSetThatThereIs) {
  Web web;
  web.merge(kWeb + "/scale", R"({"spec":{"replicas":7}})");
  EXPECT_EQ(web.phases()["Running"], 7);
  web.merge(kWeb + "/scale", R"({"spec":{"replicas":1}})");
  EXPECT_EQ(web.phases()["Running"], 1);
  EXPECT_EQ(sets(web), (Counts{1}));
}

TEST(Deployment, ANewTemplateReplacesThePodsStepByStep) {
  Web web(R"("replicas":4,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,)"
          R"("maxUnavailable":0}},)",
          {.start_time = 5s});
  web.pass(6s);
  web.merge(kWeb, new_image("i:2"));
  EXPECT_EQ(sets(web), (Counts{4, 1}));  // one more, none less, until it is ready
  web.pass(5s);
  EXPECT_EQ(sets(web), (Counts{3, 2}));
  web.pass(30s);
  EXPECT_EQ(sets(web), (Counts{0, 4}));
  EXPECT_EQ(web.phases()["Running"], 4);
  EXPECT_EQ(condition(web.get(kWeb), "Progressing"), "True NewReplicaSetAvailable");
}

TEST(Deployment, GoingBackTakesTheOldSetAgain) {
  Web web;
  web.merge(kWeb, new_image("i:2"));
  EXPECT_EQ(sets(web), (Counts{0, 4}));
  web.merge(kWeb, new_image("i:1"));
  EXPECT_EQ(sets(web), (Counts{0, 4}));  // revisions 2 and 3: the first became the third
  EXPECT_EQ(web.names(resource_of("replicasets", "apps")).size(), 2U);
}

TEST(Deployment, RecreateWaitsUntilAllOldPodsAreGone) {
  Web web(R"("replicas":2,"strategy":{"type":"Recreate"},)", {.stop_time = 4s});
  web.pass(1s);
  EXPECT_EQ(web.phases()["Running"], 2);
  web.merge(kWeb, new_image("i:2"));
  EXPECT_EQ(web.names(resource_of("replicasets", "apps")).size(), 1U);
  web.pass(6s);
  EXPECT_EQ(sets(web), (Counts{0, 2}));
  EXPECT_EQ(web.pods().size(), 2U);
}

TEST(Deployment, APausedOneIsScaledButNotRolled) {
  Web web;
  web.merge(kWeb, R"({"spec":{"paused":true}})");
  web.merge(kWeb, new_image("i:2"));
  EXPECT_EQ(web.names(resource_of("replicasets", "apps")).size(), 1U);
  web.merge(kWeb, R"({"spec":{"paused":null}})");
  EXPECT_EQ(sets(web), (Counts{0, 4}));
}

TEST(Deployment, ARolloutThatDoesNotMoveIsCalledThatAfterItsDeadline) {
  Web web(R"("replicas":2,"progressDeadlineSeconds":60,)", {.start_time = std::chrono::hours(1)});
  EXPECT_EQ(condition(web.get(kWeb), "Progressing"), "True ReplicaSetUpdated");
  EXPECT_EQ(condition(web.get(kWeb), "Available"), "False MinimumReplicasUnavailable");
  web.pass(70s);
  EXPECT_EQ(condition(web.get(kWeb), "Progressing"), "False ProgressDeadlineExceeded");
}

TEST(Deployment, ItsSetsAndPodsGoWithIt) {
  for (const std::string_view policy : {"Background", "Foreground"}) {
    Web web;
    web.remove(kWeb, fmt::format(R"({{"propagationPolicy":"{}"}})", policy));
    EXPECT_EQ(web.names(resource_of("deployments", "apps")).size(), 0U) << policy;
    EXPECT_EQ(web.names(resource_of("replicasets", "apps")).size(), 0U) << policy;
    EXPECT_EQ(web.pods().size(), 0U) << policy;
  }
}

TEST(Deployment, OldSetsBeyondTheLimitAreForgotten) {
  Web web(R"("replicas":1,"revisionHistoryLimit":1,)");
  for (const std::string_view image : {"i:2", "i:3", "i:4"}) web.merge(kWeb, new_image(image));
  EXPECT_EQ(web.names(resource_of("replicasets", "apps")).size(), 2U);
}

TEST(ReplicaSet, APodThatGoesIsReplaced) {
  Web web;
  const std::string victim = web.pods().front();
  web.remove("/api/v1/namespaces/default/pods/" + victim);
  EXPECT_EQ(web.phases()["Running"], 4);
  const std::vector<std::string> left = web.pods();
  EXPECT_EQ(std::ranges::count(left, victim), 0);
}

TEST(ReplicaSet, PodsOfItsLabelsThatNobodyControlsAreAdopted) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.post("/api/v1/namespaces/default/pods",
               testing::pod_json("stray", "", R"({"app":"web"})"));
  cluster.post(kApps + "replicasets", workload_json("web", R"("replicas":2,)"));
  EXPECT_EQ(cluster.pods().size(), 2U);
  EXPECT_EQ(
      items_at(cluster.get("/api/v1/namespaces/default/pods/stray"), "metadata.ownerReferences")
          .size(),
      1U);
}

TEST(ReplicaSet, WhatIsRefusedIsToldAndTriedAgain) {
  SmallCluster cluster;
  cluster.add_node("n1");
  std::string json = workload_json("web", R"("replicas":1,)");
  json.replace(json.find(R"("containers")"), 0, R"("priorityClassName":"none",)");
  cluster.post(kApps + "replicasets", json);
  EXPECT_EQ(cluster.pods().size(), 0U);
  EXPECT_EQ(condition(cluster.get(kApps + "replicasets/web"), "ReplicaFailure"),
            "True FailedCreate");
  cluster.post("/apis/scheduling.k8s.io/v1/priorityclasses",
               R"({"metadata":{"name":"none"},"value":5})");
  cluster.pass(6s);
  EXPECT_EQ(cluster.phases()["Running"], 1);
  EXPECT_EQ(condition(cluster.get(kApps + "replicasets/web"), "ReplicaFailure"), "");
}

TEST(ReplicaSet, MinReadySecondsDelaysAvailability) {
  Web web(R"("replicas":1,"minReadySeconds":10,)");
  EXPECT_EQ(at(web.get(kWeb), "status.availableReplicas"), nullptr);
  web.pass(10s);
  EXPECT_EQ(int_at(web.get(kWeb), "status.availableReplicas"), 1);
}

TEST(ReplicaSet, AReplicationControllerThatWouldNotFindItsPodsIsRefused) {
  SmallCluster cluster;
  const std::string path = "/api/v1/namespaces/default/replicationcontrollers";
  const JsonValue answer = cluster.post(
      path, R"({"metadata":{"name":"rc"},"spec":{"replicas":3,"selector":{"app":"rc"},)"
            R"("template":{"metadata":{"labels":{"app":"other"}},"spec":{"containers":[{)"
            R"("name":"c","image":"i:1"}]}}}})");
  EXPECT_EQ(text_at(answer, "message"),
            "ReplicationController \"rc\" is invalid: spec.template.metadata.labels: Invalid "
            "value: {\"app\":\"other\"}: `selector` does not match template "
            "`labels`");
  EXPECT_TRUE(cluster.pods().empty());
  cluster.post(path, R"({"metadata":{"name":"rc"},"spec":{"replicas":3,)"
                     R"("template":{"metadata":{"labels":{"app":"other"}},"spec":{"containers":[{)"
                     R"("name":"c","image":"i:1"}]}}}})");
  EXPECT_EQ(cluster.pods().size(), 3U) << "without a selector it is as its template says";
}

TEST(ReplicaSet, AReplicationControllerDoesTheSame) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.post("/api/v1/namespaces/default/replicationcontrollers",
               R"({"metadata":{"name":"rc"},"spec":{"replicas":3,"selector":{"app":"rc"},)"
               R"("template":{"metadata":{"labels":{"app":"rc"}},"spec":{"containers":[{)"
               R"("name":"c","image":"i:1"}]}}}})");
  EXPECT_EQ(cluster.phases()["Running"], 3);
}

}  // namespace
}  // namespace berth::control_plane::testing
