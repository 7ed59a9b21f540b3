#include "controllers/pod_group.h"

#include <gtest/gtest.h>

#include "berth/interner.h"

namespace berth::controllers {
namespace {

struct PodGroupStatus : ::testing::Test {
  Interner interner;
  Ref<CoschedulingPodGroup> group = make_ref<CoschedulingPodGroup>(interner.hold());
  PodGroupStatus() { group->min_member = 3; }

  // The phase after one look.
  std::string look(const std::string& phase, const GroupPods& pods) {
    group->status.phase = phase;
    return next_status(*group, pods).phase;
  }
};

TEST_F(PodGroupStatus, GoesFromPhaseToPhase) {
  EXPECT_EQ(look("", {}), "Pending");
  EXPECT_EQ(look("", {.running = 3}), "Pending") << "one step at a time";
  EXPECT_EQ(look("Pending", {.others = 2}), "Pending");
  EXPECT_EQ(look("Pending", {.others = 3}), "Scheduling");
  EXPECT_EQ(look("Scheduling", {.running = 2, .others = 1}), "Scheduling");
  EXPECT_EQ(look("Scheduling", {.running = 2, .succeeded = 1}), "Running");
  EXPECT_EQ(look("Running", {.running = 1, .others = 2}), "Scheduling");
  EXPECT_EQ(look("Running", {.running = 2}), "Pending") << "too few pods";
  EXPECT_EQ(look("Running", {.succeeded = 3}), "Finished");
  EXPECT_EQ(look("Running", {.running = 2, .failed = 1}), "Failed");
  EXPECT_EQ(look("Running", {.running = 1, .failed = 1, .others = 1}), "Scheduling")
      << "others may still run";
  EXPECT_EQ(look("Running", {.succeeded = 3, .failed = 1}), "Finished");
  EXPECT_EQ(look("Unknown", {.running = 3}), "Running");
}

TEST_F(PodGroupStatus, EndsOnce) {
  for (const char* end : {"Finished", "Failed"}) {
    EXPECT_EQ(look(end, {.running = 3}), end);
    EXPECT_EQ(next_status(*group, {.running = 3}).running, 0);
  }
}

TEST_F(PodGroupStatus, CountsPodsOnceTheGroupIsBeingScheduled) {
  group->status.phase = "Pending";
  EXPECT_EQ(next_status(*group, {.running = 3}).running, 0);
  group->status.phase = "Scheduling";
  const auto status = next_status(*group, {.running = 1, .succeeded = 2, .failed = 4});
  EXPECT_EQ(status.running, 1);
  EXPECT_EQ(status.succeeded, 2);
  EXPECT_EQ(status.failed, 4);
  EXPECT_EQ(next_status(*group, {.running = 1}).running, 1) << "also of one with too few pods";
}

TEST_F(PodGroupStatus, NamesWhoseItIs) {
  group->status.phase = "Pending";
  EXPECT_EQ(next_status(*group, {.others = 3, .owner = "ml/job"}).occupied_by, "ml/job");
  group->status.occupied_by = "ml/before";
  EXPECT_EQ(next_status(*group, {.others = 3}).occupied_by, "ml/before");
  EXPECT_EQ(next_status(*group, {.others = 1, .owner = "ml/job"}).occupied_by, "ml/before");
}

}  // namespace
}  // namespace berth::controllers
