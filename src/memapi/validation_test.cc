#include <gtest/gtest.h>

#include <string>

#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

// What a pod spec has beside its container, and what is wrong with that.
struct PodCase {
  const char* more_spec;
  const char* container;  // more members of the container
  const char* problem;    // empty: it is taken
};

constexpr PodCase kPodCases[] = {
    {R"(,"restartPolicy":"Sometimes")", "",
     R"(spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", )"
     R"("OnFailure", "Never")"},
    {"", R"(,"resources":{"requests":{"cpu":"-1"}})",
     R"(spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or )"
     "equal to 0"},
    {"", R"(,"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}})",
     R"(spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to )"
     "cpu limit of 1"},
    {"", R"(,"resources":{"requests":{"a.b/gpu":"1"}})",
     "spec.containers[0].resources.limits: Required value: Limit must be set for non "
     "overcommitable resources"},
    {"", R"(,"resources":{"limits":{"a.b/gpu":"500m"}})",
     R"([spec.containers[0].resources.limits[a.b/gpu]: Invalid value: "500m": must be an integer, )"
     R"(spec.containers[0].resources.requests[a.b/gpu]: Invalid value: "500m": must be an )"
     "integer]"},
    {"", R"(,"ports":[{"containerPort":70000}])",
     "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and "
     "65535, inclusive"},
    {"", R"(,"ports":[{"name":"web","containerPort":1},{"name":"web","containerPort":2}])",
     R"(spec.containers[0].ports[1].name: Duplicate value: "web")"},
    {"", R"(,"ports":[{"hostPort":9,"containerPort":1},{"hostPort":9,"containerPort":2}])",
     R"(spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//9")"},
    {"", R"(,"volumeMounts":[{"name":"v","mountPath":"/v"}])",
     R"(spec.containers[0].volumeMounts[0].name: Not found: "v")"},
    {R"(,"tolerations":[{"operator":"Equal","value":"x"}])", "",
     R"(spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` )"
     R"(is empty, which means "match all values and all keys")"},
    {R"(,"tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule",)"
     R"("tolerationSeconds":1}])",
     "",
     R"(spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when )"
     "`tolerationSeconds` is set"},
    {R"(,"tolerations":[{"key":"a","operator":"Is"}])", "",
     R"(spec.tolerations[0].operator: Unsupported value: "Is": supported values: "Equal", )"
     R"("Exists")"},
    {R"(,"topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"z",)"
     R"("whenUnsatisfiable":"DoNotSchedule"}])",
     "", "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"},
    {R"(,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":)"
     R"("ScheduleAnyway","minDomains":2}])",
     "",
     "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if "
     "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"},
    {R"(,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)"
     R"({"topologyKey":"z","labelSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}}]}})",
     "",
     "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector."
     "matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
     "'NotIn'"},
    {R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
     R"({"nodeSelectorTerms":[]}}})",
     "",
     "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: "
     "Required value: must have at least one node selector term"},
    {R"(,"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[)"
     R"({"weight":101,"preference":{}}]}})",
     "",
     "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
     "Invalid value: 101: must be in the range 1-100"},
    {R"(,"schedulingGates":[{"name":"a/b"},{"name":"a/b"}])", "",
     R"(spec.schedulingGates[1]: Duplicate value: "a/b")"},
    {R"(,"resourceClaims":[{"name":"c"}])", "",
     R"(spec.resourceClaims[0]: Invalid value: {"Name":"c","ResourceClaimName":null,)"
     R"("ResourceClaimTemplateName":null}: must specify one of: )"
     "`resourceClaimName`, `resourceClaimTemplateName`"},
    {R"(,"volumes":[{"name":"v"},{"name":"v"}])", "",
     R"(spec.volumes[1].name: Duplicate value: "v")"},
    {R"(,"tolerations":[{"operator":"Exists"}],"nodeSelector":{"a":""},"activeDeadlineSeconds":5)",
     R"(,"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1","a.b/gpu":2}})", ""},
};

TEST(Validation, PodsAreRefusedWithTheSentencesOfARealServer) {
  Client client;
  for (const PodCase& test : kPodCases) {
    const std::string body = std::string(R"({"metadata":{"name":"p"},"spec":{"containers":[{)") +
                             R"("name":"c","image":"i")" + test.container + "}]" + test.more_spec +
                             "}}";
    const std::string message = client.message("POST", std::string(kPods) + "?dryRun=All", body);
    const std::string problem = test.problem;
    EXPECT_EQ(client.code, problem.empty() ? 201 : 422) << body;
    EXPECT_EQ(message, problem.empty() ? "" : "Pod \"p\" is invalid: " + problem) << body;
  }
}

struct KindCase {
  const char* target;
  const char* body;
  const char* message;  // empty: it is taken
};

constexpr KindCase kKindCases[] = {
    {"/apis/apps/v1/namespaces/default/deployments",
     R"({"metadata":{"name":"d"},"spec":{"replicas":-1,"selector":{"matchLabels":{"a":"b"}},)"
     R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})",
     "Deployment.apps \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or "
     "equal to 0"},
    {"/apis/apps/v1/namespaces/default/deployments",
     R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"strategy":)"
     R"({"rollingUpdate":{"maxUnavailable":0,"maxSurge":0}},"template":{"metadata":{"labels":)"
     R"({"a":"c"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})",
     "Deployment.apps \"d\" is invalid: [spec.template.metadata.labels: Invalid value: "
     "{\"a\":\"c\"}: `selector` does not match template `labels`, "
     "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: "
     "\"Always\", spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
     "`maxSurge` is 0]"},
    {"/apis/batch/v1/namespaces/default/jobs",
     R"({"metadata":{"name":"j"},"spec":{"completionMode":"Indexed","template":{"spec":)"
     R"({"containers":[{"name":"c","image":"i"}]}}}})",
     "Job.batch \"j\" is invalid: spec.template.spec.restartPolicy: Required value: valid values: "
     "\"OnFailure\", \"Never\""},
    {"/apis/batch/v1/namespaces/default/jobs",
     R"({"metadata":{"name":"j"},"spec":{"backoffLimitPerIndex":1,"template":{"spec":)"
     R"({"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})",
     "Job.batch \"j\" is invalid: spec.backoffLimitPerIndex: Invalid value: 1: requires indexed "
     "completion mode"},
    {"/apis/policy/v1/namespaces/default/poddisruptionbudgets",
     R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,"maxUnavailable":"10%"}})",
     "PodDisruptionBudget.policy \"b\" is invalid: spec: Invalid value: "
     "{\"MinAvailable\":1,\"Selector\":null,\"MaxUnavailable\":\"10%\","
     "\"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot be "
     "both set"},
    {"/apis/scheduling.k8s.io/v1/priorityclasses",
     R"({"metadata":{"name":"high"},"value":1000000001})",
     "PriorityClass.scheduling.k8s.io \"high\" is invalid: value: Forbidden: maximum allowed value "
     "of a user defined priority is 1000000000"},
    {"/api/v1/nodes",
     R"({"metadata":{"name":"n"},"spec":{"taints":[{"key":"a","effect":"Sometimes"}]}})",
     "Node \"n\" is invalid: metadata.taints[0].effect: Unsupported value: \"Sometimes\": "
     "supported "
     "values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""},
    {"/api/v1/namespaces/default/services", R"({"metadata":{"name":"s"},"spec":{}})",
     "Service \"s\" is invalid: spec.ports: Required value"},
    {"/api/v1/namespaces/default/persistentvolumeclaims",
     R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":)"
     R"({"requests":{"storage":"0"}}}})",
     "PersistentVolumeClaim \"c\" is invalid: spec.resources[storage]: Invalid value: \"0\": must "
     "be greater than zero"},
    {"/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"m","labels":{"a b":"c"}}})",
     "ConfigMap \"m\" is invalid: metadata.labels: Invalid value: \"a b\": name part must consist "
     "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
     "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
     "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
};

TEST(Validation, OtherKindsAreRefusedWithTheSentencesOfARealServer) {
  Client client;
  for (const KindCase& test : kKindCases) {
    EXPECT_EQ(client.message("POST", test.target, test.body), test.message);
    EXPECT_EQ(client.code, 422) << test.body;
  }
}

TEST(Validation, WhatIsImmutableStays) {
  Client client;
  const std::string map = "/api/v1/namespaces/default/configmaps";
  client.ask("POST", map, R"({"metadata":{"name":"m"},"immutable":true,"data":{"a":"1"}})");
  EXPECT_EQ(client.message("PATCH", map + "/m", R"({"data":{"a":"2"}})", kMergePatch),
            "ConfigMap \"m\" is invalid: data: Forbidden: field is immutable when `immutable` is "
            "set");
}

}  // namespace
}  // namespace berth::memapi::testing
