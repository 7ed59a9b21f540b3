// Every check can fail: for each invariant a bug is planted, here and not in the product, and must
// be found by name. Where a bug can be planted in a running scheduler it is; what the scheduler
// cannot be brought to do by anything around it is written into the history by hand.
#include "invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "cluster/trial.h"
#include "door.h"
#include "random_run.h"

namespace berth::simulation {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

std::set<Invariant> names_of(const std::vector<Violation>& violations) {
  std::set<Invariant> names;
  for (const Violation& violation : violations) names.insert(violation.invariant);
  return names;
}

// What is found when the bug is planted in a few runs.
std::set<Invariant> found_with(const Planted& planted) {
  std::set<Invariant> found;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    RandomRun run(seed, planted);
    found.merge(names_of(run.run().violations));
  }
  return found;
}

TEST(PlantedBugs, WithoutOneNothingIsFound) { EXPECT_THAT(found_with({}), IsEmpty()); }

// ---- doors that lie

TEST(PlantedBugs, AnApiServerThatForgetsItsBindingsBindsAPodTwice) {
  struct Forgetful final : Door {
    Forgetful(sim::SimCluster& cluster, History& h) : Door(cluster), history(h) {}
    Task<Result<void>> bind(Ref<const Pod> pod, std::string) override {
      ++history.bindings[key_of(*pod)];
      co_return fail(ErrorKind::kTimeout, "no answer");
    }
    History& history;
  };
  Planted planted;
  planted.api = [](sim::SimCluster& cluster, History& history) {
    return std::make_unique<Forgetful>(cluster, history);
  };
  EXPECT_THAT(found_with(planted), Contains(Invariant::kBoundOnce));
}

TEST(PlantedBugs, AnApiServerThatSaysBoundAndDoesNothingLeavesPodsAssumedForever) {
  struct Liar final : Door {
    using Door::Door;
    Task<Result<void>> bind(Ref<const Pod>, std::string) override { co_return Result<void>(); }
  };
  Planted planted;
  planted.api = [](sim::SimCluster& cluster, History&) { return std::make_unique<Liar>(cluster); };
  const std::set<Invariant> found = found_with(planted);
  EXPECT_THAT(found, Contains(Invariant::kNothingAssumed));
  EXPECT_THAT(found, Contains(Invariant::kReserveBalanced)) << "reserved for a pod never bound";
}

TEST(PlantedBugs, AnApiServerThatIgnoresVersionsLetsLateStatusWritesWin) {
  struct Careless final : Door {
    using Door::Door;
    Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override {
      patch.version.clear();
      return api_.patch_status(std::move(pod), std::move(patch));
    }
  };
  Planted planted;
  planted.api = [](sim::SimCluster& cluster, History&) {
    return std::make_unique<Careless>(cluster);
  };
  EXPECT_THAT(found_with(planted), ElementsAre(Invariant::kStatusIsDecided));
}

TEST(PlantedBugs, AnApiServerThatLosesStatusWritesAndSaysNothingIsFound) {
  struct Losing final : Door {
    using Door::Door;
    Task<Result<std::string>> patch_status(Ref<const Pod>, PodStatusPatch) override {
      co_return std::string();
    }
  };
  Planted planted;
  planted.api = [](sim::SimCluster& cluster, History&) {
    return std::make_unique<Losing>(cluster);
  };
  EXPECT_THAT(found_with(planted), ElementsAre(Invariant::kStatusIsDecided));
}

// ---- a scheduler that is configured to do wrong

TEST(PlantedBugs, ASchedulerThatDoesNotLookAtResourcesOverfillsNodes) {
  Planted planted;
  planted.configuration = [](config::Configuration& configuration) {
    for (config::Profile& profile : configuration.profiles)
      profile.plugins.at(config::ExtensionPoint::kMultiPoint).enabled = [&] {
        auto enabled = profile.plugins.at(config::ExtensionPoint::kMultiPoint).enabled;
        std::erase_if(enabled, [](const config::PluginRef& plugin) {
          return plugin.name == "NodeResourcesFit";
        });
        return enabled;
      }();
  };
  EXPECT_THAT(found_with(planted), ElementsAre(Invariant::kNodesFit));
}

// ---- plugins that do wrong

TEST(PlantedBugs, APluginThatForgetsToUnreserveIsFound) {
  Planted planted;
  planted.mischief = [](Mischief& mischief) { mischief.forgets_to_unreserve = true; };
  EXPECT_THAT(found_with(planted), ElementsAre(Invariant::kReserveBalanced));
}

TEST(PlantedBugs, APreBindThatNeverEndsLeaksItsTask) {
  Planted planted;
  planted.mischief = [](Mischief& mischief) { mischief.never_ends_pre_bind = true; };
  EXPECT_THAT(found_with(planted),
              IsSupersetOf({Invariant::kNoTaskLeft, Invariant::kNothingAssumed}));
}

// ---- a watch that loses things

template <typename Wanted>
bool is_lost(const Delta& delta, DeltaType type, Wanted wanted) {
  const auto* pod = std::get_if<Ref<const Pod>>(&delta.object);
  return pod && delta.type == type && wanted(**pod);
}

TEST(PlantedBugs, APodThatTheWatchNeverShowedIsMissed) {
  Planted planted;
  planted.lost = [](const Delta& delta) {
    return is_lost(delta, DeltaType::kAdded, [](const Pod& pod) { return pod.name() == "p2"; }) ||
           is_lost(delta, DeltaType::kUpdated, [](const Pod& pod) { return pod.name() == "p2"; });
  };
  EXPECT_THAT(found_with(planted), Contains(Invariant::kSeenIsStored));
}

TEST(PlantedBugs, ADeletionThatTheWatchNeverShowedLeavesAPodBehind) {
  Planted planted;
  planted.lost = [](const Delta& delta) {
    return is_lost(delta, DeltaType::kDeleted, [](const Pod&) { return true; });
  };
  EXPECT_THAT(found_with(planted), Contains(Invariant::kSeenIsStored));
}

TEST(PlantedBugs, ABindingThatTheWatchNeverShowedMakesStoreAndColumnsDisagree) {
  Planted planted;
  planted.lost = [](const Delta& delta) {
    return is_lost(delta, DeltaType::kUpdated, [](const Pod& pod) { return !pod.node().empty(); });
  };
  EXPECT_THAT(found_with(planted),
              IsSupersetOf({Invariant::kNothingAssumed, Invariant::kSeenIsStored}));
}

TEST(PlantedBugs, ANodeThatTheWatchNeverShowedIsMissed) {
  Planted planted;
  planted.lost = [](const Delta& delta) {
    const auto* object = std::get_if<Ref<const Object>>(&delta.object);
    return object && (*object)->kind == ObjectKind::kNode && (*object)->name == "n1";
  };
  EXPECT_THAT(found_with(planted), Contains(Invariant::kSeenIsStored));
}

// ---- hands in the works

TEST(PlantedBugs, APodTakenOutOfTheQueueIsNowhere) {
  Planted planted;
  planted.at_rest = [](Engine& engine, sim::SimCluster&, berth::testing::World&) {
    std::vector<Ref<const Pod>> queued;
    engine.queue().for_each([&](const QueuedPod& pod, QueuePlace) { queued.push_back(pod.pod); });
    for (const Ref<const Pod>& pod : queued) engine.queue().remove(*pod);
    return std::shared_ptr<void>();
  };
  EXPECT_THAT(found_with(planted), ElementsAre(Invariant::kOnePlace));
}

TEST(PlantedBugs, ABoundPodPutIntoTheQueueIsInOneTooMany) {
  Planted planted;
  planted.at_rest = [](Engine& engine, sim::SimCluster& cluster, berth::testing::World&) {
    for (const Ref<const Pod>& pod : cluster.pods())
      if (!pod->node().empty() && !pod->finished()) engine.queue().add(pod);
    return std::shared_ptr<void>();
  };
  EXPECT_THAT(found_with(planted), Contains(Invariant::kOnePlace));
}

TEST(PlantedBugs, APoppedPodThatNobodyReturnsStaysInFlight) {
  Planted planted;
  planted.at_rest = [](Engine& engine, sim::SimCluster&, berth::testing::World& world) {
    engine.stop();
    engine.queue().add(world.pod("extra"));
    engine.queue().pop();
    return std::shared_ptr<void>();
  };
  EXPECT_THAT(found_with(planted), ElementsAre(Invariant::kOnePlace));
}

TEST(PlantedBugs, ATrialThatIsNotTakenBackMakesTheColumnsWrong) {
  Planted planted;
  planted.at_rest = [](Engine& engine, sim::SimCluster&, berth::testing::World& world) {
    auto trial = std::make_shared<Trial>(engine.cluster());
    engine.cluster().nodes().nodes().for_each(
        [&](NodeRow row) { trial->add(world.pod("imagined").cpu("1"), row); });
    return std::static_pointer_cast<void>(trial);
  };
  EXPECT_THAT(found_with(planted), ElementsAre(Invariant::kColumnsAgree));
}

TEST(PlantedBugs, AWaitThatNobodyEndsIsFound) {
  Planted planted;
  planted.at_rest = [](Engine& engine, sim::SimCluster&, berth::testing::World& world) {
    const PermitHold holds[] = {{"Nobody", std::chrono::minutes(5)}};
    engine.waiting_pods().hold(world.pod("extra"), "n1", holds);
    return std::shared_ptr<void>();
  };
  EXPECT_THAT(found_with(planted), ElementsAre(Invariant::kWaitsSettled));
}

// ---- histories written by hand

struct Doctored {
  const char* behaviour;
  std::function<void(History&, State&)> doctor;
  Invariant expected;
  Moment moment = Moment::kAtRest;
};

// A world with one node, one bound pod and one pending pod, in which all is well.
struct Sound {
  History history;
  State state;

  Sound() {
    const Amounts one{{"cpu", 1000}, {"pods", 1}};
    history.bindings["bound"] = 1;
    history.waits["bound"] = {1, 1};
    history.reserve_steps = {{ReserveStep::Kind::kReserved, "Ledger", "pending"},
                             {ReserveStep::Kind::kUnreserved, "Ledger", "pending"},
                             {ReserveStep::Kind::kReserved, "Ledger", "bound"},
                             {ReserveStep::Kind::kBound, "", "bound"}};
    state.stored["bound"] = {"n1", "7", one, false, "True"};
    state.stored["pending"] = {"", "3", one, false, "False", "Unschedulable", "no room", "n1"};
    history.decided["pending"] = {std::pair("Unschedulable", "no room"), "n1"};
    state.nodes["n1"] = {{"cpu", 1000}, {"pods", 10}};
    state.seen["bound"] = {"n1", "7", true, false};
    state.seen["pending"] = {"", "3", true, false};
    state.placed["bound"] = {"n1", one, false};
    state.rows["n1"] = {true, {{"cpu", 1000}, {"pods", 10}}, one};
    state.queued["pending"] = {"unschedulable"};
    state.queue_sizes = {{"active", 0}, {"backoff", 0}, {"unschedulable", 1}};
  }
};

TEST(Invariants, HoldInASoundWorld) {
  const Sound sound;
  EXPECT_THAT(names_of(check(sound.history, sound.state, Moment::kAtRest)), IsEmpty());
  EXPECT_THAT(names_of(check(sound.history, sound.state, Moment::kAnyTime)), IsEmpty());
}

TEST(Invariants, EachFindsItsOwnBug) {
  const Doctored cases[] = {
      {"two bindings", [](History& h, State&) { h.bindings["bound"] = 2; }, Invariant::kBoundOnce},
      {"two bindings, on the way", [](History& h, State&) { h.bindings["bound"] = 2; },
       Invariant::kBoundOnce, Moment::kAnyTime},
      {"the API server's node is smaller", [](History&, State& s) { s.nodes["n1"]["cpu"] = 999; },
       Invariant::kNodesFit},
      {"the scheduler's node is smaller",
       [](History&, State& s) { s.rows["n1"].allocatable["pods"] = 0; }, Invariant::kNodesFit,
       Moment::kAnyTime},
      {"a resource that the node does not have",
       [](History&, State& s) {
         s.placed["bound"].requests["gpu"] = s.rows["n1"].requested["gpu"] = 1;
       },
       Invariant::kNodesFit},
      {"a column that counts too much",
       [](History&, State& s) { s.rows["n1"].requested["cpu"] = 1001; }, Invariant::kColumnsAgree,
       Moment::kAnyTime},
      {"a resource that no column counts",
       [](History& h, State& s) {
         h.placed_unasked.insert("bound");
         s.placed["bound"].requests["gpu"] = 1;
       },
       Invariant::kColumnsAgree},
      {"pods without a row", [](History&, State& s) { s.rows.clear(), s.nodes.clear(); },
       Invariant::kColumnsAgree},
      {"placed on another node than stored",
       [](History&, State& s) {
         s.nodes["n2"] = s.nodes["n1"];
         s.rows["n2"] = s.rows["n1"];
         s.rows["n1"].requested = {};
         s.placed["bound"].node = "n2";
       },
       Invariant::kColumnsAgree},
      {"in no queue", [](History&, State& s) { s.queued.clear(), s.queue_sizes.clear(); },
       Invariant::kOnePlace, Moment::kAnyTime},
      {"in two queues",
       [](History&, State& s) {
         s.queued["pending"] = {"unschedulable", "active"};
         s.queue_sizes["active"] = 1;
       },
       Invariant::kOnePlace, Moment::kAnyTime},
      {"in a queue and in an attempt", [](History&, State& s) { s.in_flight.insert("pending"); },
       Invariant::kOnePlace, Moment::kAnyTime},
      {"known to the queue, but in none",
       [](History&, State& s) {
         s.queued["pending"] = {"nowhere"};
         s.queue_sizes["unschedulable"] = 0;
       },
       Invariant::kOnePlace, Moment::kAnyTime},
      {"queued and gone",
       [](History&, State& s) { s.seen.erase("pending"), s.stored.erase("pending"); },
       Invariant::kOnePlace, Moment::kAnyTime},
      {"queued and bound", [](History&, State& s) { s.queued["bound"] = {"active"}; },
       Invariant::kOnePlace, Moment::kAnyTime},
      {"a queue that miscounts", [](History&, State& s) { s.queue_sizes["active"] = 3; },
       Invariant::kOnePlace, Moment::kAnyTime},
      {"in flight at rest", [](History&, State& s) { s.in_flight_count = 1; },
       Invariant::kOnePlace},
      {"assumed at rest",
       [](History&, State& s) {
         s.placed["bound"].assumed = true;
         s.stored["bound"].node = s.seen["bound"].node = "";
         s.stored["bound"].scheduled.clear();
       },
       Invariant::kNothingAssumed},
      {"assumed, although the watch has shown the binding",
       [](History&, State& s) { s.placed["bound"].assumed = true; }, Invariant::kNothingAssumed,
       Moment::kAnyTime},
      {"reserved twice",
       [](History& h, State&) {
         h.reserve_steps.push_back({ReserveStep::Kind::kReserved, "Ledger", "bound"});
       },
       Invariant::kReserveBalanced, Moment::kAnyTime},
      {"unreserved although bound",
       [](History& h, State&) {
         h.reserve_steps.push_back({ReserveStep::Kind::kUnreserved, "Ledger", "bound"});
       },
       Invariant::kReserveBalanced, Moment::kAnyTime},
      {"never unreserved",
       [](History& h, State&) {
         h.reserve_steps.push_back({ReserveStep::Kind::kReserved, "Ledger", "pending"});
       },
       Invariant::kReserveBalanced},
      {"one plugin of two forgets",
       [](History& h, State&) {
         h.reserve_steps.push_back({ReserveStep::Kind::kReserved, "Other", "pending"});
         h.reserve_steps.push_back({ReserveStep::Kind::kUnreserved, "Ledger", "pending"});
       },
       Invariant::kReserveBalanced},
      {"a wait that ended twice", [](History& h, State&) { h.waits["bound"].ended = 2; },
       Invariant::kWaitsSettled, Moment::kAnyTime},
      {"two waits at once", [](History& h, State&) { h.waits["bound"].started = 3; },
       Invariant::kWaitsSettled, Moment::kAnyTime},
      {"a wait that never ends", [](History& h, State&) { h.waits["bound"].started = 2; },
       Invariant::kWaitsSettled},
      {"waiting at rest", [](History&, State& s) { s.waiting.insert("pending"); },
       Invariant::kWaitsSettled},
      {"a task left", [](History&, State& s) { s.tasks = 1; }, Invariant::kNoTaskLeft},
      {"a bound pod that is not scheduled, it says",
       [](History&, State& s) { s.stored["bound"].scheduled = "False"; },
       Invariant::kStatusIsDecided},
      {"a bound pod without the condition",
       [](History&, State& s) { s.stored["bound"].scheduled.clear(); },
       Invariant::kStatusIsDecided},
      {"a bound pod that is nominated",
       [](History&, State& s) { s.stored["bound"].nominated = "n1"; }, Invariant::kStatusIsDecided},
      {"an old message", [](History&, State& s) { s.stored["pending"].message = "full"; },
       Invariant::kStatusIsDecided},
      {"an old reason", [](History&, State& s) { s.stored["pending"].reason = "SchedulerError"; },
       Invariant::kStatusIsDecided},
      {"a condition that was never written",
       [](History&, State& s) {
         s.stored["pending"].scheduled = s.stored["pending"].reason = s.stored["pending"].message =
             "";
       },
       Invariant::kStatusIsDecided},
      {"a condition that nobody decided",
       [](History& h, State&) { h.decided["pending"].condition.reset(); },
       Invariant::kStatusIsDecided},
      {"a nomination that was cleared",
       [](History& h, State&) { h.decided["pending"].nominated.clear(); },
       Invariant::kStatusIsDecided},
      {"a pod not seen", [](History&, State& s) { s.stored["new"] = {"", "9", {}, false}; },
       Invariant::kSeenIsStored},
      {"an old version seen", [](History&, State& s) { s.stored["bound"].version = "8"; },
       Invariant::kSeenIsStored},
      {"a finished pod still seen", [](History&, State& s) { s.stored["pending"].finished = true; },
       Invariant::kSeenIsStored},
      {"a node not seen", [](History&, State& s) { s.nodes["n2"] = {}; }, Invariant::kSeenIsStored},
      {"a node that is gone", [](History&, State& s) { s.rows["n2"] = {}; },
       Invariant::kSeenIsStored},
  };
  for (const Doctored& doctored : cases) {
    Sound sound;
    doctored.doctor(sound.history, sound.state);
    EXPECT_THAT(names_of(check(sound.history, sound.state, doctored.moment)),
                UnorderedElementsAre(doctored.expected))
        << doctored.behaviour;
  }
}

// What is no violation, however odd it looks.
TEST(Invariants, AllowWhatMayHappen) {
  const Doctored cases[] = {
      {"a pod placed behind the scheduler's back overfills a node",
       [](History& h, State& s) {
         h.placed_unasked.insert("bound");
         s.nodes["n1"]["cpu"] = 500;
       },
       {}},
      {"pods on a node that is gone",
       [](History&, State& s) {
         s.nodes.clear();
         s.rows["n1"].has_node = false;
         s.rows["n1"].allocatable.clear();
       },
       {}},
      {"a pod of another scheduler is in no queue",
       [](History&, State& s) {
         s.stored["foreign"] = {"", "1", {}, false};
         s.seen["foreign"] = {"", "1", false, false};
       },
       {}},
      {"a pod that is being deleted is in no queue",
       [](History&, State& s) {
         s.stored["going"] = {"", "1", {}, false};
         s.seen["going"] = {"", "1", true, true};
       },
       {}},
      {"unreserve without reserve: it must be idempotent",
       [](History& h, State&) {
         h.reserve_steps.push_back({ReserveStep::Kind::kUnreserved, "Other", "pending"});
       },
       {}},
      {"on the way a pod may be assumed, wait and have a task",
       [](History& h, State& s) {
         s.queued.clear();
         s.queue_sizes.clear();
         s.nodes["n1"]["cpu"] = s.rows["n1"].allocatable["cpu"] = 2000;
         s.placed["pending"] = {"n1", {{"cpu", 1000}, {"pods", 1}}, true};
         s.rows["n1"].requested = {{"cpu", 2000}, {"pods", 2}};
         s.in_flight.insert("pending");
         s.in_flight_count = s.tasks = 1;
         s.waiting.insert("pending");
         h.waits["pending"] = {1, 0};
         h.reserve_steps.push_back({ReserveStep::Kind::kReserved, "Ledger", "pending"});
       },
       {},
       Moment::kAnyTime},
  };
  for (const Doctored& doctored : cases) {
    Sound sound;
    doctored.doctor(sound.history, sound.state);
    EXPECT_THAT(names_of(check(sound.history, sound.state, doctored.moment)), IsEmpty())
        << doctored.behaviour;
  }
}

}  // namespace
}  // namespace berth::simulation
