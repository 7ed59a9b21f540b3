#include "explain/preemption_reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "explain/explainer.h"
#include "explain/testing/changed_manifest.h"

namespace berth::explain {
namespace {

using explain::testing::LoadedManifest;

// Four nodes of 4 cpu: with pods of priority 0 and 50, of 10, with a protected one, and with a taint.
constexpr char kCluster[] = R"(
{apiVersion: v1, kind: Node, metadata: {name: low}, status: {allocatable: {cpu: "4", pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: high}, status: {allocatable: {cpu: "4", pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: guarded}, status: {allocatable: {cpu: "4", pods: "10"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: tainted}, spec: {taints: [{key: team, effect: NoSchedule}]}, status: {allocatable: {cpu: "4", pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {nodeName: low, containers: [{name: c, resources: {requests: {cpu: "3"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: default}, spec: {nodeName: high, priority: 10, containers: [{name: c, resources: {requests: {cpu: "3"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: default, labels: {app: db}}, spec: {nodeName: guarded, containers: [{name: c, resources: {requests: {cpu: "3"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: d, namespace: default}, spec: {nodeName: low, priority: 50, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: db, namespace: default}, spec: {selector: {matchLabels: {app: db}}}, status: {disruptionsAllowed: 0}}
---
)";

std::string pending_pod(const std::string& spec, const std::string& cpu = "2") {
  return "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {" + spec +
         "containers: [{name: c, resources: {requests: {cpu: \"" + cpu + "\"}}}]}}\n";
}

// "Code: nodes", a line each.
std::string reasons_of(const std::string& pod) {
  LoadedManifest loaded(kCluster + pod, /*preempts=*/true);
  const Explanation explanation =
      Explainer(*loaded.evaluator, {}).explain(loaded.pending("default/p"));
  if (!explanation.preemption) return "not asked";
  std::string text = explanation.preemption->node.empty()
                         ? std::string()
                         : "chosen: " + explanation.preemption->node + "\n";
  for (const Explanation::PreemptionReason& reason : explanation.preemption->reasons) {
    text += reason.code + ":";
    for (const std::string& node : reason.nodes) text += " " + node;
    text += "\n";
  }
  return text;
}

TEST(PreemptionReasonsTest, EachNodeSaysWhyEvictionsDoNotHelpThere) {
  EXPECT_EQ(reasons_of(pending_pod("priority: 5, ")),
            "chosen: low\n"
            "ViolatesDisruptionBudget: guarded\n"
            "NoLowerPriorityPods: high\n"
            "NotAboutPods: tainted\n");
  EXPECT_EQ(reasons_of(pending_pod("priority: 5, ", "4")),
            "chosen: guarded\n"
            "NoLowerPriorityPods: high\n"
            "VictimsNotEnough: low\n"
            "NotAboutPods: tainted\n");
  EXPECT_EQ(reasons_of(pending_pod("priority: 20, nodeSelector: {zone: a}, ")),
            "NotAboutPods: guarded high low\nNotAboutPods: tainted\n");
}

TEST(PreemptionReasonsTest, APodThatNeverPreemptsSaysSoForAllNodes) {
  EXPECT_EQ(reasons_of(pending_pod("priority: 5, preemptionPolicy: Never, ")),
            "PreemptionPolicyNever: guarded high low tainted\n");
}

TEST(PreemptionReasonsTest, NodesWhereItWouldHelpTooAreNamed) {
  EXPECT_EQ(reasons_of(pending_pod("priority: 20, ")),
            "chosen: low\n"
            "PreemptionPossible: high\n"
            "ViolatesDisruptionBudget: guarded\n"
            "NotAboutPods: tainted\n");
}

TEST(NominatedInTheWayTest, PodsThatAreNominatedAreNamedWhereTheyAloneAreInTheWay) {
  const std::string nominee =
      "{apiVersion: v1, kind: Pod, metadata: {name: nominee, namespace: default, uid: u9}, spec: "
      "{priority: 9, containers: [{name: c, resources: {requests: {cpu: \"4\"}}}]}, status: "
      "{nominatedNodeName: free}}\n---\n"
      "{apiVersion: v1, kind: Node, metadata: {name: free}, status: {allocatable: {cpu: \"4\", "
      "pods: "
      "\"10\"}}}\n---\n";
  LoadedManifest loaded(kCluster + nominee + pending_pod("priority: 0, "), /*preempts=*/true);
  const Explanation explanation =
      Explainer(*loaded.evaluator, {}).explain(loaded.pending("default/p"));
  EXPECT_EQ(explanation.verdict, "Unschedulable");
  ASSERT_EQ(explanation.nominated.size(), 1U);
  EXPECT_EQ(explanation.nominated[0].node, "free");
  EXPECT_THAT(explanation.nominated[0].pods, ElementsAre("default/nominee"));
  const auto nominated = loaded.evaluator->nominated_pods();
  EXPECT_EQ(nominated.size(), 1U) << "they are nominated as before";
}

}  // namespace
}  // namespace berth::explain
