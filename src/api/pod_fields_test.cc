#include "api/written_pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/names.h"
#include "base/testing/names.h"
#include "wire/yaml.h"

namespace berth {
namespace {

// Pods written in YAML, which is easier on the eye.
struct Pods {
  Interner interner;

  static std::string json(std::string_view yaml) {
    const auto documents = parse_yaml(yaml);
    return documents && documents->size() == 1 ? documents->front().json : "not one document";
  }
  Ref<const Pod> pod(std::string_view yaml) {
    auto pod = decode_pod(json(yaml), interner);
    EXPECT_TRUE(pod) << (pod ? "" : pod.error().message);
    return pod ? *pod : Ref<const Pod>();
  }
  Ref<const Pod> with_spec(const std::string& fields) { return pod("spec: {" + fields + "}"); }
  std::string error(std::string_view yaml) {
    const auto pod = decode_pod(json(yaml), interner);
    return pod ? "" : pod.error().message;
  }
  std::string spec_error(const std::string& fields) { return error("spec: {" + fields + "}"); }
  Symbol symbol(std::string_view text) { return interner.symbols()->intern(text); }
  std::vector<std::string> texts(const std::vector<Symbol>& symbols) {
    std::vector<std::string> out;
    for (const Symbol symbol : symbols) out.emplace_back(interner.symbols()->text(symbol));
    return out;
  }
};

std::string amount(const ResourceList& list, Symbol name) {
  const Quantity* quantity = list.find(name);
  return quantity ? quantity->to_string() : "none";
}

TEST(PodJson, Metadata) {
  Pods pods;
  const auto pod = pods.pod(R"(
apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: prod
  uid: 0b4d2c9e-8a61-4a53-9c1e-5f0a1e6f2b7d
  resourceVersion: "77"
  generation: 3
  labels: {app: web, tier: null}
  annotations: {ignored: "yes"}
  creationTimestamp: "2026-01-01T00:00:00Z"
  deletionTimestamp: "2026-01-01T00:00:30Z"
  ownerReferences:
  - {apiVersion: v1, kind: Other, name: o}
  - {apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true, blockOwnerDeletion: true}
)");
  EXPECT_EQ(pod->full_name(), "prod/web-1");
  EXPECT_EQ(pod->uid_text(), "0b4d2c9e-8a61-4a53-9c1e-5f0a1e6f2b7d");
  EXPECT_EQ(pod->resource_version(), "77");
  EXPECT_EQ(pod->generation(), 3);
  EXPECT_EQ(pod->labels().size(), 2U);
  EXPECT_EQ(pod->text(pod->labels().get(pods.symbol("app"))), "web");
  EXPECT_TRUE(pod->labels().contains(pods.symbol("tier")));
  EXPECT_EQ(pod->creation_time(), VirtualLoop::kDefaultStart);
  EXPECT_EQ(pod->deletion_time(), VirtualLoop::kDefaultStart + std::chrono::seconds(30));
  EXPECT_TRUE(pod->terminating());
  EXPECT_EQ(pod->text(pod->meta().controller.kind), "ReplicaSet");
  EXPECT_EQ(pod->text(pod->meta().controller.name), "web");
  EXPECT_EQ(pod->text(pod->meta().controller.api_version), "apps/v1");
}

TEST(PodJson, AnEmptyPodHasNothingButDefaultsOfTheWire) {
  Pods pods;
  const auto pod = pods.pod("{metadata: null, spec: null, status: null, unknown: [1, {a: b}]}");
  EXPECT_EQ(pod->full_name(), "default/");
  EXPECT_EQ(pod->phase(), PodPhase::kPending);
  EXPECT_FALSE(pod->creation_time());
  EXPECT_TRUE(pod->meta().controller.empty());
  EXPECT_EQ(pod->spec().termination_grace_seconds, 30);
  EXPECT_TRUE(pod->scheduler_name().empty()) << "defaulting is admission's business";
  EXPECT_EQ(pod->extra(), nullptr);
}

TEST(PodJson, Containers) {
  Pods pods;
  const auto pod = pods.with_spec(R"(
containers: [{name: a, image: "nginx:1", resources: {requests: {cpu: 250m, memory: 1Gi},
    limits: {cpu: 1}},
  ports: [{containerPort: 80, hostPort: 8080}, {containerPort: 53, protocol: UDP,
      hostIP: 10.0.0.1}]}, {name: b, volumeMounts: [{name: v, bindMountOptions: [noexec]}]}],
initContainers: [{name: i}, {name: s, restartPolicy: Always}, {name: o, restartPolicy: OnFailure,
    restartPolicyRules: [{action: Restart}, {action: RestartAllContainers}],
    volumeMounts: [{name: v, mountPath: /v, bindMountOptions: []}]}],
overhead: {cpu: 10m}, resources: {requests: {memory: 2Gi}, limits: {}})");
  const PodSpec& spec = pod->spec();
  ASSERT_EQ(spec.containers.size(), 2U);
  const Container& a = spec.containers[0];
  EXPECT_EQ(pod->text(a.name), "a");
  EXPECT_EQ(pod->text(a.image), "nginx:1");
  EXPECT_EQ(amount(a.requests, names::kCpu), "250m");
  EXPECT_EQ(amount(a.requests, names::kMemory), "1Gi");
  EXPECT_EQ(amount(a.limits, names::kCpu), "1");
  ASSERT_EQ(a.ports.size(), 2U);
  EXPECT_EQ(a.ports[0].container_port, 80);
  EXPECT_EQ(a.ports[0].host_port, 8080);
  EXPECT_EQ(a.ports[0].protocol, names::kTcp);
  EXPECT_EQ(pod->text(a.ports[1].protocol), "UDP");
  EXPECT_EQ(pod->text(a.ports[1].host_ip), "10.0.0.1");
  ASSERT_EQ(spec.init_containers.size(), 3U);
  EXPECT_FALSE(spec.init_containers[0].restart_always);
  EXPECT_TRUE(spec.init_containers[1].restart_always);
  EXPECT_FALSE(spec.init_containers[2].restart_always);
  EXPECT_FALSE(spec.init_containers[1].restarts_all);
  EXPECT_TRUE(spec.init_containers[2].restarts_all);
  EXPECT_FALSE(a.bind_mount_options);
  EXPECT_TRUE(spec.containers[1].bind_mount_options);
  EXPECT_FALSE(spec.init_containers[2].bind_mount_options);
  EXPECT_FALSE(spec.ephemeral_bind_mount_options);
  EXPECT_EQ(amount(spec.overhead, names::kCpu), "10m");
  ASSERT_TRUE(spec.pod_requests);
  EXPECT_EQ(amount(*spec.pod_requests, names::kMemory), "2Gi");
  ASSERT_TRUE(spec.pod_limits);
  EXPECT_TRUE(spec.pod_limits->empty());
}

TEST(PodJson, OfEphemeralContainersOnlyWhetherTheyMountWithOptions) {
  Pods pods;
  const auto with_mounts = [&](std::string_view mounts) {
    return pods
        .with_spec("ephemeralContainers: [{name: e, volumeMounts: " + std::string(mounts) +
                   ", targetContainerName: a}, {name: f}]")
        ->spec()
        .ephemeral_bind_mount_options;
  };
  EXPECT_FALSE(with_mounts("[{name: v}]"));
  EXPECT_TRUE(with_mounts("[{name: v}, {name: w, bindMountOptions: [nosuid, nodev]}]"));
}

TEST(PodJson, PlainFieldsOfTheSpec) {
  Pods pods;
  const auto pod = pods.with_spec(R"(
nodeName: n1, schedulerName: mine, priorityClassName: high, priority: -7, preemptionPolicy: Never,
hostNetwork: true, hostUsers: false, terminationGracePeriodSeconds: 5, schedulingGroup: {podGroupName: g},
nodeSelector: {disk: ssd, zone: a}, schedulingGates: [{name: quota}, {name: other}],
resourceClaims: [{name: x, resourceClaimName: c}, {name: z, resourceClaimTemplateName: t}])");
  const PodSpec& spec = pod->spec();
  EXPECT_EQ(pod->node_name(), "n1");
  EXPECT_EQ(pod->text(spec.scheduler_name), "mine");
  EXPECT_EQ(pod->text(spec.priority_class_name), "high");
  EXPECT_EQ(spec.priority, -7);
  EXPECT_EQ(spec.preemption_policy, PreemptionPolicy::kNever);
  EXPECT_TRUE(spec.host_network);
  EXPECT_TRUE(spec.own_users);
  EXPECT_FALSE(pods.with_spec("hostUsers: true")->spec().own_users);
  EXPECT_FALSE(pods.with_spec("hostUsers: null")->spec().own_users);
  EXPECT_EQ(spec.termination_grace_seconds, 5);
  EXPECT_EQ(pod->text(spec.scheduling_group), "g");
  EXPECT_EQ(spec.node_selector.size(), 2U);
  EXPECT_TRUE(std::is_sorted(spec.node_selector.begin(), spec.node_selector.end()));
  EXPECT_THAT(pods.texts(spec.scheduling_gates), ElementsAre("quota", "other"));
  ASSERT_EQ(spec.resource_claims.size(), 2U);
  EXPECT_EQ(pod->text(spec.resource_claims[0].claim_name), "c");
  EXPECT_EQ(pod->text(spec.resource_claims[1].template_name), "t");
}

TEST(PodJson, TheGracePeriodStaysInItsBounds) {
  Pods pods;
  EXPECT_EQ(pods.with_spec("terminationGracePeriodSeconds: 99999999999")
                ->spec()
                .termination_grace_seconds,
            2147483647);
  EXPECT_EQ(pods.with_spec("terminationGracePeriodSeconds: -1")->spec().termination_grace_seconds,
            0);
}

TEST(PodJson, Affinity) {
  Pods pods;
  const auto pod = pods.with_spec(R"(affinity: {
nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchExpressions: [{key: zone, operator: In, values: [a, b]}, {key: gen, operator: Gt,
        values: ["3"]}],
     matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]}, {}]},
  preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7,
      preference: {matchExpressions: [{key: gpu, operator: Exists}]}}]},
podAffinity: {},
podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host,
    labelSelector: {}, namespaces: [x]}],
  preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, podAffinityTerm: {topologyKey: zone,
    namespaceSelector: {matchLabels: {team: a}}, matchLabelKeys: [h], mismatchLabelKeys: [m],
    labelSelector: {matchExpressions: [{key: app, operator: Sometimes}]}}}]}})");
  ASSERT_TRUE(pod->spec().affinity);
  const Affinity& affinity = *pod->spec().affinity;
  ASSERT_TRUE(affinity.node && affinity.node->required);
  ASSERT_EQ(affinity.node->required->size(), 2U);
  const NodeSelectorTerm& term = affinity.node->required->front();
  EXPECT_EQ(term.match_expressions[0].op, SelectorOperator::kIn);
  EXPECT_THAT(pods.texts(term.match_expressions[0].values), ElementsAre("a", "b"));
  EXPECT_EQ(term.match_expressions[1].op, SelectorOperator::kGreaterThan);
  EXPECT_EQ(term.match_fields[0].op, SelectorOperator::kNotIn);
  EXPECT_TRUE(affinity.node->required->at(1).empty());
  EXPECT_EQ(affinity.node->preferred[0].weight, 7);
  EXPECT_EQ(affinity.node->preferred[0].preference.match_expressions[0].op,
            SelectorOperator::kExists);
  ASSERT_TRUE(affinity.pod) << "present, though empty";
  ASSERT_TRUE(affinity.pod_anti);
  const PodAffinityTerm& required = affinity.pod_anti->required.at(0);
  EXPECT_TRUE(required.label_selector);
  EXPECT_FALSE(required.namespace_selector);
  EXPECT_THAT(pods.texts(required.namespaces), ElementsAre("x"));
  const WeightedPodAffinityTerm& preferred = affinity.pod_anti->preferred.at(0);
  EXPECT_EQ(preferred.weight, 3);
  EXPECT_EQ(preferred.term.namespace_selector->match_labels.size(), 1U);
  EXPECT_THAT(pods.texts(preferred.term.match_label_keys), ElementsAre("h"));
  EXPECT_THAT(pods.texts(preferred.term.mismatch_label_keys), ElementsAre("m"));
  const SelectorRequirement& odd = preferred.term.label_selector->match_expressions.at(0);
  EXPECT_EQ(odd.op, SelectorOperator::kUnknown);
  EXPECT_EQ(pod->text(odd.operator_text), "Sometimes");
}

TEST(PodJson, ARequiredNodeAffinityWithoutTermsIsStillThere) {
  Pods pods;
  const auto pod = pods.with_spec(
      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}");
  ASSERT_TRUE(pod->spec().affinity->node->required);
  EXPECT_THAT(*pod->spec().affinity->node->required, IsEmpty());
  EXPECT_FALSE(
      pods.with_spec(
              "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: ~}}")
          ->spec()
          .affinity->node->required);
}

TEST(PodJson, TolerationsAndSpreading) {
  Pods pods;
  const auto pod = pods.with_spec(R"(
tolerations: [{key: a, value: b}, {operator: Exists, effect: NoExecute, tolerationSeconds: 60},
  {key: c, operator: Gt, value: "3", effect: PreferNoSchedule}, {key: d, operator: Odd,
      effect: Strange}],
topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway,
    minDomains: 3,
  labelSelector: {matchLabels: {app: x}}, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor,
      matchLabelKeys: [h]},
  {topologyKey: host, whenUnsatisfiable: DoNotSchedule}, {whenUnsatisfiable: Whatever}])");
  const auto& tolerations = pod->spec().tolerations;
  ASSERT_EQ(tolerations.size(), 4U);
  EXPECT_EQ(tolerations[0].op, TolerationOperator::kEqual);
  EXPECT_EQ(tolerations[0].effect, TaintEffect::kAny);
  EXPECT_FALSE(tolerations[0].toleration_seconds);
  EXPECT_EQ(tolerations[1].op, TolerationOperator::kExists);
  EXPECT_EQ(tolerations[1].effect, TaintEffect::kNoExecute);
  EXPECT_EQ(tolerations[1].toleration_seconds, 60);
  EXPECT_EQ(tolerations[2].op, TolerationOperator::kGreaterThan);
  EXPECT_EQ(tolerations[3].op, TolerationOperator::kUnknown);
  EXPECT_EQ(tolerations[3].effect, TaintEffect::kUnknown);

  const auto& spread = pod->spec().topology_spread_constraints;
  ASSERT_EQ(spread.size(), 3U);
  EXPECT_EQ(spread[0].max_skew, 2);
  EXPECT_EQ(spread[0].when_unsatisfiable, UnsatisfiableAction::kScheduleAnyway);
  EXPECT_EQ(spread[0].min_domains, 3);
  EXPECT_EQ(spread[0].node_affinity_policy, NodeInclusionPolicy::kIgnore);
  EXPECT_EQ(spread[0].node_taints_policy, NodeInclusionPolicy::kHonor);
  EXPECT_THAT(pods.texts(spread[0].match_label_keys), ElementsAre("h"));
  EXPECT_TRUE(spread[0].label_selector);
  EXPECT_FALSE(spread[1].label_selector);
  EXPECT_FALSE(spread[1].min_domains);
  EXPECT_FALSE(spread[1].node_affinity_policy);
  EXPECT_EQ(spread[1].when_unsatisfiable, UnsatisfiableAction::kDoNotSchedule);
  EXPECT_EQ(spread[2].when_unsatisfiable, UnsatisfiableAction::kUnknown);
}

TEST(PodJson, Volumes) {
  struct Row {
    std::string yaml;
    VolumeSource source;
    std::string name;
    bool read_only;
    std::string detail = {};
  };
  const Row rows[] = {
      {"persistentVolumeClaim: {claimName: c, readOnly: true}",
       VolumeSource::kPersistentVolumeClaim, "c", true},
      {"ephemeral: {volumeClaimTemplate: {spec: {}}}", VolumeSource::kEphemeral, "", false},
      {"configMap: {name: c, items: []}", VolumeSource::kConfigMap, "c", false},
      {"secret: {secretName: s}", VolumeSource::kSecret, "s", false},
      {"gcePersistentDisk: {pdName: p, readOnly: true}", VolumeSource::kGcePersistentDisk, "p",
       true},
      {"awsElasticBlockStore: {volumeID: v}", VolumeSource::kAwsElasticBlockStore, "v", false},
      {"azureDisk: {diskName: d, diskURI: u}", VolumeSource::kAzureDisk, "d", false, "u"},
      {"iscsi: {iqn: q, readOnly: true}", VolumeSource::kIscsi, "q", true},
      {"rbd: {image: i, monitors: [a, b]}", VolumeSource::kRbd, "i", false, "rbd"},
      {"rbd: {pool: p, image: i, readOnly: true}", VolumeSource::kRbd, "i", true, "p"},
      {"csi: {driver: d}", VolumeSource::kCsi, "d", false},
      {"cinder: {volumeID: v}", VolumeSource::kCinder, "v", false},
      {"azureFile: {shareName: s, secretName: t, readOnly: true}", VolumeSource::kAzureFile, "s",
       true, "t"},
      {"vsphereVolume: {volumePath: p}", VolumeSource::kVsphereVolume, "p", false},
      {"portworxVolume: {volumeID: v}", VolumeSource::kPortworxVolume, "v", false},
      {"image: {reference: r, pullPolicy: Always}", VolumeSource::kImage, "r", false},
      {"emptyDir: {}", VolumeSource::kOther, "", false},
  };
  Pods pods;
  for (const Row& row : rows) {
    const auto pod = pods.with_spec("volumes: [{name: v, " + row.yaml + "}]");
    const Volume& volume = pod->spec().volumes.at(0);
    EXPECT_EQ(pod->text(volume.name), "v");
    EXPECT_EQ(volume.source, row.source) << row.yaml;
    EXPECT_EQ(pod->text(volume.source_name), row.name) << row.yaml;
    EXPECT_EQ(volume.read_only, row.read_only) << row.yaml;
    EXPECT_EQ(pod->text(volume.detail), row.detail) << row.yaml;
  }
  const auto pod = pods.with_spec("volumes: [{name: v, rbd: {image: i, monitors: [a, b]}}]");
  EXPECT_THAT(pods.texts(pod->spec().volumes.at(0).monitors), ElementsAre("a", "b"));
}

TEST(PodJson, OfTheStatusWhatSchedulingLooksAt) {
  Pods pods;
  const auto pod = pods.pod(R"(
status:
  phase: Running
  nominatedNodeName: n2
  startTime: "2026-01-01T00:00:05Z"
  conditions:
  - {type: PodScheduled, status: "True"}
  - {type: PodReadyToStartContainers, status: "True"}
  - {type: Ready, status: "True"}
  - {type: DisruptionTarget, status: "True", reason: PreemptionByScheduler, message: m,
     lastTransitionTime: "2026-01-01T00:00:00Z", lastProbeTime: null, observedGeneration: 4}
)");
  EXPECT_EQ(pod->phase(), PodPhase::kRunning);
  EXPECT_EQ(pod->nominated_node_name(), "n2");
  EXPECT_EQ(pod->start_time(), VirtualLoop::kDefaultStart + std::chrono::seconds(5));
  EXPECT_TRUE(pod->scheduled_condition());
  ASSERT_NE(pod->extra(), nullptr);
  ASSERT_EQ(pod->extra()->conditions.size(), 1U);
  const PodCondition& condition = pod->extra()->conditions[0];
  EXPECT_EQ(condition.type, "DisruptionTarget");
  EXPECT_EQ(condition.reason, "PreemptionByScheduler");
  EXPECT_EQ(condition.message, "m");
  EXPECT_EQ(condition.last_transition_time, VirtualLoop::kDefaultStart);
  EXPECT_FALSE(condition.last_probe_time);
  EXPECT_EQ(condition.observed_generation, 4);

  const auto unscheduled = pods.pod(
      "status: {conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable}]}");
  EXPECT_FALSE(unscheduled->scheduled_condition());
  ASSERT_NE(unscheduled->condition("PodScheduled"), nullptr);
  EXPECT_EQ(unscheduled->condition("PodScheduled")->reason, "Unschedulable");
}

TEST(PodJson, PhasesByName) {
  Pods pods;
  const std::pair<const char*, PodPhase> rows[] = {{"Pending", PodPhase::kPending},
                                                   {"Running", PodPhase::kRunning},
                                                   {"Succeeded", PodPhase::kSucceeded},
                                                   {"Failed", PodPhase::kFailed},
                                                   {"Unknown", PodPhase::kUnknown},
                                                   {"New", PodPhase::kUnknown},
                                                   {"", PodPhase::kPending}};
  for (const auto& [text, phase] : rows)
    EXPECT_EQ(pods.pod("status: {phase: \"" + std::string(text) + "\"}")->phase(), phase) << text;
}

TEST(PodJson, ResourcesOfTheStatusAreKeptOnlyDuringAResize) {
  const std::string spec =
      "spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}], initContainers: [{name: s, "
      "restartPolicy: "
      "Always, resources: {requests: {cpu: 1}}}]}\n";
  Pods pods;
  const auto same = pods.pod(spec + R"(
status: {containerStatuses: [{name: c, resources: {requests: {cpu: 2}},
    allocatedResources: {cpu: 2000m}}],
         initContainerStatuses: [{name: s, resources: {requests: {cpu: 1}}}]})");
  EXPECT_EQ(same->extra(), nullptr) << "a running pod like any other";

  const auto smaller = pods.pod(spec + R"(
status: {containerStatuses: [{name: c, resources: {requests: {cpu: 1}},
    allocatedResources: {cpu: 1}}]})");
  EXPECT_EQ(smaller->extra(), nullptr) << "the larger of the two is the spec's";
  EXPECT_EQ(smaller->usage().requests.milli_cpu, 3000);

  const auto larger = pods.pod(spec + R"(
status: {initContainerStatuses: [{name: s, resources: {requests: {cpu: 1}}}],
         containerStatuses: [{name: c, resources: {requests: {cpu: 3}},
             allocatedResources: {cpu: 4}}, {name: other}]})");
  ASSERT_NE(larger->extra(), nullptr);
  ASSERT_EQ(larger->extra()->container_resources.size(), 2U);
  EXPECT_EQ(larger->text(larger->extra()->container_resources[0].container), "c")
      << "regular ones first";
  EXPECT_EQ(larger->usage().requests.milli_cpu, 5000);

  const auto only_allocated =
      pods.pod(spec + "status: {containerStatuses: [{name: c, allocatedResources: {cpu: 4}}]}");
  EXPECT_EQ(only_allocated->usage().requests.milli_cpu, 5000) << "without resources beside it";

  const auto infeasible = pods.pod(spec + R"(
status: {conditions: [{type: PodResizePending, status: "True", reason: Infeasible}],
         containerStatuses: [{name: c, resources: {requests: {cpu: 1}},
             allocatedResources: {cpu: 1}}]})");
  ASSERT_NE(infeasible->extra(), nullptr);
  EXPECT_EQ(infeasible->usage().requests.milli_cpu, 1000)
      << "what it has, not what it cannot get; of the sidecar nothing is known";

  const auto unnamed = pods.pod(R"(
spec: {containers: [{name: c, resources: {requests: {cpu: 50m, memory: 1Mi}}}]}
status: {containerStatuses: [{name: c, allocatedResources: {memory: 1Mi}}]})");
  EXPECT_EQ(unnamed->usage().nonzero_milli_cpu, 100) << "the default is more than the spec";
}

TEST(PodJson, PodLevelResourcesOfTheStatusAreKeptIfTheyAreMoreThanTheSpecs) {
  struct Row {
    std::string spec;    // beside the containers
    std::string status;  // of the pod
    bool kept = false;
    std::int64_t milli_cpu = 0;
  };
  const std::vector<Row> rows = {
      {"", "resources: {requests: {cpu: 2}}, allocatedResources: {cpu: 2}", false, 2000},
      {"", "resources: {requests: {cpu: 3}}, allocatedResources: {cpu: 2}", true, 3000},
      {"", "resources: {requests: {cpu: 2}}, allocatedResources: {cpu: 2, memory: 1}", true, 2000},
      // Only both together stand for the containers.
      {"", "resources: {requests: {cpu: 3}}", false, 2000},
      {"", "resources: {}, allocatedResources: {cpu: 3}", false, 2000},
      {"", "allocatedResources: {cpu: 3}", false, 2000},
      // What the kubelet reports has the overhead in it.
      {"overhead: {cpu: 1}, ", "resources: {requests: {cpu: 2}}, allocatedResources: {cpu: 3}",
       true, 4000},
      {"resources: {requests: {cpu: 4}}, ", "resources: {requests: {cpu: 4}}", false, 4000},
      {"resources: {requests: {cpu: 4}}, ", "resources: {requests: {cpu: 5}}", true, 5000},
      {"resources: {requests: {cpu: 4}}, ", "resources: {}, allocatedResources: {cpu: 6}", true,
       6000},
      {"resources: {requests: {cpu: 4}}, ", "allocatedResources: {cpu: 6}", false, 4000},
  };
  Pods pods;
  for (const Row& row : rows) {
    const auto pod = pods.pod("spec: {" + row.spec +
                              "containers: [{name: c, resources: {requests: {cpu: 2}}}]}\n"
                              "status: {" +
                              row.status + "}");
    EXPECT_EQ(pod->extra() != nullptr, row.kept) << row.spec << row.status;
    EXPECT_EQ(pod->usage().requests.milli_cpu, row.milli_cpu) << row.spec << row.status;
  }
}

TEST(PodJson, EqualSpecsAndMetasAreShared) {
  Pods pods;
  const std::string yaml =
      "metadata: {labels: {a: b, c: d}}\nspec: {nodeSelector: {x: y1, z: w}, containers: [{name: "
      "c, resources: "
      "{requests: {cpu: 1}}}]}\n";
  const std::string same =
      "metadata: {name: q, labels: {c: d, a: b}}\nspec: {nodeName: n1, nodeSelector: {z: w, x: "
      "y1}, containers: "
      "[{resources: {requests: {cpu: 1000m}}, name: c}]}\n";
  const auto a = pods.pod(yaml);
  const auto b = pods.pod(same);
  EXPECT_EQ(a->spec_ref(), b->spec_ref());
  EXPECT_EQ(a->meta_ref(), b->meta_ref());
}

TEST(PodJson, ErrorsNameTheField) {
  Pods pods;
  EXPECT_THAT(pods.spec_error("containers: [{name: c}, {resources: {requests: {cpu: a}}}]"),
              StartsWith("spec.containers[1].resources.requests.cpu: quantities must match"));
  EXPECT_THAT(
      pods.spec_error("containers: [{resources: {limits: {nvidia.com/gpu: {}}}}]"),
      StartsWith("spec.containers[0].resources.limits[nvidia.com/gpu]: expected a quantity"));
  const std::pair<std::string, std::string> rows[] = {
      {"priority: high", "spec.priority: expected an integer, got a string"},
      {"priority: 99999999999", "spec.priority: 99999999999 does not fit in 32 bits"},
      {"hostNetwork: \"true\"", "spec.hostNetwork: expected a boolean, got a string"},
      {"nodeName: 5", "spec.nodeName: expected a string, got a number"},
      {"containers: {}", "spec.containers: expected a list, got a map"},
      {"containers: [5]", "spec.containers[0]: expected a map, got a number"},
      {"nodeSelector: {a: 1}", "spec.nodeSelector.a: expected a string, got a number"},
      {"tolerations: [{tolerationSeconds: 1.5}]",
       "spec.tolerations[0].tolerationSeconds: expected an integer, got 1.5"},
      {"preemptionPolicy: Always",
       "spec.preemptionPolicy: Unsupported value: \"Always\": supported values: \"Never\", "
       "\"PreemptLowerPriority\""},
      {"topologySpreadConstraints: [{nodeTaintsPolicy: No thanks}]",
       "spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: \"No thanks\": "
       "supported "
       "values: \"Honor\", \"Ignore\""},
      {"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: "
       "{matchExpressions: "
       "[{values: [1]}]}}]}}",
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector."
       "matchExpressions[0].values[0]: expected a string, got a number"},
  };
  for (const auto& [fields, message] : rows) EXPECT_EQ(pods.spec_error(fields), message) << fields;
  EXPECT_EQ(pods.error("metadata: {labels: [a]}"), "metadata.labels: expected a map, got a list");
  EXPECT_EQ(pods.error("metadata: {name: " + std::string(254, 'x') + "}"),
            "metadata.name: must be no more than 253 characters");
  EXPECT_THAT(pods.error("metadata: {creationTimestamp: \"2026-13-01T00:00:00Z\"}"),
              StartsWith("metadata.creationTimestamp: "));
  EXPECT_THAT(pods.error("status: {conditions: [{type: PodScheduled, lastProbeTime: x}]}"),
              StartsWith("status.conditions[0].lastProbeTime: "));
}

TEST(PodJson, ExtremeValuesAreReadOrRefusedNeverFatal) {
  Pods pods;
  for (const char* quantity :
       {"1e999999999", "-1e999999999", "1e-999999999", "9999999999999999999999999Ei", "0x10",
        "1e99999999999999999999", ".", "+", "1.0000000000000000000000000001"})
    pods.spec_error("containers: [{resources: {requests: {cpu: \"" + std::string(quantity) +
                    "\"}}}]");
  for (const char* time :
       {"9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "2026-01-01"})
    pods.error("metadata: {creationTimestamp: \"" + std::string(time) + "\"}");
  EXPECT_EQ(pods.error("metadata: {name: \"\\0\\u263a\"}"), "");
}

TEST(PodJson, ATemplateIsLabelsAndSpec) {
  Pods pods;
  const auto pod_template = decode_pod_template(
      Pods::json("{metadata: {labels: {app: x}}, spec: {priority: 0, containers: [{name: c}]}}"),
      pods.interner);
  ASSERT_TRUE(pod_template);
  EXPECT_TRUE(pod_template->priority_given);
  EXPECT_FALSE(pod_template->preemption_policy_given);

  std::vector<Ref<const Pod>> stamped;
  for (const char* name : {"x-0", "x-1"}) {
    WrittenPod pod(*pod_template);
    pod.own.name = name;
    pod.meta.namespace_name = pod.meta.symbols.intern("prod");
    stamped.push_back(freeze(std::move(pod), pods.interner));
  }
  EXPECT_EQ(stamped[0]->full_name(), "prod/x-0");
  EXPECT_EQ(stamped[1]->full_name(), "prod/x-1");
  EXPECT_EQ(stamped[0]->spec_ref(), stamped[1]->spec_ref());
  EXPECT_EQ(stamped[0]->text(stamped[0]->labels().get(pods.symbol("app"))), "x");

  const auto broken = decode_pod_template(R"({"spec":{"containers":5}})", pods.interner);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "spec.containers: expected a list, got a number");
}

TEST(PodJson, ClaimsThatWereMadeForThePod) {
  Pods pods;
  EXPECT_EQ(pods.pod("{status: {resourceClaimStatuses: []}}")->extra(), nullptr);
  const auto pod = pods.pod(R"(
status:
  resourceClaimStatuses: [{name: gpu, resourceClaimName: claim-1}, {name: nic}]
  extendedResourceClaimStatus:
    resourceClaimName: claim-2
    requestMappings: [{containerName: c, resourceName: r, requestName: q}]
)");
  ASSERT_NE(pod->extra(), nullptr);
  EXPECT_EQ(pod->extra()->resource_claim_statuses,
            (std::vector<PodResourceClaimStatus>{{"gpu", "claim-1"}, {"nic", std::nullopt}}));
  EXPECT_EQ(pod->extra()->extended_resource_claim_status,
            (PodExtendedResourceClaimStatus{{{"c", "r", "q"}}, "claim-2"}));
}

}  // namespace
}  // namespace berth
