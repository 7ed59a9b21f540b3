#include "plugins/coscheduling/coscheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

using config::CoschedulingArgs;

// A plugin and a cluster, without a scheduler around them: what Permit holds is put into the waiting
// pods by hand, and Unreserve is called by hand.
struct CoschedulingTest : ::testing::Test {
  testing::PluginFixture fixture;
  std::unique_ptr<Coscheduling> plugin;
  Loop& loop = fixture.handle().loop;
  WaitingPods& waiting = fixture.handle().waiting_pods;

  CoschedulingTest() { remake({}); }
  void remake(const CoschedulingArgs& args) { plugin = fixture.make<Coscheduling>(args); }

  using Change = std::function<void(CoschedulingPodGroup&)>;
  void group(const std::string& name, std::int32_t min_member, const Change& change = {}) {
    auto made = make_ref<CoschedulingPodGroup>(fixture.world.interner.hold());
    made->name = name;
    made->namespace_name = made->symbols.intern("default");
    made->creation_time = WallTime{100s};
    made->min_member = min_member;
    if (change) change(*made);
    fixture.cluster.put(Ref<const Object>(made.get()));
  }
  void needs(CoschedulingPodGroup& group, const testing::Amounts& amounts) {
    group.min_resources.emplace();
    for (const auto& [name, amount] : amounts)
      group.min_resources->set(group.symbols.intern(name), Quantity::parse(amount).value());
  }
  testing::PodBuilder member(const std::string& name, const std::string& of = "gang") {
    auto pod = fixture.world.pod(name);
    pod.label(std::string(CoschedulingPodGroup::kLabel), of);
    return pod;
  }
  // The watch shows the pod.
  Ref<const Pod> shown(Ref<const Pod> pod) {
    fixture.cluster.see_pod(pod);
    return pod;
  }
  std::vector<Ref<const Pod>> shown(int count) {
    std::vector<Ref<const Pod>> pods;
    for (int i = 0; i < count; ++i) pods.push_back(shown(member(std::string(1, char('a' + i)))));
    return pods;
  }

  std::string pre_filter(const Ref<const Pod>& pod) {
    Cycle cycle(pod, fixture.cluster);
    fixture.cluster.begin_cycle();
    const PreFilterResult result = plugin->pre_filter(cycle);
    EXPECT_FALSE(result.nodes);
    EXPECT_TRUE(result.outcome.ok() || result.outcome.code == Code::kUnschedulableAndUnresolvable);
    return result.outcome.ok() ? "fits" : result.outcome.message();
  }
  std::string post_filter(const Ref<const Pod>& pod) {
    Cycle cycle(pod, fixture.cluster);
    Task<PostFilterResult> task = plugin->post_filter(cycle, {});
    std::string text = "not done";
    TaskSet tasks;
    tasks.spawn([](Task<PostFilterResult>& asked, std::string& told) -> Task<void> {
      const PostFilterResult result = co_await asked;
      EXPECT_EQ(result.outcome.code, Code::kUnschedulable);
      EXPECT_FALSE(result.nominating);
      told = result.outcome.message();
    }(task, text));
    return text;
  }
  // "go", "wait 60s" or why not; `woken`: the pods to activate.
  std::string permit(const Ref<const Pod>& pod, std::vector<std::string>* woken = nullptr) {
    Cycle cycle(pod, fixture.cluster);
    const PermitResult result = plugin->permit(cycle, "n1");
    if (woken)
      for (const Ref<const Pod>& sleeper : cycle.pods_to_activate)
        woken->emplace_back(sleeper->name());
    if (result.outcome.ok()) return "go";
    if (result.outcome.code != Code::kWait) return result.outcome.message();
    EXPECT_THAT(result.outcome.reasons, IsEmpty());
    const PermitHold hold{"Coscheduling", result.timeout};
    waiting.hold(pod, "n1", std::span(&hold, 1));
    return "wait " + std::to_string(result.timeout / 1s) + "s";
  }
  void unreserve(const Ref<const Pod>& pod) {
    Cycle cycle(pod, fixture.cluster);
    plugin->unreserve(cycle, "n1");
  }
  // What has become of a waiting pod, which leaves; "waits" if it does.
  std::string outcome_of(const Ref<const Pod>& pod) {
    std::string text = "waits";
    TaskSet tasks;
    tasks.spawn([](WaitingPods& pods, Uid uid, std::string& told) -> Task<void> {
      WaitingPods::Settled settled = pods.settled(uid);
      const Outcome outcome = co_await settled;
      told = outcome.ok() ? "goes" : outcome.plugin + ": " + outcome.message();
    }(waiting, pod->uid(), text));
    return text;
  }
  void pass(Duration time) { dynamic_cast<VirtualLoop&>(loop).run_until(loop.now() + time); }
};

// ---- PreFilter

TEST_F(CoschedulingTest, LetsPodsWithoutAGroupPass) {
  EXPECT_EQ(pre_filter(fixture.world.pod("p")), "fits");
  EXPECT_EQ(pre_filter(shown(member("a"))), "fits") << "there is no such PodGroup";
  group("gang", 2);
  EXPECT_EQ(pre_filter(shown(member("p", ""))), "fits") << "an empty label is none";
}

TEST_F(CoschedulingTest, RejectsMembersUntilThereAreEnough) {
  group("gang", 3);
  const auto a = shown(member("a"));
  constexpr const char* kTooFew =
      "pre-filter pod a cannot find enough sibling pods, current pods number: ";
  EXPECT_EQ(pre_filter(a), std::string(kTooFew) + "1, minMember of group: 3");
  const auto b = shown(member("b"));
  shown(member("other", "another"));
  shown(member("elsewhere").in("elsewhere"));
  EXPECT_EQ(pre_filter(a), std::string(kTooFew) + "2, minMember of group: 3");
  shown(member("c").on("n1"));
  EXPECT_EQ(pre_filter(a), "fits");
  fixture.cluster.remove_seen_pod(*b);
  EXPECT_EQ(pre_filter(a), std::string(kTooFew) + "2, minMember of group: 3");
}

TEST_F(CoschedulingTest, ReadsThePodGroupAsItIsNow) {
  const auto pods = shown(2);
  group("gang", 3);
  EXPECT_THAT(pre_filter(pods[0]), HasSubstr("minMember of group: 3"));
  group("gang", 2);
  EXPECT_EQ(pre_filter(pods[0]), "fits");
  fixture.cluster.remove(ObjectKind::kCoschedulingPodGroup, "default", "gang");
  group("gang", 4);
  EXPECT_THAT(pre_filter(pods[0]), HasSubstr("minMember of group: 4"));
}

TEST_F(CoschedulingTest, AMemberThatChangesItsLabelIsInTheOtherGroup) {
  group("gang", 2);
  group("other", 2);
  const auto a = shown(member("a")), b = shown(member("b"));
  EXPECT_EQ(pre_filter(a), "fits");
  shown(member("b", "other"));
  EXPECT_THAT(pre_filter(a), HasSubstr("current pods number: 1"));
  shown(member("c", "other"));
  EXPECT_EQ(pre_filter(member("c", "other")), "fits");
}

TEST_F(CoschedulingTest, GatedMembersDoNotCount) {
  group("gang", 2);
  const auto a = shown(member("a"));
  shown(member("b").gate("quota"));
  constexpr const char* kGated =
      "pre-filter pod a cannot proceed due to gated pods in the same PodGroup";
  EXPECT_EQ(pre_filter(a), kGated);
  shown(member("c"));
  EXPECT_EQ(pre_filter(a), "fits") << "enough without the gated one";
  fixture.cluster.remove_seen_pod(*Ref<const Pod>(member("c")));
  EXPECT_EQ(pre_filter(a), kGated);
  shown(member("b"));
  EXPECT_EQ(pre_filter(a), "fits") << "the gate is gone";
}

// ---- minResources

TEST_F(CoschedulingTest, SaysWhatTheClusterLacksForTheWholeGroup) {
  fixture.add_node(fixture.world.node("n1").cpu("2").memory("1Gi").allocatable({{"pods", "10"}}));
  fixture.add_node(fixture.world.node("n2").cpu("2").memory("1Gi").allocatable({{"pods", "10"}}));
  fixture.add_pod(fixture.world.pod("other").cpu("100m").on("n1"));
  group("gang", 2, [this](CoschedulingPodGroup& gang) {
    needs(gang, {{"cpu", "6"}, {"memory", "3Gi"}, {"nvidia.com/gpu", "4"}});
  });
  const auto pods = shown(2);
  EXPECT_EQ(pre_filter(pods[0]),
            "resource gap: map[cpu:{{2100 -3} {<nil>}  DecimalSI} "
            "memory:{{1073741824 0} {<nil>}  BinarySI} "
            "nvidia.com/gpu:{{4 0} {<nil>}  DecimalSI}]");
}

TEST_F(CoschedulingTest, CountsItsMinMemberAsPods) {
  fixture.add_node(fixture.world.node("n1").cpu("9").allocatable({{"pods", "3"}}));
  fixture.add_pod(fixture.world.pod("other").on("n1"));
  group("gang", 3, [this](CoschedulingPodGroup& gang) { needs(gang, {{"cpu", "1"}}); });
  const auto pods = shown(3);
  EXPECT_EQ(pre_filter(pods[0]), "resource gap: map[pods:{{1 0} {<nil>}  DecimalSI}]");
}

TEST_F(CoschedulingTest, ItsOwnPodsTakeNoRoom) {
  fixture.add_node(fixture.world.node("n1").cpu("2").allocatable({{"pods", "2"}}));
  group("gang", 2, [this](CoschedulingPodGroup& gang) { needs(gang, {{"cpu", "2"}}); });
  const auto a = shown(member("a"));
  const Ref<const Pod> b = member("b").cpu("1").on("n1");
  shown(b);
  fixture.add_pod(b);
  EXPECT_EQ(pre_filter(a), "fits");
}

TEST_F(CoschedulingTest, RoomOnceFoundCountsForAWhileUnlessTheGroupFails) {
  fixture.add_node(fixture.world.node("n1").cpu("2").allocatable({{"pods", "10"}}));
  group("gang", 2, [this](CoschedulingPodGroup& gang) { needs(gang, {{"cpu", "2"}}); });
  const auto pods = shown(2);
  EXPECT_EQ(pre_filter(pods[0]), "fits");
  fixture.add_pod(fixture.world.pod("other").cpu("1").on("n1"));
  pass(59s);
  EXPECT_EQ(pre_filter(pods[1]), "fits");
  pass(2s);
  EXPECT_THAT(pre_filter(pods[1]), HasSubstr("resource gap"));
}

TEST_F(CoschedulingTest, AFailureForgetsThatThereWasRoom) {
  fixture.add_node(fixture.world.node("n1").cpu("2").allocatable({{"pods", "10"}}));
  group("gang", 2, [this](CoschedulingPodGroup& gang) { needs(gang, {{"cpu", "2"}}); });
  const auto pods = shown(2);
  EXPECT_EQ(pre_filter(pods[0]), "fits");
  fixture.add_pod(fixture.world.pod("other").cpu("1").on("n1"));
  post_filter(pods[0]);
  EXPECT_THAT(pre_filter(pods[1]), HasSubstr("resource gap"));
}

// ---- Permit

TEST_F(CoschedulingTest, HoldsMembersUntilEnoughHaveAPlace) {
  group("gang", 3);
  const auto pods = shown(3);
  EXPECT_EQ(permit(fixture.world.pod("plain")), "go");
  EXPECT_EQ(permit(pods[0]), "wait 60s");
  EXPECT_EQ(permit(pods[1]), "wait 60s");
  EXPECT_EQ(outcome_of(pods[1]), "waits");
  EXPECT_EQ(permit(pods[2]), "go");
  EXPECT_EQ(outcome_of(pods[0]), "goes");
  EXPECT_EQ(outcome_of(pods[1]), "goes");
}

TEST_F(CoschedulingTest, TheFirstOneWakesTheOthersThatHaveNoPlace) {
  group("gang", 3);
  shown(member("far").in("far"));
  const auto pods = shown(3);
  std::vector<std::string> woken;
  permit(pods[1], &woken);
  EXPECT_THAT(woken, ElementsAre("a", "c"));
  woken.clear();
  permit(pods[0], &woken);
  EXPECT_THAT(woken, IsEmpty());
}

TEST_F(CoschedulingTest, MembersThatHaveANodeCount) {
  group("gang", 3);
  shown(member("running").on("n1"));
  const auto pods = shown(2);
  EXPECT_EQ(permit(pods[0]), "wait 60s");
  const Ref<const Pod> bound = member("a").on("n1");
  shown(bound);  // another scheduler has bound it, say
  EXPECT_EQ(permit(pods[1]), "go");
}

TEST_F(CoschedulingTest, AfterARestartTheBoundOnesAreKnown) {
  group("gang", 2);
  shown(member("running").on("n1"));
  remake({});
  EXPECT_EQ(permit(shown(member("a"))), "go");
}

TEST_F(CoschedulingTest, WithoutAPodGroupNothingGoes) {
  EXPECT_EQ(permit(shown(member("a"))), "PodGroup not found");
}

TEST_F(CoschedulingTest, WaitsAsLongAsTheGroupOrTheConfigurationSays) {
  const auto waits = [&](std::optional<std::int32_t> own, std::int64_t usual) {
    remake({.permit_waiting_time_seconds = usual});
    group("gang", 2, [&](CoschedulingPodGroup& gang) { gang.schedule_timeout_seconds = own; });
    const Ref<const Pod> pod = shown(member("a"));
    const std::string told = permit(pod);
    waiting.reject(pod->uid(), "", "");
    outcome_of(pod);
    return told;
  };
  EXPECT_EQ(waits({}, 60), "wait 60s");
  EXPECT_EQ(waits({}, 20), "wait 20s");
  EXPECT_EQ(waits({}, 0), "wait 60s");
  EXPECT_EQ(waits(7, 20), "wait 7s");
  EXPECT_EQ(waits(0, 20), "wait 20s");
  EXPECT_EQ(waits(0, 0), "wait 0s");
  EXPECT_EQ(waits(-5, 20), "wait -5s");
  EXPECT_EQ(waits({}, std::numeric_limits<std::int64_t>::max()), "wait 900s") << "15 minutes";
}

// ---- rejections

TEST_F(CoschedulingTest, AMemberThatFitsNowhereRejectsThoseThatWait) {
  group("gang", 3);
  const auto pods = shown(3);
  permit(pods[0]);
  EXPECT_EQ(post_filter(pods[1]),
            "PodGroup default/gang gets rejected due to Pod b is unschedulable even after "
            "PostFilter");
  EXPECT_EQ(outcome_of(pods[0]), "Coscheduling: optimistic rejection in PostFilter");
}

TEST_F(CoschedulingTest, ThoseThatAreRejectedDoNotCompleteTheGroupAnyMore) {
  group("gang", 3);
  const auto pods = shown(4);
  permit(pods[0]);
  permit(pods[1]);
  post_filter(pods[2]);
  // Before the binding cycles of the two have run.
  EXPECT_EQ(permit(pods[3]), "wait 60s");
}

TEST_F(CoschedulingTest, OneThatHasJustBeenRejectedByHandDoesNotLetTheOthersGo) {
  group("gang", 3);
  const auto pods = shown(3);
  permit(pods[0]);
  permit(pods[1]);
  waiting.reject(pods[0]->uid(), "", "by hand");
  EXPECT_EQ(permit(pods[2]), "wait 60s");
  EXPECT_EQ(outcome_of(pods[1]), "waits");
  outcome_of(pods[0]);
  unreserve(pods[0]);
  EXPECT_EQ(outcome_of(pods[1]), "Coscheduling: rejection in Unreserve");
  EXPECT_EQ(outcome_of(pods[2]), "Coscheduling: rejection in Unreserve");
}

// As when a cycle that takes long keeps everything else waiting.
TEST_F(CoschedulingTest, OneWhoseTimeIsUpDoesNotLetTheOthersGoBeforeItIsUnreserved) {
  group("gang", 2);
  const auto pods = shown(2);
  Cycle cycle(pods[0], fixture.cluster);
  EXPECT_EQ(plugin->permit(cycle, "n1").timeout, 60s);
  pass(60s);
  EXPECT_EQ(permit(pods[1]), "wait 60s");
  unreserve(pods[0]);
  EXPECT_EQ(outcome_of(pods[1]), "Coscheduling: rejection in Unreserve");
}

TEST_F(CoschedulingTest, AFewMissingMembersRejectNobody) {
  group("gang", 10);
  const auto pods = shown(10);
  for (int i = 0; i < 8; ++i) permit(pods[static_cast<std::size_t>(i)]);
  remake({});  // knows nothing of those
  const auto texts_with = [&](std::int32_t percentage, int assigned) {
    remake({.pod_group_reject_percentage = percentage});
    for (int i = 0; i < assigned; ++i) {
      Cycle cycle(pods[static_cast<std::size_t>(i)], fixture.cluster);
      static_cast<void>(plugin->permit(cycle, "n1"));
    }
    return post_filter(pods[9]);
  };
  EXPECT_EQ(texts_with(10, 9), "");
  EXPECT_THAT(texts_with(10, 8), HasSubstr("gets rejected"));
  EXPECT_EQ(texts_with(20, 8), "");
  EXPECT_EQ(texts_with(0, 10), "") << "enough have a place";
  EXPECT_THAT(texts_with(0, 9), HasSubstr("gets rejected"));
  EXPECT_EQ(texts_with(100, 0), "");
}

TEST_F(CoschedulingTest, OfAPodWithoutAGroupItSaysThatThereIsNone) {
  EXPECT_EQ(post_filter(fixture.world.pod("plain")), "can not find pod group");
  EXPECT_EQ(post_filter(shown(member("a"))), "can not find pod group");
}

TEST_F(CoschedulingTest, AMemberThatLosesItsPlaceTakesThoseThatWaitWithIt) {
  group("gang", 3);
  const auto pods = shown(3);
  permit(pods[0]);
  permit(pods[1]);
  unreserve(pods[2]);
  EXPECT_EQ(outcome_of(pods[0]), "Coscheduling: rejection in Unreserve");
  EXPECT_EQ(outcome_of(pods[1]), "Coscheduling: rejection in Unreserve");
  EXPECT_EQ(permit(pods[2]), "wait 60s") << "nobody has a place any more";
}

TEST_F(CoschedulingTest, AMemberThatIsGoneWhileThePodGroupIsAwayDoesNotCountWhenItIsBack) {
  group("gang", 2);
  const auto pods = shown(2);
  permit(pods[0]);
  fixture.cluster.remove(ObjectKind::kCoschedulingPodGroup, "default", "gang");
  waiting.reject(pods[0]->uid(), "", "");
  outcome_of(pods[0]);
  unreserve(pods[0]);
  group("gang", 2);
  EXPECT_EQ(permit(pods[1]), "wait 60s");
}

TEST_F(CoschedulingTest, ADeletedMemberDoesNotCount) {
  group("gang", 2);
  const auto pods = shown(2);
  permit(pods[0]);
  fixture.cluster.remove_seen_pod(*pods[0]);
  EXPECT_EQ(permit(pods[1]), "wait 60s");
}

TEST_F(CoschedulingTest, AfterARejectionTheGroupBacksOffIfConfigured) {
  remake({.pod_group_backoff_seconds = 10});
  group("gang", 2);
  const auto a = shown(member("a"));
  post_filter(a);
  EXPECT_THAT(pre_filter(a), HasSubstr("cannot find enough sibling pods"))
      << "a group that is not complete does not back off";
  shown(member("b"));
  post_filter(a);
  EXPECT_EQ(pre_filter(a), "podGroup default/gang failed recently");
  pass(9s);
  post_filter(a);  // does not make it longer
  EXPECT_EQ(pre_filter(a), "podGroup default/gang failed recently");
  pass(1s);
  EXPECT_EQ(pre_filter(a), "fits");
}

// ---- QueueSort

TEST_F(CoschedulingTest, SortsByPriorityThenByTheAgeOfTheGroup) {
  group("old", 1, [](CoschedulingPodGroup& old) { old.creation_time = WallTime{50s}; });
  group("gang", 1);
  const auto queued = [](Ref<const Pod> pod, Duration at) {
    QueuedPod made;
    made.pod = std::move(pod);
    made.initial_attempt = WallTime{at};
    return made;
  };
  const auto before = [&](const QueuedPod& a, const QueuedPod& b) {
    EXPECT_TRUE(plugin->less(a, b));
    EXPECT_FALSE(plugin->less(b, a));
  };
  const QueuedPod old = queued(shown(member("z", "old")), 900s);
  const QueuedPod a = queued(shown(member("a")), 800s), b = queued(shown(member("b")), 700s);
  before(queued(fixture.world.pod("high").priority(5), 900s), old);
  before(old, a);
  before(a, b);  // of one group by name
  EXPECT_FALSE(plugin->less(a, a));
  before(queued(fixture.world.pod("early"), 99s), a);
  before(a, queued(fixture.world.pod("late"), 101s));
  before(a, queued(shown(member("stray", "no-such-group")), 101s));
  // By namespace/name, in which "-" comes before "/".
  before(queued(fixture.world.pod("x").in("a-b"), 5s), queued(fixture.world.pod("x").in("a"), 5s));
}

TEST_F(CoschedulingTest, AGroupThatFailedComesLater) {
  group("old", 2, [](CoschedulingPodGroup& old) { old.creation_time = WallTime{50s}; });
  group("gang", 1);
  QueuedPod old, gang;
  old.pod = shown(member("z", "old"));
  gang.pod = shown(member("a"));
  EXPECT_TRUE(plugin->less(old, gang));
  post_filter(old.pod);
  EXPECT_TRUE(plugin->less(gang, old));
  shown(member("y", "old"));
  permit(shown(member("x", "old")));
  EXPECT_EQ(permit(old.pod), "go");
  EXPECT_TRUE(plugin->less(old, gang)) << "complete: the failure is forgotten";
}

// ---- the rest

TEST_F(CoschedulingTest, IsWokenByPlacedPodsAndByPodGroups) {
  const auto events = plugin->events_to_register();
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 2U);
  EXPECT_TRUE(matches((*events)[0].event, events::kAssignedPodAdd));
  EXPECT_FALSE(matches((*events)[0].event, events::kAssignedPodDelete));
  const auto of_group = [&](std::uint32_t actions) {
    return matches((*events)[1].event,
                   {EventResource::kOther, actions, {}, "podgroups.v1alpha1.scheduling.x-k8s.io"});
  };
  EXPECT_TRUE(of_group(action::kAdd));
  EXPECT_TRUE(of_group(action::kUpdate));
  EXPECT_FALSE(of_group(action::kDelete));
  for (const EventRegistration& registration : *events) EXPECT_FALSE(registration.hint);
}

TEST_F(CoschedulingTest, ArgumentsThatMakeNoSenseAreNamed) {
  const auto error = [&](const CoschedulingArgs& args) {
    const auto made = Coscheduling::create(args, fixture.handle());
    return made ? "" : made.error().message;
  };
  EXPECT_EQ(error({}), "");
  EXPECT_EQ(error({.permit_waiting_time_seconds = 0}), "");
  EXPECT_EQ(error({.permit_waiting_time_seconds = -1}),
            "permitWaitingTimeSeconds: Invalid value: -1: must be greater than 0");
  EXPECT_EQ(error({.pod_group_backoff_seconds = -2}),
            "podGroupBackoffSeconds: Invalid value: -2: must be greater than 0");
  EXPECT_EQ(error({.pod_group_reject_percentage = 101}),
            "podGroupRejectPercentage: Invalid value: 101: must be between 0 and 100");
  EXPECT_EQ(error({.permit_waiting_time_seconds = -1, .pod_group_reject_percentage = -1}),
            "[permitWaitingTimeSeconds: Invalid value: -1: must be greater than 0, "
            "podGroupRejectPercentage: Invalid value: -1: must be between 0 and 100]");
}

// ---- what is kept

TEST(PodGroups, EndWithTheirPodsAndObjects) {
  testing::World world;
  Cluster cluster(world.interner.symbols());
  coscheduling::PodGroups groups(cluster);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "g" + std::to_string(i);
    auto object = make_ref<CoschedulingPodGroup>(world.interner.hold());
    object->name = name;
    object->namespace_name = object->symbols.intern("default");
    cluster.put(Ref<const Object>(object.get()));
    const Ref<const Pod> pod =
        world.pod("p" + name).label(std::string(CoschedulingPodGroup::kLabel), name).on("n1");
    cluster.see_pod(pod);
    EXPECT_EQ(groups.size(), 1U);
    ASSERT_NE(groups.find_with_object(*pod), nullptr);
    cluster.remove(*object);
    EXPECT_EQ(groups.find_with_object(*pod), nullptr);
    cluster.remove_seen_pod(*pod);
    EXPECT_EQ(groups.size(), 0U);
  }
}

}  // namespace
}  // namespace berth::plugins
