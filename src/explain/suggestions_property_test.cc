// Random small clusters: what suggestions promise holds when their changes are made to the manifest
// and the cluster is loaded from scratch; and where none of them is a single change, no single change
// helps that one can think of without knowing the reasons.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "berth/random.h"
#include "explain/decision_text.h"
#include "explain/testing/changed_manifest.h"

namespace berth::explain::testing {
namespace {

class RandomCluster {
 public:
  explicit RandomCluster(std::uint64_t seed) : random_(seed) {}

  std::string yaml() {
    std::string text;
    const std::uint64_t nodes = 1 + random_.below(6);
    for (std::uint64_t i = 0; i < nodes; ++i) text += node(i);
    const std::uint64_t pods = random_.below(3 * nodes + 1);
    for (std::uint64_t i = 0; i < pods; ++i) text += placed(i, random_.below(nodes));
    if (random_.chance(0.5)) text += storage();
    return text + pending();
  }

 private:
  std::string one_of(std::initializer_list<const char*> texts) {
    return *(texts.begin() + random_.below(texts.size()));
  }
  std::string node(std::uint64_t i) {
    std::vector<std::string> labels{fmt::format("kubernetes.io/hostname: n{}", i)};
    if (random_.chance(0.7))
      labels.push_back("topology.kubernetes.io/zone: " + one_of({"a", "b", "c"}));
    if (random_.chance(0.5)) labels.push_back("disk: " + one_of({"ssd", "hdd"}));
    std::vector<std::string> taints;
    if (random_.chance(0.3))
      taints.push_back("{key: team, value: " + one_of({"red", "blue"}) + ", effect: NoSchedule}");
    if (random_.chance(0.1)) taints.emplace_back("{key: old, effect: NoExecute}");
    std::string spec = fmt::format("taints: [{}]", fmt::join(taints, ", "));
    if (random_.chance(0.15)) spec += ", unschedulable: true";
    return fmt::format(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: n{}, labels: {{{}}}}}\nspec: {{{}}}\n"
        "status: {{allocatable: {{cpu: {}, memory: {}Gi, pods: {}, example.com/gpu: {}}}}}\n---\n",
        i, fmt::join(labels, ", "), spec, 1 + random_.below(4), 1 + random_.below(8),
        one_of({"110", "110", "2"}), random_.below(3));
  }
  std::string anti_affinity() {
    return fmt::format(
        "podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {}, "
        "labelSelector: {{matchLabels: {{app: {}}}}}}}]}}",
        one_of({"kubernetes.io/hostname", "topology.kubernetes.io/zone"}), one_of({"web", "db"}));
  }
  std::string placed(std::uint64_t i, std::uint64_t on) {
    std::string spec = fmt::format("nodeName: n{}, priority: {}", on, random_.below(3));
    if (random_.chance(0.15)) spec += ", affinity: {" + anti_affinity() + "}";
    spec += fmt::format(
        ", containers: [{{name: c, resources: {{requests: {{cpu: {}m, memory: {}Mi}}}}{}}}]",
        random_.below(15) * 100, random_.below(20) * 100,
        random_.chance(0.2) ? ", ports: [{containerPort: 80, hostPort: 8080}]" : "");
    if (random_.chance(0.1))
      spec += ", volumes: [{name: v, persistentVolumeClaim: {claimName: d}}]";
    return fmt::format(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: a{}, labels: {{app: {}}}}}\nspec: "
        "{{{}}}\n---\n",
        i, one_of({"web", "db"}), spec);
  }
  std::string storage() {
    return fmt::format(
               "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: late}}\n"
               "provisioner: example.com/disk\nvolumeBindingMode: WaitForFirstConsumer\n---\n"
               "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: d{}}}\n"
               "spec: {{accessModes: [{}], resources: {{requests: {{storage: 1Gi}}}}, "
               "storageClassName: "
               "{}{}}}\n---\n",
               random_.chance(0.5) ? ", annotations: {pv.kubernetes.io/bind-completed: \"yes\"}"
                                   : "",
               one_of({"ReadWriteOnce", "ReadWriteOncePod"}), one_of({"late", "other"}),
               random_.chance(0.4) ? ", volumeName: pv1" : "") +
           (random_.chance(0.5)
                ? fmt::format(
                      "apiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: pv1}}\n"
                      "spec: {{capacity: {{storage: 1Gi}}, accessModes: [ReadWriteOnce], "
                      "storageClassName: late, hostPath: {{path: /x}}, nodeAffinity: "
                      "{{required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: "
                      "topology.kubernetes.io/zone, operator: In, values: [{}]}}]}}]}}}}}}\n"
                      "status: {{phase: Available}}\n---\n",
                      one_of({"a", "b", "z"}))
                : std::string());
  }
  std::string node_affinity() {
    std::string terms;
    const std::uint64_t count = 1 + random_.below(2);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i > 0) terms += ", ";
      terms += "{matchExpressions: [{key: disk, operator: " +
               one_of({"In, values: [nvme]", "In, values: [ssd]", "DoesNotExist", "Exists",
                       "NotIn, values: [hdd]"}) +
               "}";
      if (random_.chance(0.5))
        terms += ", {key: topology.kubernetes.io/zone, operator: In, values: [" +
                 one_of({"a", "z", "a, b"}) + "]}";
      terms += "]}";
    }
    return "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" +
           terms + "]}}";
  }
  std::string pending() {
    std::string spec = fmt::format(
        "containers: [{{name: c, resources: {{requests: {{cpu: {}m, memory: {}Mi{}}}}}{}}}, "
        "{{name: "
        "d, resources: {{requests: {{cpu: {}m}}}}}}]",
        random_.below(30) * 100, random_.below(40) * 100,
        random_.chance(0.3) ? fmt::format(", example.com/gpu: {}", 1 + random_.below(3)) : "",
        random_.chance(0.3) ? ", ports: [{containerPort: 80, hostPort: 8080}]" : "",
        random_.below(10) * 100);
    std::vector<std::string> affinity;
    if (random_.chance(0.3)) affinity.push_back(node_affinity());
    if (random_.chance(0.3)) affinity.push_back(anti_affinity());
    if (random_.chance(0.15))
      affinity.push_back(
          "podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " +
          one_of({"topology.kubernetes.io/zone", "rack"}) +
          ", labelSelector: {matchLabels: {app: db}}}]}");
    if (!affinity.empty()) spec += fmt::format(", affinity: {{{}}}", fmt::join(affinity, ", "));
    if (random_.chance(0.3))
      spec += ", nodeSelector: {disk: " + one_of({"ssd", "nvme"}) +
              (random_.chance(0.3) ? ", topology.kubernetes.io/zone: a}" : "}");
    if (random_.chance(0.3))
      spec +=
          ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
          "topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: "
          "{matchLabels: {app: web}}}]";
    if (random_.chance(0.2)) spec += ", tolerations: [{key: team, operator: Exists}]";
    if (random_.chance(0.25))
      spec += ", volumes: [{name: v, persistentVolumeClaim: {claimName: d}}]";
    spec += fmt::format(", priority: {}", random_.below(2));
    return fmt::format(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, labels: {{app: web}}}}\nspec: {{{}}}\n",
        spec);
  }

  Random random_;
};

std::vector<std::string> nodes_with(const std::string& yaml, const std::vector<Change>& changes,
                                    bool preempts) {
  ChangedManifest changed(yaml);
  for (const Change& change : changes)
    if (!changed.apply(change)) return {"error: does not fit: " + change.name};
  return changed.nodes_for("default/p", preempts);
}

// One unit more of a requested amount; false if it is none.
bool raise_amount(JsonValue& operation) {
  const JsonValue* const path = operation.find("path");
  if (!path || !path->text.contains("/requests/")) return false;
  const bool cpu = path->text.ends_with("/cpu");
  for (JsonMember& member : operation.members) {
    if (member.name != "value") continue;
    const Result<Quantity> amount = Quantity::parse(member.value.text);
    if (!amount) return false;
    member.value.text = cpu ? Quantity::of_milli(amount->milli_value() + 1).to_string()
                            : Quantity::of(amount->value() + 1).to_string();
    return true;
  }
  return false;
}

void check(const std::string& yaml, const Suggestion& suggestion) {
  SCOPED_TRACE(suggestion.code + ": " + suggestion.summary);
  const bool preempts = suggestion.code == "RaisePriority";
  const std::vector<std::string> nodes = nodes_with(yaml, suggestion.changes, preempts);
  EXPECT_FALSE(nodes.empty());
  EXPECT_THAT(suggestion.nodes, ::testing::IsSupersetOf(nodes));
  EXPECT_TRUE(preempts || nodes.size() == suggestion.nodes.size());
  for (std::size_t out = 0; out < suggestion.changes.size(); ++out) {
    std::vector<Change> rest = suggestion.changes;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(out));
    EXPECT_THAT(nodes_with(yaml, rest, preempts), ::testing::IsEmpty()) << "without change " << out;
    Change& patch = rest.emplace_back(suggestion.changes[out]);
    for (std::size_t i = 0; patch.op == Change::Op::kPatch && i < patch.value.items.size(); ++i) {
      std::vector<Change> more = rest;
      if (raise_amount(more.back().value.items[i])) {
        EXPECT_THAT(nodes_with(yaml, more, false), ::testing::IsEmpty()) << "with one unit more";
      }
    }
  }
}

Change patch_of(const std::string& kind, const std::string& name, const std::string& operations) {
  return {Change::Op::kPatch, kind, kind == "Pod" ? "default" : "", name, *parse_json(operations)};
}

// Single changes that one can think of by looking at the objects alone.
std::vector<std::vector<Change>> obvious_changes(const std::string& yaml) {
  ChangedManifest manifest(yaml);
  const JsonValue pod = *manifest.find("Pod", "default", "p");
  const JsonValue* const spec = pod.find("spec");
  std::vector<std::vector<Change>> changes;
  std::map<std::string, std::vector<Change>> deleted;  // all pods of a node
  const auto of_pod = [&](const std::string& operations) {
    changes.push_back({patch_of("Pod", "p", operations)});
  };
  for (const char* list : {"nodeSelector", "topologySpreadConstraints"})
    if (const JsonValue* there = spec->find(list)) {
      for (const JsonMember& member : there->members) {
        std::string key = member.name;
        if (const std::size_t slash = key.find('/'); slash != key.npos) key.replace(slash, 1, "~1");
        of_pod(fmt::format(R"([{{"op":"remove","path":"/spec/{}/{}"}}])", list, key));
      }
      for (std::size_t i = 0; i < there->items.size(); ++i)
        of_pod(fmt::format(R"([{{"op":"remove","path":"/spec/{}/{}"}}])", list, i));
    }
  if (const JsonValue* affinity = spec->find("affinity"))
    for (const JsonMember& member : affinity->members)
      of_pod(fmt::format(R"([{{"op":"remove","path":"/spec/affinity/{}"}}])", member.name));
  for (const char* resource : {"cpu", "memory"})
    of_pod(fmt::format(
        R"([{{"op":"add","path":"/spec/containers/0/resources/requests/{0}","value":"0"}},)"
        R"({{"op":"add","path":"/spec/containers/1/resources/requests/{0}","value":"0"}}])",
        resource));
  of_pod(R"([{"op":"replace","path":"/spec/containers/0/ports/0/hostPort","value":9090}])");
  of_pod(
      R"([{"op":"replace","path":"/spec/containers/0/resources/requests/example.com~1gpu","value":"0"}])");
  for (const char* toleration :
       {R"({"key":"team","value":"red"})", R"({"key":"team","value":"blue"})", R"({"key":"old"})",
        R"({"key":"node.kubernetes.io/unschedulable","operator":"Exists"})"})
    of_pod(fmt::format(R"([{{"op":"add","path":"/spec/tolerations","value":[{}]}}])", toleration));
  for (const JsonValue& object : manifest.objects()) {
    const std::string kind = object.find("kind")->text;
    const std::string name = object.find("metadata")->find("name")->text;
    if (kind == "Pod" && name != "p")
      deleted[object.find("spec")->find("nodeName")->text].push_back(
          {Change::Op::kDelete, "Pod", "default", name, {}});
    if (kind != "Node") continue;
    for (const char* operations :
         {R"([{"op":"remove","path":"/spec/unschedulable"}])",
          R"([{"op":"remove","path":"/spec/taints/0"}])",
          R"([{"op":"add","path":"/metadata/labels/disk","value":"ssd"}])",
          R"([{"op":"add","path":"/metadata/labels/disk","value":"nvme"}])",
          R"([{"op":"add","path":"/metadata/labels/topology.kubernetes.io~1zone","value":"a"}])"})
      changes.push_back({patch_of("Node", name, operations)});
    Change added{Change::Op::kCreate, "Node", "", "another", object};
    apply_patch(added.value,
                *parse_json(R"([{"op":"replace","path":"/metadata/name","value":"another"},)"
                            R"({"op":"replace","path":"/metadata/labels/kubernetes.io~1hostname",)"
                            R"("value":"another"}])"));
    changes.push_back({std::move(added)});
  }
  for (const auto& [node, pods] : deleted) {
    changes.push_back(pods);
    for (const Change& pod_gone : pods) changes.push_back({pod_gone});
  }
  return changes;
}

// Pods of one node are one change, however many they are.
bool is_single(const Suggestion& suggestion) {
  return suggestion.changes.size() == 1
             ? !suggestion.summary.contains(" and ")
             : std::ranges::all_of(suggestion.changes, [](const Change& change) {
                 return change.op == Change::Op::kDelete;
               });
}

TEST(SuggestionsOfRandomClusters, HoldWhenTheyAreCarriedOut) {
  std::size_t pods = 0, without = 0, combined = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const std::string yaml = RandomCluster(seed).yaml();
    LoadedManifest loaded(yaml);
    const std::string before = to_json(loaded.evaluator->decide());
    const Suggestions suggestions = loaded.suggest();
    EXPECT_EQ(to_json(loaded.evaluator->decide()), before);
    if (suggestions.found.empty() && suggestions.tried.empty()) continue;  // it fits
    ++pods;
    all += suggestions.found.size();
    for (const Suggestion& suggestion : suggestions.found) check(yaml, suggestion);
    if (!suggestions.found.empty() && is_single(suggestions.found.front())) continue;
    suggestions.found.empty() ? ++without : ++combined;
    for (const std::vector<Change>& changes : obvious_changes(yaml)) {
      const std::vector<std::string> nodes = nodes_with(yaml, changes, false);
      EXPECT_TRUE(nodes.empty() || nodes.front().starts_with("error"))
          << changes.front().name << " " << to_json(changes.front().value);
    }
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << yaml;
      break;
    }
  }
  EXPECT_GT(pods, 50U);
  EXPECT_GT(combined, 10U);
  EXPECT_LT(without, pods / 4);
  EXPECT_GT(all, pods);
}

}  // namespace
}  // namespace berth::explain::testing
