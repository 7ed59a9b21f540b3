#include "controllers/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"

namespace berth::controllers {
namespace {

TEST(Workloads, ShareOfATotal) {
  EXPECT_EQ(scaled_value("3", 10, true, 0), 3);
  EXPECT_EQ(scaled_value("25%", 10, true, 0), 3);
  EXPECT_EQ(scaled_value("25%", 10, false, 0), 2);
  EXPECT_EQ(scaled_value("many", 10, false, 7), 7);
  EXPECT_EQ(scaled_value("", 10, false, 7), 7);
}

TEST(NameSuffix, IsFiveLettersAndDigitsThatFollowFromTheSeed) {
  EXPECT_THAT(name_suffix("web", 1), MatchesRegex("[bcdfghjklmnpqrstvwxz2456789]{5}"));
  EXPECT_EQ(name_suffix("web", 1), name_suffix("web", 1));
  EXPECT_NE(name_suffix("web", 1), name_suffix("web", 2));
  EXPECT_NE(name_suffix("web", 1), name_suffix("db", 1));
}

TEST(ReadWorkload, WhatIsNotSaidIsWhatAnAPIServerFillsIn) {
  const Workload deployment = read_workload(ObjectKind::kDeployment, R"({"spec":{}})").value();
  EXPECT_EQ(deployment.replicas, 1);
  EXPECT_EQ(deployment.deployment.max_surge, "25%");
  EXPECT_EQ(deployment.deployment.max_unavailable, "25%");
  EXPECT_EQ(deployment.deployment.progress_deadline, 600s);
  const Workload job = read_workload(ObjectKind::kJob, R"({"spec":{}})").value();
  EXPECT_EQ(job.job.parallelism, 1);
  EXPECT_EQ(job.job.completions, 1);
  EXPECT_EQ(job.job.backoff_limit, 6);
  const Workload queue = read_workload(ObjectKind::kJob, R"({"spec":{"parallelism":3}})").value();
  EXPECT_EQ(queue.job.parallelism, 3);
  EXPECT_EQ(queue.job.completions, std::nullopt) << "done when one has succeeded, and all ended";
}

TEST(ReadWorkload, ReadsNumbersSharesTemplatesAndWhatWasWrittenLast) {
  const Workload read =
      read_workload(ObjectKind::kStatefulSet,
                    R"({"metadata":{"name":"db","namespace":"shop","uid":"u","generation":4},)"
                    R"("spec":{"replicas":3,"minReadySeconds":5,"podManagementPolicy":"Parallel",)"
                    R"("ordinals":{"start":2},"updateStrategy":{"type":"OnDelete",)"
                    R"("rollingUpdate":{"partition":1,"maxUnavailable":2}},)"
                    R"("template":{"spec":{}},"volumeClaimTemplates":[)"
                    R"({"metadata":{"name":"data"},"spec":{}}]},)"
                    R"("status":{"readyReplicas":2,"currentRevision":"db-1"}})")
          .value();
  EXPECT_EQ(read.key(), "shop/db");
  EXPECT_EQ(read.generation, 4);
  EXPECT_EQ(read.replicas, 3);
  EXPECT_EQ(read.min_ready, 5s);
  EXPECT_FALSE(read.stateful_set.ordered);
  EXPECT_EQ(read.stateful_set.first_ordinal, 2);
  EXPECT_EQ(read.stateful_set.partition, 1);
  EXPECT_FALSE(read.replaces_old_pods);
  EXPECT_EQ(read.daemons_unavailable, "2");
  EXPECT_EQ(read.template_json, R"({"spec":{}})");
  ASSERT_EQ(read.stateful_set.claim_templates.size(), 1U);
  EXPECT_EQ(read.stateful_set.claim_templates[0].name, "data");
  EXPECT_EQ(read.status.ready, 2);
  EXPECT_EQ(read.status.current_revision, "db-1");
}

TEST(ReadWorkload, NumbersOutsideTheirRangeAreBroughtIntoIt) {
  const Workload deployment =
      read_workload(ObjectKind::kDeployment,
                    R"({"spec":{"revisionHistoryLimit":-1,"minReadySeconds":-5,)"
                    R"("progressDeadlineSeconds":9223372036854775807}})")
          .value();
  EXPECT_EQ(deployment.deployment.revision_history_limit, 0);
  EXPECT_EQ(deployment.min_ready, 0s);
  EXPECT_EQ(deployment.deployment.progress_deadline, 2147483647s);
  const Workload job =
      read_workload(ObjectKind::kJob,
                    R"({"spec":{"completions":2147483647,"completionMode":"Indexed"}})")
          .value();
  EXPECT_EQ(job.job.completions, 100'000);
}

TEST(PodFacts, AReadyPodIsAvailableAtOnceWithoutMinReadySeconds) {
  const WallTime now = WallTime{} + 1h;
  PodFacts pod;
  EXPECT_FALSE(pod.available(0s, now));
  pod.ready_since = now + 1min;  // another clock said so
  EXPECT_TRUE(pod.available(0s, now));
  EXPECT_FALSE(pod.available(10s, now));
  EXPECT_TRUE(pod.available(10s, now + 70s));
}

TEST(ReadWorkload, MistakesNameTheField) {
  const Result<Workload> read =
      read_workload(ObjectKind::kJob, R"({"spec":{"parallelism":"three"}})");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("spec.parallelism: expected an integer"));
}

}  // namespace
}  // namespace berth::controllers
