#include "api/defaulting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/decode.h"
#include "api/names.h"
#include "base/testing/names.h"
#include "wire/yaml.h"

namespace berth {
namespace {

struct Server {
  Interner interner;
  Admission admission{.priority_classes = {}, .now = VirtualLoop::kDefaultStart};

  static std::string json(std::string_view yaml) {
    const auto documents = parse_yaml(yaml);
    return documents && documents->size() == 1 ? documents->front().json : "not one document";
  }
  Server& with_class(const std::string& name, std::int32_t value, bool global_default = false,
                     bool never = false) {
    auto priority_class = make_ref<PriorityClass>(interner.hold());
    priority_class->name = name;
    priority_class->value = value;
    priority_class->global_default = global_default;
    priority_class->preempt_never = never;
    admission.priority_classes[name] = priority_class;
    return *this;
  }
  Result<AnyObject> admit(ObjectKind kind, std::string_view yaml) {
    return decode_object(kind, json(yaml), interner, &admission, "name");
  }
  Ref<const Pod> pod(std::string_view yaml) {
    const auto admitted = admit(ObjectKind::kPod, yaml);
    EXPECT_TRUE(admitted) << (admitted ? "" : admitted.error().message);
    return admitted ? std::get<Ref<const Pod>>(*admitted) : Ref<const Pod>();
  }
  Ref<const Pod> with_spec(const std::string& fields) { return pod("spec: {" + fields + "}"); }
  template <typename Kind>
  Ref<const Kind> object(ObjectKind kind, std::string_view yaml) {
    const auto admitted = admit(kind, yaml);
    EXPECT_TRUE(admitted) << (admitted ? "" : admitted.error().message);
    return Ref<const Kind>(dynamic_cast<const Kind*>(std::get<Ref<const Object>>(*admitted).get()));
  }
  Symbol symbol(std::string_view text) { return interner.symbols()->intern(text); }
};

std::string defaulted_amount(const ResourceList& list, Symbol name) {
  const Quantity* quantity = list.find(name);
  return quantity ? quantity->to_string() : "none";
}

TEST(Defaulting, RequestsComeFromLimitsWhereTheyAreNotSaid) {
  Server server;
  const auto pod = server.with_spec(
      "containers: [{name: c, resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}}}], "
      "initContainers: [{name: i, resources: {limits: {memory: 3Gi}}}]");
  const Container& container = pod->spec().containers[0];
  EXPECT_EQ(defaulted_amount(container.requests, names::kCpu), "1");
  EXPECT_EQ(defaulted_amount(container.requests, names::kMemory), "1Gi");
  EXPECT_EQ(defaulted_amount(pod->spec().init_containers[0].requests, names::kMemory), "3Gi");
}

TEST(Defaulting, AmountsFinerThanAThousandthAreRoundedUp) {
  Server server;
  const auto pod = server.with_spec(
      "overhead: {cpu: 100n}, containers: [{name: c, resources: {requests: {cpu: 500u, memory: "
      "1.0001, "
      "example.com/x: 12345678901234567890}}}]");
  const Container& container = pod->spec().containers[0];
  EXPECT_EQ(defaulted_amount(container.requests, names::kCpu), "1m");
  EXPECT_EQ(defaulted_amount(container.requests, names::kMemory), "1001m");
  EXPECT_EQ(defaulted_amount(container.requests, server.symbol("example.com/x")),
            "12345678901234567890");
  EXPECT_EQ(defaulted_amount(pod->spec().overhead, names::kCpu), "1m");
}

TEST(Defaulting, PodLevelRequestsComeFromContainersThenFromLimits) {
  Server server;
  const auto some = server.with_spec(
      "resources: {limits: {cpu: 4, memory: 4Gi}}, containers: [{name: a, resources: {requests: "
      "{cpu: 1}}}, "
      "{name: b, resources: {limits: {cpu: 500m}}}]");
  ASSERT_TRUE(some->spec().pod_requests);
  EXPECT_EQ(defaulted_amount(*some->spec().pod_requests, names::kCpu), "1500m")
      << "what the containers take";
  EXPECT_EQ(defaulted_amount(*some->spec().pod_requests, names::kMemory), "4Gi")
      << "no container says";

  const auto said = server.with_spec(
      "resources: {limits: {cpu: 4}, requests: {cpu: 3}}, containers: [{name: a, resources: "
      "{requests: {cpu: 1}}}]");
  EXPECT_EQ(defaulted_amount(*said->spec().pod_requests, names::kCpu), "3");

  const auto no_limits = server.with_spec(
      "resources: {requests: {cpu: 3}}, containers: [{name: a, resources: {requests: {memory: "
      "1Gi}}}]");
  EXPECT_EQ(defaulted_amount(*no_limits->spec().pod_requests, names::kMemory), "none");

  const auto empty = server.with_spec("resources: {}, containers: [{name: a}]");
  EXPECT_FALSE(empty->spec().pod_requests);
}

TEST(Defaulting, PodLevelRequestsCountInitContainersAsTheSchedulerDoes) {
  Server server;
  const auto pod = server.with_spec(
      "resources: {limits: {cpu: 9}}, containers: [{name: a, resources: {requests: {cpu: 1}}}], "
      "initContainers: "
      "[{name: s, restartPolicy: Always, resources: {requests: {cpu: 2}}}, {name: i, resources: "
      "{requests: {cpu: 3}}}]");
  EXPECT_EQ(defaulted_amount(*pod->spec().pod_requests, names::kCpu), "5")
      << "the init container beside the sidecar";
}

TEST(Defaulting, HugePagesOfContainersLimitThePod) {
  Server server;
  const Symbol pages = server.symbol("hugepages-2Mi");
  const auto pod = server.with_spec(
      "resources: {limits: {cpu: 1}}, containers: [{name: a, resources: {limits: {hugepages-2Mi: "
      "4Mi}}}, "
      "{name: b, resources: {limits: {hugepages-2Mi: 2Mi}}}]");
  EXPECT_EQ(defaulted_amount(*pod->spec().pod_limits, pages), "6Mi");
  EXPECT_EQ(defaulted_amount(*pod->spec().pod_requests, pages), "6Mi");
}

TEST(Defaulting, HostNetworkPutsPortsOnTheHost) {
  Server server;
  const auto host = server.with_spec(
      "hostNetwork: true, containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 81, "
      "hostPort: 82}]}], "
      "initContainers: [{name: i, ports: [{containerPort: 90}]}]");
  EXPECT_EQ(host->spec().containers[0].ports[0].host_port, 80);
  EXPECT_EQ(host->spec().containers[0].ports[1].host_port, 82);
  EXPECT_EQ(host->spec().init_containers[0].ports[0].host_port, 90);
  const auto own = server.with_spec("containers: [{name: a, ports: [{containerPort: 80}]}]");
  EXPECT_EQ(own->spec().containers[0].ports[0].host_port, 0);
}

TEST(Defaulting, TolerationsOfNotReadyAndUnreachableNodes) {
  struct Row {
    const char* tolerations;
    std::size_t count;
  };
  const Row rows[] = {
      {"[]", 2},
      {"[{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]", 2},
      {"[{key: node.kubernetes.io/not-ready, operator: Exists}]", 2},
      {"[{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoSchedule}]", 3},
      {"[{operator: Exists}]", 1},
      {"[{operator: Exists, effect: NoSchedule}]", 3},
      {"[{key: other, operator: Exists}]", 3},
  };
  Server server;
  for (const Row& row : rows)
    EXPECT_EQ(
        server.with_spec("tolerations: " + std::string(row.tolerations))->spec().tolerations.size(),
        row.count)
        << row.tolerations;

  const auto& added = server.with_spec("containers: []")->spec().tolerations;
  EXPECT_EQ(added[0].key, names::kNotReadyTaint);
  EXPECT_EQ(added[1].key, names::kUnreachableTaint);
  for (const Toleration& toleration : added) {
    EXPECT_EQ(toleration.op, TolerationOperator::kExists);
    EXPECT_EQ(toleration.effect, TaintEffect::kNoExecute);
    EXPECT_EQ(toleration.toleration_seconds, 300);
  }
}

TEST(Defaulting, PriorityComesFromTheClass) {
  Server server;
  server.with_class("high", 1000).with_class("polite", 10, false, /*never=*/true);
  EXPECT_EQ(server.with_spec("containers: []")->priority(), 0);
  EXPECT_EQ(server.with_spec("priorityClassName: high")->priority(), 1000);
  EXPECT_EQ(server.with_spec("priorityClassName: high")->spec().preemption_policy,
            PreemptionPolicy::kPreemptLowerPriority);
  EXPECT_EQ(server.with_spec("priorityClassName: polite")->spec().preemption_policy,
            PreemptionPolicy::kNever);
  EXPECT_EQ(server.with_spec("priorityClassName: system-cluster-critical")->priority(),
            2'000'000'000);
  EXPECT_EQ(server.with_spec("priorityClassName: system-node-critical")->priority(), 2'000'001'000);

  const auto unknown = server.admit(ObjectKind::kPod, "spec: {priorityClassName: nope}");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "no PriorityClass with name nope was found");
  EXPECT_EQ(unknown.error().kind, ErrorKind::kForbidden);
}

TEST(Defaulting, OfSeveralGlobalDefaultsTheLowestCounts) {
  Server server;
  server.with_class("b", 50, true).with_class("a", 70, true, true).with_class("c", 10);
  const auto pod = server.with_spec("containers: []");
  EXPECT_EQ(pod->priority(), 50);
  EXPECT_EQ(pod->text(pod->spec().priority_class_name), "b");
  EXPECT_EQ(server.with_spec("priorityClassName: c")->priority(), 10);
}

TEST(Defaulting, ADumpOfAClusterKeepsItsPriorities) {
  Server server;
  server.with_class("default", 50, true).with_class("high", 1000, false, true);
  EXPECT_EQ(server.with_spec("priority: 0")->priority(), 0) << "said, though it looks like nothing";
  EXPECT_EQ(server.with_spec("priority: 7, priorityClassName: gone")->priority(), 7);
  EXPECT_EQ(
      server
          .with_spec("priority: 7, priorityClassName: high, preemptionPolicy: PreemptLowerPriority")
          ->spec()
          .preemption_policy,
      PreemptionPolicy::kPreemptLowerPriority);
}

TEST(Defaulting, MatchLabelKeysBecomeRequirements) {
  Server server;
  const auto pod = server.pod(R"(
metadata: {labels: {hash: h1, app: web}}
spec:
  topologySpreadConstraints:
  - {topologyKey: zone, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [hash, missing]}
  - {topologyKey: zone, matchLabelKeys: [hash]}
  affinity:
    podAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, podAffinityTerm: {topologyKey: z, labelSelector: {}, matchLabelKeys: [hash]}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: z, labelSelector: {}, matchLabelKeys: [app], mismatchLabelKeys: [hash]}
      - {topologyKey: z, matchLabelKeys: [app]}
)");
  const auto& spread = pod->spec().topology_spread_constraints;
  ASSERT_EQ(spread[0].label_selector->match_expressions.size(), 1U)
      << "a key the pod lacks is ignored";
  const SelectorRequirement& requirement = spread[0].label_selector->match_expressions[0];
  EXPECT_EQ(requirement.key, server.symbol("hash"));
  EXPECT_EQ(requirement.op, SelectorOperator::kIn);
  EXPECT_THAT(requirement.values, ElementsAre(server.symbol("h1")));
  EXPECT_FALSE(spread[1].label_selector) << "nothing stays nothing";

  const Affinity& affinity = *pod->spec().affinity;
  EXPECT_EQ(affinity.pod->preferred[0].term.label_selector->match_expressions.size(), 1U);
  const auto& anti = affinity.pod_anti->required[0].label_selector->match_expressions;
  ASSERT_EQ(anti.size(), 2U);
  EXPECT_EQ(anti[0].op, SelectorOperator::kIn);
  EXPECT_EQ(anti[0].key, server.symbol("app"));
  EXPECT_EQ(anti[1].op, SelectorOperator::kNotIn);
  EXPECT_EQ(anti[1].key, server.symbol("hash"));
  EXPECT_FALSE(affinity.pod_anti->required[1].label_selector);
}

TEST(Defaulting, MatchLabelKeysAreMergedOnce) {
  Server server;
  const auto pod = server.pod(R"(
metadata: {labels: {hash: h1}}
spec:
  topologySpreadConstraints:
  - {topologyKey: zone, matchLabelKeys: [hash],
     labelSelector: {matchExpressions: [{key: hash, operator: In, values: [h1]}]}}
)");
  EXPECT_EQ(pod->spec().topology_spread_constraints[0].label_selector->match_expressions.size(),
            1U);
}

TEST(Defaulting, AGatedPodSaysSoFromTheBeginning) {
  Server server;
  const auto pod = server.with_spec("schedulingGates: [{name: g}]");
  const PodCondition* condition = pod->condition("PodScheduled");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->status, "False");
  EXPECT_EQ(condition->reason, "SchedulingGated");
  EXPECT_EQ(condition->message, "Scheduling is blocked due to non-empty scheduling gates");
  EXPECT_EQ(condition->last_transition_time, VirtualLoop::kDefaultStart);

  const auto said = server.pod(
      "{spec: {schedulingGates: [{name: g}]}, status: {conditions: [{type: PodScheduled, status: "
      "\"False\", reason: Mine}]}}");
  ASSERT_EQ(said->extra()->conditions.size(), 1U);
  EXPECT_EQ(said->extra()->conditions[0].reason, "Mine");
  EXPECT_EQ(server.with_spec("containers: []")->extra(), nullptr);
}

TEST(Defaulting, IdentityIsFilledInWhereItIsMissing) {
  Server server;
  server.admission.resource_version = 42;
  const auto fresh = server.pod("metadata: {name: p, namespace: x}");
  EXPECT_EQ(fresh->uid_text(), deterministic_uid("Pod", "x", "p"));
  EXPECT_EQ(fresh->resource_version(), "42");
  EXPECT_EQ(fresh->generation(), 1);
  EXPECT_EQ(fresh->creation_time(), VirtualLoop::kDefaultStart);
  EXPECT_EQ(fresh->phase(), PodPhase::kPending);
  EXPECT_EQ(fresh->scheduler_name(), names::kDefaultScheduler);

  const auto dumped = server.pod(
      "{metadata: {name: p, uid: u, resourceVersion: \"7\", generation: 3, creationTimestamp: "
      "\"2020-01-01T00:00:00Z\"}, spec: {schedulerName: mine, nodeName: n1}, status: {phase: "
      "Running}}");
  EXPECT_EQ(dumped->uid_text(), "u");
  EXPECT_EQ(dumped->resource_version(), "7");
  EXPECT_EQ(dumped->generation(), 3);
  EXPECT_LT(dumped->creation_time(), VirtualLoop::kDefaultStart);
  EXPECT_EQ(dumped->phase(), PodPhase::kRunning);
  EXPECT_EQ(dumped->text(dumped->scheduler_name()), "mine");
}

TEST(Defaulting, UidsLookLikeUidsAndDiffer) {
  std::set<std::string> uids;
  for (const char* kind : {"Pod", "Node"})
    for (const char* space : {"", "a", "ab"})
      for (const char* name : {"", "b", "ab", "c"})
        uids.insert(deterministic_uid(kind, space, name));
  EXPECT_EQ(uids.size(), 24U);
  for (const std::string& uid : uids) {
    ASSERT_EQ(uid.size(), 36U) << uid;
    EXPECT_EQ(uid[8], '-');
    EXPECT_EQ(uid[14], '8');
    EXPECT_NE(std::string("89ab").find(uid[19]), std::string::npos) << uid;
  }
}

TEST(Defaulting, AllocatableComesFromCapacity) {
  Server server;
  const auto node = server.object<Node>(
      ObjectKind::kNode, "{metadata: {name: n1}, status: {capacity: {cpu: 4, memory: 1.0001}}}");
  EXPECT_EQ(node->allocatable_resources.milli_cpu, 4000);
  EXPECT_EQ(defaulted_amount(node->allocatable, names::kMemory), "1001m");
  EXPECT_EQ(node->uid, deterministic_uid("Node", "", "n1"));
  EXPECT_TRUE(node->labels.empty()) << "no hostname is invented";
  EXPECT_EQ(node->resource_version, "1");

  const auto own = server.object<Node>(ObjectKind::kNode,
                                       "{spec: {unschedulable: true}, status: {capacity: {cpu: 4, "
                                       "memory: 1Gi}, allocatable: {cpu: 3}}}");
  EXPECT_EQ(own->allocatable_resources.milli_cpu, 3000);
  EXPECT_EQ(own->allocatable_resources.memory, 0);
  EXPECT_TRUE(own->taints.empty()) << "nor a taint";
}

TEST(Defaulting, NamespacesAreLabelledWithTheirName) {
  Server server;
  const auto space = server.object<Namespace>(
      ObjectKind::kNamespace,
      "metadata: {name: prod, labels: {a: b, kubernetes.io/metadata.name: wrong}}");
  EXPECT_EQ(space->labels.size(), 2U);
  EXPECT_EQ(space->labels.get(server.symbol("kubernetes.io/metadata.name")), server.symbol("prod"));
}

// ---- objects that were decoded without it

TEST(Defaulting, ADecodedPodIsAdmittedLikeAWrittenOne) {
  Server server;
  server.with_class("default", 7, /*global_default=*/true);
  const std::string json = Server::json(
      "metadata: {name: a, namespace: ns, labels: {app: web}}\n"
      "spec: {schedulingGates: [{name: g}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
      "zone, labelSelector: {}, matchLabelKeys: [app]}], containers: [{name: c, resources: "
      "{limits: {cpu: 2}}}]}");
  const auto written = decode_object(ObjectKind::kPod, json, server.interner, &server.admission);
  const auto decoded = decode_object(ObjectKind::kPod, json, server.interner, nullptr);
  ASSERT_TRUE(written && decoded);
  const auto admitted = admit(*decoded, server.interner, server.admission);
  ASSERT_TRUE(admitted) << admitted.error().message;
  const Pod& one = *std::get<Ref<const Pod>>(*written);
  const Pod& other = *std::get<Ref<const Pod>>(*admitted);
  EXPECT_EQ(one.spec_ref(), other.spec_ref()) << "equal specs are one object";
  EXPECT_EQ(one.meta_ref(), other.meta_ref());
  EXPECT_EQ(one.uid(), other.uid());
  EXPECT_EQ(one.resource_version(), other.resource_version());
  EXPECT_EQ(one.creation_time(), other.creation_time());
  EXPECT_EQ(one.generation(), other.generation());
  EXPECT_EQ(other.priority(), 7);
  ASSERT_TRUE(other.condition("PodScheduled"));
}

TEST(Defaulting, ADecodedNodeIsAdmittedLikeAWrittenOne) {
  Server server;
  const std::string json =
      Server::json("metadata: {name: a}\nstatus: {capacity: {cpu: 1500u, pods: 7}}");
  const auto decoded = decode_object(ObjectKind::kNode, json, server.interner, nullptr);
  ASSERT_TRUE(decoded);
  const auto admitted = admit(*decoded, server.interner, server.admission);
  ASSERT_TRUE(admitted) << admitted.error().message;
  const auto& node = static_cast<const Node&>(*std::get<Ref<const Object>>(*admitted));
  EXPECT_EQ(defaulted_amount(node.allocatable, names::kCpu), "2m");
  EXPECT_EQ(node.allocatable_resources.milli_cpu, 2);
  EXPECT_NE(node.uid, "");
  EXPECT_EQ(node.resource_version, "1");
}

TEST(Defaulting, WhatAnApiServerHasStoredStaysAsItIs) {
  Server server;
  server.with_class("default", 7, /*global_default=*/true);
  const auto stored = decode_object(
      ObjectKind::kPod,
      Server::json("metadata: {name: a, namespace: ns, uid: u, resourceVersion: '5'}\nspec: {}"),
      server.interner, nullptr);
  ASSERT_TRUE(stored);
  const auto admitted = admit(*stored, server.interner, server.admission);
  ASSERT_TRUE(admitted);
  EXPECT_EQ(std::get<Ref<const Pod>>(*admitted), std::get<Ref<const Pod>>(*stored));
}

// A program may make a node as its API server stores it, without what a decoder derives.
TEST(Defaulting, AStoredNodeGetsTheResourcesThatADecoderDerives) {
  Server server;
  auto made = make_ref<Node>(server.interner.hold());
  made->name = "a";
  made->uid = "u";
  made->resource_version = "5";
  made->allocatable.set(names::kCpu, Quantity::of(2));
  const auto admitted =
      admit(AnyObject(Ref<const Object>(made)), server.interner, server.admission);
  ASSERT_TRUE(admitted) << admitted.error().message;
  const auto& node = static_cast<const Node&>(*std::get<Ref<const Object>>(*admitted));
  EXPECT_EQ(node.allocatable_resources.milli_cpu, 2000);
  EXPECT_EQ(node.symbols.text(node.symbol), "a");
  EXPECT_EQ(node.resource_version, "5");
}

}  // namespace
}  // namespace berth
