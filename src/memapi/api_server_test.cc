#include "memapi/api_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/names.h"
#include "memapi/table_codec.h"
#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

const std::string kPodList(kPods);

struct ErrorCase {
  const char* method;
  const char* target;
  const char* body;
  int code;
  const char* reason;
  const char* message;
};
void PrintTo(const ErrorCase& one, std::ostream* out) { *out << one.method << ' ' << one.target; }

// Texts as kube-apiserver gives them.
class Refusal : public ::testing::TestWithParam<ErrorCase> {};
TEST_P(Refusal, IsAStatusWithTheTextOfARealServer) {
  Client client;
  client.ask("POST", kPodList, pod_json("p"));
  client.ask("POST", kPodList, pod_json("gated", R"(,"schedulingGates":[{"name":"x/y"}])"));
  const ErrorCase& one = GetParam();
  const JsonValue status = client.ask(one.method, one.target, one.body);
  EXPECT_EQ(client.code, one.code);
  EXPECT_EQ(text_at(status, "kind"), "Status");
  EXPECT_EQ(text_at(status, "status"), "Failure");
  EXPECT_EQ(text_at(status, "reason"), one.reason);
  EXPECT_EQ(text_at(status, "message"), one.message);
  EXPECT_EQ(int_at(status, "code"), one.code);
}
INSTANTIATE_TEST_SUITE_P(
    Table, Refusal,
    ::testing::Values(
        ErrorCase{"GET", "/api/v1/namespaces/default/pods/x", "", 404, "NotFound",
                  "pods \"x\" not found"},
        ErrorCase{"DELETE", "/apis/apps/v1/namespaces/default/deployments/x", "", 404, "NotFound",
                  "deployments.apps \"x\" not found"},
        ErrorCase{"GET", "/api/v1/foo", "", 404, "NotFound",
                  "the server could not find the requested resource"},
        ErrorCase{"PATCH", "/api/v1/nodes", "", 405, "MethodNotAllowed",
                  "the server does not allow this method on the requested resource"},
        ErrorCase{"GET", "/api/v1/pods?labelSelector=a%3Db%3Dc", "", 400, "BadRequest",
                  "found '=', expected: ',' or 'end of string'"},
        ErrorCase{"GET", "/api/v1/pods?fieldSelector=spec.foo%3D1", "", 400, "BadRequest",
                  "field label not supported: spec.foo"},
        ErrorCase{"GET", "/api/v1/pods?resourceVersion=abc", "", 400, "BadRequest",
                  "invalid resource version: resourceVersion: Invalid value: \"abc\": "
                  "strconv.ParseUint: parsing \"abc\": invalid syntax"},
        ErrorCase{"GET", "/api/v1/pods?limit=x", "", 400, "BadRequest",
                  "strconv.ParseInt: parsing \"x\": invalid syntax"},
        ErrorCase{"GET", "/api/v1/pods?watch=1&sendInitialEvents=true", "", 422, "Invalid",
                  "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
                  "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
        ErrorCase{"GET", "/api/v1/pods?resourceVersionMatch=Exact", "", 422, "Invalid",
                  "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
                  "resourceVersionMatch is forbidden unless resourceVersion is provided"},
        ErrorCase{"POST", "/api/v1/namespaces/default/pods", "{}", 422, "Invalid",
                  "Pod \"\" is invalid: [metadata.name: Required value: name or generateName is "
                  "required, spec.containers: Required value]"},
        ErrorCase{"POST", "/api/v1/namespaces/nons/configmaps", R"({"metadata":{"name":"a"}})", 404,
                  "NotFound", "namespaces \"nons\" not found"},
        ErrorCase{"POST", "/api/v1/namespaces/default/configmaps",
                  R"({"metadata":{"name":"a","namespace":"b"}})", 400, "BadRequest",
                  "the namespace of the provided object does not match the namespace sent on the "
                  "request"},
        ErrorCase{"POST", "/api/v1/namespaces/default/pods",
                  R"({"metadata":{"name":"g"},"spec":{"priorityClassName":"nope","containers":)"
                  R"([{"name":"c","image":"i"}]}})",
                  403, "Forbidden",
                  "pods \"g\" is forbidden: no PriorityClass with name nope was found"},
        ErrorCase{"POST", "/api/v1/namespaces/default/pods/p/binding",
                  R"({"metadata":{"name":"q"},"target":{"name":"n1"}})", 400, "BadRequest",
                  "name in URL does not match name in Binding object"},
        ErrorCase{"POST", "/api/v1/namespaces/default/pods/zz/binding",
                  R"({"metadata":{"name":"zz"},"target":{"name":"n1"}})", 404, "NotFound",
                  "pods \"zz\" not found"},
        ErrorCase{"POST", "/api/v1/namespaces/default/pods/gated/binding",
                  R"({"metadata":{"name":"gated"},"target":{"name":"n1"}})", 409, "Conflict",
                  "Operation cannot be fulfilled on pods/binding \"gated\": pod gated has "
                  "non-empty .spec.schedulingGates"},
        ErrorCase{"PUT", "/api/v1/namespaces/default/pods/p",
                  R"({"metadata":{"name":"p","resourceVersion":"1"}})", 409, "Conflict",
                  "Operation cannot be fulfilled on pods \"p\": the object has been modified; "
                  "please apply your changes to the latest version and try again"},
        ErrorCase{"PUT", "/api/v1/namespaces/default/pods/p", R"({"metadata":{"name":"z"}})", 400,
                  "BadRequest",
                  "the name of the object (z) does not match the name on the URL (p)"},
        ErrorCase{"PATCH", "/api/v1/namespaces/default/pods/p", "{}", 415, "UnsupportedMediaType",
                  "415: Unsupported Media Type"},
        ErrorCase{"DELETE", "/api/v1/namespaces/kube-system", "", 403, "Forbidden",
                  "namespaces \"kube-system\" is forbidden: this namespace may not be deleted"},
        ErrorCase{"POST", "/api/v1/namespaces/default/configmaps?dryRun=Foo&fieldValidation=x",
                  "{}", 422, "Invalid",
                  "CreateOptions.meta.k8s.io \"\" is invalid: [dryRun: Unsupported value: "
                  "[\"Foo\"]: supported values: \"All\", fieldValidation: Unsupported value: "
                  "\"x\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"]"}));

TEST(ApiServer, ANewPodHasDefaultsAndABeginning) {
  Client client;
  const JsonValue pod = client.ask("POST", kPodList, pod_json("p"));
  EXPECT_EQ(client.code, 201);
  EXPECT_EQ(text_at(pod, "kind"), "Pod");
  EXPECT_EQ(text_at(pod, "metadata.namespace"), "default");
  EXPECT_EQ(int_at(pod, "metadata.generation"), 1);
  EXPECT_EQ(text_at(pod, "metadata.creationTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(text_at(pod, "metadata.uid").size(), 36u);
  EXPECT_EQ(text_at(pod, "spec.schedulerName"), "default-scheduler");
  EXPECT_EQ(int_at(pod, "spec.priority"), 0);
  EXPECT_EQ(text_at(pod, "spec.preemptionPolicy"), "PreemptLowerPriority");
  EXPECT_EQ(items_at(pod, "spec.tolerations").size(), 2u);
  EXPECT_EQ(text_at(items_at(pod, "spec.containers")[0], "imagePullPolicy"), "IfNotPresent");
  EXPECT_EQ(text_at(pod, "status.phase"), "Pending");
  EXPECT_EQ(text_at(pod, "status.qosClass"), "BestEffort");
}

TEST(ApiServer, LimitsBecomeRequestsAndAmountsCanonical) {
  Client client;
  const JsonValue pod = client.ask(
      "POST", kPodList,
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":)"
      R"({"limits":{"cpu":0.5,"memory":"1024Mi"}}}]}})");
  EXPECT_EQ(to_json(*at(items_at(pod, "spec.containers")[0], "resources")),
            R"({"limits":{"cpu":"500m","memory":"1Gi"},"requests":{"cpu":"500m","memory":"1Gi"}})");
  EXPECT_EQ(text_at(pod, "status.qosClass"), "Guaranteed");
}

TEST(ApiServer, PriorityComesFromTheClass) {
  Client client;
  client.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
             R"({"metadata":{"name":"high"},"value":7,"preemptionPolicy":"Never"})");
  const JsonValue pod =
      client.ask("POST", kPodList, pod_json("p", R"(,"priorityClassName":"high")"));
  EXPECT_EQ(int_at(pod, "spec.priority"), 7);
  EXPECT_EQ(text_at(pod, "spec.preemptionPolicy"), "Never");
}

TEST(ApiServer, APodGroupGetsItsPriorityAndDisruptionMode) {
  Client client;
  const std::string groups = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
  client.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
             R"({"metadata":{"name":"high"},"value":7})");
  const auto create = [&](std::string_view name, std::string_view more) {
    return client.ask("POST", groups,
                      fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"schedulingPolicy":)"
                                  R"({{"gang":{{"minCount":2}}}}{}}}}})",
                                  name, more));
  };
  const JsonValue plain = create("plain", "");
  EXPECT_EQ(int_at(plain, "spec.priority"), 0);
  EXPECT_EQ(to_json(*at(plain, "spec.disruptionMode")), R"({"single":{}})");
  EXPECT_EQ(at(plain, "metadata.generation"), nullptr);
  const JsonValue high =
      create("high", R"(,"priorityClassName":"high","disruptionMode":{"all":{}})");
  EXPECT_EQ(int_at(high, "spec.priority"), 7);
  EXPECT_EQ(to_json(*at(high, "spec.disruptionMode")), R"({"all":{}})");
  EXPECT_EQ(text_at(create("wrong", R"(,"priorityClassName":"high","priority":3)"), "message"),
            "podgroups.scheduling.k8s.io \"wrong\" is forbidden: priority set in the pod group (3) "
            "must match the priority computed (7) based on the priority class set in the spec");
}

TEST(ApiServer, ATaintRuleSaysSinceWhenItsEffectHolds) {
  Client client;
  const std::string rules = "/apis/resource.k8s.io/v1/devicetaintrules";
  const JsonValue made = client.ask(
      "POST", rules,
      R"({"metadata":{"name":"r"},"spec":{"deviceSelector":{},"taint":{"key":"k",)"
      R"("effect":"NoSchedule","timeAdded":"2026-01-02T03:04:05Z"}},"status":{"conditions":[]}})");
  EXPECT_EQ(to_json(*at(made, "status")), "{}");
  EXPECT_EQ(int_at(made, "metadata.generation"), 1);
  const std::string rule = rules + "/r";
  const JsonValue same =
      client.ask("PATCH", rule, R"({"spec":{"taint":{"value":"v"}}})", kMergePatch);
  EXPECT_EQ(text_at(same, "spec.taint.timeAdded"), "2026-01-02T03:04:05Z");
  const JsonValue changed =
      client.ask("PATCH", rule, R"({"spec":{"taint":{"effect":"None"}}})", kMergePatch);
  EXPECT_NE(text_at(changed, "spec.taint.timeAdded"), "2026-01-02T03:04:05Z");
  EXPECT_EQ(int_at(changed, "metadata.generation"), 3);
}

TEST(ApiServer, MatchLabelKeysAreMergedIntoSelectors) {
  Client client;
  const JsonValue pod = client.ask(
      "POST", kPodList,
      pod_json("p",
               R"(,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"t","labelSelector":{},)"
               R"("whenUnsatisfiable":"DoNotSchedule","matchLabelKeys":["a","z"]}])",
               R"({"a":"1"})"));
  EXPECT_EQ(to_json(*at(items_at(pod, "spec.topologySpreadConstraints")[0], "labelSelector")),
            R"({"matchExpressions":[{"key":"a","operator":"In","values":["1"]}]})");
}

TEST(ApiServer, UnknownFieldsStay) {
  Client client;
  client.ask("POST", "/api/v1/namespaces/default/configmaps",
             R"({"metadata":{"name":"a"},"novelty":{"x":[1,null]}})");
  const JsonValue found = client.ask("GET", "/api/v1/namespaces/default/configmaps/a");
  EXPECT_EQ(to_json(*at(found, "novelty")), R"({"x":[1,null]})");
}

TEST(ApiServer, ANodeThatIsNotReadyIsTainted) {
  Client client;
  const JsonValue node = client.ask("POST", "/api/v1/nodes",
                                    R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":4}}})");
  EXPECT_EQ(to_json(*at(node, "spec.taints")),
            R"([{"effect":"NoSchedule","key":"node.kubernetes.io/not-ready"}])");
  EXPECT_EQ(text_at(node, "status.allocatable.cpu"), "4");
  ApiServerOptions options;
  options.admission.taint_nodes_by_condition = false;
  Client lenient(options);
  const JsonValue plain = lenient.ask("POST", "/api/v1/nodes", R"({"metadata":{"name":"n"}})");
  EXPECT_EQ(at(plain, "spec.taints"), nullptr);
}

TEST(ApiServer, BindingAssignsOnce) {
  Client client;
  client.ask("POST", kPodList, pod_json("p"));
  const std::string binding =
      R"({"metadata":{"name":"p","annotations":{"a":"b"}},"target":{"kind":"Node","name":"n1"}})";
  const JsonValue status = client.ask("POST", kPodList + "/p/binding", binding);
  EXPECT_EQ(client.code, 201);
  EXPECT_EQ(to_json(status),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})");
  const JsonValue pod = client.ask("GET", kPodList + "/p");
  EXPECT_EQ(text_at(pod, "spec.nodeName"), "n1");
  EXPECT_EQ(text_at(pod, "metadata.annotations.a"), "b");
  EXPECT_EQ(text_at(items_at(pod, "status.conditions")[0], "status"), "True");
  EXPECT_EQ(client.message("POST", "/api/v1/namespaces/default/bindings", binding),
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to "
            "node \"n1\"");
  EXPECT_EQ(client.code, 409);
}

TEST(ApiServer, StatusAndSpecAreWrittenApart) {
  Client client;
  client.ask("POST", kPodList, pod_json("p"));
  client.ask("PATCH", kPodList + "/p/status",
             R"({"spec":{"schedulerName":"x"},"status":{"nominatedNodeName":"n1"}})",
             "application/strategic-merge-patch+json");
  EXPECT_EQ(client.code, 200);
  client.ask("PATCH", kPodList + "/p",
             R"({"metadata":{"labels":{"l":"1"}},"status":{"phase":"Running"}})", kMergePatch);
  const JsonValue pod = client.ask("GET", kPodList + "/p");
  EXPECT_EQ(text_at(pod, "spec.schedulerName"), "default-scheduler");
  EXPECT_EQ(text_at(pod, "status.nominatedNodeName"), "n1");
  EXPECT_EQ(text_at(pod, "status.phase"), "Pending");
  EXPECT_EQ(text_at(pod, "metadata.labels.l"), "1");
}

TEST(ApiServer, WhatIsTheSameIsNotWritten) {
  Client client;
  client.ask("POST", kPodList, pod_json("p"));
  const std::uint64_t before = client.server.version();
  client.ask("PATCH", kPodList + "/p", R"({"metadata":{"labels":{}}})", kMergePatch);
  EXPECT_EQ(client.server.version(), before);
}

TEST(ApiServer, APodsSpecHardlyChanges) {
  Client client;
  client.ask("POST", kPodList, pod_json("p", R"(,"schedulingGates":[{"name":"x/y"}])"));
  EXPECT_THAT(
      client.message("PATCH", kPodList + "/p", R"({"spec":{"nodeName":"x"}})", kMergePatch),
      HasSubstr("Pod \"p\" is invalid: spec: Forbidden: pod updates may not change fields"));
  EXPECT_EQ(client.code, 422);
  EXPECT_THAT(client.message("PATCH", kPodList + "/p",
                             R"({"spec":{"schedulingGates":[{"name":"new/one"}]}})",
                             "application/strategic-merge-patch+json"),
              HasSubstr("only deletion is allowed, but found new scheduling gate 'new/one'"));
  const JsonValue freed =
      client.ask("PATCH", kPodList + "/p", R"({"spec":{"schedulingGates":null}})", kMergePatch);
  EXPECT_EQ(client.code, 200);
  EXPECT_EQ(at(freed, "spec.schedulingGates"), nullptr);
  EXPECT_EQ(int_at(freed, "metadata.generation"), 2);
}

TEST(ApiServer, PodsDieInTheirTime) {
  Client client;
  client.ask("POST", kPodList, pod_json("p"));
  client.ask("POST", kPodList + "/p/binding",
             R"({"metadata":{"name":"p"},"target":{"name":"n1"}})");
  const JsonValue dying = client.ask("DELETE", kPodList + "/p");
  EXPECT_EQ(text_at(dying, "metadata.deletionTimestamp"), "2026-01-01T00:00:30Z");
  EXPECT_EQ(int_at(dying, "metadata.deletionGracePeriodSeconds"), 30);
  EXPECT_EQ(int_at(dying, "metadata.generation"), 2);
  client.ask("DELETE", kPodList + "/p");
  EXPECT_EQ(client.code, 200);
  client.ask("DELETE", kPodList + "/p", R"({"gracePeriodSeconds":0})");
  client.ask("GET", kPodList + "/p");
  EXPECT_EQ(client.code, 404);
  client.ask("POST", kPodList, pod_json("unbound"));
  client.ask("DELETE", kPodList + "/unbound");
  client.ask("GET", kPodList + "/unbound");
  EXPECT_EQ(client.code, 404);
}

TEST(ApiServer, FinalizersKeepAnObjectUntilTheyAreGone) {
  Client client;
  const std::string path = "/api/v1/namespaces/default/configmaps";
  client.ask("POST", path, R"({"metadata":{"name":"a","finalizers":["f/x"]}})");
  const JsonValue kept = client.ask("DELETE", path + "/a");
  EXPECT_NE(at(kept, "metadata.deletionTimestamp"), nullptr);
  client.ask("PATCH", path + "/a", R"({"metadata":{"finalizers":null}})", kMergePatch);
  EXPECT_EQ(client.code, 200);
  client.ask("GET", path + "/a");
  EXPECT_EQ(client.code, 404);
}

TEST(ApiServer, PreconditionsOfADeletion) {
  Client client;
  client.ask("POST", kPodList, pod_json("p"));
  EXPECT_THAT(client.message("DELETE", kPodList + "/p", R"({"preconditions":{"uid":"abc"}})"),
              HasSubstr("Operation cannot be fulfilled on Pod \"p\": the UID in the precondition "
                        "(abc) does not match the UID in record ("));
  EXPECT_EQ(client.code, 409);
}

TEST(ApiServer, ANamespaceTakesItsContentWithIt) {
  Client client;
  client.ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":"t"}})");
  client.ask("POST", "/api/v1/namespaces/t/configmaps",
             R"({"metadata":{"name":"a","finalizers":["f/x"]}})");
  client.ask("POST", "/api/v1/namespaces/t/pods", pod_json("p"));
  client.ask("DELETE", "/api/v1/namespaces/t");
  client.ask("GET", "/api/v1/namespaces/t/pods/p");
  EXPECT_EQ(client.code, 404);
  EXPECT_EQ(
      client.message("POST", "/api/v1/namespaces/t/configmaps", R"({"metadata":{"name":"b"}})"),
      "configmaps \"b\" is forbidden: unable to create new content in namespace t because it "
      "is being terminated");
  EXPECT_EQ(text_at(client.ask("GET", "/api/v1/namespaces/t"), "status.phase"), "Terminating");
  client.ask("PATCH", "/api/v1/namespaces/t/configmaps/a", R"({"metadata":{"finalizers":[]}})",
             kMergePatch);
  client.ask("GET", "/api/v1/namespaces/t");
  EXPECT_EQ(client.code, 404);
}

TEST(ApiServer, PagesAreOneSnapshot) {
  Client client;
  for (const char* name : {"a", "b", "c"}) client.ask("POST", kPodList, pod_json(name));
  const JsonValue first = client.ask("GET", kPodList + "?limit=1");
  EXPECT_EQ(int_at(first, "metadata.remainingItemCount"), 2);
  EXPECT_EQ(at(items_at(first, "items")[0], "kind"), nullptr);
  client.ask("DELETE", kPodList + "/b");
  client.ask("POST", kPodList, pod_json("bb"));
  const JsonValue rest =
      client.ask("GET", kPodList + "?continue=" + std::string(text_at(first, "metadata.continue")));
  std::vector<std::string> names;
  for (const JsonValue& pod : items_at(rest, "items"))
    names.emplace_back(text_at(pod, "metadata.name"));
  EXPECT_THAT(names, ElementsAre("b", "c"));
  EXPECT_EQ(text_at(rest, "metadata.resourceVersion"), text_at(first, "metadata.resourceVersion"));
}

TEST(ApiServer, APageOfAnotherNamespaceIsEmpty) {
  Client client;
  for (const char* name : {"a", "b"}) client.ask("POST", kPodList, pod_json(name));
  const JsonValue first = client.ask("GET", kPodList + "?limit=1");
  const JsonValue other = client.ask("GET", "/api/v1/namespaces/aaa/pods?continue=" +
                                                std::string(text_at(first, "metadata.continue")));
  EXPECT_EQ(client.code, 200);
  EXPECT_TRUE(items_at(other, "items").empty());
}

TEST(ApiServer, APageThatIsTooOldIsGone) {
  ApiServerOptions options;
  options.limits.history_bytes = 1;
  Client client(options);
  for (const char* name : {"a", "b"}) client.ask("POST", kPodList, pod_json(name));
  const JsonValue first = client.ask("GET", kPodList + "?limit=1");
  for (const char* name : {"c", "d", "e"}) client.ask("POST", kPodList, pod_json(name));
  const JsonValue gone =
      client.ask("GET", kPodList + "?continue=" + std::string(text_at(first, "metadata.continue")));
  EXPECT_EQ(client.code, 410);
  EXPECT_EQ(text_at(gone, "reason"), "Expired");
}

TEST(ApiServer, EventsHaveTwoViews) {
  Client client;
  client.ask("POST", "/apis/events.k8s.io/v1/namespaces/default/events",
             R"({"metadata":{"name":"e"},"note":"said","regarding":{"name":"p","kind":"Pod"},)"
             R"("reportingController":"s","reason":"Scheduled","type":"Normal"})");
  const JsonValue list =
      client.ask("GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp");
  ASSERT_EQ(items_at(list, "items").size(), 1u);
  EXPECT_EQ(text_at(items_at(list, "items")[0], "message"), "said");
  const JsonValue event = client.ask("GET", "/apis/events.k8s.io/v1/namespaces/default/events/e");
  EXPECT_EQ(text_at(event, "note"), "said");
  EXPECT_EQ(text_at(event, "apiVersion"), "events.k8s.io/v1");
}

TEST(ApiServer, EvictionAsksTheBudget) {
  Client client;
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  client.ask("POST", kPodList, pod_json("p", "", R"({"a":"b"})"));
  client.ask("POST", kPodList + "/p/binding",
             R"({"metadata":{"name":"p"},"target":{"name":"n1"}})");
  client.ask("PATCH", kPodList + "/p/status",
             R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
             "application/strategic-merge-patch+json");
  client.ask("POST", budgets,
             R"({"metadata":{"name":"b"},"spec":{"selector":{"matchLabels":{"a":"b"}}}})");
  client.ask("PATCH", budgets + "/b/status",
             R"({"status":{"observedGeneration":1,"desiredHealthy":1,"currentHealthy":1}})",
             kMergePatch);
  const std::string eviction = R"({"metadata":{"name":"p"}})";
  const JsonValue refused = client.ask("POST", kPodList + "/p/eviction", eviction);
  EXPECT_EQ(client.code, 429);
  EXPECT_EQ(text_at(refused, "message"),
            "Cannot evict pod as it would violate the pod's disruption budget.");
  client.ask("PATCH", budgets + "/b/status", R"({"status":{"disruptionsAllowed":1}})", kMergePatch);
  client.ask("POST", kPodList + "/p/eviction", eviction);
  EXPECT_EQ(client.code, 201);
  EXPECT_NE(at(client.ask("GET", kPodList + "/p"), "metadata.deletionTimestamp"), nullptr);
  EXPECT_EQ(int_at(client.ask("GET", budgets + "/b"), "status.disruptionsAllowed"), 0);
}

TEST(ApiServer, APodThatIsNotReadyIsEvictedAsTheBudgetSays) {
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const auto evict = [&](const char* policy, int healthy) {
    Client client;
    client.ask("POST", kPodList, pod_json("p", "", R"({"a":"b"})"));
    client.ask("PATCH", kPodList + "/p/status", R"({"status":{"phase":"Running"}})", kMergePatch);
    client.ask("POST", budgets,
               fmt::format(R"({{"metadata":{{"name":"b"}},"spec":{{"selector":{{"matchLabels":)"
                           R"({{"a":"b"}}}}{}}}}})",
                           policy));
    client.ask("PATCH", budgets + "/b/status",
               fmt::format(R"({{"status":{{"observedGeneration":1,"desiredHealthy":2,)"
                           R"("currentHealthy":{}}}}})",
                           healthy),
               kMergePatch);
    client.ask("POST", kPodList + "/p/eviction", R"({"metadata":{"name":"p"}})");
    return client.code;
  };
  EXPECT_EQ(evict("", 0), 429);
  EXPECT_EQ(evict("", 2), 201);
  EXPECT_EQ(evict(R"(,"unhealthyPodEvictionPolicy":"IfHealthyBudget")", 1), 429);
  EXPECT_EQ(evict(R"(,"unhealthyPodEvictionPolicy":"AlwaysAllow")", 0), 201);
}

TEST(ApiServer, TablesForKubectl) {
  Client client;
  client.ask("POST", kPodList, pod_json("p", R"(,"schedulingGates":[{"name":"x/y"}])"));
  client.loop.run_until(TimePoint{std::chrono::seconds(137)});
  const JsonValue table =
      client.ask("GET", kPodList, "", "application/json",
                 "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  EXPECT_EQ(text_at(table, "kind"), "Table");
  EXPECT_EQ(to_json(*at(items_at(table, "rows")[0], "cells")),
            R"(["p","0/1","SchedulingGated","0","2m17s","<none>","<none>","<none>","<none>"])");
  EXPECT_EQ(text_at(items_at(table, "rows")[0], "object.kind"), "PartialObjectMetadata");
  EXPECT_EQ(items_at(table, "columnDefinitions").size(), 9u);
}

TEST(ApiServer, DryRunStoresNothing) {
  Client client;
  client.ask("POST", kPodList + "?dryRun=All", pod_json("p"));
  EXPECT_EQ(client.code, 201);
  client.ask("GET", kPodList + "/p");
  EXPECT_EQ(client.code, 404);
}

TEST(ApiServer, NamesAreGenerated) {
  Client client;
  const JsonValue made = client.ask("POST", "/api/v1/namespaces/default/configmaps",
                                    R"({"metadata":{"generateName":"g-"}})");
  EXPECT_THAT(std::string(text_at(made, "metadata.name")),
              ::testing::MatchesRegex("g-[bcdfghjklmnpqrstvwxz2456789]{5}"));
}

TEST(ApiServer, DiscoveryBothWays) {
  Client client;
  const auto aggregated = client.send(
      "GET", "/apis?timeout=32s", "", "",
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json");
  EXPECT_EQ(aggregated->response.headers.find("Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(text_at(client.ask("GET", "/api"), "kind"), "APIVersions");
  EXPECT_EQ(text_at(client.ask("GET", "/apis"), "kind"), "APIGroupList");
  EXPECT_EQ(text_at(client.ask("GET", "/apis/apps/v1"), "groupVersion"), "apps/v1");
  EXPECT_EQ(text_at(client.ask("GET", "/version"), "gitVersion"), "v1.37.1");
  EXPECT_NE(at(client.ask("GET", "/openapi/v3"), "paths"), nullptr);
  EXPECT_EQ(client.send("GET", "/nope")->response.body, "404 page not found\n");
}

TEST(ApiServer, ScaleChangesReplicas) {
  Client client;
  const std::string path = "/apis/apps/v1/namespaces/default/deployments";
  client.ask(
      "POST", path,
      R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":)"
      R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(client.code, 201);
  const JsonValue scale =
      client.ask("PATCH", path + "/d/scale", R"({"spec":{"replicas":3}})", kMergePatch);
  EXPECT_EQ(text_at(scale, "kind"), "Scale");
  const JsonValue deployment = client.ask("GET", path + "/d");
  EXPECT_EQ(int_at(deployment, "spec.replicas"), 3);
  EXPECT_EQ(int_at(deployment, "metadata.generation"), 2);
}

TEST(ApiServer, ATokenIsAskedFor) {
  ApiServerOptions options;
  options.token = "secret";
  Client client(options);
  EXPECT_EQ(client.send("GET", "/readyz")->response.status, 200);
  EXPECT_EQ(client.message("GET", "/api/v1/pods"), "Unauthorized");
  EXPECT_EQ(client.code, 401);
}

TEST(ApiServer, ProtobufWithoutACodecIsRefused) {
  Client client;
  client.ask("POST", kPodList, "k8s", "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(client.code, 415);
  client.ask("GET", kPodList, "", "", "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(client.code, 406);
}

TEST(ApiServer, ProtobufBothWays) {
  const TableCodec codec;
  ApiServerOptions options;
  options.protobuf = &codec;
  Client client(options);
  const std::string type = "application/vnd.kubernetes.protobuf";
  client.send("POST", kPodList, codec.to_protobuf(pod_json("p")).value(), type);
  const auto watch = client.send("GET", "/api/v1/pods?watch=1", "", "", type);
  const auto found = client.send("GET", kPodList + "/p", "", "", type + ",application/json");
  EXPECT_EQ(found->response.headers.find("Content-Type"), type);
  const JsonValue pod = parse_json(codec.to_json(found->response.body).value()).value();
  EXPECT_EQ(text_at(pod, "kind"), "Pod");
  EXPECT_EQ(text_at(pod, "metadata.name"), "p");
  // Four bytes of length, then a WatchEvent whose object has an envelope of its own.
  ASSERT_EQ(watch->chunks.size(), 1u);
  const std::string& frame = watch->chunks[0];
  EXPECT_EQ(static_cast<std::size_t>(static_cast<unsigned char>(frame[2])) * 256 +
                static_cast<unsigned char>(frame[3]),
            frame.size() - 4);
  EXPECT_EQ(frame.substr(4, 7), std::string("\x0a\x05") + "ADDED");
  EXPECT_THAT(frame, HasSubstr("k8s"));
}

TEST(ApiServer, SavesAndLoads) {
  Client client;
  client.ask("POST", kPodList, pod_json("p"));
  const std::string saved = client.server.save();
  Client other;
  ASSERT_TRUE(other.server.load(saved).has_value());
  EXPECT_EQ(text_at(other.ask("GET", kPodList + "/p"), "metadata.uid"),
            text_at(client.ask("GET", kPodList + "/p"), "metadata.uid"));
  EXPECT_GE(other.server.version(), client.server.version());
  EXPECT_FALSE(other.server.load("[]").has_value());
  // Versions, too, where there is nothing newer.
  for (int i = 0; i < 20; ++i)
    client.ask("PATCH", kPodList + "/p",
               R"({"metadata":{"labels":{"a":")" + std::to_string(i) + "\"}}}", kMergePatch);
  Client third;
  ASSERT_TRUE(third.server.load(client.server.save()).has_value());
  EXPECT_EQ(text_at(third.ask("GET", kPodList + "/p"), "metadata.resourceVersion"),
            text_at(client.ask("GET", kPodList + "/p"), "metadata.resourceVersion"));
  EXPECT_EQ(third.server.version(), client.server.version());
}

TEST(ApiServer, ReviewsAllowEverything) {
  Client client;
  const JsonValue review = client.ask("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                      R"({"spec":{"user":"x","resourceAttributes":)"
                                      R"({"verb":"get","resource":"pods"}}})");
  EXPECT_EQ(client.code, 201);
  EXPECT_TRUE(true_at(review, "status.allowed"));
}

}  // namespace
}  // namespace berth::memapi::testing
