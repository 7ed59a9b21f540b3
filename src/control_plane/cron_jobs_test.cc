#include <gtest/gtest.h>

#include "control_plane/testing/small_cluster.h"

namespace berth::control_plane::testing {
namespace {

using std::chrono::minutes;

const std::string kCronJobs = "/apis/batch/v1/namespaces/default/cronjobs";

TEST(CronJobs, RunTheirJobsAndKeepTheLast) {
  SmallCluster cluster;
  cluster.add_node("n");
  cluster.post(kCronJobs,
               R"({"metadata":{"name":"tick"},"spec":{"schedule":"* * * * *",)"
               R"("successfulJobsHistoryLimit":2,"jobTemplate":{"metadata":{"labels":{"a":"b"}},)"
               R"("spec":{"template":{"spec":{"restartPolicy":"Never",)"
               R"("containers":[{"name":"c","image":"i"}]}}}}}})");
  ASSERT_EQ(cluster.code, 201);
  cluster.pass(minutes(5));
  const Resource& jobs = resource_of("jobs", "batch");
  const std::vector<std::string> names = cluster.names(jobs);
  ASSERT_EQ(names.size(), 2u);
  const JsonValue job = cluster.get("/apis/batch/v1/namespaces/default/jobs/" + names[0]);
  EXPECT_EQ(text_at(job, "metadata.labels.a"), "b");
  EXPECT_EQ(text_at(*controller_of(job), "name"), "tick");
  EXPECT_NE(
      at(job, "metadata.annotations")->find("batch.kubernetes.io/cronjob-scheduled-timestamp"),
      nullptr);
  const JsonValue cron = cluster.get(kCronJobs + "/tick");
  EXPECT_FALSE(text_at(cron, "status.lastScheduleTime").empty());
  EXPECT_FALSE(text_at(cron, "status.lastSuccessfulTime").empty());

  cluster.remove(kCronJobs + "/tick");
  cluster.pass(minutes(2));
  EXPECT_TRUE(cluster.names(jobs).empty());
}

TEST(CronJobs, NameTheJobThatRuns) {
  SmallCluster cluster({"cronjob-controller"});
  cluster.post(kCronJobs,
               R"({"metadata":{"name":"tick"},"spec":{"schedule":"* * * * *",)"
               R"("concurrencyPolicy":"Forbid","jobTemplate":{"spec":{"template":{"spec":{)"
               R"("restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}})");
  cluster.pass(minutes(3));
  const JsonValue cron = cluster.get(kCronJobs + "/tick");
  const auto& active = items_at(cron, "status.active");
  ASSERT_EQ(active.size(), 1u);
  EXPECT_EQ(text_at(active[0], "kind"), "Job");
  EXPECT_EQ(cluster.names(resource_of("jobs", "batch")).size(), 1u);
}

}  // namespace
}  // namespace berth::control_plane::testing
