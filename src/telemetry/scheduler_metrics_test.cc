// The table against what upstream's binary showed (testing/upstream_families.tsv).
#include "telemetry/scheduler_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "telemetry/process_metrics.h"

namespace berth::telemetry {
namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) parts.push_back(part);
  return parts;
}

struct Upstream {
  std::string type;
  std::vector<std::string> labels;
  std::vector<std::string> bounds;
  std::string help;
};

std::map<std::string, Upstream> upstream_families() {
  std::map<std::string, Upstream> families;
  std::ifstream file(BERTH_UPSTREAM_FAMILIES);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::vector<std::string> columns = split(line, '\t');
    columns.resize(5);
    families[columns[0]] = {columns[1], split(columns[2], ','), split(columns[3], ','), columns[4]};
  }
  return families;
}

std::map<std::string, MetricSpec> our_families() {
  static Registry registry;  // the specs' text is static
  registry.add_self_metrics();
  SchedulerMetrics scheduler(registry);
  PodGroupMetrics groups(registry);
  PlacementMetrics placements(registry);
  ClientMetrics client(registry);
  WatchMetrics watch(registry);
  WorkQueueMetrics work_queues(registry);
  LeaderElectionMetrics leader(registry);
  ServingMetrics serving(registry);
  ProcessInfoMetrics info(registry);
  HealthMetrics health(registry);
  add_process_metrics(registry);
  std::map<std::string, MetricSpec> families;
  for (const MetricSpec& spec : registry.specs()) families.emplace(spec.name, spec);
  families.emplace("kube_pod_resource_request", pod_resource_request_spec());
  families.emplace("kube_pod_resource_limit", pod_resource_limit_spec());
  return families;
}

TEST(SchedulerMetrics, HaveTypesLabelsBucketsAndHelpOfUpstream) {
  const std::map<std::string, Upstream> expected = upstream_families();
  const std::map<std::string, MetricSpec> ours = our_families();
  ASSERT_GT(expected.size(), 70u);
  for (const auto& [name, upstream] : expected) {
    ASSERT_TRUE(ours.contains(name)) << name;
    const MetricSpec& spec = ours.at(name);
    EXPECT_EQ(to_string(spec.type), upstream.type) << name;
    std::vector<std::string> labels(spec.labels.begin(), spec.labels.end());
    std::ranges::sort(labels);
    EXPECT_EQ(labels, upstream.labels) << name;
    std::vector<std::string> bounds;
    for (const double bound : spec.buckets) bounds.push_back(go_float(bound));
    if (!bounds.empty()) bounds.emplace_back("+Inf");
    EXPECT_EQ(bounds, upstream.bounds) << name;
    std::string help;
    if (spec.stability != Stability::kNone)
      help = "[" + std::string(to_string(spec.stability)) + "] ";
    help += spec.help;
    // On /metrics/slis, the last place where it was seen, this one has a stability.
    if (name == "process_start_time_seconds") help = "[ALPHA] " + help;
    EXPECT_EQ(help, upstream.help) << name;
  }
}

TEST(SchedulerMetrics, OneFamilyIsDeprecated) {
  std::vector<std::string_view> deprecated;
  for (const auto& [name, spec] : our_families())
    if (!spec.deprecated.empty()) deprecated.push_back(spec.name);
  EXPECT_EQ(deprecated,
            (std::vector<std::string_view>{"scheduler_preemption_goroutines_duration_seconds"}));
}

TEST(SchedulerMetrics, ThoseThatNeedACauseAreThereToo) {
  const std::map<std::string, MetricSpec> ours = our_families();
  const struct {
    const char* name;
    MetricType type;
    Stability stability;
    std::vector<std::string_view> labels;
    std::size_t buckets;
  } cases[] = {
      {"scheduler_permit_wait_duration_seconds",
       MetricType::kHistogram,
       Stability::kBeta,
       {"result"},
       15},
      {"scheduler_volume_binder_cache_requests_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"operation"},
       0},
      {"scheduler_volume_scheduling_stage_error_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"operation"},
       0},
      {"dynamic_resource_allocation_resourceclaim_creates_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"status", "admin_access", "owner_api_group", "owner_api_kind"},
       0},
      {"scheduler_pre_queueing_hint_evaluations_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"plugin", "result"},
       0},
      {"scheduler_batch_rescore_attempts_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"profile"},
       0},
      {"scheduler_batch_rescore_duration_seconds",
       MetricType::kHistogram,
       Stability::kAlpha,
       {"profile"},
       12},
      {"scheduler_preemption_goroutines_duration_seconds",
       MetricType::kHistogram,
       Stability::kAlpha,
       {"result"},
       20},
      {"scheduler_workload_preemption_attempts_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"result"},
       0},
      {"scheduler_workload_preemption_victims", MetricType::kHistogram, Stability::kAlpha, {}, 11},
      {"scheduler_preemption_workload_disruptions",
       MetricType::kHistogram,
       Stability::kAlpha,
       {"preemptor"},
       11},
      {"scheduler_preemption_evaluation_duration_seconds",
       MetricType::kHistogram,
       Stability::kAlpha,
       {"preemptor", "result"},
       16},
      {"scheduler_preemption_execution_duration_seconds",
       MetricType::kHistogram,
       Stability::kAlpha,
       {"preemptor", "result"},
       16},
      {"scheduler_preemption_pdb_violations_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"preemptor"},
       0},
      {"scheduler_generated_placements_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"profile"},
       0},
      {"scheduler_placement_evaluations_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"result", "profile"},
       0},
      {"scheduler_placement_evaluation_duration_seconds",
       MetricType::kHistogram,
       Stability::kAlpha,
       {"result", "profile"},
       15},
      {"scheduler_dra_bindingconditions_allocations_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"profile", "driver", "status"},
       0},
      {"scheduler_dra_bindingconditions_wait_duration_seconds",
       MetricType::kHistogram,
       Stability::kAlpha,
       {"profile", "driver", "status"},
       14},
      {"scheduler_podgroup_schedule_attempts_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"result", "profile"},
       0},
      {"scheduler_podgroup_scheduling_attempt_duration_seconds",
       MetricType::kHistogram,
       Stability::kAlpha,
       {"result", "profile"},
       15},
      {"scheduler_podgroup_scheduling_algorithm_duration_seconds",
       MetricType::kHistogram,
       Stability::kAlpha,
       {},
       15},
      {"rest_client_request_retries_total",
       MetricType::kCounter,
       Stability::kAlpha,
       {"code", "verb", "host"},
       0},
      {"leader_election_slowpath_total", MetricType::kCounter, Stability::kAlpha, {"name"}, 0},
  };
  for (const auto& one : cases) {
    ASSERT_TRUE(ours.contains(one.name)) << one.name;
    const MetricSpec& spec = ours.at(one.name);
    EXPECT_EQ(spec.type, one.type) << one.name;
    EXPECT_EQ(spec.stability, one.stability) << one.name;
    EXPECT_EQ(spec.labels, one.labels) << one.name;
    EXPECT_EQ(spec.buckets.size(), one.buckets) << one.name;
    EXPECT_FALSE(spec.help.empty()) << one.name;
  }
}

}  // namespace
}  // namespace berth::telemetry
