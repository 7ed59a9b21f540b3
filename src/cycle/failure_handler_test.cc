#include "cycle/failure_handler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "cycle/testing/cycle_fixture.h"

namespace berth {
namespace {

// A node that nobody fits on, and something to do in the middle of the attempt.
struct FailureHandlerTest : ::testing::Test {
  CycleFixture fixture;
  FakeWorld& world = fixture.world;
  std::function<void()> during_attempt;

  FailureHandlerTest() {
    world.cluster.add_node(world.node("n1"));
    auto& filter = fixture.profile.filter("No", [this](const Cycle&, NodeRow) {
      if (during_attempt) std::exchange(during_attempt, {})();
      return Outcome::unschedulable("no");
    });
    filter.events = std::vector<EventRegistration>();
    fixture.start();
  }
  std::vector<PodCondition> conditions() {
    std::vector<PodCondition> found;
    for (const auto& [name, patch] : world.api.patches)
      if (patch.condition) found.push_back(*patch.condition);
    return found;
  }
};

TEST_F(FailureHandlerTest, TheNewestVersionOfThePodIsRequeued) {
  during_attempt = [this] { world.cluster.see_pod(world.pod("p").label("new", "1").version("2")); };
  const Ref<const Pod> pod = fixture.add("p");
  fixture.settle();
  ASSERT_TRUE(fixture.queue->find(*pod));
  EXPECT_EQ(fixture.queue->find(*pod)->pod->resource_version(), "2");
}

// Somebody else has nominated the pod while it was tried; the attempt itself decided nothing.
TEST(FailureHandler, TheNewestVersionsNominationCountsWhereNothingWasDecided) {
  CycleFixture fixture;
  FakeWorld& world = fixture.world;
  world.cluster.add_node(world.node("n1"));
  fixture.profile.filter("No", [](const Cycle&, NodeRow) { return Outcome::unschedulable("no"); });
  fixture.profile.post_filter("Undecided", [&](Cycle&, const Diagnosis&) {
    world.cluster.see_pod(world.pod("p").nominated("n1").version("2"));
    return PostFilterResult{Outcome::unschedulable("not eligible"), std::nullopt};
  });
  fixture.start();
  const Ref<const Pod> pod = fixture.add("p");
  fixture.settle();
  EXPECT_TRUE(fixture.queue->is_nominated(pod->uid()));
}

TEST_F(FailureHandlerTest, APodThatIsGoneIsNotRequeuedButTold) {
  const Ref<const Pod> pod = world.pod("p");
  during_attempt = [&] { world.cluster.remove_seen_pod(*pod); };
  fixture.add(pod);
  fixture.settle();
  EXPECT_EQ(fixture.queue->place(*pod), QueuePlace::kNowhere);
  EXPECT_EQ(fixture.queue->sizes().in_flight, 0u);
  EXPECT_THAT(world.api.events, SizeIs(1));
}

TEST_F(FailureHandlerTest, APodThatIsBoundAfterAllIsNotRequeued) {
  during_attempt = [this] { world.cluster.see_pod(world.pod("p").on("n1").version("2")); };
  const Ref<const Pod> pod = fixture.add("p");
  fixture.settle();
  EXPECT_EQ(fixture.queue->place(*pod), QueuePlace::kNowhere);
  EXPECT_EQ(fixture.queue->sizes().in_flight, 0u);
}

TEST_F(FailureHandlerTest, APodThatWasMadeAnewIsLeftAlone) {
  during_attempt = [this] { world.cluster.see_pod(world.pod("p").uid("another").version("2")); };
  fixture.add("p");
  fixture.settle();
  EXPECT_THAT(world.api.events, IsEmpty());
  EXPECT_THAT(world.api.patches, IsEmpty());
  EXPECT_EQ(fixture.queue->sizes().in_flight, 0u);
}

TEST_F(FailureHandlerTest, TheConditionCarriesTheGenerationAndTheTime) {
  fixture.add(world.pod("p").generation(7));
  fixture.settle();
  ASSERT_THAT(conditions(), SizeIs(1));
  EXPECT_EQ(conditions()[0].observed_generation, 7);
  EXPECT_EQ(conditions()[0].last_transition_time, world.loop.wall_now());
  EXPECT_EQ(conditions()[0].message, "0/1 nodes are available: 1 no.");
}

// ---- what is written, and what is not

PodCondition unschedulable(std::string message, WallTime since) {
  PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = "Unschedulable";
  condition.message = std::move(message);
  condition.last_transition_time = since;
  return condition;
}

TEST(StatusPatch, OnlyChangesAreWritten) {
  World world;
  const WallTime then{std::chrono::seconds(100)}, now{std::chrono::seconds(200)};
  const Ref<const Pod> pod = world.pod("p").nominated("n1").condition(unschedulable("same", then));

  EXPECT_FALSE(status_patch(*pod, {.condition = unschedulable("same", now)}))
      << "an unchanged status keeps its time, and then nothing is different";
  PodCondition newer = unschedulable("same", now);
  newer.observed_generation = 9;
  EXPECT_FALSE(status_patch(*pod, {.condition = newer}))
      << "a generation alone is not worth a write";

  const auto message = status_patch(*pod, {.condition = unschedulable("other", now)});
  ASSERT_TRUE(message && message->condition);
  EXPECT_EQ(message->condition->last_transition_time, then) << "the status did not change";
  EXPECT_FALSE(message->nominated_node_name);

  const auto cleared = status_patch(
      *pod, {.condition = unschedulable("same", now), .nominated_node_name = std::string()});
  ASSERT_TRUE(cleared);
  EXPECT_FALSE(cleared->condition);
  EXPECT_EQ(cleared->nominated_node_name, "");

  EXPECT_FALSE(status_patch(*pod, {.nominated_node_name = std::string("n1")}));
  EXPECT_FALSE(status_patch(*pod, {}));
}

TEST(EventNote, IsCutAtTheLimit) {
  EXPECT_EQ(event_note("short"), "short");
  EXPECT_EQ(event_note(std::string(1024, 'x')).size(), 1024u);
  const std::string cut = event_note(std::string(1025, 'x'));
  EXPECT_EQ(cut, std::string(1020, 'x') + " ...");
}

TEST_F(FailureHandlerTest, ARepeatedFailureIsToldAgainButNotWrittenAgain) {
  fixture.add(world.pod("p").condition(
      unschedulable("0/1 nodes are available: 1 no.", WallTime{std::chrono::seconds(1)})));
  fixture.settle();
  EXPECT_THAT(world.api.patches, IsEmpty());
  EXPECT_THAT(world.api.events, SizeIs(1));
}

}  // namespace
}  // namespace berth
