#include "explain/cluster_edits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode.h"
#include "explain/testing/changed_manifest.h"

namespace berth::explain::testing {
namespace {

constexpr const char* kCluster = R"(
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {topology.kubernetes.io/zone: b}}
status: {allocatable: {cpu: 2, memory: 8Gi, pods: 10}}
---
apiVersion: v1
kind: Node
metadata: {name: n3, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: 1, memory: 8Gi, pods: 10}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: c}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}
)";

struct ClusterEditsTest : ::testing::Test {
  LoadedManifest loaded{kCluster};
  Evaluator& evaluator = *loaded.evaluator;
  const NodeTable& nodes = evaluator.cluster().nodes();
  Ref<const Pod> pod = loaded.pending("default/p");

  NodeRow row(const char* name) { return nodes.find(evaluator.cluster().symbols().find(name)); }
  std::string feasible() {
    std::string names;
    evaluator.feasible(pod).for_each([&](NodeRow at) {
      names += (names.empty() ? "" : " ") + std::string(nodes.name_text(at));
    });
    return names;
  }
  // Order, pods and the sums of requests.
  std::string state() {
    evaluator.feasible(pod);  // begins a cycle, which orders the nodes
    std::string text;
    for (const NodeRow at : nodes.order()) {
      text += fmt::format("{}:{}", nodes.name_text(at), nodes.requested_milli_cpu()[at]);
      for (const Ref<const Pod>& there : nodes.pods(at)) text += fmt::format(" {}", there->name());
      text += "; ";
    }
    return text;
  }
  Ref<const Object> node(const char* name, const char* zone) {
    const std::string json = fmt::format(
        R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}","labels":{{)"
        R"("topology.kubernetes.io/zone":"{}"}}}},"status":{{"allocatable":{{"cpu":"4","pods":"9"}}}}}})",
        name, zone);
    return std::get<Ref<const Object>>(
        *decode_object(ObjectKind::kNode, json, loaded.interner, nullptr, name));
  }
};

TEST_F(ClusterEditsTest, QuestionsAreAboutTheClusterAsItIs) {
  EXPECT_EQ(feasible(), "");
  EXPECT_FALSE(evaluator.finds_node(pod));
  EXPECT_THAT(evaluator.rejectors(pod, row("n1")), ::testing::ElementsAre("NodeResourcesFit"));
  ClusterEdits edits(evaluator);
  edits.put(node("n2", "b"));
  EXPECT_EQ(feasible(), "n2");
  EXPECT_TRUE(evaluator.finds_node(pod));
  EXPECT_THAT(evaluator.rejectors(pod, row("n2")), ::testing::IsEmpty());
  edits.put(node("new", "c"));
  edits.remove(loaded.evaluator->cluster().seen_pod("default", "a"));
  edits.remove(loaded.evaluator->cluster().seen_pod("default", "b"));
  EXPECT_THAT(feasible(), ::testing::HasSubstr("n1"));
  EXPECT_THAT(feasible(), ::testing::HasSubstr("new"));
}

TEST_F(ClusterEditsTest, EverythingIsUndone) {
  const std::string before = state();
  {
    const KeptOrder kept(evaluator);
    {
      ClusterEdits edits(evaluator);
      edits.remove(evaluator.cluster().seen_pod("default", "b"));
      edits.put(node("n1", "elsewhere"));  // comes back to the end of its zone
      edits.put(node("new", "a"));
      edits.remove(evaluator.cluster().seen_pod("default", "a"));
      EXPECT_NE(state(), before);
    }
    EXPECT_NE(state(), before);
  }
  EXPECT_EQ(state(), before);
  EXPECT_TRUE(evaluator.cluster().seen_pod("default", "b"));
}

TEST_F(ClusterEditsTest, PodsThatAreGoneMakeRoomForAWhile) {
  const std::string before = state();
  {
    PodsGone gone(evaluator, pod);
    const NodeRow n1 = row("n1");
    EXPECT_FALSE(gone.fits(n1));
    const std::vector<Ref<const Pod>> there(nodes.pods(n1).begin(), nodes.pods(n1).end());
    gone.remove(there[0], n1);
    EXPECT_FALSE(gone.fits(n1));
    const std::size_t one = gone.edits();
    gone.remove(there[1], n1);
    EXPECT_TRUE(gone.fits(n1));
    gone.put_back(there[0], n1);
    EXPECT_FALSE(gone.fits(n1));
    gone.undo_to(one);
    EXPECT_FALSE(gone.fits(n1));
    EXPECT_FALSE(gone.fits(row("n2"))) << "too small, whoever goes";
  }
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace berth::explain::testing
