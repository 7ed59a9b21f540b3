#include "sim/sim_cluster.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/time_text.h"

namespace berth::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

struct SimClusterTest : ::testing::Test {
  VirtualLoop loop;
  berth::testing::World world;
  SimCluster cluster{loop, world.interner, SimTiming{10ms, 10ms}};
  TaskSet tasks;
  std::vector<std::string> shown;  // "1s added p", "… updated p on n1"

  SimClusterTest() {
    cluster.on_delta([this](const Delta& delta) {
      static constexpr const char* kTypes[] = {"added", "updated", "deleted"};
      std::string text = fmt::format("{} {} ", go_duration(loop.now().since_start),
                                     kTypes[static_cast<std::size_t>(delta.type)]);
      if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object)) {
        text += (*pod)->name();
        if (!(*pod)->node().empty()) text += fmt::format(" on {}", (*pod)->node_name());
        if ((*pod)->terminating()) text += " terminating";
      } else {
        text += std::get<Ref<const Object>>(delta.object)->name;
      }
      shown.push_back(text);
    });
  }

  // The answer to a call, once it comes.
  struct Answer {
    std::optional<Result<void>> result;  // without its value
    TimePoint when;
    std::string text() const {
      if (!result) return "none yet";
      return *result
                 ? "ok"
                 : fmt::format("{}: {}", to_string(result->error().kind), result->error().message);
    }
  };
  template <typename T>
  std::shared_ptr<Answer> ask(Task<Result<T>> call) {
    auto answer = std::make_shared<Answer>();
    tasks.spawn(wait_for(std::move(call), answer, loop));
    return answer;
  }
  template <typename T>
  static Task<void> wait_for(Task<Result<T>> call, std::shared_ptr<Answer> answer, Loop& loop) {
    const Result<T> result = co_await call;
    answer->result = result ? Result<void>() : fail(result.error());
    answer->when = loop.now();
  }
  std::shared_ptr<Answer> bind(const Ref<const Pod>& pod, const std::string& node) {
    return ask(cluster.bind(pod, node));
  }
  Ref<const Pod> create(const berth::testing::PodBuilder& builder) {
    const Ref<const Pod> pod = builder.build();
    EXPECT_TRUE(cluster.create_object(pod).has_value());
    return cluster.pod(pod->namespace_name(), pod->name());
  }
};

// ---- the store and the watch

TEST_F(SimClusterTest, TheWatchShowsChangesInOrderAfterAWhile) {
  create(world.pod("a"));
  ASSERT_TRUE(cluster.create_object(Ref<const Object>(world.node("n1").build())));
  create(world.pod("b"));
  EXPECT_THAT(shown, IsEmpty());
  loop.run();
  EXPECT_THAT(shown, ElementsAre("10ms added a", "10ms added n1", "10ms added b"));
}

TEST_F(SimClusterTest, AWatchThatLagsLessAgainStillKeepsItsOrder) {
  cluster.set_watch_lag(5s);
  create(world.pod("a"));
  cluster.set_watch_lag(0s);
  create(world.pod("b"));
  loop.run();
  EXPECT_THAT(shown, ElementsAre("5.01s added a", "5.01s added b"));
}

TEST_F(SimClusterTest, ControllersSeeChangesAtOnce) {
  std::vector<DeltaType> seen;
  cluster.on_change([&](const Delta& delta) { seen.push_back(delta.type); });
  create(world.pod("a"));
  EXPECT_THAT(seen, ElementsAre(DeltaType::kAdded));
}

TEST_F(SimClusterTest, EveryChangeOfAPodIsANewVersion) {
  const Ref<const Pod> first = create(world.pod("a"));
  ASSERT_TRUE(cluster.update_object(first));
  EXPECT_NE(cluster.pod("default", "a")->resource_version(), first->resource_version());
}

TEST_F(SimClusterTest, NamesAreTakenAndMissing) {
  create(world.pod("a"));
  EXPECT_EQ(cluster.create_object(world.pod("a").build()).error(),
            (Error{ErrorKind::kConflict, "Pod \"default/a\" already exists"}));
  EXPECT_EQ(cluster.update_object(world.pod("b").build()).error(),
            (Error{ErrorKind::kNotFound, "Pod \"default/b\" not found"}));
  EXPECT_EQ(cluster.remove_object(ObjectKind::kNode, "", "n9").error(),
            (Error{ErrorKind::kNotFound, "Node \"/n9\" not found"}));
}

TEST_F(SimClusterTest, APodThatComesAgainIsAnotherPod) {
  const Uid first = create(world.pod("a"))->uid();
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "a"));
  const Uid second = create(world.pod("a"))->uid();
  EXPECT_NE(first, second);
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "a"));
  const Uid third = create(world.pod("a"))->uid();
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
}

TEST_F(SimClusterTest, PodsAndObjectsAreListedByName) {
  create(world.pod("b"));
  create(world.pod("a").in("z"));
  create(world.pod("a"));
  std::vector<std::string> names;
  for (const Ref<const Pod>& pod : cluster.pods()) names.push_back(pod->full_name());
  EXPECT_THAT(names, ElementsAre("default/a", "default/b", "z/a"));
}

TEST_F(SimClusterTest, ChangesCountWhatMayHelpAPodThatDidNotFit) {
  create(world.pod("pending"));
  EXPECT_EQ(cluster.changes(), 0u) << "another pending pod is no help";
  create(world.pod("running").on("n1"));
  EXPECT_EQ(cluster.changes(), 1u);
  ASSERT_TRUE(cluster.create_object(Ref<const Object>(world.node("n1").build())));
  EXPECT_EQ(cluster.changes(), 2u);
  ASSERT_TRUE(cluster.remove_at_once(ObjectKind::kPod, "default", "running"));
  EXPECT_EQ(cluster.changes(), 3u);
  bind(cluster.pod("default", "pending"), "n1");
  loop.run();
  EXPECT_EQ(cluster.changes(), 3u) << "the scheduler's own doing";
}

// ---- the grace period

TEST_F(SimClusterTest, APodOnANodeKeepsItsGracePeriod) {
  create(world.pod("p").on("n1"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "p"));
  EXPECT_EQ(cluster.terminating(), 1u);
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "p")) << "again: nothing new";
  loop.run();
  EXPECT_THAT(shown, ElementsAre("10ms added p on n1", "10ms updated p on n1 terminating",
                                 "30.01s deleted p on n1 terminating"));
  EXPECT_EQ(cluster.terminating(), 0u);
}

TEST_F(SimClusterTest, APodWithoutANodeGoesAtOnce) {
  create(world.pod("p"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "p"));
  EXPECT_FALSE(cluster.pod("default", "p"));
}

TEST_F(SimClusterTest, ASuccessorOfTheSameNameOutlivesTheGracePeriodOfTheOldOne) {
  create(world.pod("p").on("n1"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "p"));
  ASSERT_TRUE(cluster.remove_at_once(ObjectKind::kPod, "default", "p"));
  create(world.pod("p"));
  loop.run();
  EXPECT_TRUE(cluster.pod("default", "p"));
}

// ---- binding

TEST_F(SimClusterTest, ABindingPutsThePodOnItsNodeAndSaysSo) {
  const Ref<const Pod> pod = create(world.pod("p").nominated("n9"));
  const auto answer = bind(pod, "n1");
  EXPECT_EQ(answer->text(), "none yet");
  loop.run();
  EXPECT_EQ(answer->text(), "ok");
  EXPECT_EQ(answer->when.since_start, 10ms);
  const Ref<const Pod> bound = cluster.pod("default", "p");
  EXPECT_EQ(bound->node_name(), "n1");
  EXPECT_TRUE(bound->nominated_node().empty());
  EXPECT_TRUE(bound->scheduled_condition());
  EXPECT_EQ(cluster.bindings().at(pod->uid()), 1);
  EXPECT_EQ(shown.back(), "20ms updated p on n1");
}

TEST_F(SimClusterTest, BindingsThatCannotBeAreRefusedInTheApiServersWords) {
  const Ref<const Pod> gone = world.pod("gone");
  const Ref<const Pod> taken = create(world.pod("taken"));
  const Ref<const Pod> again = create(world.pod("again"));
  const Ref<const Pod> going = create(world.pod("going").on("n1"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "going"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "again"));
  const Ref<const Pod> successor = create(world.pod("again"));
  const auto first = bind(taken, "n1");
  const auto second = bind(taken, "n2");
  const auto unknown = bind(gone, "n1");
  const auto old = bind(again, "n1");
  const auto leaving = bind(going, "n1");
  loop.run_until(TimePoint{1s});
  EXPECT_EQ(first->text(), "ok");
  EXPECT_EQ(second->text(),
            "Conflict: Operation cannot be fulfilled on pods/binding \"taken\": pod taken is "
            "already assigned to node \"n1\"");
  EXPECT_EQ(unknown->text(), "NotFound: pods \"gone\" not found");
  EXPECT_EQ(old->text(),
            fmt::format("Conflict: Operation cannot be fulfilled on pods/binding \"again\": "
                        "Precondition failed: UID in precondition: {}, UID in object meta: {}",
                        again->uid_text(), successor->uid_text()));
  EXPECT_EQ(leaving->text(),
            "Conflict: Operation cannot be fulfilled on pods/binding \"going\": pod going is "
            "being deleted, cannot be assigned to a host");
  EXPECT_EQ(cluster.bindings().at(taken->uid()), 1);
}

// ---- faults

struct FaultCase {
  const char* behaviour;
  CallFate fate;
  const char* answer;
  Duration answered;
  const char* node;
};

TEST_F(SimClusterTest, CallsGoWrongAsTheirFateSays) {
  const Error timeout{ErrorKind::kTimeout, "no answer"};
  const FaultCase cases[] = {
      {"well", {}, "ok", 10ms, "n1"},
      {"it fails", {.takes_effect = false, .error = timeout}, "Timeout: no answer", 10ms, ""},
      {"it works and says otherwise", {.error = timeout}, "Timeout: no answer", 10ms, "n1"},
      {"it arrives late", {.extra_delay = 5s}, "ok", 5010ms, "n1"},
      {"the answer is late", {.answer_delay = 5s}, "ok", 5010ms, "n1"},
      {"it arrives twice", {.takes_effect_twice = true}, "ok", 10ms, "n1"},
      {"it fails, and arrives later all the same",
       {.takes_effect = false, .takes_effect_twice = true, .error = timeout},
       "Timeout: no answer",
       10ms,
       "n1"},
      {"it is lost and nobody says so", {.takes_effect = false}, "ok", 10ms, ""},
  };
  int number = 0;
  for (const FaultCase& c : cases) {
    cluster.set_fates([&](ApiCall, const Pod&) { return c.fate; });
    const Ref<const Pod> pod = create(world.pod(fmt::format("p{}", ++number)));
    const TimePoint asked = loop.now();
    const auto answer = bind(pod, "n1");
    loop.run();
    EXPECT_EQ(answer->text(), c.answer) << c.behaviour;
    EXPECT_EQ(answer->when - asked, c.answered) << c.behaviour;
    EXPECT_EQ(cluster.pod("default", pod->name())->node_name(), c.node) << c.behaviour;
    EXPECT_LE(cluster.bindings().contains(pod->uid()) ? cluster.bindings().at(pod->uid()) : 0, 1)
        << c.behaviour;
  }
}

TEST_F(SimClusterTest, AnAnswerThatIsLateComesAfterTheWatch) {
  cluster.set_fates([](ApiCall, const Pod&) { return CallFate{.answer_delay = 1s}; });
  const Ref<const Pod> pod = create(world.pod("p"));
  const auto answer = bind(pod, "n1");
  loop.run_until(TimePoint{500ms});
  EXPECT_EQ(answer->text(), "none yet");
  EXPECT_EQ(shown.back(), "20ms updated p on n1");
}

TEST_F(SimClusterTest, AFateIsAskedForEachCallAndPod) {
  std::vector<std::string> asked;
  cluster.set_fates([&](ApiCall call, const Pod& about) {
    asked.push_back(fmt::format("{} {}", to_string(call), about.name()));
    return CallFate{};
  });
  const Ref<const Pod> pod = create(world.pod("p"));
  bind(pod, "n1");
  ask(cluster.patch_status(pod, {}));
  ask(cluster.evict(pod));
  EXPECT_THAT(asked, ElementsAre("bind p", "patchStatus p", "evict p"));
}

TEST_F(SimClusterTest, ATaskThatEndsEarlyTakesItsCallWithIt) {
  const Ref<const Pod> pod = create(world.pod("p"));
  bind(pod, "n1");
  tasks.clear();
  loop.run();
  EXPECT_TRUE(cluster.pod("default", "p")->node().empty());
}

// ---- status and eviction

TEST_F(SimClusterTest, AStatusPatchSetsConditionAndNomination) {
  const Ref<const Pod> pod = create(world.pod("p"));
  PodStatusPatch patch;
  patch.condition.emplace();
  patch.condition->type = "PodScheduled";
  patch.condition->status = "False";
  patch.condition->reason = "Unschedulable";
  patch.nominated_node_name = "n1";
  const auto answer = ask(cluster.patch_status(pod, patch));
  loop.run();
  EXPECT_EQ(answer->text(), "ok");
  Ref<const Pod> patched = cluster.pod("default", "p");
  ASSERT_NE(patched->condition("PodScheduled"), nullptr);
  EXPECT_EQ(patched->condition("PodScheduled")->reason, "Unschedulable");
  EXPECT_EQ(patched->nominated_node_name(), "n1");

  patch.condition.reset();
  patch.nominated_node_name = "";
  ask(cluster.patch_status(pod, patch));
  bind(pod, "n1");
  loop.run();
  patched = cluster.pod("default", "p");
  EXPECT_TRUE(patched->nominated_node().empty());
  EXPECT_TRUE(patched->scheduled_condition()) << "of two conditions of a type the last one counts";
}

TEST_F(SimClusterTest, APatchOfAnotherVersionThanTheStoredOneIsAConflict) {
  const Ref<const Pod> pod = create(world.pod("p"));
  PodStatusPatch patch;
  patch.nominated_node_name = "n1";
  patch.version = pod->resource_version();
  const auto first = ask(cluster.patch_status(pod, patch));
  loop.run();
  patch.nominated_node_name = "n2";
  const auto second = ask(cluster.patch_status(pod, patch));
  loop.run();
  EXPECT_EQ(first->text(), "ok");
  EXPECT_THAT(second->text(), ::testing::StartsWith("Conflict: "));
  EXPECT_EQ(cluster.pod("default", "p")->nominated_node_name(), "n1");
}

TEST_F(SimClusterTest, ACallThatHasLeftTakesEffectWithoutItsTask) {
  cluster.set_fates([](ApiCall, const Pod&) { return CallFate{.has_left = true}; });
  const Ref<const Pod> pod = create(world.pod("p"));
  bind(pod, "n1");
  tasks.clear();
  loop.run();
  EXPECT_EQ(cluster.pod("default", "p")->node_name(), "n1");
}

TEST_F(SimClusterTest, ThePatchOfAPodThatIsGoneIsNotFound) {
  const auto answer = ask(cluster.patch_status(world.pod("p").build(), {}));
  loop.run();
  EXPECT_EQ(answer->text(), "NotFound: pods \"p\" not found");
}

TEST_F(SimClusterTest, EvictionGivesTheGracePeriod) {
  const Ref<const Pod> pod = create(world.pod("p").on("n1"));
  const auto answer = ask(cluster.evict(pod));
  loop.run_until(TimePoint{1s});
  EXPECT_EQ(answer->text(), "ok");
  EXPECT_TRUE(cluster.pod("default", "p")->terminating());
  loop.run();
  EXPECT_FALSE(cluster.pod("default", "p"));
}

}  // namespace
}  // namespace berth::sim
