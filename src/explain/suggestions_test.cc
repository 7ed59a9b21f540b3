#include "explain/suggestions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "explain/decision_text.h"
#include "explain/testing/changed_manifest.h"

namespace berth::explain::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

std::string node(const std::string& name, const std::string& rest = "",
                 const std::string& labels = "",
                 const std::string& allocatable = "cpu: 4, memory: 8Gi, pods: 110") {
  return fmt::format(
      "apiVersion: v1\nkind: Node\nmetadata: {{name: {0}, labels: {{kubernetes.io/hostname: "
      "{0}{1}}}}}\n"
      "spec: {{{2}}}\nstatus: {{allocatable: {{{3}}}}}\n---\n",
      name, labels.empty() ? "" : ", " + labels, rest, allocatable);
}

std::string pod(const std::string& name, const std::string& spec, const std::string& meta = "") {
  return fmt::format("apiVersion: v1\nkind: Pod\nmetadata: {{name: {}{}}}\nspec: {{{}}}\n---\n",
                     name, meta.empty() ? "" : ", " + meta, spec);
}

std::string asking(const std::string& requests, const std::string& rest = "") {
  return fmt::format("containers: [{{name: c, resources: {{requests: {{{}}}}}}}]{}", requests,
                     rest.empty() ? "" : ", " + rest);
}

// Every suggestion, carried out on the manifest: the pod fits where it says, and without any one of
// the changes it fits nowhere.
void expect_true(const std::string& yaml, const Suggestion& suggestion) {
  SCOPED_TRACE(suggestion.code + ": " + suggestion.summary);
  const bool preempts = suggestion.code == "RaisePriority";
  ChangedManifest changed(yaml);
  for (const Change& change : suggestion.changes) ASSERT_TRUE(changed.apply(change));
  if (preempts) {
    EXPECT_THAT(suggestion.nodes, IsSupersetOf(changed.nodes_for("default/p", true)));
    EXPECT_FALSE(changed.nodes_for("default/p", true).empty());
  } else {
    EXPECT_EQ(changed.nodes_for("default/p"), suggestion.nodes);
  }
  for (std::size_t out = 0; out < suggestion.changes.size(); ++out) {
    ChangedManifest without(yaml);
    for (std::size_t i = 0; i < suggestion.changes.size(); ++i)
      if (i != out) {
        ASSERT_TRUE(without.apply(suggestion.changes[i]));
      }
    EXPECT_THAT(without.nodes_for("default/p", preempts), IsEmpty()) << "without change " << out;
  }
  EXPECT_FALSE(suggestion.commands.empty());
}

std::vector<std::string> shown(const Suggestions& suggestions) {
  std::vector<std::string> lines;
  for (const Suggestion& suggestion : suggestions.found)
    lines.push_back(suggestion.code + ": " + suggestion.summary);
  return lines;
}

struct Situation {
  const char* name;
  std::string yaml;
  std::vector<std::string> expected;  // all of them, in order
};

std::string claim(const std::string& name, const std::string& spec, const std::string& rest = "") {
  return fmt::format(
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {}}}\n"
      "spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}, "
      "{}}}\n{}---\n",
      name, spec, rest);
}

const std::string kWithClaim =
    asking("cpu: 1", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]");
const std::string kLate =
    "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: late}\n"
    "provisioner: example.com/disk\nvolumeBindingMode: WaitForFirstConsumer\n---\n";

// A volume of a CSI driver, and the claim that it is bound to.
std::string csi_volume(const std::string& name, const std::string& of_claim) {
  return fmt::format(
             "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {0}}}\n"
             "spec: {{capacity: {{storage: 1Gi}}, accessModes: [ReadWriteOnce], csi: {{driver: "
             "example.com/disk, volumeHandle: {0}}}, claimRef: {{namespace: default, name: "
             "{1}}}}}\n"
             "status: {{phase: Bound}}\n---\n",
             name, of_claim) +
         fmt::format(
             "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {}, annotations: "
             "{{pv.kubernetes.io/bind-completed: \"yes\"}}}}\nspec: {{accessModes: "
             "[ReadWriteOnce], "
             "resources: {{requests: {{storage: 1Gi}}}}, volumeName: {}}}\nstatus: {{phase: "
             "Bound}}\n---\n",
             of_claim, name);
}

std::string device_claim(const std::string& name, const std::string& status) {
  return fmt::format(
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: {}}}\n"
      "spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu, allocationMode: "
      "ExactCount, count: 1}}}}]}}}}\n{}---\n",
      name, status);
}

std::vector<Situation> situations() {
  return {
      {"a request",
       node("n1") + pod("a", "nodeName: n1, " + asking("cpu: 2500m")) + pod("p", asking("cpu: 3")),
       {"ReduceRequest: request 1500m cpu instead of 3",
        "RaisePriority: give the pod priority 1 instead of 0, which evicts 1 pod from node n1",
        "DeletePods: delete pod default/a from node n1", "AddNode: add a node like n1"}},
      {"a request that is too large for every node",
       node("n1") + pod("p", asking("cpu: 5, memory: 1Gi")),
       {"ReduceRequest: request 4 cpu instead of 5"}},
      {"a taint",
       node("n1", "taints: [{key: team, value: red, effect: NoSchedule}]") +
           pod("p", asking("cpu: 1")),
       {"TolerateTaint: tolerate the taint team=red:NoSchedule",
        "RemoveTaint: remove the taint team=red:NoSchedule from node n1"}},
      {"a cordon",
       node("n1",
            "unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: "
            "NoSchedule}]") +
           pod("p", asking("cpu: 1")),
       {"TolerateTaint: tolerate the taint node.kubernetes.io/unschedulable:NoSchedule",
        "Uncordon: uncordon node n1"}},
      {"a node selector",
       node("n1", "", "disk: hdd") + pod("p", asking("cpu: 1", "nodeSelector: {disk: ssd}")),
       {"ChangeNodeSelector: select nodes with disk=hdd",
        "DropNodeSelector: drop disk from the node selector",
        "LabelNode: label node n1 with disk=ssd"}},
      {"a required node affinity",
       node("n1", "", "zone: b") +
           pod("p",
               asking("cpu: 1",
                      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                      "{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, "
                      "values: [a]}, {key: arm, operator: DoesNotExist}]}]}}}")),
       {"AllowNodeAffinityValue: allow zone=b in the required node affinity",
        "DropNodeAffinityRequirement: drop zone In [a] from the required node affinity",
        "DropNodeAffinity: drop the required node affinity",
        "LabelNode: label node n1 with zone=a"}},
      {"a node by name",
       node("n1") + pod("p", asking("cpu: 1",
                                    "affinity: {nodeAffinity: "
                                    "{requiredDuringSchedulingIgnoredDuringExecution: "
                                    "{nodeSelectorTerms: [{matchFields: [{key: metadata.name, "
                                    "operator: In, values: [gone]}]}]}}}")),
       {"DropNodeAffinity: drop the required node affinity"}},
      {"an anti-affinity of its own",
       node("n1") + pod("a", "nodeName: n1, containers: []", "labels: {app: web}") +
           pod("p", asking("cpu: 1",
                           "affinity: {podAntiAffinity: "
                           "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                           "kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}")),
       {"DropPodAntiAffinity: drop the required pod anti-affinity over kubernetes.io/hostname",
        "RaisePriority: give the pod priority 1 instead of 0, which evicts 1 pod from node n1",
        "DeletePods: delete pod default/a from node n1", "AddNode: add a node like n1"}},
      {"an anti-affinity of another",
       node("n1") +
           pod("a",
               "nodeName: n1, affinity: {podAntiAffinity: "
               "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
               "kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}, "
               "containers: []") +
           pod("p", asking("cpu: 1"), "labels: {app: web}"),
       {"RaisePriority: give the pod priority 1 instead of 0, which evicts 1 pod from node n1",
        "DeletePods: delete pod default/a from node n1", "AddNode: add a node like n1"}},
      {"an affinity to pods that are not there",
       node("n1") + pod("p", asking("cpu: 1",
                                    "affinity: {podAffinity: "
                                    "{requiredDuringSchedulingIgnoredDuringExecution: "
                                    "[{topologyKey: kubernetes.io/hostname, labelSelector: "
                                    "{matchLabels: {app: db}}}]}}")),
       {"DropPodAffinity: drop the required pod affinity over kubernetes.io/hostname"}},
      {"an affinity to a domain that a node has no label for",
       node("n1", "", "rack: r1", "cpu: 100m, memory: 1Gi, pods: 10") + node("n2") +
           pod("a", "nodeName: n1, containers: []", "labels: {app: db}") +
           pod("p", asking("cpu: 1",
                           "affinity: {podAffinity: "
                           "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: rack, "
                           "labelSelector: {matchLabels: {app: db}}}]}}")),
       {"ReduceRequest: request 100m cpu instead of 1",
        "DropPodAffinity: drop the required pod affinity over rack",
        "LabelNode: label node n2 with rack=r1"}},
      {"a spread constraint",
       node("n1", "", "zone: a") + node("n2", "", "zone: b", "cpu: 500m, memory: 1Gi, pods: 10") +
           pod("a", "nodeName: n1, containers: []", "labels: {app: web}") +
           pod("b", "nodeName: n1, containers: []", "labels: {app: web}") +
           pod("p",
               asking("cpu: 1",
                      "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, "
                      "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: "
                      "web}}}]"),
               "labels: {app: web}"),
       {"ReduceRequest: request 500m cpu instead of 1",
        "RaiseMaxSkew: allow a skew of 3 instead of 1 over zone",
        "DropSpreadConstraint: drop the topology spread constraint over zone",
        "RaisePriority: give the pod priority 1 instead of 0, which evicts 2 pods from node n1",
        "DeletePods: delete pods default/b, default/a from node n1"}},
      {"a host port",
       node("n1") +
           pod("a",
               "nodeName: n1, containers: [{name: c, ports: [{containerPort: 80, hostPort: "
               "8080}]}]") +
           pod("p", "containers: [{name: c, ports: [{containerPort: 80, hostPort: 8080}]}]"),
       {"ChangeHostPort: use host port 8081 instead of 8080",
        "RaisePriority: give the pod priority 1 instead of 0, which evicts 1 pod from node n1",
        "DeletePods: delete pod default/a from node n1", "AddNode: add a node like n1"}},
      {"the least important and the smallest number of pods",
       node("n1") + pod("a", "nodeName: n1, priority: 10, " + asking("cpu: 1")) +
           pod("b", "nodeName: n1, priority: 5, " + asking("cpu: 1")) +
           pod("c", "nodeName: n1, priority: 5, " + asking("cpu: 2")) +
           pod("p", "preemptionPolicy: Never, " + asking("cpu: 2")),
       {"ReduceRequest: request no cpu instead of 2",
        "DeletePods: delete pod default/c from node n1", "AddNode: add a node like n1"}},
      {"a missing claim",
       node("n1") + kLate + pod("p", kWithClaim),
       {"CreateClaim: create the claim data of class late"}},
      {"a missing claim and no class",
       node("n1") + pod("p", kWithClaim),
       {"CreateClaim+CreateVolume: create the claim data, bound to volume pv-default-data and "
        "create "
        "the volume pv-default-data of 1Gi for claim data"}},
      {"a missing class",
       node("n1") + claim("data", "storageClassName: fast") + pod("p", kWithClaim),
       {"CreateStorageClass: create the storage class fast (provisioned by "
        "example.com/provisioner)"}},
      {"a missing volume",
       node("n1") + claim("data", "volumeName: pv1", "status: {phase: Bound}\n") +
           pod("p", kWithClaim),
       {"BindClaim+CreateVolume: bind the claim data to volume pv1 and create the volume pv1 of "
        "1Gi "
        "for claim data"}},
      {"two taints on the only node",
       node("n1", "taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}]") +
           pod("p", asking("cpu: 1")),
       {"TolerateTaint: tolerate the taint a:NoSchedule and tolerate the taint b:NoExecute"}},
      {"a taint and two requests",
       node("n1", "taints: [{key: a, effect: NoSchedule}]") +
           pod("p", asking("cpu: 5, memory: 9Gi")),
       {"TolerateTaint+ReduceRequest: tolerate the taint a:NoSchedule, request 4 cpu instead of 5 "
        "and request 8Gi memory instead of 9Gi"}},
      {"as many volumes as a node can attach",
       node("n1") +
           "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n1}\nspec: {drivers: "
           "[{name: example.com/disk, nodeID: n1, allocatable: {count: 1}}]}\n---\n" +
           csi_volume("pv1", "used") + csi_volume("pv2", "data") +
           pod("a",
               "nodeName: n1, containers: [], volumes: [{name: v, persistentVolumeClaim: "
               "{claimName: used}}]") +
           pod("p", "preemptionPolicy: Never, " + kWithClaim),
       {"DeletePods: delete pod default/a from node n1", "AddNode: add a node like n1"}},
      {"devices",
       node("n1") +
           "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n"
           "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: n1-gpus}\n"
           "spec: {driver: example.com, nodeName: n1, pool: {name: n1, generation: 1, "
           "resourceSliceCount: 1}, devices: [{name: gpu0}]}\n---\n" +
           device_claim("used",
                        "status: {allocation: {devices: {results: [{request: r, driver: "
                        "example.com, pool: n1, device: gpu0}]}}}\n") +
           device_claim("mine", "") +
           pod("p", asking("cpu: 1", "resourceClaims: [{name: gpu, resourceClaimName: mine}]")),
       {"AddNode: add a node like n1, with its devices"}},
      {"a ResourceClaim that nobody has made",
       node("n1") +
           "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n"
           "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: n1-gpus}\n"
           "spec: {driver: example.com, nodeName: n1, pool: {name: n1, generation: 1, "
           "resourceSliceCount: 1}, devices: [{name: gpu0}]}\n---\n" +
           pod("p", asking("cpu: 1", "resourceClaims: [{name: gpu, resourceClaimName: mine}]")),
       {"CreateResourceClaim: create the ResourceClaim mine for a device of class gpu"}},
      {"pods that are nominated",
       node("n1") +
           "apiVersion: v1\nkind: Pod\nmetadata: {name: urgent, uid: u1}\nspec: {priority: 9, "
           "containers: [{name: c, resources: {requests: {cpu: 3}}}]}\nstatus: "
           "{nominatedNodeName: n1}\n---\n" +
           pod("p", "preemptionPolicy: Never, " + asking("cpu: 2")),
       {"ReduceRequest: request 1 cpu instead of 2",
        "DeleteNominatedPods: delete pod default/urgent, nominated to node n1",
        "AddNode: add a node like n1"}},
      {"no node at all", pod("p", asking("cpu: 1")), {}},
  };
}

TEST(Suggestions, WhatHelpsIsFoundByKind) {
  for (const Situation& situation : situations()) {
    SCOPED_TRACE(situation.name);
    LoadedManifest loaded(situation.yaml);
    const Suggestions suggestions = loaded.suggest();
    EXPECT_EQ(shown(suggestions), situation.expected);
    EXPECT_EQ(suggestions.tried.empty(), !suggestions.found.empty());
    for (const Suggestion& suggestion : suggestions.found) expect_true(situation.yaml, suggestion);
  }
}

TEST(Suggestions, APodThatFitsNeedsNothing) {
  LoadedManifest loaded(node("n1") + pod("p", asking("cpu: 1")));
  const Suggestions suggestions = loaded.suggest();
  EXPECT_THAT(suggestions.found, IsEmpty());
  EXPECT_THAT(suggestions.tried, IsEmpty());
}

// With so much it fits, with one base unit more it does not.
TEST(Suggestions, AmountsAreAsLargeAsCanBe) {
  struct Case {
    const char* name;
    std::string spec;
    std::string expected;  // the patch
  };
  const Case cases[] = {
      {"one container", asking("cpu: \"5.5\""),
       R"([{"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"1500m"}])"},
      {"bytes", asking("memory: 20Gi"),
       R"([{"op":"replace","path":"/spec/containers/0/resources/requests/memory","value":"8589934591"}])"},
      {"the larger container gives",
       "containers: [{name: a, resources: {requests: {cpu: 500m}}}, {name: b, resources: "
       "{requests: "
       "{cpu: 3}}}]",
       R"([{"op":"replace","path":"/spec/containers/1/resources/requests/cpu","value":"1"}])"},
      {"an init container",
       "initContainers: [{name: i, resources: {requests: {cpu: 3}}}], " + asking("cpu: 1"),
       R"([{"op":"replace","path":"/spec/initContainers/0/resources/requests/cpu","value":"1500m"}])"},
      {"what a later cut makes needless is given back",
       "initContainers: [{name: side, restartPolicy: Always, resources: {requests: {cpu: 1200m}}}, "
       "{name: setup, resources: {requests: {cpu: 800m}}}], " +
           asking("cpu: 1400m"),
       R"([{"op":"replace","path":"/spec/initContainers/0/resources/requests/cpu","value":"700m"},)"
       R"({"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"800m"}])"},
      {"overhead stays", "overhead: {cpu: 250m}, " + asking("cpu: 3"),
       R"([{"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"1250m"}])"},
      {"requests of the whole pod", "resources: {requests: {cpu: 3}}, containers: [{name: c}]",
       R"([{"op":"replace","path":"/spec/resources/requests/cpu","value":"1500m"}])"},
      {"requests of the whole pod count instead of its containers'",
       "resources: {requests: {cpu: 3}}, " + asking("cpu: 2"),
       R"([{"op":"replace","path":"/spec/resources/requests/cpu","value":"1500m"}])"},
      {"an extended resource has one amount",
       "containers: [{name: c, resources: {requests: {example.com/gpu: 3}, limits: "
       "{example.com/gpu: 3}}}]",
       R"([{"op":"replace","path":"/spec/containers/0/resources/requests/example.com~1gpu","value":"2"},)"
       R"({"op":"replace","path":"/spec/containers/0/resources/limits/example.com~1gpu","value":"2"}])"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const std::string yaml =
        node("n1", "", "", "cpu: 4, memory: 8589934592, pods: 110, example.com/gpu: 2") +
        pod("a", "nodeName: n1, " + asking("cpu: 2500m, memory: 1")) +
        pod("p", "preemptionPolicy: Never, " + one.spec);
    LoadedManifest loaded(yaml);
    const Suggestions suggestions = loaded.suggest();
    ASSERT_FALSE(suggestions.found.empty());
    EXPECT_EQ(suggestions.found.front().code, "ReduceRequest");
    EXPECT_EQ(to_json(suggestions.found.front().changes.front().value), one.expected);
    expect_true(yaml, suggestions.found.front());
  }
}

TEST(Suggestions, CommandsEditTheTemplateOfTheOwner) {
  const std::string owned =
      "labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, "
      "uid: u, controller: true}]";
  const std::string replica_set =
      "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-1, ownerReferences: "
      "[{apiVersion: apps/v1, kind: Deployment, name: it's, uid: d, controller: true}]}\n"
      "spec: {}\n---\n";
  const std::string yaml = node("n1", "taints: [{key: a, effect: NoSchedule}]") +
                           pod("p", asking("cpu: 1", "tolerations: [{key: b}]"), owned);
  const auto command = [](const std::string& manifest) {
    LoadedManifest loaded(manifest);
    return loaded.suggest().found.at(0).commands.at(0);
  };
  EXPECT_THAT(command(yaml), HasSubstr("kubectl patch replicaset web-1 -n default --type=json"));
  EXPECT_EQ(command(yaml + replica_set),
            "kubectl patch deployment 'it'\\''s' -n default --type=json -p "
            R"('[{"op":"add","path":"/spec/template/spec/tolerations/-","value":)"
            R"({"key":"a","operator":"Exists","effect":"NoSchedule"}}]')");
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: it's}\n"
      "spec: {template: {spec: {containers: []}}}\n---\n";
  EXPECT_THAT(command(yaml + replica_set + deployment),
              HasSubstr(R"("path":"/spec/template/spec/tolerations","value":[{)"));
  EXPECT_THAT(command(node("n1") + pod("p", asking("cpu: 9"))),
              HasSubstr("--dry-run=client -o json | kubectl replace --force -f -"));
}

TEST(Suggestions, CommandsAlsoCutWhatTheApiServerWouldRefuse) {
  LoadedManifest loaded(node("n1") +
                        pod("p", "resources: {requests: {cpu: 6}}, " + asking("cpu: 5")));
  const Suggestions suggestions = loaded.suggest();
  ASSERT_FALSE(suggestions.found.empty());
  EXPECT_THAT(
      suggestions.found[0].commands.at(0),
      HasSubstr(
          R"({"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"4"})"));
  EXPECT_EQ(to_json(suggestions.found[0].changes.at(0).value),
            R"([{"op":"replace","path":"/spec/resources/requests/cpu","value":"4"}])");
}

TEST(Suggestions, OfAPodWithoutTextOnlyTheClusterIsChanged) {
  LoadedManifest loaded(node("n1") + pod("a", "nodeName: n1, " + asking("cpu: 2500m")) +
                        pod("p", asking("cpu: 3")));
  std::vector<ManifestObject> others = loaded.objects;
  others.pop_back();
  const ManifestTexts texts(others);
  EXPECT_EQ(shown(find_suggestions(*loaded.evaluator, texts, loaded.pending("default/p"))),
            (std::vector<std::string>{"DeletePods: delete pod default/a from node n1",
                                      "AddNode: add a node like n1"}));
}

TEST(Suggestions, TheClusterIsAsItWasAfterwards) {
  const std::string yaml =
      node("n3", "", "topology.kubernetes.io/zone: a") +
      node("n1", "taints: [{key: a, effect: NoSchedule}]", "topology.kubernetes.io/zone: b") +
      node("n2", "unschedulable: true", "topology.kubernetes.io/zone: a") +
      pod("a", "nodeName: n3, " + asking("cpu: 1500m")) +
      pod("b", "nodeName: n3, " + asking("cpu: 1500m")) +
      pod("c", "nodeName: n3, " + asking("cpu: 1")) +
      pod("p", asking("cpu: 2", "nodeSelector: {topology.kubernetes.io/zone: a}")) +
      pod("q", "priority: 5, " + asking("cpu: 4"));
  LoadedManifest loaded(yaml, /*preempts=*/true);
  // Decisions, the pods of each node, and the order of the nodes.
  const auto state = [&] {
    std::string text = to_json(loaded.evaluator->decide());
    const NodeTable& nodes = loaded.evaluator->cluster().nodes();
    for (const NodeRow row : nodes.order()) {
      text += fmt::format("\n{}", nodes.name_text(row));
      for (const Ref<const Pod>& there : nodes.pods(row)) text += " " + there->full_name();
    }
    return text;
  };
  state();  // draws a random number or two
  const std::string before = state();
  EXPECT_THAT(loaded.suggest().found, ::testing::SizeIs(::testing::Gt(3U)));
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace berth::explain::testing
