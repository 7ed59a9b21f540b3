// DynamicResources: claims that are made for extended resources.
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/dynamic_resources/testing/binding_fixture.h"

namespace berth::plugins {
namespace {

using Writes = std::vector<std::string>;

const Error kNotAllowed{ErrorKind::kForbidden, "not allowed"};

class ExtendedBindingTest : public BindingTest {
 protected:
  ExtendedBindingTest() {
    fixture.add(device_class("gpus", "", "extendedResourceName: example.com/gpu"));
    PodBuilder builder = fixture.pod("p");
    builder.container({{"example.com/gpu", "1"}});
    builder.spec().containers[0].name = builder.symbol("main");
    pod = builder;
  }
  // The claim that was made for the pod; empty when there is none.
  std::string created() const {
    for (const std::string& name : server.names())
      if (name.starts_with("p-extended-resources-")) return name;
    return {};
  }
  Ref<const Pod> pod;
};

TEST_F(ExtendedBindingTest, TheClaimIsCreatedAllocatedAndToldInThePodsStatus) {
  Attempt attempt(fixture, pod);
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(fixture.taken(), "d1");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), (Writes{"create p-extended-resources-", "update " + created(),
                              "status " + created(), "patch p"}));
  EXPECT_EQ(fixture.stored(created()), "d1 @n1 for p +f");
  const ResourceClaim& stored = server.stored(created());
  ASSERT_EQ(stored.spec.requests.size(), 1U);
  EXPECT_EQ(stored.symbols.text(stored.spec.requests[0].name), "container-0-request-0");
  ASSERT_EQ(server.patches.size(), 1U);
  EXPECT_EQ(server.patches[0].second.extended_resource_claim,
            (PodExtendedResourceClaimStatus{{{"main", "example.com/gpu", "container-0-request-0"}},
                                            created()}));
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(ExtendedBindingTest, DevicesStayTakenUntilTheWatchShowsTheClaim) {
  fixture.plugin();
  server.keep_back();
  AttemptInPreBind attempt(fixture, pod, "n1");
  fixture.run_for(60s);
  EXPECT_EQ(attempt.bound(), "…");
  EXPECT_EQ(pending(), 1U);
  EXPECT_EQ(fixture.taken(), "d1");
  server.show();
  fixture.run_for(1s);
  EXPECT_EQ(attempt.bound(), "ok");
  EXPECT_EQ(pending(), 0U);
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(ExtendedBindingTest, DevicesStayTakenAlsoWhenNobodyWaitsForTheClaimAnyMore) {
  fixture.plugin();
  server.keep_back();
  AttemptInPreBind attempt(fixture, pod, "n1");
  attempt.cancel.cancel("preempted");
  fixture.run_for(1s);
  EXPECT_NE(attempt.bound(), "…");
  EXPECT_EQ(fixture.taken(), "d1") << "the claim is written, the watch has yet to show it";
  EXPECT_EQ(pending(), 2U) << "as the pod's own, and as the server's";
  server.show();
  fixture.run_for(1s);
  EXPECT_EQ(pending(), 1U) << "until Unreserve";
  EXPECT_EQ(fixture.taken(), "d1");
}

TEST_F(ExtendedBindingTest, AClaimThatNeverShowsUpIsNoReasonToFail) {
  fixture.plugin();
  server.keep_back();
  AttemptInPreBind attempt(fixture, pod, "n1");
  fixture.run_for(120s);
  EXPECT_EQ(attempt.bound(), "ok");
}

TEST_F(ExtendedBindingTest, WhatFailsIsUndoneAndTheClaimDeleted) {
  struct Case {
    std::string verb;
    std::string error;
    bool created;
  };
  const std::vector<Case> cases = {
      {"create", "create claim for extended resources default/: not allowed", false},
      {"update", "add finalizer to claim default/{}: not allowed", true},
      {"status", "add allocation and reservation to claim default/{}: not allowed", true},
      {"patch", "update pod default/p ExtendedResourceClaimStatus: not allowed", true},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.verb);
    Attempt attempt(fixture, pod);
    EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
    server.fails(row.verb, kNotAllowed);
    const std::string outcome = attempt.pre_bind("n1");
    const std::string name = created();
    EXPECT_EQ(!name.empty(), row.created);
    std::string error = row.error;
    if (const std::size_t place = error.find("{}"); place != std::string::npos)
      error.replace(place, 2, name);
    EXPECT_EQ(outcome, "Error: " + error);
    attempt.unreserve("n1");
    fixture.run_for(1s);
    EXPECT_EQ(pending(), 0U);
    EXPECT_EQ(created(), "");
    EXPECT_EQ(fixture.taken(), "");
  }
}

TEST_F(ExtendedBindingTest, AClaimThatIsGoneIsDeleted) {
  Attempt first(fixture, pod);
  EXPECT_EQ(first.reach_reserve("n1"), "ok");
  EXPECT_EQ(first.pre_bind("n1"), "ok");
  Attempt second(fixture, pod);
  EXPECT_EQ(second.pre_filter(), "ok");
  EXPECT_EQ(second.filter("n1"), "n1 cannot schedule extended resource claim");
  server.fails("delete", {ErrorKind::kNotFound, "not found"});
  EXPECT_EQ(second.post_filter(), "Unschedulable: deletion of ResourceClaim completed");
}

TEST_F(ExtendedBindingTest, AnAttemptThatComesTooSoonWaitsForTheDeletion) {
  Attempt first(fixture, pod);
  EXPECT_EQ(first.reach_reserve("n1"), "ok");
  EXPECT_EQ(first.pre_bind("n1"), "ok");
  server.hold("delete");
  first.unreserve("n1");
  Attempt second(fixture, pod);
  EXPECT_EQ(second.pre_filter(), "ok");
  EXPECT_EQ(second.filter("n1"), "n1 cannot schedule extended resource claim");
  writes();
  EXPECT_EQ(second.post_filter(), "…");
  EXPECT_EQ(writes(), Writes{}) << "it is not deleted twice";
  server.release("delete");
  EXPECT_EQ(second.post_filter(), "Unschedulable: deletion of ResourceClaim completed");
  EXPECT_EQ(writes(), Writes{});
  Attempt third(fixture, pod);
  EXPECT_EQ(third.reach_reserve("n1"), "ok");
}

TEST_F(ExtendedBindingTest, WhereADevicePluginServesThereIsNothingToDo) {
  fixture.cluster.update_node(fixture.world.node("n1").allocatable({{"example.com/gpu", "1"}}));
  Attempt attempt(fixture, pod);
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(fixture.taken(), "");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(writes(), Writes{});
  attempt.unreserve("n1");
  EXPECT_EQ(writes(), Writes{});
}

TEST_F(ExtendedBindingTest, BesideClaimsOfItsOwnWhatADevicePluginServesFails) {
  fixture.cluster.update_node(fixture.world.node("n1").allocatable({{"example.com/gpu", "1"}}));
  Attempt attempt(fixture, fixture.pod("p", {"c"}).container({{"example.com/gpu", "1"}}));
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(attempt.pre_bind("n1"),
            "Error: nil or empty request mappings, no update of pod default/p "
            "ExtendedResourceClaimStatus");
  attempt.unreserve("n1");
  EXPECT_EQ(created(), "");
}

TEST_F(ExtendedBindingTest, BesideClaimsOfItsOwnBothAreAllocated) {
  PodBuilder builder = fixture.pod("p", {"c"});
  builder.container({{"example.com/gpu", "1"}});
  Attempt attempt(fixture, builder);
  EXPECT_EQ(attempt.reach_reserve("n1"), "ok");
  EXPECT_EQ(fixture.taken(), "d1 d2");
  EXPECT_EQ(attempt.pre_bind("n1"), "ok");
  EXPECT_EQ(fixture.stored("c"), "d1 @n1 for p +f");
  EXPECT_EQ(fixture.stored(created()), "d2 @n1 for p +f");
}

}  // namespace
}  // namespace berth::plugins
