#include "control_plane/workloads.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "control_plane/testing/small_cluster.h"

namespace berth::control_plane::testing {
namespace {

using Names = std::vector<std::string>;

const std::string kAppsPath = "/apis/apps/v1/namespaces/default/";
const std::string kJobs = "/apis/batch/v1/namespaces/default/jobs";
const std::string kPodsPath = "/api/v1/namespaces/default/pods/";

bool has_condition(const JsonValue& object, std::string_view type) {
  for (const JsonValue& one : items_at(object, "status.conditions"))
    if (text_at(one, "type") == type && text_at(one, "status") == "True") return true;
  return false;
}

TEST(Workloads, ControllersAreChosenByWords) {
  EXPECT_EQ(choose_controllers(Names{"*"}).value().size(), controller_names().size());
  EXPECT_EQ(choose_controllers(Names{"*", "-node-agent"}).value().size(),
            controller_names().size() - 1);
  EXPECT_EQ(choose_controllers(Names{"job-controller"}).value(), Names{"job-controller"});
  EXPECT_EQ(choose_controllers(Names{}).value(), Names{});
  EXPECT_EQ(choose_controllers(Names{"nobody"}).error().message,
            "\"nobody\" is not in the list of known controllers");
}

// ---- Job

std::string job_json(std::string_view spec, std::string_view template_spec = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"sum"}},"spec":{{{0}"template":{{"spec":{{"restartPolicy":"Never",{1})"
      R"("containers":[{{"name":"c","image":"i:1"}}]}}}}}}}})",
      spec, template_spec);
}

TEST(Job, IsCompleteWhenEnoughPodsHaveSucceeded) {
  SmallCluster cluster({"*"}, {.job_time = 5s});
  cluster.add_node("n1");
  cluster.post(kJobs, job_json(R"("completions":5,"parallelism":2,)"));
  EXPECT_EQ(cluster.phases()["Running"], 2);
  EXPECT_EQ(int_at(cluster.get(kJobs + "/sum"), "status.active"), 2);
  cluster.pass(20s);
  const JsonValue job = cluster.get(kJobs + "/sum");
  EXPECT_TRUE(has_condition(job, "Complete"));
  EXPECT_EQ(int_at(job, "status.succeeded"), 5);
  EXPECT_EQ(cluster.phases()["Succeeded"], 5);
  EXPECT_FALSE(text_at(job, "status.completionTime").empty());
}

TEST(Job, WithoutCompletionsIsCompleteWhenOnePodHasSucceededAndAllHaveEnded) {
  SmallCluster cluster({"*"}, {.job_time = 5s});
  cluster.add_node("n1");
  const JsonValue posted = cluster.post(kJobs, job_json(R"("parallelism":3,)"));
  EXPECT_EQ(at(posted, "spec.completions"), nullptr);
  EXPECT_EQ(cluster.phases()["Running"], 3);
  cluster.pass(20s);
  EXPECT_TRUE(has_condition(cluster.get(kJobs + "/sum"), "Complete"));
  EXPECT_EQ(cluster.phases()["Succeeded"], 3);
  const JsonValue plain = cluster.post(
      kJobs, R"({"metadata":{"name":"one"},"spec":{"template":{"spec":{"restartPolicy":"Never",)"
             R"("containers":[{"name":"c","image":"i:1"}]}}}})");
  EXPECT_EQ(int_at(plain, "spec.completions"), 1);
}

TEST(Job, IndexesThatItCannotHaveAreNotDone) {
  SmallCluster cluster({"*", "-job-controller"});
  cluster.post(kJobs, job_json(R"("completions":4,"completionMode":"Indexed",)"));
  cluster.merge(kJobs + "/sum/status", R"({"status":{"completedIndexes":"2-9999999999"}})");
  cluster.controllers = nullptr;
  cluster.controllers = std::make_unique<Controllers>(
      cluster.api(), choose_controllers(Names{"job-controller"}).value(), NodeAgentOptions{});
  cluster.settle();
  EXPECT_EQ(text_at(cluster.get(kJobs + "/sum"), "status.completedIndexes"), "2-3");
  EXPECT_EQ(int_at(cluster.get(kJobs + "/sum"), "status.succeeded"), 2);
}

TEST(Job, FailsWhenTooManyPodsFail) {
  SmallCluster cluster;
  cluster.add_node("n1");
  std::string json = job_json(R"("backoffLimit":2,)");
  json.replace(json.find(R"({"spec":{"restartPolicy")"), 1,
               R"({"metadata":{"annotations":{"berth/fail-after":"1s"}},)");
  cluster.post(kJobs, json);
  cluster.pass(20s);
  const JsonValue job = cluster.get(kJobs + "/sum");
  EXPECT_TRUE(has_condition(job, "Failed"));
  EXPECT_EQ(int_at(job, "status.failed"), 3);
  EXPECT_EQ(at(job, "status.completionTime"), nullptr);
}

TEST(Job, EachIndexIsDoneOnce) {
  SmallCluster cluster({"*"}, {.job_time = 3s});
  cluster.add_node("n1");
  cluster.post(kJobs, job_json(R"("completionMode":"Indexed","completions":3,"parallelism":3,)"));
  std::set<std::string> indexes;
  for (const std::string& name : cluster.pods())
    indexes.emplace(cluster.get(kPodsPath + name)
                        .find("metadata")
                        ->find("labels")
                        ->find("batch.kubernetes.io/job-completion-index")
                        ->text);
  EXPECT_EQ(indexes, (std::set<std::string>{"0", "1", "2"}));
  cluster.pass(5s);
  EXPECT_EQ(text_at(cluster.get(kJobs + "/sum"), "status.completedIndexes"), "0-2");
}

// A job whose pods end as the test says.
struct JobCluster : SmallCluster {
  explicit JobCluster(std::string_view spec) : SmallCluster({"job-controller"}) {
    post(kJobs, job_json(spec));
  }

  JsonValue job() { return get(kJobs + "/sum"); }
  std::string condition(std::string_view type) {
    const JsonValue now = job();
    for (const JsonValue& one : items_at(now, "status.conditions"))
      if (text_at(one, "type") == type && text_at(one, "status") == "True")
        return fmt::format("{}: {}", text_at(one, "reason"), text_at(one, "message"));
    return "";
  }
  // The pod of an index that has not ended; empty: none.
  std::string pod_of(std::string_view index) {
    for (const std::string& name : pods()) {
      const JsonValue pod = get(kPodsPath + name);
      const JsonValue* label =
          at(pod, "metadata.labels")->find("batch.kubernetes.io/job-completion-index");
      const std::string_view phase = text_at(pod, "status.phase");
      if (phase == "Pending" && (label == nullptr || label->text == index)) return name;
    }
    return "";
  }
  void end(const std::string& name, std::string_view phase, int exit_code = 0,
           std::string_view conditions = "") {
    merge(kPodsPath + name + "/status",
          fmt::format(R"({{"status":{{"phase":"{}","conditions":[{}],"containerStatuses":[)"
                      R"({{"name":"c","state":{{"terminated":{{"exitCode":{}}}}}}}]}}}})",
                      phase, conditions, exit_code));
  }
};

TEST(Job, OfAnotherControllerIsLeftAlone) {
  JobCluster cluster(R"("managedBy":"example.com/other",)");
  EXPECT_EQ(cluster.pods(), Names());
  EXPECT_EQ(at(cluster.job(), "status.startTime"), nullptr);
}

TEST(Job, TakesBackPodsThatWereLetGoOfAndLetsGoOfOthers) {
  JobCluster cluster(R"("parallelism":1,)");
  const std::string pod = cluster.pods().at(0);
  cluster.merge(kPodsPath + pod, R"({"metadata":{"ownerReferences":null}})");
  EXPECT_EQ(cluster.pods(), Names{pod});
  EXPECT_EQ(items_at(cluster.get(kPodsPath + pod), "metadata.ownerReferences").size(), 1U);
  cluster.merge(kPodsPath + pod, R"({"metadata":{"labels":null}})");
  EXPECT_EQ(items_at(cluster.get(kPodsPath + pod), "metadata.ownerReferences").size(), 0U);
  EXPECT_EQ(cluster.pods().size(), 2U);
}

TEST(Job, AnIndexThatFailsTooOftenIsGivenUp) {
  JobCluster cluster(R"("completionMode":"Indexed","completions":2,"parallelism":2,)"
                     R"("backoffLimitPerIndex":1,)");
  cluster.end(cluster.pod_of("0"), "Failed", 1);
  EXPECT_EQ(text_at(cluster.job(), "status.failedIndexes"), "");
  cluster.end(cluster.pod_of("0"), "Failed", 1);
  EXPECT_EQ(text_at(cluster.job(), "status.failedIndexes"), "0");
  EXPECT_EQ(cluster.pod_of("0"), "");
  EXPECT_EQ(cluster.condition("Failed"), "");
  cluster.end(cluster.pod_of("1"), "Succeeded");
  EXPECT_EQ(cluster.condition("Failed"), "FailedIndexes: Job has failed indexes");
  EXPECT_EQ(text_at(cluster.job(), "status.completedIndexes"), "1");
}

TEST(Job, HasFailedWhenTooManyIndexesHave) {
  JobCluster cluster(R"("completionMode":"Indexed","completions":3,"parallelism":3,)"
                     R"("backoffLimitPerIndex":0,"maxFailedIndexes":0,)");
  cluster.end(cluster.pod_of("2"), "Failed", 1);
  EXPECT_EQ(cluster.condition("FailureTarget"),
            "MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed "
            "indexes");
  EXPECT_EQ(cluster.pod_of("0"), "");
}

TEST(Job, ItsSuccessPolicyMaySayThatSomeIndexesAreEnough) {
  JobCluster cluster(R"("completionMode":"Indexed","completions":3,"parallelism":3,)"
                     R"("successPolicy":{"rules":[{"succeededIndexes":"5"},)"
                     R"({"succeededIndexes":"0-1","succeededCount":1}]},)");
  cluster.end(cluster.pod_of("2"), "Succeeded");
  EXPECT_EQ(cluster.condition("Complete"), "");
  cluster.end(cluster.pod_of("1"), "Succeeded");
  EXPECT_EQ(cluster.condition("SuccessCriteriaMet"), "SuccessPolicy: Matched rules at index 1");
  EXPECT_EQ(cluster.condition("Complete"), "SuccessPolicy: Matched rules at index 1");
  EXPECT_EQ(cluster.pod_of("0"), "");
}

TEST(Job, ItsFailurePolicyJudgesHowPodsFail) {
  const std::string policy =
      R"("backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":)"
      R"([{"type":"DisruptionTarget"}]},{"action":"FailJob","onExitCodes":{"operator":"In",)"
      R"("values":[42]}}]},)";
  JobCluster ignored(policy);
  ignored.end(ignored.pod_of(""), "Failed", 42, R"({"type":"DisruptionTarget","status":"True"})");
  EXPECT_EQ(ignored.condition("Failed"), "");
  EXPECT_NE(ignored.pod_of(""), "") << "another pod takes its place";
  EXPECT_EQ(int_at(ignored.job(), "status.failed").value_or(0), 0);

  const std::string pod = ignored.pod_of("");
  ignored.end(pod, "Failed", 42);
  EXPECT_EQ(ignored.condition("Failed"),
            "PodFailurePolicy: Container c for pod default/" + pod +
                " failed with exit code 42 matching FailJob rule at index 1");

  JobCluster counted(policy);
  counted.end(counted.pod_of(""), "Failed", 7);
  EXPECT_EQ(counted.condition("Failed"),
            "BackoffLimitExceeded: Job has reached the specified backoff limit");
}

TEST(Job, MayWaitForAPodToEndBeforeItIsReplaced) {
  JobCluster cluster(R"("podReplacementPolicy":"Failed",)");
  const std::string pod = cluster.pods().at(0);
  cluster.merge(kPodsPath + pod, R"({"metadata":{"finalizers":["example.com/hold"]}})");
  cluster.remove(kPodsPath + pod);
  EXPECT_EQ(cluster.pods(), Names{pod});
  cluster.merge(kPodsPath + pod, R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(cluster.pods().size(), 1U);
  EXPECT_NE(cluster.pods().at(0), pod);
}

TEST(Job, ASuspendedOneWaits) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.post(kJobs, job_json(R"("suspend":true,)"));
  EXPECT_EQ(cluster.pods().size(), 0U);
  EXPECT_TRUE(has_condition(cluster.get(kJobs + "/sum"), "Suspended"));
  cluster.merge(kJobs + "/sum", R"({"spec":{"suspend":false}})");
  EXPECT_EQ(cluster.pods().size(), 1U);
}

TEST(Job, ADeadlineEndsItAndItsPods) {
  SmallCluster cluster({"*"}, {.job_time = std::chrono::hours(1)});
  cluster.add_node("n1");
  cluster.post(kJobs, job_json(R"("activeDeadlineSeconds":10,)"));
  cluster.pass(12s);
  EXPECT_TRUE(has_condition(cluster.get(kJobs + "/sum"), "Failed"));
  EXPECT_EQ(cluster.pods().size(), 0U);
}

TEST(Job, OneThatShallNotStayGoesWhenItIsDone) {
  SmallCluster cluster({"*"}, {.job_time = 1s});
  cluster.add_node("n1");
  cluster.post(kJobs, job_json(R"("ttlSecondsAfterFinished":10,)"));
  cluster.pass(5s);
  EXPECT_EQ(cluster.names(resource_of("jobs", "batch")).size(), 1U);
  cluster.pass(10s);
  EXPECT_EQ(cluster.names(resource_of("jobs", "batch")).size(), 0U);
  EXPECT_EQ(cluster.pods().size(), 0U);
}

TEST(Job, OneThatFailedAndShallNotStayGoesToo) {
  SmallCluster cluster;
  cluster.add_node("n1");
  std::string json = job_json(R"("backoffLimit":0,"ttlSecondsAfterFinished":10,)");
  json.replace(json.find(R"({"spec":{"restartPolicy")"), 1,
               R"({"metadata":{"annotations":{"berth/fail-after":"1s"}},)");
  cluster.post(kJobs, json);
  cluster.pass(5s);
  EXPECT_TRUE(has_condition(cluster.get(kJobs + "/sum"), "Failed"));
  cluster.pass(10s);
  EXPECT_EQ(cluster.names(resource_of("jobs", "batch")).size(), 0U);
}

TEST(Job, PodsThatEndedAndWereRemovedStillCount) {
  SmallCluster cluster({"*"}, {.job_time = 5s});
  cluster.add_node("n1");
  cluster.post(kJobs, job_json(R"("completions":3,"parallelism":1,)"));
  for (int round = 1; round <= 3; ++round) {
    cluster.pass(5s);
    EXPECT_EQ(int_at(cluster.get(kJobs + "/sum"), "status.succeeded"), round);
    for (const ObjectRef& pod : cluster.api().list(resource_of("pods")))
      if (text_at(pod->tree(), "status.phase") == "Succeeded")
        cluster.remove(kPodsPath + pod->name);
  }
  EXPECT_TRUE(has_condition(cluster.get(kJobs + "/sum"), "Complete"));
  EXPECT_EQ(cluster.pods().size(), 0U);
}

// ---- StatefulSet

TEST(StatefulSet, APodIsAvailableWhenItWasReadyLongEnough) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.post(kAppsPath + "statefulsets",
               workload_json("db", R"("replicas":1,"minReadySeconds":10,)"
                                   R"("podManagementPolicy":"Parallel",)"));
  EXPECT_EQ(int_at(cluster.get(kAppsPath + "statefulsets/db"), "status.availableReplicas"), 0);
  cluster.pass(10s);
  EXPECT_EQ(int_at(cluster.get(kAppsPath + "statefulsets/db"), "status.availableReplicas"), 1);
}

TEST(StatefulSet, PodsComeOneAfterTheOther) {
  SmallCluster cluster({"*"}, {.start_time = 2s});
  cluster.add_node("n1");
  cluster.post(kAppsPath + "statefulsets", workload_json("db", R"("replicas":3,)"));
  EXPECT_EQ(cluster.pods(), (Names{"db-0"}));
  cluster.pass(2s);
  EXPECT_EQ(cluster.pods(), (Names{"db-0", "db-1"}));
  cluster.pass(10s);
  EXPECT_EQ(cluster.pods(), (Names{"db-0", "db-1", "db-2"}));
  const JsonValue set = cluster.get(kAppsPath + "statefulsets/db");
  EXPECT_EQ(int_at(set, "status.readyReplicas"), 3);
  EXPECT_EQ(text_at(set, "status.currentRevision"), text_at(set, "status.updateRevision"));
}

TEST(StatefulSet, OrAllAtOnce) {
  SmallCluster cluster({"*"}, {.start_time = 2s});
  cluster.add_node("n1");
  cluster.post(kAppsPath + "statefulsets",
               workload_json("db", R"("replicas":3,"podManagementPolicy":"Parallel",)"));
  EXPECT_EQ(cluster.pods().size(), 3U);
}

TEST(StatefulSet, TheHighestNumberGoesFirst) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.post(kAppsPath + "statefulsets", workload_json("db", R"("replicas":3,)"));
  cluster.merge(kAppsPath + "statefulsets/db", R"({"spec":{"replicas":1}})");
  EXPECT_EQ(cluster.pods(), (Names{"db-0"}));
}

TEST(StatefulSet, ANewTemplateReplacesAllPodsAndKeepsTheirNames) {
  SmallCluster cluster({"*"}, {.start_time = 1s});
  cluster.add_node("n1");
  cluster.post(kAppsPath + "statefulsets", workload_json("db", R"("replicas":2,)"));
  cluster.pass(5s);
  cluster.merge(kAppsPath + "statefulsets/db",
                R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}})");
  cluster.pass(10s);
  EXPECT_EQ(cluster.pods(), (Names{"db-0", "db-1"}));
  for (const std::string& name : cluster.pods())
    EXPECT_EQ(text_at(items_at(cluster.get(kPodsPath + name), "spec.containers")[0], "image"),
              "i:2");
  EXPECT_EQ(int_at(cluster.get(kAppsPath + "statefulsets/db"), "status.updatedReplicas"), 2);
}

TEST(StatefulSet, EveryPodHasItsClaims) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.post(kAppsPath + "statefulsets",
               workload_json("db", R"("replicas":2,"volumeClaimTemplates":[{"metadata":{"name":)"
                                   R"("data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":)"
                                   R"({"requests":{"storage":"1Gi"}}}}],)"));
  EXPECT_EQ(cluster.names(resource_of("persistentvolumeclaims")),
            (Names{"data-db-0", "data-db-1"}));
  EXPECT_EQ(text_at(items_at(cluster.get(kPodsPath + "db-1"), "spec.volumes")[0],
                    "persistentVolumeClaim.claimName"),
            "data-db-1");
}

// ---- DaemonSet

TEST(DaemonSet, HasAPodOnEveryNodeAlsoOnNewOnes) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.add_node("n2");
  cluster.post(kAppsPath + "daemonsets", workload_json("agent", ""));
  EXPECT_EQ(cluster.phases()["Running"], 2);
  cluster.add_node("n3");
  EXPECT_EQ(cluster.phases()["Running"], 3);
  const JsonValue set = cluster.get(kAppsPath + "daemonsets/agent");
  EXPECT_EQ(int_at(set, "status.desiredNumberScheduled"), 3);
  EXPECT_EQ(int_at(set, "status.numberReady"), 3);
}

TEST(DaemonSet, GoesOnlyWhereItMay) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.add_node("n2", R"(,"spec":{"taints":[{"key":"gpu","effect":"NoSchedule"}]})");
  cluster.post(kAppsPath + "daemonsets", workload_json("agent", ""));
  EXPECT_EQ(cluster.pods().size(), 1U);
  cluster.merge("/api/v1/nodes/n1", R"({"metadata":{"labels":{"quiet":"yes"}}})");
  cluster.merge(kAppsPath + "daemonsets/agent",
                R"({"spec":{"template":{"spec":{"nodeSelector":{"quiet":"no"}}}}})");
  EXPECT_EQ(cluster.pods().size(), 0U);
}

TEST(DaemonSet, StaysOnACordonedNode) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.post(kAppsPath + "daemonsets", workload_json("agent", ""));
  cluster.merge("/api/v1/nodes/n1", R"({"spec":{"unschedulable":true}})");
  EXPECT_EQ(cluster.phases()["Running"], 1);
}

TEST(DaemonSet, ANewTemplateReplacesOnePodAtATime) {
  SmallCluster cluster({"*"}, {.start_time = 5s});
  for (const char* node : {"n1", "n2", "n3"}) cluster.add_node(node);
  cluster.post(kAppsPath + "daemonsets", workload_json("agent", ""));
  cluster.pass(6s);
  cluster.merge(kAppsPath + "daemonsets/agent",
                R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}})");
  EXPECT_EQ(int_at(cluster.get(kAppsPath + "daemonsets/agent"), "status.numberReady"), 2);
  cluster.pass(30s);
  const JsonValue set = cluster.get(kAppsPath + "daemonsets/agent");
  EXPECT_EQ(int_at(set, "status.updatedNumberScheduled"), 3);
  EXPECT_EQ(int_at(set, "status.numberReady"), 3);
}

// ---- PodDisruptionBudget

const std::string kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

TEST(Disruption, TheBudgetSaysHowManyPodsMayGo) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.post(kAppsPath + "deployments", workload_json("web", R"("replicas":4,)"));
  cluster.post(kBudgets, R"({"metadata":{"name":"min"},"spec":{"minAvailable":3,)"
                         R"("selector":{"matchLabels":{"app":"web"}}}})");
  cluster.post(kBudgets, R"({"metadata":{"name":"share"},"spec":{"maxUnavailable":"50%",)"
                         R"("selector":{"matchLabels":{"app":"web"}}}})");
  const JsonValue by_number = cluster.get(kBudgets + "/min");
  EXPECT_EQ(int_at(by_number, "status.disruptionsAllowed"), 1);
  EXPECT_EQ(int_at(by_number, "status.currentHealthy"), 4);
  EXPECT_EQ(int_at(by_number, "status.desiredHealthy"), 3);
  EXPECT_EQ(int_at(by_number, "status.expectedPods"), 4);
  EXPECT_EQ(int_at(cluster.get(kBudgets + "/share"), "status.disruptionsAllowed"), 2);
}

TEST(Disruption, AnEvictionWaitsForItsReplacement) {
  SmallCluster cluster({"*"}, {.start_time = 5s});
  cluster.add_node("n1");
  cluster.post(kAppsPath + "deployments", workload_json("web", R"("replicas":2,)"));
  cluster.pass(6s);
  cluster.post(kBudgets, R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,)"
                         R"("selector":{"matchLabels":{"app":"web"}}}})");
  const Names pods = cluster.pods();
  const auto evict = [&](const std::string& name) {
    cluster.post(kPodsPath + name + "/eviction",
                 fmt::format(R"({{"kind":"Eviction","apiVersion":"policy/v1",)"
                             R"("metadata":{{"name":"{}"}}}})",
                             name));
    return cluster.code;
  };
  EXPECT_EQ(evict(pods[0]), 201);
  EXPECT_EQ(evict(pods[1]), 429);
  cluster.pass(6s);
  EXPECT_EQ(evict(pods[1]), 201);
}

TEST(Disruption, PodsThatNobodyControlsHaveNoShare) {
  SmallCluster cluster;
  cluster.add_node("n1");
  cluster.post("/api/v1/namespaces/default/pods", testing::pod_json("p", "", R"({"app":"lone"})"));
  cluster.post(kBudgets, R"({"metadata":{"name":"b"},"spec":{"maxUnavailable":1,)"
                         R"("selector":{"matchLabels":{"app":"lone"}}}})");
  EXPECT_EQ(int_at(cluster.get(kBudgets + "/b"), "status.disruptionsAllowed"), 0);
}

// ---- namespaces

TEST(Namespaces, GoWithAllThatIsInThem) {
  SmallCluster cluster({"*"}, {.stop_time = 3s});
  cluster.add_node("n1");
  cluster.post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  cluster.post("/apis/apps/v1/namespaces/team/deployments",
               workload_json("web", R"("replicas":2,)"));
  EXPECT_EQ(cluster.phases()["Running"], 2);
  cluster.remove("/api/v1/namespaces/team");
  EXPECT_EQ(text_at(cluster.get("/api/v1/namespaces/team"), "status.phase"), "Terminating");
  cluster.pass(4s);
  cluster.get("/api/v1/namespaces/team");
  EXPECT_EQ(cluster.code, 404);
  EXPECT_EQ(cluster.names(resource_of("pods"), "team").size(), 0U);
}

}  // namespace
}  // namespace berth::control_plane::testing
