#include "control_plane/resource_quotas.h"

#include <gtest/gtest.h>

#include "control_plane/testing/small_cluster.h"

namespace berth::control_plane::testing {
namespace {

const std::string kQuotas = "/api/v1/namespaces/default/resourcequotas";
const std::string kConfigMapsPath = "/api/v1/namespaces/default/configmaps";

std::string used(SmallCluster& cluster, std::string_view name) {
  const JsonValue quota = cluster.get(kQuotas + "/q");
  const JsonValue* all = at(quota, "status.used");
  const JsonValue* found = all != nullptr ? all->find(name) : nullptr;
  return found != nullptr ? found->text : "unknown";
}

TEST(ResourceQuotas, CountWhatThereIsAndWhatGoes) {
  SmallCluster cluster;
  cluster.post(kConfigMapsPath, R"({"metadata":{"name":"a"}})");
  cluster.post(kQuotas, R"({"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"3"}}})");
  EXPECT_EQ(used(cluster, "configmaps"), "2");  // and the certificate's
  cluster.remove(kConfigMapsPath + "/a");
  EXPECT_EQ(used(cluster, "configmaps"), "1");
  cluster.merge(kQuotas + "/q", R"({"spec":{"hard":{"secrets":"5"}}})");
  EXPECT_EQ(used(cluster, "secrets"), "0");
}

TEST(ResourceQuotas, LetAWorkloadHaveNoMorePodsThanTheyAllow) {
  SmallCluster cluster;
  cluster.add_node("n");
  cluster.post(kQuotas, R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"2"}}})");
  cluster.post("/apis/apps/v1/namespaces/default/replicasets",
               workload_json("web", R"("replicas":3,)"));
  EXPECT_EQ(cluster.pods().size(), 2u);
  cluster.merge(kQuotas + "/q", R"({"spec":{"hard":{"pods":"3"}}})");
  cluster.pass(std::chrono::minutes(1));
  EXPECT_EQ(cluster.pods().size(), 3u);
  EXPECT_EQ(used(cluster, "pods"), "3");
}

TEST(ResourceQuotas, GivePodsThatEndBack) {
  SmallCluster cluster;
  cluster.add_node("n");
  cluster.post(kQuotas, R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"1"}}})");
  cluster.post(std::string(kPods),
               R"({"metadata":{"name":"p","annotations":{"berth/run-for":"2s"}},)"
               R"("spec":{"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(used(cluster, "pods"), "1");
  cluster.pass(std::chrono::seconds(3));
  EXPECT_EQ(used(cluster, "pods"), "0");
}

TEST(ResourceQuotas, CountObjectsOfDefinedKinds) {
  SmallCluster cluster;
  cluster.post(
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      R"({"metadata":{"name":"tools.x.io"},"spec":{"group":"x.io","scope":"Namespaced",)"
      R"("names":{"plural":"tools","kind":"Tool"},"versions":[{"name":"v1",)"
      R"("served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  cluster.post(kQuotas, R"({"metadata":{"name":"q"},"spec":{"hard":{"count/tools.x.io":"1"}}})");
  const std::string tools = "/apis/x.io/v1/namespaces/default/tools";
  const std::string tool = R"({"apiVersion":"x.io/v1","kind":"Tool","metadata":{"name":")";
  cluster.post(tools, tool + "a\"}}");
  cluster.post(tools, tool + "b\"}}");
  EXPECT_EQ(cluster.code, 403);
  cluster.remove(tools + "/a");
  EXPECT_EQ(used(cluster, "count/tools.x.io"), "0");
}

}  // namespace
}  // namespace berth::control_plane::testing
