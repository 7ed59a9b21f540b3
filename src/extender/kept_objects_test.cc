#include "extender/kept_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/names.h"

namespace berth::extender {
namespace {

using Pods = ObjectNeeds::Pods;

ObjectText text(std::string json) { return std::make_shared<const std::string>(std::move(json)); }

config::ExtenderConfig extender(const std::string& verbs, bool cache_capable) {
  config::ExtenderConfig config;
  if (verbs.find('f') != std::string::npos) config.filter_verb = "filter";
  if (verbs.find('s') != std::string::npos) config.prioritize_verb = "prioritize";
  if (verbs.find('p') != std::string::npos) config.preempt_verb = "preempt";
  if (verbs.find('b') != std::string::npos) config.bind_verb = "bind";
  config.node_cache_capable = cache_capable;
  return config;
}

TEST(ObjectNeeds, OnlyWhatSomebodyIsTold) {
  const auto needs = [](std::vector<config::ExtenderConfig> extenders) {
    return needs_of(extenders);
  };
  EXPECT_FALSE(needs({}).any());
  EXPECT_FALSE(needs({extender("b", false)}).any());
  EXPECT_EQ(needs({extender("f", true)}), (ObjectNeeds{false, Pods::kUnassigned}));
  EXPECT_EQ(needs({extender("s", false)}), (ObjectNeeds{true, Pods::kUnassigned}));
  EXPECT_EQ(needs({extender("p", true)}), (ObjectNeeds{false, Pods::kUnassigned}));
  EXPECT_EQ(needs({extender("p", false)}), (ObjectNeeds{false, Pods::kAll}));
  EXPECT_EQ(needs({extender("p", false), extender("fb", true)}), (ObjectNeeds{false, Pods::kAll}));
  EXPECT_EQ(needs({extender("fsp", false)}), (ObjectNeeds{true, Pods::kAll}));
}

TEST(KeptObjects, AreToldAsUpstreamTellsThem) {
  World world;
  KeptObjects kept({true, Pods::kUnassigned});
  const Ref<const Pod> pod = world.pod("web");
  kept.apply({DeltaType::kAdded, pod},
             text(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web",)"
                  R"("managedFields":[{"manager":"kubectl"}],"labels":{"kind":"x"}},)"
                  R"("spec":{"containers":[{"name":"c","env":[{"name":"A","value":"\u003c"}]}]},)"
                  R"("status":{}})"));
  EXPECT_EQ(kept.pod(*pod),
            R"({"metadata":{"name":"web","labels":{"kind":"x"}},)"
            R"("spec":{"containers":[{"name":"c","env":[{"name":"A","value":"\u003c"}]}]},)"
            R"("status":{}})");
  const Ref<const Node> node = world.node("n1");
  kept.apply({DeltaType::kAdded, Ref<const Object>(node)},
             text(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1",)"
                  R"("managedFields":[{"manager":"kubelet"}]},"spec":{},"status":{"x":null}})"));
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(kept.node("n1"),
              R"({"metadata":{"name":"n1","managedFields":[{"manager":"kubelet"}]},)"
              R"("spec":{},"status":{"x":null}})");
  EXPECT_EQ(kept.node("n2"), std::nullopt);
}

TEST(KeptObjects, FollowTheDeltas) {
  World world;
  KeptObjects kept({true, Pods::kUnassigned});
  const Ref<const Pod> pod = world.pod("web");
  kept.apply({DeltaType::kAdded, pod}, text(R"({"spec":{"a":1}})"));
  kept.apply({DeltaType::kUpdated, pod}, text(R"({"spec":{"a":2}})"));
  EXPECT_EQ(kept.pod(*pod), R"({"spec":{"a":2}})");
  // Bound: nobody is told of it any more.
  kept.apply({DeltaType::kUpdated, Ref<const Pod>(world.pod("web").on("n1"))}, nullptr);
  EXPECT_EQ(kept.pod(*pod), std::nullopt);
  EXPECT_EQ(kept.pods(), 0U);

  const Ref<const Object> node = Ref<const Node>(world.node("n1"));
  kept.apply({DeltaType::kAdded, node}, text("{}"));
  kept.apply({DeltaType::kDeleted, node}, nullptr);
  EXPECT_EQ(kept.nodes(), 0U);
}

TEST(KeptObjects, WhatNobodyIsToldIsNotKept) {
  World world;
  KeptObjects kept({false, Pods::kNone});
  kept.apply({DeltaType::kAdded, Ref<const Pod>(world.pod("web"))}, text("{}"));
  kept.apply({DeltaType::kAdded, Ref<const Object>(Ref<const Node>(world.node("n1")))}, text("{}"));
  EXPECT_EQ(kept.pods() + kept.nodes(), 0U);
}

TEST(KeptObjects, APodThatWasGivenANodeSaysSo) {
  World world;
  KeptObjects kept({false, Pods::kAll});
  const Ref<const Pod> pod = world.pod("web");
  kept.apply({DeltaType::kAdded, pod}, text(R"({"metadata":{},"spec":{"a":1},"status":{}})"));
  const Ref<const Pod> assumed = with_node(*pod, "n1");
  EXPECT_EQ(kept.pod(*assumed), R"({"metadata":{},"spec":{"a":1,"nodeName":"n1"},"status":{}})");
  EXPECT_EQ(kept.pod(*pod), R"({"metadata":{},"spec":{"a":1},"status":{}})");
  kept.apply({DeltaType::kUpdated, assumed}, text(R"({"spec":{"nodeName":"n1","a":2}})"));
  EXPECT_EQ(kept.pod(*assumed), R"({"spec":{"nodeName":"n1","a":2}})");
  EXPECT_EQ(kept.pods(), 1U);
}

}  // namespace
}  // namespace berth::extender
