#include "queue/group_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "queue/testing/queue_world.h"

namespace berth::testing {
namespace {

struct GroupQueueTest : ::testing::Test, QueueWorld {
  NamedGate gate{"GangScheduling"};

  GroupQueueTest() { profiles.front().pre_enqueue.push_back(&gate); }
  SchedulingQueue& groups_queue() {
    if (!queues_groups_) queue().queue_groups();
    queues_groups_ = true;
    return queue();
  }
  Ref<const PodGroup> group(const std::string& name, std::int32_t priority = 0,
                            std::int32_t min_count = 2) {
    auto made = make_ref<PodGroup>(SymbolHold(world.interner.symbols()));
    made->name = name;
    made->uid = "11111111-0000-0000-0000-0000000000" + std::to_string(10 + name.size() % 10);
    made->symbol = made->symbols.intern(name);
    made->namespace_name = made->symbols.intern("default");
    made->priority = priority;
    made->gang = GangPolicy{min_count};
    return made;
  }
  Ref<const Pod> add_member(const std::string& name, const std::string& of,
                            std::int32_t priority = 0) {
    groups_queue();
    return add(pod(name).group(of).priority(priority));
  }
  // The names of the next group's pods; nothing when a pod, or none, is next.
  std::vector<std::string> pop_members() {
    entity_ = {};
    popped_.clear();
    std::optional<QueuedPod> next = queue().pop();
    std::optional<QueuedGroup> group = queue().take_popped_group();
    if (!next || !group) return {};
    entity_ = group->entity;
    std::vector<std::string> names;
    for (QueuedPod& member : group->members) {
      names.emplace_back(member.pod->name());
      popped_.push_back(std::move(member));
    }
    return names;
  }
  // The popped group's attempt ended; these of its pods come back.
  void ends(GroupEnd end, std::size_t returning) {
    std::set<Uid> uids;
    for (const QueuedPod& member : popped_) uids.insert(member.pod->uid());
    for (std::size_t i = 0; i < popped_.size(); ++i) {
      if (i < returning)
        ASSERT_TRUE(fails(popped_[i], {"NodeResourcesFit"}));
      else
        queue().done(popped_[i].pod->uid());
    }
    queue().group_attempted(entity_, uids, end);
  }
  bool is_ready() { return queue().ready(); }

  QueuedPod entity_;
  std::vector<QueuedPod> popped_;
  bool queues_groups_ = false;
};

TEST_F(GroupQueueTest, PopsAllPodsOfAGroupAtOnce) {
  groups_queue().put_group(group("g"));
  add_member("b", "g");
  wait(seconds(1));
  add_member("a", "g");
  add("single");
  EXPECT_THAT(pop_members(), ElementsAre("b", "a"));  // in the order of their arrival
  EXPECT_EQ(queue().sizes().in_flight, 2u);
  EXPECT_EQ(pop_name(), "single");
  EXPECT_FALSE(is_ready());
}

TEST_F(GroupQueueTest, AGroupStandsAmongPodsByItsPriority) {
  groups_queue().put_group(group("g", 5));
  add("low");
  add(pod("high").priority(10));
  add_member("a", "g", 5);
  EXPECT_EQ(pop_name(), "high");
  EXPECT_THAT(pop_members(), ElementsAre("a"));
  EXPECT_EQ(pop_name(), "low");
}

TEST_F(GroupQueueTest, PodsWaitForTheirPodGroupAndJoinTogether) {
  const auto a = add_member("a", "g");
  add_member("b", "g");
  EXPECT_EQ(queue().sizes().incomplete, 2u);
  EXPECT_FALSE(is_ready());
  EXPECT_TRUE(log.take().empty());  // they are in no queue
  int wakes = 0;
  queue().on_ready([&] { ++wakes; });
  queue().put_group(group("g"));
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(queue().sizes().incomplete, 0u);
  EXPECT_THAT(pop_members(), ElementsAre("a", "b"));
}

TEST_F(GroupQueueTest, OneRefusedMemberGatesTheWholeGroup) {
  groups_queue().put_group(group("g"));
  gate.closed_for = {"b"};
  add_member("a", "g");
  EXPECT_TRUE(is_ready());
  const auto b = add_member("b", "g");
  EXPECT_FALSE(is_ready());
  EXPECT_EQ(queue().sizes().gated, 2u);
  EXPECT_EQ(place(b), kUnschedulable);

  // Nothing changes until it is asked again: by an update of a member, here.
  gate.closed_for.clear();
  Ref<const Pod> after = pod("b").group("g").label("x", "y").version("2").build();
  cluster.see_pod(after);
  queue().update(*b, after);
  EXPECT_THAT(pop_members(), ElementsAre("a", "b"));
}

TEST_F(GroupQueueTest, AGateOpensWhenTheMemberThatHoldsItIsDeleted) {
  groups_queue().put_group(group("g"));
  gate.closed_for = {"b"};
  add_member("a", "g");
  const auto b = add_member("b", "g");
  EXPECT_FALSE(is_ready());
  cluster.remove_seen_pod(*b);
  queue().remove(*b);
  EXPECT_THAT(pop_members(), ElementsAre("a"));
  EXPECT_EQ(queue().sizes().gated, 0u);
}

TEST_F(GroupQueueTest, ArrivalsOfAGatedGroupAskAboutOneMemberOnly) {
  groups_queue().put_group(group("g"));
  int members = 0;
  gate.instead = [&](const Pod&) {
    return members < 100 ? Outcome::unschedulable("too few") : Outcome::success();
  };
  for (members = 1; members < 100; ++members) add_member("p" + std::to_string(members), "g");
  EXPECT_LT(gate.asked, 150);
  EXPECT_FALSE(is_ready());
  members = 100;
  add_member("last", "g");
  EXPECT_EQ(pop_members().size(), 100u);
}

TEST_F(GroupQueueTest, PodsThatComeDuringTheCycleWaitForItsEnd) {
  groups_queue().put_group(group("g"));
  add_member("a", "g");
  ASSERT_THAT(pop_members(), ElementsAre("a"));
  add_member("late", "g");
  EXPECT_EQ(queue().sizes().pending, 1u);
  EXPECT_FALSE(is_ready());
  ends(GroupEnd::kSuccess, 0);
  EXPECT_EQ(queue().sizes().pending, 0u);
  EXPECT_THAT(pop_members(), ElementsAre("late"));
}

TEST_F(GroupQueueTest, WhatASuccessfulGroupLeavesOverIsTriedAtOnce) {
  groups_queue().put_group(group("g"));
  for (const char* name : {"a", "b", "c"}) add_member(name, "g");
  ASSERT_EQ(pop_members().size(), 3u);
  ends(GroupEnd::kSuccess, 1);
  EXPECT_THAT(pop_members(), ElementsAre("a"));
  EXPECT_EQ(entity_.attempts, 2);
}

TEST_F(GroupQueueTest, AnInfeasibleGroupBacksOffByItsSize) {
  groups_queue().put_group(group("g"));
  for (const char* name : {"a", "b", "c", "d"}) add_member(name, "g");
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(pop_members().size(), 4u) << i;
    ends(GroupEnd::kRejected, 4);
    EXPECT_FALSE(is_ready());
    EXPECT_EQ(queue().sizes().backoff, 4u);
    // 1, 2, 4, 8, 16 s, and then the limit of 10 s · √4.
    const double before = clock();
    while (!is_ready()) wait(seconds(1));
    EXPECT_NEAR(clock() - before, std::min(1 << i, 20), 2) << i;
  }
  EXPECT_THAT(log.take(), Contains("backoff a ScheduleAttemptFailure"));
}

TEST_F(GroupQueueTest, ABackingOffGroupIsNotPoppedEarly) {
  groups_queue().put_group(group("g"));
  add_member("a", "g");
  ASSERT_EQ(pop_members().size(), 1u);
  ends(GroupEnd::kRejected, 1);
  EXPECT_FALSE(is_ready());
}

TEST_F(GroupQueueTest, APodWhoseBindingFailedComesBackAfterABackoff) {
  groups_queue().put_group(group("g"));
  add_member("a", "g");
  ASSERT_EQ(pop_members().size(), 1u);
  queue().group_attempted(entity_, {}, GroupEnd::kSuccess);  // it was bound, it seemed
  ASSERT_TRUE(fails(popped_.front()));
  EXPECT_FALSE(is_ready());
  wait(seconds(3));
  EXPECT_THAT(pop_members(), ElementsAre("a"));
}

TEST_F(GroupQueueTest, WithoutItsPodGroupAGroupDissolves) {
  const auto g = group("g");
  groups_queue().put_group(g);
  const auto a = add_member("a", "g");
  queue().remove_group(*g);
  EXPECT_EQ(queue().sizes().incomplete, 1u);
  EXPECT_EQ(queue().sizes().active, 0u);
  EXPECT_FALSE(is_ready());
  queue().put_group(g);
  EXPECT_THAT(pop_members(), ElementsAre("a"));
  queue().remove_group(*g);
  ends(GroupEnd::kRejected, 1);
  EXPECT_EQ(queue().sizes().incomplete, 1u);
  queue().remove(*a);
  EXPECT_EQ(queue().sizes(), QueueSizes{});
}

TEST_F(GroupQueueTest, NothingIsLeftOfDeletedPods) {
  groups_queue().put_group(group("g"));
  const auto a = add_member("a", "g"), b = add_member("b", "g");
  queue().remove(*a);
  EXPECT_EQ(queue().sizes().active, 1u);
  EXPECT_EQ(place(a), kNowhere);
  EXPECT_EQ(place(b), kActive);
  queue().remove(*b);
  EXPECT_EQ(queue().sizes(), QueueSizes{});
  EXPECT_FALSE(is_ready());
  EXPECT_FALSE(queue().pop());
}

TEST_F(GroupQueueTest, ALowerMinCountOpensTheGate) {
  int needed = 2;
  gate.instead = [&](const Pod&) {
    return needed > 1 ? Outcome::unschedulable("too few") : Outcome::success();
  };
  groups_queue().put_group(group("g"));
  add_member("a", "g");
  EXPECT_FALSE(is_ready());
  needed = 1;
  queue().put_group(group("g", 0, 1));
  EXPECT_THAT(pop_members(), ElementsAre("a"));
}

TEST_F(GroupQueueTest, EventsAboutOtherGroupsDoNotWakeAGatedOne) {
  registers("GangScheduling", events::kAssignedPodAdd);
  groups_queue().put_group(group("g"));
  gate.closed_for = {"a"};
  add_member("a", "g");
  gate.closed_for.clear();
  gate.asked = 0;
  queue().move_all(events::kAssignedPodAdd, {}, AnyObject(pod("x").group("h").on("n").build()));
  EXPECT_EQ(gate.asked, 0);
  queue().move_all(events::kAssignedPodAdd, {}, AnyObject(pod("y").group("g").on("n").build()));
  EXPECT_THAT(pop_members(), ElementsAre("a"));
}

TEST_F(GroupQueueTest, ActivationEndsTheBackoffOfTheGroup) {
  groups_queue().put_group(group("g"));
  const auto a = add_member("a", "g");
  ASSERT_EQ(pop_members().size(), 1u);
  ends(GroupEnd::kRejected, 1);
  EXPECT_EQ(place(a), kErrorBackoff);
  queue().activate(std::vector{a});
  EXPECT_THAT(pop_members(), ElementsAre("a"));
}

TEST_F(GroupQueueTest, WithoutTheGateMembersAreOrdinaryPods) {
  add(pod("a").group("g"));
  EXPECT_EQ(pop_name(), "a");
  EXPECT_FALSE(queue().take_popped_group());
}

}  // namespace
}  // namespace berth::testing
