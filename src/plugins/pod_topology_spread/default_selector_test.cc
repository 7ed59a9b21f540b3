#include "plugins/pod_topology_spread/default_selector.h"

#include <gmock/gmock.h>

#include "base/testing/names.h"
#include "plugins/pod_topology_spread/testing/spread_fixture.h"

namespace berth::plugins {
namespace {

struct DefaultSelector : SpreadFixture {
  template <typename T, typename Fill>
  void put(const std::string& name, Fill fill) {
    auto object = make_ref<T>(world.interner.hold());
    object->namespace_name = object->symbols.intern("default");
    object->name = name;
    fill(*object);
    cluster.put(Ref<const Object>(std::move(object)));
  }
  template <typename T>
  void put_written(const std::string& name, const std::string& key, SelectorOperator op) {
    put<T>(name, [&](T& object) {
      object.selector.emplace().match_expressions.push_back(
          {object.symbols.intern(key), op, {}, {}});
    });
  }
  // "key=value", or "key" for Exists.
  std::vector<std::string> requirements(const Ref<const Pod>& pod) {
    std::vector<std::string> texts;
    const Selector selector = default_selector(*pod, cluster);
    for (const Requirement& one : selector.requirements()) {
      std::string text(cluster.symbols().text(one.key));
      for (const Symbol value : one.values)
        text += "=" + std::string(cluster.symbols().text(value));
      texts.push_back(text);
    }
    return texts;
  }
};

TEST_F(DefaultSelector, MergesTheServicesThatSelectThePod) {
  service("a", "app", "web");
  service("b", "tier", "front");
  service("c", "app", "db");
  service("d", "zone", "x", "other");
  const Ref<const Pod> pod = web("p").label("tier", "front").label("zone", "x");
  EXPECT_THAT(requirements(pod), UnorderedElementsAre("app=web", "tier=front"));
  EXPECT_THAT(requirements(world.pod("q")), IsEmpty());
}

TEST_F(DefaultSelector, AServiceWithoutASelectorSelectsNobodyAndAnEmptyOneAddsNothing) {
  put<Service>("none", [](Service&) {});
  put<Service>("empty", [](Service& service) { service.selector.emplace(); });
  EXPECT_THAT(requirements(web("p")), IsEmpty());
}

TEST_F(DefaultSelector, TakesTheControllersSelector) {
  put<ReplicationController>("rc", [](ReplicationController& rc) {
    rc.selector = {{rc.symbols.intern("app"), rc.symbols.intern("rc")}};
  });
  put_written<ReplicaSet>("rs", "of-set", SelectorOperator::kExists);
  put_written<StatefulSet>("ss", "of-stateful", SelectorOperator::kExists);
  put_written<ReplicaSet>("broken", "of-set", SelectorOperator::kUnknown);
  put<ReplicaSet>("absent", [](ReplicaSet&) {});
  service("s", "app", "web");
  const auto owned = [&](const char* version, const char* kind, const char* name) {
    return requirements(web("p").controlled_by(version, kind, name));
  };
  // The ReplicationController's label replaces the Service's.
  EXPECT_THAT(owned("v1", "ReplicationController", "rc"), UnorderedElementsAre("app=rc"));
  EXPECT_THAT(owned("apps/v1", "ReplicaSet", "rs"), UnorderedElementsAre("app=web", "of-set"));
  EXPECT_THAT(owned("apps/v1", "StatefulSet", "ss"),
              UnorderedElementsAre("app=web", "of-stateful"));
  for (const auto& [version, kind, name] :
       std::vector<std::array<const char*, 3>>{{"apps/v1", "ReplicaSet", "missing"},
                                               {"apps/v1", "ReplicaSet", "broken"},
                                               {"apps/v1", "ReplicaSet", "absent"},
                                               {"apps/v1beta1", "ReplicaSet", "rs"},
                                               {"apps/v1", "ReplicationController", "rc"},
                                               {"batch/v1", "Job", "rs"},
                                               {"a/b/c", "ReplicaSet", "rs"}})
    EXPECT_THAT(owned(version, kind, name), UnorderedElementsAre("app=web")) << kind << name;
}

TEST_F(DefaultSelector, WhatIsRememberedFollowsTheObjects) {
  DefaultSelectors selectors(cluster);
  const Ref<const Pod> pod = web("p");
  EXPECT_TRUE(selectors.of(*pod).is_empty());
  service("s", "app", "web");
  EXPECT_EQ(selectors.of(*pod).requirements().size(), 1U);
  EXPECT_EQ(&selectors.of(*pod), &selectors.of(*web("sibling").build()));
  cluster.remove(ObjectKind::kService, "default", "s");
  EXPECT_TRUE(selectors.of(*pod).is_empty());
}

}  // namespace
}  // namespace berth::plugins
