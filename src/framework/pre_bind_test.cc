// PreBind: preflight, groups, and how a failure ends the others (core.md §3.7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/testing/names.h"
#include "framework/testing/fake_plugins.h"

namespace berth {
namespace {

// Takes until `when`, unless it is cancelled before.
Task<Outcome> work_until(Loop& loop, TimePoint when, CancelToken cancel, Outcome finished,
                         Outcome stopped) {
  Eventual<bool> over;
  const CancelToken::Registration stop = cancel.on_cancel([&over] { over.set(false); });
  const TimerId timer = loop.at(when, [&over] { over.set(true); });
  const bool done = co_await over;
  loop.cancel(timer);
  co_return done ? finished : stopped;
}

Task<Outcome> answer(Outcome outcome) { co_return outcome; }

Task<Outcome> throw_later(Loop& loop, bool an_exception) {
  SleepUntil sleep(loop, loop.now() + 1s);
  co_await sleep;
  if (an_exception) throw std::runtime_error("out of disks");
  throw 42;
}

// What a plugin's preflight says.
struct Flight {
  bool parallel = false;
  Code code = Code::kSuccess;
};

struct PreBindTest : ::testing::Test {
  FakeWorld world;
  FakeProfile profile{world};
  std::unique_ptr<Cycle> cycle = std::make_unique<Cycle>(world.pod("p"), world.cluster);
  std::vector<std::string> steps;
  CancelSource source;

  static PreBindPreFlight answer_of(const Flight& flight) {
    return {flight.code == Code::kError ? Outcome::failure("broken")
                                        : Outcome::of(flight.code, "because"),
            flight.parallel};
  }
  FakePreBind& plugin(const std::string& name, Flight flight,
                      std::function<Task<Outcome>(Cycle&, CancelToken)> script) {
    FakePreBind& added = profile.pre_bind(name, std::move(script));
    added.flight = [this, name, flight] {
      steps.push_back("flight " + name);
      PreBindPreFlight result = answer_of(flight);
      if (flight.code == Code::kSuccess) result.outcome = {};
      return result;
    };
    return added;
  }
  // Takes a second; noted with the second in which it begins.
  void worker(const std::string& name, Flight flight, Outcome finished = {}) {
    plugin(name, flight, [this, name, finished](Cycle&, CancelToken cancel) {
      steps.push_back(name + "@" + std::to_string(second()));
      return work_until(world.loop, world.loop.now() + 1s, cancel, finished,
                        Outcome::failure(std::string(kContextCanceled)));
    });
  }
  // Works for ever, and notes why it was stopped.
  void endless(const std::string& name, Outcome stopped, Flight flight = {.parallel = true}) {
    plugin(name, flight, [this, name, stopped](Cycle&, CancelToken cancel) {
      steps.push_back(name + "@" + std::to_string(second()));
      return note_end(name, cancel,
                      work_until(world.loop, world.loop.now() + 100h, cancel, {}, stopped));
    });
  }
  Task<Outcome> note_end(std::string name, CancelToken cancel, Task<Outcome> task) {
    Outcome outcome = co_await task;
    steps.push_back(name + " stopped at " + std::to_string(second()) + ": " + cancel.cause());
    co_return outcome;
  }
  std::int64_t second() const {
    return std::chrono::duration_cast<std::chrono::seconds>(world.loop.now().since_start).count();
  }
  Outcome fly() { return profile.framework().run_pre_bind_pre_flight(*cycle, "n1"); }
  Outcome run() {
    fly();
    steps.clear();
    return run_task(world.loop, profile.framework().run_pre_bind(*cycle, "n1", source.token()));
  }
};

// ---- preflight

TEST_F(PreBindTest, ThePreflightAsksEveryPluginInOrder) {
  worker("A", {.code = Code::kSkip});
  worker("B", {});
  worker("C", {.code = Code::kSkip});
  EXPECT_TRUE(fly().ok()) << "somebody has work to do";
  EXPECT_THAT(steps, ElementsAre("flight A", "flight B", "flight C"));
}

TEST_F(PreBindTest, WithoutWorkThePreflightIsASkip) {
  worker("A", {.code = Code::kSkip});
  worker("B", {.code = Code::kSkip});
  EXPECT_EQ(fly().code, Code::kSkip);
}

TEST_F(PreBindTest, WithoutPluginsThePreflightIsASkip) { EXPECT_EQ(fly().code, Code::kSkip); }

TEST_F(PreBindTest, AnErrorOrAnUnsupportedAnswerEndsThePreflight) {
  struct Case {
    Code code;
    const char* message;
  };
  for (const Case& c : {
           Case{Code::kError, "running PreBindPreFlight \"B\": broken"},
           Case{
               Code::kUnschedulable,
               "PreBindPreFlight B returned \"Unschedulable\", which is unsupported. It is supposed"
               " to return Success, Skip, or Error status"},
           Case{Code::kUnschedulableAndUnresolvable,
                "PreBindPreFlight B returned \"UnschedulableAndUnresolvable\", which is"
                " unsupported. It is supposed to return Success, Skip, or Error status"},
           Case{Code::kWait,
                "PreBindPreFlight B returned \"Wait\", which is unsupported. It is supposed to"
                " return Success, Skip, or Error status"},
           Case{Code::kPending,
                "PreBindPreFlight B returned \"Pending\", which is unsupported. It is supposed to"
                " return Success, Skip, or Error status"},
       }) {
    SCOPED_TRACE(to_string(c.code));
    FakeProfile of_case(world);
    of_case.pre_bind("A", {}).flight = [] { return PreBindPreFlight{Outcome::skip(), true}; };
    of_case.pre_bind("B", {}).flight = [&c] { return answer_of({.code = c.code}); };
    of_case.pre_bind("C", {}).flight = [] {
      ADD_FAILURE() << "must not be asked";
      return PreBindPreFlight{};
    };
    Cycle fresh(world.pod("p"), world.cluster);
    const Outcome outcome = of_case.framework().run_pre_bind_pre_flight(fresh, "n1");
    EXPECT_EQ(outcome.code, Code::kError);
    EXPECT_EQ(outcome.message(), c.message);
    EXPECT_EQ(outcome.plugin, "B");
    EXPECT_FALSE(fresh.skip_pre_bind.test(0)) << "what A said is not kept then";
    EXPECT_FALSE(fresh.parallel_pre_bind.test(0));
  }
}

TEST_F(PreBindTest, APreflightThatThrowsIsAnError) {
  profile.pre_bind("A", {}).flight = []() -> PreBindPreFlight { throw std::runtime_error("oh"); };
  EXPECT_EQ(fly().message(), "running PreBindPreFlight \"A\": A threw an exception: oh");
}

// ---- groups

TEST(PreBindGroups, PluginsThatAllowItRunSideBySide) {
  struct Member {
    const char* name;
    bool parallel;
    bool skipped;
  };
  struct Case {
    const char* behaviour;
    std::vector<Member> plugins;
    std::vector<std::string> expected;
  };
  const Case cases[] = {
      {"one after the other", {{"A", false, false}, {"B", false, false}}, {"A@0", "B@1"}},
      {"together", {{"A", true, false}, {"B", true, false}}, {"A@0", "B@0"}},
      {"a plugin that must be alone ends the group",
       {{"A", true, false},
        {"B", true, false},
        {"C", false, false},
        {"D", true, false},
        {"E", true, false}},
       {"A@0", "B@0", "C@1", "D@2", "E@2"}},
      {"also when it is skipped",
       {{"A", true, false}, {"B", false, true}, {"C", true, false}},
       {"A@0", "C@1"}},
      {"a skipped one that may run beside others does not end it",
       {{"A", true, false}, {"B", true, true}, {"C", true, false}},
       {"A@0", "C@0"}},
      {"alone, then a group at the end",
       {{"A", false, false}, {"B", true, false}, {"C", true, false}},
       {"A@0", "B@1", "C@1"}},
      {"everything skipped", {{"A", true, true}, {"B", false, true}}, {}},
      {"nobody", {}, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.behaviour);
    struct OneCase : PreBindTest {
      void TestBody() override {}
    } test;
    for (const Member& member : c.plugins)
      test.worker(member.name, {member.parallel, member.skipped ? Code::kSkip : Code::kSuccess});
    EXPECT_TRUE(test.run().ok());
    EXPECT_EQ(test.steps, c.expected);
  }
}

TEST_F(PreBindTest, WithoutAPreflightNobodyIsSkippedAndEverybodyRunsAlone) {
  worker("A", {.parallel = true, .code = Code::kSkip});
  worker("B", {.parallel = true});
  const Outcome outcome =
      run_task(world.loop, profile.framework().run_pre_bind(*cycle, "n1", source.token()));
  EXPECT_TRUE(outcome.ok());
  EXPECT_THAT(steps, ElementsAre("A@0", "B@1"));
}

// ---- failures

TEST_F(PreBindTest, AFailureEndsTheStepInItsPluginsName) {
  worker("A", {}, Outcome::failure("disk full"));
  worker("B", {});
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, Code::kError);
  EXPECT_EQ(outcome.message(), "running PreBind plugin \"A\": disk full");
  EXPECT_EQ(outcome.plugin, "A");
  EXPECT_THAT(steps, ElementsAre("A@0"));
}

TEST_F(PreBindTest, ARejectionIsPassedOnAsItIs) {
  for (const Code code :
       {Code::kUnschedulable, Code::kUnschedulableAndUnresolvable, Code::kPending}) {
    FakeProfile of_case(world);
    of_case.pre_bind("A", [code](Cycle&, CancelToken) { return answer(Outcome::of(code, "no")); });
    const Outcome outcome =
        run_task(world.loop, of_case.framework().run_pre_bind(*cycle, "n1", source.token()));
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.message(), "no");
    EXPECT_EQ(outcome.plugin, "A");
  }
}

TEST_F(PreBindTest, AnUnexpectedAnswerIsAnError) {
  plugin("A", {}, [](Cycle&, CancelToken) { return answer(Outcome::of(Code::kWait, "later")); });
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, Code::kError);
  EXPECT_EQ(outcome.message(), "running PreBind plugin \"A\": later");
}

TEST_F(PreBindTest, TheFirstFailureStopsTheOthersWithACauseAndIsTheAnswer) {
  endless("A", Outcome::failure("A was stopped"));
  worker("B", {.parallel = true}, Outcome::failure("disk full"));
  endless("C", Outcome::failure("C was stopped"));
  worker("Later", {});
  const Outcome outcome = run();
  EXPECT_EQ(outcome.message(), "running PreBind plugin \"B\": disk full");
  EXPECT_EQ(outcome.plugin, "B");
  EXPECT_THAT(
      steps, ElementsAre("A@0", "B@0", "C@0", "A stopped at 1: some other PreBind operation failed",
                         "C stopped at 1: some other PreBind operation failed"));
}

TEST_F(PreBindTest, AFailureBeforeTheOthersBeginStopsThemAllTheSame) {
  plugin("A", {.parallel = true},
         [](Cycle&, CancelToken) { return answer(Outcome::unschedulable("at once")); });
  endless("B", Outcome::failure("B was stopped"));
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, Code::kUnschedulable);
  EXPECT_EQ(outcome.message(), "at once");
  EXPECT_THAT(steps, ElementsAre("B@0", "B stopped at 0: some other PreBind operation failed"));
}

TEST_F(PreBindTest, TheStepIsOverOnlyWhenEverybodyInTheGroupIs) {
  plugin("A", {.parallel = true},
         [](Cycle&, CancelToken) { return answer(Outcome::failure("at once")); });
  plugin("Deaf", {.parallel = true}, [this](Cycle&, CancelToken) {
    return work_until(world.loop, world.loop.now() + 5s, {}, {}, {});
  });
  EXPECT_EQ(run().message(), "running PreBind plugin \"A\": at once");
  EXPECT_EQ(second(), 5);
}

TEST_F(PreBindTest, APluginThatThrowsFailsThePodOnly) {
  for (const bool an_exception : {true, false}) {
    for (const bool parallel : {false, true}) {
      FakeProfile of_case(world);
      of_case.pre_bind("A",
                       [&](Cycle&, CancelToken) { return throw_later(world.loop, an_exception); });
      of_case.pre_bind("B", [](Cycle&, CancelToken) { return answer({}); });
      Cycle fresh(world.pod("p"), world.cluster);
      if (parallel) fresh.parallel_pre_bind.set(0), fresh.parallel_pre_bind.set(1);
      const Outcome outcome =
          run_task(world.loop, of_case.framework().run_pre_bind(fresh, "n1", source.token()));
      EXPECT_EQ(outcome.message(),
                an_exception ? "running PreBind plugin \"A\": A threw an exception: out of disks"
                             : "running PreBind plugin \"A\": A threw an exception");
    }
  }
}

TEST_F(PreBindTest, APluginThatThrowsBeforeItsFirstAwaitFailsThePodOnly) {
  plugin("A", {}, [](Cycle&, CancelToken) -> Task<Outcome> { throw std::runtime_error("oh"); });
  EXPECT_EQ(run().message(), "running PreBind plugin \"A\": A threw an exception: oh");
}

// ---- stopped from outside

TEST_F(PreBindTest, APluginThatIsStoppedTellsWhy) {
  struct Case {
    const char* behaviour;
    Outcome stopped;
    const char* message;
  };
  const Case cases[] = {
      {"the cancellation itself", Outcome::failure("context canceled"),
       "running PreBind plugin \"A\": preempted by Test"},
      {"wrapped in what was being done", Outcome::failure("updating claim: context canceled"),
       "running PreBind plugin \"A\": preempted by Test"},
      {"an error of its own", Outcome::failure("claim is gone"),
       "running PreBind plugin \"A\": claim is gone"},
      {"the same words, but no error", Outcome::of(Code::kError, "context canceled"),
       "running PreBind plugin \"A\": context canceled"},
  };
  for (const bool beside_another : {false, true})
    for (const Case& c : cases) {
      SCOPED_TRACE(c.behaviour);
      struct OneCase : PreBindTest {
        void TestBody() override {}
      } test;
      test.endless("A", c.stopped, {.parallel = beside_another});
      if (beside_another) test.worker("B", {.parallel = true});
      test.world.loop.at(TimePoint{7s}, [&test] { test.source.cancel("preempted by Test"); });
      const Outcome outcome = test.run();
      EXPECT_EQ(outcome.code, Code::kError);
      EXPECT_EQ(outcome.message(), c.message);
      EXPECT_EQ(test.steps.back(), "A stopped at 7: preempted by Test");
    }
}

TEST_F(PreBindTest, AnErrorThatLooksLikeACancellationStaysWhenNobodyCancelled) {
  plugin("A", {}, [](Cycle&, CancelToken) { return answer(Outcome::failure("context canceled")); });
  EXPECT_EQ(run().message(), "running PreBind plugin \"A\": context canceled");
}

TEST_F(PreBindTest, WhoIsStoppedBeforeTheBeginningIsToldAtOnce) {
  endless("A", Outcome::failure(std::string(kContextCanceled)));
  endless("B", Outcome::failure(std::string(kContextCanceled)));
  source.cancel("preempted by Test");
  EXPECT_EQ(run().message(), "running PreBind plugin \"A\": preempted by Test");
}

TEST_F(PreBindTest, AnAttemptThatEndsInTheMiddleLeavesNothingBehind) {
  plugin("A", {.parallel = true}, [this](Cycle&, CancelToken) {
    return throw_later(world.loop, true);  // sleeps; never gets that far
  });
  plugin("B", {.parallel = true},
         [this](Cycle&, CancelToken) { return throw_later(world.loop, true); });
  fly();
  {
    std::optional<Outcome> result;
    TaskSet tasks;
    tasks.spawn(
        keep_result(profile.framework().run_pre_bind(*cycle, "n1", source.token()), result));
    EXPECT_EQ(tasks.size(), 1u);
  }
  EXPECT_FALSE(world.loop.work_pending()) << "their timers went with them";
  source.cancel("nobody listens any more");
}

}  // namespace
}  // namespace berth
