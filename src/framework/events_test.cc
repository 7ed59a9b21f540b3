#include "berth/events.h"

#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"

namespace berth {
namespace {

TEST(ClusterEvent, LabelIsResourceAndAction) {
  EXPECT_EQ(events::kNodeAdd.label(), "NodeAdd");
  EXPECT_EQ(events::kAssignedPodDelete.label(), "AssignedPodDelete");
  EXPECT_EQ(events::kUnscheduledPodAdd.label(), "UnscheduledPodAdd");
  EXPECT_EQ((ClusterEvent{EventResource::kTargetPod, action::kUpdate, {}}).label(),
            "TargetPodUpdate");
  EXPECT_EQ((ClusterEvent{EventResource::kAssignedPod, action::kUpdatePodScaleUp, {}}).label(),
            "AssignedPodUpdatePodScaleUp");
  EXPECT_EQ((ClusterEvent{EventResource::kNode, action::kUpdateNodePreemptionPolicy, {}}).label(),
            "NodeUpdateNodePreemptionPolicy");
  EXPECT_EQ((ClusterEvent{EventResource::kCompositePodGroup, action::kAdd, {}}).label(),
            "scheduling.k8s.io/CompositePodGroupAdd");
  EXPECT_EQ(events::kUnschedulableTimeout.label(), "UnschedulableTimeout");
  EXPECT_EQ((ClusterEvent{EventResource::kNode, action::kAdd | action::kDelete, {}}).label(),
            "Node")
      << "a mixture of actions has no name";
}

TEST(ClusterEvent, EachActionHasALabel) {
  EXPECT_THAT(events::kNodeAdd.labels(), ElementsAre("NodeAdd"));
  EXPECT_THAT(
      (ClusterEvent{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel, {}}).labels(),
      ElementsAre("NodeAdd", "NodeUpdateNodeLabel"));
  EXPECT_THAT(
      (ClusterEvent{EventResource::kStorageClass, action::kAdd | action::kUpdate, {}}).labels(),
      ElementsAre("storage.k8s.io/StorageClassUpdate", "storage.k8s.io/StorageClassAdd"));
  EXPECT_THAT(events::kUnschedulableTimeout.labels(), ElementsAre("UnschedulableTimeout"));
}

TEST(ClusterEvent, WhoHearsWhat) {
  using enum EventResource;
  struct Case {
    const char* behaviour;
    ClusterEvent registered, incoming;
    bool heard;
  };
  const Case cases[] = {
      {"the wildcard hears all", {kWildcard, action::kAll, {}}, events::kNodeAdd, true},
      {"the same event", {kNode, action::kAdd, {}}, events::kNodeAdd, true},
      {"one of several actions",
       {kNode, action::kAdd | action::kDelete, {}},
       events::kNodeAdd,
       true},
      {"another resource", {kPod, action::kAdd, {}}, events::kNodeAdd, false},
      {"Pod hears of assigned pods", {kPod, action::kDelete, {}}, events::kAssignedPodDelete, true},
      {"Pod hears of unscheduled pods", {kPod, action::kAdd, {}}, events::kUnscheduledPodAdd, true},
      {"Pod hears of the rejected pod",
       {kPod, action::kUpdatePodLabel, {}},
       {kTargetPod, action::kUpdatePodLabel, {}},
       true},
      {"the rejected pod is not just any unscheduled one",
       {kUnscheduledPod, action::kUpdatePodLabel, {}},
       {kTargetPod, action::kUpdatePodLabel, {}},
       false},
      {"assigned pods alone do not hear of others",
       {kAssignedPod, action::kAdd, {}},
       events::kUnscheduledPodAdd,
       false},
      {"all updates hear a single one",
       {kNode, action::kUpdate, {}},
       {kNode, action::kUpdateNodeTaint, {}},
       true},
      {"a single update does not hear the generic one",
       {kPod, action::kUpdatePodLabel, {}},
       {kTargetPod, action::kUpdate, {}},
       false},
      {"any resource, one action", {kWildcard, action::kAdd, {}}, events::kNodeAdd, true},
  };
  for (const Case& c : cases) EXPECT_EQ(matches(c.registered, c.incoming), c.heard) << c.behaviour;
}

std::vector<std::uint32_t> actions(const std::vector<ClusterEvent>& events) {
  std::vector<std::uint32_t> found;
  for (const ClusterEvent& event : events) found.push_back(event.actions);
  return found;
}

TEST(ClusterEvent, OfAnyResourceIsHeardByWhoNamedIt) {
  const ClusterEvent cranes{EventResource::kOther, action::kAdd, {}, "cranes.v1.example.com"};
  EXPECT_EQ(cranes.label(), "cranes.v1.example.comAdd");
  EXPECT_THAT(
      (ClusterEvent{EventResource::kOther, action::kAdd | action::kDelete, {}, "c.v1.d"}).labels(),
      ElementsAre("c.v1.dAdd", "c.v1.dDelete"));
  EXPECT_TRUE(matches({EventResource::kOther, action::kAll, {}, "cranes.v1.example.com"}, cranes));
  EXPECT_FALSE(matches({EventResource::kOther, action::kAll, {}, "ships.v1.example.com"}, cranes));
  EXPECT_FALSE(
      matches({EventResource::kOther, action::kUpdate, {}, "cranes.v1.example.com"}, cranes));
  EXPECT_TRUE(matches({EventResource::kWildcard, action::kAll, {}}, cranes));
}

TEST(PodUpdateEvents, OnePerThingThatChanged) {
  World world;
  const Ref<const Pod> before = world.pod("p").cpu("2").label("app", "a").gate("g").tolerates("k");
  struct Case {
    const char* behaviour;
    Ref<const Pod> after;
    std::vector<std::uint32_t> expected;
  };
  const Case cases[] = {
      {"nothing of note is a generic update",
       world.pod("p").cpu("2").label("app", "a").gate("g").tolerates("k").version("2"),
       {action::kUpdate}},
      {"labels",
       world.pod("p").cpu("2").label("app", "b").gate("g").tolerates("k"),
       {action::kUpdatePodLabel}},
      {"a smaller request",
       world.pod("p").cpu("1").label("app", "a").gate("g").tolerates("k"),
       {action::kUpdatePodScaleDown}},
      {"a larger request",
       world.pod("p").cpu("3").label("app", "a").gate("g").tolerates("k"),
       {action::kUpdatePodScaleUp}},
      {"another request",
       world.pod("p").cpu("2").memory("1Gi").label("app", "a").gate("g").tolerates("k"),
       {action::kUpdatePodScaleUp}},
      {"one request instead of another",
       world.pod("p").memory("1Gi").label("app", "a").gate("g").tolerates("k"),
       {action::kUpdatePodScaleDown, action::kUpdatePodScaleUp}},
      {"the last gate went",
       world.pod("p").cpu("2").label("app", "a").tolerates("k"),
       {action::kUpdatePodSchedulingGatesEliminated}},
      {"one more toleration",
       world.pod("p").cpu("2").label("app", "a").gate("g").tolerates("k").tolerates("l"),
       {action::kUpdatePodToleration}},
      {"several at once, in order",
       world.pod("p").cpu("1").memory("1Gi").tolerates("k").tolerates("l"),
       {action::kUpdatePodLabel, action::kUpdatePodScaleDown, action::kUpdatePodScaleUp,
        action::kUpdatePodSchedulingGatesEliminated, action::kUpdatePodToleration}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(actions(pod_update_events(*before, *c.after)), c.expected) << c.behaviour;

  using enum EventResource;
  const Ref<const Pod> bound = world.pod("p").cpu("2").on("n");
  EXPECT_EQ(pod_update_events(*before, *bound).front().resource, kAssignedPod);
  EXPECT_EQ(pod_update_events(*before, *bound, kTargetPod).front().resource, kAssignedPod);
  EXPECT_EQ(pod_update_events(*before, *before).front().resource, kUnscheduledPod);
  EXPECT_EQ(pod_update_events(*before, *before, kTargetPod).front().resource, kTargetPod);
}

TEST(PodUpdateEvents, GeneratedClaimsOfAPod) {
  World world;
  const Ref<const Pod> before = world.pod("p");
  const auto with = [&](std::vector<PodResourceClaimStatus> statuses,
                        std::optional<PodExtendedResourceClaimStatus> extended) {
    PodDraft draft = draft_of(*before);
    draft.extra = std::make_unique<PodExtra>(world.interner.hold());
    draft.extra->resource_claim_statuses = std::move(statuses);
    draft.extra->extended_resource_claim_status = std::move(extended);
    return make_pod(std::move(draft));
  };
  const auto changed = std::vector<std::uint32_t>{action::kUpdatePodGeneratedResourceClaim};
  const Ref<const Pod> generated = with({{"gpu", "claim-1"}}, {});
  EXPECT_EQ(actions(pod_update_events(*before, *generated)), changed);
  EXPECT_EQ(actions(pod_update_events(*generated, *with({{"gpu", std::nullopt}}, {}))), changed);
  EXPECT_EQ(actions(pod_update_events(*generated, *with({{"gpu", "claim-1"}}, {{{}, "c"}}))),
            changed);
  EXPECT_EQ(actions(pod_update_events(*generated, *with({{"gpu", "claim-1"}}, {}))),
            (std::vector<std::uint32_t>{action::kUpdate}));
  EXPECT_EQ(actions(pod_update_events(*before, *with({}, {}))),
            (std::vector<std::uint32_t>{action::kUpdate}));
}

TEST(NodeUpdateEvents, OnePerThingThatChanged) {
  World world;
  const Ref<const Node> before =
      world.node("n").cordoned().label("a", "1").condition("Ready", "True");
  const auto like_before = [&] {
    testing::NodeBuilder node = world.node("n");
    node.label("a", "1");
    return node;
  };
  struct Case {
    const char* behaviour;
    Ref<const Node> after;
    std::vector<std::uint32_t> expected;
  };
  const Case cases[] = {
      {"nothing of note", like_before().cordoned().condition("Ready", "True").version("9"), {}},
      {"uncordoned counts as a change of taints",
       like_before().condition("Ready", "True"),
       {action::kUpdateNodeTaint}},
      {"more room",
       like_before().cordoned().condition("Ready", "True").cpu("8"),
       {action::kUpdateNodeAllocatable}},
      {"labels",
       like_before().cordoned().condition("Ready", "True").zone("z"),
       {action::kUpdateNodeLabel}},
      {"a condition",
       like_before().cordoned().condition("Ready", "False"),
       {action::kUpdateNodeCondition}},
      {"an annotation",
       like_before().cordoned().condition("Ready", "True").annotation("x", "y"),
       {action::kUpdateNodeAnnotation}},
      {"taints twice, when uncordoned and tainted at once",
       like_before().condition("Ready", "True").taint("t", "NoSchedule"),
       {action::kUpdateNodeTaint, action::kUpdateNodeTaint}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(actions(node_update_events(*before, *c.after)), c.expected) << c.behaviour;
  EXPECT_TRUE(node_update_events(*cases[1].after, *before).empty())
      << "cordoning alone helps nobody";
}

TEST(NodeUpdateEvents, ThePreemptionPolicyComesBeforeTheFeatures) {
  World world;
  const Ref<const Node> before = world.node("n");
  const auto with_policy = [&](std::vector<Symbol> owners) {
    auto node = make_ref<Node>(*before);
    node->pod_preemption_policy.emplace(std::move(owners));
    return node;
  };
  const auto changed = std::vector<std::uint32_t>{action::kUpdateNodePreemptionPolicy};
  const auto empty = with_policy({}), owned = with_policy({world.symbol("example.com/a")});
  EXPECT_EQ(actions(node_update_events(*before, *empty)), changed) << "none is not an empty one";
  EXPECT_EQ(actions(node_update_events(*empty, *owned)), changed);
  EXPECT_TRUE(node_update_events(*owned, *with_policy({world.symbol("example.com/a")})).empty());
  owned->declared_features.push_back(world.symbol("F"));
  owned->annotations = LabelSet(std::vector<Label>{{world.symbol("a"), world.symbol("b")}});
  EXPECT_EQ(actions(node_update_events(*before, *owned)),
            (std::vector<std::uint32_t>{action::kUpdateNodeAnnotation,
                                        action::kUpdateNodePreemptionPolicy,
                                        action::kUpdateNodeDeclaredFeature}));
}

}  // namespace
}  // namespace berth
