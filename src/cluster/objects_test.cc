// Pods that the watch has shown, and the objects of other kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/kinds.h"
#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "berth/views.h"

namespace berth {
namespace {

struct Objects : ::testing::Test {
  berth::testing::World world;
  Cluster cluster{world.interner.symbols()};

  template <typename T>
  Ref<const T> make(const std::string& namespace_name, const std::string& name,
                    const std::string& version = "1") {
    auto object = make_ref<T>(world.interner.hold());
    object->namespace_name = object->symbols.intern(namespace_name);
    object->name = name;
    object->resource_version = version;
    return object;
  }
  std::vector<std::string> listed(ObjectKind kind) {
    std::vector<std::string> names;
    for (const Ref<const Object>& object : cluster.list(kind))
      names.push_back(std::string(cluster.symbols().text(object->namespace_name)) + "/" +
                      object->name);
    return names;
  }
};
using SeenPods = Objects;

TEST_F(SeenPods, AreFoundByNamespaceAndName) {
  const Ref<const Pod> a = world.pod("p").in("a"), b = world.pod("p").in("b");
  cluster.see_pod(a);
  cluster.see_pod(b);
  EXPECT_EQ(cluster.seen_pod("a", "p"), a);
  EXPECT_EQ(cluster.seen_pod("b", "p"), b);
  EXPECT_EQ(cluster.seen_pod("c", "p"), nullptr);
  EXPECT_EQ(cluster.seen_pod("", "p"), nullptr);
  EXPECT_EQ(cluster.seen_pod(*b), b);
  EXPECT_EQ(cluster.seen_pod("a", "q"), nullptr);
  EXPECT_EQ(cluster.seen_count(), 2U);
}

TEST_F(SeenPods, AreTheNewestVersion) {
  const Ref<const Pod> old = world.pod("p").version("1"), fresh = world.pod("p").version("2");
  cluster.see_pod(old);
  cluster.see_pod(fresh);
  EXPECT_EQ(cluster.seen_pod("default", "p"), fresh);
  EXPECT_EQ(cluster.seen_count(), 1U);
  cluster.remove_seen_pod(*old);
  EXPECT_EQ(cluster.seen_pod("default", "p"), nullptr);
  cluster.remove_seen_pod(*old);
  EXPECT_EQ(cluster.seen_count(), 0U);
}

TEST_F(SeenPods, ASuccessorOfTheSameNameStays) {
  const Ref<const Pod> old = world.pod("p").uid("u1"), fresh = world.pod("p").uid("u2");
  cluster.see_pod(old);
  cluster.see_pod(fresh);
  cluster.remove_seen_pod(*old);
  EXPECT_EQ(cluster.seen_pod("default", "p"), fresh);
}

TEST_F(SeenPods, AreAllVisited) {
  for (const char* name : {"a", "b", "c"}) cluster.see_pod(world.pod(name));
  std::vector<std::string> names;
  cluster.for_each_seen([&](const Ref<const Pod>& pod) { names.emplace_back(pod->name()); });
  EXPECT_THAT(names, UnorderedElementsAre("a", "b", "c"));
}

TEST_F(Objects, AreFoundByKindNamespaceAndName) {
  const auto service = make<Service>("ns", "web");
  const auto set = make<ReplicaSet>("ns", "web");
  cluster.put(service);
  cluster.put(set);
  cluster.put(make<Namespace>("", "ns"));
  EXPECT_EQ(cluster.find(ObjectKind::kService, "ns", "web"), Ref<const Object>(service));
  EXPECT_EQ(cluster.find(ObjectKind::kReplicaSet, "ns", "web"), Ref<const Object>(set));
  EXPECT_EQ(cluster.find(ObjectKind::kService, "", "web"), nullptr);
  EXPECT_TRUE(cluster.find(ObjectKind::kNamespace, "", "ns"));
}

TEST_F(Objects, ANewVersionReplacesTheOld) {
  cluster.put(make<Service>("ns", "web", "1"));
  cluster.put(make<Service>("ns", "web", "2"));
  EXPECT_EQ(cluster.find(ObjectKind::kService, "ns", "web")->resource_version, "2");
  EXPECT_THAT(listed(ObjectKind::kService), ElementsAre("ns/web"));
}

TEST_F(Objects, AreListedByNamespaceAndName) {
  // Made in an order in which symbols do not sort like texts.
  for (const auto& [ns, name] : std::vector<std::pair<std::string, std::string>>{
           {"z", "a"}, {"b", "y"}, {"a", "z"}, {"b", "x"}, {"aa", "a"}})
    cluster.put(make<Service>(ns, name));
  EXPECT_THAT(listed(ObjectKind::kService), ElementsAre("a/z", "aa/a", "b/x", "b/y", "z/a"));
  EXPECT_THAT(listed(ObjectKind::kNamespace), IsEmpty());
}

TEST_F(Objects, AKindsGenerationGrowsWhenItsObjectsChange) {
  const std::uint64_t start = cluster.generation(ObjectKind::kService);
  cluster.put(make<Service>("ns", "web"));
  const std::uint64_t put = cluster.generation(ObjectKind::kService);
  EXPECT_GT(put, start);
  cluster.put(make<Namespace>("", "ns"));
  cluster.remove(ObjectKind::kService, "ns", "other");
  EXPECT_EQ(cluster.generation(ObjectKind::kService), put) << "nothing happened to services";
  cluster.put(make<Service>("ns", "web", "2"));
  const std::uint64_t replaced = cluster.generation(ObjectKind::kService);
  EXPECT_GT(replaced, put);
  cluster.remove(ObjectKind::kService, "ns", "web");
  EXPECT_GT(cluster.generation(ObjectKind::kService), replaced);
  EXPECT_EQ(cluster.find(ObjectKind::kService, "ns", "web"), nullptr);
}

TEST_F(Objects, AreListedByNamespaceInTheOrderOfTheirNames) {
  for (const auto& [namespace_name, name] :
       {std::pair{"b", "y"}, {"b", "x"}, {"a", "z"}, {"bb", "w"}})
    cluster.put(make<Service>(namespace_name, name));
  const auto names = [&](const char* namespace_name) {
    std::vector<std::string> found;
    const std::vector<Ref<const Object>> all = cluster.list(ObjectKind::kService, namespace_name);
    for (const Ref<const Object>& object : all) found.push_back(object->name);
    return found;
  };
  EXPECT_THAT(names("b"), ElementsAre("x", "y"));
  EXPECT_THAT(names("a"), ElementsAre("z"));
  EXPECT_THAT(names("bb"), ElementsAre("w"));
  EXPECT_THAT(names("c"), IsEmpty());
}

// ---- other resources, and listeners

TEST_F(Objects, OfOtherResourcesAreFoundByTheResource) {
  const auto other = [&](const std::string& resource, const std::string& name) {
    auto object = make_ref<OtherObject>(world.interner.hold());
    object->resource = resource;
    object->name = name;
    cluster.put(Ref<const Object>(object.get()));
    return Ref<const OtherObject>(object);
  };
  const auto crane = other("cranes.v1.example.com", "a");
  const auto ship = other("ships.v1.example.com", "a");
  const auto second = other("cranes.v1.example.com", "b");
  EXPECT_EQ(cluster.find_other("cranes.v1.example.com", "", "a"), crane);
  EXPECT_EQ(cluster.find_other("ships.v1.example.com", "", "a"), ship);
  EXPECT_EQ(cluster.find_other("ships.v1.example.com", "", "b"), nullptr);
  EXPECT_THAT(cluster.list_others("cranes.v1.example.com"), ElementsAre(crane, second));
  EXPECT_THAT(cluster.list_others("docks.v1.example.com"), IsEmpty());
  cluster.remove(*crane);
  EXPECT_EQ(cluster.find_other("cranes.v1.example.com", "", "a"), nullptr);
  EXPECT_EQ(cluster.find_other("ships.v1.example.com", "", "a"), ship);
}

TEST_F(Objects, ListenersHearOfPods) {
  std::vector<std::string> heard;
  const auto version = [](const Ref<const Pod>& pod) {
    return pod ? std::string(pod->resource_version()) : "-";
  };
  Subscription listening =
      cluster.on_pod_change([&](const Ref<const Pod>& before, const Ref<const Pod>& after) {
        heard.push_back(version(before) + " > " + version(after));
      });
  const auto pod = [&](const char* uid, const char* written) {
    return Ref<const Pod>(world.pod("p").uid(uid).version(written));
  };
  cluster.see_pod(pod("1", "a"));
  cluster.see_pod(pod("1", "b"));
  cluster.remove_seen_pod(*pod("2", "c"));  // another one
  cluster.remove_seen_pod(*pod("1", "c"));
  cluster.remove_seen_pod(*pod("1", "c"));
  EXPECT_THAT(heard, ElementsAre("- > a", "a > b", "b > -"));
  listening.reset();
  cluster.see_pod(pod("1", "d"));
  EXPECT_THAT(heard, SizeIs(3));
}

}  // namespace
}  // namespace berth
