#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/inter_pod_affinity/testing/affinity_fixture.h"

namespace berth::plugins {
namespace {

class InterPodAffinityObstacles : public AffinityFixture {
 protected:
  InterPodAffinityObstacles() {
    add_node("a1", {{"zone", "a"}, {"host", "a1"}});
    add_node("a2", {{"zone", "a"}, {"host", "a2"}});
    add_node("b", {{"zone", "b"}, {"host", "b"}});
  }
  ObstacleTexts said(const Ref<const Pod>& asked) { return fixture.obstacle_texts(*make(), asked); }
};

TEST_F(InterPodAffinityObstacles, SaysWhichTermHasNoPodHere) {
  add(pod("db-0", {{"app", "db"}}, {}, "b"));
  add_node("bare", {});
  EXPECT_EQ(said(pod("p", {}, {near({{in("app", {"db"})}})})),
            (ObstacleTexts{
                {"a1",
                 {"PodAffinityUnmatched app=db in zone: term 0 (app=db in zone): no matching pod "
                  "in zone=a"}},
                {"a2",
                 {"PodAffinityUnmatched app=db in zone: term 0 (app=db in zone): no matching pod "
                  "in zone=a"}},
                {"bare",
                 {"PodAffinityKeyMissing app=db in zone: term 0 (app=db in zone): the node has no "
                  "label zone"}}}));
}

TEST_F(InterPodAffinityObstacles, SaysThatThereIsNoSuchPodAnywhere) {
  EXPECT_EQ(
      said(pod("p", {}, {near({{in("app", {"db"})}}).of({"default", "other"})}))["b"],
      (Texts{"PodAffinityUnmatched app=db of namespaces default, other in zone: term 0 (app=db "
             "of namespaces default, other in zone): no matching pod in any domain"}));
}

TEST_F(InterPodAffinityObstacles, TheFirstOfItsKindOnlyNeedsTheKeys) {
  add_node("bare", {});
  const ObstacleTexts all = said(pod("p", {{"app", "db"}}, {near({{in("app", {"db"})}})}));
  EXPECT_EQ(all.size(), 1U);
  EXPECT_TRUE(all.at("bare").front().starts_with("PodAffinityKeyMissing"));
}

TEST_F(InterPodAffinityObstacles, AKeyThatNoNodeHasIsMissingEverywhere) {
  add(pod("db-0", {{"app", "db"}}, {}, "b"));
  const auto asked =
      pod("p", {}, {near({{in("app", {"db"})}}), near({{in("app", {"db"})}}, "rack")});
  EXPECT_EQ(said(asked)["b"],
            (Texts{"PodAffinityKeyMissing app=db in rack: term 1 (app=db in rack): the node has no "
                   "label rack"}));
}

TEST_F(InterPodAffinityObstacles, NamesAPodThatItMustAvoid) {
  add(pod("web-0", {{"app", "web"}}, {}, "a2"));
  const auto by_zone = pod("p", {}, {away({{in("app", {"web"})}})});
  const std::string text =
      "PodAntiAffinityViolated app=web in zone: term 0 (app=web in zone): zone=a has 1 matching "
      "pod "
      "(default/web-0)";
  EXPECT_EQ(said(by_zone), (ObstacleTexts{{"a1", {text}}, {"a2", {text}}}));
  add(pod("web-1", {{"app", "web"}}, {}, "a1"));
  EXPECT_EQ(
      said(by_zone)["a1"],
      (Texts{"PodAntiAffinityViolated app=web in zone: term 0 (app=web in zone): zone=a has 2 "
             "matching pods (one is default/web-1)"}));
  EXPECT_EQ(fixture.obstacles(*make(), by_zone)["a1"].front().facts.at("pod"), "default/web-1");
}

TEST_F(InterPodAffinityObstacles, OfTermsWithOneKeyThoseThatMatchAreNamed) {
  add(pod("web-0", {{"app", "web"}}, {}, "b"));
  const auto asked = pod(
      "p", {},
      {away({{in("app", {"db"})}}), away({{in("app", {"web"})}}), away({{has("app")}}, "host")});
  EXPECT_EQ(said(asked),
            (ObstacleTexts{
                {"b",
                 {"PodAntiAffinityViolated app=web in zone: term 1 (app=web in zone): zone=b has 1 "
                  "matching pod (default/web-0)",
                  "PodAntiAffinityViolated app in host: term 2 (app in host): host=b has 1 "
                  "matching pod (default/web-0)"}}}));
}

TEST_F(InterPodAffinityObstacles, NamesAPodThatAvoidsIt) {
  add(pod("lonely", {}, {away({{in("app", {"web"})}})}, "a1"));
  const std::string text =
      "ExistingPodAntiAffinityViolated app=web in zone: 1 pod keeps app=web out of zone=a "
      "(default/lonely)";
  EXPECT_EQ(said(pod("p", {{"app", "web"}})), (ObstacleTexts{{"a1", {text}}, {"a2", {text}}}));
  EXPECT_EQ(said(pod("p", {{"app", "other"}})), ObstacleTexts{});
}

TEST_F(InterPodAffinityObstacles, OfManyPodsThatAvoidItOneOnTheNodeIsNamed) {
  for (int i = 0; i < 100; ++i) {
    const std::string node = "m" + std::to_string(i);
    add_node(node, {{"zone", i % 2 == 0 ? "even" : "odd"}, {"host", node}});
    add(pod("lonely-" + std::to_string(i), {}, {away({{in("app", {"web"})}})}, node));
  }
  ObstacleTexts all = said(pod("p", {{"app", "web"}}));
  EXPECT_EQ(all.size(), 100U);
  EXPECT_EQ(all["m7"],
            (Texts{"ExistingPodAntiAffinityViolated app=web in zone: 50 pods keep app=web out of "
                   "zone=odd (one is default/lonely-7)"}));
}

TEST_F(InterPodAffinityObstacles, TermsThatCannotBeReadRejectThePod) {
  const auto all = fixture.obstacles(*make(), pod("p", {}, {near({{in("app", {})}})}));
  ASSERT_TRUE(all.contains(""));
  EXPECT_EQ(all.at("").front().code, "InvalidPodAffinity");
}

}  // namespace
}  // namespace berth::plugins
