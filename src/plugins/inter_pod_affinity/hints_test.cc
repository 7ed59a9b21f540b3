#include <gtest/gtest.h>

#include "plugins/inter_pod_affinity/testing/affinity_fixture.h"

namespace berth::plugins {
namespace {

constexpr ClusterEvent kPodEvent{
    EventResource::kAssignedPod, action::kAdd | action::kUpdatePodLabel | action::kDelete, {}};
constexpr ClusterEvent kOwnEvent{EventResource::kTargetPod, action::kUpdatePodLabel, {}};
constexpr ClusterEvent kNodeEvent{
    EventResource::kNode, action::kAdd | action::kUpdateNodeLabel, {}};
constexpr QueueingHint kQueue = QueueingHint::kQueue;
constexpr QueueingHint kSkip = QueueingHint::kSkip;

struct AffinityHintRow {
  const char* why;
  Ref<const Pod> rejected;
  AnyObject before, after;
  QueueingHint hint;
};

class InterPodAffinityHints : public AffinityFixture {
 protected:
  const AnyObject nothing;
  const WantedList web{in("app", {"web"})};

  QueueingHint hint(const ClusterEvent& event, const Ref<const Pod>& rejected,
                    const AnyObject& before, const AnyObject& after) {
    return fixture.hint(*make(), event, rejected, before, after);
  }
  Ref<const Object> node(const Labels& labels) {
    testing::NodeBuilder node = world.node("n");
    for (const auto& [key, value] : labels) node.label(key, value);
    return Ref<const Node>(node);
  }
};

TEST_F(InterPodAffinityHints, RegistersForPodsAndNodes) {
  EXPECT_EQ(testing::registered_events(*make()),
            (RegisteredEvents{{EventResource::kAssignedPod, 515},
                              {EventResource::kTargetPod, 512},
                              {EventResource::kNode, 9}}));
}

TEST_F(InterPodAffinityHints, PodsHelpWhenTheyComeGoOrChangeSides) {
  const Ref<const Pod> wants = pod("p", {}, {near(web)});
  const Ref<const Pod> wants_two = pod("p", {}, {near(web), near({{has("db")}})});
  const Ref<const Pod> avoids = pod("p", {{"own", "label"}}, {away(web)});
  const Ref<const Pod> avoids_two = pod("p", {{"own", "label"}}, {away(web), away({{has("db")}})});
  const Ref<const Pod> match = pod("e", {{"app", "web"}}, {}, "n");
  const Ref<const Pod> other = pod("e", {{"app", "x"}}, {}, "n");
  const Ref<const Pod> elsewhere = pod("e", {{"app", "web"}}, {}, "n", "elsewhere");
  const Ref<const Pod> unplaced = pod("e", {{"app", "web"}});
  const Ref<const Pod> loner = pod("e", {}, {away({{has("own")}})}, "n");
  const Ref<const Pod> picky = pod("e", {}, {away({{has("own")}}), away({{has("db")}})}, "n");
  const Ref<const Pod> database = pod("e", {{"db", "x"}}, {}, "n");
  testing::PodBuilder nominated = world.pod("e");
  nominated.label("app", "web").nominated("n");
  const AffinityHintRow table[] = {
      {"the wanted pod comes", wants, nothing, match, kQueue},
      {"another comes", wants, nothing, other, kSkip},
      {"one of another namespace comes", wants, nothing, elsewhere, kSkip},
      {"one that is on no node comes", wants, nothing, unplaced, kSkip},
      {"one that is nominated comes", wants, nothing, nominated.build(), kQueue},
      {"only one of two terms", wants_two, nothing, match, kSkip},
      {"the wanted pod goes", wants, match, nothing, kSkip},
      {"a pod becomes the wanted one", wants, other, match, kQueue},
      {"it was it before", wants, match, match, kSkip},
      {"it is it no more", wants, match, other, kSkip},
      {"it is not placed yet", wants, unplaced, match, kSkip},
      {"the avoided pod comes", avoids, nothing, match, kSkip},
      {"the avoided pod goes", avoids, match, nothing, kQueue},
      {"another goes", avoids, other, nothing, kSkip},
      {"the avoided pod goes, but was nowhere", avoids, unplaced, nothing, kSkip},
      {"the avoided pod changes", avoids, match, other, kQueue},
      {"a pod becomes avoided", avoids, other, match, kSkip},
      {"one of two avoided pods goes", avoids_two, match, nothing, kQueue},
      {"it matches no term any more", avoids_two, match, other, kQueue},
      {"it matches the other term now", avoids_two, match, database, kSkip},
      {"one goes that avoids this pod", avoids, loner, nothing, kQueue},
      {"one goes that avoids this pod by one of two terms", avoids, picky, nothing, kQueue},
      {"one goes that avoids others", wants, loner, nothing, kSkip},
  };
  for (const AffinityHintRow& row : table)
    EXPECT_EQ(hint(kPodEvent, row.rejected, row.before, row.after), row.hint) << row.why;
}

TEST_F(InterPodAffinityHints, NewLabelsOfThePodItselfHelp) {
  EXPECT_EQ(hint(kOwnEvent, pod("p", {}, {near(web)}), pod("p", {}, {near(web)}),
                 pod("p", {{"app", "web"}}, {near(web)})),
            kQueue);
}

TEST_F(InterPodAffinityHints, NamespacesAreNotLookedUp) {
  add_namespace("red", {{"team", "red"}});
  const Ref<const Pod> red = pod("e", {{"app", "web"}}, {}, "n", "red");
  const auto rejected = [&](Wanted wanted) {
    return pod("p", {}, {near(web).of_chosen({std::move(wanted)})});
  };
  EXPECT_EQ(hint(kPodEvent, rejected(in("team", {"red"})), nothing, red), kSkip);
  EXPECT_EQ(hint(kPodEvent, rejected(not_in("team", {"red"})), nothing, red), kQueue);
}

TEST_F(InterPodAffinityHints, NodesHelpByTheirTopology) {
  const Ref<const Pod> wants = pod("p", {}, {near(web)});
  const Ref<const Pod> avoids = pod("p", {}, {away(web)});
  const Ref<const Pod> neither = pod("p");
  const AnyObject bare = node({{"x", "y"}});
  const AnyObject zone_a = node({{"zone", "a"}});
  const AnyObject zone_b = node({{"zone", "b"}});
  const AffinityHintRow table[] = {
      {"added with the key", wants, nothing, zone_a, kQueue},
      {"added without", wants, nothing, bare, kSkip},
      {"the key appears", wants, bare, zone_a, kQueue},
      {"the key goes", wants, zone_a, bare, kSkip},
      {"another value", wants, zone_a, zone_b, kQueue},
      {"the same value", wants, zone_a, zone_a, kSkip},
      {"added with the key, avoiding", avoids, nothing, zone_a, kQueue},
      {"added without, avoiding", avoids, nothing, bare, kQueue},
      {"the key appears, avoiding", avoids, bare, zone_a, kSkip},
      {"the key goes, avoiding", avoids, zone_a, bare, kQueue},
      {"another value, avoiding", avoids, zone_a, zone_b, kQueue},
      {"the same value, avoiding", avoids, zone_a, zone_a, kSkip},
      {"a pod without terms", neither, nothing, zone_a, kSkip},
  };
  for (const AffinityHintRow& row : table)
    EXPECT_EQ(hint(kNodeEvent, row.rejected, row.before, row.after), row.hint) << row.why;
}

TEST_F(InterPodAffinityHints, WhatCannotBeUnderstoodIsAnErrorAndSoQueues) {
  const Ref<const Pod> bad = pod("p", {}, {near({{in("app", {})}})});
  const Ref<const Pod> fine = pod("p", {}, {near(web)});
  const Ref<const Pod> bad_loner = pod("e", {}, {away({{in("app", {})}})}, "n");
  const auto plugin = make();
  const auto registrations = *plugin->events_to_register();
  EXPECT_FALSE(registrations[0].hint(*bad, nothing, pod("e", {}, {}, "n")).has_value());
  EXPECT_FALSE(registrations[0].hint(*fine, bad_loner, nothing).has_value());
  EXPECT_FALSE(registrations[2].hint(*bad, nothing, node({})).has_value());
  const auto wrong = registrations[2].hint(*fine, nothing, pod("e"));
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "expected *v1.Node, but got *v1.Pod");
}

TEST_F(InterPodAffinityHints, SignsLabelsOfPodsWithoutTerms) {
  const auto sign = [&](const InterPodAffinity& plugin, const Ref<const Pod>& signed_pod) {
    std::vector<SignatureFragment> fragments;
    const Outcome outcome = plugin.sign(*signed_pod, fragments);
    return outcome.ok() ? (fragments.empty() ? "" : fragments[0].key + "=" + fragments[0].value)
                        : outcome.message();
  };
  const auto plugin = make();
  const std::string one = sign(*plugin, pod("p", {{"a", "1"}, {"b", "2"}}));
  EXPECT_TRUE(one.starts_with("v1.Pod.Labels="));
  EXPECT_EQ(one, sign(*plugin, pod("q", {{"b", "2"}, {"a", "1"}})));
  EXPECT_NE(one, sign(*plugin, pod("p", {{"a", "1"}})));
  EXPECT_NE(sign(*plugin, pod("p", {{"ab", "c"}})), sign(*plugin, pod("p", {{"a", "bc"}})));
  const char* kNot = "pods with InterPodAffinity are not signable";
  EXPECT_EQ(sign(*plugin, pod("p", {}, {near(web)})), kNot);
  EXPECT_EQ(sign(*plugin, pod("p", {}, {dislikes(1, web)})), kNot);
  EXPECT_EQ(sign(*make(1, true), pod("p", {{"a", "1"}})), "");
  EXPECT_EQ(sign(*make(1, true), pod("p", {}, {away(web)})), kNot);
}

}  // namespace
}  // namespace berth::plugins
