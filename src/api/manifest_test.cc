#include "api/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/kinds.h"
#include "api/names.h"
#include "base/testing/names.h"
#include "berth/node.h"

namespace berth {
namespace {

struct Manifests {
  Interner interner;

  std::vector<ManifestObject> read(std::string_view text) {
    auto objects = read_manifest(text, "web.yaml", interner);
    EXPECT_TRUE(objects) << (objects ? "" : objects.error().message);
    return objects ? *std::move(objects) : std::vector<ManifestObject>();
  }
  std::vector<ManifestObject> admitted(std::string_view text) {
    auto objects = read(text);
    const auto admission = admit_all(objects, interner, VirtualLoop::kDefaultStart);
    EXPECT_TRUE(admission) << (admission ? "" : admission.error().message);
    return objects;
  }
  std::string error(std::string_view text) {
    auto objects = read_manifest(text, "web.yaml", interner);
    if (!objects) return objects.error().message;
    const auto admission = admit_all(*objects, interner, VirtualLoop::kDefaultStart);
    return admission ? "" : admission.error().message;
  }
};

const Pod& pod_of(const ManifestObject& object) { return *std::get<Ref<const Pod>>(object.object); }

template <typename Kind>
const Kind& as(const ManifestObject& object) {
  return dynamic_cast<const Kind&>(*std::get<Ref<const Object>>(object.object));
}

TEST(Manifest, SeveralDocumentsOfSeveralKinds) {
  Manifests manifests;
  const auto objects = manifests.read(R"(# the cluster
apiVersion: v1
kind: Node
metadata: {name: n1, namespace: nonsense}
---
# nothing here
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: prod}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {replicas: 3}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
)");
  ASSERT_EQ(objects.size(), 4U);
  EXPECT_EQ(objects[0].kind, ObjectKind::kNode);
  EXPECT_EQ(objects[0].name, "n1");
  EXPECT_EQ(objects[0].namespace_name, "");
  EXPECT_EQ(objects[0].where, "web.yaml: document 1 (line 2)");
  EXPECT_EQ(as<Node>(objects[0]).name, "n1");
  EXPECT_EQ(objects[1].kind, ObjectKind::kPod);
  EXPECT_EQ(objects[1].namespace_name, "prod");
  EXPECT_EQ(pod_of(objects[1]).full_name(), "prod/p");
  EXPECT_EQ(objects[1].where, "web.yaml: document 2 (line 8)");
  EXPECT_EQ(objects[2].kind, ObjectKind::kDeployment);
  EXPECT_EQ(objects[2].namespace_name, "default");
  EXPECT_EQ(objects[2].api_version, "apps/v1");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(objects[2].object));
  EXPECT_EQ(objects[2].json, R"({"apiVersion":"apps/v1","kind":"Deployment",)"
                             R"("metadata":{"name":"d"},"spec":{"replicas":3}})");
  EXPECT_EQ(objects[3].kind, ObjectKind::kOther);
  EXPECT_EQ(objects[3].kind_text, "Thing");
  EXPECT_EQ(objects[3].namespace_name, "") << "nobody knows whether it lives in one";
}

TEST(Manifest, ListsAreFlattened) {
  Manifests manifests;
  const auto objects = manifests.read(R"({"apiVersion":"v1","kind":"List","items":[
    {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}},
    {"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Node",
        "metadata":{"name":"b"}}]},
    {"items":[{"metadata":{"name":"c"}},{"metadata":{"name":"d"},"kind":"Pod","apiVersion":"v1"}],
     "kind":"PodList","apiVersion":"v1"}]})");
  std::vector<std::string> names;
  for (const ManifestObject& object : objects)
    names.push_back(object.kind_text + " " + object.name);
  EXPECT_THAT(names, ElementsAre("Pod a", "Node b", "Pod c", "Pod d"));
  EXPECT_EQ(objects[1].where, "web.yaml: document 1 (line 1): items[1]: items[0]");
  EXPECT_EQ(objects[0].json, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})");
  EXPECT_TRUE(manifests.read("{apiVersion: v1, kind: List, items: []}").empty());
  EXPECT_TRUE(manifests.read("# nothing at all").empty());
}

TEST(Manifest, GeneratedNamesAreTheSameInEveryRun) {
  const std::string text = R"(
{apiVersion: v1, kind: Pod, metadata: {generateName: job-}}
---
{apiVersion: v1, kind: Pod, metadata: {generateName: job-}}
---
{apiVersion: v1, kind: Pod, metadata: {generateName: job-, name: own}}
)";
  Manifests manifests;
  const auto first = manifests.admitted(text);
  const auto second = manifests.admitted(text);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[0].name.size(), 9U);
  EXPECT_THAT(first[0].name, StartsWith("job-"));
  EXPECT_NE(first[0].name, first[1].name);
  EXPECT_EQ(first[2].name, "own");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(first[i].name, second[i].name);
    EXPECT_EQ(pod_of(first[i]).name(), first[i].name);
    EXPECT_EQ(pod_of(first[i]).uid(), pod_of(second[i]).uid());
  }
  EXPECT_NE(pod_of(first[0]).uid(), pod_of(first[1]).uid());
}

TEST(Manifest, ErrorsNameFileDocumentObjectAndField) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"a: 1\n---\nb: [\n", "web.yaml: yaml: line "},
      {"a: 1\na: 2\n", "web.yaml: yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"},
      {"- 1\n", "web.yaml: document 1 (line 1): expected a map, got a list"},
      {"hello\n", "web.yaml: document 1 (line 1): expected a map, got a single value"},
      {"apiVersion: v1\n", "web.yaml: document 1 (line 1): kind: must be set"},
      {"kind: Pod\n", "web.yaml: document 1 (line 1): apiVersion: must be set"},
      {"{apiVersion: v1, kind: Pod}",
       "web.yaml: document 1 (line 1): Pod: metadata.name: must be set"},
      {"{apiVersion: v1, kind: Pod, metadata: x}",
       "web.yaml: document 1 (line 1): metadata: expected a map, got a string"},
      {"{apiVersion: v1, kind: List, items: {}}",
       "web.yaml: document 1 (line 1): items: expected a list, got a map"},
      {"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: a}}, 5]}",
       "web.yaml: document 1 (line 1): items[1]: expected a map, got a single value"},
      {"# c\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-1}\nspec: {containers: "
       "[{resources: "
       "{requests: {cpu: [1]}}}]}\n",
       "web.yaml: document 1 (line 3): Pod default/web-1: "
       "spec.containers[0].resources.requests.cpu: "
       "expected a quantity, got a list"},
      {"{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {taints: 1}}",
       "web.yaml: document 1 (line 1): Node n1: spec.taints: expected a list, got a number"},
      {"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x}, spec: {priorityClassName: "
       "none}}",
       "web.yaml: document 1 (line 1): Pod x/p: no PriorityClass with name none was found"},
  };
  Manifests manifests;
  for (const Row& row : rows)
    EXPECT_THAT(manifests.error(row.text), StartsWith(row.message)) << row.text;
}

TEST(Manifest, FieldsThatAKindDoesNotHaveAreNamed) {
  Manifests manifests;
  const auto objects = manifests.read(R"(
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {nodeSelectr: {disk: ssd}, containers: [{name: c, colour: red}]}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: any}
whatever: 1
)");
  EXPECT_THAT(name_unknown_fields(objects),
              ElementsAre("web.yaml: document 1 (line 2): Pod default/web: unknown field "
                          "\"spec.nodeSelectr\", did you mean \"nodeSelector\"?",
                          "web.yaml: document 1 (line 2): Pod default/web: unknown field "
                          "\"spec.containers[0].colour\""));
  // A key that stands twice does not come so far, in YAML or in JSON.
  EXPECT_EQ(manifests.error(R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
      "spec": {"unschedulable": true, "unschedulable": false}})"),
            "web.yaml: yaml: unmarshal errors:\n"
            "  line 2: key \"unschedulable\" already set in map");
}

TEST(Manifest, ListsInListsHaveAnEnd) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "{apiVersion: v1, kind: List, items: [";
  for (int i = 0; i < 20; ++i) text += "]}";
  Manifests manifests;
  EXPECT_THAT(manifests.error(text), ::testing::HasSubstr("items: lists are nested too deep"));
}

TEST(Manifest, AdmissionKnowsClassesThatComeLater) {
  Manifests manifests;
  const auto objects = manifests.admitted(R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {priorityClassName: high, containers: [{name: c, resources: {limits: {cpu: 1}}}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {capacity: {cpu: 4}}
---
apiVersion: apps/v1
kind: Job
metadata: {name: j}
)");
  const Pod& pod = pod_of(objects[0]);
  EXPECT_EQ(pod.priority(), 1000);
  EXPECT_EQ(pod.usage().requests.milli_cpu, 1000);
  EXPECT_EQ(pod.scheduler_name(), names::kDefaultScheduler);
  EXPECT_EQ(pod.creation_time(), VirtualLoop::kDefaultStart);
  EXPECT_EQ(pod.resource_version(), "1");
  EXPECT_EQ(pod.generation(), 1);
  EXPECT_EQ(as<PriorityClass>(objects[1]).resource_version, "2");
  EXPECT_EQ(as<Node>(objects[2]).allocatable_resources.milli_cpu, 4000);
}

TEST(Manifest, WhatWasReadHoldsItsSymbols) {
  Manifests manifests;
  const std::size_t before = manifests.interner.symbols()->size();
  {
    const auto objects = manifests.admitted(
        "{apiVersion: v1, kind: Node, metadata: {name: lonely, labels: {rare: value}}}");
    EXPECT_GT(manifests.interner.symbols()->size(), before);
  }
  EXPECT_EQ(manifests.interner.symbols()->size(), before);
}

}  // namespace
}  // namespace berth
