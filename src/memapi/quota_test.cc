// ResourceQuotas at the door. Texts as kube-apiserver gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

const std::string kSpace = "/api/v1/namespaces/default";
const std::string kQuotas = kSpace + "/resourcequotas";

std::string pod_asking(std::string_view name, std::string_view resources,
                       std::string_view more = "") {
  return R"({"metadata":{"name":")" + std::string(name) +
         R"("},"spec":{"containers":[{"name":"c","image":"i","resources":)" +
         std::string(resources) + "}]" + std::string(more) + "}}";
}

struct QuotaTest : public ::testing::Test {
  void add_quota(std::string_view name, std::string_view spec) {
    client.ask(
        "POST", kQuotas,
        R"({"metadata":{"name":")" + std::string(name) + R"("},"spec":)" + std::string(spec) + "}");
    ASSERT_EQ(client.code, 201);
    client.server.local().recount_quota("default", name);
  }
  std::string used(const std::string& quota, std::string_view name) {
    const JsonValue object = client.ask("GET", kQuotas + "/" + quota);
    const JsonValue* all = at(object, "status.used");
    const JsonValue* found = all != nullptr ? all->find(name) : nullptr;
    return found != nullptr ? found->text : "unknown";
  }
  Client client;
};

TEST_F(QuotaTest, ChargesWhatIsMadeAndRefusesWhatIsTooMuch) {
  add_quota("small", R"({"hard":{"pods":"2","requests.cpu":"1","limits.memory":"1Gi"}})");
  const std::string half = R"({"requests":{"cpu":"500m"},"limits":{"cpu":"1","memory":"256Mi"}})";
  client.ask("POST", std::string(kPods), pod_asking("a", half));
  EXPECT_EQ(client.code, 201);
  EXPECT_EQ(used("small", "requests.cpu"), "500m");
  EXPECT_EQ(used("small", "limits.memory"), "256Mi");
  EXPECT_EQ(
      client.message("POST", std::string(kPods),
                     pod_asking("b", R"({"requests":{"cpu":"600m"},"limits":{"memory":"1Gi"}})")),
      "pods \"b\" is forbidden: exceeded quota: small, requested: "
      "limits.memory=1Gi,requests.cpu=600m, used: limits.memory=256Mi,requests.cpu=500m, "
      "limited: limits.memory=1Gi,requests.cpu=1");
  EXPECT_EQ(client.code, 403);
  EXPECT_EQ(used("small", "pods"), "1");
  client.ask("POST", std::string(kPods) + "?dryRun=All", pod_asking("b", half));
  EXPECT_EQ(client.code, 201);
  EXPECT_EQ(used("small", "pods"), "1");
  client.ask("POST", std::string(kPods), pod_asking("b", half));
  EXPECT_EQ(client.message("POST", std::string(kPods) + "?dryRun=All", pod_asking("c", half)),
            "pods \"c\" is forbidden: exceeded quota: small, requested: "
            "pods=1,requests.cpu=500m, used: pods=2,requests.cpu=1, limited: "
            "pods=2,requests.cpu=1");
}

TEST_F(QuotaTest, WantsPodsToSayWhatItLimits) {
  add_quota("cpu", R"({"hard":{"limits.cpu":"1","requests.memory":"1Gi"}})");
  EXPECT_EQ(
      client.message("POST", std::string(kPods),
                     pod_asking("p", "{}", R"(,"initContainers":[{"name":"a","image":"i"}])")),
      "pods \"p\" is forbidden: failed quota: cpu: must specify limits.cpu for: a,c; "
      "requests.memory for: a,c");
}

TEST_F(QuotaTest, CountsObjectsOfEveryKind) {
  add_quota("many", R"({"hard":{"configmaps":"1","count/deployments.apps":"1","services":"2",)"
                    R"("services.nodeports":"1"}})");
  client.ask("POST", kConfigMaps, R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(client.message("POST", kConfigMaps, R"({"metadata":{"name":"b"}})"),
            "configmaps \"b\" is forbidden: exceeded quota: many, requested: configmaps=1, used: "
            "configmaps=1, limited: configmaps=1");
  const std::string services = kSpace + "/services";
  client.ask("POST", services, R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})");
  EXPECT_EQ(used("many", "services.nodeports"), "0");
  client.ask("PATCH", services + "/s", R"({"spec":{"type":"NodePort"}})", kMergePatch);
  EXPECT_EQ(used("many", "services.nodeports"), "1");
  EXPECT_EQ(used("many", "services"), "1");
  EXPECT_EQ(client.message("POST", services,
                           R"({"metadata":{"name":"t"},"spec":{"type":"NodePort","ports":[)"
                           R"({"port":80}]}})"),
            "services \"t\" is forbidden: exceeded quota: many, requested: services.nodeports=1, "
            "used: services.nodeports=1, limited: services.nodeports=1");
}

TEST_F(QuotaTest, ChargesClaimsByTheirClass) {
  add_quota("disk", R"({"hard":{"requests.storage":"3Gi",)"
                    R"("gold.storageclass.storage.k8s.io/persistentvolumeclaims":"1"}})");
  const auto claim = [](std::string_view name, std::string_view kind) {
    return R"({"metadata":{"name":")" + std::string(name) +
           R"("},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":")" +
           std::string(kind) + R"(","resources":{"requests":{"storage":"1Gi"}}}})";
  };
  const std::string claims = kSpace + "/persistentvolumeclaims";
  client.ask("POST", claims, claim("a", "gold"));
  client.ask("POST", claims, claim("b", "tin"));
  EXPECT_EQ(used("disk", "requests.storage"), "2Gi");
  client.ask("POST", claims, claim("c", "gold"));
  EXPECT_EQ(client.code, 403);
}

TEST_F(QuotaTest, LooksOnlyAtPodsInItsScopes) {
  add_quota("idle", R"({"hard":{"pods":"0"},"scopes":["BestEffort"]})");
  add_quota("jobs", R"({"hard":{"pods":"0"},"scopes":["Terminating"]})");
  add_quota("high", R"({"hard":{"pods":"0"},"scopeSelector":{"matchExpressions":[{"scopeName":)"
                    R"("PriorityClass","operator":"In","values":["system-node-critical"]}]}})");
  const std::string asking = R"({"requests":{"cpu":"1"}})";
  const auto refused_by = [&](const std::string& pod) {
    const std::string why = client.message("POST", std::string(kPods) + "?dryRun=All", pod);
    for (const char* name : {"idle", "jobs", "high"})
      if (why.contains(std::string("exceeded quota: ") + name)) return std::string(name);
    return std::string("none");
  };
  EXPECT_EQ(refused_by(pod_asking("p", "{}")), "idle");
  EXPECT_EQ(refused_by(pod_asking("p", asking)), "none");
  EXPECT_EQ(refused_by(pod_asking("p", asking, R"(,"activeDeadlineSeconds":1)")), "jobs");
  EXPECT_EQ(refused_by(pod_asking("p", asking, R"(,"priorityClassName":"system-node-critical")")),
            "high");
}

TEST_F(QuotaTest, CountsOnlyPodsThatHaveNotEndedAsCompute) {
  client.ask("POST", std::string(kPods), pod_asking("p", R"({"requests":{"cpu":"1"}})"));
  client.ask("PATCH", std::string(kPods) + "/p/status", R"({"status":{"phase":"Succeeded"}})",
             kMergePatch);
  add_quota("q", R"({"hard":{"cpu":"2","pods":"2","count/pods":"2"}})");
  EXPECT_EQ(used("q", "cpu"), "0");
  EXPECT_EQ(used("q", "pods"), "0");
  EXPECT_EQ(used("q", "count/pods"), "1");
}

TEST_F(QuotaTest, RefusesLimitsAndScopesThatDoNotGoTogether) {
  const auto why = [&](std::string_view spec) {
    return client.message("POST", kQuotas,
                          R"({"metadata":{"name":"q"},"spec":)" + std::string(spec) + "}");
  };
  constexpr std::string_view kWrong = "ResourceQuota \"q\" is invalid: ";
  EXPECT_EQ(
      why(R"({"hard":{"pod":"1"}})"),
      std::string(kWrong) +
          "[spec.hard[pod]: Invalid value: \"pod\": must be a standard resource type or fully "
          "qualified, spec.hard[pod]: Invalid value: \"pod\": must be a standard resource for "
          "quota]");
  EXPECT_EQ(why(R"({"hard":{"pods":"500m"}})"),
            std::string(kWrong) + "spec.hard[pods]: Invalid value: \"500m\": must be an integer");
  EXPECT_EQ(why(R"({"hard":{"cpu":"1"},"scopes":["BestEffort"]})"),
            std::string(kWrong) +
                "spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope "
                "applied to resource");
  EXPECT_EQ(why(R"({"hard":{"pods":"1"},"scopes":["BestEffort","NotBestEffort"]})"),
            std::string(kWrong) +
                "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting "
                "scopes");
}

}  // namespace
}  // namespace berth::memapi::testing
