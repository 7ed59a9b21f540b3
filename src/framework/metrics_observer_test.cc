#include "framework/metrics_observer.h"

#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "framework/testing/fake_plugins.h"

namespace berth {
namespace {

class MetricsObserverTest : public ::testing::Test {
 protected:
  bool shows(const std::string& line) const {
    return ("\n" + registry_.text()).find("\n" + line + "\n") != std::string::npos;
  }

  VirtualLoop loop_;
  telemetry::Registry registry_;
  MetricsObserver observer_{loop_, registry_};
  const std::vector<std::string> plugins_ = {"NodeName", "NodeResourcesFit"};
};

TEST_F(MetricsObserverTest, ShowsQueuesAndCacheFromTheStart) {
  for (const char* queue : {"active", "backoff", "unschedulable", "gated"})
    EXPECT_TRUE(shows("scheduler_pending_pods{queue=\"" + std::string(queue) + "\"} 0"));
  EXPECT_TRUE(shows("scheduler_cache_size{type=\"nodes\"} 0"));
  EXPECT_TRUE(shows("scheduler_preemption_attempts_total 0"));
  EXPECT_EQ(registry_.text().find("schedule_attempts_total"), std::string::npos);
}

TEST_F(MetricsObserverTest, CountsAttemptsByResultAndProfile) {
  ProfileMeasurements& profile = *observer_.profile("default-scheduler", plugins_);
  profile.attempt_ended(AttemptResult::kScheduled, milliseconds(2));
  profile.attempt_ended(AttemptResult::kScheduled, milliseconds(3));
  profile.attempt_ended(AttemptResult::kUnschedulable, milliseconds(1));
  observer_.profile("other", plugins_)->attempt_ended(AttemptResult::kError, milliseconds(1));
  const std::string attempts = "scheduler_schedule_attempts_total";
  EXPECT_TRUE(shows(attempts + R"({profile="default-scheduler",result="scheduled"} 2)"));
  EXPECT_TRUE(shows(attempts + R"({profile="default-scheduler",result="unschedulable"} 1)"));
  EXPECT_TRUE(shows(attempts + R"({profile="other",result="error"} 1)"));
  EXPECT_TRUE(
      shows("scheduler_scheduling_attempt_duration_seconds_bucket{profile=\"default-"
            "scheduler\",result=\"scheduled\",le=\"0.002\"} 1"));
}

TEST_F(MetricsObserverTest, GivesOneProfileForAName) {
  ProfileMeasurements& made = *observer_.profile("p", plugins_);
  EXPECT_EQ(observer_.profile("p", {}), &made);
  EXPECT_EQ(made.number_of("NodeResourcesFit"), 1);
  EXPECT_EQ(made.number_of("Unknown"), std::nullopt);
}

TEST_F(MetricsObserverTest, TimesPointsAndPlugins) {
  ProfileMeasurements& profile = *observer_.profile("p", plugins_);
  profile.point_ran(Point::kPreBindPreFlight, Code::kSkip, milliseconds(1));
  profile.plugin_ran(1, Point::kFilter, Code::kSuccess, milliseconds(1));
  profile.plugin_evaluated(0, Point::kFilter, 5000);
  profile.plugin_evaluated(0, Point::kFilter, 1);
  profile.algorithm_ran(milliseconds(4));
  EXPECT_TRUE(
      shows("scheduler_framework_extension_point_duration_seconds_count{extension_point="
            "\"PreBindPreFlight\",profile=\"p\",status=\"Skip\"} 1"));
  EXPECT_TRUE(
      shows("scheduler_plugin_execution_duration_seconds_count{extension_point=\"Filter\","
            "plugin=\"NodeResourcesFit\",status=\"Success\"} 1"));
  EXPECT_TRUE(
      shows("scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin="
            "\"NodeName\",profile=\"p\"} 5001"));
  EXPECT_TRUE(shows("scheduler_scheduling_algorithm_duration_seconds_sum 0.004"));
}

TEST_F(MetricsObserverTest, SamplesTheFirstCycleOfEveryProfile) {
  EXPECT_TRUE(observer_.profile("p", plugins_)->sample());
  EXPECT_TRUE(observer_.profile("q", plugins_)->sample());
}

TEST_F(MetricsObserverTest, CountsWhatClassesOfPodsSave) {
  ProfileMeasurements& profile = *observer_.profile("p", plugins_);
  profile.searched(false);
  profile.searched(true);
  profile.searched(true);
  EXPECT_TRUE(shows(R"(berth_class_searches_total{profile="p",source="class"} 2)"));
  EXPECT_TRUE(shows(R"(berth_class_searches_total{profile="p",source="nodes"} 1)"));
}

TEST_F(MetricsObserverTest, SamplesATenthOfTheCycles) {
  ProfileMeasurements& profile = *observer_.profile("p", plugins_);
  int sampled = 0;
  for (int i = 0; i < 10000; ++i) sampled += profile.sample() ? 1 : 0;
  EXPECT_GT(sampled, 900);
  EXPECT_LT(sampled, 1100);
}

TEST_F(MetricsObserverTest, CountsWhatEntersTheQueueGatedAmongTheUnschedulable) {
  testing::FakeWorld world;
  const Ref<const Pod> pod = world.pod("a");
  observer_.queued(*pod, QueueName::kActive, "UnscheduledPodAdd");
  observer_.queued(*pod, QueueName::kGated, "UnscheduledPodAdd");
  observer_.queued(*pod, QueueName::kUnschedulable, "UnscheduledPodAdd");
  const std::string incoming = "scheduler_queue_incoming_pods_total{event=\"UnscheduledPodAdd\",";
  EXPECT_TRUE(shows(incoming + "queue=\"active\"} 1"));
  EXPECT_TRUE(shows(incoming + "queue=\"unschedulable\"} 2"));
  EXPECT_EQ(registry_.text().find(incoming + "queue=\"gated\""), std::string::npos);
  observer_.entity_queued(QueuedEntity::kPod, QueueName::kActive, "UnscheduledPodAdd");
  observer_.entity_queued(QueuedEntity::kPod, QueueName::kGated, "UnscheduledPodAdd");
  observer_.entity_queued(QueuedEntity::kPodGroup, QueueName::kActive, "BackoffComplete");
  observer_.entity_queued(QueuedEntity::kPod, QueueName::kActive, "UnscheduledPodAdd");
  const std::string entities = "scheduler_queue_incoming_entities_total{event=";
  EXPECT_TRUE(shows(entities + R"("UnscheduledPodAdd",queue="active",type="pod"} 2)"));
  EXPECT_TRUE(shows(entities + R"("UnscheduledPodAdd",queue="unschedulable",type="pod"} 1)"));
  EXPECT_TRUE(shows(entities + R"("BackoffComplete",queue="active",type="podgroup"} 1)"));
  observer_.wait_ended(*pod, Outcome::success(), seconds(2));
  EXPECT_TRUE(shows("scheduler_permit_wait_duration_seconds_sum{result=\"Success\"} 2"));
}

TEST_F(MetricsObserverTest, ShowsEntitiesOfAQueueOnceThereWereAny) {
  for (const char* queue : {"active", "backoff", "unschedulable", "gated", "incomplete", "pending"})
    EXPECT_TRUE(shows("scheduler_pending_pods{queue=\"" + std::string(queue) + "\"} 0")) << queue;
  EXPECT_FALSE(shows("scheduler_queued_entities"));
  observer_.pending_pods({.active = 2, .gated = 1});
  observer_.pending_pods({.gated = 1});
  EXPECT_TRUE(shows(R"(scheduler_queued_entities{queue="active",type="pod"} 0)"));
  EXPECT_TRUE(shows(R"(scheduler_queued_entities{queue="gated",type="pod"} 1)"));
  EXPECT_FALSE(shows(R"(scheduler_queued_entities{queue="backoff")"));
}

TEST_F(MetricsObserverTest, FollowsTheQueue) {
  observer_.pending_pods({.active = 1, .backoff = 2, .unschedulable = 3, .gated = 4});
  observer_.rejector_changed("p", "NodeName", +1);
  observer_.rejector_changed("p", "NodeName", +1);
  observer_.rejector_changed("p", "NodeName", -1);
  observer_.in_flight_events("PodPopped", 3);
  observer_.in_flight_events("PodPopped", 2);
  observer_.hint_ran("NodeName", "NodeAdd", HintVerdict::kSkip, milliseconds(1), 3);
  EXPECT_TRUE(shows("scheduler_pending_pods{queue=\"backoff\"} 2"));
  EXPECT_TRUE(shows("scheduler_pending_pods{queue=\"gated\"} 4"));
  EXPECT_TRUE(shows("scheduler_unschedulable_pods{plugin=\"NodeName\",profile=\"p\"} 1"));
  EXPECT_TRUE(shows("scheduler_inflight_events{event=\"PodPopped\"} 2"));
  EXPECT_TRUE(
      shows("scheduler_queueing_hint_execution_duration_seconds_count{event=\"NodeAdd\","
            "hint=\"QueueSkip\",plugin=\"NodeName\"} 3"));
}

TEST_F(MetricsObserverTest, CountsBoundPodsByTheirAttempts) {
  observer_.pod_scheduled(1, seconds(1), false);
  observer_.pod_scheduled(14, seconds(1), false);
  observer_.pod_scheduled(15, seconds(1), true);
  observer_.pod_scheduled(400, seconds(1), false);
  const std::string sli = "scheduler_pod_scheduling_sli_duration_seconds_count";
  EXPECT_TRUE(shows(sli + "{attempts=\"1\"} 1"));
  EXPECT_TRUE(shows(sli + "{attempts=\"14\"} 1"));
  EXPECT_TRUE(shows(sli + "{attempts=\"15+\"} 2"));
  EXPECT_TRUE(shows("scheduler_pod_scheduling_attempts_count 4"));
  EXPECT_TRUE(shows("scheduler_pod_scheduled_after_flush_total 1"));
}

TEST_F(MetricsObserverTest, TellsOfPreemptionBindingsAndTheCluster) {
  observer_.preemption_attempted();
  observer_.victims_chosen(3);
  observer_.evictions_began();
  EXPECT_TRUE(shows("scheduler_goroutines{operation=\"DefaultPreemption\"} 1"));
  observer_.evictions_ended(false, seconds(1));
  observer_.running_bindings(7);
  EXPECT_FALSE(shows("prioritizing_extender"));
  observer_.extenders_prioritizing(2);
  observer_.cluster_size(5, 6, 1);
  observer_.event_handled(events::kNodeAdd, milliseconds(1));
  EXPECT_TRUE(shows("scheduler_goroutines{operation=\"DefaultPreemption\"} 0"));
  EXPECT_TRUE(shows("scheduler_goroutines{operation=\"binding\"} 7"));
  EXPECT_TRUE(shows("scheduler_goroutines{operation=\"prioritizing_extender\"} 2"));
  EXPECT_TRUE(shows("scheduler_preemption_attempts_total 1"));
  EXPECT_TRUE(shows("scheduler_preemption_victims_sum 3"));
  EXPECT_TRUE(shows("scheduler_preemption_goroutines_execution_total{result=\"error\"} 1"));
  EXPECT_FALSE(shows("scheduler_preemption_goroutines_duration_seconds")) << "it is deprecated";
  EXPECT_TRUE(shows("scheduler_cache_size{type=\"assumed_pods\"} 1"));
  EXPECT_TRUE(shows("scheduler_event_handling_duration_seconds_count{event=\"NodeAdd\"} 1"));
}

TEST_F(MetricsObserverTest, CountsClaimsAndTheDevicesThatWereWaitedFor) {
  observer_.claim_created(true);
  observer_.claim_created(false);
  observer_.claim_created(false);
  observer_.binding_conditions_waited("p", "gpu.example.com", "timeout", seconds(600), true);
  observer_.binding_conditions_waited("p", "net.example.com", "timeout", seconds(600), false);
  const std::string created =
      "dynamic_resource_allocation_resourceclaim_creates_total{admin_access=\"false\","
      "owner_api_group=\"\",owner_api_kind=\"Pod\",status=";
  EXPECT_TRUE(shows(created + "\"success\"} 1"));
  EXPECT_TRUE(shows(created + "\"failure\"} 2"));
  const std::string labels = "example.com\",profile=\"p\",status=\"timeout\"}";
  const std::string waited = "scheduler_dra_bindingconditions_wait_duration_seconds_sum{driver=\"";
  EXPECT_TRUE(shows(waited + "gpu." + labels + " 600"));
  EXPECT_TRUE(shows(waited + "net." + labels + " 600"));
  const std::string allocated = "scheduler_dra_bindingconditions_allocations_total{driver=\"";
  EXPECT_TRUE(shows(allocated + "gpu." + labels + " 1"));
  EXPECT_FALSE(shows(allocated + "net."));
}

}  // namespace
}  // namespace berth
