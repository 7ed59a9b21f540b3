#include "berth/pod.h"

#include <gtest/gtest.h>

#include <unordered_set>

#include "api/names.h"
#include "api/testing/builders.h"
#include "base/testing/allocations.h"
#include "base/testing/names.h"

namespace berth {
namespace {

constexpr std::string_view kUuid = "0ab1c2d3-e4f5-6789-abcd-ef0123456789";

TEST(Uid, TheUsualFormIsKeptAsItsBits) {
  const Uid uid = Uid::of(kUuid);
  EXPECT_EQ(uid.high, 0x0ab1c2d3e4f56789U);
  EXPECT_EQ(uid.low, 0xabcdef0123456789U);
}

TEST(Uid, OtherTextsAreHashed) {
  const std::vector<std::string> texts = {
      "uid-1",
      "uid-2",
      "a",
      "b",
      "0AB1C2D3-E4F5-6789-ABCD-EF0123456789",
      "0ab1c2d3-e4f5-6789-abcd-ef012345678",
      "0ab1c2d3-e4f5-6789-abcd-ef01234567890",
      "0ab1c2d3_e4f5-6789-abcd-ef0123456789",
      "0ab1c2d3-e4f5-6789-abcd-ef012345678g",
      "00000000-0000-0000-0000-000000000000",
      std::string(kUuid),
  };
  std::unordered_set<Uid> seen;
  for (const std::string& text : texts) {
    EXPECT_FALSE(Uid::of(text).empty()) << text;
    EXPECT_EQ(Uid::of(text), Uid::of(text));
    seen.insert(Uid::of(text));
  }
  EXPECT_EQ(seen.size(), texts.size());
  EXPECT_TRUE(Uid::of("").empty());
}

TEST(Uid, NumberedTextsDoNotCollide) {
  std::unordered_set<std::uint64_t> high, low;
  for (int i = 0; i < 100'000; ++i) {
    const Uid uid = Uid::of("uid-default-web-" + std::to_string(i));
    high.insert(uid.high);
    low.insert(uid.low);
  }
  // Each half alone is as good as 63 random bits.
  EXPECT_EQ(high.size(), 100'000U);
  EXPECT_EQ(low.size(), 100'000U);
}

TEST(Pod, GivesItsUidBackAsWritten) {
  World world;
  for (const std::string& uid :
       {std::string(kUuid), std::string("uid-1"), std::string("ABC"),
        std::string("00000000-0000-0000-0000-000000000000"), std::string(100'000, 'u')}) {
    const Ref<const Pod> pod = world.pod("p").uid(uid).version("77");
    EXPECT_EQ(pod->uid_text(), uid);
    EXPECT_EQ(pod->resource_version(), "77");
    EXPECT_EQ(pod->uid(), Uid::of(uid));
  }
  PodDraft draft = draft_of(*world.pod("p").build());
  draft.uid.clear();
  EXPECT_EQ(make_pod(std::move(draft))->uid_text(), "");
}

TEST(Pod, HasWhatItsDraftSays) {
  World world;
  PodCondition waiting;
  waiting.type = "PodScheduled";
  waiting.status = "False";
  waiting.reason = "Unschedulable";
  const Ref<const Pod> pod = world.pod("web-1")
                                 .in("shop")
                                 .uid(std::string(kUuid))
                                 .label("app", "web")
                                 .controlled_by("apps/v1", "ReplicaSet", "web")
                                 .cpu("250m")
                                 .priority(7)
                                 .scheduler("mine")
                                 .on("n1")
                                 .nominated("n2")
                                 .phase(PodPhase::kRunning)
                                 .version("123")
                                 .generation(4)
                                 .created(WallTime{std::chrono::seconds(10)})
                                 .started(WallTime{std::chrono::seconds(20)})
                                 .deleted(WallTime{std::chrono::seconds(30)})
                                 .condition(waiting);
  EXPECT_EQ(pod->name(), "web-1");
  EXPECT_EQ(pod->namespace_name(), "shop");
  EXPECT_EQ(pod->full_name(), "shop/web-1");
  EXPECT_EQ(pod->text(pod->labels().get(world.symbol("app"))), "web");
  EXPECT_EQ(pod->text(pod->meta().controller.kind), "ReplicaSet");
  EXPECT_EQ(pod->usage().requests.milli_cpu, 250);
  EXPECT_EQ(pod->priority(), 7);
  EXPECT_EQ(pod->text(pod->scheduler_name()), "mine");
  EXPECT_EQ(pod->node_name(), "n1");
  EXPECT_EQ(pod->node(), world.symbol("n1"));
  EXPECT_EQ(pod->nominated_node_name(), "n2");
  EXPECT_EQ(pod->phase(), PodPhase::kRunning);
  EXPECT_FALSE(pod->finished());
  EXPECT_EQ(pod->resource_version(), "123");
  EXPECT_EQ(pod->generation(), 4);
  EXPECT_EQ(pod->creation_time(), WallTime{std::chrono::seconds(10)});
  EXPECT_EQ(pod->start_time(), WallTime{std::chrono::seconds(20)});
  EXPECT_EQ(pod->deletion_time(), WallTime{std::chrono::seconds(30)});
  EXPECT_TRUE(pod->terminating());
  ASSERT_NE(pod->condition("PodScheduled"), nullptr);
  EXPECT_EQ(pod->condition("PodScheduled")->reason, "Unschedulable");
  EXPECT_EQ(pod->condition("Ready"), nullptr);
}

TEST(Pod, HasNothingThatWasNotSaid) {
  World world;
  const Ref<const Pod> pod = world.pod("p");
  EXPECT_TRUE(pod->node().empty());
  EXPECT_EQ(pod->node_name(), "");
  EXPECT_EQ(pod->creation_time(), std::nullopt);
  EXPECT_EQ(pod->deletion_time(), std::nullopt);
  EXPECT_FALSE(pod->terminating());
  EXPECT_FALSE(pod->scheduled_condition());
  EXPECT_EQ(pod->extra(), nullptr);
  EXPECT_EQ(pod->condition("PodScheduled"), nullptr);
}

TEST(Pod, ATimeAtTheEpochIsStillATime) {
  World world;
  const Ref<const Pod> pod = world.pod("p").deleted(WallTime{});
  EXPECT_TRUE(pod->terminating());
}

TEST(Pod, PhasesThatAreTheEnd) {
  World world;
  for (const PodPhase phase : {PodPhase::kPending, PodPhase::kRunning, PodPhase::kSucceeded,
                               PodPhase::kFailed, PodPhase::kUnknown}) {
    const Ref<const Pod> pod = world.pod("p").phase(phase);
    EXPECT_EQ(pod->phase(), phase);
    EXPECT_EQ(pod->finished(), phase == PodPhase::kSucceeded || phase == PodPhase::kFailed);
  }
}

// All but node, nomination and version.
void expect_alike(const Pod& copy, const Pod& pod) {
  EXPECT_EQ(copy.name(), pod.name());
  EXPECT_EQ(copy.uid(), pod.uid());
  EXPECT_EQ(copy.uid_text(), "odd");
  EXPECT_EQ(copy.meta_ref(), pod.meta_ref());
  EXPECT_EQ(copy.spec_ref(), pod.spec_ref());
  EXPECT_EQ(copy.generation(), pod.generation());
  EXPECT_EQ(copy.phase(), pod.phase());
  EXPECT_TRUE(copy.scheduled_condition());
  EXPECT_EQ(copy.creation_time(), pod.creation_time());
  EXPECT_EQ(copy.start_time(), pod.start_time());
  EXPECT_EQ(copy.deletion_time(), pod.deletion_time());
}

// Something in every field.
Ref<const Pod> unusual_pod(World& world) {
  PodDraft draft = draft_of(*world.pod("p").uid("odd").on("n1").nominated("n2").build());
  draft.resource_version = "7";
  draft.generation = 5;
  draft.phase = PodPhase::kRunning;
  draft.creation_time = WallTime{std::chrono::seconds(1)};
  draft.start_time = WallTime{std::chrono::seconds(2)};
  draft.deletion_time = WallTime{std::chrono::seconds(3)};
  draft.scheduled_condition = true;
  draft.extra = std::make_unique<PodExtra>(world.interner.hold());
  draft.extra->conditions.push_back({"PodReadyToStart", "True", "r", "m", {}, {}, 3});
  StatusResources resources;
  resources.container = draft.extra->symbols.intern("main");
  resources.requests = ResourceList({{names::kCpu, Quantity::of(3)}});
  draft.extra->container_resources.push_back(resources);
  return make_pod(std::move(draft));
}

void expect_same_extra(const Pod& copy, const Pod& pod) {
  ASSERT_NE(copy.extra(), nullptr);
  EXPECT_NE(copy.extra(), pod.extra());
  EXPECT_EQ(copy.extra()->conditions, pod.extra()->conditions);
  EXPECT_EQ(copy.extra()->container_resources, pod.extra()->container_resources);
  EXPECT_EQ(copy.usage().requests, pod.usage().requests);
  EXPECT_EQ(copy.usage().requests.milli_cpu, 3000);
}

TEST(Pod, APodMadeOfItsOwnDraftIsTheSame) {
  World world;
  const Ref<const Pod> pod = unusual_pod(world);
  const Ref<const Pod> copy = make_pod(draft_of(*pod));
  expect_alike(*copy, *pod);
  expect_same_extra(*copy, *pod);
  EXPECT_EQ(copy->node(), pod->node());
  EXPECT_EQ(copy->nominated_node(), pod->nominated_node());
  EXPECT_EQ(copy->resource_version(), "7");
}

TEST(Pod, OnAnotherNodeAllElseStaysTheSame) {
  World world;
  Ref<const Pod> pod = unusual_pod(world);
  const Ref<const Pod> copy = with_node(*pod, "n3");
  expect_alike(*copy, *pod);
  expect_same_extra(*copy, *pod);
  EXPECT_EQ(copy->resource_version(), "7");
  pod = {};
  EXPECT_EQ(copy->node_name(), "n3");
  EXPECT_EQ(copy->nominated_node_name(), "n2") << "held by the copy itself";
}

TEST(Pod, BoundItIsScheduledAndNothingUnusualIsLeft) {
  World world;
  const Ref<const Pod> pod = unusual_pod(world);
  const Ref<const Pod> bound = bound_to(*pod, "n3", "12");
  expect_alike(*bound, *pod);
  EXPECT_EQ(bound->node_name(), "n3");
  EXPECT_EQ(bound->nominated_node_name(), "");
  EXPECT_EQ(bound->resource_version(), "12");
  EXPECT_EQ(bound->extra(), nullptr);
  EXPECT_TRUE(bound_to(*world.pod("q").build(), "n3", "1")->scheduled_condition());
}

TEST(Pod, LetsGoOfItsNodesNames) {
  World world;
  const Ref<const Pod> other = world.pod("other");  // keeps the shared parts
  const std::size_t before = world.interner.symbols()->size();
  {
    const Ref<const Pod> pod = world.pod("p").on("some-node").nominated("another-node");
    EXPECT_EQ(world.interner.symbols()->size(), before + 2);
  }
  EXPECT_EQ(world.interner.symbols()->size(), before);
}

TEST(Pod, ABoundPodIsSmall) {
  World world;
  constexpr std::size_t kPods = 10'000;
  PodDraft model = draft_of(*world.pod("model").label("app", "web").cpu("1").on("n1").build());
  std::vector<Ref<const Pod>> pods;
  pods.reserve(kPods);
  const std::size_t before = testing::live_bytes();
  for (std::size_t i = 0; i < kPods; ++i) {
    PodDraft draft;
    draft.spec = model.spec;
    draft.meta = model.meta;
    draft.node_name = "n1";
    const std::string number = std::to_string(10'000 + i);
    draft.name = "web-7d4b9c6f5-" + number;
    draft.uid = "0ab1c2d3-e4f5-6789-abcd-ef01234" + number;
    draft.resource_version = "1234567890";
    draft.scheduled_condition = true;
    draft.creation_time = draft.start_time = WallTime{std::chrono::seconds(1)};
    pods.push_back(make_pod(std::move(draft)));
  }
  const std::size_t bytes = (testing::live_bytes() - before) / kPods;
  EXPECT_LE(bytes, 176U);
  EXPECT_GE(bytes, sizeof(Pod)) << "the counting must work";
  EXPECT_EQ(pods.back()->name(), "web-7d4b9c6f5-19999");
  EXPECT_EQ(pods.back()->uid_text(), "0ab1c2d3-e4f5-6789-abcd-ef0123419999");
}

}  // namespace
}  // namespace berth
