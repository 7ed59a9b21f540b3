// What an embedder brings along: a loop, plugins, a configuration, threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "base/testing/names.h"
#include "base/thread.h"
#include "embed/testing/scheduler_fixture.h"

namespace berth {
namespace {

// ---- a loop of the embedder's own

TEST_F(SchedulerTest, ARealLoopRunsIt) {
  RealLoop loop;
  options.loop = &loop;
  start();
  loop.post([this] { apply(node("n1") + pod("a") + pod("b")); });
  diary.on_bound = [&] {
    if (diary.lines.size() == 2) loop.post([&loop] { loop.stop(); });
  };
  loop.run();
  EXPECT_EQ(where("a"), "n1");
  EXPECT_EQ(where("b"), "n1");
  EXPECT_EQ(&scheduler->loop(), &loop);
}

TEST_F(SchedulerTest, ALoopOfTheEmbeddersIsNotRunForIt) {
  VirtualLoop loop;
  options.loop = &loop;
  start();
  apply(node("n1") + pod("a"));
  const Result<void> ran = scheduler->run_until(1s);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(where("a"), "") << "nothing has happened";
  scheduler.reset();
}

TEST_F(SchedulerTest, ALoopThatLivesLongerFindsNothingOfIt) {
  VirtualLoop loop;
  options.loop = &loop;
  use(entry("Hold", [](const Handle&) { return std::make_unique<Hold>(); }));
  start();
  apply(node("n1") + pod("waits"));
  loop.run_until(TimePoint{1s});
  apply(pod("queued"));
  scheduler->waiting_pods().allow(scheduler->waiting_pods().list().front().pod->uid(), "Hold");
  scheduler.reset();  // with a turn, a wait's end and timers still in the loop
  diary.lines.clear();
  loop.run();
  EXPECT_THAT(diary.lines, IsEmpty());
}

TEST_F(SchedulerTest, ABindingThatIsStillToBeShownEndsWithIt) {
  VirtualLoop loop;
  options.loop = &loop;
  start();
  apply(node("n1") + pod("a"));
  ASSERT_TRUE(scheduler->run_one());
  scheduler.reset();
  loop.run();
  EXPECT_THAT(diary.lines, ElementsAre("a on n1"));
}

TEST_F(SchedulerTest, TwoOfThemDoNotKnowOfEachOther) {
  start();
  SchedulerTest::apply(node("here") + pod("a"));
  Scheduler::Options others;
  others.plugins = Scheduler::built_in_plugins();
  Result<std::unique_ptr<Scheduler>> other = Scheduler::make(std::move(others));
  ASSERT_TRUE(other.has_value());
  (*other)->start();
  ASSERT_TRUE((*other)->apply(node("there") + pod("a")).has_value());
  scheduler->run_until(1s);
  (*other)->run_until(1s);
  EXPECT_EQ(where("a"), "here");
  EXPECT_EQ((*other)->node_of("default", "a"), "there");
}

// ---- plugins that throw

// Throws for the pod named "bad", at one of its points.
class Moody final : public PreEnqueuePlugin,
                    public PreFilterPlugin,
                    public PerNodeFilter,
                    public PreScorePlugin,
                    public PerNodeScore,
                    public ReservePlugin,
                    public PermitPlugin,
                    public PreBindPlugin,
                    public BindPlugin,
                    public PostBindPlugin {
 public:
  Moody(std::string point, bool an_exception)
      : point_(std::move(point)), an_exception_(an_exception) {}
  std::string_view name() const override { return "Moody"; }
  Outcome pre_enqueue(const Pod& pod) const override { return at("PreEnqueue", pod); }
  PreFilterResult pre_filter(Cycle& cycle) const override { return at("PreFilter", cycle.pod()); }
  Outcome filter_node(const Cycle& cycle, NodeRow) const override {
    return at("Filter", cycle.pod());
  }
  Outcome pre_score(Cycle& cycle, const NodeSet&) const override {
    return at("PreScore", cycle.pod());
  }
  Score score_node(const Cycle& cycle, NodeRow) const override {
    at("Score", cycle.pod());
    return 0;
  }
  Outcome reserve(Cycle& cycle, std::string_view) override { return at("Reserve", cycle.pod()); }
  void unreserve(Cycle& cycle, std::string_view) override { at("Unreserve", cycle.pod()); }
  PermitResult permit(Cycle& cycle, std::string_view) override {
    return {at("Permit", cycle.pod()), {}};
  }
  Task<Outcome> pre_bind(Cycle& cycle, std::string_view, CancelToken) override {
    co_return at("PreBind", cycle.pod());
  }
  Task<Outcome> bind(Cycle& cycle, std::string_view) const override {
    at("Bind", cycle.pod());
    co_return Outcome::skip();
  }
  void post_bind(Cycle& cycle, std::string_view) override { at("PostBind", cycle.pod()); }

 private:
  Outcome at(std::string_view point, const Pod& pod) const {
    if (point != point_ || pod.name() != "bad") return {};
    if (an_exception_) throw std::runtime_error("a bad mood");
    throw 7;
  }
  std::string point_;
  bool an_exception_;
};

TEST(ForeignPlugins, APluginThatThrowsFailsItsPodOnly) {
  struct Case {
    const char* point;
    bool bound;  // the bad pod, in spite of it
    const char* message;
  };
  const Case cases[] = {
      {"PreFilter", false, "running PreFilter plugin \"Moody\": Moody threw an exception"},
      {"Filter", false, "running \"Moody\" filter plugin: Moody threw an exception"},
      {"PreScore", false, "running PreScore plugin \"Moody\": Moody threw an exception"},
      {"Score", false,
       "running Score plugins: plugin \"Moody\" failed with: Moody threw an exception"},
      {"Reserve", false, "running Reserve plugin \"Moody\": Moody threw an exception"},
      {"Permit", false, "running Permit plugin \"Moody\": Moody threw an exception"},
      {"PreBind", false, "running PreBind plugin \"Moody\": Moody threw an exception"},
      {"Bind", false, "running Bind plugin \"Moody\": Moody threw an exception"},
      {"PostBind", true, nullptr},
      {"PreEnqueue", false, nullptr},  // it never gets into the queue
  };
  for (const Case& c : cases)
    for (const bool an_exception : {true, false}) {
      SCOPED_TRACE(std::string(c.point) + (an_exception ? ", std" : ", else"));
      struct OneCase : SchedulerTest {
        void TestBody() override {}
      } test;
      test.use(entry(
          "Moody", [&](const Handle&) { return std::make_unique<Moody>(c.point, an_exception); }));
      // Before DefaultBinder, so that it is asked at all.
      test.options.configuration =
          "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
          "profiles: [{plugins: {multiPoint: {enabled: [{name: Moody}]}, bind: {enabled: [{name: "
          "Moody}]}}}]\n";
      test.start();
      test.apply(node("n1") + node("n2") + pod("bad") + pod("good"));
      test.scheduler->run_until(500ms);
      EXPECT_NE(test.where("good"), "");
      EXPECT_EQ(test.where("bad") != "", c.bound);
      if (c.message) {
        EXPECT_THAT(test.diary.lines, Contains("bad: " + std::string(c.message) +
                                               (an_exception ? ": a bad mood" : "")));
      }
    }
}

// Lets two pods pass and counts what it is asked, in members that need not be mutable.
class Turnstile final : public ReservePlugin,
                        public PermitPlugin,
                        public PreBindPlugin,
                        public PostBindPlugin {
 public:
  explicit Turnstile(std::vector<int>& counts) : counts_(counts) {}
  std::string_view name() const override { return "Turnstile"; }
  Outcome reserve(Cycle&, std::string_view) override {
    ++reserved_;
    return {};
  }
  void unreserve(Cycle&, std::string_view) override { --reserved_; }
  PermitResult permit(Cycle&, std::string_view) override {
    if (++permitted_ <= 2) return {};
    return {Outcome::unschedulable("the turnstile is closed"), {}};
  }
  Task<Outcome> pre_bind(Cycle&, std::string_view, CancelToken) override {
    ++pre_bound_;
    co_return Outcome();
  }
  void post_bind(Cycle&, std::string_view) override {
    ++post_bound_;
    counts_ = {reserved_, permitted_, pre_bound_, post_bound_};
  }

 private:
  std::vector<int>& counts_;
  int reserved_ = 0;
  int permitted_ = 0;
  int pre_bound_ = 0;
  int post_bound_ = 0;
};

TEST_F(SchedulerTest, APluginCountsInItsOwnMembers) {
  std::vector<int> counts;
  use(entry("Turnstile", [&](const Handle&) { return std::make_unique<Turnstile>(counts); }));
  start();
  apply(node("n1") + pod("a") + pod("b") + pod("c"));
  scheduler->run_until(500ms);
  EXPECT_EQ(counts, (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(where("c"), "") << "the third finds it closed";
}

// Says Skip in PreFilter, and has work after Reserve all the same.
class Ticket final : public PreFilterPlugin,
                     public ReservePlugin,
                     public PreBindPlugin,
                     public PostBindPlugin {
 public:
  Ticket(std::vector<std::string>& seen, bool binds) : seen_(seen), binds_(binds) {}
  std::string_view name() const override { return "Ticket"; }
  PreFilterResult pre_filter(Cycle& cycle) const override {
    cycle.put(*this, Early{1});
    return PreFilterResult::skip();
  }
  Outcome reserve(Cycle& cycle, std::string_view node) override {
    cycle.find<Early>(*this)->number += 1;
    cycle.put(*this, Number{"ticket for " + std::string(node)});
    return {};
  }
  void unreserve(Cycle& cycle, std::string_view) override { note("Unreserve", cycle); }
  Task<Outcome> pre_bind(Cycle& cycle, std::string_view, CancelToken) override {
    note("PreBind", cycle);
    co_return binds_ ? Outcome::success() : Outcome::failure("not today");
  }
  void post_bind(Cycle& cycle, std::string_view) override { note("PostBind", cycle); }

 private:
  struct Early {
    int number;
  };
  struct Number {
    std::string text;
  };
  void note(const std::string& point, const Cycle& cycle) const {
    const Number* number = cycle.find<Number>(*this);
    const Early* early = cycle.find<Early>(*this);
    seen_.push_back(point + ": " + (number ? number->text : "nothing") + ", " +
                    std::to_string(early ? early->number : 0));
  }

  std::vector<std::string>& seen_;
  const bool binds_;
};

TEST(ForeignPlugins, WhatReserveLeavesIsThereToTheEndAlsoAfterASkip) {
  struct Case {
    bool binds;
    std::vector<std::string> seen;
  };
  for (const Case& c :
       {Case{true, {"PreBind: ticket for n1, 2", "PostBind: ticket for n1, 2"}},
        Case{false, {"PreBind: ticket for n1, 2", "Unreserve: ticket for n1, 2"}}}) {
    std::vector<std::string> seen;
    Scheduler::Options options;
    options.plugins = Scheduler::built_in_plugins();
    options.plugins.add(
        entry("Ticket", [&](const Handle&) { return std::make_unique<Ticket>(seen, c.binds); }));
    options.configuration = profile_with("Ticket");
    auto scheduler = Scheduler::make(std::move(options));
    ASSERT_TRUE(scheduler) << scheduler.error().message;
    (*scheduler)->start();
    ASSERT_TRUE((*scheduler)->apply(node("n1") + pod("web")));
    (*scheduler)->run_until(500ms);
    EXPECT_EQ(seen, c.seen);
  }
}

// ---- configurations

TEST_F(SchedulerTest, ABadConfigurationIsAnErrorInUpstreamsWords) {
  struct Case {
    const char* behaviour;
    std::string configuration, gates, message;
  };
  const Case cases[] = {
      {"not even YAML", "{", "", ""},
      {"an unknown field",
       "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nfoo: 1\n", "",
       "unknown field \"foo\""},
      {"an unknown plugin", profile_with("Foo"), "",
       "initializing profiles: creating profile for scheduler name default-scheduler:"
       " PreFilterPlugin \"Foo\" does not exist"},
      {"an unknown gate", "", "Foo=true", "unrecognized feature gate: Foo"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.behaviour);
    options = {};
    options.plugins = Scheduler::built_in_plugins();
    options.configuration = c.configuration;
    options.feature_gates = c.gates;
    const std::string message = make();
    EXPECT_NE(message, "");
    EXPECT_THAT(message, HasSubstr(c.message));
  }
}

TEST_F(SchedulerTest, ThePlainDefaultsNeedNoConfiguration) {
  options.observer = nullptr;
  start();
  apply(node("n1") + pod("a"));
  scheduler->run_until(1s);
  EXPECT_EQ(where("a"), "n1");
}

TEST_F(SchedulerTest, ExtendersInTheConfigurationAreNotAskedAndThatIsSaid) {
  options.configuration =
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "extenders: [{urlPrefix: 'http://localhost:1', filterVerb: filter}]\n";
  ASSERT_EQ(make(), "");
  EXPECT_THAT(diary.internal_errors, ElementsAre(HasSubstr("1 extender(s)")));
}

// ---- other threads

TEST(ConcurrentScheduler, WaitingPodsAreLetGoFromAnotherThread) {
  constexpr std::size_t kPods = 40;
  RealLoop loop;
  Diary diary;
  Scheduler::Options options;
  options.plugins = Scheduler::built_in_plugins();
  ASSERT_TRUE(
      options.plugins.add(entry("Hold", [](const Handle&) { return std::make_unique<Hold>(); }))
          .has_value());
  options.configuration = profile_with("Hold");
  options.loop = &loop;
  options.observer = &diary;
  Result<std::unique_ptr<Scheduler>> made = Scheduler::make(std::move(options));
  ASSERT_TRUE(made.has_value()) << made.error().message;
  Scheduler& scheduler = **made;
  scheduler.start();
  std::size_t bound = 0;
  diary.on_bound = [&] {
    if (++bound == kPods) loop.stop();
  };

  WaitingPods& waiting = scheduler.waiting_pods();
  std::atomic<bool> over = false;
  Thread feeder("feeder", [&] {
    for (std::size_t i = 0; i < kPods; ++i)
      loop.post([&scheduler, i] {
        const Result<void> applied = scheduler.apply(pod("p" + std::to_string(i), "100m"));
        EXPECT_TRUE(applied.has_value());
      });
  });
  Thread friendly("friendly", [&] {
    while (!over.load()) {
      waiting.for_each([&](const WaitingPod& held) { waiting.allow(held.pod->uid(), "Hold"); });
      std::this_thread::yield();
    }
  });
  loop.post([&scheduler] {
    EXPECT_TRUE(scheduler
                    .apply(node("n1", "64") + node("n2", "64") + node("n3", "64") +
                           node("n4", "64") + node("n5", "64"))
                    .has_value());
  });
  loop.run();
  over = true;
  friendly.join();
  feeder.join();
  EXPECT_EQ(bound, kPods);
  EXPECT_EQ(waiting.size(), 0u);
}

}  // namespace
}  // namespace berth
