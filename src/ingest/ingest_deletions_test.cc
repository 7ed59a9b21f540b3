// Pods that go: while they are assumed, unseen, finished or made anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "ingest/testing/ingest_fixture.h"

namespace berth {
namespace {

// ---- pods that go while they are assumed (§13.4)

TEST_F(IngestTest, AWaitingPodThatIsDeletedIsTurnedAwayAndCleansUpItself) {
  shows(q.world.node("n1"));
  const Ref<const Pod> held = assumed(pod("p"));
  holds(held);
  spy("low", -1), spy("high", 9);
  deletes(held);
  const Outcome outcome = wait_of(held);
  EXPECT_EQ(outcome.code, Code::kUnschedulable);
  EXPECT_EQ(outcome.message(), "removed");
  EXPECT_EQ(outcome.plugin, "");
  EXPECT_TRUE(cluster.is_assumed(held->uid())) << "its binding cycle gives the place back";
  EXPECT_THAT(heard, UnorderedElementsAre("low: AssignedPodDelete p@1 > -",
                                          "high: AssignedPodDelete p@1 > -"));
}

TEST_F(IngestTest, AWaitingPodThatBeginsToTerminateIsTurnedAwayOnce) {
  shows(q.world.node("n1"));
  const Ref<const Pod> held = assumed(pod("p"));
  holds(held);
  spy();
  const WallTime now = q.loop.wall_now();
  updates(pod("p", "2").deleted(now));
  EXPECT_EQ(wait_of(held).message(), "removed");
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodDelete p@1 > -"));
  updates(pod("p", "3").deleted(now).label("a", "b"));
  EXPECT_EQ(heard.size(), 1u) << "it was terminating before";
}

TEST_F(IngestTest, ABindingPodThatIsDeletedGivesItsPlaceBackAtOnce) {
  shows(q.world.node("n1"));
  const Ref<const Pod> binding = assumed(pod("p").cpu("1"));
  spy();
  deletes(binding);
  EXPECT_EQ(cluster.placed_count(), 0u);
  EXPECT_EQ(cluster.nodes().requested_milli_cpu()[row("n1")], 0);
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodDelete p@1 > -"));
  EXPECT_THAT(state, ElementsAre("1 nodes, 0 pods"));
}

TEST_F(IngestTest, APodWhoseWaitIsOverIsForgottenWhenItIsDeleted) {
  shows(q.world.node("n1"));
  const Ref<const Pod> held = assumed(pod("p"));
  holds(held);
  ASSERT_TRUE(waiting.allow(held->uid(), "Gang"));
  deletes(held);
  EXPECT_EQ(cluster.placed_count(), 0u);
  EXPECT_TRUE(wait_of(held).ok()) << "what was settled first stays";
}

TEST_F(IngestTest, OtherUpdatesOfAnAssumedPodChangeNothing) {
  shows(q.world.node("n1"));
  const Ref<const Pod> binding = assumed(pod("p").nominated("n1"));
  spy();
  updates(pod("p", "2").label("a", "b"));
  EXPECT_EQ(cluster.placed(binding->uid()), binding);
  EXPECT_EQ(q.place(binding), QueuePlace::kNowhere);
  EXPECT_EQ(q.queue().sizes().in_flight_events, 0u);
  EXPECT_THAT(heard, IsEmpty());
  EXPECT_EQ(cluster.seen_pod("default", "p")->resource_version(), "2");
}

// ---- deletions that tell less than there was, or more

TEST_F(IngestTest, ADeletionWithAStateFromBeforeTheNodeFreesThePlace) {
  spy();
  shows(pod("p", "2").on("n1"));
  heard.clear();
  deletes(pod("p", "1"));
  EXPECT_EQ(cluster.placed_count(), 0u);
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodDelete p@2 > -"));
}

TEST_F(IngestTest, ADeletionThatTellsOfABindingNobodySawEmptiesTheQueueToo) {
  const Ref<const Pod> queued = shows(pod("p"));
  deletes(pod("p", "2").on("n1"));
  EXPECT_EQ(q.place(queued), QueuePlace::kNowhere);
  EXPECT_EQ(cluster.placed_count(), 0u);
}

TEST_F(IngestTest, AFinishedPodIsGone) {
  spy();
  const Ref<const Pod> running = shows(pod("p").on("n1"));
  heard.clear();
  updates(pod("p", "2").on("n1").phase(PodPhase::kSucceeded));
  EXPECT_EQ(cluster.placed_count(), 0u);
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodDelete p@1 > -"));
  deletes(pod("p", "3").on("n1").phase(PodPhase::kSucceeded));
  EXPECT_EQ(heard.size(), 1u) << "it has been gone since";
}

TEST_F(IngestTest, APodThatWasFinishedAllAlongIsNeverThere) {
  shows(pod("done").on("n1").phase(PodPhase::kFailed));
  const Ref<const Pod> without_node = shows(pod("p").phase(PodPhase::kFailed));
  EXPECT_EQ(cluster.placed_count(), 0u);
  EXPECT_EQ(cluster.seen_count(), 0u);
  EXPECT_EQ(q.place(without_node), QueuePlace::kNowhere);
}

TEST_F(IngestTest, APodMadeAnewIsTheOldOnesEndAndANewOnesBeginning) {
  spy();
  shows(pod("p").uid("first").on("n1"));
  heard.clear();
  const Ref<const Pod> second = shows(pod("p", "2").uid("second"), DeltaType::kUpdated);
  EXPECT_THAT(heard, ElementsAre("spy: AssignedPodDelete p@1 > -"));
  EXPECT_EQ(cluster.placed_count(), 0u);
  EXPECT_EQ(q.queue().find(*second)->pod, second);
  EXPECT_EQ(cluster.seen_pod("default", "p"), second);
}

TEST_F(IngestTest, ADeletionOfAPodNobodySawIsNothing) {
  spy();
  deletes(pod("p").on("n1"));
  EXPECT_THAT(heard, IsEmpty());
  EXPECT_THAT(q.log.internal_errors, IsEmpty());
}

}  // namespace
}  // namespace berth
