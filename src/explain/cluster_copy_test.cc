#include "explain/cluster_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/kinds.h"
#include "base/testing/names.h"
#include "berth/random.h"
#include "explain/stand_ins.h"
#include "explain/testing/evaluator_fixture.h"
#include "framework/remembering_plugin.h"

namespace berth::explain {
namespace {

struct ClusterCopyTest : EvaluatorTest {
  Cluster original{world.interner.symbols()};
  ListedNominations nominations;
  std::unique_ptr<Evaluator> evaluator;
  std::optional<ClusterCopy> copy;

  ClusterCopyTest() {
    nodes({});
    evaluator = *Evaluator::make(world.interner, table, options);
    copy.emplace(original, nominations, nullptr, *evaluator);
  }

  bool catch_up() {
    return copy->catch_up(VirtualLoop::kDefaultStart, [] { return true; });
  }
  void add(const PodBuilder& pod) { ASSERT_TRUE(original.add_pod(pod.build())); }
  NodeRow row(const std::string& node) { return original.nodes().find(world.symbol(node)); }

  // "n1: a b", a line for each node that there is, and the other objects.
  static std::string shown(const Cluster& cluster) {
    std::set<std::string> lines;
    cluster.nodes().nodes().for_each([&](NodeRow row) {
      std::set<std::string> pods;
      for (const Ref<const Pod>& pod : cluster.nodes().pods(row))
        pods.insert(std::string(pod->name()) + "@" + std::string(pod->resource_version()));
      std::string line = std::string(cluster.nodes().name_text(row)) + "@" +
                         cluster.nodes().node(row).resource_version + ":";
      for (const std::string& pod : pods) line += " " + pod;
      line += " " + std::to_string(cluster.nodes().requested_milli_cpu()[row]);
      lines.insert(line);
    });
    for (const Ref<const Object>& object : cluster.list(ObjectKind::kService))
      lines.insert("service " + object->name + "@" + object->resource_version);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }
};

Ref<const Object> service(World& world, const std::string& name, const std::string& version) {
  auto made = make_ref<Service>(world.interner.hold());
  made->namespace_name = made->symbols.intern("default");
  made->name = name;
  made->resource_version = version;
  return made;
}

TEST_F(ClusterCopyTest, HasNodesPodsAndObjectsAndFollowsTheirChanges) {
  original.add_node(world.node("n1"));
  original.add_node(world.node("n2"));
  add(world.pod("a").cpu("1").on("n1"));
  add(world.pod("b").cpu("2").on("n2"));
  original.put(service(world, "s", "1"));
  ASSERT_TRUE(catch_up());
  EXPECT_EQ(shown(evaluator->cluster()), "n1@1: a@1 1000\nn2@1: b@1 2000\nservice s@1\n");

  ASSERT_TRUE(original.remove_pod(*world.pod("a").cpu("1").on("n1").build()));
  ASSERT_TRUE(original.update_pod(world.pod("b").cpu("1").on("n2").version("2").build()));
  original.update_node(world.node("n2").version("2"));
  original.put(service(world, "s", "2"));
  original.put(service(world, "t", "1"));
  ASSERT_TRUE(catch_up());
  EXPECT_EQ(shown(evaluator->cluster()), "n1@1: 0\nn2@2: b@2 1000\nservice s@2\nservice t@1\n");

  ASSERT_TRUE(original.remove_node(world.symbol("n1")));
  original.remove(ObjectKind::kService, "default", "s");
  ASSERT_TRUE(catch_up());
  EXPECT_EQ(shown(evaluator->cluster()), "n2@2: b@2 1000\nservice t@1\n");
}

TEST_F(ClusterCopyTest, APodThatIsAssumedIsOnItsNode) {
  original.add_node(world.node("n1"));
  original.add_node(world.node("n2"));
  const Ref<const Pod> pod = world.pod("a").cpu("1");
  ASSERT_TRUE(original.assume(pod, row("n1")));
  ASSERT_TRUE(catch_up());
  EXPECT_EQ(shown(evaluator->cluster()), "n1@1: a@1 1000\nn2@1: 0\n");
  // It was not bound, and has found another place.
  ASSERT_TRUE(original.forget(*pod));
  ASSERT_TRUE(original.assume(pod, row("n2")));
  ASSERT_TRUE(catch_up());
  EXPECT_EQ(shown(evaluator->cluster()), "n1@1: 0\nn2@1: a@1 1000\n");
  add(world.pod("a").cpu("1").on("n2").version("2"));
  ASSERT_TRUE(catch_up());
  EXPECT_EQ(shown(evaluator->cluster()), "n1@1: 0\nn2@1: a@2 1000\n");
  EXPECT_FALSE(evaluator->cluster().is_assumed(pod->uid()));
}

TEST_F(ClusterCopyTest, GoesOnWhereItsTimeWasOverAndMissesNothing) {
  constexpr int kNodes = 600;
  for (int i = 0; i < kNodes; ++i) original.add_node(world.node("n" + std::to_string(i)));
  Random random(7);
  int calls = 0;
  for (bool complete = false; !complete; ++calls) {
    ASSERT_LT(calls, 100);
    int left = 50;
    complete = copy->catch_up(VirtualLoop::kDefaultStart, [&] { return left-- > 0; });
    if (complete) break;
    // Meanwhile pods come, also on nodes that have been copied, and nodes go.
    for (int i = 0; i < 5; ++i)
      add(world.pod("p" + std::to_string(calls) + "-" + std::to_string(i))
              .cpu("1m")
              .on("n" + std::to_string(random.below(kNodes / 2))));
    ASSERT_TRUE(original.remove_node(world.symbol("n" + std::to_string(kNodes / 2 + calls))));
  }
  EXPECT_GT(calls, 5);
  EXPECT_EQ(shown(evaluator->cluster()), shown(original));
}

TEST_F(ClusterCopyTest, PluginsRememberWhatThoseOfTheOriginalDo) {
  struct Remembering final : FakePlugin, RememberingPlugin {
    using FakePlugin::FakePlugin;
    std::string_view name() const override { return FakePlugin::name(); }
    int number = 0;
    void remember_as(const Plugin& other) override {
      number = dynamic_cast<const Remembering&>(other).number;
    }
    Callback forget(const Pod&) override { return {}; }
  };
  std::vector<Remembering*> made;
  plugin("Book", [&](const Handle&) {
    auto book = std::make_unique<Remembering>("Book");
    made.push_back(book.get());
    return book;
  });
  const auto theirs = *Evaluator::make(world.interner, table, options);
  const auto ours = *Evaluator::make(world.interner, table, options);
  ClusterCopy with_memory(original, nominations, &theirs->framework(), *ours);
  made.at(0)->number = 7;
  ASSERT_TRUE(with_memory.catch_up(VirtualLoop::kDefaultStart, [] { return true; }));
  EXPECT_EQ(made.at(1)->number, 7);
}

TEST_F(ClusterCopyTest, NominationsCountAlsoBeforeTheyAreWritten) {
  original.add_node(world.node("n1"));
  struct Unwritten final : Nominator {
    std::vector<Symbol> nodes;
    Ref<const Pod> pod;
    std::vector<Ref<const Pod>> nominated_pods(Symbol) const override { return {pod}; }
    const std::vector<Symbol>& nominated_nodes() const override { return nodes; }
  } unwritten;
  unwritten.nodes = {world.symbol("n1")};
  unwritten.pod = world.pod("p");
  copy.emplace(original, unwritten, nullptr, *evaluator);
  ASSERT_TRUE(catch_up());
  const auto nominated = evaluator->nominated_pods();
  ASSERT_EQ(nominated.size(), 1U);
  EXPECT_EQ(nominated[0].first, world.symbol("n1"));
  EXPECT_EQ(nominated[0].second[0]->name(), "p");
  unwritten.nodes.clear();
  ASSERT_TRUE(catch_up());
  EXPECT_THAT(evaluator->nominated_pods(), IsEmpty());
}

}  // namespace
}  // namespace berth::explain
