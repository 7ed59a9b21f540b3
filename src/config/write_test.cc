// What is written is what kube-scheduler v1.37.1 writes, byte for byte.
#include "config/write.h"

#include <gtest/gtest.h>

#include "config/testing/parse.h"

namespace berth::config {
namespace {

constexpr std::string_view kDefault = R"(apiVersion: kubescheduler.config.k8s.io/v1
clientConnection:
  acceptContentTypes: ""
  burst: 100
  contentType: application/vnd.kubernetes.protobuf
  kubeconfig: ""
  qps: 50
enableContentionProfiling: true
enableProfiling: true
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  leaseDuration: 15s
  renewDeadline: 10s
  resourceLock: leases
  resourceName: kube-scheduler
  resourceNamespace: kube-system
  retryPeriod: 2s
parallelism: 16
percentageOfNodesToScore: 0
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
profiles:
- pluginConfig:
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: DefaultPreemptionArgs
      minCandidateNodesAbsolute: 100
      minCandidateNodesPercentage: 10
    name: DefaultPreemption
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      bindingTimeout: 10m0s
      filterTimeout: 10s
      kind: DynamicResourcesArgs
    name: DynamicResources
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      hardPodAffinityWeight: 1
      ignorePreferredTermsOfExistingPods: false
      kind: InterPodAffinityArgs
    name: InterPodAffinity
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeAffinityArgs
    name: NodeAffinity
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesBalancedAllocationArgs
      resources:
      - name: cpu
        weight: 1
      - name: memory
        weight: 1
    name: NodeResourcesBalancedAllocation
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy:
        resources:
        - name: cpu
          weight: 1
        - name: memory
          weight: 1
        type: LeastAllocated
    name: NodeResourcesFit
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      defaultingType: System
      kind: PodTopologySpreadArgs
    name: PodTopologySpread
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      bindTimeoutSeconds: 600
      kind: VolumeBindingArgs
      shape:
      - score: 10
        utilization: 0
      - score: 0
        utilization: 100
    name: VolumeBinding
  plugins:
    bind: {}
    filter: {}
    multiPoint:
      enabled:
      - name: SchedulingGates
        weight: 0
      - name: PrioritySort
        weight: 0
      - name: NodeName
        weight: 0
      - name: NodeUnschedulable
        weight: 0
      - name: TaintToleration
        weight: 3
      - name: NodeAffinity
        weight: 2
      - name: NodePorts
        weight: 0
      - name: NodeResourcesFit
        weight: 1
      - name: VolumeRestrictions
        weight: 0
      - name: NodeVolumeLimits
        weight: 0
      - name: VolumeBinding
        weight: 0
      - name: VolumeZone
        weight: 0
      - name: PodTopologySpread
        weight: 2
      - name: InterPodAffinity
        weight: 2
      - name: DynamicResources
        weight: 2
      - name: DefaultPreemption
        weight: 0
      - name: NodeResourcesBalancedAllocation
        weight: 1
      - name: ImageLocality
        weight: 1
      - name: DefaultBinder
        weight: 0
      - name: NodeDeclaredFeatures
        weight: 0
    permit: {}
    placementGenerate: {}
    placementScore: {}
    podGroupPostFilter: {}
    postBind: {}
    postFilter: {}
    preBind: {}
    preEnqueue: {}
    preFilter: {}
    preScore: {}
    queueSort: {}
    reserve: {}
    score: {}
  schedulerName: default-scheduler
)";

constexpr std::string_view kRich = R"(profiles:
- schedulerName: rich
  percentageOfNodesToScore: 50
  plugins:
    multiPoint:
      disabled: [{name: "*"}]
      enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: NodeName}, {name: DefaultPreemption}]
    score:
      disabled: [{name: ImageLocality, weight: 4}]
      enabled: [{name: NodeAffinity, weight: 7}]
    filter:
      enabled: [{name: PodTopologySpread}, {name: NodeResourcesFit}]
    podGroupPostFilter:
      disabled: [{name: DynamicResources}]
      enabled: [{name: DefaultPreemption}]
  pluginConfig:
  - name: NodeName
    args: {z: "yes", b: [1, 2.50, "a: b", []], c: {}, kind: Foo}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 5}
  - name: PodTopologySpread
    args: {defaultingType: List, defaultConstraints: [{maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, minDomains: 5, nodeAffinityPolicy: Ignore, matchLabelKeys: [x]}]}
  - name: NodeResourcesFit
    args: {ignoredResources: [a], scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu}], requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}]}}}
  - name: NodeAffinity
    args: {addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, preference: {matchExpressions: [{key: a, operator: Exists}]}}], requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: ["1"]}]}, {}]}}}
extenders:
- {urlPrefix: "http://a", filterVerb: f, weight: 5, tlsConfig: {insecure: true}, managedResources: [{name: a.b/c, ignoredByScheduler: true}], ignorable: true}
- {urlPrefix: b}
delayCacheUntilActive: true
enableProfiling: false
clientConnection: {qps: 0.5}
leaderElection: {leaseDuration: 1h2m3.5s, resourceName: "- a"}
)";

constexpr std::string_view kRichWritten = R"(apiVersion: kubescheduler.config.k8s.io/v1
clientConnection:
  acceptContentTypes: ""
  burst: 100
  contentType: application/vnd.kubernetes.protobuf
  kubeconfig: ""
  qps: 0.5
delayCacheUntilActive: true
enableContentionProfiling: false
enableProfiling: false
extenders:
- filterVerb: f
  httpTimeout: 5s
  ignorable: true
  managedResources:
  - ignoredByScheduler: true
    name: a.b/c
  tlsConfig:
    insecure: true
  urlPrefix: http://a
  weight: 5
- httpTimeout: 5s
  urlPrefix: b
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  leaseDuration: 1h2m3.5s
  renewDeadline: 10s
  resourceLock: leases
  resourceName: '- a'
  resourceNamespace: kube-system
  retryPeriod: 2s
parallelism: 16
percentageOfNodesToScore: 0
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
profiles:
- percentageOfNodesToScore: 50
  pluginConfig:
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: DefaultPreemptionArgs
      minCandidateNodesAbsolute: 100
      minCandidateNodesPercentage: 10
    name: DefaultPreemption
  - args:
      addedAffinity:
        preferredDuringSchedulingIgnoredDuringExecution:
        - preference:
            matchExpressions:
            - key: a
              operator: Exists
          weight: 3
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchFields:
            - key: metadata.name
              operator: In
              values:
              - "1"
          - {}
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeAffinityArgs
    name: NodeAffinity
  - args:
      b:
      - 1
      - 2.5
      - 'a: b'
      - []
      c: {}
      kind: Foo
      z: "yes"
    name: NodeName
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      ignoredResources:
      - a.b/c
      kind: NodeResourcesFitArgs
      scoringStrategy:
        requestedToCapacityRatio:
          shape:
          - score: 1
            utilization: 0
        resources:
        - name: cpu
          weight: 1
        type: RequestedToCapacityRatio
    name: NodeResourcesFit
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      defaultConstraints:
      - matchLabelKeys:
        - x
        maxSkew: 2
        minDomains: 5
        nodeAffinityPolicy: Ignore
        topologyKey: a
        whenUnsatisfiable: ScheduleAnyway
      defaultingType: List
      kind: PodTopologySpreadArgs
    name: PodTopologySpread
  plugins:
    bind: {}
    filter:
      enabled:
      - name: PodTopologySpread
        weight: 0
      - name: NodeResourcesFit
        weight: 0
    multiPoint:
      disabled:
      - name: '*'
        weight: 0
      enabled:
      - name: PrioritySort
        weight: 0
      - name: DefaultBinder
        weight: 0
      - name: NodeName
        weight: 0
      - name: DefaultPreemption
        weight: 0
    permit: {}
    placementGenerate: {}
    placementScore: {}
    podGroupPostFilter:
      disabled:
      - name: DynamicResources
        weight: 0
      enabled:
      - name: DefaultPreemption
        weight: 0
    postBind: {}
    postFilter: {}
    preBind: {}
    preEnqueue: {}
    preFilter: {}
    preScore: {}
    queueSort: {}
    reserve: {}
    score:
      disabled:
      - name: ImageLocality
        weight: 0
      enabled:
      - name: NodeAffinity
        weight: 7
  schedulerName: rich
)";

TEST(Write, TheDefaultConfiguration) { EXPECT_EQ(to_yaml(default_configuration({})), kDefault); }

TEST(Write, OnlyArgumentsOfEnabledPluginsAndOnlyFieldsThatSaySomething) {
  const auto configuration = parse(file(kRich));
  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_EQ(to_yaml(*configuration), kRichWritten);
}

TEST(Write, WhatIsWrittenReadsAsTheSame) {
  for (const std::string_view text : {kDefault, kRichWritten}) {
    const auto configuration = parse(text);
    ASSERT_TRUE(configuration) << configuration.error().message;
    EXPECT_EQ(to_yaml(*configuration), text);
  }
}

TEST(Write, ArgumentsFollowTheGates) {
  const std::string text = to_yaml(default_configuration(
      gates("DRASchedulerFilterTimeout=false,DRADeviceBindingConditions=false,"
            "StorageCapacityScoring=false")));
  EXPECT_TRUE(text.contains("      filterTimeout: null\n      kind: DynamicResourcesArgs\n"));
  EXPECT_FALSE(text.contains("bindingTimeout"));
  EXPECT_FALSE(text.contains("shape"));
}

TEST(Write, TextIsQuotedWhereYamlWouldTakeItForSomethingElse) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"plain", "plain"},
      {"x: y", "'x: y'"},
      {"a:b", "a:b"},
      {"- a #b", "'- a #b'"},
      {"-", "'-'"},
      {"[a", "'[a'"},
      {"a'b", "a'b"},
      {" a", "' a'"},
      {"yes", "\"yes\""},
      {"null", "\"null\""},
      {"1.5", "\"1.5\""},
      {"0x1f", "\"0x1f\""},
      {"12:30", "\"12:30\""},
      {"2001-01-01", "\"2001-01-01\""},
      {"\u00e9\x01", "\"\u00e9\\x01\""},
      {"a\nb", "|-\n    a\n    b"},
      {"a\n", "|\n    a"},
  };
  for (const auto& [text, written] : cases) {
    Configuration configuration = default_configuration({});
    configuration.leader_election.resource_name = text;
    const std::string yaml = to_yaml(configuration);
    EXPECT_TRUE(yaml.contains("  resourceName: " + std::string(written) + "\n")) << yaml;
    const auto again = parse(yaml);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->leader_election.resource_name, text);
  }
}

}  // namespace
}  // namespace berth::config
