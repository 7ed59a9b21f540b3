#include "ingest/ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "ingest/testing/ingest_fixture.h"

namespace berth {
namespace {

// ---- nodes (core.md §13.2)

TEST_F(IngestTest, ANewNodeIsThereBeforeTheQueueHearsOfIt) {
  spy();
  shows(q.world.node("n1"));
  EXPECT_TRUE(has_node("n1"));
  EXPECT_THAT(heard, ElementsAre("spy: NodeAdd - > n1"));
  EXPECT_THAT(state, ElementsAre("1 nodes, 0 pods"));
}

TEST_F(IngestTest, AChangedNodeIsToldOncePerKindOfChangeInOrder) {
  shows(q.world.node("n1").cpu("1").cordoned());
  spy();
  shows(q.world.node("n1")
            .cpu("2")
            .label("a", "b")
            .taint("t", "NoSchedule")
            .condition("Ready", "True")
            .annotation("k", "v"),
        DeltaType::kUpdated);
  EXPECT_EQ(cluster.nodes().allocatable_milli_cpu()[row("n1")], 2000);
  EXPECT_THAT(
      heard,
      ElementsAre("spy: NodeUpdateNodeTaint n1 > n1",  // uncordoned counts as one
                  "spy: NodeUpdateNodeAllocatable n1 > n1", "spy: NodeUpdateNodeLabel n1 > n1",
                  "spy: NodeUpdateNodeTaint n1 > n1", "spy: NodeUpdateNodeCondition n1 > n1",
                  "spy: NodeUpdateNodeAnnotation n1 > n1"));
}

TEST_F(IngestTest, ANodeUpdateThatMeansNothingChangesTheRowAndMovesNobody) {
  shows(q.world.node("n1"));
  spy();
  const std::uint64_t before = cluster.nodes().generation(row("n1"));
  shows(q.world.node("n1").image("app", 5), DeltaType::kUpdated);
  EXPECT_GT(cluster.nodes().generation(row("n1")), before);
  EXPECT_THAT(heard, IsEmpty());
}

TEST_F(IngestTest, TheQueueHearsOfANodesEndWhileItIsStillThere) {
  const Ref<const Node> node = shows(q.world.node("n1"));
  spy();
  apply(DeltaType::kDeleted, Ref<const Object>(node));
  EXPECT_FALSE(has_node("n1"));
  EXPECT_THAT(heard, ElementsAre("spy: NodeDelete n1 > -"));
  EXPECT_THAT(state, ElementsAre("1 nodes, 0 pods"));
}

TEST_F(IngestTest, ANodeThatGoesBeforeItsPodsLeavesThemInTheirPlaces) {
  const Ref<const Node> node = shows(q.world.node("n1"));
  const Ref<const Pod> on_it = shows(pod("p").on("n1"));
  apply(DeltaType::kDeleted, Ref<const Object>(node));
  EXPECT_EQ(cluster.placed_count(), 1u);
  deletes(on_it);
  EXPECT_EQ(cluster.placed_count(), 0u);
  EXPECT_THAT(q.log.internal_errors, IsEmpty());
}

TEST_F(IngestTest, ANodeThatWasNeverSeenCannotGo) {
  apply(DeltaType::kDeleted, Ref<const Object>(q.world.node("n1").build()));
  EXPECT_THAT(q.log.internal_errors, ElementsAre("node n1 is not found"));
}

// ---- pods that have a node

TEST_F(IngestTest, AnAssignedPodTakesItsPlaceBeforeTheQueueHearsOfIt) {
  spy();
  const Ref<const Pod> added = shows(pod("p").on("n1"));
  EXPECT_EQ(cluster.placed(added->uid()), added);
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodAdd - > p@1"));
  EXPECT_THAT(state, ElementsAre("0 nodes, 1 pods"));
  EXPECT_EQ(q.place(added), QueuePlace::kNowhere);
}

TEST_F(IngestTest, AnAssignedPodsUpdateIsToldOncePerKindOfChangeInOrder) {
  spy();
  shows(q.world.node("n1"));
  shows(pod("p").on("n1").cpu("2"));
  heard.clear();
  updates(pod("p", "2").on("n1").cpu("1").label("a", "b"));
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodUpdatePodLabel p@1 > p@2",
                                 "spy: AssignedPodUpdatePodScaleDown p@1 > p@2"));
  EXPECT_EQ(cluster.nodes().requested_milli_cpu()[row("n1")], 1000);
  heard.clear();
  updates(pod("p", "3").on("n1").cpu("3").label("a", "b"));
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodUpdatePodScaleUp p@2 > p@3"));
}

TEST_F(IngestTest, APodWithoutANodeIsToldOfItsOwnUpdateAlone) {
  spy("a"), spy("b");
  updates(pod("a", "2").label("x", "y"));
  EXPECT_THAT(heard, ElementsAre("a: TargetPodUpdatePodLabel a@1 > a@2"));
}

TEST_F(IngestTest, AnAssignedPodsEndFreesItsPlaceBeforeTheQueueHearsOfIt) {
  spy();
  const Ref<const Pod> added = shows(pod("p").on("n1"));
  heard.clear(), state.clear();
  deletes(added);
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodDelete p@1 > -"));
  EXPECT_THAT(state, ElementsAre("0 nodes, 0 pods"));
}

TEST_F(IngestTest, AssignedPodsOfOtherSchedulersCountAsWell) {
  spy();
  const Ref<const Pod> added = shows(pod("p").on("n1").scheduler("theirs"));
  EXPECT_EQ(cluster.placed_count(), 1u);
  deletes(added);
  EXPECT_EQ(cluster.placed_count(), 0u);
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodAdd - > p@1", "spy: AssignedPodDelete p@1 > -"));
}

// As after an API server's store was set back to a backup.
TEST_F(IngestTest, APodThatLosesItsNodeIsQueued) {
  const Ref<const Pod> added = shows(pod("p").on("n1"));
  updates(pod("p", "2"));
  EXPECT_EQ(cluster.placed(added->uid()), nullptr);
  EXPECT_THAT(q.log.internal_errors, ElementsAre(HasSubstr("the watch shows it on node <none>")));
  EXPECT_EQ(q.place(added), QueuePlace::kActive);
}

TEST_F(IngestTest, APodThatIsOnAnotherNodeIsTakenToBeThere) {
  shows(q.world.node("n1"));
  shows(q.world.node("n2"));
  const Ref<const Pod> added = shows(pod("p").on("n1"));
  updates(pod("p", "2").on("n2"));
  ASSERT_NE(cluster.placed(added->uid()), nullptr);
  EXPECT_EQ(cluster.placed(added->uid())->node_name(), "n2");
  EXPECT_THAT(q.log.internal_errors, ElementsAre(HasSubstr("the watch shows it on node n2")));
}

// ---- pods that become assigned

TEST_F(IngestTest, APodThatSomebodyElseBoundLeavesTheQueueWithItsNomination) {
  spy();
  shows(q.world.node("n1"));
  const Ref<const Pod> queued = shows(pod("p").nominated("n1"));
  ASSERT_EQ(q.place(queued), QueuePlace::kActive);
  ASSERT_EQ(q.queue().nominated_pods(q.world.symbol("n1")).size(), 1u);
  heard.clear(), state.clear();
  updates(pod("p", "2").on("n1"));
  EXPECT_EQ(q.place(queued), QueuePlace::kNowhere);
  EXPECT_THAT(q.queue().nominated_pods(q.world.symbol("n1")), IsEmpty());
  EXPECT_EQ(cluster.placed_count(), 1u);
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodAdd - > p@2"));
  EXPECT_THAT(state, ElementsAre("1 nodes, 1 pods"));
}

TEST_F(IngestTest, TheWatchConfirmsAnAssumedPod) {
  shows(q.world.node("n1"));
  const Ref<const Pod> bound = assumed(pod("p"));
  updates(pod("p", "2").on("n1"));
  EXPECT_FALSE(cluster.is_assumed(bound->uid()));
  EXPECT_EQ(cluster.placed(bound->uid())->resource_version(), "2");
  EXPECT_THAT(q.log.internal_errors, IsEmpty());
}

TEST_F(IngestTest, TheWatchMovesAnAssumedPodThatWasBoundElsewhere) {
  shows(q.world.node("n1"));
  shows(q.world.node("n2"));
  const Ref<const Pod> bound = assumed(pod("p"));
  updates(pod("p", "2").on("n2"));
  EXPECT_EQ(cluster.row_of(bound->uid()), row("n2"));
  EXPECT_EQ(cluster.assumed_count(), 0u);
}

// ---- pods without a node

TEST_F(IngestTest, OurUnassignedPodEntersTheQueueAndMovesNobody) {
  spy();
  const Ref<const Pod> added = shows(pod("p"));
  EXPECT_EQ(q.place(added), QueuePlace::kActive);
  EXPECT_EQ(cluster.placed_count(), 0u);
  EXPECT_THAT(q.log.take(), ElementsAre("active p UnscheduledPodAdd"));
  EXPECT_THAT(heard, IsEmpty());
}

TEST_F(IngestTest, UnassignedPodsOfOtherSchedulersAreIgnored) {
  spy();
  const Ref<const Pod> theirs = shows(pod("p").scheduler("theirs").nominated("n1"));
  EXPECT_EQ(q.place(theirs), QueuePlace::kNowhere);
  updates(pod("p", "2").scheduler("theirs").label("a", "b"));
  EXPECT_EQ(q.place(theirs), QueuePlace::kNowhere);
  deletes(theirs);
  EXPECT_THAT(heard, IsEmpty());
  EXPECT_THAT(q.log.take(), IsEmpty());
}

TEST_F(IngestTest, AnotherSchedulersPodThatIsBoundTakesItsPlaceAndLeavesTheQueueAlone) {
  const Ref<const Pod> ours = shows(pod("p"));
  shows(pod("theirs").scheduler("theirs"));
  updates(pod("theirs", "2").scheduler("theirs").on("n1"));
  EXPECT_EQ(cluster.placed_count(), 1u);
  EXPECT_EQ(q.place(ours), QueuePlace::kActive);
}

TEST_F(IngestTest, TheOldPodsSchedulerDecidesWhoseUpdateItIs) {
  shows(pod("p").scheduler("theirs"));
  updates(pod("p", "2"));
  EXPECT_EQ(q.queue().sizes().active, 0u);
}

TEST_F(IngestTest, AnUpdateWithTheSameVersionIsOldNews) {
  const Ref<const Pod> first = shows(pod("p", "7"));
  updates(pod("p", "7").label("a", "b"));
  EXPECT_EQ(q.queue().find(*first)->pod, first);
  updates(pod("p", "8").label("a", "b"));
  EXPECT_EQ(q.queue().find(*first)->pod->resource_version(), "8");
}

TEST_F(IngestTest, AnUpdateOfAPodInFlightIsKeptAsAnEvent) {
  const Ref<const Pod> tried = shows(pod("p"));
  QueuedPod popped = q.pop();
  ASSERT_EQ(popped.pod, tried);
  updates(pod("p", "2").label("a", "b"));
  EXPECT_EQ(q.queue().sizes().in_flight_events, 1u);
  EXPECT_EQ(q.place(tried), QueuePlace::kNowhere);
}

// §13.6: only who is registered for everything is helped by a change that says nothing.
TEST_F(IngestTest, AStatusUpdateWakesOnlyPodsWhoseRejectorHearsOfEverything) {
  QueueWorld other;
  other.registers("Everything", {EventResource::kPod, action::kAll, {}});
  other.registers("Labels", {EventResource::kTargetPod, action::kUpdatePodLabel, {}});
  const Ref<const Pod> hopeful = other.rejected("hopeful", {"Everything"});
  const Ref<const Pod> patient = other.rejected("patient", {"Labels"});
  ChangeGate open;
  WaitingPods nobody(other.loop);
  Ingest to_test(other.cluster, other.queue(), nobody, open,
                 {other.world.symbol(QueueWorld::kScheduler)}, other.log);
  for (const char* name : {"hopeful", "patient"}) {
    PodCondition condition;
    condition.type = "PodScheduled";
    condition.status = "False";
    to_test.apply({DeltaType::kUpdated, other.pod(name).version("2").condition(condition).build()});
  }
  EXPECT_EQ(other.place(hopeful), QueuePlace::kBackoff);
  EXPECT_EQ(other.place(patient), QueuePlace::kUnschedulable);
}

TEST_F(IngestTest, ADeletedPodLeavesTheQueueAndMovesNobody) {
  spy();
  const Ref<const Pod> queued = shows(pod("p"));
  deletes(queued);
  EXPECT_EQ(q.place(queued), QueuePlace::kNowhere);
  EXPECT_EQ(cluster.seen_pod("default", "p"), nullptr);
  EXPECT_THAT(heard, IsEmpty());
}

// ---- nominations (§13.3, §13.4)

TEST_F(IngestTest, ANominationThatChangesHelpsPodsThatAreNoMoreImportant) {
  spy("low", 1), spy("equal", 5), spy("high", 9);
  shows(pod("p").priority(5).nominated("n1"));
  updates(pod("p", "2").priority(5).nominated("n2"));
  EXPECT_THAT(heard, UnorderedElementsAre("low: AssignedPodDelete p@1 > -",
                                          "equal: AssignedPodDelete p@1 > -"));
  heard.clear();
  updates(pod("p", "3").priority(5));  // cleared
  EXPECT_THAT(heard, UnorderedElementsAre("low: AssignedPodDelete p@2 > -",
                                          "equal: AssignedPodDelete p@2 > -"));
}

TEST_F(IngestTest, ANominationThatComesOrStaysHelpsNobody) {
  spy();
  shows(pod("p").priority(5));
  updates(pod("p", "2").priority(5).nominated("n1"));
  updates(pod("p", "3").priority(5).nominated("n1"));
  EXPECT_THAT(heard, IsEmpty());
}

TEST_F(IngestTest, ANominatedPodsEndHelpsPodsThatAreNoMoreImportant) {
  spy("low", 1), spy("high", 9);
  const Ref<const Pod> nominated = shows(pod("p").priority(5).nominated("n1"));
  deletes(nominated);
  EXPECT_THAT(heard, ElementsAre("low: AssignedPodDelete p@1 > -"));
}

}  // namespace
}  // namespace berth
