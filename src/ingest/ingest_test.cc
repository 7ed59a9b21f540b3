#include "ingest/ingest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/devices.h"
#include "framework/testing/fake_plugins.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using namespace berth::testing;
using namespace std::chrono_literals;

Task<Outcome> outcome_of_wait(WaitingPods& waiting, Uid uid) {
  WaitingPods::Settled settled = waiting.settled(uid);
  Outcome outcome = co_await settled;
  co_return outcome;
}

// A cluster, a queue and what stands between them and the watch. The plugin Spy rejects pods, hears
// of every event by itself, and never finds it useful: what was said stays to be read.
struct IngestTest : ::testing::Test {
  QueueWorld q;
  Cluster& cluster = q.cluster;
  WaitingPods waiting{q.loop};
  ChangeGate gate;
  std::vector<std::string> heard;  // "spy: NodeAdd - > n1", with what was there before and after
  std::vector<std::string> state;  // of the cluster, at each of these: "1 nodes, 0 pods"
  std::unique_ptr<Ingest> ingest;

  void SetUp() override {
    using enum EventResource;
    namespace a = action;
    for (const auto& [resource, actions] : std::vector<std::pair<EventResource, std::uint32_t>>{
             {kNode, a::kAdd},
             {kNode, a::kDelete},
             {kNode, a::kUpdateNodeAllocatable},
             {kNode, a::kUpdateNodeLabel},
             {kNode, a::kUpdateNodeTaint},
             {kNode, a::kUpdateNodeCondition},
             {kNode, a::kUpdateNodeAnnotation},
             {kAssignedPod, a::kAdd},
             {kAssignedPod, a::kDelete},
             {kAssignedPod, a::kUpdatePodLabel},
             {kAssignedPod, a::kUpdatePodScaleDown},
             {kUnscheduledPod, a::kAdd},
             {kUnscheduledPod, a::kUpdatePodLabel},
             {kPersistentVolume, a::kAdd},
             {kPersistentVolume, a::kDelete},
             {kResourceClaim, a::kAdd},
             {kResourceClaim, a::kUpdate},
             {kResourceClaim, a::kDelete}})
      spy_on({resource, actions, {}});
    q.queue();
  }
  void spy_on(const ClusterEvent& event) {
    q.registers("Spy", event,
                [this, event](const Pod& pod, const AnyObject& before,
                              const AnyObject& after) -> Result<QueueingHint> {
                  heard.push_back(std::string(pod.name()) + ": " + event.label() + " " +
                                  name_of(before) + " > " + name_of(after));
                  state.push_back(std::to_string(cluster.nodes().node_count()) + " nodes, " +
                                  std::to_string(cluster.placed_count()) + " pods");
                  return QueueingHint::kSkip;
                });
  }
  static std::string name_of(const AnyObject& object) {
    if (const auto* pod = std::get_if<Ref<const Pod>>(&object))
      return std::string((*pod)->name()) + "@" + std::string((*pod)->resource_version());
    if (const auto* other = std::get_if<Ref<const Object>>(&object)) return (*other)->name;
    return "-";
  }

  // A pod in the queue that tells what it hears.
  Ref<const Pod> spy(const std::string& name = "spy", std::int32_t priority = 0) {
    Ref<const Pod> pod = q.add(q.pod(name).priority(priority));
    if (!q.fails(q.pop(), {"Spy"})) ADD_FAILURE() << "not returned";
    q.log.take();
    return pod;
  }
  PodBuilder pod(const std::string& name, const std::string& version = "1") {
    PodBuilder builder = q.pod(name);
    builder.version(version);
    return builder;
  }

  void apply(DeltaType type, AnyObject object) {
    if (!ingest)
      ingest =
          std::make_unique<Ingest>(cluster, q.queue(), waiting, gate,
                                   std::set<Symbol>{q.world.symbol(QueueWorld::kScheduler)}, q.log);
    ingest->apply({type, std::move(object)});
  }
  Ref<const Pod> shows(const PodBuilder& builder, DeltaType type = DeltaType::kAdded) {
    Ref<const Pod> built = builder.build();
    apply(type, built);
    return built;
  }
  void updates(const PodBuilder& builder) { shows(builder, DeltaType::kUpdated); }
  void deletes(const Ref<const Pod>& gone) { apply(DeltaType::kDeleted, gone); }
  Ref<const Node> shows(const NodeBuilder& builder, DeltaType type = DeltaType::kAdded) {
    Ref<const Node> built = builder.build();
    apply(type, Ref<const Object>(built));
    return built;
  }
  NodeRow row(const char* node) { return cluster.nodes().find(q.world.symbol(node)); }
  bool has_node(const char* node) {
    return row(node) != kNoRow && cluster.nodes().has_node(row(node));
  }
  // A pod that was popped and has its place on n1.
  Ref<const Pod> assumed(const PodBuilder& builder) {
    Ref<const Pod> built = shows(builder);
    EXPECT_EQ(q.pop().pod, built);
    EXPECT_TRUE(cluster.assume(built, row("n1")).has_value());
    return built;
  }
  void holds(const Ref<const Pod>& held) {
    waiting.hold(held, "n1", std::vector<PermitHold>{{"Gang", 1min}});
  }
  Outcome wait_of(const Ref<const Pod>& held) {
    return run_task(q.loop, outcome_of_wait(waiting, held->uid()));
  }
};

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
  EXPECT_THAT(q.log.troubles, IsEmpty());
}

TEST_F(IngestTest, ANodeThatWasNeverSeenCannotGo) {
  apply(DeltaType::kDeleted, Ref<const Object>(q.world.node("n1").build()));
  EXPECT_THAT(q.log.troubles, ElementsAre("node n1 is not found"));
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
  EXPECT_THAT(q.log.troubles, ElementsAre(HasSubstr("the watch shows it on node <none>")));
  EXPECT_EQ(q.place(added), QueuePlace::kActive);
}

TEST_F(IngestTest, APodThatIsOnAnotherNodeIsTakenToBeThere) {
  shows(q.world.node("n1"));
  shows(q.world.node("n2"));
  const Ref<const Pod> added = shows(pod("p").on("n1"));
  updates(pod("p", "2").on("n2"));
  ASSERT_NE(cluster.placed(added->uid()), nullptr);
  EXPECT_EQ(cluster.placed(added->uid())->node_name(), "n2");
  EXPECT_THAT(q.log.troubles, ElementsAre(HasSubstr("the watch shows it on node n2")));
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
  EXPECT_THAT(q.log.troubles, IsEmpty());
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
  EXPECT_THAT(q.log.take(), ElementsAre("active p UnschedulablePodAdd"));
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
  other.registers("Labels", {EventResource::kPod, action::kUpdatePodLabel, {}});
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
  EXPECT_THAT(q.log.troubles, IsEmpty());
}

// ---- other objects

TEST_F(IngestTest, OtherObjectsAreKeptAndToldToThoseWhoRegistered) {
  spy();
  auto volume = make_ref<Object>(ObjectKind::kPersistentVolume, q.world.interner.hold());
  volume->name = "pv1";
  const Ref<const Object> shared(volume.get());
  apply(DeltaType::kAdded, shared);
  EXPECT_EQ(cluster.find(ObjectKind::kPersistentVolume, "", "pv1"), shared);
  EXPECT_THAT(heard, ElementsAre("spy: PersistentVolumeAdd - > pv1"));
  apply(DeltaType::kDeleted, shared);
  EXPECT_EQ(cluster.find(ObjectKind::kPersistentVolume, "", "pv1"), nullptr);
  EXPECT_EQ(heard.back(), "spy: PersistentVolumeDelete pv1 > -");
}

TEST_F(IngestTest, AnObjectSeenAgainIsAnUpdate) {
  QueueWorld other;
  std::vector<std::string> names;
  other.registers(
      "Spy", {EventResource::kStorageClass, action::kUpdate, {}},
      [&](const Pod&, const AnyObject& before, const AnyObject& after) -> Result<QueueingHint> {
        names.push_back(name_of(before) + " > " + name_of(after));
        return QueueingHint::kQueue;
      });
  const Ref<const Pod> rejected = other.rejected("p", {"Spy"});
  ChangeGate open;
  WaitingPods nobody(other.loop);
  Ingest to_test(other.cluster, other.queue(), nobody, open, {}, other.log);
  for (int i = 0; i < 2; ++i) {
    auto storage = make_ref<Object>(ObjectKind::kStorageClass, other.world.interner.hold());
    storage->name = "fast";
    to_test.apply({DeltaType::kAdded, Ref<const Object>(storage.get())});
  }
  EXPECT_THAT(names, ElementsAre("fast > fast"));
  EXPECT_EQ(other.place(rejected), QueuePlace::kBackoff);
  EXPECT_EQ(other.log.entered.back(), "backoff p storage.k8s.io/StorageClassUpdate");
}

TEST_F(IngestTest, KindsThatNoPluginCanWaitForMoveNobody) {
  QueueWorld other;
  other.registers("Everything", {EventResource::kWildcard, action::kAll, {}});
  const Ref<const Pod> rejected = other.rejected("p", {"Everything"});
  ChangeGate open;
  WaitingPods nobody(other.loop);
  Ingest to_test(other.cluster, other.queue(), nobody, open, {}, other.log);
  auto service = make_ref<Object>(ObjectKind::kService, other.world.interner.hold());
  service->name = "web";
  to_test.apply({DeltaType::kAdded, Ref<const Object>(service.get())});
  EXPECT_NE(other.cluster.find(ObjectKind::kService, "", "web"), nullptr);
  EXPECT_EQ(other.place(rejected), QueuePlace::kUnschedulable);
}

// ---- claims, of which the queue hears through the assume cache

struct ClaimEvents : IngestTest {
  // Named after its version.
  Ref<const Object> claim(const std::string& version) {
    auto object = make_ref<ResourceClaim>(q.world.interner.hold());
    object->namespace_name = object->symbols.intern("default");
    object->name = "c";
    object->resource_version = version;
    return object;
  }
};

TEST_F(ClaimEvents, TheWatchIsToldOnce) {
  spy();
  apply(DeltaType::kAdded, claim("1"));
  apply(DeltaType::kUpdated, claim("2"));
  apply(DeltaType::kDeleted, claim("3"));
  EXPECT_THAT(heard, ElementsAre("spy: resource.k8s.io/ResourceClaimAdd - > c",
                                 "spy: resource.k8s.io/ResourceClaimUpdate c > c",
                                 "spy: resource.k8s.io/ResourceClaimDelete c > -"));
}

TEST_F(ClaimEvents, OurOwnWriteIsToldBeforeTheWatchShowsIt) {
  spy();
  apply(DeltaType::kAdded, claim("1"));
  heard.clear();
  ASSERT_TRUE(cluster.assumed_claims().assume(claim("2")));
  EXPECT_THAT(heard, ElementsAre("spy: resource.k8s.io/ResourceClaimUpdate c > c"));
  apply(DeltaType::kUpdated, claim("2"));
  EXPECT_EQ(heard.size(), 1U) << "its echo is no news";
  EXPECT_EQ(cluster.find(ObjectKind::kResourceClaim, "default", "c")->resource_version, "2");
}

TEST_F(ClaimEvents, AWriteDuringACycleIsToldAfterIt) {
  spy();
  apply(DeltaType::kAdded, claim("1"));
  heard.clear();
  gate.close();
  ASSERT_TRUE(cluster.assumed_claims().assume(claim("2")));
  EXPECT_THAT(heard, IsEmpty());
  gate.open();
  EXPECT_THAT(heard, ElementsAre("spy: resource.k8s.io/ResourceClaimUpdate c > c"));
}

// ---- the gate

TEST_F(IngestTest, WhatComesDuringACycleIsAppliedInOrderWhenItCloses) {
  gate.close();
  shows(q.world.node("n1"));
  const Ref<const Pod> queued = shows(pod("p"));
  updates(pod("p", "2").on("n1"));
  EXPECT_EQ(cluster.nodes().node_count(), 0u);
  EXPECT_EQ(cluster.seen_count(), 0u);
  EXPECT_EQ(q.queue().sizes().active, 0u);
  gate.open();
  EXPECT_TRUE(has_node("n1"));
  EXPECT_EQ(cluster.row_of(queued->uid()), row("n1"));
  EXPECT_EQ(q.queue().sizes().active, 0u) << "it came and went";
  EXPECT_THAT(q.log.take(), ElementsAre("active p UnschedulablePodAdd"));
}

TEST_F(IngestTest, ADeltaWithoutAnObjectIsNothing) {
  apply(DeltaType::kAdded, {});
  EXPECT_EQ(cluster.seen_count(), 0u);
}

}  // namespace
}  // namespace berth
