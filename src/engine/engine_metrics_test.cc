// What the metrics say about whole journeys.
#include "base/testing/names.h"
#include "engine/testing/engine_fixture.h"
#include "framework/metrics_observer.h"

namespace berth {
namespace {

struct EngineMetricsTest : EngineTest {
  telemetry::Registry registry;
  MetricsObserver metrics{loop, registry};

  ~EngineMetricsTest() override { destroy(); }

  void start_measured() {
    if (options.configuration.profiles.empty()) profile("default-scheduler", {"OneEach"});
    Result<std::unique_ptr<Engine>> result =
        Engine::make(loop, world.interner, table, api, metrics, std::move(options));
    ASSERT_TRUE(result) << result.error().message;
    engine = std::move(*result);
    api.engine = engine.get();
    engine->start();
  }
  std::string text() const { return "\n" + registry.text(); }
  static auto has(const std::string& line) { return HasSubstr("\nscheduler_" + line + "\n"); }
};

constexpr const char* kProfile = "profile=\"default-scheduler\"";

std::string point(const std::string& name, const std::string& status, int count) {
  return "framework_extension_point_duration_seconds_count{extension_point=\"" + name + "\"," +
         kProfile + ",status=\"" + status + "\"} " + std::to_string(count);
}

TEST_F(EngineMetricsTest, ABoundPodIsInEverySeriesThatItTouches) {
  start_measured();
  node("n1"), node("n2");
  api.on_bind = [](const Pod&) { return TestApi::Fate{.answer = 2s}; };
  pod("a");
  run_to(1s);
  EXPECT_THAT(text(), has("goroutines{operation=\"binding\"} 1"));
  EXPECT_THAT(text(), has("cache_size{type=\"nodes\"} 2"));
  run_to(3s);
  const std::string shown = text();
  EXPECT_THAT(shown, has("goroutines{operation=\"binding\"} 0"));
  EXPECT_THAT(shown,
              has(std::string("schedule_attempts_total{") + kProfile + ",result=\"scheduled\"} 1"));
  EXPECT_THAT(shown, has(std::string("scheduling_attempt_duration_seconds_sum{") + kProfile +
                         ",result=\"scheduled\"} 2"));
  EXPECT_THAT(shown, has("scheduling_algorithm_duration_seconds_count 1"));
  EXPECT_THAT(shown, has("pod_scheduling_attempts_sum 1"));
  EXPECT_THAT(shown, has("pod_scheduling_sli_duration_seconds_sum{attempts=\"1\"} 2"));
  EXPECT_THAT(shown,
              has("queue_incoming_pods_total{event=\"UnscheduledPodAdd\",queue=\"active\"} 1"));
  EXPECT_THAT(shown, has(std::string("plugin_evaluation_total{extension_point=\"Filter\",plugin="
                                     "\"OneEach\",") +
                         kProfile + "} 2"));
  EXPECT_THAT(shown, has("event_handling_duration_seconds_count{event=\"NodeAdd\"} 2"));
  EXPECT_THAT(shown, has("event_handling_duration_seconds_count{event=\"UnscheduledPodAdd\"} 1"));
  EXPECT_THAT(shown, has("event_handling_duration_seconds_count{event=\"AssignedPodAdd\"} 1"));
  EXPECT_THAT(shown, has("inflight_events{event=\"PodPopped\"} 0"));
  EXPECT_THAT(shown, has("cache_size{type=\"pods\"} 1"));
  EXPECT_THAT(shown, has("cache_size{type=\"assumed_pods\"} 0"));
  for (const char* name :
       {"PreEnqueue", "PreFilter", "Filter", "Reserve", "Permit", "Bind", "PostBind"})
    EXPECT_THAT(shown, has(point(name, "Success", 1)));
  EXPECT_THAT(shown, Not(HasSubstr("result=\"unschedulable\"")));
}

TEST_F(EngineMetricsTest, ARejectedPodCountsUnderItsPluginUntilItIsTriedAgain) {
  start_measured();
  node("n1");
  const Ref<const Pod> first = pod("first");
  run_to(1s);
  pod("second");
  run_to(2s);
  const std::string rejected = std::string("unschedulable_pods{plugin=\"OneEach\",") + kProfile;
  EXPECT_THAT(text(), has(rejected + "} 1"));
  EXPECT_THAT(text(), has("pending_pods{queue=\"unschedulable\"} 1"));
  EXPECT_THAT(text(), has(std::string("schedule_attempts_total{") + kProfile +
                          ",result=\"unschedulable\"} 1"));
  EXPECT_THAT(text(), has("queue_incoming_pods_total{event=\"ScheduleAttemptFailure\","
                          "queue=\"unschedulable\"} 1"));
  api.remove_pod(first);
  run_to(10s);
  EXPECT_THAT(text(), has(rejected + "} 0"));
  EXPECT_THAT(text(), has("pending_pods{queue=\"unschedulable\"} 0"));
  EXPECT_THAT(text(), has("event_handling_duration_seconds_count{event=\"AssignedPodDelete\"} 1"));
  EXPECT_THAT(text(), has("pod_scheduling_sli_duration_seconds_count{attempts=\"2\"} 1"));
}

TEST_F(EngineMetricsTest, APodThatIsDeletedCountsNoLonger) {
  start_measured();
  const Ref<const Node> n1 = node("n1");
  pod("first");
  run_to(1s);
  const Ref<const Pod> second = pod("second");
  run_to(2s);
  api.remove_pod(second);
  run_to(3s);
  EXPECT_THAT(text(),
              has(std::string("unschedulable_pods{plugin=\"OneEach\",") + kProfile + "} 0"));
  EXPECT_THAT(text(), has("pending_pods{queue=\"unschedulable\"} 0"));
}

TEST_F(EngineMetricsTest, APodThatTheFlushBroughtBackIsCountedWhenItIsBound) {
  bool open = false;
  plugin("Door", [&open](const Handle&) {
    auto filter = std::make_unique<FakeFilter>("Door");
    filter->script = [&open](const Cycle&, NodeRow) {
      return open ? Outcome() : Outcome::unschedulable("node(s) were closed");
    };
    filter->events = std::vector<EventRegistration>();
    return filter;
  });
  profile("default-scheduler", {"Door"});
  start_measured();
  node("n1");
  pod("p");
  run_to(1s);
  open = true;
  run_to(60s);
  EXPECT_THAT(text(), has("pod_scheduled_after_flush_total 0"));
  run_to(400s);
  EXPECT_THAT(text(), has("pod_scheduled_after_flush_total 1"));
}

TEST_F(EngineMetricsTest, EveryEventOfAnUpdateIsObserved) {
  start_measured();
  node("n1");
  const auto handled = [](const std::string& event, int count) {
    return has("event_handling_duration_seconds_count{event=\"" + event + "\"} " +
               std::to_string(count));
  };
  engine->apply({DeltaType::kUpdated,
                 Ref<const Object>(
                     world.node("n1").label("a", "1").taint("keep-out", "NoSchedule").build())});
  run_to(1s);
  EXPECT_THAT(text(), handled("NodeUpdateNodeLabel", 1));
  EXPECT_THAT(text(), handled("NodeUpdateNodeTaint", 1));
  EXPECT_THAT(text(), handled("NodeAdd", 1));

  pod("bound");
  run_to(2s);
  EXPECT_THAT(text(), handled("AssignedPodAdd", 1));
  EXPECT_THAT(text(), handled("UnscheduledPodDelete", 1)) << "it left the queue";
  pod("waiting");
  run_to(3s);
  const auto update = [&](const std::string& name, const std::string& version) {
    const Ref<const Pod> seen = engine->cluster().seen_pod("default", name);
    PodDraft draft = draft_of(*seen);
    draft.resource_version = version;
    draft.meta = world.pod(name).label("a", version).build()->meta_ref();
    engine->apply({DeltaType::kUpdated, make_pod(std::move(draft))});
  };
  update("waiting", "5001");
  EXPECT_THAT(text(), handled("UnscheduledPodUpdate", 1));
  EXPECT_THAT(text(), handled("UnscheduledPodUpdatePodLabel", 1));
  update("bound", "5002");
  EXPECT_THAT(text(), handled("AssignedPodUpdate", 1));
  EXPECT_THAT(text(), handled("AssignedPodUpdatePodLabel", 1));
}

TEST_F(EngineMetricsTest, WaitsAreCountedByHowTheyEnd) {
  permit("Gang", 5s);
  profile("default-scheduler", {"OneEach", "Gang"});
  start_measured();
  node("n1"), node("n2");
  const Ref<const Pod> first = pod("first");
  pod("second");
  run_to(2s);
  engine->waiting_pods().allow(first->uid(), "Gang");
  run_to(6s);
  EXPECT_THAT(text(), has("permit_wait_duration_seconds_sum{result=\"Success\"} 2"));
  EXPECT_THAT(text(), has("permit_wait_duration_seconds_sum{result=\"Unschedulable\"} 5"));
  EXPECT_THAT(
      text(),
      HasSubstr("extension_point=\"Permit\",profile=\"default-scheduler\",status=\"Wait\"} "));
  EXPECT_THAT(text(), has(point("Unreserve", "Success", 1)));
}

TEST_F(EngineMetricsTest, FailuresOfTheApiServerAreErrors) {
  start_measured();
  node("n1");
  api.on_bind = [](const Pod&) {
    return TestApi::Fate{.error = "the server is on fire", .shown = std::nullopt};
  };
  pod("a");
  run_to(Duration(500ms));
  EXPECT_THAT(text(),
              has(std::string("schedule_attempts_total{") + kProfile + ",result=\"error\"} 1"));
  EXPECT_THAT(text(), has(point("Bind", "Error", 1)));
  EXPECT_THAT(text(), has("pending_pods{queue=\"backoff\"} 1"));
}

}  // namespace
}  // namespace berth
