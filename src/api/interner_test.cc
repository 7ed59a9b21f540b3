#include "berth/interner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "base/thread.h"

namespace berth {
namespace {

TEST(Interner, EqualSpecsAndMetasAreOneObject) {
  World world;
  const Ref<const Pod> a = world.pod("a").cpu("1").label("app", "web").priority(3);
  const Ref<const Pod> b = world.pod("b").cpu("1000m").label("app", "web").priority(3);
  const Ref<const Pod> c = world.pod("c").cpu("1").label("app", "db").priority(3);
  EXPECT_EQ(a->spec_ref(), b->spec_ref()) << "amounts are equal by number";
  EXPECT_EQ(a->meta_ref(), b->meta_ref());
  EXPECT_EQ(a->spec_ref(), c->spec_ref());
  EXPECT_NE(a->meta_ref(), c->meta_ref());
  EXPECT_EQ(world.interner.spec_count(), 1U);
  EXPECT_EQ(world.interner.meta_count(), 2U);
}

TEST(Interner, FillsInWhatFollowsFromASpec) {
  World world;
  PodSpec spec(world.interner.hold());
  spec.containers.resize(1);
  spec.containers.front().requests.set(spec.symbols.intern("cpu"), Quantity::of(2));
  EXPECT_EQ(world.interner.share(std::move(spec))->usage.requests.milli_cpu, 2000);
}

TEST(Interner, GivesBackTheSlackOfLists) {
  World world;
  PodSpec spec(world.interner.hold());
  spec.tolerations.reserve(1000);
  spec.tolerations.resize(3);
  Affinity affinity;
  affinity.pod.emplace().required.reserve(1000);
  spec.affinity = std::make_shared<const Affinity>(std::move(affinity));
  const Ref<const PodSpec> shared = world.interner.share(std::move(spec));
  EXPECT_EQ(shared->tolerations.capacity(), 3U);
  EXPECT_EQ(shared->affinity->pod->required.capacity(), 0U);
}

TEST(Interner, DropsWhatNobodyUsesAnyMore) {
  World world;
  const Ref<const Pod> kept = world.pod("kept").priority(-1).label("kept", "yes");
  for (int i = 0; i < 100'000; ++i) {
    const Ref<const Pod> passing = world.pod("passing")
                                       .priority(i)
                                       .label("run", std::to_string(i))
                                       .on("n" + std::to_string(i));
  }
  EXPECT_LT(world.interner.spec_count(), 1000U);
  EXPECT_LT(world.interner.meta_count(), 1000U);
  EXPECT_LT(world.interner.symbols()->size(), 2000U) << "symbols follow what is used";
  const Ref<const Pod> again = world.pod("again").priority(-1).label("kept", "yes");
  EXPECT_EQ(again->spec_ref(), kept->spec_ref()) << "what is used stays";
  EXPECT_EQ(again->meta_ref(), kept->meta_ref());
}

TEST(Interner, FollowsTheClusterWhenThatShrinks) {
  World world;
  std::vector<Ref<const Pod>> pods;
  for (int i = 0; i < 2000; ++i)
    pods.push_back(world.pod("p" + std::to_string(i)).cpu(std::to_string(i + 1) + "m").build());
  pods.clear();
  for (int i = 0; i < 8000; ++i) static_cast<void>(world.pod("same").cpu("1").build());
  EXPECT_LE(world.interner.spec_count(), 10U);
}

TEST(Interner, KeepsWhatIsUsedHoweverMuchThatIs) {
  World world;
  std::vector<Ref<const Pod>> pods;
  for (int i = 0; i < 5000; ++i) pods.push_back(world.pod("p").priority(i));
  EXPECT_EQ(world.interner.spec_count(), 5000U);
  for (int i = 0; i < 5000; ++i)
    EXPECT_EQ(world.pod("q").priority(i).build()->spec_ref(),
              pods[static_cast<std::size_t>(i)]->spec_ref());
}

TEST(Interner, PodsOutliveTheirInterner) {
  Ref<const Pod> pod;
  {
    World world;
    pod = world.pod("p").label("app", "web").on("n1");
  }
  EXPECT_EQ(pod->node_name(), "n1");
  EXPECT_EQ(pod->full_name(), "default/p");
}

TEST(Interner, ThreadsThatShareEqualSpecsGetOneObject) {
  World world;
  constexpr int kKinds = 500;
  std::vector<std::vector<Ref<const PodSpec>>> got(4);
  {
    std::vector<Thread> threads;
    for (std::size_t t = 0; t < got.size(); ++t)
      threads.emplace_back("sharing", [&, t] {
        for (int round = 0; round < 3; ++round) {
          got[t].clear();
          for (int i = 0; i < kKinds; ++i) {
            PodSpec spec(world.interner.hold());
            spec.priority = i;
            spec.scheduler_name = spec.symbols.intern("scheduler-" + std::to_string(i));
            got[t].push_back(world.interner.share(std::move(spec)));
          }
        }
      });
  }
  for (std::size_t t = 1; t < got.size(); ++t) EXPECT_EQ(got[t], got[0]);
  for (int i = 0; i < kKinds; ++i) {
    const PodSpec& spec = *got[0][static_cast<std::size_t>(i)];
    EXPECT_EQ(spec.symbols.text(spec.scheduler_name), "scheduler-" + std::to_string(i));
  }
}

}  // namespace
}  // namespace berth
