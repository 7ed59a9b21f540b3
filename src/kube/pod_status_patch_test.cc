#include "kube/pod_status_patch.h"

#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "base/time_text.h"

namespace berth::kube {
namespace {

WallTime wall_time(std::string_view text) { return parse_rfc3339(text).value(); }

const WallTime kBefore = wall_time("2026-11-15T17:31:58Z");
const WallTime kNow = wall_time("2026-11-15T17:32:27.654Z");

PodCondition unschedulable(std::string message) {
  PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = "Unschedulable";
  condition.message = std::move(message);
  condition.last_transition_time = kBefore;
  condition.observed_generation = 1;
  return condition;
}

PodCondition disruption() {
  PodCondition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  condition.message = "default-scheduler: preempting to accommodate a higher priority pod";
  condition.last_transition_time = kNow;
  condition.observed_generation = 1;
  return condition;
}

PodStatusPatch with(PodCondition condition, std::optional<std::string> nominated = {}) {
  return {std::move(condition), std::move(nominated)};
}
PodStatusPatch nominated(std::string node) { return {std::nullopt, std::move(node)}; }

std::string patch_of(const Ref<const Pod>& pod, const PodStatusPatch& patch) {
  return pod_status_patch(*pod, patch, kNow).value_or("nothing");
}

// Of a pod with PodScheduled=True only that is kept.
Ref<const Pod> scheduled(const Ref<const Pod>& pod) {
  PodDraft draft = draft_of(*pod);
  draft.scheduled_condition = true;
  return make_pod(std::move(draft));
}

class PodStatusPatchTest : public ::testing::Test {
 protected:
  World world;
};

// The bodies of the next four are those that kube-scheduler was seen to send.

TEST_F(PodStatusPatchTest, AFirstConditionIsWrittenWhole) {
  EXPECT_EQ(patch_of(world.pod("big"), with(unschedulable("0/1 nodes are available."))),
            R"({"status":{"conditions":[{"lastProbeTime":null,)"
            R"("lastTransitionTime":"2026-11-15T17:31:58Z","message":"0/1 nodes are available.",)"
            R"("observedGeneration":1,"reason":"Unschedulable","status":"False",)"
            R"("type":"PodScheduled"}]}})");
}

TEST_F(PodStatusPatchTest, OfAConditionThatWasThereOnlyWhatDiffers) {
  EXPECT_EQ(patch_of(world.pod("big").condition(unschedulable("1 Insufficient cpu.")),
                     with(unschedulable("1 node(s) had untolerated taint(s)."))),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"message":"1 node(s) had untolerated taint(s).",)"
            R"("type":"PodScheduled"}]}})");
}

TEST_F(PodStatusPatchTest, TheNominatedNodeComesAndGoesInTheSamePatch) {
  EXPECT_EQ(patch_of(world.pod("mid"), with(unschedulable("a"), "n1")),
            R"({"status":{"conditions":[{"lastProbeTime":null,)"
            R"("lastTransitionTime":"2026-11-15T17:31:58Z","message":"a","observedGeneration":1,)"
            R"("reason":"Unschedulable","status":"False","type":"PodScheduled"}],)"
            R"("nominatedNodeName":"n1"}})");
  EXPECT_EQ(patch_of(world.pod("mid").condition(unschedulable("a")).nominated("n1"),
                     with(unschedulable("b"), "")),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"message":"b","type":"PodScheduled"}],"nominatedNodeName":null}})");
}

TEST_F(PodStatusPatchTest, AnotherConditionComesAfterThoseThatAreThere) {
  const std::string expected =
      R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"},)"
      R"({"type":"DisruptionTarget"}],"conditions":[{"lastProbeTime":null,)"
      R"("lastTransitionTime":"2026-11-15T17:32:27Z","message":"default-scheduler: preempting to )"
      R"(accommodate a higher priority pod","observedGeneration":1,)"
      R"("reason":"PreemptionByScheduler","status":"True","type":"DisruptionTarget"}]}})";
  EXPECT_EQ(patch_of(scheduled(world.pod("a").on("n1")), with(disruption())), expected);
  EXPECT_EQ(patch_of(world.pod("a").condition(unschedulable("x")), with(disruption())), expected);
}

TEST_F(PodStatusPatchTest, TheNominatedNodeAlone) {
  EXPECT_EQ(patch_of(world.pod("a"), nominated("n1")), R"({"status":{"nominatedNodeName":"n1"}})");
  EXPECT_EQ(patch_of(world.pod("a").nominated("n1"), nominated("n2")),
            R"({"status":{"nominatedNodeName":"n2"}})");
  EXPECT_EQ(patch_of(world.pod("a").nominated("n1"), nominated("")),
            R"({"status":{"nominatedNodeName":null}})");
}

TEST_F(PodStatusPatchTest, NothingForWhatIsSoAlready) {
  EXPECT_EQ(patch_of(world.pod("a"), {}), "nothing");
  EXPECT_EQ(patch_of(world.pod("a"), nominated("")), "nothing");
  EXPECT_EQ(patch_of(world.pod("a").nominated("n1"), nominated("n1")), "nothing");
  EXPECT_EQ(patch_of(world.pod("a").condition(unschedulable("x")).nominated("n1"),
                     with(unschedulable("x"), "n1")),
            "nothing");
  // It failed again, later, for the same reason.
  PodCondition later = unschedulable("x");
  later.last_transition_time = kNow;
  EXPECT_EQ(patch_of(world.pod("a").condition(unschedulable("x")), with(later)), "nothing");
  // The pod was edited in between.
  later.observed_generation = 2;
  EXPECT_EQ(patch_of(world.pod("a").condition(unschedulable("x")), with(later)), "nothing");
}

TEST_F(PodStatusPatchTest, TheGenerationGoesAlongWithAnythingElse) {
  PodCondition later = unschedulable("y");
  later.observed_generation = 2;
  EXPECT_EQ(patch_of(world.pod("a").condition(unschedulable("x")), with(later)),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"message":"y","observedGeneration":2,"type":"PodScheduled"}]}})");
  later.observed_generation = 0;
  EXPECT_EQ(patch_of(world.pod("a").condition(unschedulable("x")), with(later)),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"message":"y","observedGeneration":null,"type":"PodScheduled"}]}})");
}

TEST_F(PodStatusPatchTest, TheTimeOfTransitionChangesWithTheStatusOnly) {
  PodCondition gated = unschedulable("x");
  gated.status = "Unknown";
  PodCondition wanted = unschedulable("x");
  wanted.last_transition_time.reset();  // now
  EXPECT_EQ(patch_of(world.pod("a").condition(gated), with(wanted)),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"lastTransitionTime":"2026-11-15T17:32:27Z","status":"False",)"
            R"("type":"PodScheduled"}]}})");
}

TEST_F(PodStatusPatchTest, WhatIsNoLongerSaidIsTakenAway) {
  PodCondition probed = unschedulable("x");
  probed.last_probe_time = kBefore;
  PodCondition wanted = unschedulable("");
  wanted.reason = "SchedulerError";
  EXPECT_EQ(patch_of(world.pod("a").condition(probed), with(wanted)),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"lastProbeTime":null,"message":null,"reason":"SchedulerError",)"
            R"("type":"PodScheduled"}]}})");
}

TEST_F(PodStatusPatchTest, AScheduledPodThatIsNotSchedulableAfterAll) {
  EXPECT_EQ(patch_of(scheduled(world.pod("a")), with(unschedulable("x"))),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-11-15T17:31:58Z",)"
            R"("message":"x","observedGeneration":1,"reason":"Unschedulable","status":"False",)"
            R"("type":"PodScheduled"}]}})");
}

TEST_F(PodStatusPatchTest, MessagesWithAnythingInThem) {
  EXPECT_EQ(patch_of(world.pod("a").condition(unschedulable("x")),
                     with(unschedulable("say \"100%\"\n\\ ü"))),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],)"
            R"("conditions":[{"message":"say \"100%\"\n\\ ü","type":"PodScheduled"}]}})");
}

}  // namespace
}  // namespace berth::kube
