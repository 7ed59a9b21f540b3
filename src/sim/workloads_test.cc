#include "sim/workloads.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/testing/names.h"
#include "controllers/workload.h"
#include "sim/testing/simulated.h"

namespace berth::sim::testing {
namespace {

std::string workload(const std::string& kind, const std::string& name, const std::string& spec,
                     const std::string& pod_spec = "", const std::string& cpu = "100m") {
  const std::string group = kind == "Job" ? "batch/v1" : "apps/v1";
  return fmt::format(
      "---\napiVersion: {}\nkind: {}\nmetadata: {{name: {}}}\nspec:\n  {}\n"
      "  selector: {{matchLabels: {{app: x}}}}\n  template:\n"
      "    metadata: {{labels: {{app: x}}}}\n    spec:\n      {}\n"
      "      containers: [{{name: c, image: c, resources: {{requests: {{cpu: {}}}}}}}]\n",
      group, kind, name, spec, pod_spec, cpu);
}

Ref<const Pod> stored(const Simulated& run, const std::string& name) {
  return run.simulation->cluster().pod("default", name);
}

std::string label(const Pod& pod, std::string_view key) {
  for (const Label& label : pod.labels())
    if (pod.text(label.key) == key) return std::string(pod.text(label.value));
  return "none";
}

std::string owner(const Pod& pod) {
  const ControllerRef& controller = pod.meta().controller;
  return fmt::format("{} {} {}", pod.text(controller.api_version), pod.text(controller.kind),
                     pod.text(controller.name));
}

// ---- Deployment and ReplicaSet

TEST(Workloads, ADeploymentsPodsBelongToItsReplicaSet) {
  const Simulated run(node("n1") + workload("Deployment", "web", "replicas: 3"));
  ASSERT_EQ(run.error, "");
  ASSERT_THAT(run.names(), SizeIs(3));
  EXPECT_THAT(run.names(), Each(MatchesRegex("web-[a-z0-9]+-[a-z0-9]+")));
  const Ref<const Pod> first = stored(run, run.names()[0]);
  const std::string hash = label(*first, "pod-template-hash");
  EXPECT_EQ(hash.size(), 10u);
  EXPECT_THAT(run.names(), Each(StartsWith("web-" + hash + "-")));
  EXPECT_EQ(label(*first, "app"), "x");
  EXPECT_EQ(owner(*first), "apps/v1 ReplicaSet web-" + hash);
  EXPECT_TRUE(run.simulation->cluster().object(ObjectKind::kReplicaSet, "default", "web-" + hash));
  for (const std::string& name : run.names()) EXPECT_EQ(run.stands(name), "Bound n1");
}

TEST(Workloads, AReplicaSetHasOneReplicaUnlessItSaysOtherwise) {
  const Simulated run(node("n1") + workload("ReplicaSet", "rs", "minReadySeconds: 0"));
  ASSERT_THAT(run.names(), SizeIs(1));
  EXPECT_THAT(run.names()[0], MatchesRegex("rs-[a-z0-9]+"));
  EXPECT_EQ(owner(*stored(run, run.names()[0])), "apps/v1 ReplicaSet rs");
  EXPECT_EQ(label(*stored(run, run.names()[0]), "pod-template-hash"), "none");
}

TEST(Workloads, NamesAreTheSameInEveryRun) {
  const std::string manifests = node("n1") + workload("Deployment", "web", "replicas: 4");
  EXPECT_EQ(Simulated(manifests).names(), Simulated(manifests).names());
}

TEST(Workloads, ANameThatIsTakenIsDrawnAgain) {
  // The suffixes 0 to 26 for this name have one twice.
  const Simulated run(node("n1") + workload("ReplicaSet", "rs653", "replicas: 30"));
  EXPECT_THAT(run.names(), SizeIs(30));
  EXPECT_FALSE(run.happened("already exists"));
}

TEST(Workloads, PodsThatStartedAfterTheVirtualTimeAreReady) {
  const std::string recorded =
      "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: rs-1\n  labels: {app: x}\n"
      "  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: u, "
      "controller: true}]\n"
      "spec: {nodeName: n1, containers: [{name: c, image: c}]}\n"
      "status: {phase: Running, startTime: \"2126-01-01T00:00:00Z\"}\n";
  for (const char* min_ready : {"0", "10"}) {
    const Simulated run(node("n1") +
                            workload("ReplicaSet", "rs",
                                     fmt::format("replicas: 2\n  minReadySeconds: {}", min_ready)) +
                            recorded,
                        "", 1h);
    EXPECT_THAT(run.names(), SizeIs(2));
    EXPECT_LT(run.report.duration, 1min) << "nothing is left to wait for";
  }
}

TEST(Workloads, ANegativeHistoryLimitKeepsNoOldReplicaSet) {
  const Simulated run(
      node("n1") + workload("Deployment", "web", "revisionHistoryLimit: -1"),
      "events:\n- at: 5s\n  apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, "
      "spec: {revisionHistoryLimit: -1, selector: {matchLabels: {app: x}}, template: {metadata: "
      "{labels: {app: x}}, spec: {containers: [{name: c, image: newer}]}}}}\n");
  EXPECT_THAT(run.names(), SizeIs(1));
  EXPECT_THAT(run.simulation->cluster().objects(ObjectKind::kReplicaSet), SizeIs(1));
}

TEST(Workloads, APodThatGoesIsReplacedAtOnce) {
  const std::string manifests = node("n1") + workload("ReplicaSet", "rs", "replicas: 2");
  const std::string victim = Simulated(manifests).names()[0];
  const Simulated run(manifests,
                      fmt::format("events: [{{at: 5s, delete: {{kind: Pod, name: {}}}}}]", victim));
  EXPECT_EQ(run.stands(victim), "gone");
  ASSERT_THAT(run.names(), SizeIs(2));
  EXPECT_EQ(std::max(run.report.pods[0].bound, run.report.pods[1].bound)->since_start / 1s, 5)
      << "not only after the grace period";
}

TEST(Workloads, APodThatFailsIsReplaced) {
  const std::string manifests = node("n1") + workload("ReplicaSet", "rs", "replicas: 2");
  const std::string victim = Simulated(manifests).names()[0];
  const Simulated run(manifests, fmt::format("events: [{{at: 5s, fail: {}}}]", victim));
  EXPECT_THAT(run.names(), SizeIs(3));
  EXPECT_EQ(run.find(victim)->status, "Finished");
}

TEST(Workloads, ADeploymentIsScaledUpAndDown) {
  const std::string scale_to =
      "\n  apply: {{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: rs}}, spec: "
      "{{replicas: {}, selector: {{matchLabels: {{app: x}}}}, template: {{metadata: {{labels: "
      "{{app: x}}}}, spec: {{containers: [{{name: c, image: c}}]}}}}}}}}\n";
  const std::string manifests = node("n1") + workload("ReplicaSet", "rs", "replicas: 2");
  const Simulated up(manifests, "events:\n- at: 5s" + fmt::format(fmt::runtime(scale_to), 4));
  EXPECT_THAT(up.names(), SizeIs(4));
  const Simulated down(manifests, "events:\n- at: 5s" + fmt::format(fmt::runtime(scale_to), 1));
  EXPECT_THAT(down.names(), SizeIs(1));
}

TEST(Workloads, ADeploymentWithANewTemplateGetsNewPods) {
  const Simulated run(
      node("n1") + workload("Deployment", "web", "replicas: 2"),
      "events:\n- at: 5s\n  apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, "
      "spec: {replicas: 3, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: "
      "x}}, spec: {containers: [{name: c, image: newer}]}}}}\n");
  ASSERT_THAT(run.names(), SizeIs(3));
  for (const std::string& name : run.names()) {
    EXPECT_GE(run.find(name)->bound->since_start, 5s) << name;
    EXPECT_EQ(stored(run, name)->text(stored(run, name)->spec().containers[0].image), "newer");
  }
}

TEST(Workloads, ADeploymentMakesItsReplicaSetAnewWhenThatIsDeleted) {
  const std::string manifests = node("n1") + workload("Deployment", "web", "replicas: 2");
  const std::string pod = Simulated(manifests).names()[0];
  const std::string set = pod.substr(0, pod.rfind('-'));
  const Simulated run(
      manifests, fmt::format("events: [{{at: 5s, delete: {{kind: ReplicaSet, name: {}}}}}]", set));
  ASSERT_THAT(run.names(), SizeIs(2));
  for (const std::string& name : run.names()) EXPECT_GE(run.find(name)->bound->since_start, 5s);
  EXPECT_THAT(run.simulation->cluster().objects(ObjectKind::kReplicaSet), SizeIs(1));
}

TEST(Workloads, AWorkloadThatIsDeletedTakesItsPodsWithIt) {
  const Simulated run(node("n1") + workload("Deployment", "web", "replicas: 2"),
                      "events: [{at: 5s, delete: {kind: Deployment, name: web}}]");
  EXPECT_THAT(run.names(), IsEmpty());
  EXPECT_THAT(run.simulation->cluster().objects(ObjectKind::kReplicaSet), IsEmpty());
}

TEST(Workloads, DeletingOneThatIsNotThereIsTrouble) {
  const Simulated run(node("n1"), "events: [{at: 5s, delete: {kind: Job, name: j}}]");
  EXPECT_TRUE(run.happened(R"(Job \"j\" not found)"));
}

// ---- StatefulSet

TEST(Workloads, AStatefulSetsPodsAreNumberedAndComeOneAfterTheOther) {
  const Simulated run(node("n1") + workload("StatefulSet", "db", "replicas: 3"));
  EXPECT_THAT(run.names(), ElementsAre("db-0", "db-1", "db-2"));
  EXPECT_LT(run.find("db-0")->bound, run.find("db-1")->bound);
  EXPECT_LT(run.find("db-1")->bound, run.find("db-2")->bound);
  const Ref<const Pod> second = stored(run, "db-1");
  EXPECT_EQ(label(*second, "statefulset.kubernetes.io/pod-name"), "db-1");
  EXPECT_EQ(label(*second, "apps.kubernetes.io/pod-index"), "1");
  EXPECT_EQ(owner(*second), "apps/v1 StatefulSet db");
}

TEST(Workloads, AnOrderedStatefulSetStopsAtAPodThatFitsNowhere) {
  const Simulated run(node("n1", "3") + workload("StatefulSet", "db", "replicas: 3", "", "2"));
  EXPECT_THAT(run.names(), ElementsAre("db-0", "db-1"));
  EXPECT_EQ(run.stands("db-1"), "Pending");
}

TEST(Workloads, AParallelOneDoesNot) {
  const Simulated run(node("n1", "3") + workload("StatefulSet", "db",
                                                 "replicas: 3\n  podManagementPolicy: Parallel", "",
                                                 "2"));
  EXPECT_THAT(run.names(), ElementsAre("db-0", "db-1", "db-2"));
}

TEST(Workloads, AStatefulSetsPodComesBackUnderItsNameWhenTheOldOneIsGone) {
  const Simulated run(node("n1") + workload("StatefulSet", "db", "replicas: 2"),
                      "events: [{at: 5s, delete: {kind: Pod, name: db-0}}]");
  EXPECT_THAT(run.names(), ElementsAre("db-0", "db-1"));
  EXPECT_GE(run.find("db-0")->bound->since_start, 35s) << "after the grace period";
}

TEST(Workloads, AStatefulSetIsScaledDownFromItsEnd) {
  const Simulated run(
      node("n1") + workload("StatefulSet", "db", "replicas: 3"),
      "events:\n- at: 5s\n  apply: {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, "
      "spec: {replicas: 1, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: "
      "x}}, spec: {containers: [{name: c, image: c}]}}}}\n");
  EXPECT_THAT(run.names(), ElementsAre("db-0"));
}

// ---- DaemonSet

TEST(Workloads, ADaemonSetHasAPodOnEveryNodeThatItMayRunOn) {
  const Simulated run(node("n1") + node("n2", "4", "unschedulable: true") +
                      node("n3", "4", "taints: [{key: gpu, effect: NoSchedule}]") +
                      workload("DaemonSet", "agent", "minReadySeconds: 0"));
  ASSERT_THAT(run.names(), SizeIs(2)) << "cordoned is no obstacle, a foreign taint is";
  std::vector<std::string> nodes;
  for (const PodReport& pod : run.report.pods) {
    EXPECT_EQ(pod.status, "Bound") << pod.message;
    nodes.push_back(pod.node);
  }
  EXPECT_THAT(nodes, ::testing::UnorderedElementsAre("n1", "n2"));
  EXPECT_THAT(run.names(), Each(MatchesRegex("agent-[a-z0-9]+")));
  EXPECT_EQ(owner(*stored(run, run.names()[0])), "apps/v1 DaemonSet agent");
}

TEST(Workloads, EveryDaemonLandsOnTheNodeThatItIsMeantFor) {
  const Simulated run(node("big", "64") + node("n1", "1") + node("n2", "1") + node("n3", "1") +
                      workload("DaemonSet", "agent", "minReadySeconds: 0", "", "1"));
  std::vector<std::string> nodes;
  for (const PodReport& pod : run.report.pods) {
    EXPECT_EQ(pod.status, "Bound") << pod.message;
    const Ref<const Pod> daemon = stored(run, pod.name);
    EXPECT_EQ(daemon->text((*daemon->spec().affinity->node->required)[0].match_fields[0].values[0]),
              pod.node);
    nodes.push_back(pod.node);
  }
  EXPECT_THAT(nodes, ::testing::UnorderedElementsAre("big", "n1", "n2", "n3"));
}

TEST(Workloads, ADaemonThatDoesNotFitWaitsForItsNode) {
  const Simulated run(node("big", "64") + node("small", "1") +
                      workload("DaemonSet", "agent", "minReadySeconds: 0", "", "2"));
  ASSERT_THAT(run.names(), SizeIs(2));
  std::vector<std::string> states;
  for (const PodReport& pod : run.report.pods) {
    states.push_back(pod.status + " " + pod.node);
    if (pod.status != "Bound") {
      EXPECT_THAT(pod.message, HasSubstr("1 Insufficient cpu"));
      EXPECT_THAT(pod.message, HasSubstr("1 node(s) didn't satisfy plugin(s) [NodeAffinity]"));
    }
  }
  EXPECT_THAT(states, ::testing::UnorderedElementsAre("Bound big", "Pending "));
}

TEST(Workloads, ADaemonSetGoesWhereItsNodeSelectorSays) {
  const Simulated run(
      node("n1") + node("n2") +
      workload("DaemonSet", "agent", "minReadySeconds: 0", "nodeSelector: {name: n2}"));
  ASSERT_THAT(run.names(), SizeIs(1));
  const Ref<const Pod> daemon = stored(run, run.names()[0]);
  ASSERT_TRUE(daemon->spec().affinity && daemon->spec().affinity->node);
  const auto& terms = *daemon->spec().affinity->node->required;
  ASSERT_THAT(terms, SizeIs(1));
  ASSERT_THAT(terms[0].match_fields, SizeIs(1));
  EXPECT_EQ(daemon->text(terms[0].match_fields[0].values[0]), "n2") << "pinned to its node";
}

TEST(Workloads, DaemonsWhoseNodesHaveTheSameSuffixAreNamedApart) {
  std::map<std::string, std::string> nodes_by_suffix;
  std::string twins;
  for (int i = 0; twins.empty(); ++i) {
    const std::string name = fmt::format("n{}", i);
    const auto [other, is_new] =
        nodes_by_suffix.try_emplace(controllers::name_suffix(name, 0), name);
    if (!is_new) twins = node(other->second) + node(name);
  }
  const Simulated run(twins + node("third") + workload("DaemonSet", "agent", "minReadySeconds: 0"));
  EXPECT_THAT(run.names(), SizeIs(3));
  EXPECT_FALSE(run.happened("already exists"));
}

TEST(Workloads, ANewNodeGetsItsDaemonAndANodeThatGoesTakesItAlong) {
  const Simulated run(node("n1") + workload("DaemonSet", "agent", "minReadySeconds: 0"),
                      "events:\n- {at: 10s, delete: {kind: Node, name: n1}}\n- at: 5s\n  create: "
                      "{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {capacity: {cpu: "
                      "\"4\", memory: 8Gi, pods: \"10\"}}}\n");
  ASSERT_THAT(run.names(), SizeIs(1));
  const Ref<const Pod> daemon = stored(run, run.names()[0]);
  ASSERT_TRUE(daemon->spec().affinity && daemon->spec().affinity->node);
  const auto& terms = *daemon->spec().affinity->node->required;
  ASSERT_THAT(terms, SizeIs(1));
  ASSERT_THAT(terms[0].match_fields, SizeIs(1));
  EXPECT_EQ(daemon->text(terms[0].match_fields[0].values[0]), "n2") << "pinned to its node";
}

// ---- Job

TEST(Workloads, AJobRunsSoManyPodsAtOnce) {
  const Simulated run(node("n1") + workload("Job", "j", "parallelism: 2\n  completions: 5"));
  ASSERT_THAT(run.names(), SizeIs(2));
  EXPECT_THAT(run.names(), Each(MatchesRegex("j-[a-z0-9]+")));
  const Ref<const Pod> pod = stored(run, run.names()[0]);
  EXPECT_EQ(label(*pod, "job-name"), "j");
  EXPECT_EQ(label(*pod, "batch.kubernetes.io/job-name"), "j");
  EXPECT_EQ(owner(*pod), "batch/v1 Job j");
}

TEST(Workloads, WithoutCompletionsAJobHasAsManyAsRunAtOnce) {
  EXPECT_THAT(Simulated(node("n1") + workload("Job", "j", "backoffLimit: 6")).names(), SizeIs(1));
  EXPECT_THAT(Simulated(node("n1") + workload("Job", "j", "parallelism: 3")).names(), SizeIs(3));
}

TEST(Workloads, APodOfAJobThatSucceedsIsFollowedByTheNextUntilAllAreDone) {
  const std::string manifests =
      node("n1") + workload("Job", "j", "parallelism: 1\n  completions: 2");
  const std::string first = Simulated(manifests).names()[0];
  const Simulated run(manifests, fmt::format("events: [{{at: 5s, finish: {}}}]", first));
  ASSERT_THAT(run.names(), SizeIs(2));
  const std::string second = run.names()[0] == first ? run.names()[1] : run.names()[0];
  const Simulated done(manifests, fmt::format("events: [{{at: 5s, finish: {}}}, {{at: 9s, finish: "
                                              "{}}}]",
                                              first, second));
  EXPECT_THAT(done.names(), SizeIs(2)) << "two completions, no third pod";
}

TEST(Workloads, APodOfAJobThatFailsIsRetried) {
  const std::string manifests = node("n1") + workload("Job", "j", "completions: 1");
  const std::string first = Simulated(manifests).names()[0];
  const Simulated run(manifests, fmt::format("events: [{{at: 5s, fail: {}}}]", first));
  EXPECT_THAT(run.names(), SizeIs(2));
}

TEST(Workloads, AnIndexedJobsPodsHaveAnIndexEach) {
  const std::string manifests = node("n1") + workload("Job", "j",
                                                      "parallelism: 3\n  completions: 3\n  "
                                                      "completionMode: Indexed");
  const Simulated run(manifests);
  ASSERT_THAT(run.names(), SizeIs(3));
  for (int i = 0; i < 3; ++i) {
    const std::string name = run.names()[static_cast<std::size_t>(i)];
    EXPECT_THAT(name, StartsWith(fmt::format("j-{}-", i)));
    EXPECT_EQ(label(*stored(run, name), "batch.kubernetes.io/job-completion-index"),
              std::to_string(i));
  }
  // The index of a pod that failed is tried again; those of the others are not.
  const Simulated retried(manifests, fmt::format("events: [{{at: 5s, fail: {}}}]", run.names()[0]));
  std::multiset<std::string> indexes;
  for (const PodReport& pod : retried.report.pods)
    if (pod.status == "Bound")
      indexes.insert(label(*stored(retried, pod.name), "batch.kubernetes.io/job-completion-index"));
  EXPECT_THAT(indexes, ElementsAre("0", "1", "2"));
}

// ---- mistakes

TEST(Workloads, MistakesNameTheField) {
  const Simulated no_template(
      node("n1") + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {}\n");
  EXPECT_THAT(no_template.error, AllOf(StartsWith("cluster.yaml: document 2"),
                                       HasSubstr("spec.template: must be set")));
  const Simulated bad_template(node("n1") +
                               workload("DaemonSet", "d", "minReadySeconds: 0", "priority: high"));
  EXPECT_THAT(bad_template.error,
              HasSubstr("spec.template.spec.priority: expected an integer, got a string"));
}

TEST(Workloads, PodsThatAdmissionRefusesAreTrouble) {
  const Simulated run(node("n1") +
                      workload("ReplicaSet", "rs", "replicas: 2", "priorityClassName: nobility"));
  EXPECT_THAT(run.names(), IsEmpty());
  EXPECT_TRUE(run.happened("ReplicaSet default/rs: "));
  EXPECT_TRUE(run.happened("no PriorityClass with name nobility was found"));
}

}  // namespace
}  // namespace berth::sim::testing
