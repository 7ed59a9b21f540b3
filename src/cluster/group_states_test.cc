#include "cluster/group_states.h"

#include <gtest/gtest.h>

#include "api/testing/builders.h"

namespace berth {
namespace {

struct GroupStatesTest : ::testing::Test {
  berth::testing::World world;
  GroupStates states;

  Ref<const Pod> member(std::string name, std::string node = {}) {
    auto builder = world.pod(std::move(name));
    builder.group("g");
    if (!node.empty()) builder.on(node);
    return builder.build();
  }
  std::vector<std::size_t> counts(const Pod& of) {
    const GroupState* state = states.find(pod_group_of(of));
    if (!state) return {};
    return {state->counts[0], state->counts[1], state->counts[2]};
  }
};

using MemberCounts = std::vector<std::size_t>;

TEST_F(GroupStatesTest, CountsPodsByHowFarTheyAre) {
  const auto a = member("a"), b = member("b"), c = member("c", "n1");
  for (const auto& pod : {a, b, c}) states.see(pod);
  EXPECT_EQ(counts(*a), (MemberCounts{2, 0, 1}));
  states.assume(*a);
  EXPECT_EQ(counts(*a), (MemberCounts{1, 1, 1}));
  EXPECT_EQ(states.find(pod_group_of(*a))->scheduled(), 2u);
  states.see(member("a"));  // an update of the pod says nothing about its place
  EXPECT_EQ(counts(*a), (MemberCounts{1, 1, 1}));
  states.see(member("a", "n1"));
  EXPECT_EQ(counts(*a), (MemberCounts{1, 0, 2}));
  states.forget(*a);  // too late: it is bound
  EXPECT_EQ(counts(*a), (MemberCounts{1, 0, 2}));
}

TEST_F(GroupStatesTest, APodThatGivesUpItsPlaceIsUnscheduledAgain) {
  const auto a = member("a");
  states.see(a);
  states.assume(*a);
  states.forget(*a);
  EXPECT_EQ(counts(*a), (MemberCounts{1, 0, 0}));
}

TEST_F(GroupStatesTest, NothingIsKeptOfAGroupWithoutPods) {
  const auto a = member("a"), b = member("b");
  states.see(a);
  states.see(b);
  states.remove(*a);
  EXPECT_EQ(counts(*b), (MemberCounts{1, 0, 0}));
  states.remove(*a);  // again
  states.remove(*b);
  EXPECT_EQ(states.groups(), 0u);
  states.assume(*b);
  EXPECT_EQ(states.groups(), 0u);
}

}  // namespace
}  // namespace berth
